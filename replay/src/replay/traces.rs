//! Serving traces through a cache. Nothing was recorded of one, so all of it is prediction.
//!
//! If requests name their models, each conversation has a cache whose breakpoints live five minutes (`trace/sends.rs`). If not, an
//! own engine served them: one pool for the trace keeps whole prefixes and forgets nothing, which is the most that such an engine
//! could have read, with unlimited memory.

use std::collections::BTreeMap;

use forkcast_sim::diagnosis::{Cause, Explanation, Missed};
use forkcast_sim::ledger::Line;
use forkcast_sim::pricing::Category;
use forkcast_sim::service::{
    Engine, Entry, Movement, NotComparable, PriceFacts, Quote, RecordedUsage, SizedRequest, stretches,
};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::{ChainId, Sizes, Ttl, Usage, number};

use super::hypotheticals::Hypotheticals;
use super::{NamedChain, Options, Replay};
use crate::exchange::Origin;
use crate::input::{FileInput, Inputs};
use crate::trace::{BreakPlace, Clock, Rest, Sends, Trace, TraceRequest, Turn, turns};
use crate::what_if::Billed;

/// Name of the rules of a cache without end.
const POOL: &str = "whole-prefix-pool";

const CONVERSATION_REMARK: &str = "a trace holds no usage: read is what the request repeats, in whole blocks, of the one before \
     it in its conversation, if that began within five minutes; all else is written";
const POOL_REMARK: &str = "a trace holds no usage and names no model: read is what it repeats of any earlier request, as whole \
     blocks from the first on, in a cache without end; nothing is priced";
const RESENT_REMARK: &str = "the prompt changes before the end of the one before it and is no shorter: the text after the \
     changed block is assumed to have been sent again";
const MODEL_REMARK: &str = "another model than the request before it: the reads that the trace's method gives, a cache for each \
     model would not";

/// Replays all traces after the exchanges; their chains are numbered from `chains`. Returns the number of chains.
pub(super) fn run(
    inputs: &Inputs,
    options: &Options,
    chains: usize,
    stop: &dyn Fn() -> bool,
    result: &mut Replay,
) -> usize {
    let files = inputs.scopes.iter().flat_map(|scope| &scope.files).enumerate();
    let mut added = 0;
    for (session, file) in files {
        for trace in &file.traces {
            if !result.partial {
                TraceReplay::new(file, session, trace, options, chains + added, result).run(stop, result);
            }
            for (at, conversation) in trace.conversations.iter().enumerate().filter(|(_, found)| !found.id.is_empty()) {
                let named = NamedChain { id: conversation.id.clone(), is_sub_agent: conversation.parent.is_some() };
                result.named_chains.insert(chains + added + at, named);
            }
            added += trace.conversations.len();
        }
    }
    added
}

/// A trace on its way through a cache.
struct TraceReplay<'a> {
    file: &'a FileInput,
    session: usize,
    trace: &'a Trace,
    options: &'a Options,
    /// Where requests name their models: what else they might have been.
    named: Option<Named<'a>>,
    engine: Engine,
}

/// The prompts of requests that name their models, and what they might have been.
struct Named<'a> {
    sends: Sends<'a>,
    hypotheticals: Hypotheticals<'a>,
}

impl<'a> TraceReplay<'a> {
    fn new(
        file: &'a FileInput,
        session: usize,
        trace: &'a Trace,
        options: &'a Options,
        chains: usize,
        result: &mut Replay,
    ) -> Self {
        let mut requests = trace.conversations.iter().flat_map(|conversation| &conversation.requests);
        let rules = options.rules.unwrap_or_default();
        let named = requests
            .any(|request| request.model.is_some())
            .then(|| Named { sends: Sends::of(trace), hypotheticals: Hypotheticals::new(&rules, options) });
        result.used(if named.is_some() { rules.name } else { POOL });
        let engine = Engine::new(&rules, 0, result.entries.len(), chains);
        Self { file, session, trace, options, named, engine }
    }

    /// Serves all requests, until `stop` says so, which is asked before each.
    fn run(mut self, stop: &dyn Fn() -> bool, result: &mut Replay) {
        for turn in &turns(self.trace) {
            result.partial = stop();
            if result.partial {
                break;
            }
            self.serve(turn);
        }
        let mut entries = self.engine.finish();
        if let Some(Named { sends, hypotheticals }) = self.named {
            hypotheticals.finish(sends.prefixes(), &mut entries);
        }
        result.entries.extend(entries);
    }

    /// The instant, where it has a date.
    fn dated(&self, at: Instant) -> Option<Instant> {
        (self.trace.clock == Clock::Unix).then_some(at)
    }

