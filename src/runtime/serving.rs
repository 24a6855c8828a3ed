//! What a program on another machine is told of the runs on this one, and what it may have done: it follows a run, and speaks
//! to it over that run's own socket. Nothing is kept here: the store has the runs, and the other side says how far it is.

use crate::adapters::frames::{self, Frames};
use crate::adapters::store::{Store, StoreError};
use crate::base::id::RunId;
use crate::domain::answerer::Answerer;
use crate::domain::command::UserCommand;
use crate::domain::summary::RunSummary;
use crate::domain::wire::{Ask, Asked, Copied, Hello, PIECE, Tell, Told, VERSION};
use crate::runtime::heard::{Unsaid, say};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, BufReader};
use tokio::process::Command;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

/// How often is looked whether Claude has printed something.
const LOOK: Duration = Duration::from_millis(300);
/// How often at least something is told, and how often is looked whether the run's program is alive, which no record says.
const ALIVE: Duration = Duration::from_secs(5);
/// Records that are read at once.
const RECORDS: u32 = 64;
/// Pieces of what Claude printed that are told before new records have their turn.
const PIECES: usize = 16;
/// Most bytes of a printed line that go into one of ours: with all escapes it stays below [`LONGEST`](crate::domain::wire::LONGEST).
const PART: u64 = 128 << 10;
/// How long what was asked may still be answered when no more is asked.
const LAST: Duration = Duration::from_secs(2);

/// What is told and not handed over yet; beyond it who tells waits.
const WAITING: usize = 4;

/// What is behind the answers.
pub struct Serving {
    pub store: Store,
    /// The run that is at work under a name, or the latest; or why not, in words for the person.
    pub find: Find,
    /// The program with these words in a folder, or why it may not be run; words for the person.
    pub program: Program,
}

/// How a run is found.
pub type Find = Box<dyn Fn(Option<&str>) -> Result<RunSummary, String> + Send + Sync>;

/// How the program is called.
pub type Program = Box<dyn Fn(Option<&str>, &[String]) -> Result<Command, String> + Send + Sync>;

/// Of a question that is not understood, what is.
#[derive(Deserialize)]
struct Numbered {
    id: u64,
}

/// Answers what comes from `from` until that ends, and then for a moment what was asked before. An error: it cannot be read, or nobody hears the answers.
pub async fn serve(
    serving: Serving,
    from: impl AsyncBufRead + Unpin,
    mut to: impl AsyncWrite + Unpin + Send + 'static,
) -> io::Result<()> {
    let programmator = env!("CARGO_PKG_VERSION").to_owned();
    frames::write(&mut to, &Hello { programmator, wire: VERSION }).await?;
    let (tells, told) = mpsc::channel(WAITING);
    let (serving, mut telling) = (Arc::new(serving), JoinSet::new());
    telling.spawn(tell_all(told, to));
    let (mut from, mut answers) = (Frames::new(from), JoinSet::new());
    let ended = loop {
        let line = tokio::select! {
            line = from.next() => line,
            Some(ended) = telling.join_next() => return ended.map_err(io::Error::other)?,
        };
        let line = match line {
            Ok(Some(line)) => line,
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        };
        while answers.try_join_next().is_some() {}
        // Nothing has the number 0: what is no question is refused under it.
        let id = serde_json::from_slice::<Numbered>(&line).map_or(0, |numbered| numbered.id);
        let (serving, replies) = (Arc::clone(&serving), Replies { id, tells: tells.clone() });
        // Each beside the others: a run is followed for as long as the connection stands.
        answers.spawn(async move {
            let answered = match serde_json::from_slice::<Asked>(&line) {
                Ok(Asked { ask, .. }) => serving.answer(ask, &replies).await,
                Err(_) => Err(Untold::Refused(format!(
                    "programmator {} there does not support this: install the same version on both machines",
                    env!("CARGO_PKG_VERSION")
                ))),
            };
            let tell = match answered {
                Ok(()) | Err(Untold::Unheard) => return,
                Err(Untold::Refused(why)) => Tell::Refused(why),
                Err(Untold::Failed(why)) => Tell::Unanswered(why),
            };
            let _ = replies.tell(tell).await;
        });
    };
    drop(tells);
    let _ = timeout(LAST, async { while answers.join_next().await.is_some() {} }).await;
    answers.shutdown().await;
    let _ = timeout(LAST, telling.join_next()).await;
    ended
}

