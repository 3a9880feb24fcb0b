//! Requests of a transcript: the conversation as far as the transcript shows it, behind a prefix that it hides.
//!
//! A transcript's reader keeps sizes, not texts. So a block is known by its place in the conversation, its kind and its
//! length; what makes one differ is what the transcript shows: compaction, clearing, going back, another model. Tools,
//! system prompt and parameters are one opaque block for each kind of agent.

use forkcast_sim::guard::Facts;
use forkcast_sim::wire::model::{Resolved, Vendor, resolve};
use forkcast_sim::wire::{BlockId, BlockKind, Content, Level, Marker, NodeId, Place, Request, Role, Ttl, Usage, Wire};

use super::Sink;
use super::exchanged::billed_ttl;
use crate::exchange::Origin;
use crate::rebuild::history::{Entry, History};
use crate::replay::session::ask::{Ask, asks};
use crate::replay::session::prompt::hidden_prefix;
use crate::transcript::{Agent, Part, Session, Sign, What};

/// How many requests the sink was given, and how many not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FedSession {
    pub requests: usize,
    /// Requests to models without a cache profile.
    pub foreign: usize,
    /// Requests whose usage is not recorded.
    pub no_usage: usize,
}

/// Hands the requests of a session to `sink`, in order of time.
pub(super) fn feed(session: &Session, sink: &mut dyn Sink) -> FedSession {
    let mut talks: Vec<Talk> = session.agents.iter().map(|agent| Talk::new(session, agent)).collect();
    let mut wire = Wire::default();
    let mut fed = FedSession::default();
    sink.begin();
    for ask in &asks(session) {
        let agent = &session.agents[ask.agent];
        let parent = agent.parent.and_then(|at| session.agents.get(at)).map(|parent| name(session, parent));
        let talk = &mut talks[ask.agent];
        talk.take_in(&mut wire, agent, ask.item);
        if !ask.answer.copied {
            talk.ask(&mut wire, (session, agent), ask, parent.as_deref(), &mut fed, sink);
        }
        talk.parts(&mut wire, Role::Assistant, ask.item, &ask.answer.parts);
    }
    fed
}

fn name(session: &Session, agent: &Agent) -> String {
    format!("{}/{}", session.id, agent.id)
}

/// The conversation of one agent on its way.
struct Talk {
    name: String,
    hidden: u64,
    history: History,
    /// In step with the entries of the history.
    places: Vec<Place>,
    /// Who speaks the last message.
    role: Role,
    /// Items taken in.
    cursor: usize,
    /// Tokens of the hidden prefix, once a request has shown them.
    head_tokens: Option<u64>,
    ttl: Ttl,
    /// Blocks that ever stood in the conversation: what tells equal sizes apart.
    blocks: u64,
}

/// Bytes of JSON for a token where only lengths are known.
const BYTES_PER_TOKEN: u64 = 3;

impl Talk {
    fn new(session: &Session, agent: &Agent) -> Self {
        Self {
            name: name(session, agent),
            hidden: hidden_prefix(&agent.kind),
            history: History::default(),
            places: Vec::new(),
            role: Role::None,
            cursor: 0,
            head_tokens: None,
            ttl: Ttl::FiveMinutes,
            blocks: 0,
        }
    }

    /// Takes in everything up to the answer at `item`.
    fn take_in(&mut self, wire: &mut Wire, agent: &Agent, item: usize) {
        let from = self.cursor;
        for (at, entry) in agent.thread.items.iter().enumerate().take(item).skip(from) {
            match &entry.what {
                What::Input(input) => self.parts(wire, Role::User, at, &input.parts),
                What::Sign(Sign::Compacted { .. } | Sign::Cleared) => self.keep(0),
                What::Sign(Sign::Rewound { to }) => self.keep(to.map_or(0, |to| self.history.len_at(to))),
                What::Sign(_) | What::Answer(_) => {}
            }
        }
        self.cursor = item + 1;
    }

    fn keep(&mut self, entries: usize) {
        self.history.truncate(entries);
        self.places.truncate(entries);
        // What follows begins a message of its own.
        self.role = Role::None;
    }

    /// Adds the blocks of an item.
    fn parts(&mut self, wire: &mut Wire, role: Role, item: usize, parts: &[Part]) {
        for part in parts {
            let last = self.places.last();
            let place = match last {
                Some(last) if self.role == role => Place { part: last.part.saturating_add(1), ..*last },
                _ => Place {
                    level: Level::Messages,
                    item: last.map_or(0, |last| last.item.saturating_add(1)),
                    part: 0,
                    keys: false,
                },
            };
            self.role = role;
            let block = self.block(wire, role, part);
            let item = u32::try_from(item).unwrap_or(u32::MAX);
            self.history.push(Entry { block, kind: part.kind, item, weight: u64::from(part.bytes).max(1) });
            self.places.push(place);
        }
    }

