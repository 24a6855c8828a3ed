//! Reading theme files: palette, inheritance, fallback from a role to its group.

use super::colour::is_light;
use super::role::Role;
use super::surface::Surface;
use crate::base::text::clean_line;
use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;
use serde_yaml::Spanned;
use std::collections::BTreeMap;

/// The themes that come with the program, by name.
pub const BUILT_IN: [(&str, &str); 15] = [
    ("ansi", include_str!("../../../themes/ansi.yaml")),
    ("catppuccin-dark", include_str!("../../../themes/catppuccin-dark.yaml")),
    ("catppuccin-light", include_str!("../../../themes/catppuccin-light.yaml")),
    ("dark", include_str!("../../../themes/dark.yaml")),
    ("gruvbox-dark", include_str!("../../../themes/gruvbox-dark.yaml")),
    ("gruvbox-light", include_str!("../../../themes/gruvbox-light.yaml")),
    ("high-contrast-dark", include_str!("../../../themes/high-contrast-dark.yaml")),
    ("high-contrast-light", include_str!("../../../themes/high-contrast-light.yaml")),
    ("light", include_str!("../../../themes/light.yaml")),
    ("mono", include_str!("../../../themes/mono.yaml")),
    ("nord", include_str!("../../../themes/nord.yaml")),
    ("solarized-dark", include_str!("../../../themes/solarized-dark.yaml")),
    ("solarized-light", include_str!("../../../themes/solarized-light.yaml")),
    ("tokyo-night-dark", include_str!("../../../themes/tokyo-night-dark.yaml")),
    ("tokyo-night-light", include_str!("../../../themes/tokyo-night-light.yaml")),
];

/// The terminal's own sixteen colours.
pub const ANSI: &str = "ansi";
/// No colours.
pub const MONO: &str = "mono";
/// By the terminal's background, which it keeps.
pub const AUTO: &str = "auto";

/// Names that stand for one of two themes, for a dark and for a light background.
const PAIRS: [(&str, &str, &str); 6] = [
    (AUTO, "dark", "light"),
    ("high-contrast", "high-contrast-dark", "high-contrast-light"),
    ("catppuccin", "catppuccin-dark", "catppuccin-light"),
    ("gruvbox", "gruvbox-dark", "gruvbox-light"),
    ("solarized", "solarized-dark", "solarized-light"),
    ("tokyo-night", "tokyo-night-dark", "tokyo-night-light"),
];

/// Themes that may stand behind one another.
const DEEPEST: usize = 8;

/// What is wrong in a theme file; the rest of it counts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("theme `{theme}`{}: {message}", at(*line))]
pub struct ThemeProblem {
    pub theme: String,
    /// 1-based; 0 when the place is not known.
    pub line: u64,
    pub message: String,
}

fn at(line: u64) -> String {
    if line == 0 { String::new() } else { format!(", line {line}") }
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    inherits: Option<Spanned<String>>,
    palette: BTreeMap<String, Spanned<String>>,
    styles: BTreeMap<String, Spanned<String>>,
}

type Styles = BTreeMap<String, Style>;

/// A theme that was read.
pub struct Found {
    /// By role, in the order of [`Role::ALL`].
    pub styles: [Style; Role::ALL.len()],
    pub problems: Vec<ThemeProblem>,
    /// It is, or inherits, [`AUTO`].
    pub follows: bool,
}

/// Every name that a theme can be chosen by, the most usual first.
pub fn names(own: &[(String, String)]) -> Vec<String> {
    let built_in = BUILT_IN.iter().map(|(name, _)| *name);
    let mut names: Vec<String> = PAIRS.iter().map(|(name, ..)| *name).chain(built_in).map(str::to_owned).collect();
    names.extend(
        own.iter().map(|(name, _)| name.clone()).filter(|name| !BUILT_IN.iter().any(|(known, _)| known == name)),
    );
    names
}

