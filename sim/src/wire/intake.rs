//! From the raw body of a request to a path in the arena.

use std::cell::Cell;

use super::block::{BlockKind, Blocks, Content};
use super::body::{self, Body, BodyError};
use super::json;
use super::level::{Level, Place, Role};
use super::marker::{Marker, Ttl};
use super::memory::ElementMemory;
use super::model;
use super::normal::{self, NormalForms};
use super::parameters::{self, PromptFacts};
use super::part::{Element, ElementReader, Part, PartPlace};
use super::prefix::Prefixes;
use super::request::{BadMarker, BadMarkerWhy, EnvelopeField, Excluded, ExcludedWhy, Request};

/// Everything that was ever sent: the blocks and prefixes of a run, and how bodies become paths among them.
#[derive(Clone, Debug, Default)]
pub struct Wire {
    /// Distinct blocks.
    pub blocks: Blocks,
    /// Distinct prefixes.
    pub prefixes: Prefixes,
    forms: NormalForms,
    memory: ElementMemory,
}

/// A part at its place in the prompt, before the path is laid.
#[derive(Clone, Copy, Debug)]
struct Placed {
    part: Part,
    place: Place,
}

impl Wire {
    /// An empty wire under `forms`.
    pub fn new(forms: NormalForms) -> Self {
        Self { forms, ..Self::default() }
    }

    /// The normal forms in force.
    pub const fn forms(&self) -> &NormalForms {
        &self.forms
    }

    /// Reads a body sent in `scope`. `model_outside` is the model where the address names it and the body does not.
    ///
    /// # Errors
    /// When the body is no request of the Messages API; no prefix is kept of it then.
    pub fn read(&mut self, body: &[u8], scope: &str, model_outside: &str) -> Result<Request, BodyError> {
        let cut = body::cut_expecting(body, &self.memory)?;
        let envelope = envelope(&cut);
        let model = envelope
            .iter()
            .find(|field| field.key == "model")
            .and_then(|field| json::string(&field.value))
            .unwrap_or_else(|| model_outside.to_owned());
        let resolved = model::resolve(&model);
        let keeps_thinking = resolved.and_then(|resolved| resolved.id.row().keeps_thinking).unwrap_or(true);

        let mut placed = self.elements(&cut)?;
        if self.forms.thinking_stripped && !keeps_thinking {
            strip_thinking(&mut placed);
        }
        let mut request = Request {
            root: self.prefixes.root(scope, resolved.map_or(model.as_str(), |resolved| resolved.id.row().id)),
            model,
            resolved,
            nodes: Vec::with_capacity(placed.len() + 2),
            places: Vec::with_capacity(placed.len() + 2),
            known: 0,
            markers: Vec::new(),
            markers_sent: 0,
            bad_markers: Vec::new(),
            automatic_conflict: None,
            excluded: Vec::new(),
            envelope,
            body_bytes: body.len() as u64,
        };
        self.lay(&placed, &mut request);
        if let Some(ttl) = request.envelope_value("cache_control").and_then(normal::ttl) {
            set_automatic(&mut request, &placed, ttl, &self.prefixes);
        }
        Ok(request)
    }

    fn elements(&mut self, cut: &Body<'_>) -> Result<Vec<Placed>, BodyError> {
        let mut placed = Vec::with_capacity(cut.tools.len() + cut.system.len() + cut.messages.len() * 2);
        let generation = self.memory.generation();
        let tools = self.level(Level::Tools, &cut.tools, &mut placed)?;
        if let Some(raw) = cut.system_string {
            if !body::is_valid(raw) {
                return Err(broken("system".to_owned()));
            }
            let Self { blocks, forms, .. } = self;
            place(&ElementReader { blocks, forms }.system_string(raw), Level::System, 0, &mut placed);
        }
        let system = self.level(Level::System, &cut.system, &mut placed)?;
        let messages = self.level(Level::Messages, &cut.messages, &mut placed)?;
        self.memory.remember([tools, system, messages], generation);
        Ok(placed)
    }

