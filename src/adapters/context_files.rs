//! Reads the files that `prompt.context` names. One that cannot be read is told and left out: no run stops for it.

use crate::base::text::clean_line;
use crate::domain::context_file::ContextFile;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Most of one file, and of all of them together, in bytes.
const EACH: usize = 32 << 10;
const ALL: usize = 96 << 10;

/// The files below `folder`, in the order of their names.
pub fn read(folder: &Path, names: &[String]) -> Vec<ContextFile> {
    let mut room = ALL;
    let one = |name: &String| {
        let path = clean_line(name, 200);
        match whole_or_begin(folder, name, room) {
            Ok((text, note)) => {
                // What is cut counts whole: the end of a line is no room for another file.
                room -= if note.is_some() { EACH } else { text.len() }.min(room);
                let text = note.as_ref().map_or_else(|| text.clone(), |note| format!("{text}\n[{note}]"));
                ContextFile { path, text: Some(text), note }
            }
            Err(why) => ContextFile { path, text: None, note: Some(format!("skipped: {why}")) },
        }
    };
    names.iter().map(one).collect()
}

/// The text, and where it does not go along to its end, how much of it does. An error says why nothing does.
fn whole_or_begin(folder: &Path, name: &str, room: usize) -> Result<(String, Option<String>), String> {
    let words = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => "no such file".to_owned(),
        _ => error.to_string(),
    };
    if room == 0 {
        return Err(format!("the previous files already use the {} KiB limit", ALL >> 10));
    }
    let top = folder.canonicalize().map_err(words)?;
    let real = folder.join(name).canonicalize().map_err(words)?;
    if !real.starts_with(&top) {
        return Err("a link out of the project".to_owned());
    }
    // A pipe opens at once with these flags and is refused by its kind afterwards.
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::CLOEXEC | rustix::fs::OFlags::NOFOLLOW;
    let flags = i32::try_from(flags.bits()).unwrap_or(0);
    let mut file = File::options().read(true).custom_flags(flags).open(&real).map_err(words)?;
    let about = file.metadata().map_err(words)?;
    if about.is_dir() {
        return Err("a folder: list the files in it".to_owned());
    }
    if !about.is_file() {
        return Err("not a file".to_owned());
    }
    // A folder on the way may have become a link since it was looked at.
    let again = folder.join(name).canonicalize().and_then(|path| Ok((path.starts_with(&top), path.metadata()?)));
    if !again.is_ok_and(|(is_inside, now)| is_inside && (now.dev(), now.ino()) == (about.dev(), about.ino())) {
        return Err("it changed while being read".to_owned());
    }
    let most = EACH.min(room);
    let mut bytes = Vec::new();
    file.by_ref().take(most as u64 + 1).read_to_end(&mut bytes).map_err(words)?;
    if bytes.contains(&0) {
        return Err("not text".to_owned());
    }
    if bytes.len() <= most {
        let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
        return if text.is_empty() { Err("empty".to_owned()) } else { Ok((text, None)) };
    }
    bytes.truncate(most);
    // Whole lines; of one long line whole characters.
    let end = bytes.iter().rposition(|byte| *byte == b'\n').filter(|at| *at > 0);
    let end = end.unwrap_or_else(|| bytes.utf8_chunks().map(|chunk| chunk.valid().len()).next().unwrap_or(0));
    let text = String::from_utf8_lossy(&bytes[..end]).into_owned();
    if text.trim().is_empty() {
        return Err("not text".to_owned());
    }
    let size = about.len().max(most as u64 + 1);
    Ok((text, Some(format!("cut: the first {end} of {size} bytes are included"))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn what_cannot_be_read_is_told_and_left_out() {
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = |name: &str| folder.path().join(name);
        fs::write(outside.path().join("secret"), "SECRET").unwrap();
        symlink(outside.path().join("secret"), path("link")).unwrap();
        symlink(outside.path(), path("out")).unwrap();
        fs::create_dir(path("docs")).unwrap();
        fs::write(path("docs/a.md"), "caf\u{e9}\n").unwrap();
        symlink("docs/a.md", path("within")).unwrap();
        fs::write(path("nul"), "a\0b").unwrap();
        fs::write(path("empty"), " \n").unwrap();
        assert!(std::process::Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
        for (name, why) in [
            ("gone", "no such file"),
            ("link", "out of the project"),
            ("out/secret", "out of the project"),
            ("docs", "a folder"),
            ("nul", "not text"),
            ("empty", "skipped: empty"),
            ("pipe", "not a file"),
        ] {
            let read = read(folder.path(), &names(&[name]));
            assert_eq!((read.len(), &read[0].text), (1, &None), "{name}");
            let notice = read[0].notice().unwrap();
            assert!(notice.contains(why) && notice.contains(name), "{notice}");
        }
        for name in ["docs/a.md", "within"] {
            let read = read(folder.path(), &names(&[name]));
            assert_eq!((read[0].text.as_deref(), read[0].notice()), (Some("caf\u{e9}"), None), "{name}");
        }
    }

    #[test]
    fn much_is_cut_at_a_line_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let line = "a line of the file\n";
        let file = File::create(folder.path().join("large.md")).unwrap();
        fs::write(folder.path().join("large.md"), line.repeat(4_000)).unwrap();
        file.set_len(100 << 20).unwrap();
        fs::write(folder.path().join("one-line"), "\u{e9}".repeat(40_000)).unwrap();
        let all = read(folder.path(), &names(&["large.md", "one-line", "large.md", "large.md", "large.md"]));
        for file in &all[..3] {
            let text = file.text.as_deref().unwrap();
            assert!(text.len() <= EACH + 100 && text.ends_with("bytes are included]"), "{}", text.len());
            assert!(!text.contains('\u{fffd}'));
        }
        assert!(all[0].note.as_deref().unwrap().contains("of 104857600 bytes"), "{:?}", all[0].note);
        assert!(all[0].text.as_deref().unwrap().contains("of the file\n[cut"));
        let total: usize = all.iter().filter_map(|file| file.text.as_ref()).map(String::len).sum();
        assert!(total <= ALL + 5 * 100, "{total}");
        assert!(all[4].note.as_deref().unwrap().contains("use the 96 KiB limit"), "{:?}", all[4]);
    }
}
