//! Whether anything that is ignored could be meant by a name: where nothing could, git need not be asked.

/// The last parts of all patterns that say what is ignored.
#[derive(Debug, Default)]
pub(super) struct Ignores {
    parts: Vec<Vec<u8>>,
    /// One of them is beyond us.
    all: bool,
}

impl Ignores {
    /// Takes the patterns of a list (`.gitignore`) in.
    pub(super) fn take(&mut self, list: &[u8]) {
        let list = list.strip_prefix(b"\xef\xbb\xbf").unwrap_or(list);
        for line in list.split(|&byte| byte == b'\n') {
            let mut line = line.strip_suffix(b"\r").unwrap_or(line);
            while let Some(shorter) = line.strip_suffix(b" ") {
                line = shorter;
            }
            if matches!(line.first(), None | Some(b'#' | b'!')) {
                continue;
            }
            let line = line.strip_suffix(b"/").unwrap_or(line);
            let (above, part) = line.split_at(memchr::memrchr(b'/', line).map_or(0, |at| at + 1));
            // Brackets may hold a slash.
            match simple(part).filter(|_| !above.contains(&b'[')) {
                Some(part) if !self.parts.contains(&part) => self.parts.push(part),
                Some(_) => {}
                None => self.all = true,
            }
        }
    }

    /// A pattern could mean a file or folder of this name, wherever it is. What is in a folder that is ignored has to be
    /// known by that.
    pub(super) fn may_mean(&self, name: &[u8]) -> bool {
        self.all || self.parts.iter().any(|part| matches(part, name))
    }
}

/// The part with `?` for what stands in brackets, in small letters. `None`: it has more than `*`, `?` and brackets.
fn simple(part: &[u8]) -> Option<Vec<u8>> {
    let mut simple = Vec::with_capacity(part.len());
    let mut rest = part.iter();
    while let Some(&byte) = rest.next() {
        match byte {
            b'\\' => return None,
            b'[' => {
                let text = rest.as_slice();
                let first = usize::from(matches!(text.first(), Some(b'!' | b'^'))) + 1;
                let end = first + text.get(first..)?.iter().position(|&byte| byte == b']')?;
                if text[..end].iter().any(|byte| matches!(byte, b'[' | b'\\')) {
                    return None;
                }
                rest = text[end + 1..].iter();
                simple.push(b'?');
            }
            byte => simple.push(byte.to_ascii_lowercase()),
        }
    }
    Some(simple)
}

/// Whether the name is such a one, with any letters for small ones.
fn matches(part: &[u8], name: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    // After the last star: where it stands, and what it took so far.
    let mut star = None;
    while from < name.len() {
        match part.get(at) {
            Some(b'*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(&byte) if byte == b'?' || byte == name[from].to_ascii_lowercase() => {
                at += 1;
                from += 1;
            }
            _ => match &mut star {
                Some((stood, took)) => {
                    *took += 1;
                    (at, from) = (*stood + 1, *took);
                }
                None => return false,
            },
        }
    }
    part[at..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_name_that_git_ignores_is_never_taken_for_one_that_it_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let lists = [
            "*.log\n", "/target\n", "build/\n", "a/**/b\n", "foo/**\n", "*.py[cod]\n", "[Bb]in/\n", "x[!a]y\n",
            "!keep\nkeep\n", "trailing  \n", "with\\ blank\n", "\\#hash\n", "doc/*.txt\n", "?.c\n", "**/deep\n",
            "a*b*c\n", "[[:digit:]]\n", "*\n", "CR\r\n", "\u{feff}bom\n", "[]x]\n", "[^a]z\n", "unclosed[\n", "x\\\n",
            "a**b\n", "[o/]ther\n", "tab\t\n",
        ];
        let names = [
            "a.log", "target", "build", "b", "foo", "m.pyc", "m.pyd", "bin", "Bin", "xby", "keep", "trailing",
            "with blank", "#hash", "t.txt", "q.c", "deep", "a1b2c", "7", "CR", "bom", "]", "x", "bz", "unclosed[",
            "other", "README.md", "tab\t",
        ];
        for place in ["", "a/", "foo/", "doc/"] {
            std::fs::create_dir_all(folder.path().join(place)).unwrap();
        }
        let git = |args: &[&str]| Command::new("git").current_dir(folder.path()).args(args).output().unwrap();
        git(&["init", "-q", "."]);
        let (mut meant, mut unasked) = (0, 0);
        for list in lists {
            std::fs::write(folder.path().join(".gitignore"), list).unwrap();
            let mut ignores = Ignores::default();
            ignores.take(list.as_bytes());
            for (name, place) in names.iter().flat_map(|name| ["", "a/", "doc/"].map(|place| (name, place))) {
                // A folder is meant by more patterns than a file.
                let path = format!("{place}{name}/");
                if git(&["check-ignore", "-q", &path]).status.success() {
                    meant += 1;
                    let above = place.trim_end_matches('/').as_bytes();
                    assert!(ignores.may_mean(name.as_bytes()) || ignores.may_mean(above), "{list:?} {path}");
                } else if !ignores.may_mean(name.as_bytes()) {
                    unasked += 1;
                }
            }
        }
        assert!(meant > 40 && unasked > 1_000, "{meant} {unasked}");
    }
}
