//! Reading theme files: palette, inheritance, fallback from a role to its group.

use super::role::Role;
use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;
use serde_yaml::Spanned;
use std::collections::BTreeMap;

/// The themes that come with the program, by name.
pub const BUILT_IN: [(&str, &str); 2] =
    [("default", include_str!("../../../themes/default.yaml")), ("mono", include_str!("../../../themes/mono.yaml"))];

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

pub fn resolve(name: &str, own: &[(String, String)]) -> (Vec<(Role, Style)>, Vec<ThemeProblem>) {
    let mut problems = Vec::new();
    let styles = chain(name, own, &mut problems);
    let found = Role::ALL.iter().map(|role| (*role, lookup(&styles, role.word())));
    (found.collect(), problems)
}

/// The style of a dotted key, else of what stands before its last dot, else of `text`.
fn lookup(styles: &Styles, key: &str) -> Style {
    let mut key = key;
    loop {
        if let Some(style) = styles.get(key) {
            return *style;
        }
        match key.rfind('.') {
            Some(dot) => key = &key[..dot],
            None => return styles.get("text").copied().unwrap_or_default(),
        }
    }
}

/// The styles of a theme over those it inherits.
fn chain(name: &str, own: &[(String, String)], problems: &mut Vec<ThemeProblem>) -> Styles {
    let mut files: Vec<(String, File)> = Vec::new();
    let mut wanted = Some((name.to_owned(), name.to_owned(), 0));
    while let Some((asker, name, line)) = wanted.take() {
        let mut problem = |message: String| {
            problems.push(ThemeProblem { theme: asker.clone(), line, message });
        };
        if files.len() == DEEPEST || files.iter().any(|(seen, _)| *seen == name) {
            problem(format!("`inherits: {name}` is circular; remove it"));
            break;
        }
        let Some(text) = text_of(&name, own) else {
            problem(format!("there is no theme `{name}`; available: {}", known(own)));
            // The person sees colours all the same.
            if files.is_empty() && name != "default" {
                wanted = Some(("default".into(), "default".into(), 0));
            }
            continue;
        };
        let file = read(&name, text, problems);
        wanted = file.inherits.as_ref().map(|parent| (name.clone(), parent.value.clone(), parent.referenced.line()));
        files.push((name, file));
    }
    let mut styles = Styles::new();
    let mut palette = BTreeMap::new();
    for (name, file) in files.into_iter().rev() {
        add(&name, &file, &mut palette, &mut styles, problems);
    }
    styles
}

fn text_of<'a>(name: &str, own: &'a [(String, String)]) -> Option<&'a str> {
    let own = own.iter().find(|(own, _)| own == name).map(|(_, text)| text.as_str());
    own.or_else(|| BUILT_IN.iter().find(|(built_in, _)| *built_in == name).map(|(_, text)| *text))
}

fn known(own: &[(String, String)]) -> String {
    let names = BUILT_IN.iter().map(|(name, _)| *name);
    let all: Vec<&str> = names.chain(own.iter().map(|(name, _)| name.as_str())).collect();
    all.join(", ")
}

fn read(name: &str, text: &str, problems: &mut Vec<ThemeProblem>) -> File {
    serde_yaml::from_str(text).unwrap_or_else(|error| {
        problems.push(ThemeProblem {
            theme: name.to_owned(),
            line: error.location().map_or(0, |location| location.line()),
            message: crate::base::text::clean_line(&error.to_string(), 200),
        });
        File::default()
    })
}

