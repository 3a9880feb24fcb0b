//! Pieces of a request that has not been sent yet: blocks with real bytes, shared by all requests that contain them.
//!
//! A piece remembers how it was read, so an agent's hundredth request reads only the bytes of its last turn.

use std::cell::{OnceCell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::{Arc, Weak};

use serde_json::Value;

use super::block::Blocks;
use super::body;
use super::json;
use super::level::{Level, Role};
use super::normal::NormalForms;
use super::part::{ElementReader, Part, PartPlace};

/// One block as it will be sent, without breakpoint: a tool definition, a system block or a content block.
///
/// Immutable and cheap to clone: a clone is the same piece.
#[derive(Clone)]
pub struct Piece(Rc<Inner>);

struct Inner {
    json: Json,
    declared_tokens: Option<u64>,
    readings: RefCell<Readings>,
}

/// How a piece was read. Most pieces are read by one wire at one position, and a run has many of them.
#[derive(Default)]
struct Readings {
    latest: Option<Reading>,
    rest: Option<Box<Rest>>,
}

/// The bytes of a piece.
#[derive(Clone)]
enum Json {
    Whole(Rc<str>),
    Begun(Box<Begun>),
    Result(Rc<FormedResult>),
}

/// Bytes in two parts, of which other pieces share the first.
#[derive(Clone)]
struct Begun {
    beginning: Rc<str>,
    rest: Box<str>,
    /// Both together, once something has needed them for longer than a look.
    whole: OnceCell<Rc<str>>,
}

impl Begun {
    fn join(&self) -> String {
        [&*self.beginning, &*self.rest].concat()
    }
}

/// The beginning of a text block, stored once for all pieces that begin so: the rules of a fork are longer than what
/// its siblings do not share, and thousands of them wait at a time.
#[derive(Clone, Debug)]
pub struct TextBeginning(Rc<str>);

impl TextBeginning {
    /// Text blocks that begin with `text`.
    pub fn new(text: &str) -> Self {
        let whole = Piece::text(text);
        let end = whole.json().len() - "\"}".len();
        Self(whole.json()[..end].into())
    }

    /// The piece that continues with `rest`: the same bytes as [`Piece::text`] has for the whole text.
    pub fn piece(&self, rest: &str) -> Piece {
        let mut bytes = Vec::with_capacity(rest.len() + 2);
        json::push_string(rest, &mut bytes);
        bytes.push(b'}');
        let rest = text_of(bytes.split_off(1)).into_boxed_str();
        let begun = Begun { beginning: Rc::clone(&self.0), rest, whole: OnceCell::new() };
        Piece::with(Json::Begun(Box::new(begun)), None)
    }
}

/// A text of fixed parts, with a word between each two of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// The fixed parts, one more than there are words.
    pub parts: &'static [&'static str; 3],
    /// The words.
    pub words: [Rc<str>; 2],
}

impl Form {
    /// The whole text.
    pub fn text(&self) -> String {
        let [first, second] = &self.words;
        let [start, middle, end] = self.parts;
        [start, &**first, middle, &**second, end].concat()
    }
}

/// The result of a call, made when something needs its bytes: thousands of results that differ in a few words may wait at
/// a time.
struct FormedResult {
    call: Rc<str>,
    content: Form,
    /// The bytes, once something has needed them for longer than a look.
    whole: OnceCell<Rc<str>>,
}

impl FormedResult {
    fn write(&self) -> String {
        result(&self.call, &self.content.text(), false)
    }
}

fn text_of(bytes: Vec<u8>) -> String {
    debug_assert!(str::from_utf8(&bytes).is_ok(), "text in, text out");
    String::from_utf8(bytes).unwrap_or_default()
}

/// What few pieces have.
#[derive(Default)]
struct Rest {
    others: Vec<Reading>,
    canonicals: Vec<Canonical>,
}

/// How one wire interned this piece at one position.
struct Reading {
    wire: WeakIdentity,
    level: Level,
    role: Role,
    part: Part,
}

impl Reading {
    fn is_at(&self, wire: &WireIdentity, level: Level, role: Role) -> bool {
        self.wire.is(wire) && self.level == level && self.role == role
    }
}

/// How a piece reads without a wire: its canonical bytes as a digest, under the default normal forms.
#[derive(Clone)]
pub struct Canonical {
    level: Level,
    role: Role,
    /// Facts that the rules need; the block id in it is meaningless.
    pub part: Part,
    /// Digest of the canonical block.
    pub digest: blake3::Hash,
    /// Canonical bytes of a tool that alters the system text.
    pub system_tool: Option<Rc<[u8]>>,
}

