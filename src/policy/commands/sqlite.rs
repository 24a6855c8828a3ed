//! What sqlite3 is told on its command line: one statement or one command of the shell's own that looks and no more.

/// Commands of the shell that only show.
const COMMANDS: [&str; 6] = [".tables", ".schema", ".fullschema", ".indexes", ".indices", ".databases"];
/// Pragmas that only show, each without a value.
const PRAGMAS: [&str; 7] =
    ["table_info", "table_xinfo", "table_list", "index_list", "index_info", "foreign_key_list", "user_version"];
/// Functions of the shell that reach files or programs.
const REACHING: [&str; 8] =
    ["writefile", "readfile", "load_extension", "edit", "fsdir", "zipfile", "fts3_tokenizer", "attach"];

/// Why a text is not proven harmless; `Ok` for one that is.
pub fn check(text: &str) -> Result<(), String> {
    let text = text.trim().trim_end_matches(';').to_ascii_lowercase();
    let plain = |text: &str| text.chars().all(|char| char.is_ascii_alphanumeric() || "_%.' ".contains(char));
    if text.starts_with('.') {
        let name = text.split(' ').next().unwrap_or("");
        let shows = COMMANDS.contains(&name) && plain(&text);
        return if shows { Ok(()) } else { Err(format!("{name} of sqlite3 may change something")) };
    }
    if text.contains(';') {
        return Err("several sqlite3 statements".to_owned());
    }
    let mut words = text.split(|char: char| !char.is_alphanumeric() && char != '_');
    if let Some(word) = words.find(|word| REACHING.contains(word)) {
        return Err(format!("{word} of sqlite3 may reach other files"));
    }
    let rest = text.strip_prefix("explain query plan ").unwrap_or(&text);
    let selects =
        rest.strip_prefix("select").is_some_and(|rest| rest.starts_with(|char: char| !char.is_alphanumeric()));
    let pragma = rest.strip_prefix("pragma ").map(|rest| rest.trim_end_matches(')'));
    let shows = pragma.is_some_and(|pragma| {
        let (name, table) = pragma.split_once('(').unwrap_or((pragma, ""));
        // With a value `user_version(3)` is set.
        PRAGMAS.contains(&name) && plain(table) && (name != "user_version" || table.is_empty())
    });
    if selects || shows { Ok(()) } else { Err("the statement of sqlite3 may change data".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_is_proven() {
        for text in [
            ".tables", ".schema users", "SELECT * FROM t;", "select count(*) from t where a like '%x%'",
            "select * from attachments", "select edited_at, zipfile_name from edits",
            "select \"edited\" from [attach_x]", "PRAGMA table_info(t)", "pragma user_version",
            "EXPLAIN QUERY PLAN SELECT 1",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn what_changes_or_reaches_out_is_not() {
        for text in [
            "", ".shell id", ".system id", ".output x", ".once x", ".read x", ".load x", ".import a b",
            ".schema\n.shell id", ".tables | id", "select writefile('x', 'y')", "SELECT ReadFile('x')",
            "select readfile ('x')", "select(edit(a)) from t", "select*from fsdir('x')", "select \"readfile\"('x')",
            "select * from pragma_x, zipfile('a')", "select load_extension('x')", "select 1; drop table t",
            "select 1\n;.shell id", "drop table t", "with a as (select 1) delete from t", "insert into t select 1",
            "pragma user_version(3)", "pragma user_version = 3", "pragma journal_mode", "selectx", "attach 'x' as y",
        ] {
            assert!(check(text).is_err(), "{text}");
        }
    }
}
