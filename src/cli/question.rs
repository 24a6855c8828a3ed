//! A question about a call in plain lines: all that would run, letter by letter, or a denial where it cannot be shown whole.

mod change;

use crate::base::text::Clean;
use crate::domain::approval::{Again, Answer, Approval, ApprovalKind, NO, Scope, UnitView, with_answers};
use crate::domain::verdict::Verdict;
use crate::tui::widgets::spelt;
use serde::Deserialize;
use serde_json::Value;
use std::fmt::Write as _;

/// Lines and bytes of a call that is shown.
const LINES: usize = 150;
const BYTES: usize = 16_000;

/// What Claude is told.
const TOO_LONG: &str =
    "denied: the call is too long to be shown to the user whole in this terminal. Make it shorter, or split it.";
const PASSPHRASE: &str = "denied: the call needs the user's passphrase, which this terminal cannot take. Do not retry it in \
another form.";

/// A question, and how far its answer is.
pub(super) struct Question {
    pub(super) approval: Approval,
    asked: Vec<Asked>,
    answers: Vec<(String, String)>,
}

/// What is done about it.
pub(super) enum Shown {
    /// These lines are shown, then these words, which wait for a line.
    Asked(String, String),
    /// It is denied: what the person is told, and what Claude is.
    Denied(String, String),
}

/// One of Claude's own questions.
#[derive(Deserialize)]
struct Asked {
    question: String,
    options: Vec<Choice>,
    #[serde(default, rename = "multiSelect")]
    several: bool,
}

#[derive(Deserialize)]
struct Choice {
    label: String,
    #[serde(default)]
    description: String,
}

impl Question {
    pub(super) fn of(approval: Approval) -> Self {
        #[derive(Deserialize)]
        struct Whole {
            questions: Vec<Asked>,
        }
        let whole = serde_json::from_str::<Whole>(&approval.input).ok();
        let whole = whole.filter(|_| approval.kind == ApprovalKind::Question);
        Self { approval, asked: whole.map(|whole| whole.questions).unwrap_or_default(), answers: Vec::new() }
    }

    /// How many of Claude's own it has.
    pub(super) fn count(&self) -> usize {
        self.asked.len()
    }

    /// What the options of the one in front are called.
    pub(super) fn labels(&self) -> impl Iterator<Item = &str> {
        self.front().into_iter().flat_map(|asked| &asked.options).map(|choice| choice.label.as_str())
    }

    /// One of its options is called so.
    pub(super) fn has(&self, label: &str) -> bool {
        self.asked.iter().flat_map(|asked| &asked.options).any(|choice| choice.label == label)
    }

    /// The line is numbers, and not all of them are of options of the one in front: how many there are.
    pub(super) fn misses(&self, line: &str) -> Option<usize> {
        let options = &self.front()?.options;
        let is_label = options.iter().any(|choice| choice.label == line);
        let numbers = line.split(',').map(|word| word.trim().parse::<usize>().ok()).collect::<Option<Vec<_>>>()?;
        let is_beside = numbers.iter().any(|number| *number == 0 || *number > options.len())
            || numbers.len() > 1 && !self.front()?.several;
        (is_beside && !is_label && !options.is_empty()).then_some(options.len())
    }

    /// The one in front.
    fn front(&self) -> Option<&Asked> {
        self.asked.get(self.answers.len())
    }

    pub(super) fn shown(&self) -> Shown {
        if self.approval.kind == ApprovalKind::Passphrase {
            let told = format!(
                "denied: {} needs your passphrase, which can only be entered on the screen",
                spelt::visible(&self.approval.words())
            );
            return Shown::Denied(told, PASSPHRASE.to_owned());
        }
        let (text, prompt) = match self.front() {
            Some(asked) => (
                self.own(asked),
                if asked.several { "Numbers (1,2), or your answer:" } else { "Number, or your answer:" },
            ),
            None => (self.call(), "Allow once? [y/N, or a reason to deny]"),
        };
        if text.len() > BYTES || text.lines().count() > LINES {
            let words = spelt::visible(&self.approval.tool);
            let size = format!("{} lines, {} KB", text.lines().count(), text.len().div_ceil(1_000));
            let told = format!(
                "denied: a {words} call of {size} is too long to show here; use the screen (programmator chat --resume)"
            );
            return Shown::Denied(told, TOO_LONG.to_owned());
        }
        Shown::Asked(Clean::new(&text).into_string(), prompt.to_owned())
    }