/// Distinguishes wires. A clone of a wire develops on its own, so it gets an identity of its own.
#[derive(Debug, Default)]
pub struct WireIdentity(Arc<()>);

/// The identity of a wire that may have been dropped.
#[derive(Clone, Debug, Default)]
pub struct WeakIdentity(Weak<()>);

impl WireIdentity {
    /// The identity, for later comparisons.
    pub fn downgrade(&self) -> WeakIdentity {
        WeakIdentity(Arc::downgrade(&self.0))
    }
}

impl WeakIdentity {
    /// Whether it is the identity of `wire`.
    pub fn is(&self, wire: &WireIdentity) -> bool {
        std::ptr::eq(self.0.as_ptr(), Arc::as_ptr(&wire.0))
    }
}

impl Clone for WireIdentity {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Piece {
    /// The piece with these bytes, which must be one JSON object. A `cache_control` in it is sent as it is.
    pub fn new(json: String) -> Self {
        debug_assert!(body::is_valid(json.as_bytes()), "a piece is JSON: {json}");
        debug_assert!(json.trim_start().starts_with('{'), "a piece is an object: {json}");
        let trimmed = json.trim_matches([' ', '\n', '\r', '\t']);
        let json = if trimmed.len() < json.len() { Rc::from(trimmed) } else { Rc::from(json) };
        Self::with(Json::Whole(json), None)
    }

    fn with(json: Json, declared_tokens: Option<u64>) -> Self {
        Self(Rc::new(Inner { json, declared_tokens, readings: RefCell::default() }))
    }

    /// A text block.
    pub fn text(text: &str) -> Self {
        Self::object(&[("type", Field::Text("text")), ("text", Field::Text(text))])
    }

    /// A tool call. Keys of `input` are sent in their order in `input`.
    pub fn tool_use(id: &str, name: &str, input: &Value) -> Self {
        Self::tool_use_raw(id, name, &input.to_string())
    }

    /// A tool call with JSON text as its input, which keeps the order of its keys: clients send them back in the order
    /// of the tool's schema (`clients.md` 1, trap 6, client version 2.1.330, 2026-11).
    pub fn tool_use_raw(id: &str, name: &str, input: &str) -> Self {
        Self::tool_use_by(id, name, input, None)
    }

    /// The same with the `caller` that the provider named, as JSON: clients send it back (wire captures, 2026-04).
    pub fn tool_use_by(id: &str, name: &str, input: &str, caller: Option<&str>) -> Self {
        let mut fields = vec![
            ("type", Field::Text("tool_use")),
            ("id", Field::Text(id)),
            ("name", Field::Text(name)),
            ("input", Field::Raw(input)),
        ];
        fields.extend(caller.map(|caller| ("caller", Field::Raw(caller))));
        Self::object(&fields)
    }

    /// The result of the call `tool_use_id`. `is_error` is sent if it is true.
    pub fn tool_result(tool_use_id: &str, content: &str, is_error: bool) -> Self {
        Self::new(result(tool_use_id, content, is_error))
    }

    /// The result of a call that did not fail: the same bytes as [`Self::tool_result`] has for the whole text.
    pub fn formed_result(call: Rc<str>, content: Form) -> Self {
        Self::with(Json::Result(Rc::new(FormedResult { call, content, whole: OnceCell::new() })), None)
    }

    /// The id of the call that it answers, if it is a result as [`Self::tool_result`] writes them.
    pub fn answered_call(&self) -> Option<&str> {
        self.json().strip_prefix("{\"tool_use_id\":\"")?.split('"').next()
    }

    /// Whether it is the call `id`, or its result.
    pub fn is_about(&self, id: &str) -> bool {
        if !self.json().contains(id) {
            return false;
        }
        let says = |key: &[u8]| json::member(self.json().as_bytes(), key).and_then(json::string).as_deref() == Some(id);
        says(b"\"id\"") || says(b"\"tool_use_id\"")
    }

    /// Thinking with its signature.
    pub fn thinking(thinking: &str, signature: &str) -> Self {
        Self::object(&[
            ("type", Field::Text("thinking")),
            ("thinking", Field::Text(thinking)),
            ("signature", Field::Text(signature)),
        ])
    }

