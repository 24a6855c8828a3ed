//! Ticket files on disk: found, read, listed, made, watched, and written while somebody else edits them.
//!
//! The interleavings run on a model of a file system, step by step and from seeds, so that a failure can be
//! run again; the same writer then runs on the real one.

// The helpers of the tests are tests too, which clippy cannot know.

use programmator::adapters::file_watch::FileWatch;
use programmator::adapters::tickets::disk::{Disk, Swapped};
use programmator::adapters::tickets::{self, FindError, LoadError, NewTicket, Places};
use programmator::base::time::Timestamp;
use programmator::domain::record::WriteOutcome;
use programmator::domain::ticket::TicketStatus;
use programmator::domain::ticket::draft::Draft;
use programmator::domain::ticket::edit::{Unchanged, complete_phase};
use programmator::domain::ticket::parse::parse;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

// ---- somebody edits while we write ---------------------------------------------------------------------------

/// Numbers from a seed (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// What an editor does next. A save is a queue of these.
#[derive(Clone, Debug)]
enum Step {
    Open,
    Truncate,
    Write(Vec<u8>),
    Close,
    Create(&'static str),
    Rename(&'static str, &'static str),
    Remove(&'static str),
}

const TICKET: &str = "t.md";

/// When the person gets on with their work.
#[derive(PartialEq)]
enum Hands {
    /// Between any two of our steps.
    Quick,
    /// Only in our pauses.
    Slow,
}

/// A file system in memory, and a person who works in it with an editor.
struct World {
    dice: Dice,
    names: BTreeMap<PathBuf, usize>,
    files: Vec<Vec<u8>>,
    /// Steps of the save under way, last one first.
    saving: Vec<Step>,
    /// The file that the editor has open.
    handle: usize,
    buffer: Vec<u8>,
    /// What the person last saved, or began to; the file as it was at first.
    saved: Vec<u8>,
    every_save: Vec<Vec<u8>>,
    saves_left: usize,
    deleted: bool,
    /// The person did something since we last exchanged files.
    touched: bool,
    /// A save went into a file that has no name any more.
    late: bool,
    hands: Hands,
    /// Our program is killed before this many steps from now.
    dies_in: Option<usize>,
    /// The step that many from now fails, and that one only.
    fails_in: Option<usize>,
    /// The names of the folder cannot be made safe.
    folder_fails: Option<i32>,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let end = if dice.one_in(3) { "\r\n" } else { "\n" };
        let text =
            ["---", "status: open", "---", "# T", "- [ ] one", "- [ ] two", "  - [ ] sub"].join(end).into_bytes();
        Self {
            saves_left: dice.below(5),
            dies_in: dice.one_in(8).then(|| dice.below(25)),
            fails_in: None,
            folder_fails: None,
            dice,
            names: BTreeMap::from([(PathBuf::from(TICKET), 0)]),
            files: vec![text.clone()],
            saving: Vec::new(),
            handle: 0,
            buffer: text.clone(),
            saved: text.clone(),
            every_save: vec![text],
            deleted: false,
            touched: false,
            late: false,
            hands: Hands::Quick,
        }
    }

    /// The person types, and begins to save in one of the ways editors have.
    fn begin_save(&mut self) {
        if self.deleted || self.saves_left == 0 {
            return;
        }
        self.saves_left -= 1;
        let typed = format!("typed {}\n", self.saves_left);
        match self.dice.below(8) {
            0 => self.buffer = replace(&self.buffer, b"- [ ] one", b"- [x] one"),
            1 => self.buffer = replace(&self.buffer, b"two", b"zwei"),
            2 => self.buffer = [typed.as_bytes(), &self.buffer].concat(),
            _ => self.buffer = [&self.buffer, b"\n".as_slice(), typed.as_bytes()].concat(),
        }
        let half = self.dice.below(self.buffer.len());
        let (first, rest) = self.buffer.split_at(half);
        let (first, rest) = (Step::Write(first.to_vec()), Step::Write(rest.to_vec()));
        let steps = match self.dice.below(8) {
            0..3 => vec![Step::Open, Step::Truncate, first, rest, Step::Close],
            3..5 => vec![Step::Create("t.md.new"), first, rest, Step::Close, Step::Rename("t.md.new", TICKET)],
            5..7 => vec![
                Step::Rename(TICKET, "t.md~"),
                Step::Create(TICKET),
                first,
                rest,
                Step::Close,
                Step::Remove("t.md~"),
            ],
            _ => vec![Step::Remove(TICKET)],
        };
        self.deleted = matches!(steps[0], Step::Remove(_));
        if !self.deleted {
            self.saved.clone_from(&self.buffer);
            self.every_save.push(self.buffer.clone());
        }
        self.saving = steps.into_iter().rev().collect();
    }

    fn person_steps(&mut self) {
        let Some(step) = self.saving.pop() else { return self.begin_save() };
        self.touched = true;
        match step {
            Step::Open => self.handle = self.names[Path::new(TICKET)],
            Step::Truncate => self.files[self.handle].clear(),
            Step::Write(text) => {
                self.late |= self.names.values().all(|&file| file != self.handle);
                self.files[self.handle].extend(text);
            }
            Step::Close => {}
            Step::Create(name) => {
                self.files.push(Vec::new());
                self.handle = self.files.len() - 1;
                self.names.insert(name.into(), self.handle);
            }
            Step::Rename(from, to) => {
                let file = self.names.remove(Path::new(from)).unwrap();
                self.names.insert(to.into(), file);
            }
            Step::Remove(name) => drop(self.names.remove(Path::new(name)).unwrap()),
        }
    }

    /// Between any two of our steps, the person may do any number of theirs; and we may be killed.
    fn between(&mut self) -> io::Result<()> {
        while self.hands == Hands::Quick && self.dice.one_in(3) {
            self.person_steps();
        }
        self.fails_in = match self.fails_in {
            Some(0) => {
                self.fails_in = None;
                return Err(io::Error::other("input/output error"));
            }
            left => left.map(|steps| steps - 1),
        };
        match &mut self.dies_in {
            Some(0) => Err(io::Error::other("killed")),
            Some(steps) => {
                *steps -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn named(&self, path: &Path) -> io::Result<usize> {
        self.names.get(path).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn finish(&mut self) {
        while !self.saving.is_empty() || (self.saves_left > 0 && !self.deleted) {
            self.person_steps();
        }
    }
}

fn replace(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(text).replace(&*String::from_utf8_lossy(from), &String::from_utf8_lossy(to)).into_bytes()
}

impl Disk for World {
    type File = usize;

    fn open(&mut self, path: &Path) -> io::Result<usize> {
        self.between()?;
        self.named(path)
    }

    fn read(&mut self, file: &mut usize) -> io::Result<Vec<u8>> {
        self.between()?;
        Ok(self.files[*file].clone())
    }

    fn is_same(&mut self, a: &usize, b: &usize) -> bool {
        a == b
    }

    fn is_fresh(&mut self, _: &usize) -> bool {
        !self.saving.is_empty() || self.dice.one_in(2)
    }

    fn is_writable(&mut self, path: &Path) -> io::Result<bool> {
        self.between()?;
        self.named(path).map(|_| true)
    }

    fn stage(&mut self, path: &Path, text: &[u8], _: &usize) -> io::Result<()> {
        self.between()?;
        if self.names.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.files.push(text.to_vec());
        self.names.insert(path.to_owned(), self.files.len() - 1);
        Ok(())
    }

    fn swap(&mut self, new: &Path, target: &Path) -> io::Result<Swapped> {
        self.between()?;
        let (ours, theirs) = (self.named(new)?, self.named(target)?);
        self.names.insert(new.to_owned(), theirs);
        self.names.insert(target.to_owned(), ours);
        self.touched = false;
        Ok(Swapped::Exchanged)
    }

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.between()?;
        self.named(path)?;
        self.names.remove(path);
        Ok(())
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        match self.folder_fails {
            Some(errno) => Err(io::Error::from_raw_os_error(errno)),
            None => self.between(),
        }
    }

    /// The one promise of time: a save that has begun is over after a pause.
    fn pause(&mut self) {
        while !self.saving.is_empty() {
            self.person_steps();
        }
    }
}

#[test]
fn ten_thousand_interleavings_lose_no_byte_of_a_persons() {
    let tick = |text: &[u8]| complete_phase(text, "two", 0);
    let (mut written, mut overtaken, mut kept_apart) = (0, 0, 0);
    for seed in 1..=10_000 {
        let mut world = World::new(seed);
        let outcome = tickets::write::write(&mut world, Path::new(TICKET), &tick);
        let undisturbed = !world.touched && world.saving.is_empty();
        let killed = world.dies_in == Some(0);
        let settled = world.saved.clone();
        if outcome == WriteOutcome::Written && undisturbed && !world.deleted {
            let now = &world.files[world.names[Path::new(TICKET)]];
            assert!(
                *now == tick(&settled).unwrap_or_default() || tick(&settled) == Err(Unchanged::NotThere),
                "seed {seed}: said to be ticked, and is not"
            );
            written += 1;
        }
        world.finish();

        let file = world.names.get(Path::new(TICKET)).map(|&file| world.files[file].clone());
        let theirs = |text: &[u8]| text == world.saved || Ok(text.to_vec()) == tick(&world.saved);
        match (&file, world.deleted) {
            (None, true) => {}
            (Some(_), true) => panic!("seed {seed}: a deleted file came back"),
            (Some(text), false) if theirs(text) => {}
            _ => {
                // Killed between two exchanges: the person's text has the hidden name. Only a save into the
                // old file at the moment of death is beyond us.
                let is_kept = world.names.values().any(|&file| theirs(&world.files[file]));
                assert!(killed && (is_kept || world.late), "seed {seed}: {outcome:?}, the person's last save is gone");
                kept_apart += 1;
            }
        }
        let strays = world.names.keys().filter(|name| *name != Path::new(TICKET)).count();
        assert!(
            strays == 0 || killed || world.deleted || outcome != WriteOutcome::Written,
            "seed {seed}: {outcome:?} left {:?}",
            world.names
        );
        overtaken += usize::from(matches!(outcome, WriteOutcome::Failed(_)) && !killed);
    }
    println!("{written} written, {overtaken} left to the person, {kept_apart} kept under another name");
    assert!(written > 3_000, "only {written} of 10,000 wrote anything");
}

#[test]
fn an_error_at_any_step_leaves_nothing_beside_the_ticket() {
    let tick = |text: &[u8]| complete_phase(text, "two", 0);
    let mut failed = 0;
    for seed in 1..20 {
        let mut made = 0;
        for step in 0.. {
            let mut world = World::new(seed);
            (world.saves_left, world.dies_in, world.fails_in) = (0, None, Some(step));
            let before = world.saved.clone();
            let outcome = tickets::write::write(&mut world, Path::new(TICKET), &tick);
            if world.fails_in.is_some() {
                assert_eq!(outcome, WriteOutcome::Written, "seed {seed}: no step has failed");
                break;
            }
            // Only that the folder is synced may fail when all is done.
            made += u32::from(outcome == WriteOutcome::Written);
            let is_told = matches!(outcome, WriteOutcome::Failed(_) | WriteOutcome::Written) && made <= 1;
            assert!(is_told, "seed {seed} step {step}: {outcome:?}");
            assert_eq!(world.names.keys().collect::<Vec<_>>(), [Path::new(TICKET)], "seed {seed} step {step}");
            let now = &world.files[world.names[Path::new(TICKET)]];
            let is_ticked = Ok(now) == tick(&before).as_ref();
            assert!(*now == before || is_ticked, "seed {seed} step {step}: half a text");
            assert!(is_ticked || outcome != WriteOutcome::Written, "seed {seed} step {step}: not ticked");
            failed += 1;
        }
    }
    assert!(failed > 100, "only {failed} steps failed");
}

/// As on file systems that cannot: what was written is written.
#[test]
fn where_a_folder_cannot_be_synced_a_tick_is_made_and_a_late_save_found() {
    let tick = |text: &[u8]| complete_phase(text, "two", 0);
    let mut late = 0;
    for seed in 1..2_000 {
        let mut world = World { folder_fails: Some(22), dies_in: None, ..World::new(seed) };
        let outcome = tickets::write::write(&mut world, Path::new(TICKET), &tick);
        late += u32::from(world.late);
        assert!(!matches!(outcome, WriteOutcome::Failed(_)) || world.every_save.len() > 1, "seed {seed}: {outcome:?}");
        world.finish();
        if let (Some(&file), false) = (world.names.get(Path::new(TICKET)), world.deleted) {
            let now = &world.files[file];
            assert!(*now == world.saved || Ok(now) == tick(&world.saved).as_ref(), "seed {seed}: {outcome:?}");
        }
    }
    assert!(late > 10, "only {late} saves were late");
}

#[test]
fn a_half_saved_text_is_not_taken_for_the_ticket() {
    for seed in 1..200 {
        let mut world = World::new(seed);
        (world.saves_left, world.dies_in) = (1, None);
        world.person_steps();
        if !matches!(world.saving.last(), Some(Step::Open)) {
            continue;
        }
        world.hands = Hands::Slow;
        for _ in 0..3 {
            world.person_steps();
        }
        let outcome = tickets::write::write(&mut world, Path::new(TICKET), &|text| complete_phase(text, "two", 0));
        assert!(!world.late, "seed {seed}: the file was taken away in the middle of a save");
        let file = &world.files[world.names[Path::new(TICKET)]];
        match complete_phase(&world.saved, "two", 0) {
            Ok(ticked) => assert_eq!((outcome, file), (WriteOutcome::Written, &ticked)),
            Err(_) => assert_eq!((outcome, file), (WriteOutcome::NotThere, &world.saved)),
        }
    }
}

// ---- the real disk ------------------------------------------------------------------------------------------

struct Folder {
    /// Gone with this.
    _dir: tempfile::TempDir,
    real: PathBuf,
}

impl Folder {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        // The system's temporary folder may be behind a link.
        Self { real: dir.path().canonicalize().unwrap(), _dir: dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.real.join(name)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn locks(&self) -> PathBuf {
        self.path("locks")
    }

    fn names(&self, dir: &str) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path(dir))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

#[test]
fn a_tick_changes_one_byte_and_leaves_nothing_behind() {
    let folder = Folder::new();
    let path = folder.file("t/a.md", "\u{feff}---\r\nstatus: 'open' # x\r\n---\r\n- [ ] ü\r\n- [ ] b");
    let tick = |phase| tickets::tick(&path, phase, 0, &folder.locks());
    assert_eq!(tick("ü"), WriteOutcome::Written);
    assert_eq!(tick("ü"), WriteOutcome::AlreadySo);
    assert_eq!(tick("none"), WriteOutcome::NotThere);
    let status = tickets::set_status(&path, TicketStatus::Closed, &folder.locks());
    assert_eq!(status, WriteOutcome::Written);
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text, "\u{feff}---\r\nstatus: 'closed' # x\r\n---\r\n- [x] ü\r\n- [ ] b");
    assert_eq!(tickets::reopen(&path, "ü", 0, &folder.locks()), WriteOutcome::Written);
    assert_eq!(folder.names("t"), ["a.md"]);
}

#[test]
fn a_save_into_a_file_that_two_edits_have_replaced_keeps_both_and_the_next_edit_waits_for_nothing() {
    use std::io::Write;
    let folder = Folder::new();
    let path = folder.file("t/a.md", "- [ ] a\n- [ ] b\n");
    let mut writer = tickets::TicketWriter::new(path.clone(), folder.locks());
    // A person's editor has it open.
    let mut editor = fs::File::options().write(true).open(&path).unwrap();
    assert_eq!(writer.tick("a".into(), 0), WriteOutcome::Written);
    assert_eq!(writer.tick("b".into(), 0), WriteOutcome::Written);
    editor.set_len(0).unwrap();
    editor.write_all(b"- [ ] a\n- [ ] b\na person's\n").unwrap();
    while writer.is_busy() {
        std::thread::sleep(tickets::TicketWriter::PAUSE);
        writer.look_back();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "- [x] a\n- [x] b\na person's\n");
    assert_eq!(folder.names("t"), ["a.md"]);
    assert_eq!(tickets::reopen(&path, "a", 0, &folder.locks()), WriteOutcome::Written, "the lock is free");
    // The ticket was fresh for the first edit, but for the second it was our own. A busy machine may be slow, not always.
    let took = |_| {
        let folder = Folder::new();
        let path = folder.file("t/a.md", "- [ ] a\n- [ ] b\n");
        let mut writer = tickets::TicketWriter::new(path, folder.locks());
        let began = std::time::Instant::now();
        assert_eq!(writer.tick("a".into(), 0), WriteOutcome::Written);
        assert_eq!(writer.tick("b".into(), 0), WriteOutcome::Written);
        began.elapsed()
    };
    assert!((0..20).map(took).any(|took| took < 3 * tickets::TicketWriter::PAUSE));
}

#[test]
fn a_box_is_ticked_only_behind_its_record_and_its_name_is_synced_beside_the_path() {
    let folder = Folder::new();
    let path = folder.file("t/a.md", "- [ ] a\n");
    let (owe, owed) = std::sync::mpsc::channel();
    let writer = tickets::TicketWriter::new(path.clone(), folder.locks());
    let mut writer = writer.owing(move |sync| owe.send(sync).unwrap());
    writer.after(|| Err(std::io::Error::other("the record is not stored")));
    let failed = writer.tick("a".into(), 0);
    assert!(matches!(&failed, WriteOutcome::Failed(why) if why.contains("the record is not stored")), "{failed:?}");
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), folder.names("t").len()), ("- [ ] a\n", 1));
    let before = path.clone();
    writer.after(move || {
        assert_eq!(fs::read_to_string(&before)?, "- [ ] a\n");
        Ok(())
    });
    assert_eq!(writer.tick("a".into(), 0), WriteOutcome::Written);
    // One sync, and it has an end.
    let sync: std::sync::mpsc::Receiver<()> = owed.try_recv().unwrap();
    assert!(sync.recv().is_err() && owed.try_recv().is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "- [x] a\n");
}

#[test]
fn a_deleted_ticket_is_not_made_again() {
    let folder = Folder::new();
    let path = folder.path("gone.md");
    assert_eq!(tickets::tick(&path, "a", 0, &folder.locks()), WriteOutcome::FileGone);
    assert!(!path.exists());
}

#[test]
fn what_a_killed_program_left_is_cleared_away_unless_it_could_be_somebodys() {
    let folder = Folder::new();
    let path = folder.file("t/a.md", "- [ ] a\n");
    folder.file("t/.a.md.programmator-1", "- [x] a\n");
    assert_eq!(tickets::tick(&path, "a", 0, &folder.locks()), WriteOutcome::Written);
    assert_eq!(folder.names("t"), ["a.md"]);

    // Killed after the exchange: what is left is the old text.
    folder.file("t/.a.md.programmator-1", "- [ ] a\n");
    assert_eq!(tickets::tick(&path, "a", 0, &folder.locks()), WriteOutcome::AlreadySo);
    assert_eq!(folder.names("t"), ["a.md"]);

    for part in ["", "- [x"] {
        let path = folder.file("t/a.md", "- [ ] a\n");
        folder.file("t/.a.md.programmator-1", part);
        assert_eq!(tickets::tick(&path, "a", 0, &folder.locks()), WriteOutcome::Written);
        assert_eq!(folder.names("t"), ["a.md"], "killed while it was being written: {part:?}");
    }
    let path = folder.file("t/a.md", "- [ ] a\n");
    folder.file("t/.a.md.programmator-1", "a person's words\n");
    assert_eq!(tickets::tick(&path, "a", 0, &folder.locks()), WriteOutcome::Written);
    assert_eq!(folder.names("t"), [".a.md.programmator-1", "a.md"]);
}

#[test]
fn a_tick_keeps_the_mode_and_the_other_names_content() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let path = folder.file("t/a.md", "- [ ] a\n");
    let other = folder.path("other.md");
    fs::hard_link(&path, &other).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(tickets::load(&path).unwrap().problems[0].message.contains("several hard links"));
    assert_eq!(tickets::tick(&path, "a", 0, &folder.locks()), WriteOutcome::Written);
    assert_eq!(fs::read_to_string(&path).unwrap(), "- [x] a\n");
    assert_eq!(fs::read_to_string(&other).unwrap(), "- [ ] a\n", "the other name's content is somebody's");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o640);
}

