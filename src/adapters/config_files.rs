//! Finds and reads the files of the configuration: the user's folder and a project's `.programmator`.
//!
//! What they mean is `config`'s business, whether a project's are trusted is `trust`'s. Nothing here waits for
//! a writer: pipes, devices and folders in the place of a file are refused without being read.

use crate::adapters::private_file;
use crate::config::file::MAX_FILE;
use crate::config::theme_line;
use crate::config::{FileText, Files};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Folder of a project's settings inside its working directory.
pub const PROJECT_FOLDER: &str = ".programmator";
/// Most files looked at in a `prompts` folder.
const MAX_PROMPTS: usize = 64;

/// A file that is there and cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", .path.display())]
pub struct ReadError {
    pub path: PathBuf,
    /// What is wrong, and what to do.
    pub reason: String,
}

/// The user's config folder: `PROGRAMMATOR_CONFIG_DIR`, else `$XDG_CONFIG_HOME/programmator`, else
/// `$HOME/.config/programmator`. `None` without any of them.
pub fn user_folder(environment: &BTreeMap<String, String>) -> Option<PathBuf> {
    let set = |name: &str| environment.get(name).filter(|text| !text.is_empty()).map(PathBuf::from);
    set("PROGRAMMATOR_CONFIG_DIR").or_else(|| {
        // The XDG specification: a path that is not absolute is to be ignored.
        let xdg = set("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
        let base = xdg.or_else(|| set("HOME").map(|home| home.join(".config")))?;
        Some(base.join("programmator"))
    })
}

/// Reads `config.yaml` and `prompts/*.md` of a folder. What is missing is empty; what is there and cannot be
/// read is an error, because to go on without it could mean to go on without a limit.
pub fn read(folder: &Path) -> Result<Files, ReadError> {
    let mut files = Files {
        config: read_file(&folder.join("config.yaml"))?,
        prompts: Vec::new(),
        policy: read_file(&folder.join("policy.yaml"))?,
    };
    for path in prompt_paths(&folder.join("prompts"))? {
        files.prompts.extend(read_file(&path)?);
    }
    Ok(files)
}

fn prompt_paths(folder: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let failed = |error: &io::Error| ReadError { path: folder.to_owned(), reason: error.to_string() };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(failed(&error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| failed(&error))?.path();
        if path.extension().is_some_and(|ending| ending == "md") {
            paths.push(path);
        }
        if paths.len() > MAX_PROMPTS {
            let reason = format!("more than {MAX_PROMPTS} .md files; remove those that are not prompts");
            return Err(ReadError { path: folder.to_owned(), reason });
        }
    }
    paths.sort();
    Ok(paths)
}

/// The file of this name of the person's folder, if there is one.
pub fn own_file(folder: &Path, name: &str) -> Result<Option<FileText>, ReadError> {
    read_file(&folder.join(name))
}

/// Name and text of each `templates/*.md` of a config folder, by name: what new tickets may begin with.
pub fn templates(config: &Path) -> Vec<(String, String)> {
    named(&config.join("templates"), "md")
}

pub fn themes_folder(config: &Path) -> PathBuf {
    config.join("themes")
}

/// Name and YAML of each `themes/*.yaml` of a config folder, by name.
pub fn themes(config: &Path) -> Vec<(String, String)> {
    named(&themes_folder(config), "yaml")
}

/// Name and text of each file of a folder with this ending, by name. What cannot be read is left out.
fn named(folder: &Path, ending: &str) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let read = |entry: io::Result<fs::DirEntry>| {
        let path = entry.ok()?.path();
        let name = path.file_stem()?.to_str()?.to_owned();
        let is_one = path.extension().is_some_and(|extension| extension == ending);
        is_one.then(|| read_file(&path).ok().flatten()).flatten().map(|file| (name, file.text))
    };
    let mut found: Vec<_> = entries.filter_map(read).collect();
    found.sort();
    found
}

/// Sets the theme in `config.yaml` of the person's folder, every other byte of it kept; gives its path. A link stays a
/// link, and who may read the file stays. The error says what to do instead.
pub fn keep_theme(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let kept = keep(folder, |old| theme_line::set(old, name))?;
    kept.ok_or_else(|| format!("{}: set `theme: {name}` below `screen:` there", folder.join("config.yaml").display()))
}

