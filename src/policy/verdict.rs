//! What the gate says: a verdict for each unit of a call, and the strictest of them for the whole.

use crate::base::text::clean_line;
use crate::domain::verdict::Verdict;
use serde::{Serialize, Serializer};

/// Longest text of a unit that is printed, in columns.
const PRINTED: usize = 500;

/// The verdict on one unit of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ruled {
    /// The unit as it was spelled, whole: what a person agrees to must not be another text.
    #[serde(serialize_with = "in_one_line")]
    pub text: String,
    pub verdict: Verdict,
    /// Name of the rule that decided; `floor` and `default` are rules too.
    pub rule: String,
    /// Line of the rule in its file; none for the floor and the default.
    #[serde(skip)]
    pub line: Option<u64>,
    pub reason: String,
    /// How far the unit reaches, from reading on.
    #[serde(skip)]
    pub reach: u8,
    /// The kind of call that can be allowed for the rest of a run instead of this one alone, where it has a name.
    #[serde(skip)]
    pub kind: Option<String>,
}

/// The verdict on a whole call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The strictest of the units'.
    pub verdict: Verdict,
    /// Every unit, in the order of the call. Never empty.
    pub units: Vec<Ruled>,
    /// Nothing in the call is beyond what the engine understands: only then may a rule for all such calls be
    /// offered.
    #[serde(skip)]
    pub proven: bool,
}

fn in_one_line<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&clean_line(text, PRINTED))
}

/// Which unit decided, by their verdicts and how far they reach: the first of the strictest; of a call that is allowed
/// the one that reaches farthest.
pub fn deciding(units: &[(Verdict, u8)]) -> Option<usize> {
    let strictest = units.iter().map(|(verdict, _)| *verdict).max()?;
    let reach = |unit: &(Verdict, u8)| if strictest == Verdict::Allow { unit.1 } else { 0 };
    let mut found = None;
    for (at, unit) in units.iter().enumerate().filter(|(_, unit)| unit.0 == strictest) {
        if found.is_none_or(|(_, farthest)| reach(unit) > farthest) {
            found = Some((at, reach(unit)));
        }
    }
    found.map(|(at, _)| at)
}

impl Decision {
    pub fn deciding(&self) -> Option<&Ruled> {
        let units: Vec<(Verdict, u8)> = self.units.iter().map(|unit| (unit.verdict, unit.reach)).collect();
        self.units.get(deciding(&units)?)
    }

    /// What Claude is told of a call that does not run: the reason, never the way round it.
    pub fn told(&self) -> String {
        self.deciding().map_or_else(String::new, |unit| format!("{}: {}", unit.rule, unit.reason))
    }
}
