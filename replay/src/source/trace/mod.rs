//! Requests of a serving trace: blocks known by ids, or by digests of their texts.
//!
//! Only whole blocks are compared, because the rest after them has another id in every request. Each run of blocks
//! (`trace/runs.rs`) is a separate message.

mod conversations;

use std::ops::Range;

use forkcast_sim::guard::{Breakpoints, Facts};
use forkcast_sim::wire::{BlockId, BlockKind, Level, Outline, Place, Role, Wire};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use self::conversations::Conversations;
use super::layout::{self, Model};
use super::{Remarks, Sink};
use crate::exchange::Origin;
use crate::names::Names;
use crate::trace::{BlockSizes, Conversation, IdScope, Runs, Trace, TraceRequest, turns};

/// Passes the requests of a trace in `file` to `sink`, in order of time, and counts them. `label` is the name of a trace without
/// an id.
pub(super) fn feed(trace: &Trace, file: &str, label: &str, sink: &mut dyn Sink) -> Remarks {
    let label = if trace.id.is_empty() { label } else { &trace.id };
    let names = names(trace, label);
    let agents = trace.conversations.iter().map(|conversation| Runs::new(trace, conversation)).collect();
    let namespace = xxh3_64(label.as_bytes());
    let mut tracing =
        Tracing { trace, label, namespace, wire: Wire::default(), names, agents, found: Conversations::default() };
    let mut fed = Remarks::default();
    sink.begin();
    for turn in turns(trace) {
        let request = &trace.conversations[turn.conversation].requests[turn.request];
        let origin = Origin { file: file.to_owned(), index: request.index, line: request.line };
        tracing.request(turn.conversation, request, &origin, sink);
        fed.traced(!tracing.names.is_empty());
    }
    fed
}

struct Tracing<'a> {
    trace: &'a Trace,
    label: &'a str,
    /// Separates the ids of different traces.
    namespace: u64,
    wire: Wire,
    /// The names of conversations; empty if the trace does not distinguish them.
    names: Vec<String>,
    agents: Vec<Runs<'a>>,
    found: Conversations,
}

/// Tokens at the end of a prompt that the next one does not repeat. Of 223 prompts of WEKA whose last block ends with them or one
/// token earlier, 213 are followed by one with another block there; of the other 6,222, 103 (2026-11-23).
const END_TOKENS: u64 = 2;

/// The blocks of a prompt, each with the tokens up to its end.
type PromptBlocks = Vec<(BlockId, Place, u64)>;

