//! Differences in wire bytes that do not change the canonical bytes: harmless, and reported as such.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::block::Blocks;
use super::body::{self, Body, BodyError, RawElement};
use super::json;
use super::level::{Level, Place};
use super::marker::Ttl;
use super::memory::ElementMemory;
use super::normal::{self, NormalForms};
use super::number::number;
use super::parameters::{self, PromptFacts, TRANSLATED_SETTINGS};
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
    let [old, new] = [old, new].map(|text| body::cut(text).map(|body| RawBody { text, body }));
    Ok(between(&old?, &new?, forms))
}

/// The same, faster for bodies that were read with this memory.
pub(super) fn notes_knowing(
    old: &[u8],
    new: &[u8],
    forms: &NormalForms,
    memory: &ElementMemory,
) -> Result<Vec<SpellingNote>, BodyError> {
    let cut = |text| body::cut_again(text, memory).map(|body| RawBody { text, body });
    let [old, new] = [old, new].map(cut);
    Ok(between(&old?, &new?, forms))
}

fn between(old: &RawBody<'_>, new: &RawBody<'_>, forms: &NormalForms) -> Vec<SpellingNote> {
    let differing = Differing::of(&old.body, &new.body);
    let mut found = Vec::new();
    envelope(&old.body, &new.body, forms, &mut found);
    outside(old, new, &differing, &mut found);
    let mut both = Both { forms, blocks: Blocks::default(), found };
    both.system_strings(&old.body, &new.body);
    for (level, items) in &differing.0 {
        both.level(*level, items, old.body.elements(*level), new.body.elements(*level));
    }
    let (older, newer) = (both.parts(&old.body, &differing), both.parts(&new.body, &differing));
    both.excluded(&older, &newer);
    both.markers((&old.body, &older), (&new.body, &newer));
    both.found
}

/// The elements of each level that two bodies do not have, byte for byte, at the same place: few, because bodies repeat each
/// other.
struct Differing([(Level, BTreeSet<usize>); 3]);

impl Differing {
    fn of(old: &Body<'_>, new: &Body<'_>) -> Self {
        Self(Level::ALL.map(|level| {
            let old = old.elements(level);
            let new = new.elements(level);
            let differ = (0..old.len().max(new.len())).filter(|item| match (old.get(*item), new.get(*item)) {
                (Some(old), Some(new)) => !new.repeats(old),
                _ => true,
            });
            (level, differ.collect())
        }))
    }
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
        // Settings of a translated body are compared as parameters.
        if was == is || key == "model" || key == "cache_control" || key == TRANSLATED_SETTINGS {
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
fn outside(old: &RawBody<'_>, new: &RawBody<'_>, differing: &Differing, found: &mut Vec<SpellingNote>) {
    let shared = |own: &[String], other: &[String]| -> Vec<String> {
        own.iter().filter(|key| other.contains(key)).cloned().collect()
    };
    if shared(&old.body.keys, &new.body.keys) != shared(&new.body.keys, &old.body.keys) {
        note(found, "", SpellingKind::Spelling);
    }
    let alike = blanks_beside(old, differing) == blanks_beside(new, differing);
    if !alike && has_blanks(old.text) != has_blanks(new.text) {
        note(found, "", SpellingKind::Whitespace);
    }
}

/// Whether there is white space between the tokens of a body. Elements that both bodies have are skipped, because white space in
/// them is in both.
fn blanks_beside(own: &RawBody<'_>, differing: &Differing) -> bool {
    let text = own.text;
    let mut left_out: Vec<Range<usize>> = Vec::new();
    for (level, items) in &differing.0 {
        for (item, element) in own.body.elements(*level).iter().enumerate().filter(|(item, _)| !items.contains(item)) {
            let start = element.raw.as_ptr().addr() - text.as_ptr().addr();
            let end = start + element.raw.len();
            match left_out.last_mut() {
                // Mostly a comma alone is between two elements.
                Some(last) if item > 0 && last.end + 1 == start => last.end = end,
                _ => left_out.push(start..end),
            }
        }
    }
    left_out.sort_unstable_by_key(|range| range.start);
    let mut from = 0;
    for range in left_out {
        if has_blanks(&text[from..range.start]) {
            return true;
        }
        from = range.end;
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
            let list = body.system.iter().filter_map(|element| both.reader().read(Level::System, element.raw).ok());
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

    fn level(&mut self, level: Level, differing: &BTreeSet<usize>, old: &[RawElement<'_>], new: &[RawElement<'_>]) {
        for item in differing {
            let (Some(old), Some(new)) = (old.get(*item), new.get(*item)) else { return };
            let old = old.raw;
            let new = new.raw;
            if self.same(level, old, new) {
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
    fn excluded(&mut self, older: &[(Place, Part)], newer: &[(Place, Part)]) {
        let [mut older, mut newer] =
            [older, newer].map(|parts| parts.iter().filter(|(_, part)| part.place == PartPlace::Excluded));
        let first = loop {
            match (older.next(), newer.next()) {
                (Some((_, old)), Some((_, new))) if old.block == new.block => {}
                (old, new) => break new.or(old),
            }
        };
        if let Some((place, _)) = first {
            note(&mut self.found, place.to_string(), SpellingKind::Envelope);
        }
    }

    fn markers(&mut self, old: (&Body<'_>, &[(Place, Part)]), new: (&Body<'_>, &[(Place, Part)])) {
        let automatic = |body: &Body<'_>| {
            body.fields.iter().find(|(key, _)| key == "cache_control").and_then(|(_, value)| normal::ttl(value))
        };
        if automatic(old.0) != automatic(new.0) {
            note(&mut self.found, "cache_control", SpellingKind::MarkerMoved);
        }
        // Elements that both bodies have are left out.
        let marked = |parts: &[(Place, Part)]| -> BTreeMap<Place, Ttl> {
            parts.iter().filter_map(|(place, part)| Some((*place, part.marker?))).collect()
        };
        let (older, newer) = (marked(old.1), marked(new.1));
        let places: BTreeSet<&Place> = older.keys().chain(newer.keys()).collect();
        for place in places.into_iter().filter(|place| older.get(place) != newer.get(place)) {
            note(&mut self.found, place.to_string(), SpellingKind::MarkerMoved);
        }
    }

    /// The blocks of a body and their places, except in elements that the other one has too.
    fn parts(&mut self, body: &Body<'_>, differing: &Differing) -> Vec<(Place, Part)> {
        let mut found = Vec::new();
        for (level, items) in &differing.0 {
            for item in items {
                let Some(sent) = body.elements(*level).get(*item) else { break };
                let Ok(element) = self.reader().read(*level, sent.raw) else { continue };
                let place = |part: &Part| Place { level: *level, item: number(*item), part: part.index, keys: false };
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