    /// Places the elements of a level; gives their rows in the memory.
    fn level(&mut self, level: Level, raws: &[&[u8]], placed: &mut Vec<Placed>) -> Result<Vec<u32>, BodyError> {
        let calls = Cell::new((0, 0));
        let mut rows = Vec::with_capacity(raws.len());
        for (item, raw) in raws.iter().enumerate() {
            let from = placed.len();
            match self.memory.get(level, raw) {
                Some((row, element)) => {
                    place(element, level, item, placed);
                    rows.push(row);
                }
                None => {
                    let element = self.read_element(level, item, raw)?;
                    place(&element, level, item, placed);
                    rows.push(self.memory.put(level, raw, element));
                }
            }
            if self.forms.results_sorted && level == Level::Messages {
                sort_results(placed, from, &calls);
            }
        }
        Ok(rows)
    }

    fn read_element(&mut self, level: Level, item: usize, raw: &[u8]) -> Result<Element, BodyError> {
        let path = || format!("{}[{item}]", level.name());
        let first = raw.first().copied();
        let string_in_system = level == Level::System && first == Some(b'"');
        if first != Some(b'{') && !string_in_system {
            return Err(BodyError::Shape { path: path(), found: body::shape(first), expected: "an object" });
        }
        if !body::is_valid(raw) {
            return Err(broken(path()));
        }
        let Self { blocks, forms, .. } = self;
        ElementReader { blocks, forms }.read(level, raw).map_err(|error| BodyError::Shape {
            path: path(),
            found: "another shape",
            expected: error.expected,
        })
    }

    /// Lays the path of prefixes: each level's parameters, then its blocks.
    fn lay(&mut self, placed: &[Placed], request: &mut Request) {
        let facts = self.facts(placed);
        let mut next = 0;
        let mut all_known = true;
        for level in [Level::Tools, Level::System, Level::Messages] {
            if let Some(bytes) = parameters::canonical(level, &request.envelope, &facts, &self.forms) {
                let content = Content { level, role: Role::None, kind: BlockKind::Parameters, bytes: &bytes };
                let block = self.blocks.intern(content);
                self.step(request, block, BlockKind::Parameters, Place::head(level), &mut all_known);
            }
            while let Some(Placed { part, place }) = placed.get(next).filter(|placed| placed.place.level == level) {
                if part.place == PartPlace::Prompt {
                    self.step(request, part.block, part.kind, *place, &mut all_known);
                } else if part.place == PartPlace::Excluded {
                    let why = match level {
                        Level::Tools => ExcludedWhy::DeferredTool,
                        Level::System => ExcludedWhy::BillingHeader,
                        Level::Messages => ExcludedWhy::StrippedThinking,
                    };
                    request.excluded.push(Excluded { place: *place, block: part.block, why });
                }
                mark(request, part, *place);
                next += 1;
            }
        }
    }

    fn step(
        &mut self,
        request: &mut Request,
        block: super::block::BlockId,
        kind: BlockKind,
        place: Place,
        all_known: &mut bool,
    ) {
        let (node, new) = self.prefixes.extend(request.end(), block, kind);
        request.nodes.push(node);
        request.places.push(place);
        *all_known &= !new;
        request.known += usize::from(*all_known);
    }

    fn facts(&self, placed: &[Placed]) -> PromptFacts {
        let mut facts = PromptFacts::default();
        for Placed { part, .. } in placed {
            facts.citations |= part.citations;
            facts.image |= part.image;
            if part.place == PartPlace::SystemHead {
                facts.system_tools.push(self.blocks.bytes(part.block).to_vec());
            }
        }
        facts
    }
}

fn broken(path: String) -> BodyError {
    BodyError::Shape { path, found: "broken JSON", expected: "a JSON value" }
}

/// Top-level keys that are not prompt, in the normal spelling.
fn envelope(cut: &Body<'_>) -> Vec<EnvelopeField> {
    cut.fields
        .iter()
        .map(|(key, value)| {
            let mut bytes = Vec::with_capacity(value.len());
            json::normalise(value, &mut bytes);
            EnvelopeField { key: key.clone(), value: bytes }
        })
        .collect()
}

fn place(element: &Element, level: Level, item: usize, placed: &mut Vec<Placed>) {
    let item = u32::try_from(item).unwrap_or(u32::MAX - 1);
    for part in &element.parts {
        let keys = part.kind == BlockKind::Parameters;
        placed.push(Placed { part: *part, place: Place { level, item, part: part.index, keys } });
    }
}

