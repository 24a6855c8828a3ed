//! Two brackets that bash may read as arithmetic or as one subshell inside of another. The parser decides at once, and
//! between brackets that it takes for arithmetic it knows no here-document: the body, which bash expands, would not be seen.

/// The text with a space between such brackets, where a here-document may stand behind them: it is read that way, too.
/// `None`: there is no doubt.
pub(super) fn apart(text: &str) -> Option<String> {
    let text = text.replace("\\\n", "");
    let mut out = String::with_capacity(text.len() + 8);
    let (mut is_apart, mut before) = (false, ' ');
    for (at, char) in text.char_indices() {
        let rest = &text[at..];
        let is_pair = before == '(' && char == '(';
        if is_pair && !is_arithmetic(&rest[1..]) && rest.contains("<<") && rest.contains('\n') {
            out.push(' ');
            is_apart = true;
        }
        out.push(char);
        before = char;
    }
    is_apart.then_some(out)
}

/// What follows `((` is closed by `))`, with nothing before that could make bash find another end.
fn is_arithmetic(rest: &str) -> bool {
    let mut open = 2_u32;
    let mut chars = rest.chars();
    while let Some(char) = chars.next() {
        match char {
            '(' => open += 1,
            ')' if open == 2 => return chars.next() == Some(')'),
            ')' => open -= 1,
            '\'' | '"' | '\\' | '`' | '#' | '\n' | '{' | '}' => return false,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_a_subshell_with_a_here_document_is_read_so_too() {
        for (text, read) in [
            ("cat <((cat <<ls\n$(x)\nls\n)\n)", "cat <( (cat <<ls\n$(x)\nls\n)\n)"),
            ("((true); cat <<ls\n$(x)\nls\n)", "( (true); cat <<ls\n$(x)\nls\n)"),
            ("(((1)); cat <<ls\n$(x)\nls\n)", "( ((1)); cat <<ls\n$(x)\nls\n)"),
            ("((true '))' ); cat <<ls\n$(x)\nls\n)", "( (true '))' ); cat <<ls\n$(x)\nls\n)"),
            ("(\\\n(true); cat <<ls\n$(x)\nls\n)", "( (true); cat <<ls\n$(x)\nls\n)"),
        ] {
            assert_eq!(apart(text).as_deref(), Some(read), "{text}");
        }
    }

    #[test]
    fn arithmetic_is_left_alone_and_so_is_what_has_no_here_document() {
        for text in [
            "((n++))\ncat <<E\nx\nE\n",
            "for ((i=0; i<3; i++)); do cat <<E\nx\nE\ndone",
            "echo $((1+2)) <<E\nE\n",
            "((x<<(2+1)))\nls",
            "cat <((true); ls)\n",
        ] {
            assert_eq!(apart(text), None, "{text}");
        }
    }
}
