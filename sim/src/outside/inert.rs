//! Makes text inert for programs that would interpret parts of it.

use std::borrow::Cow;

/// What starts a command of a workflow: the first only at the start of a line, the second, older style anywhere
/// (actions/runner, `ActionCommand.cs`, `TryParseV2` and `TryParse`, 2026-09).
const COMMANDS: [&str; 2] = ["::", "##["];

/// A line that a workflow runner does not take as a command.
pub fn inert_line(line: &str) -> Cow<'_, str> {
    let [begins, anywhere] = COMMANDS;
    let mut line = Cow::Borrowed(line);
    if line.trim_start().starts_with(begins) {
        line = line.replacen(begins, "\\u{3a}:", 1).into();
    }
    if line.contains(anywhere) {
        line = line.replace(anywhere, "#\\u{23}[").into();
    }
    line
}

/// A plain SARIF message without links. `[text](target)` is a link, and a backslash escapes brackets (OASIS, SARIF
/// 2.1.0, 3.11.6). Messages without links keep their brackets, which belong to paths.
pub fn inert_message(text: &str) -> Cow<'_, str> {
    if !text.contains("](") {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if matches!(c, '\\' | '[' | ']') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::{inert_line, inert_message};

    #[test]
    fn no_line_is_a_command() {
        assert_eq!(inert_line("  ::error::x ::y"), "  \\u{3a}:error::x ::y");
        assert_eq!(inert_line("a ##[add-mask]x ##[b]"), "a #\\u{23}[add-mask]x #\\u{23}[b]");
        assert_eq!(inert_line("::###[x]"), "\\u{3a}:##\\u{23}[x]");
        assert_eq!(inert_line("a::b # [x] ## [y]"), "a::b # [x] ## [y]");
    }

    #[test]
    fn no_message_has_a_link() {
        assert_eq!(inert_message("[x](http://a.b)"), "\\[x\\](http://a.b)");
        assert_eq!(inert_message("[x\\](1)"), "\\[x\\\\\\](1)");
        assert_eq!(inert_message("messages[3].content[0] (new)"), "messages[3].content[0] (new)");
    }
}
