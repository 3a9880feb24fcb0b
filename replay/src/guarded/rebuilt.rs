//! Requests of a transcript: the conversation as far as the transcript shows it, behind a prefix that it hides.
//!
//! A transcript's reader keeps digests and sizes, not texts. So blocks with equal digests are equal, in any transcript; one
//! of which even the digest is unknown is known by its place in its conversation. Tools, system prompt and parameters are
//! one opaque block for each kind of agent. Where no usage is recorded sizes are estimated from lengths.

use std::collections::{BTreeMap, BTreeSet};

use forkcast_sim::guard::Facts;
use forkcast_sim::wire::{BlockId, BlockKind, Level, Outline, Place, Request, Role, Ttl, Usage, Wire};

use super::Sink;
use super::exchanged::billed_ttl;
use super::laid_out::{self, Marked, Model};
use super::remarks::Remarks;
use crate::exchange::Origin;
use crate::rebuild::history::{Entry, History};
use crate::replay::session::ask::{Ask, asks};
use crate::replay::session::prompt::hidden_prefix;
use crate::transcript::{Agent, Item, Part, Session, Sign, What, content_digest};

/// Hands the requests of a session to `sink`, in order of time, and says what they were.
pub(super) fn feed(session: &Session, sink: &mut dyn Sink) -> Remarks {
    let names = names(session);
    let mut talks: Vec<Talk> =
        session.agents.iter().zip(&names).map(|(agent, name)| Talk::new(name.clone(), agent)).collect();
    let mut wire = Wire::default();
    let mut fed = Remarks::default();
    sink.begin();
    for ask in &asks(session) {
        let agent = &session.agents[ask.agent];
        let parent = agent.parent.and_then(|at| names.get(at)).map(String::as_str);
        let talk = &mut talks[ask.agent];
        talk.take_in(&mut wire, agent, ask.item);
        if !ask.answer.copied {
            talk.ask(&mut wire, (session, agent), ask, parent, &mut fed, sink);
        }
        talk.parts(&mut wire, Role::Assistant, ask.item, &ask.answer.parts);
    }
    fed
}

/// What agents are called, each by its own name: files of one name may hold several main agents of one session. Where one
/// repeats answers of another, both are the same agent at several stages.
fn names(session: &Session) -> Vec<String> {
    let copied = |item: &Item| matches!(&item.what, What::Answer(answer) if answer.copied);
    let repeats = |agent: &&Agent| agent.thread.items.iter().any(copied);
    let staged: BTreeSet<&str> = session.agents.iter().filter(repeats).map(|agent| &*agent.id).collect();
    let mut taken: BTreeMap<&str, usize> = BTreeMap::new();
    let named = session.agents.iter().map(|agent| {
        let times = taken.entry(&agent.id).or_default();
        *times += 1;
        match *times {
            2.. if !staged.contains(&*agent.id) => format!("{}/{}~{times}", session.id, agent.id),
            _ => format!("{}/{}", session.id, agent.id),
        }
    });
    named.collect()
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
    /// Blocks that ever stood in the conversation: what tells those apart of which only sizes are known.
    blocks: u64,
}

/// Bytes of JSON for a token where only lengths are known.
const BYTES_PER_TOKEN: u64 = 3;

impl Talk {
    fn new(name: String, agent: &Agent) -> Self {
        Self {
            name,
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
        let digest = match part.digest {
            0 => content_digest(format!("{}\n{}\n{}", self.name, self.blocks, part.bytes).as_bytes()),
            digest => digest,
        };
        let (kind, len_bytes) = (part.kind, u64::from(part.bytes));
        wire.blocks.outlined(Outline { level: Level::Messages, role, kind, digest, len_bytes })
    }

    fn ask(
        &mut self,
        wire: &mut Wire,
        (session, agent): (&Session, &Agent),
        ask: &Ask<'_>,
        parent: Option<&str>,
        fed: &mut Remarks,
        sink: &mut dyn Sink,
    ) {
        let model = Model::new(&ask.answer.model);
        let recorded = ask.answer.usage.filter(|recorded| recorded.usage.total_input_tokens() > 0);
        let cumulative = match &recorded {
            Some(recorded) => {
                self.ttl = billed_ttl(&recorded.usage).unwrap_or(self.ttl);
                self.sizes(&recorded.usage)
            }
            None => self.estimated_sizes(),
        };
        let request = self.request(wire, &session.id, model);
        let known = ask.answer.sent_at.or(ask.answer.first_at).is_some() || !model.is_profiled();
        let times = Some(model.times(ask.times.at, ask.times.first_byte_at)).filter(|_| known);
        let facts = Facts {
            chain: Some(&self.name),
            parent,
            continues: None,
            siblings: false,
            scope: &session.id,
            at: times.map(|(at, _)| at),
            first_byte_at: times.map(|(_, first_byte_at)| first_byte_at),
            usage: recorded.filter(|recorded| !recorded.server_passes).map(|recorded| recorded.usage),
        };
        let origin = Origin { file: agent.file.to_string(), index: ask.item, line: ask.line as usize };
        sink.rebuilt(&origin, wire, request, cumulative, &facts);
        fed.rebuilt(model, recorded.is_some());
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

    /// The same where no usage is recorded. What is not sized stays so: a later usage tells more.
    fn estimated_sizes(&self) -> Vec<u64> {
        let head = self.head_tokens.unwrap_or(0);
        let known = self.history.sized_tokens(head);
        let mut weight = 0;
        let ends = self.history.entries().iter().enumerate().map(|(at, entry)| {
            self.history.end(at).unwrap_or_else(|| {
                weight += entry.weight;
                known + weight / BYTES_PER_TOKEN
            })
        });
        std::iter::once(head).chain(ends).collect()
    }

    fn request(&self, wire: &mut Wire, scope: &str, model: Model<'_>) -> Request {
        let system = Place { level: Level::System, item: 0, part: 0, keys: false };
        let hidden = wire.blocks.opaque(1, u128::from(self.hidden), BlockKind::Opaque, Level::System);
        let entries = self.history.entries().iter().map(|entry| entry.block).zip(self.places.iter().copied());
        let blocks = std::iter::once((hidden, system)).chain(entries);
        let marked = if model.is_profiled() { Marked::Ends(self.ttl) } else { Marked::Automatic };
        laid_out::request(wire, scope, model, blocks, marked)
    }
}
