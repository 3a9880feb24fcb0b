//! Shows invisible characters and quotes names.

use std::borrow::Cow;

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Whether a character would move the cursor, end the line, change the direction of writing or leave no trace: controls
/// (C0, C1, DEL), line and paragraph separators, and format characters.
pub fn is_hidden(c: char) -> bool {
    use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator};
    // Skips the table lookup for plain text.
    !matches!(c, ' '..='~') && matches!(c.general_category(), Control | Format | LineSeparator | ParagraphSeparator)
}

/// The text with hidden characters written out: `\n`, `\u{1b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_hidden(c) {
            true if matches!(c, '\n' | '\r' | '\t') => shown.extend(c.escape_default()),
            true => shown.extend(c.escape_unicode()),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// A name as a `CommonMark` code span: the fence is longer than any run of backticks in the name, with blanks inside if
/// the name begins or ends with one. [`quoted_part`] extracts it again.
pub fn quoted(name: &str) -> String {
    let longest = name.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let needs_blank = name.starts_with('`') || name.ends_with('`') || (name.starts_with(' ') && name.ends_with(' '));
    let blank = if needs_blank && !name.trim().is_empty() { " " } else { "" };
    format!("{fence}{blank}{name}{blank}{fence}")
}

/// A basic string of TOML.
pub fn toml_string(text: &str) -> String {
    let mut string = String::with_capacity(text.len() + 2);
    string.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => string.extend(['\\', c]),
            '\n' | '\t' | '\r' => string.extend(c.escape_default()),
            c if c.is_control() => string.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => string.push(c),
        }
    }
    string.push('"');
    string
}

/// The first quotation in `text`: the text before it, its content, the text after it.
pub fn quoted_part(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(at) = text[from..].find('`').map(|at| from + at) {
        let run = text[at..].bytes().take_while(|byte| *byte == b'`').count();
        let inner = at + run;
        if let Some(end) = closing(&text[inner..], run) {
            let name = &text[inner..inner + end];
            return Some((&text[..at], without_blanks(name), &text[inner + end + run..]));
        }
        from = inner;
    }
    None
}

/// The position of the next run of exactly `run` backticks.
fn closing(text: &str, run: usize) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].find('`').map(|at| from + at) {
        let found = text[at..].bytes().take_while(|byte| *byte == b'`').count();
        if found == run {
            return Some(at);
        }
        from = at + found;
    }
    None
}

fn without_blanks(name: &str) -> &str {
    let inner = name.strip_prefix(' ').and_then(|name| name.strip_suffix(' '));
    inner.filter(|inner| !inner.trim().is_empty()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::{quoted, quoted_part, visible};

    #[test]
    fn nothing_moves_the_cursor_or_turns_the_line() {
        assert_eq!(visible("a\u{1b}]0;x\u{7}"), "a\\u{1b}]0;x\\u{7}");
        assert_eq!(visible("\u{9b}1m\u{202e}b\u{2069}\0"), "\\u{9b}1m\\u{202e}b\\u{2069}\\u{0}");
        assert_eq!(visible("two\nlines\r\tend\u{2028}"), "two\\nlines\\r\\tend\\u{2028}");
        assert_eq!(visible("Ünï 👩\u{200d}💻 العربية"), "Ünï 👩\\u{200d}💻 العربية");
    }

    #[test]
    fn quoted_text_can_be_unquoted() {
        for name in ["Read", "a`b", "`", "``x", "x```", " a ", " ", "a``b`c", "` `"] {
            let text = format!("tool {}, field `x`", quoted(name));
            assert_eq!(quoted_part(&text), Some(("tool ", name, ", field `x`")), "{text}");
        }
        assert_eq!(quoted("Read"), "`Read`");
        assert_eq!(quoted("a`b"), "``a`b``");
        assert_eq!(quoted_part("a ` b"), None);
    }
}