fn add(
    name: &str,
    file: &File,
    palette: &mut BTreeMap<String, Color>,
    styles: &mut Styles,
    problems: &mut Vec<ThemeProblem>,
) {
    let mut problem = |line: u64, message: String| {
        problems.push(ThemeProblem { theme: name.to_owned(), line, message });
    };
    for (key, colour) in &file.palette {
        match colour.value.parse::<Color>() {
            Ok(colour) => {
                palette.insert(key.clone(), colour);
            }
            Err(_) => problem(
                colour.referenced.line(),
                format!("`{}` is not a colour; use one of the sixteen terminal colours or #rrggbb", colour.value),
            ),
        }
    }
    for (key, words) in &file.styles {
        let line = words.referenced.line();
        if !is_key(key) {
            problem(line, format!("there is no role `{key}`{}", nearest(key)));
            continue;
        }
        match style(&words.value, palette) {
            Ok(style) => {
                styles.insert(key.clone(), style);
            }
            Err(word) => problem(line, format!("`{word}` is not a colour, a palette name or a modifier")),
        }
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
    use super::*;

    fn own(text: &str) -> Vec<(String, String)> {
        vec![("own".into(), text.into())]
    }

    #[test]
    fn the_built_in_themes_are_whole() {
        for (name, _) in BUILT_IN {
            let mut problems = Vec::new();
            let styles = chain(name, &[], &mut problems);
            assert_eq!(problems, [], "{name}");
            for &key in Role::WORDS {
                let group = key.split('.').next().unwrap();
                assert!(styles.contains_key(key) || styles.contains_key(group), "{name} has no {key}");
            }
        }
    }

    #[test]
    fn the_default_theme_uses_the_sixteen_colours_and_mono_none() {
        for (role, style) in resolve("default", &[]).0 {
            for colour in [style.fg, style.bg].into_iter().flatten() {
                assert!(!matches!(colour, Color::Rgb(..) | Color::Indexed(_)), "{role:?}");
            }
            // The background of some scheme: `dark_gray` that of Solarized Dark, `white` that of Solarized Light.
            let lost = [Color::Black, Color::Gray, Color::DarkGray, Color::White];
            assert!(style.fg.is_none_or(|colour| !lost.contains(&colour)), "{role:?} can be invisible");
        }
        for (role, style) in resolve("mono", &[]).0 {
            assert_eq!((style.fg, style.bg), (None, None), "{role:?}");
        }
    }

    #[test]
    fn a_role_falls_back_to_its_group_and_then_to_text() {
        let (theme, problems) = Theme::load("own", &own("styles:\n  text: green\n  phase: red\n"), None);
        assert_eq!(problems, []);
        assert_eq!(theme.style(Role::PhaseRunning), Style::new().fg(Color::Red));
        assert_eq!(theme.style(Role::Toast), Style::new().fg(Color::Green));
    }

    #[test]
    fn a_theme_takes_over_what_it_does_not_say() {
        let text = "inherits: default\npalette:\n  accent: '#ff8800'\nstyles:\n  toast: accent on black bold\n";
        let (theme, problems) = Theme::load("own", &own(text), None);
        assert_eq!(problems, []);
        let orange = Color::Rgb(0xff, 0x88, 0x00);
        let toast = Style::new().fg(orange).bg(Color::Black).add_modifier(Modifier::BOLD);
        assert_eq!(theme.style(Role::Toast), toast);
        assert_eq!(theme.style(Role::DiffAdd), Style::new().fg(Color::Green));
    }

    #[test]
    fn problems_have_a_line_and_the_rest_counts() {
        let text = "palette:\n  a: blurple\nstyles:\n  text: red\n  phase.runing: bold\n  dim: bold sparkling\n";
        let (theme, problems) = Theme::load("own", &own(text), None);
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "theme `own`, line 2: `blurple` is not a colour; use one of the sixteen terminal colours or #rrggbb",
                "theme `own`, line 6: `sparkling` is not a colour, a palette name or a modifier",
                "theme `own`, line 5: there is no role `phase.runing`; did you mean `phase.running`?",
            ]
        );
        assert_eq!(theme.style(Role::Text), Style::new().fg(Color::Red));
        let (_, problems) = Theme::load("own", &own("styles:\n  text: [\n"), None);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].line > 0, "{problems:?}");
    }

    #[test]
    fn circles_and_unknown_names_are_told() {
        let (_, problems) = Theme::load("own", &own("inherits: own\n"), None);
        assert!(problems[0].message.contains("circular"), "{problems:?}");
        let (theme, problems) = Theme::load("nope", &[], None);
        assert_eq!(problems[0].to_string(), "theme `nope`: there is no theme `nope`; available: default, mono");
        assert_eq!(theme.style(Role::DiffAdd), Style::new().fg(Color::Green));
    }

    #[test]
    fn no_color_wins_when_it_is_set_and_not_empty() {
        let style = |no_color| Theme::load("default", &[], no_color).0.style(Role::DiffAdd);
        assert_eq!(style(Some("1")).fg, None);
        assert_eq!(style(Some("")).fg, Some(Color::Green));
    }
}
