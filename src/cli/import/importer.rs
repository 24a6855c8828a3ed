//! What imports for a session of the command line.

use crate::cli::session::Session;
use crate::runtime::importing::Importer;
use std::path::PathBuf;

/// What imports for this session, into this tickets folder.
pub(in crate::cli) fn importer(session: &Session, dir: PathBuf) -> Importer {
    let user = session.environment.get("USER").cloned();
    Importer { folder: session.folder.clone(), state: session.state.clone(), dir, user, clock: session.clock() }
}
