//! Finds and reads policy files: the person's `policy.yaml` and a project's `.programmator/policy.yaml`. What they
//! mean is `policy`'s business. A file that others could have written decides nothing.

use crate::config::Trust;
use crate::domain::profile::Profile;
use crate::policy::engine::{Policy, Source, Standing};
use crate::policy::rules::file::{MAX_FILE, PolicyError};
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Name of a policy file in its folder.
pub const NAME: &str = "policy.yaml";

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    /// It may allow, so nobody else may write it.
    Persons,
    /// It only makes verdicts stricter; a shared clone may be writable for a group.
    Projects,
}

/// The policy of a run: the profile, the person's file before it, the project's as far as it is trusted. A file
/// that is there and cannot be used blocks everything, and `Policy::broken` says why.
pub fn load(profile: Profile, user_file: Option<&Path>, project_folder: &Path, trust: Trust) -> Policy {
    let standing = if trust == Trust::Trusted { Standing::Trusted } else { Standing::Untrusted };
    let whose = if trust == Trust::Trusted { Whose::Persons } else { Whose::Projects };
    let user = user_file.map_or(Ok(None), |file| read(file, Whose::Persons));
    let project = read(&project_folder.join(NAME), whose);
    match (user, project) {
        (Ok(user), Ok(project)) => {
            Policy::layered(profile, user.as_ref(), project.as_ref().map(|project| (project, standing)))
        }
        (Err(error), _) | (_, Err(error)) => Policy::unusable(error),
    }
}

/// The policy without any project's.
pub fn of_person(profile: Profile, file: Option<&Path>) -> Policy {
    match file.map_or(Ok(None), |file| read(file, Whose::Persons)) {
        Ok(rules) => Policy::layered(profile, rules.as_ref(), None),
        Err(error) => Policy::unusable(error),
    }
}

/// How a file looked: another content, owner, mode or file has another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp(Option<Looks>);

type Looks = (u64, u64, u64, i64, i64);
/// How these files look now; what is not there, too.
pub fn stamps(files: &[PathBuf]) -> Vec<Stamp> {
    files.iter().map(|file| Stamp(std::fs::metadata(file).ok().map(|metadata| looks(&metadata)))).collect()
}

fn looks(metadata: &Metadata) -> Looks {
    use std::os::unix::fs::MetadataExt;
    // The time of the last change of anything about it, which nobody can set.
    (metadata.dev(), metadata.ino(), metadata.size(), metadata.ctime(), metadata.ctime_nsec())
}

/// One file in the place of a profile.
pub fn alone(path: &Path) -> Policy {
    match read(path, Whose::Persons) {
        Ok(Some(source)) => Policy::alone(&source),
        Ok(None) => Policy::unusable(wrong(path, "no such file")),
        Err(error) => Policy::unusable(error),
    }
}

fn read(path: &Path, whose: Whose) -> Result<Option<Source>, PolicyError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(wrong(path, &error.to_string())),
    };
    let metadata = file.metadata().map_err(|error| wrong(path, &error.to_string()))?;
    if !metadata.is_file() {
        return Err(wrong(path, "not a regular file; replace or remove it"));
    }
    if whose == Whose::Persons {
        check_owner(&metadata).map_err(|why| wrong(path, why))?;
    }
    let mut text = String::new();
    file.take(MAX_FILE as u64 + 1)
        .read_to_string(&mut text)
        .map_err(|error| wrong(path, &format!("{error}; save it as UTF-8")))?;
    Ok(Some(Source { path: path.display().to_string(), text }))
}

fn check_owner(metadata: &Metadata) -> Result<(), &'static str> {
    use std::os::unix::fs::MetadataExt;
    let us = rustix::process::geteuid().as_raw();
    if metadata.uid() != us && metadata.uid() != 0 {
        return Err("it is owned by another user; fix it with chown");
    }
    if metadata.mode() & 0o022 != 0 {
        return Err("it is writable by other users; fix it with chmod go-w");
    }
    Ok(())
}

