//! Differences in wire bytes that do not change the canonical bytes: harmless, and reported as such.

use std::collections::{BTreeMap, BTreeSet};

use super::block::Blocks;
use super::body::{self, Body, BodyError};
use super::json;
use super::level::{Level, Place};
use super::marker::Ttl;
use super::memory::ElementMemory;
use super::normal::{self, NormalForms};
use super::parameters::{self, PromptFacts};
use super::part::{ElementReader, Part, PartPlace};
use super::request::EnvelopeField;

/// How two spellings of the same prompt differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpellingKind {
    /// String or list, a default written out, or envelope keys in another order.
    Spelling,
    /// White space between tokens.
    Whitespace,
    /// Another escape for the same character.
    Escape,
    /// A breakpoint is on another block or has another lifetime.
    MarkerMoved,
    /// A field of the request that is not prompt.
    Envelope,
}

/// A harmless difference and its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpellingNote {
    /// JSON path: in the newer body if it has this place, else in the older.
    pub path: String,
    /// Kind of the difference.
    pub kind: SpellingKind,
}

/// Top-level keys that are part of a level's identity, with the level they belong to by default.
const PARAMETER_KEYS: [&str; 4] = ["tool_choice", "thinking", "output_config", "speed"];

/// The harmless differences of two bodies: first those of the envelope, then in prompt order the spellings, the blocks
/// outside the prompt, and the breakpoints.
///
/// # Errors
/// When one of the bodies is no request.
pub fn notes(old: &[u8], new: &[u8], forms: &NormalForms) -> Result<Vec<SpellingNote>, BodyError> {
    notes_knowing(old, new, forms, &ElementMemory::default())
}

/// The same, faster for bodies that were read with this memory.
pub(super) fn notes_knowing(
    old: &[u8],
    new: &[u8],
    forms: &NormalForms,
    memory: &ElementMemory,
) -> Result<Vec<SpellingNote>, BodyError> {
    let old = RawBody { text: old, body: body::cut_expecting(old, memory)? };
    let new = RawBody { text: new, body: body::cut_expecting(new, memory)? };
    let mut found = Vec::new();
    envelope(&old.body, &new.body, forms, &mut found);
    outside(&old, &new, &mut found);
    let mut both = Both { forms, blocks: Blocks::default(), found };
    both.system_strings(&old.body, &new.body);
    both.level(Level::Tools, &old.body.tools, &new.body.tools);
    both.level(Level::System, &old.body.system, &new.body.system);
    both.level(Level::Messages, &old.body.messages, &new.body.messages);
    both.excluded(&old.body, &new.body);
    both.markers(&old.body, &new.body);
    Ok(both.found)
}

/// The text of a body, and its elements.
struct RawBody<'a> {
    text: &'a [u8],
    body: Body<'a>,
}

fn note(found: &mut Vec<SpellingNote>, path: impl Into<String>, kind: SpellingKind) {
    found.push(SpellingNote { path: path.into(), kind });
}

/// Top-level keys other than the prompt.
fn envelope(old: &Body<'_>, new: &Body<'_>, forms: &NormalForms, found: &mut Vec<SpellingNote>) {
    let list = |body: &Body<'_>| -> BTreeMap<String, Vec<u8>> {
        body.fields.iter().map(|(key, value)| (key.clone(), value.to_vec())).collect()
    };
    let old = list(old);
    let new = list(new);
    for key in old.keys().chain(new.keys().filter(|key| !old.contains_key(*key))) {
        let was = old.get(key);
        let is = new.get(key);
        if was == is || key == "model" || key == "cache_control" {
            continue;
        }
        let parameter = PARAMETER_KEYS.contains(&key.as_str());
        match (was, is) {
            (Some(was), Some(is)) if same_text(was, is) => note(found, key, spelling_of(was, is)),
            _ if !parameter => note(found, key, SpellingKind::Envelope),
            _ if same_parameter(key, was, is, forms) => note(found, key, SpellingKind::Spelling),
            _ => {}
        }
    }
}

/// Whether a parameter means the same in both, defaults considered.
fn same_parameter(key: &str, old: Option<&Vec<u8>>, new: Option<&Vec<u8>>, forms: &NormalForms) -> bool {
    let meaning = |value: Option<&Vec<u8>>| {
        let envelope: Vec<EnvelopeField> =
            value.map(|value| EnvelopeField { key: key.to_owned(), value: minified(value) }).into_iter().collect();
        [Level::Tools, Level::System, Level::Messages]
            .map(|level| parameters::canonical(level, &envelope, &PromptFacts::default(), forms))
    };
    meaning(old) == meaning(new)
}