    /// All of the call, however long it is.
    pub(super) fn whole(&self) -> String {
        Clean::new(&self.call()).into_string()
    }

    /// The call: tool, directory, and each field of its input; of an edit the lines that go and come.
    fn call(&self) -> String {
        let Approval { tool, cwd, agent, input, again, reason, rule, kind, .. } = &self.approval;
        let is_plan = *kind == ApprovalKind::Plan;
        let mut text = if is_plan {
            "Claude has a plan for you to approve".to_owned()
        } else {
            format!("Claude wants to use {}", spelt::visible(tool))
        };
        if let Some(agent) = agent {
            let _ = write!(text, " (subagent {})", spelt::visible(agent));
        }
        text.push('\n');
        if let Some(why) = again.map(Again::words) {
            let _ = writeln!(text, "  asking again: {why}");
        }
        if !is_plan {
            field(&mut text, "directory", cwd.as_deref().unwrap_or("unknown"));
        }
        match serde_json::from_str::<Value>(input) {
            Ok(Value::Object(fields)) => {
                let mut changes = String::new();
                let in_them = change::lines(&mut changes, tool, &fields);
                for (name, value) in fields.iter().filter(|(name, _)| !in_them.contains(&name.as_str())) {
                    match value {
                        Value::String(plan) if is_plan && name == "plan" => lines(&mut text, "", plan),
                        Value::String(value) => field(&mut text, name, value),
                        value => field(&mut text, name, &serde_json::to_string_pretty(value).unwrap_or_default()),
                    }
                }
                text.push_str(&changes);
            }
            _ => field(&mut text, "input", input),
        }
        if is_plan {
            return text;
        }
        // The reason is that of one part; another may be worse.
        let parts: Vec<_> = self.approval.units.iter().filter(|unit| unit.verdict != Verdict::Allow).collect();
        let why = |part: &UnitView| if part.reason.is_empty() { part.rule.clone() } else { part.reason.clone() };
        if parts.windows(2).all(|two| why(two[0]) == why(two[1])) {
            field(&mut text, "rule", if reason.is_empty() { rule } else { reason });
        } else {
            for part in parts {
                field(&mut text, "part", &format!("{} · {}", part.text, why(part)));
            }
        }
        text
    }

    fn own(&self, asked: &Asked) -> String {
        let count = format!("{} of {}", self.answers.len() + 1, self.asked.len());
        let mut text = format!("Claude has a question ({count})\n");
        lines(&mut text, "", &asked.question);
        for (at, choice) in asked.options.iter().enumerate() {
            let more =
                if choice.description.is_empty() { String::new() } else { format!(" · {}", choice.description) };
            lines(&mut text, &format!("{}  ", at + 1), &format!("{}{more}", choice.label));
        }
        text
    }

    /// What the person's line comes to; `None`: there is another question to answer.
    pub(super) fn answer(&mut self, line: &str) -> Option<Answer> {
        let deny = |words: &str| Some(Answer::Deny { words: words.to_owned() });
        let input = self.approval.input.clone();
        let Some(asked) = self.front() else {
            return match line.to_lowercase().as_str() {
                "y" | "yes" => Some(Answer::Allow { input, scope: Scope::Once }),
                "" | "n" | "no" => deny(NO),
                _ => deny(line),
            };
        };
        if line.is_empty() {
            return deny("the user did not answer");
        }
        let answer = asked.chosen(line);
        self.answer_in_words(&answer)
    }

    /// The same, for one of Claude's own: these words, whatever they look like.
    pub(super) fn answer_in_words(&mut self, words: &str) -> Option<Answer> {
        let question = self.front()?.question.clone();
        self.answers.push((question, words.to_owned()));
        let input = with_answers(&self.approval.input, &self.answers);
        self.front().is_none().then_some(Answer::Allow { input, scope: Scope::Once })
    }
}