#[test]
fn a_read_only_ticket_is_not_written() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let path = folder.file("t/a.md", "- [ ] a\n- [x] b\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    assert!(tickets::load(&path).unwrap().problems[0].message.contains("read-only"));
    let outcome = tickets::tick(&path, "a", 0, &folder.locks());
    assert!(matches!(&outcome, WriteOutcome::Failed(why) if why.contains("it is read-only")), "{outcome:?}");
    assert_eq!(tickets::tick(&path, "b", 0, &folder.locks()), WriteOutcome::AlreadySo);
    assert_eq!(fs::read_to_string(&path).unwrap(), "- [ ] a\n- [x] b\n");
    assert_eq!(folder.names("t"), ["a.md"]);
}

/// A path that is a link, or leads through one, is neither read nor written: it was none when it was found.
#[test]
fn a_file_or_folder_that_becomes_a_link_is_not_followed() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    let foreign = folder.file("foreign/a.md", "- [ ] a\n");
    fs::create_dir_all(folder.path("t")).unwrap();
    symlink(&foreign, folder.path("t/a.md")).unwrap();
    symlink(folder.path("foreign"), folder.path("through")).unwrap();
    fs::create_dir_all(folder.path("foreign/sub")).unwrap();
    fs::write(folder.path("foreign/sub/a.md"), "- [ ] a\n").unwrap();
    for name in ["t/a.md", "through/a.md", "through/sub/a.md"] {
        let path = folder.path(name);
        assert!(matches!(tickets::load(&path), Err(LoadError::Link { .. })), "{name}");
        for outcome in [
            tickets::tick(&path, "a", 0, &folder.locks()),
            tickets::reopen(&path, "a", 0, &folder.locks()),
            tickets::set_status(&path, TicketStatus::Closed, &folder.locks()),
        ] {
            assert!(
                matches!(&outcome, WriteOutcome::Failed(why) if why.contains("is now a link")),
                "{name} {outcome:?}"
            );
        }
    }
    assert_eq!(fs::read_to_string(&foreign).unwrap(), "- [ ] a\n");
    assert_eq!(folder.names("foreign"), ["a.md", "sub"]);
    assert_eq!(folder.names("t"), ["a.md"]);
}

