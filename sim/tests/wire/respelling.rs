//! Random bodies in random spellings: the same prompt however it is written, and never a panic.

use std::fmt::Write;

use forkcast_sim::diagnosis::compare;
use forkcast_sim::wire::{BlockKind, Blocks, BodyError, Content, Level, Place, Role, Wire, json, spelling};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::value::RawValue;

use super::bodies::{REALISTIC, blocks, read};
use crate::tries::tries;

/// JSON with parts that may be spelled in several ways. Texts are UTF-16, because JSON can hold lone surrogates.
#[derive(Clone, Debug, PartialEq)]
enum Json {
    Word(&'static str),
    Text(Vec<u16>),
    List(Vec<Json>),
    /// An object whose keys keep their order.
    Fixed(Vec<(String, Json)>),
    /// An object with keys in any order.
    Envelope(Vec<(String, Json)>),
    /// A string that may be a list of one text block.
    Content(Vec<u16>),
}

fn utf16(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

fn word(text: &str) -> Json {
    Json::Text(utf16(text))
}

/// Writes JSON: plainly, or with every freedom that chance takes.
struct Speller {
    chance: Option<ChaCha8Rng>,
    out: String,
}

impl Speller {
    fn plain(value: &Json) -> String {
        let mut speller = Self { chance: None, out: String::new() };
        speller.value(value);
        speller.out
    }

    fn random(value: &Json, seed: u64) -> String {
        let mut speller = Self { chance: Some(ChaCha8Rng::seed_from_u64(seed)), out: String::new() };
        speller.value(value);
        speller.out
    }

    /// One of `0..choices`; always zero in the plain spelling.
    fn choose(&mut self, choices: u32) -> u32 {
        self.chance.as_mut().map_or(0, |chance| chance.next_u32() % choices)
    }

    fn blank(&mut self) {
        while self.choose(4) == 1 {
            let blank = [' ', '\n', '\t', '\r'][self.choose(4) as usize];
            self.out.push(blank);
        }
    }

    fn value(&mut self, value: &Json) {
        self.blank();
        match value {
            Json::Word(word) => self.out.push_str(word),
            Json::Text(units) => self.text(units),
            Json::List(values) => self.list(values),
            Json::Fixed(members) => self.object(members.iter().collect()),
            Json::Envelope(members) => {
                let mut members: Vec<_> = members.iter().collect();
                for end in (1..members.len()).rev() {
                    let other = end - self.choose(end as u32 + 1) as usize;
                    members.swap(end, other);
                }
                self.object(members);
            }
            Json::Content(units) if self.choose(2) == 0 => self.text(units),
            Json::Content(units) => {
                let block = [("type".to_owned(), word("text")), ("text".to_owned(), Json::Text(units.clone()))];
                self.list(&[Json::Envelope(block.to_vec())]);
            }
        }
        self.blank();
    }

    fn list(&mut self, values: &[Json]) {
        self.out.push('[');
        self.blank();
        for (at, value) in values.iter().enumerate() {
            self.out.push_str(if at > 0 { "," } else { "" });
            self.value(value);
        }
        self.out.push(']');
    }

    fn object(&mut self, members: Vec<&(String, Json)>) {
        self.out.push('{');
        self.blank();
        for (at, (key, value)) in members.into_iter().enumerate() {
            self.out.push_str(if at > 0 { "," } else { "" });
            self.blank();
            self.text(&utf16(key));
            self.blank();
            self.out.push(':');
            self.value(value);
        }
        self.out.push('}');
    }

    fn text(&mut self, units: &[u16]) {
        self.out.push('"');
        for c in char::decode_utf16(units.iter().copied()) {
            match c {
                Ok(c) => self.char(c),
                Err(lone) => self.escape(lone.unpaired_surrogate()),
            }
        }
        self.out.push('"');
    }

    fn char(&mut self, c: char) {
        let short = "\"\\/\u{8}\u{c}\n\r\t".find(c).and_then(|at| "\"\\/bfnrt".chars().nth(at.min(7)));
        let must = c < ' ' || c == '"' || c == '\\';
        match (self.choose(4), short) {
            (0 | 1, _) if !must => self.out.push(c),
            (0 | 2, Some(letter)) => self.out.extend(['\\', letter]),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    self.escape(*unit);
                }
            }
        }
    }

    fn escape(&mut self, unit: u16) {
        if self.choose(2) == 0 {
            write!(self.out, "\\u{unit:04x}").unwrap();
        } else {
            write!(self.out, "\\u{unit:04X}").unwrap();
        }
    }
}

/// Short texts of troublesome characters, lone surrogates among them.
fn units() -> impl Strategy<Value = Vec<u16>> {
    let units = [0x61, 0x62, 0x22, 0x5c, 0x2f, 0x0a, 0x01, 0x75, 0x30, 0xe9, 0x20ac, 0xd83d, 0xde00, 0x20, 0x7b];
    prop::collection::vec(select(units.to_vec()), 0..6)
}