    fn object(fields: &[(&str, Field<'_>)]) -> Self {
        Self::new(object(fields))
    }

    /// The same bytes with a declared size: a scenario declares `tokens` for this block.
    #[must_use]
    pub fn sized(mut self, tokens: u64) -> Self {
        match Rc::get_mut(&mut self.0) {
            Some(only) => only.declared_tokens = Some(tokens),
            None => self = Self::with(self.0.json.clone(), Some(tokens)),
        }
        self
    }

    /// The bytes.
    pub fn json(&self) -> &str {
        match &self.0.json {
            Json::Whole(json) => json,
            Json::Begun(begun) => begun.whole.get_or_init(|| begun.join().into()),
            Json::Result(formed) => formed.whole.get_or_init(|| formed.write().into()),
        }
    }

    /// Looks at the bytes once: those in parts are not kept together for it.
    pub(super) fn look<T>(&self, look: impl FnOnce(&[u8]) -> T) -> T {
        self.read(|json| look(json.as_bytes()))
    }

    /// The same, as text.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&str) -> T) -> T {
        match &self.0.json {
            Json::Begun(begun) if begun.whole.get().is_none() => look(&begun.join()),
            Json::Result(formed) if formed.whole.get().is_none() => look(&formed.write()),
            Json::Whole(_) | Json::Begun(_) | Json::Result(_) => look(self.json()),
        }
    }

    /// Number of bytes, which are not kept for it.
    pub(crate) fn written_bytes(&self) -> u64 {
        self.read(|json| json.len() as u64)
    }

    /// The declared number of tokens, if a scenario declares one.
    pub fn declared_tokens(&self) -> Option<u64> {
        self.0.declared_tokens
    }

    /// Whether the two are the same piece and not only equal.
    pub fn same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// How the wire with this identity read the piece at this place.
    pub(super) fn reading(&self, wire: &WireIdentity, level: Level, role: Role) -> Option<Part> {
        let is_it = |reading: &&Reading| reading.is_at(wire, level, role);
        let readings = self.0.readings.borrow();
        if let Some(reading) = readings.latest.as_ref().filter(is_it) {
            return Some(reading.part);
        }
        readings.rest.as_ref()?.others.iter().find(is_it).map(|reading| reading.part)
    }

    /// Stores a reading, and drops those of wires that no longer exist.
    pub(super) fn keep_reading(&self, wire: &WireIdentity, level: Level, role: Role, part: Part) {
        let latest = Reading { wire: wire.downgrade(), level, role, part };
        let mut readings = self.0.readings.borrow_mut();
        let Some(before) = readings.latest.replace(latest) else { return };
        let others = &mut readings.rest.get_or_insert_default().others;
        others.push(before);
        others.retain(|reading| reading.wire.0.strong_count() > 0);
    }

    /// The piece in the default normal forms, made once for each place.
    pub(super) fn canonical(&self, level: Level, role: Role) -> Canonical {
        let mut readings = self.0.readings.borrow_mut();
        let kept = &mut readings.rest.get_or_insert_default().canonicals;
        if let Some(known) = kept.iter().find(|known| known.level == level && known.role == role) {
            return known.clone();
        }
        let mut blocks = Blocks::default();
        let forms = NormalForms::default();
        let part = ElementReader { blocks: &mut blocks, forms: &forms }.piece(level, role, self.json().as_bytes());
        let system_tool = (part.place == PartPlace::SystemHead).then(|| Rc::from(blocks.bytes(part.block)));
        let canonical = Canonical { level, role, part, digest: blocks.digest(part.block), system_tool };
        kept.push(canonical.clone());
        canonical
    }
}

/// The bytes of a tool result.
fn result(call: &str, content: &str, is_error: bool) -> String {
    let mut fields = vec![
        ("tool_use_id", Field::Text(call)),
        ("type", Field::Text("tool_result")),
        ("content", Field::Text(content)),
    ];
    if is_error {
        fields.push(("is_error", Field::Raw("true")));
    }
    object(&fields)
}

fn object(fields: &[(&str, Field<'_>)]) -> String {
    let length = fields.iter().map(|(key, value)| key.len() + value.text().len() + 6).sum::<usize>();
    let mut bytes = Vec::with_capacity(length + length / 32);
    for (index, (key, value)) in fields.iter().enumerate() {
        bytes.push(if index == 0 { b'{' } else { b',' });
        json::push_string(key, &mut bytes);
        bytes.push(b':');
        match value {
            Field::Text(text) => json::push_string(text, &mut bytes),
            Field::Raw(raw) => bytes.extend_from_slice(raw.as_bytes()),
        }
    }
    bytes.push(b'}');
    text_of(bytes)
}

/// A value of an object to be serialised.
#[derive(Clone, Copy)]
enum Field<'a> {
    Text(&'a str),
    Raw(&'a str),
}

impl<'a> Field<'a> {
    const fn text(self) -> &'a str {
        match self {
            Self::Text(text) | Self::Raw(text) => text,
        }
    }
}

impl fmt::Debug for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.json())
    }
}