#[test]
fn programs_that_tick_at_once_take_turns() {
    let folder = Folder::new();
    let phases: Vec<String> = (0..6).map(|n| format!("phase {n}")).collect();
    let text = format!("- [ ] {}\n", phases.join("\n- [ ] "));
    let path = folder.file("t/a.md", &text);
    std::thread::scope(|scope| {
        for phase in &phases {
            scope.spawn(|| {
                assert_eq!(tickets::tick(&path, phase, 0, &folder.locks()), WriteOutcome::Written);
            });
        }
    });
    assert_eq!(fs::read_to_string(&path).unwrap(), text.replace("[ ]", "[x]"));
}

#[cfg(target_os = "linux")]
#[test]
fn an_editor_that_renames_loses_nothing_to_us_on_the_real_disk() {
    let folder = Folder::new();
    let path = folder.file("t/a.md", "- [ ] a\n");
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let mut text = "- [ ] a\n".to_owned();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                tickets::tick(&path, "a", 0, &folder.locks());
                tickets::reopen(&path, "a", 0, &folder.locks());
            }
        });
        for save in 0..2_000 {
            text = format!("{text}word {save}\n");
            fs::rename(folder.file("editor/a.md", &text), &path).unwrap();
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let now = fs::read_to_string(&path).unwrap();
    assert_eq!(now.replacen("[x]", "[ ]", 1), text);
    assert_eq!(folder.names("t"), ["a.md"]);
}