fn text() -> impl Strategy<Value = Json> {
    units().prop_map(Json::Text)
}

/// Any JSON with a fixed order; few distinct values, so that equal ones are common.
fn values() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        select(vec!["null", "true", "0", "1", "1.0", "-0", "1e2", "10"]).prop_map(Json::Word),
        prop::collection::vec(select(vec![0x61, 0x5c, 0x22, 0xd83d, 0xde00]), 0..3).prop_map(Json::Text),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let members = prop::collection::btree_map(select(vec!["a", "b", "c"]), inner.clone(), 0..3);
        prop_oneof![
            prop::collection::vec(inner, 0..3).prop_map(Json::List),
            (members, any::<bool>()).prop_map(|(members, reversed)| {
                let mut members: Vec<_> = members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
                if reversed {
                    members.reverse();
                }
                Json::Fixed(members)
            }),
        ]
    })
}

fn envelope(kind: &str, members: Vec<(&str, Json)>) -> Json {
    let kind = (!kind.is_empty()).then(|| ("type".to_owned(), word(kind)));
    Json::Envelope(kind.into_iter().chain(members.into_iter().map(|(key, value)| (key.to_owned(), value))).collect())
}

fn content_block() -> impl Strategy<Value = Json> {
    let image =
        || text().prop_map(|data| envelope("image", vec![("source", envelope("base64", vec![("data", data)]))]));
    let nested =
        prop_oneof![units().prop_map(Json::Content), prop::collection::vec(image(), 0..2).prop_map(Json::List),];
    prop_oneof![
        text().prop_map(|text| envelope("text", vec![("text", text)])),
        (text(), text()).prop_map(|(text, sign)| envelope("thinking", vec![("thinking", text), ("signature", sign)])),
        (select(vec!["1", "2"]), values())
            .prop_map(|(id, input)| envelope("tool_use", vec![("id", word(id)), ("input", input)])),
        (select(vec!["1", "2"]), nested)
            .prop_map(|(id, content)| envelope("tool_result", vec![("tool_use_id", word(id)), ("content", content)])),
        image(),
        values().prop_map(|value| Json::Fixed(vec![("x".to_owned(), value), ("type".to_owned(), word("odd"))])),
    ]
}

fn bodies() -> impl Strategy<Value = Json> {
    let tool =
        (text(), values()).prop_map(|(name, schema)| envelope("", vec![("name", name), ("input_schema", schema)]));
    let content = prop_oneof![
        units().prop_map(Json::Content),
        prop::collection::vec(content_block(), 0..4).prop_map(Json::List),
    ];
    let message = (select(vec!["user", "assistant", "system"]), content)
        .prop_map(|(role, content)| envelope("", vec![("role", word(role)), ("content", content)]));
    let model = select(vec!["claude-opus-4-8", "claude-sonnet-4-5", "mine"]);
    let parts = (
        prop::collection::vec(tool, 0..3),
        units(),
        prop::collection::vec(message, 0..5),
        model,
        select(vec!["low", "high"]),
    );
    parts.prop_map(|(tools, system, messages, model, effort)| {
        let effort = envelope("", vec![("effort", word(effort))]);
        envelope(
            "",
            vec![
                ("model", word(model)),
                ("tools", Json::List(tools)),
                ("system", Json::Content(system)),
                ("messages", Json::List(messages)),
                ("output_config", effort),
            ],
        )
    })
}

/// A change to raw bytes.
#[derive(Clone, Debug)]
enum Damage {
    Replace(Index, u8),
    Insert(Index, Vec<u8>),
    Delete(Index, usize),
    Repeat(Index, usize),
}

