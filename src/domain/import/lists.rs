//! Markdown documents as tasks: lists of tasks, fix plans, requirements and plans with numbered tasks.

use super::item::{Item, Source, keyed};
use super::outline::{Entry, Section, sections};
use super::priority;

/// Sections whose boxes are no tasks.
const NOT_WANTED: [&str; 12] = [
    "non-goals", "non goals", "out of scope", "glossary", "references", "changelog", "revision history", "notes",
    "completed", "done", "table of contents", "learnings",
];
/// Words of headings below which plain bullets are requirements.
const WANTED: [&str; 12] = [
    "requirement", "feature", "user stor", "task", "functional", "deliverable", "milestone", "todo", "to do", "phase",
    "acceptance", "must have",
];

/// Sections with commands that check the work, besides those called validation.
const CHECKS: [&str; 5] = ["tests", "checks", "test commands", "how to test", "testing"];

/// The tasks of a document. `place` names it, `name` is its title where it says none.
pub fn read(source: Source, place: &str, name: &str, text: &str) -> Vec<Item> {
    let sections = sections(text);
    let mut items = match source {
        Source::Prd => requirements(&sections, name, text),
        Source::Ralphex => vec![plan(&sections, name, text)],
        _ => tasks(&sections, text),
    };
    if source != Source::Ralphex {
        let checks: Vec<String> =
            sections.iter().filter(|one| is_checks(one)).flat_map(|one| one.commands.clone()).collect();
        for item in &mut items {
            item.commands.clone_from(&checks);
        }
    }
    items.retain(|item| !item.title.trim().is_empty());
    keyed(place, &mut items);
    tell_apart(&mut items);
    items
}

/// Of several with one title, such as `Must have` below each feature, each says whose it is. Their keys are made before, by the heading's own words.
fn tell_apart(items: &mut [Item]) {
    let titles: Vec<String> = items.iter().map(|item| item.title.clone()).collect();
    for item in items.iter_mut().filter(|item| !item.above.is_empty()) {
        if titles.iter().filter(|title| **title == item.title).count() > 1 {
            item.title = format!("{}: {}", item.above, item.title);
        }
    }
}

/// What the document calls itself.
pub fn title(text: &str) -> Option<String> {
    let mut titles = sections(text).into_iter().filter(|section| section.level == 1).map(|section| section.title);
    titles.next().filter(|title| !title.is_empty())
}

/// All of them as one task, whose steps they are. `name` stays the same when the `title` changes.
pub fn joined(source: Source, place: &str, (name, title): (&str, Option<String>), items: &[Item]) -> Vec<Item> {
    let (done, open): (Vec<&Item>, Vec<&Item>) = items.iter().partition(|item| item.is_done);
    let titles = |items: Vec<&Item>| items.into_iter().map(|item| item.title.clone()).collect::<Vec<_>>();
    // The text of a section has its steps.
    let has_steps = source == Source::Prd;
    let inner = items.iter().filter(|item| {
        let is_deep = !item.phases.is_empty() || !item.done_phases.is_empty();
        is_deep || !item.text.is_empty()
    });
    let text: Vec<String> = inner
        .map(|item| {
            let open = item.phases.iter().map(|step| format!("- [ ] {step}\n"));
            let done = item.done_phases.iter().map(|step| format!("- [x] {step}\n"));
            let steps = open.chain(done).filter(|_| !has_steps).collect::<Vec<_>>().concat();
            format!("{}:\n\n{steps}{}", item.title, item.text)
        })
        .collect();
    let mut commands: Vec<String> = Vec::new();
    for command in items.iter().flat_map(|item| &item.commands) {
        if !commands.contains(command) {
            commands.push(command.clone());
        }
    }
    let mut all = vec![Item {
        title: name.to_owned(),
        text: text.join("\n\n"),
        is_done: open.is_empty(),
        phases: titles(open),
        done_phases: titles(done),
        commands,
        priority: items.iter().filter_map(|item| item.priority).min(),
        ..Item::default()
    }];
    all.retain(|item| !items.is_empty() && !item.title.is_empty());
    // The list is not one of its own tasks, whatever it is called.
    keyed(&format!("{place} as one"), &mut all);
    for (item, title) in all.iter_mut().zip(title) {
        item.title = title;
    }
    all
}