fn wrong(path: &Path, why: &str) -> PolicyError {
    PolicyError { path: path.display().to_string(), line: 1, column: 1, message: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::path_view::RealPaths;
    use crate::domain::verdict::Verdict;
    use crate::policy::place::Place;
    use serde_json::json;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    const ALLOW_ALL_CURL: &str = "version: 1\nrules:\n  - {name: curl, action: allow, command: curl}\n";
    const BLOCK_LS: &str = "version: 1\nrules:\n  - {name: no-ls, action: block, command: ls}\n";

    struct Home {
        user: tempfile::TempDir,
        project: tempfile::TempDir,
    }

    impl Home {
        fn new(user: &str, project: &str) -> Self {
            let home = Self { user: tempfile::tempdir().unwrap(), project: tempfile::tempdir().unwrap() };
            for (folder, text) in [(&home.user, user), (&home.project, project)] {
                fs::write(folder.path().join(NAME), text).unwrap();
                fs::set_permissions(folder.path().join(NAME), fs::Permissions::from_mode(0o600)).unwrap();
            }
            home
        }

        fn verdict(&self, trust: Trust, command: &str) -> (Verdict, String) {
            let policy = load(Profile::Guarded, Some(&self.user.path().join(NAME)), self.project.path(), trust);
            let root = self.project.path();
            let place = Place { workspace: root, cwd: root, home: root, user: "dev", view: &RealPaths::default() };
            let decision = policy.decide("Bash", &json!({ "command": command }), &place);
            (decision.verdict, decision.told())
        }
    }

    #[test]
    fn the_persons_file_comes_before_the_profile() {
        let home = Home::new(ALLOW_ALL_CURL, "version: 1\n");
        assert_eq!(home.verdict(Trust::Unknown, "curl https://x.test").0, Verdict::Allow);
        assert_eq!(home.verdict(Trust::Unknown, "wget https://x.test").0, Verdict::Ask);
    }

    #[test]
    fn a_projects_file_only_tightens_until_it_is_trusted() {
        let home = Home::new("version: 1\n", ALLOW_ALL_CURL);
        assert_eq!(home.verdict(Trust::Unknown, "curl https://x.test").0, Verdict::Ask);
        assert_eq!(home.verdict(Trust::Changed, "curl https://x.test").0, Verdict::Ask);
        assert_eq!(home.verdict(Trust::Trusted, "curl https://x.test").0, Verdict::Allow);
        let home = Home::new("version: 1\n", BLOCK_LS);
        assert_eq!(home.verdict(Trust::Unknown, "ls").0, Verdict::Block);
    }

    #[test]
    fn a_file_that_others_can_write_blocks_everything() {
        let home = Home::new(ALLOW_ALL_CURL, "version: 1\n");
        for mode in [0o620, 0o602, 0o666] {
            fs::set_permissions(home.user.path().join(NAME), fs::Permissions::from_mode(mode)).unwrap();
            let (verdict, told) = home.verdict(Trust::Unknown, "ls");
            assert_eq!(verdict, Verdict::Block, "{mode:o}");
            assert!(told.contains("chmod go-w"), "{told}");
        }
    }

    #[test]
    fn a_broken_file_blocks_everything_and_says_where() {
        for (text, at) in [
            ("version: 1\nrules:\n  - {name: a, action: allow, comand: ls}\n", ":3:"),
            ("version: 1\nrules: [\n", ":"),
            ("version: 1\ndefault: allow\n", ":2:10"),
            ("version: 2\n", ":1:10"),
            ("version: 1\nrules:\n  - {name: a, action: allow, unknown: true}\n", ":3:"),
            ("version: 1\nrules:\n  - {name: a, action: block, command: ls, examples: {match: [pwd]}}\n", ":3:"),
        ] {
            let (verdict, told) = Home::new(text, "version: 1\n").verdict(Trust::Unknown, "ls");
            assert_eq!(verdict, Verdict::Block, "{text}");
            assert!(told.contains(&format!("{NAME}{at}")), "{text}: {told}");
        }
    }
}