/// Puts the results of the message that begins at `from` into the order of the last calls before it.
///
/// Undocumented: recordings show that clients which send parallel results in completion order do not break their
/// prefix, and that the marker travels with its block (`observed.md` 1, recordings of 2026-01 to 2026-08).
fn sort_results(placed: &mut [Placed], from: usize, calls: &Cell<(usize, usize)>) {
    let is_kind = |placed: &Placed, kind| placed.part.kind == kind;
    if placed[from..].iter().any(|placed| is_kind(placed, BlockKind::ToolUse)) {
        calls.set((from, placed.len()));
        return;
    }
    let (calls_from, calls_to) = calls.get();
    let slots: Vec<usize> =
        (from..placed.len()).filter(|index| is_kind(&placed[*index], BlockKind::ToolResult)).collect();
    if slots.len() < 2 {
        return;
    }
    let order = |call: u64| {
        let asked = placed[calls_from..calls_to].iter().position(|placed| placed.part.call == call && call != 0);
        asked.unwrap_or(usize::MAX)
    };
    let mut results: Vec<(usize, Placed)> =
        slots.iter().map(|slot| (order(placed[*slot].part.call), placed[*slot])).collect();
    results.sort_by_key(|(order, _)| *order);
    for (slot, (_, result)) in slots.into_iter().zip(results) {
        placed[slot] = result;
    }
}

/// Takes thinking out of all assistant turns before the last user turn that brings no tool result.
fn strip_thinking(placed: &mut [Placed]) {
    let Some(last_user_turn) = last_user_turn(placed) else { return };
    for Placed { part, place } in placed {
        if part.kind == BlockKind::Thinking && place.level == Level::Messages && place.item < last_user_turn {
            part.place = PartPlace::Excluded;
        }
    }
}

/// The message index of the last user turn that brings no tool result. Thinking stands in assistant messages alone,
/// so a message that holds thinking is none.
fn last_user_turn(placed: &[Placed]) -> Option<u32> {
    let messages = placed.iter().filter(|placed| placed.place.level == Level::Messages);
    let mut last: Option<(u32, bool)> = None;
    let mut found = None;
    for Placed { part, place } in messages {
        let user = part.role == Role::User;
        let plain = user && part.kind != BlockKind::ToolResult;
        last = match last {
            Some((item, all_plain)) if item == place.item => Some((item, all_plain && plain)),
            _ => {
                found = last.filter(|(_, plain)| *plain).map(|(item, _)| item).or(found);
                Some((place.item, plain))
            }
        };
    }
    last.filter(|(_, plain)| *plain).map(|(item, _)| item).or(found)
}

/// Notes the breakpoint of a part. On a block outside the identity it marks the block before it.
fn mark(request: &mut Request, part: &Part, place: Place) {
    let Some(ttl) = part.marker else { return };
    request.markers_sent += 1;
    let why = match part.kind {
        BlockKind::Thinking => Some(BadMarkerWhy::Thinking),
        _ if part.empty => Some(BadMarkerWhy::EmptyText),
        _ => None,
    };
    if let Some(why) = why {
        request.bad_markers.push(BadMarker { place, why });
        return;
    }
    if !request.nodes.is_empty() {
        request.markers.push(Marker { node: request.end(), ttl, place, automatic: false });
    }
}

/// Puts the automatic breakpoint on the last block that can carry one. On an already marked block it changes nothing
/// where the lifetimes agree (prompt-caching page, "automatic caching", 2026-09).
fn set_automatic(request: &mut Request, placed: &[Placed], ttl: Ttl, prefixes: &Prefixes) {
    let eligible = |part: &Part| {
        part.place == PartPlace::Prompt
            && !part.empty
            && !matches!(part.kind, BlockKind::Thinking | BlockKind::Parameters)
    };
    let Some(last) = placed.iter().rev().find(|placed| eligible(&placed.part)) else { return };
    let Some(at) = request.places.iter().rposition(|place| *place == last.place) else { return };
    let node = request.nodes[at];
    if let Some(own) = request.markers.iter().find(|marker| marker.node == node) {
        if own.ttl != ttl {
            request.automatic_conflict = Some((ttl, own.ttl));
        }
        return;
    }
    request.markers_sent += 1;
    request.markers.push(Marker { node, ttl, place: last.place, automatic: true });
    request.markers.sort_by_key(|marker| prefixes.depth(marker.node));
}
