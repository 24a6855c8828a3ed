//! Every theme can be read: what stands on what, by how much, on the terminals that there are.

#![allow(clippy::unreadable_literal, reason = "colours are read by their six digits")]

use crate::SURFACE;
use crate::tui::theme::Theme;
use crate::tui::theme::colour::{LEGIBLE, Rgb, contrast, rgb};
use crate::tui::theme::load::BUILT_IN;
use crate::tui::theme::role::Role;
use crate::tui::theme::surface::{Depth, Surface};
use ratatui::style::{Color, Modifier, Style};

/// What a line must have.
const SEEN: f64 = 3.0;

/// The six palettes: name, text, background, the sixteen.
const PALETTES: [(&str, u32, u32, [u32; 16]); 6] = [
    ("xterm", 0xe5e5e5, 0x000000, XTERM),
    ("Terminal.app Basic", 0x000000, 0xffffff, APPLE),
    ("Solarized Dark", 0x839496, 0x002b36, SOLARIZED),
    ("Solarized Light", 0x657b83, 0xfdf6e3, SOLARIZED),
    ("VS Code", 0xcccccc, 0x1e1e1e, CODE),
    ("Tango", 0xd3d7cf, 0x2e3436, TANGO),
];
const XTERM: [u32; 16] = [
    0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00,
    0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
];
const APPLE: [u32; 16] = [
    0x000000, 0x990000, 0x00a600, 0x999900, 0x0000b2, 0xb200b2, 0x00a6b2, 0xbfbfbf, 0x666666, 0xe50000, 0x00d900,
    0xe5e500, 0x0000ff, 0xe500e5, 0x00e5e5, 0xe5e5e5,
];
const SOLARIZED: [u32; 16] = [
    0x073642, 0xdc322f, 0x859900, 0xb58900, 0x268bd2, 0xd33682, 0x2aa198, 0xeee8d5, 0x002b36, 0xcb4b16, 0x586e75,
    0x657b83, 0x839496, 0x6c71c4, 0x93a1a1, 0xfdf6e3,
];
const CODE: [u32; 16] = [
    0x000000, 0xcd3131, 0x0dbc79, 0xe5e510, 0x2472c8, 0xbc3fbc, 0x11a8cd, 0xe5e5e5, 0x666666, 0xf14c4c, 0x23d18b,
    0xf5f543, 0x3b8eea, 0xd670d6, 0x29b8db, 0xe5e5e5,
];
const TANGO: [u32; 16] = [
    0x2e3436, 0xcc0000, 0x4e9a06, 0xc4a000, 0x3465a4, 0x75507b, 0x06989a, 0xd3d7cf, 0x555753, 0xef2929, 0x8ae234,
    0xfce94f, 0x729fcf, 0xad7fa8, 0x34e2e2, 0xeeeeec,
];
/// The sixteen as ratatui names them.
const NAMES: [Color; 16] = [
    Color::Black,
    Color::Red,
    Color::Green,
    Color::Yellow,
    Color::Blue,
    Color::Magenta,
    Color::Cyan,
    Color::Gray,
    Color::DarkGray,
    Color::LightRed,
    Color::LightGreen,
    Color::LightYellow,
    Color::LightBlue,
    Color::LightMagenta,
    Color::LightCyan,
    Color::White,
];

fn hex(colour: u32) -> Rgb {
    let [_, r, g, b] = colour.to_be_bytes();
    [r, g, b]
}

fn of(name: &str, surface: Surface) -> Theme {
    let (theme, problems) = Theme::load(name, &[], surface);
    assert_eq!(problems, [], "{name}");
    theme
}

fn in_colour() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name).filter(|name| !matches!(*name, "ansi" | "mono"))
}

/// A role as it is drawn: over the style of text.
fn drawn(theme: &Theme, role: Role) -> Style {
    theme.style(Role::Text).patch(theme.style(role))
}

/// Letters and what lies behind them, where both are known.
fn pair(style: Style, paper: Rgb) -> Option<(Rgb, Rgb)> {
    Some((style.fg.and_then(rgb)?, style.bg.map_or(Some(paper), rgb)?))
}

/// Everything can be read on this background of the terminal and in a selected line.
fn assert_legible(name: &str, theme: &Theme, terminal: Rgb, text: f64) {
    let paper = theme.style(Role::Text).bg.map_or(terminal, |bg| rgb(bg).unwrap());
    let selected = rgb(theme.style(Role::Selection).bg.unwrap()).unwrap();
    assert!(contrast(paper, selected) > 1.1, "{name}: a selected line is not seen");
    for &role in Role::ALL.iter().filter(|role| !matches!(role, Role::Selection | Role::Cursor)) {
        let (letters, behind) = pair(drawn(theme, role), paper).unwrap_or_else(|| panic!("{name}: {role:?}"));
        let least = if role.is_line() { SEEN } else { text };
        let found = contrast(letters, behind);
        assert!(found >= least, "{name}: {role:?} has {found:.2} on {terminal:02x?}");
        let found = contrast(letters, selected);
        assert!(role.is_line() || behind != paper || found >= text, "{name}: {role:?} has {found:.2} when selected");
    }
}

