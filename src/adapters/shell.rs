//! The bash that Claude and the validation commands run commands in: the same for both, because the policy reads bash.
//! A system may have it elsewhere than in `/bin` (`NixOS`).

use super::environment::Variables;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where it is on most systems.
pub const BASH: &str = "/bin/bash";

/// There is no bash.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "bash was not found: it is neither at {BASH} nor on the PATH ({path}). Claude's commands and the validation \
    commands need it: install bash"
)]
pub struct NoBash {
    pub path: String,
}

/// The absolute path of bash: `/bin/bash`, else the first on the PATH, that of `own` (`agent.env`) before ours.
pub fn find(own: &Variables, work: &Path) -> Result<PathBuf, NoBash> {
    let given = own.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.clone());
    let path = given.or_else(|| std::env::var_os("PATH"));
    find_at(Path::new(BASH), path.as_deref(), work)
}

/// Files inside `work` do not count: Claude could have put them there.
fn find_at(usual: &Path, path: Option<&OsStr>, work: &Path) -> Result<PathBuf, NoBash> {
    let folders = path.into_iter().flat_map(std::env::split_paths);
    let elsewhere = folders.filter(|folder| folder.is_absolute() && !folder.starts_with(work));
    let mut places = std::iter::once(usual.to_owned()).chain(elsewhere.map(|folder| folder.join("bash")));
    let runs =
        |file: &PathBuf| file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0);
    let inside = |file: &Path| file.canonicalize().is_ok_and(|real| real.starts_with(work));
    places.find(|file| runs(file) && !inside(file)).ok_or_else(|| NoBash {
        path: path.map_or_else(|| "not set".into(), |path| path.to_string_lossy().into_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn bash_is_found_on_the_path_but_never_in_the_work_folder() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let work = root.join("work");
        for folder in ["work/bin", "system", "linked", "data"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let program = |name: &str, mode| {
            let file = root.join(name);
            fs::write(&file, "").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            file
        };
        program("work/bin/bash", 0o755);
        program("data/bash", 0o644);
        let system = program("system/bash", 0o755);
        std::os::unix::fs::symlink(work.join("bin/bash"), root.join("linked/bash")).unwrap();

        let path = |names: &[&str]| std::env::join_paths(names.iter().map(|name| root.join(name))).unwrap();
        let absent = root.join("absent");
        let find = |names: &[&str]| find_at(&absent, Some(&path(names)), &work);
        assert_eq!(find(&["work/bin", "linked", "data", "system"]), Ok(system.clone()));
        let none = find(&["work/bin", "linked"]).unwrap_err().to_string();
        assert!(none.contains("install bash") && none.contains("linked"), "{none}");
        assert!(find_at(&absent, None, &work).unwrap_err().to_string().contains("not set"));
        assert_eq!(find_at(&absent, Some(OsStr::new("bin:.")), &work).ok(), None, "a relative folder is anybody's");
        assert_eq!(find_at(&system, None, &work), Ok(system));
    }
}
