//! Where this program is: to be started again by us, or by others later.

use std::io;
use std::path::PathBuf;

/// To be started now, also after its file was replaced by a newer one.
pub fn to_start() -> io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    Ok(if path.exists() { path } else { PathBuf::from("/proc/self/exe") })
}

/// To be started once this process may be gone: where its file was replaced, the one that stands there now.
pub fn to_start_later() -> io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    if path.exists() {
        return Ok(path);
    }
    // Linux says of a path that it is gone.
    let now = path.to_str().and_then(|path| path.strip_suffix(" (deleted)")).map(PathBuf::from);
    now.filter(|path| path.is_file())
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the file of this program is gone"))
}

/// For others that start it later: the path that it was started by, absolute, so that a link that a package manager points to each
/// new version stays one.
pub fn as_started() -> io::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let typed = PathBuf::from(std::env::args_os().next().unwrap_or_default());
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = if typed.components().count() > 1 {
        std::path::absolute(&typed).ok()
    } else {
        std::env::split_paths(&folders).map(|folder| folder.join(&typed)).find(|path| path.is_file())
    };
    let is_own = |path: &PathBuf| path.is_absolute() && path.canonicalize().is_ok_and(|real| real == own);
    Ok(found.filter(is_own).unwrap_or(own))
}