/// The whole document as one task without steps. `name` stays the same when the `title` changes.
pub fn whole(place: &str, (name, title): (&str, Option<String>), text: &str) -> Vec<Item> {
    let mut all = vec![Item { title: name.to_owned(), text: text.trim().to_owned(), ..Item::default() }];
    all.retain(|item| !item.text.is_empty() && !item.title.is_empty());
    keyed(&format!("{place} as a whole"), &mut all);
    for (item, title) in all.iter_mut().zip(title) {
        item.title = title;
    }
    all
}

/// Its title is one of these, alone, with a number before it or words in brackets behind it: `4. Non-goals (for now):`.
fn is_not_wanted(section: &Section) -> bool {
    let title = section.title.to_lowercase();
    let title = title.trim_start_matches(|c: char| !c.is_alphabetic());
    let title = title.split('(').next().unwrap_or_default().trim_end_matches(|c: char| !c.is_alphabetic());
    NOT_WANTED.contains(&title)
}

/// The sections that are read, and those that are left out for what they, or one above them, are called. What a document itself is
/// called leaves nothing out but what stands right below its title.
fn divided(sections: &[Section]) -> (Vec<&Section>, Vec<&Section>) {
    let title = sections.iter().position(|section| section.level > 0);
    let mut above: Option<u8> = None;
    let mut is_read = |at: usize, section: &Section| {
        if above.is_some_and(|above| section.level > above) {
            return false;
        }
        let is_left = is_not_wanted(section);
        above = (is_left && (section.level > 1 || title != Some(at))).then_some(section.level);
        !is_left
    };
    let (read, left): (Vec<_>, Vec<_>) = sections.iter().enumerate().partition(|(at, section)| is_read(*at, section));
    let bare = |all: Vec<(usize, _)>| all.into_iter().map(|(_, section)| section).collect();
    (bare(read), bare(left))
}

/// Sections that are in none of the tasks, by their titles; one without a title is the beginning of the document.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// For what they, or those above them, are called.
    pub named: Vec<String>,
    /// They have text, and no box, numbered item or row of requirements.
    pub prose: Vec<String>,
}

/// What of the document is in none of its tasks.
pub fn left_out(source: Source, text: &str) -> LeftOut {
    let all = sections(text);
    let (read, named) = divided(&all);
    let has_text = |section: &&Section| !body(section, text).is_empty();
    let titles = |all: Vec<&Section>| all.into_iter().map(|one| one.title.clone()).collect();
    match source {
        // A plan is taken whole.
        Source::Ralphex => LeftOut::default(),
        Source::Prd => {
            let tasks = of_requirements(&read);
            let is_task = |one: &&Section| tasks.iter().any(|task| std::ptr::eq(*task, *one));
            let prose = read.into_iter().filter(|one| !is_task(one) && !is_checks(one)).filter(has_text).collect();
            LeftOut { named: titles(named.into_iter().filter(has_text).collect()), prose: titles(prose) }
        }
        // What is no entry of a list was never a task.
        _ => {
            let named = named.into_iter().filter(|one| !one.entries.is_empty()).collect();
            LeftOut { named: titles(named), prose: Vec::new() }
        }
    }
}

/// It lists commands that check the work, and nothing to do.
fn is_checks(section: &Section) -> bool {
    let title = section.title.to_lowercase();
    let title = title.trim_matches(|c: char| !c.is_alphabetic());
    let is_called = title.starts_with("validation") || CHECKS.contains(&title);
    is_called && !section.commands.is_empty() && section.entries.iter().all(|entry| entry.ticked.is_none())
}

fn is_named(section: &Section, names: &[&str]) -> bool {
    let title = section.title.to_lowercase();
    names.iter().any(|name| title.contains(name))
}