    fn block(&mut self, wire: &mut Wire, role: Role, part: &Part) -> BlockId {
        self.blocks += 1;
        let bytes = format!("{{\"block\":{},\"bytes\":{}}}", self.blocks, part.bytes);
        wire.blocks.intern(Content { level: Level::Messages, role, kind: part.kind, bytes: bytes.as_bytes() })
    }

    fn ask(
        &mut self,
        wire: &mut Wire,
        (session, agent): (&Session, &Agent),
        ask: &Ask<'_>,
        parent: Option<&str>,
        fed: &mut FedSession,
        sink: &mut dyn Sink,
    ) {
        let resolved = resolve(&ask.answer.model).filter(|known| known.id.row().vendor == Vendor::Anthropic);
        let usage = ask.answer.usage.filter(|recorded| recorded.usage.total_input_tokens() > 0);
        let (Some(resolved), Some(recorded)) = (resolved, usage) else {
            fed.foreign += usize::from(resolved.is_none());
            fed.no_usage += usize::from(resolved.is_some());
            return;
        };
        self.ttl = billed_ttl(&recorded.usage).unwrap_or(self.ttl);
        let cumulative = self.sizes(&recorded.usage);
        let request = self.request(wire, &session.id, ask, resolved);
        let known = ask.answer.sent_at.or(ask.answer.first_at).is_some();
        let facts = Facts {
            chain: Some(&self.name),
            parent,
            scope: &session.id,
            at: known.then_some(ask.at),
            first_byte_at: known.then_some(ask.first_byte_at),
            usage: Some(recorded.usage).filter(|_| !recorded.server_passes),
        };
        let origin = Origin { file: agent.file.to_string(), index: ask.item, line: ask.line as usize };
        sink.rebuilt(&origin, wire, request, cumulative, &facts);
        fed.requests += 1;
    }

    /// Tokens of each prefix: the hidden one is what the first request leaves or read, blocks share what each adds.
    fn sizes(&mut self, usage: &Usage) -> Vec<u64> {
        let (total, read) = (usage.total_input_tokens(), usage.cache_read_input_tokens);
        let left = total.saturating_sub(self.history.unsized_weight() / BYTES_PER_TOKEN);
        let first = if read > 0 { read } else { left };
        let head = (*self.head_tokens.get_or_insert(first)).min(total);
        self.history.size_to(head, total);
        let ends = (0..self.history.len()).map(|at| self.history.end(at).unwrap_or(total));
        std::iter::once(head).chain(ends).collect()
    }

    fn request(&self, wire: &mut Wire, scope: &str, ask: &Ask<'_>, resolved: Resolved) -> Request {
        let root = wire.prefixes.root(scope, resolved.id.row().id);
        let system = Place { level: Level::System, item: 0, part: 0, keys: false };
        let hidden = wire.blocks.opaque(1, u128::from(self.hidden), BlockKind::Opaque, Level::System);
        let entries = self.history.entries().iter().map(|entry| (entry.block, entry.kind));
        let path = std::iter::once((hidden, BlockKind::Opaque)).chain(entries);
        let places: Vec<Place> = std::iter::once(system).chain(self.places.iter().copied()).collect();
        let (mut nodes, mut known, mut end): (Vec<NodeId>, usize, NodeId) = (Vec::new(), 0, root);
        for (block, kind) in path {
            let (node, new) = wire.prefixes.extend(end, block, kind);
            known += usize::from(!new);
            nodes.push(node);
            end = node;
        }
        let marker = |at: usize| Marker { node: nodes[at], ttl: self.ttl, place: places[at], automatic: false };
        let mut ends = vec![0, nodes.len() - 1];
        ends.dedup();
        let markers: Vec<Marker> = ends.into_iter().map(marker).collect();
        Request {
            model: ask.answer.model.to_string(),
            resolved: Some(resolved),
            root,
            known,
            markers_sent: markers.len(),
            markers,
            nodes,
            places,
            bad_markers: Vec::new(),
            automatic_conflict: None,
            excluded: Vec::new(),
            envelope: Vec::new(),
            body_bytes: 0,
            addresses: None,
        }
    }
}
