//! YAML cassettes: the list under one top-level key, item by item, or one document per call.
//!
//! Events are read instead of deserializing a type, for three reasons: plain scalars must be resolved as PyYAML wrote
//! them and not as YAML 1.2 would (an unquoted `1e5` is a string there), each item needs its line, and a damaged item
//! must not affect the others. After damage every further item is parsed separately, which reads the whole file once
//! more at most.

mod scalar;

use std::collections::BTreeMap;

use serde_saphyr::granit_parser::{Event, Options, Parser, ScanError, Span, StrInput};

use self::scalar::resolve;
use super::text::{Text, glimpse, not_utf8};
use super::value::Value;
use crate::error::Fault;

/// The limit for values copied by aliases, in nodes and in units of 64 bytes of text: against alias bombs.
const ALIAS_LIMIT: usize = 4_000_000;

/// The deepest value that aliases may build; the parser itself stops at 255 levels, but an alias puts one value into
/// another.
const DEPTH_LIMIT: usize = 512;

/// One item and its first line.
pub(super) struct Item {
    pub line: usize,
    pub value: Result<Value, Fault>,
}

/// The items of the list under the top-level key `key`, with faults instead of damaged ones.
pub(super) fn items_under(key: &str, text: &Text<'_>) -> Vec<Item> {
    parts(text, |whole, items| read_whole(key, whole, items), || chunks(key, text), read_one)
}

/// The documents of a text, with faults instead of damaged ones.
pub(super) fn documents(text: &Text<'_>) -> Vec<Item> {
    parts(text, read_documents, || document_chunks(text), read_document)
}

/// The lines of one part, and the number of the first.
type Chunk<'a> = (usize, &'a [u8]);

/// Reads a text as a whole; after damage, each further part is read alone, found by its lines.
fn parts<'a>(
    text: &Text<'a>,
    whole: impl Fn(&str, &mut Vec<Item>) -> Result<(), Fault>,
    chunks: impl Fn() -> Vec<Chunk<'a>>,
    one: impl Fn(&str) -> Result<Value, Fault>,
) -> Vec<Item> {
    let mut items = Vec::new();
    let fault = match std::str::from_utf8(text.bytes) {
        Ok(utf8) => match whole(utf8, &mut items) {
            Ok(()) => return items,
            Err(fault) => fault,
        },
        Err(error) => text.fault(error.valid_up_to(), not_utf8_message(text.bytes, error.valid_up_to())),
    };
    let read = items.last().map_or(0, |item: &Item| item.line);
    let first = items.len();
    let unread = chunks().into_iter().filter(|(line, _)| *line > read);
    items.extend(unread.map(|(line, bytes)| read_alone(line, bytes, &one)));
    place(fault, first, &mut items);
    items
}

/// The first damage is reported twice, for the whole text and for its item. The first report has more information,
/// unless the damage extends into other items.
fn place(fault: Fault, first: usize, items: &mut Vec<Item>) {
    let next = items.get(first + 1).map_or(usize::MAX, |item| item.line);
    let damaged = items.iter().any(|item| item.value.is_err());
    match items.get_mut(first) {
        Some(item) if item.value.is_err() && fault.line < next => item.value = Err(fault),
        _ if damaged => {}
        _ => items.push(Item { line: fault.line, value: Err(fault) }),
    }
}

fn not_utf8_message(bytes: &[u8], at: usize) -> String {
    format!("found {}, expected UTF-8", glimpse(&bytes[at..]))
}

fn read_whole(key: &str, text: &str, items: &mut Vec<Item>) -> Result<(), Fault> {
    let mut composer = Composer::new(text);
    let Some((Event::MappingStart(..), _)) = composer.first_node()? else {
        return Err(Fault::in_line(1, format!("expected a mapping with the key `{key}`")));
    };
    let mut seen = false;
    loop {
        let (event, span) = composer.next()?;
        if matches!(event, Event::MappingEnd) {
            let lacks = || Fault::in_line(1, format!("found no key `{key}`"));
            return if seen { Ok(()) } else { Err(lacks()) };
        }
        let name = composer.node(event, span)?;
        seen |= name.as_text() == Some(key);
        let (event, span) = composer.next()?;
        if name.as_text() == Some(key) && matches!(event, Event::SequenceStart(..)) {
            composer.items(items)?;
        } else if composer.node(event, span)? != Value::Null && name.as_text() == Some(key) {
            return Err(at(span, format!("expected a list under `{key}`")));
        }
    }
}