/// Each entry of a list is a task, and what is nested in it are its steps. Without a list, each line is.
fn tasks(sections: &[Section], text: &str) -> Vec<Item> {
    let mut items = Vec::new();
    for section in divided(sections).0.into_iter().filter(|section| !is_checks(section)) {
        let usual = priority::of(&section.title);
        items.extend(section.entries.iter().map(|entry| {
            let (open, done) = steps(&entry.inner);
            Item {
                title: entry.text.clone(),
                text: format!("{}{}", entry.code, deeper(&entry.inner)),
                phases: open,
                done_phases: done,
                priority: priority_of(entry).or(usual),
                is_done: entry.ticked == Some(true),
                ..Item::default()
            }
        }));
    }
    if items.is_empty() && sections.iter().all(|section| section.entries.is_empty()) {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', '<', '`']));
        items.extend(lines.map(|line| Item {
            title: line.to_owned(),
            priority: priority::of(line),
            ..Item::default()
        }));
    }
    items
}

/// What is nested in the steps, as lists: it is no step of its own.
fn deeper(steps: &[Entry]) -> String {
    let with = steps.iter().filter(|step| !step.inner.is_empty() || !step.code.is_empty());
    with.map(|step| format!("{}:\n{}{}", step.text, step.code, listed(&step.inner, 0))).collect::<Vec<_>>().join("\n")
}

fn listed(entries: &[Entry], depth: usize) -> String {
    let boxed = |entry: &Entry| match entry.ticked {
        Some(true) => "[x] ",
        Some(false) => "[ ] ",
        None => "",
    };
    let line = |entry: &Entry| {
        let indent = "  ".repeat(depth);
        let code = entry.code.lines().map(|line| format!("{indent}  {line}\n")).collect::<Vec<_>>().concat();
        format!("{indent}- {}{}\n{code}{}", boxed(entry), entry.text, listed(&entry.inner, depth + 1))
    };
    entries.iter().map(line).collect::<Vec<_>>().concat()
}

fn priority_of(entry: &Entry) -> Option<u8> {
    priority::of(&entry.priority).or_else(|| priority::of(&entry.text))
}

/// The open entries and those that are ticked, as lines.
fn steps(entries: &[Entry]) -> (Vec<String>, Vec<String>) {
    let (done, open): (Vec<&Entry>, Vec<&Entry>) = entries.iter().partition(|entry| entry.ticked == Some(true));
    let texts = |entries: Vec<&Entry>| entries.into_iter().map(|entry| entry.text.clone()).collect();
    (texts(open), texts(done))
}

/// The entries of a section that are steps: boxes, numbered ones, rows of requirements, and plain ones where its title says so.
fn wanted(section: &Section) -> Vec<&Entry> {
    let plain = is_named(section, &WANTED);
    let counts = |entry: &&Entry| entry.ticked.is_some() || entry.is_numbered || entry.is_row || plain;
    section.entries.iter().filter(counts).collect()
}

/// The sections that are tasks: those with steps. Of a document without any: its innermost ones.
fn of_requirements<'a>(read: &[&'a Section]) -> Vec<&'a Section> {
    let read: Vec<&Section> = read.iter().copied().filter(|section| !is_checks(section)).collect();
    if read.iter().any(|section| !wanted(section).is_empty()) {
        return read.into_iter().filter(|section| !wanted(section).is_empty()).collect();
    }
    read.into_iter().filter(|section| section.level > 1).collect()
}

/// Each section that is a task, with its steps.
fn requirements(sections: &[Section], name: &str, text: &str) -> Vec<Item> {
    let tasks = of_requirements(&divided(sections).0);
    let item = |section: &Section| {
        let (done, own): (Vec<&Entry>, Vec<&Entry>) =
            wanted(section).into_iter().partition(|entry| entry.ticked == Some(true));
        let texts = |entries: &[&Entry]| entries.iter().map(|entry| entry.text.clone()).collect();
        let highest = own.iter().chain(&done).filter_map(|entry| priority_of(entry)).min();
        Item {
            title: bare_title(&section.title, name),
            above: above(sections, section).map_or_else(String::new, |above| bare_title(&above.title, name)),
            text: body(section, text),
            is_done: own.is_empty() && !done.is_empty(),
            phases: texts(&own),
            done_phases: texts(&done),
            priority: priority::of(&section.title).or(highest),
            ..Item::default()
        }
    };
    let mut items: Vec<Item> = tasks.iter().map(|section| item(section)).collect();
    items.retain(|item| !(item.text.is_empty() && item.phases.is_empty() && item.done_phases.is_empty()));
    items
}

/// The section that this one is in, other than the whole document.
fn above<'a>(sections: &'a [Section], section: &Section) -> Option<&'a Section> {
    let is_one = sections.iter().filter(|one| one.level == 1).count() < 2;
    let before = sections.iter().take_while(|other| other.body.start < section.body.start);
    before.filter(|other| other.level > u8::from(is_one) && other.level < section.level).last()
}

fn body(section: &Section, text: &str) -> String {
    text.get(section.body.clone()).unwrap_or_default().trim().to_owned()
}

/// A heading without the number before it.
fn bare_title(title: &str, name: &str) -> String {
    let bare = title.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ')' || c == ' ');
    let bare = if bare.is_empty() { title } else { bare };
    if bare.is_empty() { name.to_owned() } else { bare.to_owned() }
}

/// A plan is one task; its numbered tasks are the steps.
fn plan(sections: &[Section], name: &str, text: &str) -> Item {
    let title = sections.iter().find(|section| section.level == 1).map(|section| section.title.clone());
    let steps: Vec<&Section> = sections.iter().filter(|section| step_title(&section.title).is_some()).collect();
    let is_done = |section: &Section| {
        !section.entries.is_empty() && section.entries.iter().all(|entry| entry.ticked == Some(true))
    };
    let (done, open): (Vec<&Section>, Vec<&Section>) = steps.iter().copied().partition(|section| is_done(section));
    let titles = |sections: &[&Section]| sections.iter().filter_map(|section| step_title(&section.title)).collect();
    let checks = sections.iter().filter(|section| section.title.to_lowercase().starts_with("validation"));
    Item {
        title: title.filter(|title| !title.is_empty()).unwrap_or_else(|| name.to_owned()),
        text: text.trim().to_owned(),
        is_done: open.is_empty() && !done.is_empty(),
        phases: titles(&open),
        done_phases: titles(&done),
        commands: checks.flat_map(|section| section.commands.clone()).collect(),
        ..Item::default()
    }
}

/// `Task 2: Write it` and `Iteration 2a: Write it` are steps.
fn step_title(title: &str) -> Option<String> {
    let rest = ["Task ", "Iteration "].iter().find_map(|word| title.strip_prefix(word))?;
    let (number, name) = rest.split_once([':', '.']).filter(|(number, _)| number.len() <= 5)?;
    let is_number = number.starts_with(|c: char| c.is_ascii_digit());
    // `2.5: Write it`
    let name = name
        .split_once(':')
        .filter(|(more, _)| more.bytes().all(|byte| byte.is_ascii_digit()))
        .map_or(name, |(_, name)| name);
    (is_number && !name.trim().is_empty()).then(|| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(items: &[Item]) -> Vec<String> {
        let shown = |item: &Item| {
            let mark = if item.is_done { "x" } else { " " };
            let priority = item.priority.map(|n| format!(" P{n}")).unwrap_or_default();
            let steps = [&item.phases[..], &item.done_phases[..]].map(|steps| steps.join(", "));
            format!("[{mark}] {}{priority}: {} | {}", item.title, steps[0], steps[1])
        };
        items.iter().map(shown).collect()
    }

    #[test]
    fn a_fix_plan_is_a_list_of_tasks() {
        let text = "# Fix Plan\n\n## High Priority\n- [ ] Parse `it`\n  - [x] Read\n  - [ ] Write\n- [x] Print\n\n## Nice to have\n- [ ] Colours\n\n## Completed\n- [x] Setup\n\n## Notes\n- Remember\n\n```\n- [ ] no task\n```\n> - [ ] none either\n";
        let expected = ["[ ] Parse it P1: Write | Read", "[x] Print P1:  | ", "[ ] Colours P3:  | "];
        let items = read(Source::Hank, "fix_plan.md", "fix_plan", text);
        assert_eq!(told(&items), expected);
        assert_eq!(items[0].key, "fix_plan.md#parse-it");
        let one = joined(Source::Hank, "fix_plan.md", ("Fix plan", None), &items);
        assert_eq!(told(&one), ["[ ] Fix plan P1: Parse it, Colours | Print"]);
        assert_eq!(one[0].key, "fix_plan.md as one#fix-plan");
        assert_eq!(
            (one[0].text.as_str(), joined(Source::Hank, "x", ("X", None), &[])),
            ("Parse it:\n\n- [ ] Write\n- [x] Read\n", Vec::new())
        );
    }

    #[test]
    fn dates_and_notes_in_brackets_are_no_boxes() {
        let items = read(Source::Tasks, "t", "t", "- [2026-01-01] Meet\n- [#12] Fix\n* [X] Done\n");
        assert_eq!(told(&items), ["[ ] [2026-01-01] Meet:  | ", "[ ] [#12] Fix:  | ", "[x] Done:  | "]);
        assert_eq!(
            told(&read(Source::Tasks, "t", "t", "# T\nWrite it\n\nMust test it\n")),
            ["[ ] Write it:  | ", "[ ] Must test it P1:  | "]
        );
    }

    #[test]
    fn only_a_whole_title_leaves_a_section_out_and_what_is_deep_is_kept() {
        let text = "# T\n\n## Abandoned carts\n\n- [ ] Mail\n  - [ ] Write\n    - [ ] Subject\n      - body\n\n## 4. Non-goals (now)\n\n- [ ] Tax\n\n## Done:\n\n- [x] Old\n";
        let items = read(Source::Tasks, "t", "t", text);
        assert_eq!(told(&items), ["[ ] Mail: Write | "]);
        assert_eq!(items[0].text, "Write:\n- [ ] Subject\n  - body\n");
        assert_eq!(left_out(Source::Tasks, text).named, ["4. Non-goals (now)", "Done:"]);
        assert_eq!(told(&read(Source::Prd, "t", "t", text)), ["[ ] Abandoned carts: Mail | "]);
    }

    #[test]
    fn what_is_below_a_section_that_is_left_out_is_left_out_too() {
        let text = "# Notes\n\n- [ ] Top\n\n## Done\n\n- [x] Old\n\n### More\n\n- [ ] Older\n\n## Work\n\n- [ ] New\n";
        assert_eq!(left_out(Source::Hank, text).named, ["Notes", "Done", "More"]);
        assert_eq!(told(&read(Source::Tasks, "t", "t", text)), ["[ ] New:  | "]);
        assert_eq!(told(&read(Source::Prd, "t", "t", text)), ["[ ] Work: New | "]);
    }

    #[test]
    fn one_ticket_of_requirements_is_called_as_they_are_and_says_each_once() {
        let text = "# Shop\n\n## Login\n\nWhy.\n\n- [ ] Refuse **bots**\n\n## Validation commands\n\n```sh\n$ make test\nmake lint\n```\n";
        let items = read(Source::Prd, "p", "p", text);
        assert_eq!(told(&items), ["[ ] Login: Refuse bots | "]);
        assert_eq!(items[0].commands, ["make test", "make lint"]);
        let one = &joined(Source::Prd, "p", ("p", title(text)), &items)[0];
        assert_eq!((one.title.as_str(), one.key.as_str(), one.commands.len()), ("Shop", "p as one#p", 2));
        assert_eq!(one.text, "Login:\n\nWhy.\n\n- [ ] Refuse **bots**");
        // Boxes are tasks, whatever stands above them.
        let boxes = read(Source::Prd, "p", "p", "## Tests\n\n- [ ] Run `make test`\n");
        assert_eq!((told(&boxes), boxes[0].commands.len()), (vec!["[ ] Tests: Run make test | ".to_owned()], 0));
    }

    #[test]
    fn code_in_an_item_stays_whole() {
        let text =
            "- [ ] Fix it\n\n  ```rust\n  fn a() {\n      b();\n  }\n  ```\n  - [ ] Step\n\n        deep ``` one\n";
        let items = read(Source::Hank, "f", "f", text);
        assert_eq!(items[0].title, "Fix it");
        assert_eq!(items[0].text, "```rust\nfn a() {\n    b();\n}\n```\nStep:\n````\ndeep ``` one\n````\n");
        let document = read(Source::Prd, "f", "f", &format!("## Login\n\n{text}"));
        assert!(document[0].text.contains("  fn a() {\n      b();\n  }"), "{}", document[0].text);
    }

    #[test]
    fn a_box_that_is_ticked_there_changes_nothing() {
        let text = "# Plan\n\n## Work\n\n- [ ] One\n- [ ] Two\n\n### Task 1: Read\n\n- [ ] a\n- [ ] b\n";
        let ticked = text.replacen("[ ]", "[x]", 1).replace("[ ] a", "[X] a");
        for source in [Source::Prd, Source::Ralphex] {
            let digests = |text: &str| read(source, "p", "p", text).iter().map(Item::digest).collect::<Vec<_>>();
            assert_eq!(digests(text), digests(&ticked), "{source:?}");
            assert_ne!(digests(text), digests(&text.replace("Two", "Three")), "{source:?}");
        }
        let text = "# Plan\n\n- [ ] One\n  - [ ] a\n  - [ ] b\n- [ ] Two\n";
        let digest =
            |text: &str| joined(Source::Tasks, "p", ("p", None), &read(Source::Tasks, "p", "p", text))[0].digest();
        for ticked in ["[ ] a", "[ ] b", "[ ] One", "[ ] Two"] {
            assert_eq!(digest(text), digest(&text.replace(ticked, &ticked.replace("[ ]", "[x]"))), "{ticked}");
        }
        assert_ne!(digest(text), digest(&text.replace("[ ] a", "[ ] c")));
    }

    #[test]
    fn requirements_are_the_steps_of_their_section() {
        let text = "# Shop\n\nIntro.\n\n## 1. Overview\n\n- fast\n\n## 2. Login (must have)\n\nWhy.\n\n1. Refuse the sixth try\n2. Say so\n\n## Requirements\n\n- Log out\n\n## Table\n\n| ID | Requirement | Priority |\n|---|---|---|\n| R1 | Pay | P0 |\n| R2 | Refund | low |\n\n## Non-goals\n\n- [ ] Taxes\n";
        let items = read(Source::Prd, "prd.md", "prd", text);
        let expected = [
            "[ ] Login (must have) P1: Refuse the sixth try, Say so | ",
            "[ ] Requirements: Log out | ",
            "[ ] Table P0: Pay, Refund | ",
        ];
        assert_eq!(told(&items), expected);
        assert_eq!(items[0].text, "Why.\n\n1. Refuse the sixth try\n2. Say so");
        let left = left_out(Source::Prd, text);
        assert_eq!((left.prose, left.named), (vec!["Shop".into(), "1. Overview".into()], vec!["Non-goals".into()]));
        let prose = "# Shop\n\n## Login\n\nRefuse the sixth try.\n\n## Pay\n\nBy card.\n";
        assert_eq!(told(&read(Source::Prd, "p", "p", prose)), ["[ ] Login:  | ", "[ ] Pay:  | "]);
        assert_eq!(left_out(Source::Prd, prose), LeftOut::default());
        let same = "# Shop\n\n## 1. Login\n\n### 1.1 Must have\n\n- A\n\n### Could\n\n1. B\n\n## 2. Pay\n\n### 2.1 Must have\n\n- C\n";
        let titles = ["[ ] Login: Must have P1: A | ", "[ ] Could P3: B | ", "[ ] Pay: Must have P1: C | "];
        let several = read(Source::Prd, "p", "p", same);
        assert_eq!(told(&several), titles);
        // A section that comes between them later changes none of their keys.
        let keys: Vec<&str> = several.iter().map(|item| item.key.as_str()).collect();
        assert_eq!(keys, ["p#must-have", "p#could", "p#pay-must-have"]);
        let intro = left_out(Source::Prd, &format!("Before.\n\n{prose}\n## Glossary\n\nWords.\n"));
        assert_eq!((intro.prose, intro.named), (vec![String::new()], vec!["Glossary".into()]));
    }

    #[test]
    fn a_plan_is_one_task_with_numbered_steps() {
        let text = "# Plan: cache\n\n## Validation Commands\n- `go test ./...`\n\n### Task 1: Read\n- [x] a\n\n### Task 2.5: Write\n- [ ] b\n\n### Iteration 2a: Test\n\n### Task list\n";
        let items = read(Source::Ralphex, "plan.md", "plan", text);
        assert_eq!(told(&items), ["[ ] Plan: cache: Write, Test | Read"]);
        assert_eq!(items[0].commands, ["go test ./..."]);
    }

    #[test]
    fn deep_and_broken_documents_are_read_in_time() {
        let deep = "- ".repeat(20_000) + "x\n" + &"> ".repeat(5_000) + "[ ](".repeat(1_000).as_str();
        for source in Source::ALL {
            read(*source, "d", "d", &deep);
            read(*source, "d", "d", "| a |\n|---\n| \0 |\n# \n- [ ]\n");
        }
    }
}
