//! What tools do to files, and how every tool's end reads in the stream. Bash itself runs in [`super::shell`].

use super::event::Ended;
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};
use std::fs;
use std::path::{Path, PathBuf};

/// More characters of output than this go to a file instead of to the model.
const OUTPUT_LIMIT: usize = 30_000;
/// What replaces the result of a call that the person rejected or interrupted.
const REJECTED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was \
                        a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for \
                        the user to tell you how to proceed.";

/// Before the plan itself.
const APPROVED: &str = "User has approved your plan. You can now start coding. Start with updating your todo list if \
                        applicable\n\n## Approved Plan:\n";

/// A tool call's end.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub content: String,
    /// `is_error` of the block; `None`: the key is left out, as the real CLI does for files.
    pub is_error: Option<bool>,
    /// The record's `tool_use_result`: an object, or a text on errors.
    pub result: Value,
}

impl Outcome {
    /// An error with the same text for the model and the host.
    pub fn error(text: &str) -> Self {
        Self { content: text.to_owned(), is_error: Some(true), result: json!(format!("Error: {text}")) }
    }

    /// The call was rejected, or the turn interrupted while it ran.
    pub fn rejected() -> Self {
        Self { content: REJECTED.to_owned(), is_error: Some(true), result: json!("User rejected tool use") }
    }

    fn done(content: String, result: Value) -> Self {
        Self { content, is_error: None, result }
    }
}

/// Runs a tool other than Bash. `input` is the call's, perhaps rewritten by the host.
pub fn run(name: &str, input: &Value, cwd: &Path) -> Outcome {
    let text = |key: &str| input[key].as_str().unwrap_or_default();
    let path = cwd.join(text("file_path"));
    match name {
        "Write" => write(&path, text("content")),
        "Edit" => edit(&path, text("old_string"), text("new_string")),
        "Read" => read(&path),
        "AskUserQuestion" => answered(input),
        "ExitPlanMode" => {
            Outcome::done(format!("{APPROVED}{}", text("plan")), json!({"plan": input["plan"], "isAgent": false}))
        }
        _ => Outcome::error(&format!("<tool_use_error>Error: No such tool available: {name}</tool_use_error>")),
    }
}

/// The person's answers: question and what was chosen or written.
pub fn answers(input: &Value) -> Vec<(String, String)> {
    let answers = input["answers"].as_object().into_iter().flatten();
    answers.map(|(question, answer)| (question.clone(), answer.as_str().unwrap_or_default().to_owned())).collect()
}

fn answered(input: &Value) -> Outcome {
    let said: Vec<String> =
        answers(input).iter().map(|(question, answer)| format!("\"{question}\"=\"{answer}\"")).collect();
    let said = said.join(", ");
    let content =
        format!("Your questions have been answered: {said}. You can now continue with these answers in mind.");
    Outcome::done(content, json!({"questions": input["questions"], "answers": input["answers"]}))
}

fn write(path: &Path, content: &str) -> Outcome {
    let before = fs::read_to_string(path).ok();
    if let Err(e) = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, content)) {
        return Outcome::error(&e.to_string());
    }
    let (kind, said) = match before {
        None => ("create", format!("File created successfully at: {}", path.display())),
        Some(_) => ("update", format!("The file {} has been updated successfully.", path.display())),
    };
    let hunks = before.as_deref().map_or_else(|| json!([]), |before| patch(before, content));
    Outcome::done(
        current(&said),
        json!({"type": kind, "filePath": path, "content": content, "structuredPatch": hunks, "originalFile": before,
               "userModified": false}),
    )
}

fn edit(path: &Path, old: &str, new: &str) -> Outcome {
    let Ok(before) = fs::read_to_string(path) else { return Outcome::error("File does not exist.") };
    if !before.contains(old) || old.is_empty() {
        let why = format!("String to replace not found in file.\nString: {old}");
        return Outcome { content: format!("<tool_use_error>{why}</tool_use_error>"), ..Outcome::error(&why) };
    }
    let after = before.replacen(old, new, 1);
    if let Err(e) = fs::write(path, &after) {
        return Outcome::error(&e.to_string());
    }
    Outcome::done(
        current(&format!("The file {} has been updated successfully.", path.display())),
        json!({"filePath": path, "oldString": old, "newString": new, "originalFile": before,
               "structuredPatch": patch(&before, &after), "userModified": false, "replaceAll": false}),
    )
}