    fn request(&self, turn: &Turn) -> &'a TraceRequest {
        &self.trace.conversations[turn.conversation].requests[turn.request]
    }

    fn serve(&mut self, turn: &Turn) {
        let line = self.line(turn);
        let predicted = self.through_cache(turn, &line).unwrap_or_else(|| of_pool(turn));
        let read = predicted.cache_read_input_tokens;
        let usage = Usage { output_tokens: self.request(turn).output_tokens, ..predicted };
        let missed = if self.named.is_some() { missed(turn, read) } else { Vec::new() };
        let missed_tokens: u64 = missed.iter().map(|missed| missed.tokens).sum();
        let new_tokens = turn.input_tokens - read - missed_tokens;
        let explanation = Explanation { read_tokens: read, new_tokens, missed, ..Explanation::default() };
        let remarks = self.remarks(turn, read).into_iter().map(str::to_owned).collect();
        let line = Line { predicted: Some(usage), explanation: Some(explanation), remarks, ..line };
        let request = self.request(turn);
        let origin = Origin { file: self.file.file.clone(), index: request.index, line: request.line };
        let quote = self.quote(&line, &usage);
        let is_modelled = self.named.is_some();
        let billed = Billed { model: &line.model, usage: &usage, quote: &quote, is_modelled };
        let hypotheticals = self.options.without_cache(&billed);
        let entry = Entry { hypotheticals, ..Entry::new(line, origin, Err(NotComparable::NoUsage)) };
        self.engine.bill(entry, &usage, &quote);
    }

    /// What the cache gives to a request that names its model, and the caches of the what-ifs with it.
    fn through_cache(&mut self, turn: &Turn, line: &Line) -> Option<Usage> {
        let whole = Usage { input_tokens: turn.input_tokens, ..Usage::default() };
        let quote = self.quote(line, &whole);
        let Self { named: Some(Named { sends, hypotheticals }), engine, .. } = self else { return None };
        let [whole, plain] = [Rest::Written, Rest::Plain].map(|rest| sends.sizes(turn, rest));
        let sent = sends.dispatch(turn, &whole, &quote);
        let breakpoints = sent.breakpoints();
        let asked = SizedRequest::new(sent.prompt(&breakpoints), sent.times.at);
        engine.deliver_until(sent.prefixes, sent.times.at);
        let foreseen = engine.foresee(&asked);
        // The rest after the last whole block is written with it and never read.
        let mut written = stretches(breakpoints.iter().copied(), &plain, foreseen.read_tokens);
        let rest = sent.total_tokens - plain.tokens_at(sent.end).min(sent.total_tokens);
        written.splice(0..0, breakpoints.last().map(|end| (*end, rest)));
        let movement = Some(Movement { read: foreseen.hit, written: &written });
        let reading = engine.serve(&SizedRequest { movement, ..asked }, Some(line.index));
        if let Some(ticket) = reading.ticket {
            engine.expect(ticket, &sent.times);
        }
        hypotheticals.serve_apart(&sent, &sends.dispatch(turn, &plain, &quote), line.index);
        Some(reading.usage)
    }

    fn quote(&self, line: &Line, usage: &Usage) -> Quote {
        self.options.tariff().quote(&PriceFacts::answered(&line.model, &RecordedUsage::default(), line.at), usage)
    }

    fn remarks(&self, turn: &Turn, read: u64) -> Vec<&'static str> {
        if self.named.is_none() {
            return vec![POOL_REMARK];
        }
        let resent = turn.broken.is_some_and(|broken| broken.resent_tokens > 0);
        let mut remarks = vec![CONVERSATION_REMARK];
        remarks.extend(resent.then_some(RESENT_REMARK));
        remarks.extend((read > 0 && self.changed_model(turn)).then_some(MODEL_REMARK));
        remarks
    }

    fn changed_model(&self, turn: &Turn) -> bool {
        let requests = &self.trace.conversations[turn.conversation].requests;
        let before = turn.request.checked_sub(1).map(|before| &requests[before].model);
        before.is_some_and(|before| *before != requests[turn.request].model)
    }

    fn line(&self, turn: &Turn) -> Line {
        let request = self.request(turn);
        let model = request.model.as_deref().unwrap_or_default().to_owned();
        Line {
            chain: Some(ChainId(number(turn.conversation))),
            at: self.dated(request.at),
            first_byte_at: request.first_byte_time.and_then(|time| self.dated(request.at + time)),
            ..Line::begun(self.engine.next_line(), self.session, model)
        }
    }
}

/// Why a request that read so much did not read more. What had expired is no damage of a change (`design.md` 6).
fn missed(turn: &Turn, read: u64) -> Vec<Missed> {
    let has_expired = turn.gap.is_some_and(|gap| gap > Ttl::FiveMinutes.duration());
    let cause = |place| if has_expired { Cause::Expired } else { cause_of(place) };
    let broken = turn.broken.map(|broken| (cause(broken.place), broken.resent_tokens));
    let beyond = if turn.gap.is_some() { Cause::Rewound } else { Cause::FirstRequest };
    let rules = [
        (beyond, turn.known_tokens - turn.kept_tokens),
        (Cause::Expired, turn.kept_tokens - read.min(turn.kept_tokens)),
    ];
    let mut parts: BTreeMap<Cause, u64> = BTreeMap::new();
    for (cause, tokens) in broken.into_iter().chain(rules).filter(|(_, tokens)| *tokens > 0) {
        *parts.entry(cause).or_default() += tokens;
    }
    let missed = |(cause, tokens)| Missed { cause, billed_as: Category::Write5m, tokens };
    parts.into_iter().map(missed).collect()
}

fn of_pool(turn: &Turn) -> Usage {
    let read = turn.known_tokens;
    Usage { input_tokens: turn.input_tokens - read, cache_read_input_tokens: read, ..Usage::default() }
}

const fn cause_of(place: BreakPlace) -> Cause {
    match place {
        BreakPlace::Tools => Cause::ToolChanged,
        BreakPlace::System => Cause::SystemChanged,
        BreakPlace::Messages => Cause::MessageEdited,
    }
}