impl Tracing<'_> {
    fn request(&mut self, at: usize, request: &TraceRequest, origin: &Origin, sink: &mut dyn Sink) {
        let (name, mut prompt) = match self.names.get(at) {
            Some(name) => (name.clone(), self.named(at, request)),
            None => self.unnamed(request),
        };
        if prompt.is_empty() {
            let nothing = self.wire.blocks.opaque(self.namespace, 0, BlockKind::Opaque, Level::Messages);
            prompt.push((nothing, place(Level::Messages, 0), request.input_tokens));
        }
        let model = Model::new(request.model.as_deref().unwrap_or_default());
        let blocks = prompt.iter().map(|(block, place, _)| (*block, *place));
        let laid_out = layout::request(&mut self.wire, self.label, model, blocks, Breakpoints::Automatic);
        let times = model.times(request.at, request.at + request.first_byte_time.unwrap_or_default());
        let facts = Facts {
            chain: Some(&name),
            parent: self.trace.conversations[at].parent.and_then(|parent| self.names.get(parent)).map(String::as_str),
            scope: self.label,
            at: Some(times.0),
            recorded_at: Some(request.at),
            first_byte_at: Some(times.1),
            ..Facts::default()
        };
        let cumulative = prompt.iter().map(|(.., end)| *end).collect();
        sink.rebuilt(origin, &self.wire, laid_out, cumulative, &facts);
    }

    /// The prompt of a conversation that the trace identifies.
    fn named(&mut self, at: usize, request: &TraceRequest) -> PromptBlocks {
        let agent = &mut self.agents[at];
        agent.step(request);
        let agent = &self.agents[at];
        let heads = self.trace.head_blocks(&self.trace.conversations[at]);
        let runs = agent.runs(0..self.whole(agent.len(), request), heads);
        let ids: Vec<Vec<u64>> = runs.iter().map(|run| run.clone().filter_map(|at| agent.id(at)).collect()).collect();
        self.prompt(runs.iter().zip(&ids).map(|(run, ids)| (run.start, ids.as_slice())), heads, request)
    }

    /// The prompt of a request without a conversation in the trace, and the name of its conversation.
    fn unnamed(&mut self, request: &TraceRequest) -> (String, PromptBlocks) {
        self.found.step(request);
        let whole = self.whole(self.found.ids.len(), request);
        let (conversation, added) = self.found.assign(whole);
        let starts = std::iter::once(0).chain(added.iter().copied());
        let runs: Vec<Range<usize>> = starts.zip(&added).map(|(start, end)| start..*end).collect();
        let ids = self.found.ids.clone();
        let runs = runs.into_iter().filter(|run| !run.is_empty()).map(|run| (run.start, &ids[run]));
        (format!("{}#{conversation}", self.label), self.prompt(runs, [0, 0], request))
    }

    /// The number of whole blocks without the end of the prompt; at least one.
    fn whole(&self, blocks: usize, request: &TraceRequest) -> usize {
        let BlockSizes::Equal(tokens) = self.trace.sizes else { return blocks };
        let ends = if self.trace.scope == IdScope::Conversation { END_TOKENS } else { 0 };
        let whole = request.input_tokens.saturating_sub(ends) / tokens.max(1);
        usize::try_from(whole).unwrap_or(usize::MAX).max(1).min(blocks)
    }

    /// A prompt of runs, each with the index of its first block and its ids.
    fn prompt<'r>(
        &mut self,
        runs: impl Iterator<Item = (usize, &'r [u64])>,
        [tools, system]: [usize; 2],
        request: &TraceRequest,
    ) -> PromptBlocks {
        let (mut items, mut end) = ([0; 3], 0_u64);
        let mut prompt = PromptBlocks::new();
        for (start, ids) in runs {
            let level = match start {
                _ if start < tools => Level::Tools,
                _ if start < system => Level::System,
                _ => Level::Messages,
            };
            let item = &mut items[level as usize];
            end = (end + self.trace.tokens_of(ids, u64::MAX)).min(request.input_tokens);
            prompt.push((block(&mut self.wire, self.trace, self.namespace, ids, level), place(level, *item), end));
            *item += 1;
        }
        prompt
    }
}

/// Unique names of conversations, from their ids.
fn names(trace: &Trace, label: &str) -> Vec<String> {
    if matches!(trace.conversations.as_slice(), [alone] if alone.id.is_empty()) {
        return Vec::new();
    }
    let mut names = Names::default();
    let name = |(at, conversation): (usize, &Conversation)| {
        names.unique(&match conversation.id.as_str() {
            "" => format!("{label}/{at}"),
            id => format!("{label}/{id}"),
        })
    };
    trace.conversations.iter().enumerate().map(name).collect()
}

const fn place(level: Level, item: u32) -> Place {
    Place { level, item, part: 0, keys: false }
}

/// The block of these ids, on its level.
fn block(wire: &mut Wire, trace: &Trace, namespace: u64, ids: &[u64], level: Level) -> BlockId {
    let text = match ids {
        [id] => usize::try_from(*id).ok().and_then(|id| trace.texts.get(id)),
        _ => None,
    };
    wire.blocks.outlined(match text {
        Some(text) => {
            let (digest, len_bytes) = (text.digest, text.bytes);
            Outline { level, role: Role::User, kind: BlockKind::Text, digest, len_bytes }
        }
        None => {
            let mut hash = Xxh3::new();
            hash.update(&namespace.to_le_bytes());
            ids.iter().for_each(|id| hash.update(&id.to_le_bytes()));
            Outline { level, role: Role::None, kind: BlockKind::Opaque, digest: hash.digest(), len_bytes: 0 }
        }
    })
}
