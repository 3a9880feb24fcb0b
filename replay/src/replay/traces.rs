//! Serving traces through a cache. Nothing was recorded of one, so all of it is prediction.
//!
//! Where requests name their models, each conversation has a cache of breakpoints that live five minutes (`trace/sends.rs`). Where they do not, they
//! went to an engine of one's own: one pool for the trace that keeps whole prefixes and forgets nothing, which is the most that such
//! an engine could have read. How large it would have to be is another question.

use forkcast_sim::cache::Rules;
use forkcast_sim::diagnosis::{Cause, Explanation, Missed};
use forkcast_sim::ledger::Line;
use forkcast_sim::pricing::{Category, Date, Terms};
use forkcast_sim::service::{Entry, NotComparable, premium};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::{ChainId, Usage, number};

use super::price::{Asking, Priced, price};
use super::{Options, Replay};
use crate::exchange::{Origin, RecordedUsage};
use crate::input::{FileInput, Inputs};
use crate::trace::{BreakPlace, Clock, Priced as TermsAndRates, Rest, Sends, Trace, TraceRequest, Turn, turns};
use crate::what_if::{Bound, BoundPings, Columns, Hypothetical, WhatIf};

/// Name of the rules of a cache without end.
const POOL: &str = "whole-prefix-pool";

const CONVERSATION_REMARK: &str = "a trace holds no usage: read is what the request repeats, in whole blocks, of the one before \
     it in its conversation, if that began within five minutes; all else is written";
const POOL_REMARK: &str = "a trace holds no usage and names no model: read is what it repeats of any earlier request, as whole \
     blocks from the first on, in a cache without end; nothing is priced";
const RESENT_REMARK: &str = "the prompt changes before the end of the one before it and is no shorter: what stands behind the \
     changed block is taken to have been sent again";
const MODEL_REMARK: &str = "another model than the request before it: the reads that the trace's method gives, a cache for each \
     model would not";

/// Replays all traces behind the exchanges; their chains are numbered from `chains`. Gives how many there were.
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
                Tracing::new(file, session, trace, options).run(chains + added, stop, result);
            }
            for (at, conversation) in trace.conversations.iter().enumerate().filter(|(_, found)| !found.id.is_empty()) {
                result.chain_ids.insert(chains + added + at, conversation.id.clone());
            }
            added += trace.conversations.len();
        }
    }
    added
}

/// What is billed of one request, and why.
struct Account {
    usage: Usage,
    explanation: Explanation,
    unread_tokens: u64,
    remarks: Vec<&'static str>,
}

/// One request of a conversation through the caches.
#[derive(Debug, Default)]
struct CacheRow {
    usage: Usage,
    what_ifs: Vec<Hypothetical>,
    bound: Hypothetical,
}

struct Tracing<'a> {
    file: &'a FileInput,
    session: usize,
    trace: &'a Trace,
    options: &'a Options,
    rules: Rules,
    /// Requests name their models.
    named: bool,
    turns: Vec<Turn>,
    /// By conversation and request; empty where no request names a model.
    seen: Vec<Vec<CacheRow>>,
}

impl<'a> Tracing<'a> {
    fn new(file: &'a FileInput, session: usize, trace: &'a Trace, options: &'a Options) -> Self {
        let mut requests = trace.conversations.iter().flat_map(|conversation| &conversation.requests);
        let named = requests.any(|request| request.model.is_some());
        let rules = options.rules.unwrap_or_default();
        let turns = turns(trace);
        let mut tracing = Self { file, session, trace, options, rules, named, turns, seen: Vec::new() };
        if named {
            tracing.seen = tracing.through_caches();
        }
        tracing
    }

    /// Sends everything through the cache, through those of the what-ifs, and to the clairvoyant bound.
    fn through_caches(&self) -> Vec<Vec<CacheRow>> {
        let what_ifs: Vec<WhatIf> = std::iter::once(WhatIf::default()).chain(self.options.what_if.clone()).collect();
        let mut columns = Columns::new(&what_ifs, &self.rules, &self.options.book);
        let mut bound = Bound::new(&self.rules, BoundPings::None);
        let sends = Sends::of(self.trace);
        for turn in &self.turns {
            let priced = self.terms_and_rates(self.request(turn));
            sends.send(turn.conversation, turn.request, &priced, Rest::Written, |sent| columns.serve(sent));
            sends.send(turn.conversation, turn.request, &priced, Rest::Plain, |sent| bound.serve(sent));
        }
        let rows = columns.finish(sends.prefixes()).into_iter().zip(bound.finish());
        let conversations = &self.trace.conversations;
        let mut seen: Vec<Vec<CacheRow>> =
            conversations.iter().map(|found| found.requests.iter().map(|_| CacheRow::default()).collect()).collect();
        for (turn, (mut row, bound)) in self.turns.iter().zip(rows) {
            // The first column asks for nothing else than what was sent.
            let base = row.remove(0);
            seen[turn.conversation][turn.request] = CacheRow { usage: base.usage, what_ifs: row, bound };
        }
        seen
    }

    fn terms_and_rates(&self, request: &TraceRequest) -> TermsAndRates {
        let (model, at) = (request.model.as_deref().unwrap_or_default(), self.dated(request.at));
        let usage = Usage { input_tokens: request.input_tokens, ..Usage::default() };
        let date = self.options.prices_of.or(at.map(Date::of));
        let terms = Terms { date, at, ..Terms::of(&usage) };
        TermsAndRates { rates: priced(self.options, model, at, &usage).rates, terms }
    }