#[test]
fn text_and_lines_stand_out_in_true_colour_and_in_256() {
    for name in in_colour() {
        let text = if name.starts_with("high-contrast") { 7.0 } else { LEGIBLE };
        for depth in [Depth::True, Depth::Indexed] {
            assert_legible(name, &of(name, Surface { depth, ..SURFACE }), [0; 3], text);
        }
    }
}

#[test]
fn auto_keeps_the_terminals_background_where_that_can_be_read() {
    for (background, keeps) in [
        (0x000000, true),
        (0x14171c, true),
        (0x1e1e1e, true),
        (0x282c34, true),
        (0x002b36, true),
        (0xffffff, true),
        (0xfdf6e3, true),
        (0x5a5f66, false),
        (0x9aa0a6, false),
    ] {
        let terminal = hex(background);
        let theme = of("auto", Surface { background: Some(terminal), ..SURFACE });
        assert_eq!(theme.style(Role::Text).bg.is_none(), keeps, "{background:06x}");
        assert_legible("auto", &theme, terminal, LEGIBLE);
    }
    let own = [("own".to_owned(), "inherits: auto\npalette:\n  accent: '#ffffff'\n".to_owned())];
    assert_eq!(Theme::load("own", &own, SURFACE).0.style(Role::Text).bg, None, "and so does one that inherits it");
}

#[test]
fn the_eye_goes_to_what_needs_somebody_then_to_what_runs_then_to_the_focus() {
    for name in in_colour() {
        let theme = of(name, SURFACE);
        let paper = rgb(theme.style(Role::Text).bg.unwrap()).unwrap();
        let needs = theme.style(Role::TabAttention);
        assert!(
            needs.bg.and_then(rgb).is_some_and(|bg| bg != paper),
            "{name}: what needs somebody is a block of colour"
        );
        let strength = |role| contrast(rgb(theme.style(role).fg.unwrap()).unwrap(), paper);
        let [runs, focus, line] = [Role::PhaseRunning, Role::BorderFocus, Role::Border].map(strength);
        assert!(theme.style(Role::PhaseRunning).add_modifier.contains(Modifier::BOLD), "{name}");
        assert!(runs > focus && focus >= line, "{name}: {runs:.1} {focus:.1} {line:.1}");
    }
}

#[test]
fn the_sixteen_can_be_read_in_every_usual_scheme() {
    let theme = of("ansi", SURFACE);
    let index = |colour: Color| NAMES.iter().position(|name| *name == colour);
    for &role in Role::ALL {
        let style = drawn(&theme, role);
        let used = [style.fg, style.bg].into_iter().flatten().filter(|colour| *colour != Color::Reset);
        for colour in used {
            let at = index(colour).unwrap_or_else(|| panic!("{role:?}: {colour:?} is none of the sixteen"));
            assert!(![0, 4, 7, 8, 15].contains(&at), "{role:?} uses {colour:?}");
            // Some terminals show bold text in the bright colour of the same name.
            let shown = if style.add_modifier.contains(Modifier::BOLD) { at | 8 } else { at };
            for (name, _, paper, colours) in PALETTES {
                for at in [at, shown] {
                    let found = contrast(hex(colours[at]), hex(paper));
                    assert!(found >= 2.95, "{name}: {role:?} has {found:.2}");
                }
            }
        }
    }
    for (name, text, paper, _) in PALETTES {
        assert!(contrast(hex(text), hex(paper)) > 4.1, "{name}");
    }
}

#[test]
fn no_text_is_made_faint() {
    for (name, _) in BUILT_IN {
        let theme = of(name, SURFACE);
        for &role in Role::ALL.iter().filter(|role| !role.is_line()) {
            assert!(!theme.style(role).add_modifier.contains(Modifier::DIM), "{name}: {role:?}");
        }
    }
}

#[test]
fn a_terminal_gets_no_more_than_it_has() {
    let own = [("own".to_owned(), "styles:\n  accent: '#ff8800' \n  danger: light_red bold\n".to_owned())];
    let ansi = of("ansi", SURFACE);
    for name in in_colour().chain(["own"]) {
        let with = |depth| Theme::load(name, &own, Surface { depth, ..SURFACE }).0;
        let [indexed, sixteen, none] = [Depth::Indexed, Depth::Sixteen, Depth::None].map(with);
        for &role in Role::ALL {
            let colours = |theme: &Theme| [theme.style(role).fg, theme.style(role).bg];
            let rgb = |colour: &Option<Color>| matches!(colour, Some(Color::Rgb(..)));
            assert!(!colours(&indexed).iter().any(rgb), "{name}: {role:?}");
            assert_eq!(colours(&none), [None, None], "{name}: {role:?}");
            if name != "own" && role != Role::Cursor {
                assert_eq!(sixteen.style(role), ansi.style(role), "{name}: {role:?}");
            }
        }
        if name == "own" {
            assert_eq!(sixteen.style(Role::Accent), ansi.style(Role::Accent));
            assert_eq!(sixteen.style(Role::Danger), Style::new().fg(Color::LightRed).add_modifier(Modifier::BOLD));
        }
    }
}