/// Hands over what is told, one line after the other. What is too long for a line is said to be so.
async fn tell_all(mut told: Receiver<Told>, mut to: impl AsyncWrite + Unpin) -> io::Result<()> {
    while let Some(one) = told.recv().await {
        let id = one.id;
        match frames::write(&mut to, &one).await {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                let tell = Tell::Refused(format!("the answer is too long to be sent: {error}"));
                frames::write(&mut to, &Told { id, tell }).await?;
            }
            written => written?,
        }
    }
    Ok(())
}

/// Why no more is told.
enum Untold {
    /// It cannot be, and will not be later; words for the person.
    Refused(String),
    /// It cannot be now; words for the person.
    Failed(String),
    /// Nobody hears it.
    Unheard,
}

impl From<StoreError> for Untold {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<String> for Untold {
    fn from(words: String) -> Self {
        Self::Refused(words)
    }
}

/// Who answers one question.
struct Replies {
    id: u64,
    tells: Sender<Told>,
}

impl Replies {
    /// Waits until there is room for it: who reads slowly is told slowly. Nothing is told in part.
    async fn tell(&self, tell: Tell) -> Result<(), Untold> {
        self.tells.send(Told { id: self.id, tell }).await.map_err(|_| Untold::Unheard)
    }
}

impl Serving {
    async fn answer(&self, ask: Ask, replies: &Replies) -> Result<(), Untold> {
        match ask {
            Ask::Find { name } => {
                let run = (self.find)(name.as_deref())?;
                replies.tell(Tell::Run(Box::new(run))).await
            }
            Ask::Follow { run, after, printed } => self.follow(run, after, printed, replies).await,
            Ask::Say { run, command } => {
                let said = self.say(run, command).await?;
                replies.tell(said).await
            }
            Ask::Run { directory, words } => run((self.program)(directory.as_deref(), &words)?, replies).await,
        }
    }

    async fn say(&self, run: RunId, command: UserCommand) -> Result<Tell, Untold> {
        let run = self.seen(run)?.0;
        Ok(match say(&self.store, &run, command, Answerer::SCREEN).await {
            Ok(()) => Tell::Done,
            Err(Unsaid::Refused(why)) => Tell::Refused(why),
            Err(Unsaid::Unanswered(why)) => Tell::Unanswered(why),
        })
    }

    fn seen(&self, run: RunId) -> Result<(RunSummary, u64), Untold> {
        let known = self.store.run(run)?.ok_or_else(|| "the run no longer exists".to_owned())?;
        Ok((self.store.as_seen(known.0)?, known.1))
    }

    /// Tells everything about a run from behind these places, and what becomes of it. Ends only with an error.
    async fn follow(
        &self,
        run: RunId,
        mut after: u64,
        mut printed: BTreeMap<u32, u64>,
        replies: &Replies,
    ) -> Result<(), Untold> {
        let mut woken = self.store.follow(run, after)?;
        let (mut standing, mut looked): (Option<RunSummary>, Option<Instant>) = (None, None);
        loop {
            let before = after;
            loop {
                let records = self.store.records_to_copy(run, after, RECORDS)?;
                let Some(last) = records.last() else { break };
                after = last.seq;
                // What they speak of comes before them, where it is no more than that.
                self.tell_printed(run, &mut printed, replies).await?;
                for batch in batches(records) {
                    replies.tell(Tell::Records(batch)).await?;
                }
            }
            if after != before || looked.is_none_or(|looked| looked.elapsed() >= ALIVE) {
                let (now, last) = self.seen(run)?;
                // What it sums up is told first.
                if last > after {
                    continue;
                }
                looked = Some(Instant::now());
                if standing.as_ref() == Some(&now) {
                    replies.tell(Tell::Alive).await?;
                } else {
                    standing = Some(now.clone());
                    replies.tell(Tell::Run(Box::new(now))).await?;
                }
            }
            if self.tell_printed(run, &mut printed, replies).await? {
                let _ = timeout(LOOK, woken.next()).await;
            }
        }
    }

