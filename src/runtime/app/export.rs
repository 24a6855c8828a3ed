//! Writing a run as a file, beside the service: a run may be large.

use super::Service;
use crate::adapters::store::Store;
use crate::base::text::clean_line;
use crate::domain::export::Export;
use crate::domain::request::Reply;
use crate::domain::scrollback::Scrollback as _;
use crate::domain::stream::envelope::classify;
use crate::runtime::export::stored::{Exported, Secrets};
use crate::runtime::export::{create, write};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use tokio::sync::oneshot;

impl Service {
    pub(super) fn export(&self, wanted: Export, reply: oneshot::Sender<Reply>) {
        let (store, secrets) = (self.opener.store.clone(), self.secrets.clone());
        let (folder, home) = (self.places.folder.clone(), self.person_folder.clone());
        tokio::task::spawn_blocking(move || {
            let path = expanded(&wanted.path, &folder, home.as_deref());
            let told =
                written(&store, secrets, &wanted, &path).map(|()| clean_line(&path.display().to_string(), 1_000));
            let _ = reply.send(Reply::Exported(wanted.run, told));
        });
    }
}

fn expanded(path: &str, folder: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(below), Some(home)) => home.join(below),
        _ => folder.join(path),
    }
}

fn written(store: &Store, secrets: Secrets, wanted: &Export, path: &Path) -> Result<(), String> {
    let words = |error: &dyn std::fmt::Display| error.to_string();
    let known = store.run(wanted.run).map_err(|error| words(&error))?;
    let (summary, _) = known.ok_or("the run no longer exists")?;
    let scrollback = store.scrollback(wanted.run, classify).map_err(|error| words(&error))?;
    let records = store.load(wanted.run).map_err(|error| words(&error))?.records;
    if let Some(n) = wanted.iteration.filter(|n| !scrollback.iterations().contains(n)) {
        return Err(format!("no output in iteration {n}"));
    }
    let exported = Exported {
        summary: &summary,
        records: &records,
        scrollback: &scrollback,
        iteration: wanted.iteration,
        secrets,
        zone: jiff::tz::TimeZone::system(),
    };
    create(path, |out| write(out, &exported, wanted.format)).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => "the file exists; choose another name".to_owned(),
        ErrorKind::NotFound => "its directory does not exist; create it first, or choose another one".to_owned(),
        _ => format!("it cannot be written: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_below_home_here_or_anywhere() {
        let (here, home) = (Path::new("/srv/shop"), Some(Path::new("/home/ann")));
        assert_eq!(expanded("~/a.md", here, home), Path::new("/home/ann/a.md"));
        assert_eq!(expanded("a.md", here, home), Path::new("/srv/shop/a.md"));
        assert_eq!(expanded("/srv/a.md", here, home), Path::new("/srv/a.md"));
        assert_eq!(expanded("~/a.md", here, None), Path::new("/srv/shop/~/a.md"));
    }
}
