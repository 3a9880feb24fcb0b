//! The common beginning of a wide fan-out's requests, walked once for all of them.
//!
//! Each of N siblings sends the N calls of the message that forked and N results: N² blocks, of which only a handful
//! differ between requests. A stem is the path of the shared blocks. A request then costs only the blocks that it adds.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::block::BlockKind;
use super::draft::{Draft, Mark, Message};
use super::draft_parts::spoken;
use super::intake::Wire;
use super::level::{Level, Place, Role};
use super::marker::{Marker, Ttl};
use super::number::number;
use super::part::{Part, PartPlace};
use super::piece::Piece;
use super::pieces::Pieces;
use super::prefix::Prefixes;
use super::request::Request;
use super::sizing::PathSizes;

/// A beginning that many requests may share: everything up to the shared blocks of one message ([`Pieces::shared`]).
#[derive(Debug)]
pub struct Beginning {
    /// Model, levels and messages, without marks; the last message only has the shared blocks.
    draft: Draft,
    scope: Rc<str>,
}

/// The path of a beginning.
#[derive(Debug)]
pub struct Stem {
    beginning: Rc<Beginning>,
    request: Request,
    /// Position of each block in the path.
    steps: BTreeMap<Place, usize>,
}

/// Fewest shared blocks that make a stem worthwhile.
const SHARED_MIN: usize = 16;

impl Wire {
    /// The stem of a beginning that an earlier request had; `None` if later blocks decide how it is read.
    pub fn stem(&mut self, beginning: &Rc<Beginning>) -> Option<Stem> {
        let draft = &beginning.draft;
        let request = self.take(draft, &beginning.scope);
        let decides = draft.head().thinking_turns_kept(self.forms()).is_some()
            || request.envelope_value("cache_control").is_some();
        if decides || request.markers_sent > 0 {
            return None;
        }
        let steps = request.places.iter().copied().enumerate().map(|(at, place)| (place, at)).collect();
        Some(Stem { beginning: beginning.clone(), request, steps })
    }

    /// The request of `draft`, with only the `nodes` and `places` after the stem. `None` if it does not begin with the
    /// stem, or contains something that requires looking at all of it. Otherwise it is the request that [`Wire::take`]
    /// returns, except for `excluded`. The content of the stem counts as known.
    pub fn take_behind(&mut self, stem: &Stem, draft: &Draft, scope: &str) -> Option<Request> {
        if !stem.beginning.begins(draft, scope) {
            return None;
        }
        // Check everything before the first step: a path abandoned half-way would count as sent.
        let parts = self.parts_behind(stem, draft)?;
        let places: Vec<Place> = parts.iter().map(|(_, place)| *place).collect();
        let marks = self.marks(stem, draft, &places)?;
        let mut nodes = Vec::with_capacity(parts.len());
        let mut known = stem.len();
        let mut end = stem.request.end();
        for (part, _) in parts {
            let (node, is_new) = self.prefixes.extend(end, part.block, part.kind);
            end = node;
            known += usize::from(!is_new);
            nodes.push(node);
        }
        let beginning = &stem.request;
        let node = |at: usize| beginning.nodes.get(at).copied().unwrap_or_else(|| nodes[at - stem.len()]);
        let marker = |(at, (place, ttl))| Marker { node: node(at), ttl, place, automatic: false };
        let markers: Vec<Marker> = marks.into_iter().map(marker).collect();
        Some(Request {
            model: beginning.model.clone(),
            known,
            markers_sent: markers.len(),
            markers,
            nodes,
            places,
            bad_markers: Vec::new(),
            missing_tool: beginning.missing_tool.clone(),
            excluded: Vec::new(),
            envelope: beginning.envelope.clone(),
            addresses: None,
            ..*beginning
        })
    }

    /// The part that `draft` adds to the stem; `None` if it decides how the rest is read.
    fn parts_behind(&mut self, stem: &Stem, draft: &Draft) -> Option<Vec<(Part, Place)>> {
        let mut found = Vec::new();
        let last = stem.beginning.last_message();
        for (item, message) in draft.messages.iter().enumerate().skip(last) {
            let from = if item == last { stem.beginning.shared().len() } else { 0 };
            // Results follow the order of their calls: with others before them, or several at once, they may move.
            let mut results = usize::from(item == last);
            for (at, piece) in message.content.iter().enumerate().skip(from) {
                let part = self.plain(piece, message.role)?;
                results += usize::from(part.kind == BlockKind::ToolResult);
                if results > 1 {
                    return None;
                }
                found.push((part, place(Level::Messages, item, at)));
            }
        }
        Some(found)
    }

