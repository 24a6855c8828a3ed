//! Importing tasks on the screen: what is asked, and what is told of it.

use crate::base::id::TicketId;
use crate::domain::import::page::{ImportAsk, ImportTold};
use crate::domain::request::Request;
use crate::domain::summary::Owner;
use crate::tui::modals::Modal;
use crate::tui::modals::import::{Import, words};
use crate::tui::msg::Ask;
use crate::tui::panes::stream;
use crate::tui::ui::Ui;

/// Opens the dialog, and asks for what there is.
pub(super) fn open(ui: &mut Ui) -> Vec<Ask> {
    ui.modals.push(Modal::Import(Box::default()));
    vec![Ask::Request(Request::Import(ImportAsk::Places))]
}

/// Leaves the dialog for the ticket of a task.
pub(super) fn open_ticket(ui: &mut Ui, dialog: Box<Import>, id: &TicketId) -> Vec<Ask> {
    let Some(key) = ui.listed.with_id(id).cloned() else {
        ui.modals.push(Modal::Import(dialog));
        ui.tell(format!("{id} has not been read yet"));
        return Vec::new();
    };
    let run = ui.runs.get(&key).map(|run| run.run);
    let is_known = ui.tab_of(&key).is_some_and(|tab| tab.run.is_some() && tab.owner == Owner::Here);
    let at = ui.open_tab(&key);
    ui.show_tab(at);
    ui.focus = stream::NAME;
    run.filter(|_| !is_known).map(|run| Ask::Request(Request::Show(run))).into_iter().collect()
}

fn dialog(ui: &mut Ui) -> Option<&mut Import> {
    ui.modals.iter_mut().find_map(|modal| match modal {
        Modal::Import(import) => Some(&mut **import),
        _ => None,
    })
}

/// Tells the dialog. What was imported is said in the footer where the tasks it is from are shown no more.
pub(super) fn told(ui: &mut Ui, told: ImportTold) -> Vec<Ask> {
    if let ImportTold::Done(place, done) = &told
        && !dialog(ui).is_some_and(|dialog| dialog.shows(place))
    {
        ui.tell(words(done));
    }
    dialog(ui).and_then(|dialog| dialog.told(told)).into_iter().collect()
}

/// It could not be asked.
pub(super) fn not_asked(ui: &mut Ui, asked: ImportAsk, why: &str) -> Vec<Ask> {
    match asked {
        ImportAsk::Places => {
            if let Some(dialog) = dialog(ui) {
                dialog.refuse(why);
            }
            Vec::new()
        }
        ImportAsk::Page(place) => told(ui, ImportTold::Page(place, Err(why.to_owned()))),
        ImportAsk::Import(place, _) => told(ui, ImportTold::Done(place, Err(why.to_owned()))),
    }
}
