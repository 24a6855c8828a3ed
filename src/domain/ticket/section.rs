//! What a heading says about the section below it.

/// What a section holds, by its heading or else the one above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Plain,
    /// Design, Phases, Tasks, Plan, Implementation, …: its boxes are preferred.
    Plan,
    /// `Phase N` or `Step N`: its boxes are that phase's tasks. Holds the heading's index.
    Phase(usize),
    /// Acceptance Criteria, Definition of Done, Notes, …: its boxes are phases only when nothing else is.
    Criteria,
    /// Validation commands: never phases.
    Validation,
}

/// What a heading's words say about its section. A title, which is of level 1, is about the whole ticket: it names no
/// validation commands.
pub(super) fn named(text: &str, level: usize, index: usize) -> Section {
    if phase_number(text).is_some() {
        return Section::Phase(index);
    }
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let has = |word: &str| words.contains(&word);
    if words == ["validation", "commands"] && level > 1 {
        Section::Validation
    } else if has("criteria")
        || has("notes")
        || words.windows(3).any(|three| three == ["definition", "of", "done"])
        || words.windows(2).any(|two| two == ["test", "plan"])
    {
        Section::Criteria
    } else if [
        "design", "phase", "phases", "task", "tasks", "plan", "implementation", "steps", "todo", "todos", "milestones",
    ]
    .into_iter()
    .any(has)
    {
        Section::Plan
    } else {
        Section::Plain
    }
}

/// The number of a `Phase 2: …`, `Step 3. …`, `Phase 2b - …` heading.
pub(super) fn phase_number(text: &str) -> Option<u32> {
    let word = text.get(..4).filter(|word| word.eq_ignore_ascii_case("step"));
    let word = word.or_else(|| text.get(..5).filter(|word| word.eq_ignore_ascii_case("phase")))?;
    let rest = text[word.len()..].strip_prefix([' ', '\t'])?.trim_start();
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number = rest[..digits].parse().ok()?;
    let rest = &rest[digits..];
    let rest = rest.strip_prefix(|c: char| c.is_ascii_lowercase()).unwrap_or(rest);
    let ends_well = rest.chars().next().is_none_or(|c| c.is_whitespace() || ":.-–—)".contains(c));
    ends_well.then_some(number)
}