/// White space anywhere, and the order of the members.
fn outside(old: &RawBody<'_>, new: &RawBody<'_>, found: &mut Vec<SpellingNote>) {
    let shared = |own: &[String], other: &[String]| -> Vec<String> {
        own.iter().filter(|key| other.contains(key)).cloned().collect()
    };
    if shared(&old.body.keys, &new.body.keys) != shared(&new.body.keys, &old.body.keys) {
        note(found, "", SpellingKind::Spelling);
    }
    let alike = blanks_beside(old, new) == blanks_beside(new, old);
    if !alike && has_blanks(old.text) != has_blanks(new.text) {
        note(found, "", SpellingKind::Whitespace);
    }
}

/// Whether there is white space between the tokens of a body. Elements are skipped if `other` has the same bytes at the
/// same place, because white space in them is in both.
fn blanks_beside(own: &RawBody<'_>, other: &RawBody<'_>) -> bool {
    let text = own.text;
    let body = &own.body;
    let other = &other.body;
    let levels = [(&body.tools, &other.tools), (&body.system, &other.system), (&body.messages, &other.messages)];
    let shared = levels.into_iter().flat_map(|(own, other)| own.iter().zip(other).filter(|(own, other)| own == other));
    let start = |raw: &[u8]| raw.as_ptr().addr() - text.as_ptr().addr();
    let mut left_out: Vec<(usize, usize)> = shared.map(|(raw, _)| (start(raw), start(raw) + raw.len())).collect();
    left_out.sort_unstable();
    let mut from = 0;
    for (start, end) in left_out {
        if has_blanks(&text[from..start]) {
            return true;
        }
        from = end;
    }
    has_blanks(&text[from..])
}

/// Whether there is white space between tokens.
fn has_blanks(text: &[u8]) -> bool {
    pieces(text).any(is_blank)
}

/// Raw text without white space between tokens.
fn without_blanks(raw: &[u8]) -> Vec<u8> {
    pieces(raw).filter(|piece| !is_blank(piece)).collect::<Vec<_>>().concat()
}

/// The strings of a raw text, and every byte between them.
fn pieces(raw: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = raw;
    std::iter::from_fn(move || {
        let len = match rest.first()? {
            b'"' => json::Scanner::new(rest).value().map_or(rest.len(), <[u8]>::len),
            _ => 1,
        };
        let (piece, behind) = rest.split_at(len);
        rest = behind;
        Some(piece)
    })
}

fn is_blank(piece: &[u8]) -> bool {
    piece.first().is_some_and(u8::is_ascii_whitespace)
}

fn minified(raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len());
    json::normalise(raw, &mut out);
    out
}

fn same_text(old: &[u8], new: &[u8]) -> bool {
    minified(old) == minified(new)
}

/// How two raw texts with the same meaning differ.
fn spelling_of(old: &[u8], new: &[u8]) -> SpellingKind {
    if without_blanks(old) == without_blanks(new) {
        SpellingKind::Whitespace
    } else if same_text(old, new) {
        SpellingKind::Escape
    } else {
        SpellingKind::Spelling
    }
}

struct Both<'a> {
    forms: &'a NormalForms,
    blocks: Blocks,
    found: Vec<SpellingNote>,
}