/// Changes the config file, for the same readers; where it is a link, what that leads to. Gives its path; `None`: `change` gives none.
pub fn keep(folder: &Path, change: impl FnOnce(&str) -> Option<String>) -> Result<Option<PathBuf>, String> {
    let path = folder.join("config.yaml");
    let old = read_file(&path).map_err(|error| error.to_string())?.map_or_else(String::new, |file| file.text);
    let Some(new) = change(&old) else { return Ok(None) };
    let target = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
    let mode = fs::metadata(&target).map(|metadata| metadata.permissions());
    private_file::write(&target, &new).map_err(|error| error.to_string())?;
    mode.and_then(|mode| fs::set_permissions(&target, mode)).or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(format!("{}: saved, but its permissions could not be restored: {error}", path.display())),
    })?;
    Ok(Some(path))
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Reads one file of at most 64 KiB; `None` when there is none.
pub fn read_file(path: &Path) -> Result<Option<FileText>, ReadError> {
    let failed = |reason: String| ReadError { path: path.to_owned(), reason };
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(failed(error.to_string())),
    };
    let metadata = file.metadata().map_err(|error| failed(error.to_string()))?;
    if !metadata.is_file() {
        return Err(failed("not a regular file; replace or remove it".to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE as u64 + 1).read_to_end(&mut bytes).map_err(|error| failed(error.to_string()))?;
    if bytes.len() > MAX_FILE {
        return Err(failed(format!("larger than {MAX_FILE} bytes; shorten it")));
    }
    let text = String::from_utf8(bytes).map_err(|_| failed("not UTF-8; save it as UTF-8".to_owned()))?;
    let text = text.strip_prefix('\u{feff}').map_or(text.clone(), str::to_owned);
    Ok(Some(FileText { path: path.display().to_string(), text }))
}

fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    // A pipe opens at once with this flag and is refused by its type afterwards.
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
    File::options().read(true).custom_flags(flags).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_theme_is_kept_behind_a_link_for_the_same_readers() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (dotfile, config) = (folder.path().join("dotfile"), folder.path().join("config.yaml"));
        fs::write(&dotfile, "screen:\n  ascii: true\n").unwrap();
        fs::set_permissions(&dotfile, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&dotfile, &config).unwrap();
        assert_eq!(keep_theme(folder.path(), "nord"), Ok(config.clone()));
        assert_eq!(fs::read_to_string(&dotfile).unwrap(), "screen:\n  theme: nord\n  ascii: true\n");
        assert_eq!(fs::metadata(&dotfile).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&config).unwrap().is_symlink());
        fs::write(&dotfile, "screen: {ascii: true}\n").unwrap();
        assert!(keep_theme(folder.path(), "nord").unwrap_err().contains("below `screen:`"));
        assert_eq!(fs::read_to_string(&dotfile).unwrap(), "screen: {ascii: true}\n");
    }

    #[test]
    fn the_users_folder_is_where_the_person_says() {
        type Case<'a> = (&'a [(&'a str, &'a str)], Option<&'a str>);
        let cases: [Case<'_>; 5] = [
            (&[], None),
            (&[("HOME", "/h")], Some("/h/.config/programmator")),
            (&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")], Some("/x/programmator")),
            (&[("HOME", "/h"), ("XDG_CONFIG_HOME", "rel")], Some("/h/.config/programmator")),
            (&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x"), ("PROGRAMMATOR_CONFIG_DIR", "/p")], Some("/p")),
        ];
        for (pairs, expected) in cases {
            assert_eq!(user_folder(&environment(pairs)).as_deref(), expected.map(Path::new), "{pairs:?}");
        }
    }

    #[test]
    fn reads_what_is_there_and_misses_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()).unwrap(), Files::default());
        assert_eq!(read(&folder.path().join("nowhere")).unwrap(), Files::default());
        fs::write(folder.path().join("config.yaml"), "\u{feff}limits: {}\n").unwrap();
        fs::create_dir(folder.path().join("prompts")).unwrap();
        for name in ["phased.md", "a.md", "notes.txt"] {
            fs::write(folder.path().join("prompts").join(name), name).unwrap();
        }
        let files = read(folder.path()).unwrap();
        assert_eq!(files.config.unwrap().text, "limits: {}\n");
        assert_eq!(files.prompts.iter().map(FileText::name).collect::<Vec<_>>(), ["a.md", "phased.md"]);
    }

    #[test]
    fn what_is_no_readable_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("config.yaml");
        for bytes in [vec![b'#'; MAX_FILE + 1], vec![0xff, 0xfe, b'x']] {
            fs::write(&config, bytes).unwrap();
            assert!(read(folder.path()).unwrap_err().to_string().contains("config.yaml"));
        }
        fs::remove_file(&config).unwrap();
        fs::create_dir(&config).unwrap();
        assert!(read(folder.path()).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_pipe_in_the_place_of_a_file_does_not_hang() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.yaml");
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let error = read(folder.path()).unwrap_err();
        assert!(error.to_string().contains("not a regular file"), "{error}");
    }
}
