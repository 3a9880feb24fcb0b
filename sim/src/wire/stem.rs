//! What the requests of a wide fan-out begin with, walked once for all of them.
//!
//! Each of N siblings sends the N calls of the message that forked and N results: N² blocks, of which every request has a
//! handful to itself. A stem is the path up to there. What a request adds to it costs what it adds.

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
use super::prefix::{NodeId, Prefixes};
use super::request::Request;
use super::sizing::Sizes;

/// What many requests may begin with: all up to the shared blocks of one message ([`Pieces::shared`]).
#[derive(Debug)]
pub struct Beginning {
    /// Model, levels and messages; of the last message the shared blocks alone. It has no marks.
    draft: Draft,
    scope: Rc<str>,
}

/// A beginning as it was taken.
#[derive(Debug)]
pub struct Stem {
    beginning: Rc<Beginning>,
    request: Request,
    /// Where each block stands in the path.
    steps: BTreeMap<Place, usize>,
}

/// Shared blocks that make a stem worth its while.
const SHARED_MIN: usize = 16;

impl Wire {
    /// The stem of a beginning that an earlier request had; nothing where what comes behind it decides how it is read.
    pub fn stem(&mut self, beginning: &Rc<Beginning>) -> Option<Stem> {
        let draft = &beginning.draft;
        let request = self.take(draft, &beginning.scope);
        let decides = draft.head().strips_thinking(self.forms()) || request.envelope_value("cache_control").is_some();
        if decides || request.markers_sent > 0 {
            return None;
        }
        let steps = request.places.iter().copied().enumerate().map(|(at, place)| (place, at)).collect();
        Some(Stem { beginning: beginning.clone(), request, steps })
    }

    /// The request that `draft` is, of which `nodes` and `places` are those behind the stem alone; nothing where it does not
    /// begin with the stem, or has something that only a look at all of it can judge. Otherwise it is the request of
    /// [`Wire::take`], but for `excluded`. What the stem holds counts as known.
    pub fn take_behind(&mut self, stem: &Stem, draft: &Draft, scope: &str) -> Option<Request> {
        if !stem.beginning.begins(draft, scope) {
            return None;
        }
        // All looks before the first step: a path that is given up half-way would count as sent.
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
            excluded: Vec::new(),
            envelope: beginning.envelope.clone(),
            addresses: None,
            ..*beginning
        })
    }

    /// What `draft` adds to the stem; nothing where it decides how the rest is read.
    fn parts_behind(&mut self, stem: &Stem, draft: &Draft) -> Option<Vec<(Part, Place)>> {
        let mut found = Vec::new();
        let last = stem.beginning.last_message();
        for (item, message) in draft.messages.iter().enumerate().skip(last) {
            let from = if item == last { stem.beginning.shared().len() } else { 0 };
            // Results stand in the order of their calls: in a message that has some already, or several, they may move.
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

    /// A block of a message that stands where it was sent and changes nothing elsewhere.
    fn plain(&mut self, piece: &Piece, role: Role) -> Option<Part> {
        let part = self.part(piece, Level::Messages, spoken(role));
        let is_plain = part.place == PartPlace::Prompt && !part.image && !part.citations && part.marker.is_none();
        is_plain.then_some(part)
    }

    /// Where the breakpoints stand in the path, of which `places` are those behind the stem.
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

    /// The request of which [`Wire::take_behind`] gives what lies behind the stem.
    pub fn whole(&self, behind: Request) -> Request {
        let Self { request: beginning, .. } = self;
        let nodes = [&beginning.nodes[..], &behind.nodes].concat();
        let places = [&beginning.places[..], &behind.places].concat();
        Request { nodes, places, excluded: beginning.excluded.clone(), ..behind }
    }

    /// Sizes of the prefixes of a request that begins with the stem: those of the stem, then those behind it.
    pub fn sizes<'a>(&self, prefixes: &'a Prefixes, stem: &'a [u64], behind: &'a [u64]) -> StemSizes<'a> {
        let first_depth = self.request.nodes.first().map_or(1, |node| prefixes.depth(*node));
        StemSizes { prefixes, first_depth, stem, behind }
    }

    /// Blocks of the stem.
    fn len(&self) -> usize {
        self.request.nodes.len()
    }

    /// Where the block at `place` stands in a path whose places behind the stem are `behind`.
    fn step(&self, place: Place, behind: &[Place]) -> Option<usize> {
        let own = || behind.binary_search(&place).ok().map(|at| self.len() + at);
        self.steps.get(&place).copied().or_else(own)
    }
}

impl Beginning {
    /// What `draft`, sent in `scope`, may have in common with others; nothing where few of its blocks are shared.
    pub fn of(draft: &Draft, scope: &str) -> Option<Self> {
        let at = last_shared(draft)?;
        let mut messages = draft.messages[..at].to_vec();
        let Message { role, content } = &*draft.messages[at];
        messages.push(Rc::new(Message { role: *role, content: content.shared_part() }));
        Some(Self { draft: Draft { messages, marks: Vec::new(), ..draft.clone() }, scope: scope.into() })
    }

    /// Whether `draft`, sent in `scope`, begins with it and with no longer one.
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

/// Whether both levels have the same blocks at the same sizes. What is rendered or put together anew is not the same list.
fn alike(one: &Rc<[Piece]>, other: &Rc<[Piece]>) -> bool {
    let said = |piece: &Piece| (piece.declared_tokens(), piece.json().len());
    let same =
        |(one, other): (&Piece, &Piece)| one.same(other) || said(one) == said(other) && one.json() == other.json();
    Rc::ptr_eq(one, other) || one.len() == other.len() && one.iter().zip(other.iter()).all(same)
}

fn place(level: Level, item: usize, part: usize) -> Place {
    Place { level, item: number(item), part: number(part), keys: false }
}

/// Sizes along a path of which the beginning is a stem.
#[derive(Clone, Copy, Debug)]
pub struct StemSizes<'a> {
    prefixes: &'a Prefixes,
    first_depth: u32,
    stem: &'a [u64],
    behind: &'a [u64],
}

impl Sizes for StemSizes<'_> {
    fn tokens_at(&self, node: NodeId) -> u64 {
        let Some(at) = self.prefixes.depth(node).checked_sub(self.first_depth) else { return 0 };
        let at = at as usize;
        let stem = self.stem.len();
        let found = if at < stem { self.stem.get(at) } else { self.behind.get(at - stem) };
        found.or(self.behind.last()).or(self.stem.last()).copied().unwrap_or(0)
    }
}