pub fn resolve(name: &str, own: &[(String, String)], surface: Surface) -> Found {
    let mut problems = Vec::new();
    let (styles, follows) = chain(name, own, surface, &mut problems);
    Found { styles: std::array::from_fn(|at| lookup(&styles, Role::ALL[at].word())), problems, follows }
}

/// The theme that a name stands for.
fn meant<'a>(name: &'a str, own: &[(String, String)], surface: Surface) -> &'a str {
    let pair = PAIRS.iter().find(|(pair, ..)| *pair == name);
    match (pair, surface.background) {
        _ if own.iter().any(|(own, _)| own == name) => name,
        // What the first theme was called.
        _ if name == "default" => ANSI,
        (Some((AUTO, ..)), None) => ANSI,
        (Some((.., light)), Some(background)) if is_light(background) => light,
        (Some((_, dark, _)), _) => dark,
        (None, _) => name,
    }
}

/// The style of a dotted key, else of what stands before its last dot, else of `text`. What lies over other text is nothing
/// else.
fn lookup(styles: &Styles, key: &str) -> Style {
    let mut key = key;
    loop {
        if let Some(style) = styles.get(key) {
            return *style;
        }
        match key.rfind('.') {
            Some(dot) => key = &key[..dot],
            None if key == "syntax" => return Style::new(),
            None => return styles.get("text").copied().unwrap_or_default(),
        }
    }
}

/// The styles of a theme over those it inherits.
fn chain(name: &str, own: &[(String, String)], surface: Surface, problems: &mut Vec<ThemeProblem>) -> (Styles, bool) {
    let mut follows = false;
    let mut files: Vec<(String, File)> = Vec::new();
    let mut wanted = Some((name.to_owned(), name.to_owned(), 0));
    while let Some((asker, name, line)) = wanted.take() {
        follows |= name == AUTO;
        let name = meant(&name, own, surface).to_owned();
        let mut problem = |message: String| {
            problems.push(ThemeProblem { theme: asker.clone(), line, message });
        };
        if files.len() == DEEPEST || files.iter().any(|(seen, _)| *seen == name) {
            problem(format!("`inherits: {name}` is circular; remove it"));
            break;
        }
        let Some(text) = text_of(&name, own) else {
            let what = if asker == name { "not found".to_owned() } else { format!("unknown theme `{name}`") };
            problem(format!("{what}; available: {}", names(own).join(", ")));
            // The person sees colours all the same.
            if files.is_empty() {
                wanted = Some((AUTO.into(), AUTO.into(), 0));
            }
            continue;
        };
        let file = read(&name, text, problems);
        wanted = file.inherits.as_ref().map(|parent| (name.clone(), parent.value.clone(), parent.referenced.line()));
        files.push((name, file));
    }
    // A colour of the palette changes the styles of those behind it too.
    let palette = files.iter().rev().flat_map(|(name, file)| colours(name, file, problems)).collect();
    let mut styles = Styles::new();
    for (name, file) in files.iter().rev() {
        add(name, file, &palette, &mut styles, problems);
    }
    (styles, follows)
}

fn text_of<'a>(name: &str, own: &'a [(String, String)]) -> Option<&'a str> {
    let own = own.iter().find(|(own, _)| own == name).map(|(_, text)| text.as_str());
    own.or_else(|| BUILT_IN.iter().find(|(built_in, _)| *built_in == name).map(|(_, text)| *text))
}

fn read(name: &str, text: &str, problems: &mut Vec<ThemeProblem>) -> File {
    serde_yaml::from_str(text).unwrap_or_else(|error| {
        problems.push(ThemeProblem {
            theme: name.to_owned(),
            line: error.location().map_or(0, |location| location.line()),
            message: clean_line(&error.to_string(), 200),
        });
        File::default()
    })
}