fn damages() -> impl Strategy<Value = Vec<Damage>> {
    let byte = prop_oneof![select(br#"{}[]",:\u0nt 1e-"#.to_vec()), any::<u8>()];
    let damage = prop_oneof![
        (any::<Index>(), byte.clone()).prop_map(|(at, byte)| Damage::Replace(at, byte)),
        (any::<Index>(), prop::collection::vec(byte, 1..8)).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        (any::<Index>(), 1..80usize).prop_map(|(at, len)| Damage::Delete(at, len)),
        (any::<Index>(), 1..80usize).prop_map(|(at, len)| Damage::Repeat(at, len)),
    ];
    prop::collection::vec(damage, 1..4)
}

fn damaged(text: &[u8], damages: &[Damage]) -> Vec<u8> {
    let mut text = text.to_vec();
    for damage in damages {
        let (Damage::Replace(at, _) | Damage::Insert(at, _) | Damage::Delete(at, _) | Damage::Repeat(at, _)) = damage;
        let at = at.index(text.len() + 1);
        let end = |len: &usize| (at + len).min(text.len());
        match damage {
            Damage::Replace(_, byte) => text.iter_mut().skip(at).take(1).for_each(|old| *old = *byte),
            Damage::Insert(_, bytes) => drop(text.splice(at..at, bytes.iter().copied())),
            Damage::Delete(_, len) => drop(text.drain(at..end(len))),
            Damage::Repeat(_, len) => {
                let again = text[at..end(len)].to_vec();
                text.splice(at..at, again);
            }
        }
    }
    text
}

/// How a wire reads some bytes: the blocks in canonical bytes with their places, or the error.
fn made(wire: &mut Wire, text: &[u8]) -> Result<Vec<(Place, Vec<u8>)>, BodyError> {
    let request = wire.read(text, "scope", "")?;
    let bytes = blocks(wire, &request).into_iter().map(|block| wire.blocks.bytes(block).to_vec());
    Ok(request.places.iter().copied().zip(bytes).collect())
}

/// Reads arbitrary bytes: a text that is accepted is JSON, is read the same way again, and as by a fresh wire.
fn survives(wire: &mut Wire, text: &[u8]) -> Result<(), TestCaseError> {
    let first = wire.read(text, "scope", "").map(|request| request.nodes);
    let again =
        wire.read(text, "scope", "").map(|request| (request.known == request.nodes.len()).then_some(request.nodes));
    prop_assert_eq!(first.clone().map(Some), again);
    prop_assert_eq!(made(wire, text), made(&mut Wire::default(), text));
    if first.is_ok() {
        prop_assert!(serde_json::from_slice::<&RawValue>(text).is_ok(), "read, but no JSON");
    }
    let _ = spelling::notes(REALISTIC.as_bytes(), text, wire.forms());
    let _ = json::string(text);
    Ok(())
}

proptest! {
    #![proptest_config(tries(2_000))]

    #[test]
    fn a_body_is_the_same_prompt_in_every_spelling(body in bodies(), seed in any::<u64>()) {
        let (plain, respelled) = (Speller::plain(&body), Speller::random(&body, seed));
        let mut wire = Wire::default();
        let (a, b) = (read(&mut wire, &plain), read(&mut wire, &respelled));
        prop_assert_eq!((a.root, &a.nodes), (b.root, &b.nodes), "{}\n{}", plain, respelled);
        prop_assert!(compare(&wire, &a, &b).differences.is_empty());
        let notes = spelling::notes(plain.as_bytes(), respelled.as_bytes(), wire.forms()).unwrap();
        prop_assert!(plain == respelled || !notes.is_empty(), "{}\n{}", plain, respelled);
        prop_assert!(spelling::notes(respelled.as_bytes(), respelled.as_bytes(), wire.forms()).unwrap().is_empty());
    }

    #[test]
    fn different_values_have_different_canonical_bytes_and_equal_ones_the_same(
        (a, b) in prop_oneof![(values(), values()), values().prop_map(|value| (value.clone(), value))],
        seed in any::<u64>(),
    ) {
        let normal = |raw: String| {
            let mut out = Vec::new();
            json::normalise(raw.as_bytes(), &mut out);
            out
        };
        let bytes = [normal(Speller::plain(&a)), normal(Speller::random(&a, seed)), normal(Speller::random(&b, seed ^ 1))];
        prop_assert_eq!(&bytes[0], &bytes[1]);
        prop_assert_eq!(bytes[0] == bytes[2], a == b, "{:?} {:?}", a, b);
        let mut again = Vec::new();
        json::normalise(&bytes[1], &mut again);
        prop_assert_eq!(&again, &bytes[1]);
    }

    #[test]
    fn damaged_bodies_are_read_or_refused(damages in damages()) {
        let mut wire = Wire::default();
        read(&mut wire, REALISTIC);
        survives(&mut wire, &damaged(REALISTIC.as_bytes(), &damages))?;
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), text in r#"\{"messages":\[[{}\[\]",:a\\0-9 ]{0,40}"#) {
        survives(&mut Wire::default(), &bytes)?;
        survives(&mut Wire::default(), text.as_bytes())?;
    }

    #[test]
    fn equal_bytes_are_one_block_and_others_are_others(
        contents in prop::collection::vec((prop::collection::vec(select(b"ab".to_vec()), 0..4), 0..3usize, 0..2usize, 0..2usize), 1..20),
    ) {
        let mut blocks = Blocks::default();
        let mut seen = Vec::new();
        for (bytes, level, role, kind) in contents {
            let level = [Level::Tools, Level::System, Level::Messages][level];
            let (role, kind) = ([Role::User, Role::Assistant][role], [BlockKind::Text, BlockKind::Opaque][kind]);
            let id = blocks.intern(Content { level, role, kind, bytes: &bytes });
            let key = (bytes, level, role, kind);
            for (other, known) in &seen {
                prop_assert_eq!(id == *known, key == *other);
            }
            seen.push((key, id));
        }
    }
}
