//! The ranges of the spans of a document, as far as it goes: an incomplete export still contains those before its end.

use std::ops::Range;

use crate::error::Fault;
use crate::formats::json::{self, Broken};
use crate::formats::text::{Damaged, Text};

/// The lists from an export down to its spans, each with its name before OTLP 0.15.
const PATH: [&[&str]; 3] = [&["resourceSpans"], &["scopeSpans", "instrumentationLibrarySpans"], &["spans"]];

/// The spans of all exports of a text, and the errors of the rest.
pub(super) fn find(text: &Text<'_>) -> (Vec<Range<usize>>, Vec<Fault>) {
    let mut spans = Vec::new();
    let mut faults = Vec::new();
    for record in text.records() {
        match record {
            Ok(range) => {
                if let Err(broken) = below(text.bytes, range.start, &PATH, &mut spans) {
                    faults.push(text.fault(broken.at, broken.what));
                }
            }
            Err(Damaged { range, fault }) => {
                // The beginning of an incomplete record may contain spans.
                let own = &text.bytes[..range.end];
                let begin = json::skip_space(own, range.start);
                if own.get(begin) == Some(&b'{') {
                    let _told_already = below(own, begin, &PATH, &mut spans);
                }
                // Text after a damaged record on its line is part of the same damage.
                if faults.last().is_none_or(|last: &Fault| last.line != fault.line) {
                    faults.push(fault);
                }
            }
        }
    }
    (spans, faults)
}

/// Collects the elements of the lists of `path`, beginning with the object at `start`.
fn below(bytes: &[u8], start: usize, path: &[&[&str]], spans: &mut Vec<Range<usize>>) -> Result<(), Broken> {
    let Some((names, deeper)) = path.split_first() else { return Ok(()) };
    let object = &bytes[start..];
    let Some(list) = names.iter().find_map(|name| json::value_start(object, name)).map(|offset| start + offset) else {
        return without_list(bytes, start, names);
    };
    let mut next = json::skip_space(bytes, list + 1);
    for element in json::ranges(bytes, list) {
        let range = match element {
            Ok(range) => range,
            Err(broken) => {
                below(bytes, next, deeper, spans)?;
                return Err(broken);
            }
        };
        next = json::skip_space(bytes, json::skip_space(bytes, range.end) + 1);
        match deeper.is_empty() {
            true => spans.push(range),
            false => below(bytes, range.start, deeper, spans)?,
        }
    }
    Ok(())
}

/// Keys that may be beside a list; an empty list is omitted.
const BESIDE: [&str; 4] = ["resource", "scope", "instrumentationLibrary", "schemaUrl"];

fn without_list(bytes: &[u8], start: usize, names: &[&str]) -> Result<(), Broken> {
    let json::Keys { keys, end } = json::keys(bytes, start);
    match (end, keys.iter().all(|key| BESIDE.contains(&key.as_ref()))) {
        (Err(broken), _) => Err(broken),
        (Ok(_), true) if bytes.get(start) == Some(&b'{') => Ok(()),
        (Ok(_), _) => Err(Broken { at: start, what: format!("found no list `{}`", names.first().unwrap_or(&"")) }),
    }
}