fn colours(name: &str, file: &File, problems: &mut Vec<ThemeProblem>) -> Vec<(String, Color)> {
    let mut read = |(key, colour): (&String, &Spanned<String>)| {
        let parsed = colour.value.parse();
        if parsed.is_err() {
            problems.push(ThemeProblem {
                theme: name.to_owned(),
                line: colour.referenced.line(),
                message: format!(
                    "`{}` is not a colour; use one of the sixteen terminal colours or #rrggbb",
                    clean_line(&colour.value, 60)
                ),
            });
        }
        Some((key.clone(), parsed.ok()?))
    };
    file.palette.iter().filter_map(&mut read).collect()
}

fn add(
    name: &str,
    file: &File,
    palette: &BTreeMap<String, Color>,
    styles: &mut Styles,
    problems: &mut Vec<ThemeProblem>,
) {
    for (key, words) in &file.styles {
        let message = match style(&words.value, palette) {
            _ if !is_key(key) => format!("unknown role `{}`{}", clean_line(key, 60), nearest(key)),
            Ok(style) => {
                styles.insert(key.clone(), style);
                continue;
            }
            Err(word) => format!("`{}` is not a colour, a palette name or a modifier", clean_line(&word, 60)),
        };
        problems.push(ThemeProblem { theme: name.to_owned(), line: words.referenced.line(), message });
    }
}

