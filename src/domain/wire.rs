//! What two programs on two machines say to each other over the input and output of a command: the one that is looked at
//! (`programmator serve`) and the one that looks. How the lines travel is an adapter's.
//!
//! The far program begins with a [`Hello`]. Then each line is a JSON object: an [`Asked`] one way, a [`Told`] the other, each
//! with the number of what was asked.

use crate::base::id::RunId;
use crate::base::text::beginning;
use crate::domain::command::UserCommand;
use crate::domain::summary::RunSummary;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

/// The version of this language.
pub const VERSION: u32 = 1;

/// Longest line in bytes, without its newline.
pub const LONGEST: usize = 1 << 20;

/// Bytes of a record, or of what Claude printed, that go into one line: with all escapes it stays below [`LONGEST`].
pub const PIECE: usize = 256 << 10;

/// The first line of the far program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Its version, for people.
    pub programmator: String,
    /// The version of the language that it speaks: [`VERSION`].
    pub wire: u32,
}

/// Something that is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Of one connection each has another.
    pub id: u64,
    pub ask: Ask,
}

/// What is asked. One that a program does not know is [refused](Tell::Refused).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// Which run is at work under this name; the latest where there is none. Told [`Tell::Run`].
    Find { name: Option<String> },
    /// Everything about a run from behind these places, and from now on what becomes of it.
    Follow {
        run: RunId,
        /// The last record that is known; 0: none.
        after: u64,
        /// How many bytes are known of what Claude printed in each iteration.
        printed: BTreeMap<u32, u64>,
    },
    /// The person tells the run something. Told [`Tell::Done`], [`Tell::Refused`] or [`Tell::Unanswered`].
    Say { run: RunId, command: UserCommand },
    /// The same program is run there with these words. Told each [`Tell::Line`] and [`Tell::Ended`].
    Run {
        /// The folder on that machine; the one that commands begin in where there is none.
        directory: Option<String>,
        words: Vec<String>,
    },
}

/// Something that is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// What it answers.
    pub id: u64,
    pub tell: Tell,
}

/// What is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tell {
    /// How a run stands, as its machine sees it. While it is followed: all records that it sums up were told.
    Run(Box<RunSummary>),
    /// The next records of a run that is followed, in order and without a gap.
    Records(Vec<Copied>),
    /// Bytes that Claude printed, which stand from `at` on in the file of its iteration; what stood behind is gone.
    Printed {
        iteration: u32,
        at: u64,
        #[serde(serialize_with = "as_text", deserialize_with = "from_text")]
        bytes: Vec<u8>,
    },
    /// Nothing has happened, and the connection stands.
    Alive,
    /// It is done.
    Done,
    /// It is not done, for this reason; words for the person.
    Refused(String),
    /// It may be done yet; words for the person.
    Unanswered(String),
    /// A line that a program has printed.
    Line {
        text: String,
        is_error: bool,
        /// The rest of it is told next.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        goes_on: bool,
    },
    /// The program has ended with this exit code.
    Ended(u8),
}

/// A record as it is stored, also one whose kind this program does not know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copied {
    pub seq: u64,
    /// Milliseconds since the epoch.
    pub time: i64,
    pub kind: String,
    pub json: String,
    /// The rest of `json` stands in the next one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub goes_on: bool,
}

impl Copied {
    /// The record in pieces that fit into a line.
    pub fn pieces(self) -> Vec<Self> {
        if self.json.len() <= PIECE {
            return vec![self];
        }
        let (mut rest, mut pieces) = (self.json.as_str(), Vec::new());
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(beginning(rest, PIECE).len());
            let goes_on = !after.is_empty();
            pieces.push(Self { json: piece.to_owned(), kind: self.kind.clone(), goes_on, ..self });
            rest = after;
        }
        pieces
    }
}

fn as_text<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&STANDARD.encode(bytes))
}

fn from_text<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    STANDARD.decode(String::deserialize(from)?).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(json: &str) -> Copied {
        Copied { seq: 7, time: 1, kind: "note_given".into(), json: json.into(), goes_on: false }
    }

    #[test]
    fn what_is_told_and_asked_comes_out_as_it_went_in() {
        let all = [
            Tell::Records(vec![copied("{\"kind\":\"paused\"}")]),
            Tell::Printed { iteration: 3, at: 1 << 40, bytes: vec![0, 0xff, b'\n', 0x1b] },
            Tell::Alive,
            Tell::Refused("no".into()),
            Tell::Line { text: "a".into(), is_error: true, goes_on: true },
            Tell::Ended(3),
        ];
        for tell in all {
            let line = serde_json::to_string(&Told { id: 1, tell: tell.clone() }).unwrap();
            assert!(!line.contains('\n'), "{line}");
            assert_eq!(serde_json::from_str::<Told>(&line).unwrap().tell, tell, "{line}");
        }
        let run = RunId::parse("0192aaaa-0000-7000-8000-000000000001").unwrap();
        let ask = Ask::Follow { run, after: 4, printed: BTreeMap::from([(1, 2)]) };
        let line = serde_json::to_string(&ask).unwrap();
        assert_eq!(serde_json::from_str::<Ask>(&line).unwrap(), ask, "{line}");
    }

    #[test]
    fn a_large_record_goes_in_pieces_that_fit_into_a_line_whatever_is_in_it() {
        for text in ["\"\\\u{7f}".repeat(300_000), "é日".repeat(200_000)] {
            let whole = copied(&text);
            let pieces = whole.clone().pieces();
            assert!(pieces.len() > 1 && pieces.iter().rev().skip(1).all(|piece| piece.goes_on));
            for piece in &pieces {
                let told = Told { id: u64::MAX, tell: Tell::Records(vec![piece.clone()]) };
                assert!(serde_json::to_string(&told).unwrap().len() <= LONGEST);
            }
            assert!(pieces.last().is_some_and(|last| !last.goes_on));
            assert_eq!(pieces.into_iter().map(|piece| piece.json).collect::<String>(), text);
        }
        assert_eq!(copied("{}").pieces(), [copied("{}")]);
    }
}
