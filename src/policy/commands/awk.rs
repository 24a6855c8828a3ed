//! A reader of awk programs: proves that a program computes and prints, and neither runs, reads nor writes
//! anything of its own. What is ambiguous is not proven.

/// Words that read the environment, other files, or run programs; refused wherever they stand.
const POWERS: [&str; 12] = [
    "system", "getline", "ENVIRON", "ARGV", "ARGC", "ARGIND", "PROCINFO", "SYMTAB", "FUNCTAB", "close", "fflush",
    "extension",
];

/// Keywords after which a slash begins a regex.
const BEFORE_REGEX: [&str; 9] = ["print", "printf", "return", "in", "else", "do", "case", "exit", "delete"];

/// Why a program is not proven harmless; `Ok` for one that is.
pub fn check(program: &str) -> Result<(), String> {
    if let Some(word) = words(program).find(|word| POWERS.contains(word)) {
        return Err(format!("{word} in awk may read, write or run something else"));
    }
    if program.contains('@') {
        return Err("@ in awk loads or calls code outside the command".to_owned());
    }
    scan(program)
}

fn words(program: &str) -> impl Iterator<Item = &str> {
    program.split(|char: char| !char.is_ascii_alphanumeric() && char != '_').filter(|word| !word.is_empty())
}

/// What stood last, which decides what a slash means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Start,
    Operand,
    Operator,
    /// `)`: an operand or the end of a condition.
    Close,
    /// `++` or `--`: before an operand or behind it.
    Step,
}

fn scan(program: &str) -> Result<(), String> {
    let chars: Vec<char> = program.chars().collect();
    let (mut braces, mut parens) = (0_usize, 0_usize);
    let mut last = Last::Start;
    let mut at = 0;
    while let Some(&char) = chars.get(at) {
        let next = chars.get(at + 1).copied();
        match char {
            ' ' | '\t' => {}
            '\n' | ';' | ',' => last = Last::Start,
            '#' => {
                while chars.get(at + 1).is_some_and(|char| *char != '\n') {
                    at += 1;
                }
            }
            '"' => {
                at = end_of(&chars, at, '"')?;
                last = Last::Operand;
            }
            '/' => match last {
                Last::Start | Last::Operator => {
                    let end = end_of(&chars, at, '/')?;
                    if chars[at..end].contains(&'"') {
                        return Err("cannot tell where a regex of the awk program ends: a quote is in it".to_owned());
                    }
                    at = end;
                    last = Last::Operand;
                }
                Last::Operand => last = Last::Operator,
                Last::Close | Last::Step => {
                    return Err("cannot tell whether a slash in the awk program divides or begins a regex".to_owned());
                }
            },
            '|' if next == Some('|') => {
                at += 1;
                last = Last::Operator;
            }
            '|' => return Err("a pipe in awk runs a program".to_owned()),
            '>' if braces > 0 && parens == 0 => return Err("> in awk may write a file".to_owned()),
            '<' if next == Some('(') => return Err("< in awk may read a file".to_owned()),
            '{' | '}' => {
                braces = if char == '{' { braces + 1 } else { braces.saturating_sub(1) };
                last = Last::Start;
            }
            '(' | '[' => {
                parens += usize::from(char == '(');
                last = Last::Operator;
            }
            ')' => {
                parens = parens.saturating_sub(1);
                last = Last::Close;
            }
            ']' => last = Last::Operand,
            '+' | '-' if next == Some(char) => {
                at += 1;
                last = Last::Step;
            }
            '!' | '~' | '=' | '<' | '>' | '+' | '-' | '*' | '%' | '^' | '?' | ':' | '&' | '$' => last = Last::Operator,
            '.' | '_' | '0'..='9' | 'a'..='z' | 'A'..='Z' => {
                let mut word = String::from(char);
                while let Some(more) = chars.get(at + 1).filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))
                {
                    word.push(*more);
                    at += 1;
                }
                last = if BEFORE_REGEX.contains(&word.as_str()) { Last::Operator } else { Last::Operand };
            }
            other => return Err(format!("cannot tell what {other} does in the awk program")),
        }
        at += 1;
    }
    Ok(())
}

/// Where the string or regex that begins at `from` ends.
fn end_of(chars: &[char], from: usize, delimiter: char) -> Result<usize, String> {
    let mut at = from + 1;
    while let Some(&char) = chars.get(at) {
        match char {
            '\\' => at += 1,
            '\n' => break,
            _ if char == delimiter => return Ok(at),
            // Awks disagree about a slash in a set.
            '[' if delimiter == '/' => {
                let set = chars[at..].iter().position(|char| *char == ']').unwrap_or(0);
                if chars[at..at + set].contains(&'/') {
                    return Err(
                        "cannot tell where a regex of the awk program ends: a slash is in its brackets".to_owned()
                    );
                }
            }
            _ => {}
        }
        at += 1;
    }
    Err("a string or regex of the awk program has no end".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_only_compute_are_proven() {
        for program in [
            "{print $1}", "{print $1, $3}", "/foo/{print}", "NR>1 # without the heading\n/a|b/", "$3 > 100 {print $1}",
            "NR==1,NR==5", "{s+=$1} END{print s/NR}", "BEGIN{FS=\":\"} {printf \"%s\\n\", $1}",
            "{a[$1]++} END{for(k in a) print k, a[k]}", "{if ($1 > 5) print $2}", "/a|b/ && !/c/ || $1 ~ /x/",
            "{gsub(/ /,\"\"); print length($0)}",
        ] {
            assert_eq!(check(program), Ok(()), "{program}");
        }
    }

    #[test]
    fn files_programs_and_the_environment_are_not() {
        for program in [
            "{print > \"out\"}", "{print >> \"out\"}", "{print | \"sh\"}", "BEGIN{system(\"rm\")}",
            "BEGIN{\"date\" | getline}", "BEGIN{while((getline l<\"f\")>0)print l}", "BEGIN{print ENVIRON[\"KEY\"]}",
            "BEGIN{ARGV[1]=\"x\";ARGC=2}", "@load \"x\"", "{print(1) > \"f\"}",
            "{a++ / 1; print \"x\" > \"f\"; 1 / 2}", "{if (1) /\"/ ; print > \"out\" ; print \"}",
            "{print /\"/ > \"out\" ; print \"}", "{print \"x\" |& \"sh\"}", "{print \"unterminated}",
        ] {
            assert!(check(program).is_err(), "{program}");
        }
    }
}