/// The lines of each item, with the number of the first, found only by indentation.
fn chunks<'a>(key: &str, text: &Text<'a>) -> Vec<Chunk<'a>> {
    let head = format!("{key}:");
    let mut starts = Vec::new();
    let mut end = text.bytes.len();
    let mut indent = None;
    let lines = text.lines().skip_while(|(_, _, line)| !line.starts_with(head.as_bytes())).skip(1);
    for (number, offset, line) in lines {
        let spaces = line.iter().take_while(|byte| **byte == b' ').count();
        let is_item = line.get(spaces) == Some(&b'-') && matches!(line.get(spaces + 1), None | Some(b' '));
        match (line.get(spaces), *indent.get_or_insert(spaces)) {
            (None, _) => {}
            (Some(_), own) if is_item && spaces == own => starts.push((number, offset)),
            (Some(b'#'), _) => {}
            (Some(_), own) if spaces <= own => {
                end = offset;
                break;
            }
            _ => {}
        }
    }
    let ends = starts.iter().skip(1).map(|(_, offset)| *offset).chain(std::iter::once(end)).collect::<Vec<_>>();
    starts.iter().zip(ends).map(|(&(number, start), end)| (number, &text.bytes[start..end])).collect()
}

/// The lines of each document. YAML ends a document at such a line even within a scalar.
fn document_chunks<'a>(text: &Text<'a>) -> Vec<Chunk<'a>> {
    let is_marker =
        |line: &[u8]| line.strip_prefix(b"---").is_some_and(|rest| matches!(rest.first(), None | Some(b' ')));
    let mut starts: Vec<(usize, usize)> = vec![(1, 0)];
    starts.extend(text.lines().filter(|(_, at, line)| *at > 0 && is_marker(line)).map(|(number, at, _)| (number, at)));
    let ends = starts.iter().skip(1).map(|(_, at)| *at).chain(std::iter::once(text.bytes.len())).collect::<Vec<_>>();
    starts.iter().zip(ends).map(|(&(number, start), end)| (number, &text.bytes[start..end])).collect()
}

fn read_documents(text: &str, items: &mut Vec<Item>) -> Result<(), Fault> {
    let mut composer = Composer::new(text);
    loop {
        let (event, span) = composer.next()?;
        match event {
            Event::StreamEnd => return Ok(()),
            Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
            _ => {
                let line = span.start.line();
                let value = composer.node(event, span)?;
                items.push(Item { line, value: Ok(value) });
            }
        }
    }
}

fn read_document(text: &str) -> Result<Value, Fault> {
    let mut items = Vec::new();
    read_documents(text, &mut items)?;
    items.pop().map_or_else(|| Err(Fault::in_line(1, "expected a document")), |item| item.value)
}

fn read_alone(line: usize, bytes: &[u8], one: &dyn Fn(&str) -> Result<Value, Fault>) -> Item {
    let value = match std::str::from_utf8(bytes) {
        Ok(text) => one(text),
        Err(_) => {
            let at = not_utf8(bytes).unwrap_or(0);
            Err(Text::new(bytes).fault(at, not_utf8_message(bytes, at)))
        }
    };
    let value = value.map_err(|fault| Fault { line: fault.line + line - 1, ..fault });
    Item { line, value }
}

fn read_one(text: &str) -> Result<Value, Fault> {
    let mut items = Vec::new();
    let mut composer = Composer::new(text);
    if let Some((Event::SequenceStart(..), _)) = composer.first_node()? {
        composer.items(&mut items)?;
    }
    composer.finish()?;
    items.pop().map_or_else(|| Err(Fault::in_line(1, "expected an item of a list")), |item| item.value)
}

/// Builds values from events, with its own stack.
struct Composer<'a> {
    parser: Parser<'a, StrInput<'a>>,
    anchors: BTreeMap<usize, Value>,
    copied: usize,
}

/// A collection that is still open.
enum Open {
    List(Vec<Value>),
    /// The arguments of a call that makes a value (`!!python/object/apply:…`).
    Arguments(Vec<Value>),
    Object(Vec<(String, Value)>, Option<String>),
}

impl<'a> Composer<'a> {
    fn new(text: &'a str) -> Self {
        let mut options = Options::default();
        options.set_emit_comments(false);
        Self { parser: Parser::new_from_str_with_options(text, options), anchors: BTreeMap::new(), copied: 0 }
    }

    fn next(&mut self) -> Result<(Event<'a>, Span), Fault> {
        match self.parser.next_event() {
            Some(Ok(next)) => Ok(next),
            Some(Err(error)) => Err(fault(&error)),
            None => Err(Fault::in_line(0, "the text ends too early")),
        }
    }

    /// The event that opens the first document, `None` if there is none.
    fn first_node(&mut self) -> Result<Option<(Event<'a>, Span)>, Fault> {
        loop {
            match self.next()? {
                (Event::StreamStart | Event::DocumentStart(..), _) => {}
                (Event::StreamEnd, _) => return Ok(None),
                node => return Ok(Some(node)),
            }
        }
    }