fn read(path: &Path) -> Outcome {
    let Ok(content) = fs::read_to_string(path) else { return Outcome::error("File does not exist.") };
    let lines: Vec<&str> = content.split('\n').collect();
    let numbered: Vec<String> = lines.iter().enumerate().map(|(n, line)| format!("{}\t{line}", n + 1)).collect();
    Outcome::done(
        numbered.join("\n"),
        json!({"type": "text", "file": {"filePath": path, "content": content, "numLines": lines.len(), "startLine": 1,
               "totalLines": lines.len()}}),
    )
}

/// How a Bash command's end reads; output over the limit goes to `file`.
pub fn ran(ended: &Ended, file: &Path) -> Outcome {
    let both = [ended.stdout.as_str(), ended.stderr.as_str()];
    let both = both.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
    if ended.code != 0 {
        let text = format!("Exit code {}\n{}", ended.code, both.chars().take(OUTPUT_LIMIT).collect::<String>());
        return Outcome::error(text.trim_end());
    }
    let silent = both.is_empty();
    let mut result = json!({"stdout": ended.stdout, "stderr": ended.stderr, "interrupted": false, "isImage": false,
                            "noOutputExpected": silent});
    let mut content = if silent { "(Bash completed with no output)".to_owned() } else { both };
    if ended.stdout.len() > OUTPUT_LIMIT {
        if let Some(folder) = file.parent() {
            let _ = fs::create_dir_all(folder).and_then(|()| fs::write(file, &ended.stdout));
        }
        let kilobytes = ended.stdout.len() as f64 / 1024.0;
        let preview: String = ended.stdout.chars().take(2_000).collect();
        content = format!(
            "<persisted-output>\nOutput too large ({kilobytes:.1}KB). Full output saved to: {}\n\nPreview (first 2KB):\n\
             {preview}\n...\n</persisted-output>",
            file.display()
        );
        result["stdout"] = json!(ended.stdout.chars().take(OUTPUT_LIMIT).collect::<String>());
        result["persistedOutputPath"] = json!(file);
        result["persistedOutputSize"] = json!(ended.stdout.len());
    }
    Outcome { content, is_error: Some(false), result }
}

/// The path a call touches, relative to `cwd` where it lies inside.
pub fn touched(input: &Value, cwd: &Path) -> Option<PathBuf> {
    let path = Path::new(input["file_path"].as_str()?);
    Some(path.strip_prefix(cwd).unwrap_or(path).to_owned())
}

fn current(said: &str) -> String {
    format!("{said} (file state is current in your context — no need to Read it back)")
}

/// Hunks with three lines of context, as in `structuredPatch`.
fn patch(before: &str, after: &str) -> Value {
    let diff = TextDiff::from_lines(before, after);
    let hunks = diff.grouped_ops(3).into_iter().filter_map(|ops| {
        let (first, last) = (ops.first()?, ops.last()?);
        let (old, new) = (first.old_range().start..last.old_range().end, first.new_range().start..last.new_range().end);
        let lines: Vec<String> = ops
            .iter()
            .flat_map(|op| diff.iter_changes(op))
            .map(|change| {
                let sign = match change.tag() {
                    ChangeTag::Equal => ' ',
                    ChangeTag::Delete => '-',
                    ChangeTag::Insert => '+',
                };
                format!("{sign}{}", change.value().trim_end_matches('\n'))
            })
            .collect();
        Some(json!({"oldStart": old.start + 1, "oldLines": old.len(), "newStart": new.start + 1, "newLines": new.len(),
                    "lines": lines}))
    });
    hunks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_reads_as_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.txt");
        fs::write(&file, "hello\nworld\n").unwrap();
        let outcome =
            run("Edit", &json!({"file_path": file, "old_string": "world", "new_string": "there"}), folder.path());
        assert_eq!(
            outcome.result["structuredPatch"],
            json!([{"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": [" hello", "-world", "+there"]}])
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), "hello\nthere\n");
        let again = run("Edit", &json!({"file_path": file, "old_string": "world", "new_string": "x"}), folder.path());
        assert_eq!(again.is_error, Some(true));
        assert_eq!(run("Read", &json!({"file_path": file}), folder.path()).content, "1\thello\n2\tthere\n3\t");
    }

    #[test]
    fn big_output_goes_to_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deep/out.txt");
        let ended =
            |code, size: usize| Ended { call: String::new(), code, stdout: "x".repeat(size), stderr: String::new() };
        assert_eq!(ran(&ended(0, 30_000), &file).content.len(), 30_000);
        let outcome = ran(&ended(0, 100_000), &file);
        assert!(outcome.content.starts_with("<persisted-output>\nOutput too large (97.7KB)"));
        assert_eq!(outcome.result["persistedOutputSize"], 100_000);
        assert_eq!(fs::read(&file).unwrap().len(), 100_000);
        assert_eq!(ran(&ended(3, 2), &file), Outcome::error("Exit code 3\nxx"));
    }
}