    /// The instant, where it has a date.
    fn dated(&self, at: Instant) -> Option<Instant> {
        (self.trace.clock == Clock::Unix).then_some(at)
    }

    fn run(&self, chains: usize, stop: &dyn Fn() -> bool, result: &mut Replay) {
        let rules = if self.named { self.rules.name } else { POOL };
        if !result.rules.contains(&rules) {
            result.rules.push(rules);
        }
        for turn in &self.turns {
            if stop() {
                result.partial = true;
                return;
            }
            let served = if self.named { self.of_conversation(turn) } else { of_pool(turn) };
            self.push(turn, served, chains, result);
        }
    }

    fn request(&self, turn: &Turn) -> &'a TraceRequest {
        &self.trace.conversations[turn.conversation].requests[turn.request]
    }

    fn of_conversation(&self, turn: &Turn) -> Account {
        let usage = self.seen[turn.conversation][turn.request].usage;
        let usage = Usage { output_tokens: 0, ..usage };
        let read = usage.cache_read_input_tokens;
        let mut missed: Vec<Missed> = Vec::new();
        let mut miss = |cause: Cause, tokens: u64| {
            if tokens > 0 {
                missed.push(Missed { cause, billed_as: Category::Write5m, tokens });
            }
        };
        let resent = turn.broken.map_or(0, |broken| broken.resent_tokens);
        if let Some(broken) = turn.broken {
            miss(cause_of(broken.place), resent);
        }
        let beyond = turn.known_tokens - turn.kept_tokens;
        miss(if turn.gap.is_some() { Cause::Rewound } else { Cause::FirstRequest }, beyond);
        miss(Cause::Expired, turn.kept_tokens - read.min(turn.kept_tokens));
        missed.sort_by_key(|missed| missed.cause);
        let missed_tokens: u64 = missed.iter().map(|missed| missed.tokens).sum();
        let new_tokens = turn.input_tokens - read - missed_tokens;
        let mut remarks = vec![CONVERSATION_REMARK];
        remarks.extend((resent > 0).then_some(RESENT_REMARK));
        remarks.extend((read > 0 && self.changed_model(turn)).then_some(MODEL_REMARK));
        let explanation = Explanation { read_tokens: read, new_tokens, missed, ..Explanation::default() };
        Account { usage, explanation, unread_tokens: self.unread(turn, &usage), remarks }
    }

    fn changed_model(&self, turn: &Turn) -> bool {
        let requests = &self.trace.conversations[turn.conversation].requests;
        let before = turn.request.checked_sub(1).map(|before| &requests[before].model);
        before.is_some_and(|before| *before != requests[turn.request].model)
    }

    /// What the next request does not read of what this one wrote, nobody reads.
    fn unread(&self, turn: &Turn, usage: &Usage) -> u64 {
        let next = self.seen[turn.conversation].get(turn.request + 1);
        let read_next = next.map_or(0, |next| next.usage.cache_read_input_tokens);
        let written = usage.cache_creation_input_tokens();
        written - read_next.saturating_sub(usage.cache_read_input_tokens).min(written)
    }

    fn push(&self, turn: &Turn, served: Account, chains: usize, result: &mut Replay) {
        let request = self.request(turn);
        let mut line = self.line(turn, request, result.entries.len());
        line.remarks.extend(served.remarks.into_iter().map(str::to_owned));
        let usage = Usage { output_tokens: request.output_tokens, ..served.usage };
        line.predicted = Some(usage);
        line.explanation = Some(served.explanation);
        let mut priced = priced(self.options, &line.model, line.at, &usage);
        result.price(&mut line, &mut priced, &usage);
        line.unread_writes = priced.rates.map(|rates| premium(&rates, served.unread_tokens, 0));
        let origin = Origin { file: self.file.file.clone(), index: request.index, line: request.line };
        let seen = self.seen.get(turn.conversation).and_then(|seen| seen.get(turn.request));
        result.entries.push(Entry {
            chain: Some(chains + turn.conversation),
            hypotheticals: seen.map(|seen| seen.what_ifs.clone()).unwrap_or_default(),
            lower_bound: seen.and_then(|seen| seen.bound.cost),
            ..Entry::new(line, origin, Err(NotComparable::NoUsage))
        });
    }

    fn line(&self, turn: &Turn, request: &TraceRequest, index: usize) -> Line {
        let model = request.model.as_deref().unwrap_or_default().to_owned();
        Line {
            chain: Some(ChainId(number(turn.conversation))),
            at: self.dated(request.at),
            first_byte_at: request.first_byte_time.and_then(|time| self.dated(request.at + time)),
            ..Line::begun(index, self.session, model)
        }
    }
}

fn priced(options: &Options, model: &str, at: Option<Instant>, usage: &Usage) -> Priced {
    price(options, &Asking::answered(model, &RecordedUsage::default(), at), usage)
}

fn of_pool(turn: &Turn) -> Account {
    let read = turn.known_tokens;
    let new_tokens = turn.input_tokens - read;
    let usage = Usage { input_tokens: new_tokens, cache_read_input_tokens: read, ..Usage::default() };
    let explanation = Explanation { read_tokens: read, new_tokens, ..Explanation::default() };
    Account { usage, explanation, unread_tokens: 0, remarks: vec![POOL_REMARK] }
}

const fn cause_of(place: BreakPlace) -> Cause {
    match place {
        BreakPlace::Tools => Cause::ToolChanged,
        BreakPlace::System => Cause::SystemChanged,
        BreakPlace::Messages => Cause::MessageEdited,
    }
}