#[test]
fn finds_by_id_part_and_path() {
    let folder = Folder::new();
    for name in ["tk-4f2a", "tk-4f2b", "web-9x"] {
        folder.file(&format!("p/.tickets/{name}.md"), "- [ ] a\n");
    }
    folder.file("p/.tickets/.hidden.md", "");
    let plan = folder.file("p/sub/plan.md", "- [ ] a\n");
    fs::create_dir_all(folder.path("p/sub/web")).unwrap();
    let places = Places { folder: folder.path("p/sub"), ..Places::default() };
    let found = |name: &str| tickets::find(name, &places);
    let in_dir = |name: &str| folder.path(&format!("p/.tickets/{name}.md"));
    assert_eq!(found("tk-4f2a").unwrap(), in_dir("tk-4f2a"));
    assert_eq!(found(" 9x ").unwrap(), in_dir("web-9x"));
    assert_eq!(found("web").unwrap(), in_dir("web-9x"), "a folder of that name is no ticket");
    assert_eq!(found("tk-4f2b.md").unwrap(), in_dir("tk-4f2b"));
    assert_eq!(found("plan.md").unwrap(), plan);
    assert_eq!(found("./plan.md").unwrap(), plan, "without detours");

    let message = |name: &str| found(name).unwrap_err().to_string();
    assert_eq!(message("4f2"), "`4f2` matches tk-4f2a, tk-4f2b: type more of the id");
    assert!(message("nope").ends_with("; tickets there: tk-4f2a, tk-4f2b, web-9x"));
    assert!(message("no/such.md").contains("no file "));
    folder.file("p/sub/4f2a", "log");
    assert_eq!(found("4f2a").unwrap(), in_dir("tk-4f2a"), "a file that is no ticket hides none");
    // What is found is written to.
    folder.file("p/sub/Cargo.toml", "[package]\n");
    folder.file("p/sub/data.md", "a\0b");
    folder.file("p/sub/LOUD.MD", "- [ ] a\n");
    std::os::unix::fs::symlink(folder.path("p/sub/Cargo.toml"), folder.path("p/sub/link.md")).unwrap();
    for name in ["Cargo.toml", "./Cargo.toml", "link.md"] {
        assert!(message(name).ends_with("Cargo.toml is not a ticket: tickets are markdown files (.md)"), "{name}");
    }
    assert!(message("data.md").ends_with("data.md is not a ticket: it is not a text file"));
    assert!(found("LOUD.MD").is_ok());
    for bad in ["", "..", "...", "%2e%2e", "a\0b", "*", &"x".repeat(300), "\u{430}"] {
        assert!(matches!(found(bad), Err(FindError::Missing { .. })), "{bad:?}");
    }
}