    /// A message block that is at the position where it was sent and changes nothing elsewhere.
    fn plain(&mut self, piece: &Piece, role: Role) -> Option<Part> {
        let part = self.part(piece, Level::Messages, spoken(role));
        let is_plain = part.place == PartPlace::Prompt && !part.image && !part.citations && part.marker.is_none();
        is_plain.then_some(part)
    }

    /// Positions of the breakpoints in the path; `places` are those after the stem.
    fn marks(&mut self, stem: &Stem, draft: &Draft, places: &[Place]) -> Option<BTreeMap<usize, (Place, Ttl)>> {
        let mut found = BTreeMap::new();
        for Mark { level, item, part, ttl } in draft.marks.iter().copied() {
            let place = place(level, item, part);
            let Some(piece) = draft.piece(place) else { continue };
            let at = stem.step(place, places)?;
            let role = if level == Level::Messages { spoken(draft.messages[item].role) } else { Role::None };
            let part = self.part(piece, level, role);
            if part.empty || matches!(part.kind, BlockKind::Thinking) {
                return None;
            }
            // Of two on one block the last counts.
            found.insert(at, (place, ttl));
        }
        Some(found)
    }
}

impl Stem {
    /// The request of the stem alone.
    pub const fn request(&self) -> &Request {
        &self.request
    }

    /// The draft of the stem alone.
    pub fn draft(&self) -> &Draft {
        &self.beginning.draft
    }

    /// The full request for the part after the stem that [`Wire::take_behind`] returns.
    pub fn whole(&self, behind: Request) -> Request {
        let Self { request: beginning, .. } = self;
        let nodes = [&beginning.nodes[..], &behind.nodes].concat();
        let places = [&beginning.places[..], &behind.places].concat();
        Request { nodes, places, excluded: beginning.excluded.clone(), ..behind }
    }

    /// Sizes of the prefixes of a request that begins with the stem: those of the stem, then the others.
    pub fn sizes<'a>(&self, prefixes: &'a Prefixes, stem: &'a [u64], behind: &'a [u64]) -> PathSizes<'a> {
        PathSizes::in_parts(prefixes, self.request.nodes.first(), [stem, behind])
    }

    /// Blocks of the stem.
    fn len(&self) -> usize {
        self.request.nodes.len()
    }

    /// Position of the block at `place` in a path with the places `behind` after the stem.
    fn step(&self, place: Place, behind: &[Place]) -> Option<usize> {
        let own = || behind.binary_search(&place).ok().map(|at| self.len() + at);
        self.steps.get(&place).copied().or_else(own)
    }
}

impl Beginning {
    /// The part of `draft`, sent in `scope`, that others may share; `None` if few of its blocks are shared.
    pub fn of(draft: &Draft, scope: &str) -> Option<Self> {
        let at = last_shared(draft)?;
        let mut messages = draft.messages[..at].to_vec();
        let Message { role, content } = &*draft.messages[at];
        messages.push(Rc::new(Message { role: *role, content: content.shared_part() }));
        Some(Self { draft: Draft { messages, marks: Vec::new(), ..draft.clone() }, scope: scope.into() })
    }

    /// Whether `draft`, sent in `scope`, begins with this stem and with no longer one.
    pub fn begins(&self, draft: &Draft, scope: &str) -> bool {
        let own = &self.draft;
        let at = self.last_message();
        let Some(last) = draft.messages.get(at).filter(|_| last_shared(draft) == Some(at)) else { return false };
        let same = |(one, other): (&Rc<Message>, &Rc<Message>)| Rc::ptr_eq(one, other);
        *self.scope == *scope
            && own.model == draft.model
            && alike(&own.tools, &draft.tools)
            && alike(&own.system, &draft.system)
            && own.parameters == draft.parameters
            && last.role == own.messages[at].role
            && last.content.shares_with(self.shared())
            && own.messages[..at].iter().zip(&draft.messages).all(same)
    }

    fn last_message(&self) -> usize {
        self.draft.messages.len() - 1
    }

    fn shared(&self) -> &Pieces {
        &self.draft.messages[self.last_message()].content
    }
}

/// The last message that begins with many shared blocks.
fn last_shared(draft: &Draft) -> Option<usize> {
    draft.messages.iter().rposition(|message| message.content.shared_len() >= SHARED_MIN)
}

/// Whether both levels have the same blocks with the same sizes, and not lists that were assembled separately.
fn alike(one: &Rc<[Piece]>, other: &Rc<[Piece]>) -> bool {
    let said = |piece: &Piece| (piece.declared_tokens(), piece.json().len());
    let same =
        |(one, other): (&Piece, &Piece)| one.same(other) || said(one) == said(other) && one.json() == other.json();
    Rc::ptr_eq(one, other) || one.len() == other.len() && one.iter().zip(other.iter()).all(same)
}

fn place(level: Level, item: usize, part: usize) -> Place {
    Place { level, item: number(item), part: number(part), keys: false }
}
