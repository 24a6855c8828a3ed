//! `SOUL.md`: what a chat tells Claude before anything else. Only chats read it, so trust in a project's is kept apart from
//! that in its other files: no run of a ticket is touched when it changes.

use crate::adapters::config_files::{PROJECT_FOLDER, ReadError, own_file};
use crate::adapters::trust::TrustStore;
use crate::config::{FileText, Trust};
use std::path::Path;

/// What a chat makes of the files that there are.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Soul {
    pub text: Option<String>,
    /// Why the project's is not used.
    pub ignored: Option<String>,
}

/// The one in a folder.
pub fn of(folder: &Path) -> Result<Option<FileText>, ReadError> {
    own_file(folder, "SOUL.md")
}

/// That of the project in `folder` where it is trusted, else the one in the person's config folder.
pub fn read(config: Option<&Path>, folder: &Path, trust: &TrustStore) -> Result<Soul, String> {
    let own = match config {
        Some(config) => of(config).map_err(|error| error.to_string())?,
        None => None,
    };
    let own = own.map(|file| file.text);
    // What cannot be read is not trusted: a project must not keep the person from their chats.
    let (path, trust) = match of(&folder.join(PROJECT_FOLDER)) {
        Ok(None) => return Ok(Soul { text: own, ignored: None }),
        Err(error) => return Ok(Soul { text: own, ignored: Some(format!("{error}: ignored")) }),
        Ok(Some(soul)) => match trust.trust_of_soul(folder, &soul).map_err(|error| error.to_string())? {
            Trust::Trusted => return Ok(Soul { text: Some(soul.text), ignored: None }),
            trust => (soul.path, trust),
        },
    };
    let why =
        if trust == Trust::Changed { "it has changed since you trusted it" } else { "this project is not trusted" };
    Ok(Soul {
        text: own,
        ignored: Some(format!("{path} is ignored: {why}; review and trust it with `programmator trust`")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_projects_own_counts_where_it_is_trusted_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let [config, project, state] = ["config", "project", "state"].map(|name| folder.path().join(name));
        fs::create_dir_all(&config).unwrap();
        fs::create_dir_all(project.join(PROJECT_FOLDER)).unwrap();
        let trust = TrustStore::new(&state);
        let read = || super::read(Some(&config), &project, &trust).unwrap();
        assert_eq!(read(), Soul::default());
        fs::write(config.join("SOUL.md"), "mine").unwrap();
        assert_eq!(read(), Soul { text: Some("mine".into()), ignored: None });
        let theirs = project.join(PROJECT_FOLDER).join("SOUL.md");
        fs::write(&theirs, "theirs").unwrap();
        let untrusted = read();
        assert_eq!(untrusted.text.as_deref(), Some("mine"));
        assert!(untrusted.ignored.unwrap().contains("not trusted"));
        trust.trust_soul(&project, &of(theirs.parent().unwrap()).unwrap().unwrap()).unwrap();
        assert_eq!(read(), Soul { text: Some("theirs".into()), ignored: None });
        fs::write(&theirs, "other").unwrap();
        assert!(read().ignored.unwrap().contains("has changed"));
        fs::write(&theirs, [0xff, 0xfe]).unwrap();
        assert_eq!(read().text.as_deref(), Some("mine"));
        // The person's own is meant: without it the chat would be another one.
        fs::write(config.join("SOUL.md"), [0xff, 0xfe]).unwrap();
        assert!(super::read(Some(&config), &project, &trust).unwrap_err().contains("SOUL.md"));
    }
}