#[test]
fn the_tickets_folder_is_named_near_at_home_or_in_the_repository() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("a/.tickets")).unwrap();
    let mut places =
        Places { folder: folder.path("a/b/c"), tickets_dir: Some("given".into()), home: Some(folder.path("home")) };
    assert_eq!(places.dir(), folder.path("a/b/c/given"));
    places.tickets_dir = Some(PathBuf::new());
    assert_eq!(places.dir(), folder.path("a/.tickets"));
    // Where there is none yet it will be in the repository, else here.
    places.folder = folder.path("elsewhere/sub");
    assert_eq!(places.dir(), folder.path("elsewhere/sub/.tickets"));
    folder.file("elsewhere/.git", "gitdir: ../x\n");
    assert_eq!(places.dir(), folder.path("elsewhere/.tickets"));
    fs::create_dir_all(folder.path("home/.tickets")).unwrap();
    assert_eq!(places.dir(), folder.path("home/.tickets"));
    let nothing = tickets::find("x", &places).unwrap_err().to_string();
    assert!(nothing.contains("programmator ticket new"), "{nothing}");
}

#[cfg(target_os = "linux")]
#[test]
fn links_may_not_lead_out_and_pipes_are_not_opened() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    folder.file("t/inside.md", "- [ ] a\n");
    let secret = folder.file("secret.md", "- [ ] s\n");
    symlink(&secret, folder.path("t/out.md")).unwrap();
    symlink(folder.path("t/inside.md"), folder.path("t/alias.md")).unwrap();
    symlink(folder.path("t/nothing"), folder.path("t/dangling.md")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        folder.path("t/pipe.md"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let places = Places { folder: folder.path(""), tickets_dir: Some(folder.path("t")), home: None };
    assert_eq!(tickets::find("alias", &places).unwrap(), folder.path("t/inside.md"), "followed once, here");
    for name in ["out", "pipe", "dangling"] {
        assert!(matches!(tickets::find(name, &places), Err(FindError::Refused(_))), "{name}");
    }
    assert!(tickets::find("./secret.md", &places).is_ok(), "a path may lead anywhere");
    let pipe = tickets::load(&folder.path("t/pipe.md"));
    assert!(matches!(pipe, Err(LoadError::NotAFile { what: "a pipe", .. })));

    let listed = tickets::list(&folder.path("t")).unwrap();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let readable: Vec<(String, bool)> = listed.iter().map(|one| (name(&one.path), one.ticket.is_ok())).collect();
    let expected = [("dangling.md", false), ("inside.md", true), ("out.md", false), ("pipe.md", false)];
    assert_eq!(
        readable,
        expected.map(|(name, readable)| (name.to_owned(), readable)),
        "a ticket with two names is one"
    );
    assert!(tickets::list(&folder.path("none")).unwrap().is_empty());
}

#[test]
fn a_huge_file_is_no_ticket() {
    let folder = Folder::new();
    let path = folder.file("a.md", "");
    fs::File::options().write(true).open(&path).unwrap().set_len(5 << 20).unwrap();
    assert!(matches!(tickets::load(&path), Err(LoadError::TooLarge { .. })));
    let outcome = tickets::tick(&path, "a", 0, &folder.locks());
    assert!(matches!(outcome, WriteOutcome::Failed(why) if why.contains("4 MiB")));
}

#[test]
fn a_new_ticket_is_found_and_read() {
    let folder = Folder::new();
    let new = NewTicket {
        draft: &Draft {
            title: "Add: \x1b[31mlogin\n form".into(),
            phases: vec!["Phase 1: what is done first".into()],
            ..Draft::default()
        },
        project: Path::new("/x/my-web-app"),
        assignee: Some("O'Neil, A."),
        now: Timestamp::from_millis(1_795_269_733_120),
        origin: None,
        parent: None,
        deps: &[],
    };
    let path = tickets::create(&new, &folder.path("t")).unwrap();
    let name = path.file_stem().unwrap().to_str().unwrap();
    assert_eq!((&name[..4], name.len()), ("mwa-", 8));
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(
        text,
        format!(
            "---\nid: {name}\nstatus: open\ndeps: []\nlinks: []\ncreated: 2026-11-21T14:02:13Z\ntype: task\npriority: 2\nassignee: O'Neil, A.\n---\n# Add: login form\n\n## Design\n\n- [ ] Phase 1: what is done first\n\n## Validation Commands\n\n<!-- Commands that check every claim, one per line: - `cargo test` -->\n\n## Acceptance Criteria\n\n"
        )
    );
    let ticket = tickets::load(&path).unwrap();
    assert_eq!((ticket.id.as_str(), ticket.problems.len(), ticket.phases.len()), (name, 1, 1), "it is to be filled in");
    assert_eq!(ticket.validation, Vec::<String>::new(), "the example is none");
    assert!(
        tickets::create(
            &NewTicket { draft: &Draft { title: " \n".into(), ..Draft::default() }, ..new },
            &folder.path("t")
        )
        .is_err()
    );
}

// ---- watching -----------------------------------------------------------------------------------------------

#[test]
fn every_way_of_saving_is_seen_and_nothing_else() {
    let folder = Folder::new();
    let path = folder.file("t/a.md", "one");
    let (sender, changes) = std::sync::mpsc::channel();
    let mut watch = FileWatch::new(move |path| drop(sender.send(path))).unwrap();
    watch.add(&path).unwrap();
    let seen = || changes.recv_timeout(Duration::from_secs(10)).expect("a change is reported");

    fs::write(&path, "in place").unwrap();
    assert_eq!(seen(), path);
    fs::rename(folder.file("t/new", "renamed over"), &path).unwrap();
    assert_eq!(seen(), path);
    fs::remove_file(&path).unwrap();
    assert_eq!(seen(), path);
    fs::write(&path, "again").unwrap();
    assert_eq!(seen(), path);

    // Reading, and other files, are no changes: the next report is that of the last line.
    let other = folder.file("t/b.md", "one");
    drop(fs::read(&path));
    watch.add(&other).unwrap();
    fs::write(&other, "two").unwrap();
    assert_eq!(seen(), other);
    drop(watch);
    assert!(changes.recv_timeout(Duration::from_secs(10)).is_err(), "the watch ends when it is dropped");
}

// ---- the examples -------------------------------------------------------------------------------------------

#[test]
fn every_example_ticket_is_read_without_problems() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tickets");
    let mut forms = Vec::new();
    for one in tickets::list(&dir).unwrap() {
        let ticket = one.ticket.unwrap();
        assert_eq!(ticket.problems, [], "{}", one.path.display());
        assert!(!ticket.phases.is_empty(), "{}", one.path.display());
        forms.push(format!("{:?}", ticket.phases[0].form));
        let bytes = fs::read(&one.path).unwrap();
        let name = one.path.file_name().unwrap().to_str().unwrap();
        assert_eq!(parse(&bytes, name), ticket);
    }
    for form in ["Checkbox", "PhaseHeading", "NumberedHeading"] {
        assert!(forms.iter().any(|seen| seen == form), "no example has its phases as {form}");
    }
}