    /// Tells some of what Claude has printed behind these places. Whether that was all.
    async fn tell_printed(
        &self,
        run: RunId,
        printed: &mut BTreeMap<u32, u64>,
        replies: &Replies,
    ) -> Result<bool, Untold> {
        let mut pieces = 0;
        for (iteration, size) in self.store.printed(run)? {
            let at = printed.entry(iteration).or_default();
            // What could not be written whole was taken back there.
            if size < *at {
                *at = 0;
            }
            while *at < size {
                let bytes = self.store.printed_from(run, iteration, *at, PIECE)?;
                if bytes.is_empty() {
                    break;
                }
                let next = *at + bytes.len() as u64;
                replies.tell(Tell::Printed { iteration, at: *at, bytes }).await?;
                *at = next;
                pieces += 1;
                if pieces == PIECES {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// The records in parts that fit into a line each.
fn batches(records: Vec<Copied>) -> Vec<Vec<Copied>> {
    let (mut batches, mut room): (Vec<Vec<Copied>>, usize) = (Vec::new(), 0);
    for piece in records.into_iter().flat_map(Copied::pieces) {
        let size = piece.json.len() + piece.kind.len();
        if let Some(batch) = batches.last_mut().filter(|_| size <= room) {
            room -= size;
            batch.push(piece);
        } else {
            room = PIECE.saturating_sub(size);
            batches.push(vec![piece]);
        }
    }
    batches
}

/// Runs the program, and tells what it prints and how it ends.
async fn run(mut command: Command, replies: &Replies) -> Result<(), Untold> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let failed = |error: io::Error| format!("programmator could not be started there: {error}");
    let mut child = command.spawn().map_err(failed)?;
    let (out, errors) = (child.stdout.take(), child.stderr.take());
    let all = async {
        let (printed, complained) = tokio::join!(lines(out, false, replies), lines(errors, true, replies));
        printed.and(complained)?;
        child.wait().await.map_err(|error| Untold::from(failed(error)))
    };
    let status = tokio::select! {
        ended = all => ended?,
        unheard = alive(replies) => return unheard,
    };
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    replies.tell(Tell::Ended(code)).await
}

/// Says now and then that the connection stands; ends when nobody hears it.
async fn alive(replies: &Replies) -> Result<(), Untold> {
    loop {
        sleep(ALIVE).await;
        replies.tell(Tell::Alive).await?;
    }
}

async fn lines(from: Option<impl AsyncRead + Unpin>, is_error: bool, replies: &Replies) -> Result<(), Untold> {
    let Some(from) = from else { return Ok(()) };
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    // What cannot be read any more has ended.
    while (&mut from).take(PART).read_until(b'\n', &mut line).await.is_ok_and(|read| read > 0) {
        let goes_on = line.len() as u64 >= PART && !line.ends_with(b"\n");
        // A character is not cut in two.
        let cut = std::str::from_utf8(&line).err().filter(|error| goes_on && error.error_len().is_none());
        let rest = line.split_off(cut.map_or(line.len(), |error| error.valid_up_to()));
        let text = String::from_utf8_lossy(&std::mem::replace(&mut line, rest)).trim_end_matches('\n').to_owned();
        replies.tell(Tell::Line { text, is_error, goes_on }).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::store::Store;
    use crate::domain::wire::LONGEST;
    use proptest::prelude::*;

    /// What is told of this input, after the greeting; the program that is run is a shell.
    async fn told(input: String) -> Vec<Told> {
        let folder = tempfile::tempdir().unwrap();
        let serving = Serving {
            store: Store::open(folder.path()).unwrap(),
            find: Box::new(|_| Err("none".to_owned())),
            program: Box::new(|_, words| {
                let mut command = Command::new("/bin/sh");
                command.arg("-c").args(words);
                Ok(command)
            }),
        };
        let (to, heard) = tokio::io::duplex(64 << 10);
        let all = tokio::spawn(async move {
            let (mut from, mut all) = (Frames::new(BufReader::new(heard)), Vec::new());
            while let Some(line) = from.next().await.unwrap() {
                all.push(line);
            }
            all
        });
        serve(serving, input.as_bytes(), to).await.unwrap();
        all.await.unwrap()[1..].iter().map(|line| serde_json::from_slice(line).unwrap()).collect()
    }

    fn runs(id: u64, script: &str) -> String {
        let ask = Ask::Run { directory: None, words: vec![script.to_owned()] };
        serde_json::to_string(&Asked { id, ask }).unwrap()
    }

    #[tokio::test]
    async fn what_is_no_question_is_refused_and_what_was_asked_is_answered_at_the_end_of_the_input() {
        let told = told(format!("{}\nhello\n", runs(1, "echo done; exit 3"))).await;
        let of = |id| told.iter().filter(|one| one.id == id).map(|one| one.tell.clone()).collect::<Vec<_>>();
        assert!(matches!(&of(0)[..], [Tell::Refused(_)]), "{told:?}");
        let line = Tell::Line { text: "done".into(), is_error: false, goes_on: false };
        assert_eq!(of(1), [line, Tell::Ended(3)]);
    }

    #[tokio::test]
    async fn a_line_of_any_length_comes_whole_and_no_character_is_cut() {
        let script = "printf x; head -c 750000 /dev/zero | tr '\\0' a | sed 's/a/é/g'; echo; echo; echo end";
        let (mut whole, mut ended) = (String::new(), false);
        for one in told(runs(1, script) + "\n").await {
            assert!(serde_json::to_string(&one).unwrap().len() <= LONGEST);
            match one.tell {
                Tell::Line { text, goes_on, .. } => whole += &(text + if goes_on { "" } else { "\n" }),
                tell => ended = tell == Tell::Ended(0),
            }
        }
        assert!(ended && whole.len() > 1_500_000 && !whole.contains('\u{fffd}'));
        assert!(whole.starts_with('x') && whole.ends_with("\n\nend\n"), "{}", whole.len());
        assert_eq!(whole.lines().count(), 3);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn batches_keep_every_record_in_order_and_fit(sizes in prop::collection::vec(0_usize..2 * PIECE, 0..6)) {
            let records: Vec<Copied> = sizes.iter().zip(1..).map(|(size, seq)| {
                Copied { seq, time: 0, kind: "k".into(), json: "\"".repeat(*size), goes_on: false }
            }).collect();
            let batches = batches(records.clone());
            for batch in &batches {
                let told = Told { id: u64::MAX, tell: Tell::Records(batch.clone()) };
                prop_assert!(serde_json::to_string(&told).unwrap().len() <= crate::domain::wire::LONGEST);
            }
            let mut whole: Vec<Copied> = Vec::new();
            let mut goes_on = false;
            for piece in batches.into_iter().flatten() {
                match whole.last_mut().filter(|_| goes_on) {
                    Some(last) => last.json.push_str(&piece.json),
                    None => whole.push(piece.clone()),
                }
                goes_on = piece.goes_on;
                if let Some(last) = whole.last_mut() { last.goes_on = false; }
            }
            prop_assert_eq!(whole, records);
        }
    }
}
