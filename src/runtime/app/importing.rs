//! Importing tasks, beside the service: another program may have to be asked.

use super::{Service, real};
use crate::domain::import::page::{ImportAsk, ImportTold};
use crate::domain::request::Reply;
use crate::runtime::importing::Importer;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

impl Service {
    pub(super) fn import(&self, asked: ImportAsk, reply: oneshot::Sender<Reply>) {
        let importer = Importer {
            folder: self.places.folder.clone(),
            state: self.opener.store.folder().to_owned(),
            dir: self.places.dir(),
            user: self.user.clone(),
            clock: self.opener.clock.clone(),
        };
        // The person sees the tickets of the whole project, and wants its tasks.
        let importer = Importer { folder: importer.home().to_owned(), ..importer };
        let known = self.known();
        let runtime = Handle::current();
        spawn_blocking(move || {
            let told = match asked {
                ImportAsk::Places => ImportTold::Places(runtime.block_on(importer.places())),
                ImportAsk::Page(place) => {
                    let page = runtime.block_on(importer.page(&place));
                    ImportTold::Page(place, page)
                }
                ImportAsk::Import(place, chosen) => {
                    let done = runtime.block_on(importer.import_chosen(&place, &chosen));
                    // Those that were written before it failed, too.
                    known.list(&real(&importer.dir));
                    ImportTold::Done(place, done)
                }
            };
            // Nobody may wait any more.
            let _ = reply.send(Reply::Import(told));
        });
    }
}