    /// The text after the first document's node must still be YAML.
    fn finish(&mut self) -> Result<(), Fault> {
        while !matches!(self.next()?, (Event::StreamEnd, _)) {}
        Ok(())
    }

    /// The items of a list that was just opened.
    fn items(&mut self, items: &mut Vec<Item>) -> Result<(), Fault> {
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::SequenceEnd) {
                return Ok(());
            }
            let line = span.start.line();
            let value = self.node(event, span)?;
            items.push(Item { line, value: Ok(value) });
        }
    }

    /// The node that begins with `event`.
    fn node(&mut self, event: Event<'a>, span: Span) -> Result<Value, Fault> {
        let mut stack: Vec<(Open, usize)> = Vec::new();
        let (mut event, mut span) = (event, span);
        loop {
            let closed = match event {
                Event::SequenceStart(_, anchor, tag) => {
                    let is_call = tag.as_deref().is_some_and(scalar::is_call);
                    let open = if is_call { Open::Arguments(Vec::new()) } else { Open::List(Vec::new()) };
                    stack.push((open, anchor));
                    None
                }
                Event::MappingStart(_, anchor, _) => {
                    stack.push((Open::Object(Vec::new(), None), anchor));
                    None
                }
                Event::SequenceEnd | Event::MappingEnd => stack.pop().map(|(open, anchor)| self.close(open, anchor)),
                Event::Scalar(text, style, anchor, tag) => {
                    let value = resolve(&text, style, tag.as_deref()).map_err(|what| at(span, what))?;
                    Some(self.remember(value, anchor))
                }
                Event::Alias(id) => Some(self.copy(id, stack.len()).map_err(|what| at(span, what))?),
                _ => return Err(at(span, "found the end of the text, expected a value".to_owned())),
            };
            if let Some(value) = closed {
                match stack.last_mut() {
                    None => return Ok(value),
                    Some((open, _)) => open.put(value),
                }
            }
            (event, span) = self.next()?;
        }
    }

    fn close(&mut self, open: Open, anchor: usize) -> Value {
        let value = match open {
            Open::List(elements) => Value::List(elements),
            // Nothing is called: subclasses of `str` (names of headers) are the text that they were made of.
            Open::Arguments(mut arguments) => match (arguments.pop(), arguments.is_empty()) {
                (Some(only), true) => only,
                (last, _) => Value::List(arguments.into_iter().chain(last).collect()),
            },
            Open::Object(members, _) => Value::Object(members),
        };
        self.remember(value, anchor)
    }

    fn remember(&mut self, value: Value, anchor: usize) -> Value {
        if anchor != 0 {
            self.anchors.insert(anchor, value.clone());
        }
        value
    }

    fn copy(&mut self, id: usize, level: usize) -> Result<Value, String> {
        let value = self.anchors.get(&id).ok_or("found an alias inside the value that it names")?;
        self.copied = self.copied.saturating_add(weight(value));
        if self.copied > ALIAS_LIMIT {
            return Err(format!("aliases copy more than {ALIAS_LIMIT} values, expected a recording"));
        }
        if level + depth(value) > DEPTH_LIMIT {
            return Err(format!("aliases build a value deeper than {DEPTH_LIMIT}, expected a recording"));
        }
        Ok(value.clone())
    }
}

impl Open {
    fn put(&mut self, value: Value) {
        match self {
            Self::List(elements) | Self::Arguments(elements) => elements.push(value),
            Self::Object(members, key) => match key.take() {
                Some(name) => members.push((name, value)),
                None => *key = Some(key_text(value)),
            },
        }
    }
}

fn key_text(value: Value) -> String {
    match value {
        Value::Text(text) => text,
        other => String::from_utf8_lossy(&other.to_json()).into_owned(),
    }
}

fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 1,
        Value::Number(text) | Value::Text(text) => 1 + text.len() / 64,
        Value::Bytes(bytes) => 1 + bytes.len() / 64,
        Value::List(elements) => 1 + elements.iter().map(weight).sum::<usize>(),
        Value::Object(members) => {
            1 + members.iter().map(|(key, value)| 1 + key.len() / 64 + weight(value)).sum::<usize>()
        }
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::List(elements) => 1 + elements.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.iter().map(|(_, value)| depth(value)).max().unwrap_or(0),
        _ => 0,
    }
}

fn fault(error: &ScanError) -> Fault {
    let marker = error.marker();
    Fault::at(marker.line(), marker.col() + 1, format!("YAML: {}", error.kind()))
}

fn at(span: Span, what: String) -> Fault {
    Fault::at(span.start.line(), span.start.col() + 1, what)
}
