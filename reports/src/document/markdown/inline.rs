//! Literal text: quotations are code spans, and nothing is markup. A name can be any text, so it must not become a
//! link, a picture, a tag, a heading or a table.

use forkcast_sim::outside::{quoted, quoted_part, visible};

/// Text within a line.
pub(super) fn text(text: &str) -> String {
    let text = visible(text);
    let (mut out, mut rest) = (String::with_capacity(text.len() + 16), &*text);
    while let Some((before, name, after)) = quoted_part(rest) {
        plain(before, &mut out);
        out.push_str(&quoted(name));
        rest = after;
    }
    plain(rest, &mut out);
    out
}

/// A line of a paragraph: it must not begin anything else.
pub(super) fn line(line: &str) -> String {
    let text = text(line.trim_start());
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if text.starts_with(['#', '>', '+', '-', '=', ':', '[']) {
        return format!("\\{text}");
    }
    match text.get(digits..) {
        Some(rest) if digits > 0 && rest.starts_with(['.', ')']) => format!("{}\\{rest}", &text[..digits]),
        _ => text,
    }
}

/// A cell of a table. In it a bar ends even a code span.
pub(super) fn cell(cell: &str) -> String {
    let text = text(cell);
    let mut out = String::with_capacity(text.len());
    let mut backslashes = 0;
    for c in text.chars() {
        // Two backslashes are one literal backslash, and escape nothing.
        if c == '|' && backslashes % 2 == 0 {
            out.push('\\');
        }
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
        out.push(c);
    }
    out
}

/// A fence that no line closes.
pub(super) fn fence(lines: &[String]) -> String {
    let longest = lines.iter().flat_map(|line| line.split(|c| c != '`')).map(str::len).max().unwrap_or(0);
    "`".repeat((longest + 1).max(3))
}

/// Addresses become code, because markdown makes them links even if they are escaped.
fn plain(text: &str, out: &mut String) {
    for (at, word) in text.split(' ').enumerate() {
        if at > 0 {
            out.push(' ');
        }
        match is_address(word) {
            true => out.push_str(&quoted(word)),
            false => escape(word, out),
        }
    }
}

fn is_address(word: &str) -> bool {
    let mail = word.split_once('@').is_some_and(|(_, host)| host.contains('.'));
    mail || word.contains("://") || word.to_ascii_lowercase().contains("www.")
}

fn escape(word: &str, out: &mut String) {
    let mut before = ' ';
    let mut chars = word.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied().unwrap_or(' ');
        let means = match c {
            '\\' | '`' | '*' | '<' | '|' | '~' => true,
            // Links and pictures: without definitions, which begin lines, there are no other kinds.
            ']' => next == '(',
            // Within words they are harmless.
            '_' => !before.is_alphanumeric(),
            '&' => next.is_ascii_alphanumeric() || next == '#',
            // A dollar sign before a digit means money.
            '$' => !next.is_ascii_digit(),
            _ => false,
        };
        if means {
            out.push('\\');
        }
        out.push(c);
        before = c;
    }
}

#[cfg(test)]
mod tests {
    use super::{cell, fence, line, text};

    #[test]
    fn text_is_neither_a_tag_nor_emphasis() {
        assert_eq!(text("<LOCATION>/a*b*/__init__"), "\\<LOCATION>/a\\*b\\*/\\_\\_init_\\_");
        assert_eq!(text("tool `a<b>__c`, <$0.0001"), "tool `a<b>__c`, \\<$0.0001");
        assert_eq!(text("no_break__point"), "no_break_\\_point");
    }

    #[test]
    fn a_name_stays_in_its_code_span() {
        assert_eq!(text("tool ``a`![x](y)``, b"), "tool ``a`![x](y)``, b");
        assert_eq!(text("a ` b ![x](y)"), "a \\` b ![x\\](y)");
        assert_eq!(text("two\nlines"), "two\\\\nlines");
    }

    #[test]
    fn addresses_are_code() {
        assert_eq!(text("see http://a.b/c, or www.a.b"), "see `http://a.b/c,` or `www.a.b`");
        assert_eq!(text("a@b.org keepalive=2@270"), "`a@b.org` keepalive=2@270");
    }

    #[test]
    fn a_line_begins_nothing() {
        assert_eq!(line("   # a"), "\\# a");
        assert_eq!(line("12. a"), "12\\. a");
        assert_eq!(line("---"), "\\---");
        assert_eq!(line("[x]: y"), "\\[x]: y");
        assert_eq!(line("12 requests"), "12 requests");
    }

    #[test]
    fn a_bar_ends_no_cell() {
        assert_eq!(cell("a|b `c|d`"), "a\\|b `c\\|d`");
        assert_eq!(cell("`a\\\\|b` `c\\|d`"), "`a\\\\\\|b` `c\\|d`");
    }

    #[test]
    fn no_line_closes_a_fence() {
        assert_eq!(fence(&["a".to_owned(), "````".to_owned()]), "`````");
    }
}