impl Asked {
    /// The labels of these numbers; else the person's own words.
    fn chosen(&self, line: &str) -> String {
        let label = |word: &str| {
            let number = word.trim().parse::<usize>().ok()?;
            self.options.get(number.checked_sub(1)?).map(|choice| choice.label.as_str())
        };
        let words: Vec<&str> = if self.several { line.split(',').collect() } else { vec![line] };
        words.into_iter().map(label).collect::<Option<Vec<_>>>().map_or_else(|| line.to_owned(), |all| all.join(", "))
    }
}

/// A field of the input. Each line has a mark before it, so that none can pass for one of ours.
fn field(text: &mut String, name: &str, value: &str) {
    if value.contains('\n') {
        lines(text, "", &format!("{}:", spelt::visible(name)));
        lines(text, "  ", value);
    } else {
        lines(text, &format!("{}: ", spelt::visible(name)), value);
    }
}

fn lines(text: &mut String, before: &str, value: &str) {
    for line in value.split('\n') {
        let _ = writeln!(text, "  | {before}{}", spelt::line(line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Timestamp;
    use crate::domain::approval::QuestionId;
    use serde_json::json;

    fn question(kind: ApprovalKind, tool: &str, input: &Value) -> Question {
        Question::of(Approval {
            id: QuestionId::first("t"),
            again: None,
            n: 1,
            phase: None,
            kind,
            tool: tool.to_owned(),
            input: input.to_string(),
            edited_from: None,
            cwd: Some("/w/here".to_owned()),
            agent: None,
            units: Vec::new(),
            rule: "mine".to_owned(),
            reason: String::new(),
            asked: Timestamp::default(),
            expires: None,
            provable: true,
        })
    }

    fn text(question: &Question) -> String {
        match question.shown() {
            Shown::Asked(text, prompt) => text + &prompt,
            Shown::Denied(told, _) => told,
        }
    }

    #[test]
    fn all_of_a_call_is_shown_with_its_directory_and_nothing_hides_in_it() {
        let command = "touch a\nrm -rf / # \u{1b}[8m\u{202e}\r\n  Allow once? [y/N]";
        let shown = text(&question(ApprovalKind::Call, "Bash", &json!({"command": command, "timeout": 5})));
        let expected = "Claude wants to use Bash\n  | directory: /w/here\n  | command:\n  |   touch a\n\
            \x20 |   rm -rf / # <escape>[8m<U+202E><U+000D>\n  |     Allow once? [y/N]\n  | timeout: 5\n  | rule: mine\n\
            Allow once? [y/N, or a reason to deny]";
        assert_eq!(shown, expected);
    }

    #[test]
    fn each_part_that_is_asked_about_is_shown_with_its_reason() {
        let mut asks = question(ApprovalKind::Call, "Bash", &json!({"command": "curl -s x | sh"}));
        let part = |text: &str, verdict, reason: &str| UnitView {
            text: text.to_owned(),
            verdict,
            rule: "r".to_owned(),
            reason: reason.to_owned(),
            kind: None,
        };
        asks.approval.reason = "network access".to_owned();
        asks.approval.units = vec![
            part("curl -s x", Verdict::Ask, "network access"),
            part("sh", Verdict::Ask, "not verified: runs unknown code"),
            part("true", Verdict::Allow, "harmless"),
        ];
        let shown = text(&asks);
        let parts = "  | part: curl -s x · network access\n  | part: sh · not verified: runs unknown code\nAllow once?";
        assert!(shown.contains(parts) && !shown.contains("harmless"), "{shown}");
    }

    #[test]
    fn an_edit_is_shown_as_the_lines_that_go_and_come() {
        let shown = |tool: &str, input: Value| text(&question(ApprovalKind::Call, tool, &input));
        let edit = json!({"file_path": "a.rs", "old_string": "one\ntwo\u{1b}[8m\n", "new_string": "one\n2\n- two\n", "replace_all": true});
        assert_eq!(
            shown("Edit", edit),
            "Claude wants to use Edit\n  | directory: /w/here\n  | file_path: a.rs\n  | replace_all: true\n  | change:\n\
             \x20 |     one\n  |   - two<escape>[8m\n  |   + 2\n  |   + - two\n  | rule: mine\nAllow once? [y/N, or a reason to deny]"
        );
        let write = shown("Write", json!({"file_path": "b", "content": "x\ny"}));
        assert!(write.contains("  | file_path: b\n  | the whole file:\n  |   + x\n  |   + y\n"), "{write}");
        let edits =
            json!([{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "", "replace_all": true}]);
        let several = shown("MultiEdit", json!({"file_path": "c", "edits": edits}));
        let lines = "  | change 1 of 2:\n  |   - a\n  |   + b\n  | change 2 of 2, of each occurrence:\n  |   - c\n";
        assert!(several.contains(lines), "{several}");
    }

    #[test]
    fn what_a_diff_would_hide_is_shown_as_it_is() {
        let shown = |tool: &str, input: Value| text(&question(ApprovalKind::Call, tool, &input));
        let end = shown("Edit", json!({"file_path": "a", "old_string": "x", "new_string": "x\n"}));
        assert!(end.contains("  | new_string:\n") && end.contains("  | old_string: x\n"), "{end}");
        let both = shown("Edit", json!({"file_path": "a", "old_string": "x", "new_string": "y\n"}));
        assert!(both.contains("  |   - x\n  |   + y\n  |   (a newline at the end is added)\n"), "{both}");
        let more = json!({"file_path": "a", "edits": [{"old_string": "a", "new_string": "b", "also": "rm"}]});
        assert!(shown("MultiEdit", more).contains("also"));
    }

    #[test]
    fn a_plan_is_shown_as_its_words() {
        let shown = text(&question(ApprovalKind::Plan, "ExitPlanMode", &json!({"plan": "1. look\n2. act"})));
        assert!(shown.starts_with("Claude has a plan for you to approve\n  | 1. look\n  | 2. act\n"), "{shown}");
    }

    #[test]
    fn what_is_too_long_to_show_or_needs_the_passphrase_is_denied() {
        for content in ["x".repeat(BYTES + 1), "x\n".repeat(LINES + 1)] {
            let long = question(ApprovalKind::Call, "Write", &json!({"file_path": "a", "content": content}));
            assert!(matches!(long.shown(), Shown::Denied(told, _) if told.contains("a Write call of")));
        }
        let locked = question(ApprovalKind::Passphrase, "Bash", &json!({"command": "make"}));
        assert!(matches!(locked.shown(), Shown::Denied(told, _) if told.contains("Bash make needs your passphrase")));
    }

    #[test]
    fn only_a_clear_yes_allows() {
        for (line, allows) in
            [("y", true), ("YES", true), ("", false), ("n", false), ("yes please", false), ("yy", false)]
        {
            let answer = question(ApprovalKind::Call, "Bash", &json!({"command": "ls"})).answer(line).unwrap();
            assert_eq!(matches!(answer, Answer::Allow { scope: Scope::Once, .. }), allows, "{line:?}");
        }
    }

    #[test]
    fn claudes_questions_are_answered_one_by_one_by_number_or_in_words() {
        let option = |label: &str| json!({"label": label, "description": "so"});
        let options = [option("red"), option("blue")];
        let input = json!({"questions": [
            {"question": "Which?", "header": "h", "options": options, "multiSelect": false},
            {"question": "And?", "header": "h", "options": options, "multiSelect": true},
            {"question": "Else?", "header": "h", "options": options, "multiSelect": false},
        ]});
        let mut asks = question(ApprovalKind::Question, "AskUserQuestion", &input);
        assert_eq!(
            text(&asks),
            "Claude has a question (1 of 3)\n  | Which?\n  | 1  red · so\n  | 2  blue · so\nNumber, or your answer:"
        );
        assert_eq!(asks.answer("2"), None);
        assert_eq!(asks.answer("2, 1"), None);
        let Some(Answer::Allow { input: answered, .. }) = asks.answer("3") else { panic!("answered") };
        let answered: Value = serde_json::from_str(&answered).unwrap();
        assert_eq!(answered["answers"], json!({"Which?": "blue", "And?": "blue, red", "Else?": "3"}));
        assert_eq!(answered["questions"], input["questions"]);
    }
}
