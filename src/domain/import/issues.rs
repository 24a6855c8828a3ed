//! Issues as `gh` and `bd` print them, each a task.

use super::item::Item;
use super::outline::sections;
use super::priority;
use super::unread::Unread;
use serde::Deserialize;

/// An issue as `gh issue list --json` with `FIELDS` prints it.
#[derive(Deserialize)]
pub struct Issue {
    number: u64,
    title: String,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    state: String,
    #[serde(default)]
    labels: Vec<Label>,
}

#[derive(Deserialize)]
struct Label {
    name: String,
}

/// The fields of an issue that are asked for.
pub const FIELDS: &str = "number,title,body,state,labels";

/// The issues of the repository `place`. The boxes of an issue's text are its steps.
pub fn github(place: &str, issues: Vec<Issue>) -> Vec<Item> {
    let item = |issue: Issue| {
        let body = issue.body.unwrap_or_default();
        let entries = sections(&body).into_iter().flat_map(|section| section.entries);
        let boxes: Vec<(String, bool)> = entries.filter_map(|one| Some((one.text, one.ticked?))).collect();
        let with = |done: bool| boxes.iter().filter(|one| one.1 == done).map(|one| one.0.clone()).collect();
        let labels: Vec<String> = issue.labels.into_iter().map(|label| label.name).collect();
        let is_labelled = |word: &str| labels.iter().any(|label| label.to_lowercase().contains(word));
        Item {
            key: format!("{place}#{}", issue.number),
            title: issue.title,
            phases: with(false),
            done_phases: with(true),
            text: body,
            priority: labels.iter().filter_map(|label| priority::of(label)).min(),
            kind: [("bug", "bug"), ("enhancement", "feature"), ("feature", "feature"), ("epic", "epic")]
                .iter()
                .find(|(word, _)| is_labelled(word))
                .map(|(_, kind)| *kind),
            is_done: issue.state.eq_ignore_ascii_case("closed"),
            labels,
            ..Item::default()
        }
    };
    issues.into_iter().filter(|issue| !issue.title.trim().is_empty()).map(item).collect()
}

/// What newer ones of `br list --json` print.
#[derive(Deserialize)]
struct Page {
    issues: Vec<Bead>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Bead {
    id: String,
    title: String,
    description: String,
    design: String,
    acceptance_criteria: String,
    notes: String,
    status: String,
    priority: Option<u8>,
    issue_type: String,
    labels: Option<Vec<String>>,
    dependencies: Option<Vec<Dependency>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Dependency {
    issue_id: String,
    depends_on_id: String,
    #[serde(rename = "type")]
    kind: String,
}

/// What its `list --json` or `show --json` printed, or the lines of its `issues.jsonl`.
pub fn beads(text: &str) -> Result<Vec<Item>, Unread> {
    let what = "a list of beads issues";
    let beads: Vec<Bead> = if text.trim_start().starts_with('[') {
        serde_json::from_str(text).map_err(|error| Unread::of(what, 0, &error))?
    } else if let Ok(Page { issues }) = serde_json::from_str(text) {
        issues
    } else {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let read = |(n, line)| serde_json::from_str(line).map_err(|error| Unread::of(what, n, &error));
        lines.map(read).collect::<Result<_, _>>()?
    };
    let item = |bead: Bead| {
        let parts = [
            ("", bead.description),
            ("Design", bead.design),
            ("Accepted when", bead.acceptance_criteria),
            ("Notes", bead.notes),
        ];
        let parts = parts
            .into_iter()
            .filter(|(_, text)| !text.trim().is_empty())
            .map(|(name, text)| if name.is_empty() { text } else { format!("{name}:\n\n{text}") });
        let text = parts.collect::<Vec<_>>().join("\n\n");
        let kinds = ["bug", "feature", "task", "epic", "chore"];
        let before = bead.dependencies.unwrap_or_default().into_iter();
        let before = before.filter(|one| one.kind == "blocks" && (one.issue_id.is_empty() || one.issue_id == bead.id));
        Item {
            title: bead.title,
            text,
            priority: bead.priority.map(|n| n.min(4)),
            kind: kinds.into_iter().find(|kind| *kind == bead.issue_type),
            labels: bead.labels.unwrap_or_default(),
            deps: before.map(|one| one.depends_on_id).collect(),
            is_done: bead.status == "closed",
            key: bead.id,
            ..Item::default()
        }
    };
    let whole = beads.into_iter().filter(|bead| !bead.id.is_empty() && !bead.title.trim().is_empty());
    Ok(whole.filter(|bead| bead.status != "tombstone").map(item).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issues_of_github() {
        let text = r#"[{"number":7,"title":"Limit logins","body":"Why\n\n- [ ] Count\n- [x] Find\n","state":"OPEN","labels":[{"name":"bug"},{"name":"P1"}]},
            {"number":8,"title":"Old","body":null,"state":"CLOSED","labels":[]},{"number":9,"title":" "}]"#;
        let items = github("a/b", serde_json::from_str(text).unwrap());
        assert_eq!(items.len(), 2);
        let first = &items[0];
        assert_eq!((first.key.as_str(), first.kind, first.priority), ("a/b#7", Some("bug"), Some(1)));
        assert_eq!((first.phases.clone(), first.done_phases.clone()), (vec!["Count".into()], vec!["Find".into()]));
        assert!(items[1].is_done);
    }

    #[test]
    fn issues_of_beads() {
        let list = r#"[{"id":"bd-1","title":"A","priority":0,"issue_type":"epic","status":"open","design":"D"},
            {"id":"bd-2","title":"B","status":"closed","dependencies":[{"issue_id":"bd-2","depends_on_id":"bd-1","type":"blocks"},{"issue_id":"bd-2","depends_on_id":"bd-9","type":"related"}]},
            {"id":"","title":"no id"},{"id":"bd-4"}]"#;
        let items = beads(list).unwrap();
        assert_eq!(items.len(), 2);
        assert_eq!((items[0].priority, items[0].kind, items[0].text.as_str()), (Some(0), Some("epic"), "Design:\n\nD"));
        assert_eq!((items[1].deps.clone(), items[1].is_done), (vec!["bd-1".into()], true));
        let lines = "{\"id\":\"bd-1\",\"title\":\"A\"}\n\n{\"id\":\"bd-2\",\"title\":\"B\",\"labels\":null}\n";
        assert_eq!(beads(lines).unwrap().len(), 2);
        assert_eq!(beads("{\"issues\":[{\"id\":\"bd-1\",\"title\":\"A\"}],\"total\":1}").unwrap().len(), 1);
        let why = |text: &str| beads(text).unwrap_err().to_string();
        assert_eq!(why("{}\n\nnonsense"), "this is not a list of beads issues: line 3 is not JSON");
        assert_eq!(why("[\n{\"id\":7}]"), "this is not a list of beads issues: line 2 has an unexpected value");
    }
}
