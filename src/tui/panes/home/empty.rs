//! Home without a row: what this is and how to begin, with what a first run would fail for; or that the filter leaves none.

use crate::domain::finding::{Finding, Mark};
use crate::tui::home::{Place, Shows};
use crate::tui::model::Model;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::{Row, wrap_most};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

/// Most columns of a line.
const WIDEST: u16 = 96;
/// Most lines about one thing that is missing: with a long command in it, too, the fix is seen to its end.
const MOST: usize = 8;

/// The directory is in no git repository, as far as it was looked.
pub fn lacks_git(model: &Model) -> bool {
    model.branch.is_none() && model.home.place != Place::Reading && !model.home.everywhere
}

/// Draws it.
pub fn view(model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let (width, height) = (area.width.saturating_sub(3).min(WIDEST), area.height.saturating_sub(1));
    let area = Rect { x: area.x + 2, y: area.y + 1, width, height };
    let area = area.intersection(buf.area);
    let say = |role: Role, text: &str| vec![Row::new().left(role, text)];
    let rows = match (&model.home.filter[..], &model.home.place) {
        ("", _) if model.home.shows == Shows::Archive => say(Role::Dim, "Nothing is archived. A shows the others."),
        ("", Place::Reading) => say(Role::Dim, "Reading the tickets …"),
        ("", Place::Listed) => first(model, &[], area.width.into()),
        ("", Place::Checked(troubles)) => first(model, troubles, area.width.into()),
        _ if model.home.shows == Shows::Archive => say(Role::Dim, "No archived ticket. A shows the others."),
        _ => say(Role::Dim, "No ticket matches. / changes the filter, Esc shows all."),
    };
    for (place, row) in area.rows().zip(rows) {
        row.draw(theme, place, buf);
    }
}

fn first(model: &Model, troubles: &[Finding], width: usize) -> Vec<Row> {
    let key = |key: &str, does: &str| Row::new().left(Role::Key, format!("{key:<20}")).left(Role::Text, does);
    let mut rows = vec![
        Row::new().left(Role::Title, "programmator works through tickets with Claude Code and verifies every claim."),
        Row::new(),
        key("n", "write your first ticket"),
        key("N", "import tasks: GitHub issues, beads, documents, lists of other programs"),
        key("programmator init", "set up this project: what checks it, and a first ticket"),
        key("programmator demo", "try it in a sample repository, no account needed"),
    ];
    if lacks_git(model) {
        rows.push(key("I", "git init here, so that changes can be undone and committed"));
    }
    // The missing repository has its line already, with its key.
    let is_told = |finding: &Finding| lacks_git(model) && finding.name == "git" && finding.mark == Mark::Warn;
    let troubles: Vec<&Finding> = troubles.iter().filter(|finding| !is_told(finding)).collect();
    let margin = 4 + troubles.iter().map(|finding| finding.name.width()).max().unwrap_or(0);
    for finding in troubles {
        rows.push(Row::new());
        rows.extend(trouble(model, finding, margin, width));
    }
    rows
}

/// `margin`: columns before the words.
fn trouble(model: &Model, finding: &Finding, margin: usize, width: usize) -> Vec<Row> {
    let role = if finding.mark == Mark::Fail { Role::Danger } else { Role::Warning };
    let (mark, name) = (if finding.mark == Mark::Fail { model.glyphs.pick("✗", "x") } else { "!" }, &finding.name);
    let head = format!("{mark} {name}");
    let line = |at: usize| if at == 0 { head.as_str() } else { "" };
    let words = wrap_most(&finding.text, width.saturating_sub(margin), MOST).into_iter().enumerate();
    words.map(|(at, words)| Row::new().left(role, format!("{:<margin$}", line(at))).left(Role::Text, words)).collect()
}
