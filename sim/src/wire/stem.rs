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
use super::marker::Marker;
use super::number::number;
use super::part::{Part, PartPlace};
use super::piece::Piece;
use super::pieces::Pieces;
use super::prefix::{NodeId, Prefixes};
use super::request::Request;
use super::sizing::Sizes;

/// The beginning of many requests: all up to the shared blocks of one message ([`Pieces::shared`]).
#[derive(Debug)]
pub struct Stem {
    /// Model, levels and messages; of the last message the shared blocks alone. It has no marks.
    draft: Draft,
    scope: Rc<str>,
    request: Request,
    /// Where each block stands in the path.
    steps: BTreeMap<Place, usize>,
}

/// Shared blocks that make a stem worth its while.
const SHARED_MIN: usize = 16;

impl Wire {
    /// The stem of `draft`, sent in `scope`; nothing where few of its blocks are shared, or where what comes behind them
    /// decides how they are read.
    pub fn stem(&mut self, draft: &Draft, scope: &str) -> Option<Stem> {
        let at = last_shared(draft)?;
        let mut messages = draft.messages[..at].to_vec();
        let Message { role, content } = &*draft.messages[at];
        messages.push(Rc::new(Message { role: *role, content: content.shared_part() }));
        let draft = Draft { messages, marks: Vec::new(), ..draft.clone() };
        let request = self.take(&draft, scope);
        let decides = draft.head().strips_thinking(self.forms()) || request.envelope_value("cache_control").is_some();
        if decides || request.markers_sent > 0 {
            return None;
        }
        let steps = request.places.iter().copied().enumerate().map(|(at, place)| (place, at)).collect();
        Some(Stem { draft, scope: scope.into(), request, steps })
    }

    /// The request that `draft` is, of which `nodes` and `places` are those behind the stem alone; nothing where it does not
    /// begin with the stem, or has something that only a look at all of it can judge. Otherwise it is the request of
    /// [`Wire::take`], but for `known`, `excluded` and `body_bytes`, which nobody has counted.
    pub fn take_behind(&mut self, stem: &Stem, draft: &Draft, scope: &str) -> Option<Request> {
        if !stem.begins(draft, scope) {
            return None;
        }
        let (nodes, places) = self.walk(stem, draft)?;
        let beginning = &stem.request;
        let mut request = Request {
            model: beginning.model.clone(),
            nodes,
            places,
            markers: Vec::new(),
            bad_markers: Vec::new(),
            excluded: Vec::new(),
            envelope: beginning.envelope.clone(),
            addresses: None,
            ..*beginning
        };
        self.mark(stem, draft, &mut request)?;
        Some(request)
    }

    /// The path behind the stem.
    fn walk(&mut self, stem: &Stem, draft: &Draft) -> Option<(Vec<NodeId>, Vec<Place>)> {
        let mut nodes = Vec::new();
        let mut places = Vec::new();
        let mut end = stem.request.end();
        let last = stem.last_message();
        for (item, message) in draft.messages.iter().enumerate().skip(last) {
            let from = if item == last { stem.shared().len() } else { 0 };
            // Results stand in the order of their calls: in a message that has some already, or several, they may move.
            let mut results = usize::from(item == last);
            for (part, piece) in message.content.iter().enumerate().skip(from) {
                let read = self.plain(piece, message.role)?;
                results += usize::from(read.kind == BlockKind::ToolResult);
                if results > 1 {
                    return None;
                }
                (end, _) = self.prefixes.extend(end, read.block, read.kind);
                nodes.push(end);
                places.push(place(Level::Messages, item, part));
            }
        }
        Some((nodes, places))
    }

    /// A block of a message that stands where it was sent and changes nothing elsewhere.
    fn plain(&mut self, piece: &Piece, role: Role) -> Option<Part> {
        let part = self.part(piece, Level::Messages, spoken(role));
        let is_plain = part.place == PartPlace::Prompt && !part.image && !part.citations && part.marker.is_none();
        is_plain.then_some(part)
    }

    /// Puts the breakpoints on, in the order of the path.
    fn mark(&mut self, stem: &Stem, draft: &Draft, request: &mut Request) -> Option<()> {
        let mut found = BTreeMap::new();
        for Mark { level, item, part, ttl } in draft.marks.iter().copied() {
            let place = place(level, item, part);
            let Some(piece) = draft.piece(place) else { continue };
            let at = stem.step(place, &request.places)?;
            let role = if level == Level::Messages { spoken(draft.messages[item].role) } else { Role::None };
            let part = self.part(piece, level, role);
            if part.empty || matches!(part.kind, BlockKind::Thinking) {
                return None;
            }
            let node = *stem.request.nodes.get(at).or_else(|| request.nodes.get(at - stem.len()))?;
            // Of two on one block the last counts.
            found.insert(at, Marker { node, ttl, place, automatic: false });
        }
        request.markers_sent = found.len();
        request.markers = found.into_values().collect();
        Some(())
    }
}

impl Stem {
    /// The request of the stem alone.
    pub const fn request(&self) -> &Request {
        &self.request
    }

    /// The draft of the stem alone.
    pub const fn draft(&self) -> &Draft {
        &self.draft
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

    fn last_message(&self) -> usize {
        self.draft.messages.len() - 1
    }

    fn shared(&self) -> &Pieces {
        &self.draft.messages[self.last_message()].content
    }

    /// Where the block at `place` stands in a path whose places behind the stem are `behind`.
    fn step(&self, place: Place, behind: &[Place]) -> Option<usize> {
        let own = || behind.binary_search(&place).ok().map(|at| self.len() + at);
        self.steps.get(&place).copied().or_else(own)
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
