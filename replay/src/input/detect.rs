//! The format of a file, by content only.

use std::borrow::Cow;
use std::collections::BTreeSet;

use forkcast_sim::outside::found;

use super::foreign;
use crate::error::Fault;
use crate::formats::text::{Text, fills_line, has_whole_line, is_list, is_whole_line};
use crate::formats::{Format, Object, json};

/// The maximum number of lines that are tried as records.
const LINES_TRIED: usize = 100;

/// The maximum number of beginnings of lines that may be top-level keys of YAML.
const YAML_KEYS_MAX: usize = 1_000;

/// The maximum number of keys of an unknown document in a message.
const KEYS_SHOWN: usize = 5;

/// The kind of a file.
pub(super) enum Verdict {
    /// A recording.
    Is(Format),
    /// Something else.
    Skip(String),
    /// Damaged before it can be recognised.
    Broken(Fault),
}

/// Why a file without content is not a recording.
pub(super) const NOTHING: [&str; 2] = ["empty file", "nothing but white space at its beginning"];

const MARKUP: &str = "HTML or XML";
const BINARY: &str = "binary data";

/// Why a file that begins with `head` is not a recording; `None` if it may be one.
pub(super) fn no_recording(head: &[u8]) -> Option<String> {
    let text = head.trim_ascii_start();
    if let Some(reason) = foreign::by_head(head) {
        return Some(reason.to_owned());
    }
    let reason = match text.first() {
        None if head.is_empty() => NOTHING[0],
        None => NOTHING[1],
        Some(b'<') => MARKUP,
        _ if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") => "UTF-16 text, only UTF-8 is read",
        _ if memchr::memchr(0, head).is_some() => BINARY,
        _ => return None,
    };
    // A log whose first line is damaged is still one.
    let is_log = !text.is_empty() && has_whole_line(head);
    (!is_log).then(|| reason.to_owned())
}

/// Detects the format of a whole file.
pub(super) fn detect(bytes: &[u8]) -> Verdict {
    let start = json::skip_space(bytes, 0);
    match bytes.get(start) {
        Some(b'{') => object(bytes, start),
        Some(b'[') => list(bytes, start),
        _ => {
            let text = Text::new(bytes);
            yaml(&text).or_else(|| lines(&text)).unwrap_or_else(|| Verdict::Skip(plain(&text).to_owned()))
        }
    }
}

fn object(bytes: &[u8], start: usize) -> Verdict {
    let document = Object::document(bytes, start);
    let is_line = match document.end {
        Ok(end) => fills_line(bytes, start, end),
        Err(_) => is_whole_line(bytes, start),
    };
    if !is_line
        && has_whole_line(bytes)
        && let Some(verdict) = lines(&Text::new(bytes))
    {
        return verdict;
    }
    if let Some(format) = Format::of(&document) {
        return Verdict::Is(format);
    }
    let text = Text::new(bytes);
    if let Some(verdict) = lines(&text) {
        return verdict;
    }
    let wrapped = || foreign::by_data_keys(&document.first_under("data")?.keys);
    match (foreign::by_keys(&document.keys).or_else(wrapped), &document.end) {
        (Some(reason), _) => Verdict::Skip(reason.to_owned()),
        (None, Err(broken)) => Verdict::Broken(text.fault(broken.at, broken.what.clone())),
        (None, Ok(_)) => Verdict::Skip(other_keys(&document.keys)),
    }
}

/// A list of records, recognised by its first element.
fn list(bytes: &[u8], start: usize) -> Verdict {
    if !is_list(bytes)
        && let Some(verdict) = lines(&Text::new(bytes))
    {
        return verdict;
    }
    let first = Object::record(bytes, json::skip_space(bytes, start + 1));
    let format = Format::of(&first).filter(|format| format.reads_lists());
    match (format, foreign::by_keys(&first.keys), json::walk_value(bytes, start)) {
        (Some(format), _, _) => Verdict::Is(format),
        (None, Some(reason), _) => Verdict::Skip(reason.to_owned()),
        (None, None, Ok(_)) => Verdict::Skip("a JSON list, no recording".to_owned()),
        (None, None, Err(broken)) => Verdict::Broken(Text::new(bytes).fault(broken.at, broken.what)),
    }
}

/// A log whose first lines are damaged is recognised by a later one.
fn lines(text: &Text<'_>) -> Option<Verdict> {
    let begun = || text.lines().map(|(_, _, line)| line).filter(|line| line.starts_with(b"{")).take(LINES_TRIED);
    let format_of = |line: &[u8]| Format::of(&Object::record(line, 0));
    let whole = begun().filter(|line| is_whole_line(line, 0)).find_map(format_of);
    whole.or_else(|| begun().find_map(format_of)).map(Verdict::Is)
}

fn other_keys(keys: &[Cow<'_, str>]) -> String {
    let shown = keys.iter().take(KEYS_SHOWN).map(|key| found(key)).collect::<Vec<_>>();
    let more = if keys.len() > KEYS_SHOWN { ", …" } else { "" };
    format!("JSON of another kind (keys {}{more})", shown.join(", "))
}

fn yaml(text: &Text<'_>) -> Option<Verdict> {
    let mut keys = BTreeSet::new();
    for (_, _, line) in text.lines() {
        if let Some(reason) = foreign::by_yaml_line(line) {
            return Some(Verdict::Skip(reason.to_owned()));
        }
        let key = memchr::memchr(b':', line).and_then(|end| std::str::from_utf8(line.get(..end)?).ok());
        let Some(key) = key.filter(|key| keys.len() < YAML_KEYS_MAX && keys.insert(*key)) else { continue };
        if let Some(format) = Format::of_yaml(&|key| keys.contains(key)) {
            return Some(Verdict::Is(format));
        }
        if key == "messages" {
            return Some(Verdict::Skip("YAML of a client's own messages, no HTTP exchanges".to_owned()));
        }
    }
    None
}

fn plain(text: &Text<'_>) -> &'static str {
    if text.bytes.trim_ascii_start().starts_with(b"<") {
        return MARKUP;
    }
    if memchr::memchr(0, text.bytes).is_some() {
        return BINARY;
    }
    let commas = |line: &[u8]| line.iter().filter(|byte| **byte == b',').count();
    let mut counts = text.lines().map(|(_, _, line)| commas(line)).take(2);
    match (counts.next(), counts.next()) {
        (Some(first), Some(second)) if first > 1 && first == second => "a table of comma-separated values",
        _ => "text of another kind",
    }
}