/// A role's key, or the group of some.
fn is_key(key: &str) -> bool {
    Role::WORDS.iter().any(|role| role.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}

fn nearest(key: &str) -> String {
    let best = Role::WORDS
        .iter()
        .map(|role| (similar::TextDiff::from_chars(key, *role).ratio(), *role))
        .max_by(|one, other| one.0.total_cmp(&other.0));
    match best {
        Some((ratio, role)) if ratio > 0.6 => format!("; did you mean `{role}`?"),
        _ => String::new(),
    }
}

/// A style from its words; the word that means nothing otherwise.
fn style(words: &str, palette: &BTreeMap<String, Color>) -> Result<Style, String> {
    let mut style = Style::new();
    let mut background = false;
    for word in words.split_whitespace() {
        if word == "on" {
            background = true;
            continue;
        }
        if let Some(modifier) = modifier(word) {
            style = style.add_modifier(modifier);
            continue;
        }
        let colour = match palette.get(word) {
            Some(colour) => *colour,
            None => word.parse().map_err(|_| word.to_owned())?,
        };
        style = if std::mem::take(&mut background) { style.bg(colour) } else { style.fg(colour) };
    }
    if background { Err("on".into()) } else { Ok(style) }
}

fn modifier(word: &str) -> Option<Modifier> {
    Some(match word {
        "bold" => Modifier::BOLD,
        "dim" => Modifier::DIM,
        "italic" => Modifier::ITALIC,
        "underline" => Modifier::UNDERLINED,
        "reverse" => Modifier::REVERSED,
        "strike" => Modifier::CROSSED_OUT,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::Theme;
    use super::super::surface::Depth;
    use super::*;

    fn own(text: &str) -> Vec<(String, String)> {
        vec![("own".into(), text.into())]
    }

    const TRUE: Surface = Surface { depth: Depth::True, background: None, answers: false };

    #[test]
    fn every_theme_says_what_every_role_looks_like() {
        for name in names(&[]) {
            let mut problems = Vec::new();
            let (styles, _) = chain(&name, &[], TRUE, &mut problems);
            assert_eq!(problems, [], "{name}");
            for &key in Role::WORDS {
                let group = key.split('.').next().unwrap();
                assert!(styles.contains_key(key) || styles.contains_key(group), "{name} has no {key}");
            }
        }
    }

    #[test]
    fn a_pair_is_chosen_by_the_background_and_old_names_stay() {
        let meant = |name, background| meant(name, &[], Surface { background, ..TRUE });
        for (name, _, light) in PAIRS {
            assert_eq!(meant(name, Some([0xfd, 0xf6, 0xe3])), light);
            assert!(meant(name, Some([0x1e; 3])).ends_with("dark"));
        }
        assert_eq!((meant("auto", None), meant("default", Some([0; 3]))), ("ansi", "ansi"));
        let own = [("auto".to_owned(), String::new())];
        assert_eq!(super::meant("auto", &own, TRUE), "auto", "a person's own wins");
    }

    #[test]
    fn a_colour_of_the_palette_changes_what_is_inherited() {
        let (theme, problems) = Theme::load("own", &own("inherits: dark\npalette:\n  accent: '#ff8800'\n"), TRUE);
        assert_eq!(problems, []);
        assert_eq!(theme.style(Role::PhaseRunning).fg, Some(Color::Rgb(0xff, 0x88, 0)));
    }

    #[test]
    fn a_role_falls_back_to_its_group_and_then_to_text() {
        let (theme, problems) = Theme::load("own", &own("styles:\n  text: green\n  phase: red\n"), TRUE);
        assert_eq!(problems, []);
        assert_eq!(theme.style(Role::PhaseRunning), Style::new().fg(Color::Red));
        assert_eq!(theme.style(Role::Toast), Style::new().fg(Color::Green));
        assert_eq!(theme.style(Role::SyntaxString), Style::new(), "code has the colour of what it stands in");
        let (theme, problems) = Theme::load("own", &own("styles:\n  text: green\n  syntax: red\n"), TRUE);
        assert_eq!((problems, theme.style(Role::SyntaxString).fg), (vec![], Some(Color::Red)));
    }

    #[test]
    fn a_theme_takes_over_what_it_does_not_say() {
        let text = "inherits: default\npalette:\n  accent: '#ff8800'\nstyles:\n  toast: accent on black bold\n";
        let (theme, problems) = Theme::load("own", &own(text), TRUE);
        assert_eq!(problems, []);
        let orange = Color::Rgb(0xff, 0x88, 0x00);
        let toast = Style::new().fg(orange).bg(Color::Black).add_modifier(Modifier::BOLD);
        assert_eq!(theme.style(Role::Toast), toast);
        assert_eq!(theme.style(Role::DiffAdd), Style::new().fg(Color::Green));
    }

    #[test]
    fn problems_have_a_line_and_the_rest_counts() {
        let text = "palette:\n  a: blurple\nstyles:\n  text: red\n  phase.runing: bold\n  dim: bold sparkling\n";
        let (theme, problems) = Theme::load("own", &own(text), TRUE);
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "theme `own`, line 2: `blurple` is not a colour; use one of the sixteen terminal colours or #rrggbb",
                "theme `own`, line 6: `sparkling` is not a colour, a palette name or a modifier",
                "theme `own`, line 5: unknown role `phase.runing`; did you mean `phase.running`?",
            ]
        );
        assert_eq!(theme.style(Role::Text), Style::new().fg(Color::Red));
        let (_, problems) = Theme::load("own", &own("styles:\n  text: [\n"), TRUE);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].line > 0, "{problems:?}");
    }

    #[test]
    fn circles_and_unknown_names_are_told() {
        let (_, problems) = Theme::load("own", &own("inherits: own\n"), TRUE);
        assert!(problems[0].message.contains("circular"), "{problems:?}");
        let (theme, problems) = Theme::load("nope", &[], TRUE);
        assert_eq!(
            problems[0].to_string(),
            "theme `nope`: not found; available: auto, high-contrast, \
             catppuccin, gruvbox, solarized, tokyo-night, ansi, catppuccin-dark, catppuccin-light, dark, gruvbox-dark, gruvbox-light, high-contrast-dark, high-contrast-light, light, mono, nord, solarized-dark, solarized-light, tokyo-night-dark, tokyo-night-light"
        );
        assert_eq!(theme.style(Role::DiffAdd), Style::new().fg(Color::Green));
    }
}