impl Both<'_> {
    fn reader(&mut self) -> ElementReader<'_> {
        ElementReader { blocks: &mut self.blocks, forms: self.forms }
    }

    /// A system prompt that is a string in one body and a list of the same text in the other.
    fn system_strings(&mut self, old: &Body<'_>, new: &Body<'_>) {
        let blocks = |both: &mut Self, body: &Body<'_>| -> Vec<_> {
            let string = body.system_string.map(|raw| both.reader().system_string(raw));
            let list = body.system.iter().filter_map(|raw| both.reader().read(Level::System, raw).ok());
            string.into_iter().chain(list).flat_map(|element| element.parts).map(|part| part.block).collect()
        };
        let same = blocks(self, old) == blocks(self, new);
        let was = old.system_string;
        let is = new.system_string;
        if same && was.is_some() != is.is_some() {
            note(&mut self.found, "system[0]", SpellingKind::Spelling);
        }
        if let Some((was, is)) = was.zip(is).filter(|(was, is)| same && was != is) {
            note(&mut self.found, "system[0]", spelling_of(was, is));
        }
    }

    fn level(&mut self, level: Level, old: &[&[u8]], new: &[&[u8]]) {
        for (item, (old, new)) in old.iter().zip(new).enumerate() {
            if old != new && self.same(level, old, new) {
                let kind = element_kind(level, old, new);
                let everywhere = self.found.iter().any(|note| note.path.is_empty() && Some(note.kind) == kind);
                if let Some(kind) = kind.filter(|_| !everywhere) {
                    note(&mut self.found, format!("{}[{item}]", level.name()), kind);
                }
            }
        }
    }

    /// Whether two raw elements are the same blocks.
    fn same(&mut self, level: Level, old: &[u8], new: &[u8]) -> bool {
        let ids = |both: &mut Self, raw: &[u8]| {
            let element = both.reader().read(level, raw).ok()?;
            Some(element.parts.iter().map(|part| part.block).collect::<Vec<_>>())
        };
        let old = ids(self, old);
        old.is_some() && old == ids(self, new)
    }

    /// The first difference in blocks sent outside the prompt: a changed header, an added or removed deferred tool.
    fn excluded(&mut self, old: &Body<'_>, new: &Body<'_>) {
        let excluded = |both: &mut Self, body, other| {
            let mut parts = both.parts(body, other);
            parts.retain(|(_, part)| part.place == PartPlace::Excluded);
            parts
        };
        let older = excluded(self, old, new);
        let newer = excluded(self, new, old);
        let same = older.iter().zip(&newer).take_while(|((_, old), (_, new))| old.block == new.block).count();
        if let Some((place, _)) = newer.get(same).or(older.get(same)) {
            note(&mut self.found, place.to_string(), SpellingKind::Envelope);
        }
    }

    fn markers(&mut self, old: &Body<'_>, new: &Body<'_>) {
        let automatic = |body: &Body<'_>| {
            body.fields.iter().find(|(key, _)| key == "cache_control").and_then(|(_, value)| normal::ttl(value))
        };
        if automatic(old) != automatic(new) {
            note(&mut self.found, "cache_control", SpellingKind::MarkerMoved);
        }
        let older = self.marked(old, new);
        let newer = self.marked(new, old);
        let places: BTreeSet<&Place> = older.keys().chain(newer.keys()).collect();
        for place in places.into_iter().filter(|place| older.get(place) != newer.get(place)) {
            note(&mut self.found, place.to_string(), SpellingKind::MarkerMoved);
        }
    }

    /// The breakpoints of a body by the places of their blocks, except on elements that `other` has at the same place.
    fn marked(&mut self, body: &Body<'_>, other: &Body<'_>) -> BTreeMap<Place, Ttl> {
        self.parts(body, other).into_iter().filter_map(|(place, part)| Some((place, part.marker?))).collect()
    }

    /// The blocks of a body and their places, except elements that `other` has, byte for byte, at the same place: most
    /// of them, because bodies repeat each other.
    fn parts(&mut self, body: &Body<'_>, other: &Body<'_>) -> Vec<(Place, Part)> {
        let mut found = Vec::new();
        let levels = [
            (Level::Tools, &body.tools, &other.tools),
            (Level::System, &body.system, &other.system),
            (Level::Messages, &body.messages, &other.messages),
        ];
        for (level, raws, others) in levels {
            for (item, raw) in (0u32..).zip(raws).filter(|(item, raw)| others.get(*item as usize) != Some(raw)) {
                let Ok(element) = self.reader().read(level, raw) else { continue };
                let place = |part: &Part| Place { level, item, part: part.index, keys: false };
                found.extend(element.parts.iter().map(|part| (place(part), *part)));
            }
        }
        found
    }
}

/// How two raw elements with the same meaning differ, ignoring breakpoints; `None` if they do not.
fn element_kind(level: Level, old: &[u8], new: &[u8]) -> Option<SpellingKind> {
    let old_bare = unmarked(level, old);
    let new_bare = unmarked(level, new);
    if old_bare != new_bare {
        return Some(spelling_of(&old_bare, &new_bare));
    }
    (without_blanks(old) == without_blanks(new)).then_some(SpellingKind::Whitespace)
}

/// The raw element without its breakpoints and without white space around its members.
fn unmarked(level: Level, raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len());
    copy_unmarked(raw, level == Level::Messages, &mut out);
    out
}

/// Copies an object without its breakpoint; with `nested`, also without those of the blocks of its `content`. The copy
/// is only ever compared with another one, so a comma after each member does no harm.
fn copy_unmarked(raw: &[u8], nested: bool, out: &mut Vec<u8>) {
    if raw.first() != Some(&b'{') {
        out.extend_from_slice(raw);
        return;
    }
    out.push(b'{');
    for (key, value) in json::members(raw).flatten().filter(|(key, _)| *key != b"\"cache_control\"") {
        out.extend_from_slice(key);
        out.push(b':');
        if nested && key == b"\"content\"" && value.first() == Some(&b'[') {
            for block in json::elements(value).flatten() {
                copy_unmarked(block, false, out);
            }
        } else {
            out.extend_from_slice(value);
        }
        out.push(b',');
    }
    out.push(b'}');
}
