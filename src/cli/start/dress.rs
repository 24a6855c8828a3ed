//! A screen as this person has it: keys, looks, sizes, what the configuration says.

use crate::adapters::clock::zone;
use crate::cli::error::CliError;
use crate::cli::session::Session;
use crate::config::Resolved;
use crate::tui::marks::Glyphs;
use crate::tui::theme::looks::Looks;
use crate::tui::theme::surface::Surface;
use crate::tui::ui::Ui;

/// The screen as this person has it, with nothing on it.
pub fn dressed(session: &Session, resolved: &Resolved, surface: Surface) -> Result<Ui, CliError> {
    let mut model = Ui::new(session.clock().now(), zone());
    model.profile = resolved.config.profile.word();
    model.workflow.clone_from(&resolved.config.settings.workflow);
    model.checks.clone_from(&resolved.config.validation);
    model.home.ignores_checks = resolved.ignores_checks;
    model.folder = session.folder.display().to_string();
    model.person_folder = session.environment.get("HOME").cloned().unwrap_or_default();
    model.keys = session.keys()?;
    match session.arrangement() {
        Ok(arrangement) => model.arrangement = arrangement,
        Err(why) => model.tell(format!("the panes have their default sizes: {why}")),
    }
    model.animations = resolved.config.screen.animations;
    model.tells_progress = resolved.config.screen.progress;
    let screen = &resolved.config.screen;
    if screen.ascii {
        model.glyphs = Glyphs::Ascii;
    }
    let (looks, problems) = Looks::new(&screen.theme, session.themes(), surface);
    model.looks = looks;
    if let Some(problem) = problems.first() {
        return Err(CliError::usage(problem.to_string()));
    }
    Ok(model)
}
