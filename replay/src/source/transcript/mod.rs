//! Requests of a transcript: the conversation as far as the transcript shows it, after a prefix that it hides.
//!
//! A transcript's reader keeps digests and sizes, not texts. So blocks with equal digests are equal, in any transcript; a block
//! without a digest is identified by its place in its conversation. Tools, system prompt and parameters are one opaque block
//! for each kind of agent. Without recorded usage, sizes are estimated from lengths.

mod ask;
mod conversation;
mod shares;

use std::collections::BTreeSet;

use forkcast_sim::guard::{Breakpoints, Facts};
use forkcast_sim::service::PriceFacts;
use forkcast_sim::wire::{BlockId, BlockKind, Level, Outline, Place, Request, Role, Ttl, Wire};

use super::layout::{self, Model};
use super::{Remarks, Sink};
use crate::exchange::Origin;
use crate::names::Names;
use crate::transcript::{Agent, Answer, Item, Session, content_digest};

pub(crate) use ask::{Ask, asks};
pub(crate) use conversation::{Conversation, HistoryChange, Piece, changes, hidden_prefix};
pub use shares::Shares;

/// Passes the requests of a session to `sink`, in order of time, and counts them.
pub(crate) fn feed(session: &Session, sink: &mut dyn Sink) -> Remarks {
    let names = names(session);
    let senders = session.agents.iter().zip(&names).map(|(agent, name)| Sender::new(name.clone(), agent));
    let mut senders: Vec<Sender> = senders.collect();
    let mut wire = Wire::default();
    let mut fed = Remarks::default();
    sink.begin();
    for ask in &asks(session) {
        let agent = &session.agents[ask.agent];
        let parent = agent.parent.and_then(|at| names.get(at)).map(String::as_str);
        let sender = &mut senders[ask.agent];
        sender.take_in(&mut wire, agent, ask.item);
        sender.size(ask);
        if !ask.answer.copied {
            sender.ask(&mut wire, session, ask, parent, sink);
            fed.rebuilt(Model::new(&ask.answer.model).maker(), &ask.answer.model, ask.recorded().is_some());
        }
        sender.answered(&mut wire, ask.item, ask.answer);
    }
    fed
}

/// Unique names of agents: files of one name may have several main agents of one session. If one repeats answers of another,
/// both are the same agent at several stages.
fn names(session: &Session) -> Vec<String> {
    let copied = |item: &Item| item.answer().is_some_and(|answer| answer.copied);
    let repeats = |agent: &&Agent| agent.thread.items.iter().any(copied);
    let staged: BTreeSet<&str> = session.agents.iter().filter(repeats).map(|agent| &*agent.id).collect();
    let mut names = Names::default();
    let named = session.agents.iter().map(|agent| {
        let name = format!("{}/{}", session.id, agent.id);
        if staged.contains(&*agent.id) { name } else { names.unique(&name) }
    });
    named.collect()
}

/// An agent that sends requests.
struct Sender {
    name: String,
    hidden: u64,
    conversation: Conversation,
    ttl: Ttl,
}

impl Sender {
    fn new(name: String, agent: &Agent) -> Self {
        let hidden = hidden_prefix(&agent.kind);
        Self { name, hidden, conversation: Conversation::default(), ttl: Ttl::FiveMinutes }
    }

    /// Adds everything up to the answer at `item`.
    fn take_in(&mut self, wire: &mut Wire, agent: &Agent, item: usize) {
        let Self { name, conversation, .. } = self;
        conversation.take_in(agent, item, &mut |piece| block(wire, name, piece));
    }

    /// Adds the answer at `item`.
    fn answered(&mut self, wire: &mut Wire, item: usize, answer: &Answer) {
        let Self { name, conversation, .. } = self;
        conversation.say(Role::Assistant, item, &answer.parts, &mut |piece| block(wire, name, piece));
    }

    /// Learns the lifetime and the sizes that the usage of a request shows.
    fn size(&mut self, ask: &Ask<'_>) {
        if let Some(recorded) = ask.recorded() {
            let usage = recorded.first_pass();
            self.ttl = usage.longest_ttl().unwrap_or(self.ttl);
            self.conversation.size_to(usage.total_input_tokens(), usage.cache_read_input_tokens);
        }
    }

    fn ask(&mut self, wire: &mut Wire, session: &Session, ask: &Ask<'_>, parent: Option<&str>, sink: &mut dyn Sink) {
        let model = Model::new(&ask.answer.model);
        let recorded = ask.recorded();
        let request = self.request(wire, &session.id, model);
        let known = ask.answer.sent_at.or(ask.answer.first_at).is_some() || !model.is_profiled();
        let times = Some(model.times(ask.times.at, ask.times.first_byte_at)).filter(|_| known);
        let sent_at = Some(ask.times.at).filter(|_| known);
        let facts = Facts {
            chain: Some(&self.name),
            parent,
            scope: &session.id,
            at: times.map(|(at, _)| at),
            recorded_at: sent_at,
            first_byte_at: times.map(|(_, first_byte_at)| first_byte_at),
            usage: recorded.filter(|recorded| !recorded.server_passes).map(|recorded| recorded.usage),
            price: ask.answer.usage.as_ref().map(|answer| PriceFacts::answered(&ask.answer.model, answer, sent_at)),
            ..Facts::default()
        };
        let file = session.agents[ask.agent].file.to_string();
        let origin = Origin { file, index: ask.item, line: ask.line as usize };
        sink.rebuilt(&origin, wire, request, self.conversation.sizes(), &facts);
    }

    fn request(&self, wire: &mut Wire, scope: &str, model: Model<'_>) -> Request {
        let system = Place { level: Level::System, item: 0, part: 0, keys: false };
        let hidden = wire.blocks.opaque(1, u128::from(self.hidden), BlockKind::Opaque, Level::System);
        let entries = self.conversation.history.entries().iter().map(|entry| (entry.block, entry.place));
        let blocks = std::iter::once((hidden, system)).chain(entries);
        // The system prompt is hidden.
        let breakpoints = if model.is_profiled() { Breakpoints::Implied(self.ttl) } else { Breakpoints::Automatic };
        layout::request(wire, scope, model, blocks, breakpoints)
    }
}

/// A block identified by its digest, or by its place in the conversation `name`.
fn block(wire: &mut Wire, name: &str, piece: &Piece<'_>) -> BlockId {
    let Piece { role, number, part, .. } = *piece;
    let digest = match part.digest {
        0 => content_digest(format!("{name}\n{}\n{}", number + 1, part.bytes).as_bytes()),
        digest => digest,
    };
    let (kind, len_bytes) = (part.kind, u64::from(part.bytes));
    wire.blocks.outlined(Outline { level: Level::Messages, role, kind, digest, len_bytes })
}
