//! The stories of ralph-tui's `prd.json`, each a task.

use super::item::Item;
use super::unread::Unread;
use serde::Deserialize;

#[derive(Deserialize)]
struct Document {
    #[serde(alias = "userStories", alias = "stories", alias = "tasks")]
    user_stories: Vec<Story>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Story {
    id: serde_json::Value,
    title: String,
    description: String,
    acceptance_criteria: Vec<String>,
    priority: Option<u64>,
    passes: bool,
    notes: String,
    labels: Vec<String>,
    depends_on: Vec<String>,
}

/// The stories, in their order; an error says what is wrong with the document.
pub fn read(place: &str, text: &str) -> Result<Vec<Item>, Unread> {
    let document: Document =
        serde_json::from_str(text).map_err(|error| Unread::of("a user story document", 0, &error))?;
    let key = |id: &str| format!("{place}#{id}");
    let item = |story: Story| {
        let id = story.id.as_str().map_or_else(|| story.id.to_string(), str::to_owned);
        let criteria = story.acceptance_criteria.iter().map(|one| format!("- {one}\n")).collect::<Vec<_>>().concat();
        let criteria = if criteria.is_empty() { criteria } else { format!("Accepted when:\n\n{criteria}") };
        let parts = [story.description, criteria, story.notes];
        let parts: Vec<&str> = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect();
        Item {
            key: key(&id),
            title: story.title,
            text: parts.join("\n\n"),
            // Theirs begin at 1 and have no end.
            priority: story.priority.map(|n| u8::try_from(n).unwrap_or(4).min(4)),
            labels: story.labels,
            deps: story.depends_on.iter().map(|id| key(id)).collect(),
            is_done: story.passes,
            ..Item::default()
        }
    };
    let items = document.user_stories.into_iter().filter(|story| !story.id.is_null()).map(item);
    Ok(items.filter(|item| !item.title.trim().is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stories_are_tasks() {
        let text = r#"{"name":"Shop","branchName":"x","userStories":[
            {"id":"US-001","title":"Log in","description":"As a user","acceptanceCriteria":["Works","Tests pass"],"priority":1,"passes":false,"notes":"n"},
            {"id":2,"title":"Log out","priority":9,"passes":true,"dependsOn":["US-001"]},
            {"title":"without an id"}]}"#;
        let items = read("prd.json", text).unwrap();
        assert_eq!(items.len(), 2);
        assert_eq!((items[0].key.as_str(), items[0].priority), ("prd.json#US-001", Some(1)));
        assert_eq!(items[0].text, "As a user\n\nAccepted when:\n\n- Works\n- Tests pass\n\nn");
        assert_eq!((items[1].key.as_str(), items[1].is_done, items[1].priority), ("prd.json#2", true, Some(4)));
        assert_eq!(items[1].deps, ["prd.json#US-001"]);
        for bad in ["", "[]", "{\"userStories\": 1}", &"[".repeat(100_000)] {
            assert!(read("p", bad).is_err());
        }
    }
}
