//! One stream of requests through one cache.

use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_sim::cache::{Outcome, Rules};
use forkcast_sim::diagnosis::{Circumstances, Explanation, RejectedThinking, Subject, THINKING_AT};
use forkcast_sim::guard::Identity;
use forkcast_sim::ledger::Line;
use forkcast_sim::pricing::ServiceTier;
use forkcast_sim::service::{
    Compared, CountedSize, Engine, Entry, GIVEN_UP, NotComparable, Quote, REFUSED, Reading, RecordedUsage,
    SizedRequest, Verdict,
};
use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::{ChainId, Maker, NodeId, Pins, Request, Usage, Wire};

use super::contents::Contents;
use super::counting::Counting;
use super::hypotheticals::Hypotheticals;
use super::predecessor::Predecessor;
use super::sizes::{SizeBasis, SizedPrompt};
use super::{NamedChain, Options, Replay};
use crate::exchange::Exchange;
use crate::source::Scope;
use crate::source::exchange::{RecordedRequest, Unread, facts, price, read};
use crate::source::order::{Arrival, Stream};
use crate::what_if::Billed;

/// The remark on a request whose prompt is not known.
const UNPROMPTED: &str = "the log holds no whole prompt: billed, but nothing can be said about why it missed";

/// No entry outlives its last use by more: an hour, and five minutes in which recorded reads were still seen (`data` of
/// 2026-01 to 2026-08: none of 46 after 3,900 s).
const ENTRIES_LAST_AT_MOST: Duration = Duration::from_secs(3_900);

/// Serves a stream; its chains are numbered from `first_chain`. Gives how many there were.
pub(super) fn run(
    stream: &Stream<'_>,
    options: &Options,
    first_chain: usize,
    stop: &dyn Fn() -> bool,
    result: &mut Replay,
) -> usize {
    let mut run = StreamReplay::new(stream, options, first_chain, result);
    for arrival in &stream.requests {
        if stop() {
            run.result.partial = true;
            break;
        }
        run.deliver_until(arrival.times.at);
        run.serve(arrival);
    }
    run.finish()
}

/// A stream on its way through a cache.
pub(super) struct StreamReplay<'a> {
    pub options: &'a Options,
    result: &'a mut Replay,
    first_chain: usize,
    pub rules: Rules,
    pub wire: Wire,
    pub engine: Engine,
    pins: Pins,
    counting: Counting<'a>,
    /// The request being served, as counted.
    size: Option<CountedSize>,
    contents: Contents,
    identity: Identity<Predecessor>,
    /// Tokens that the last request of each chain left in the cache.
    cached_tokens: BTreeMap<ChainId, u64>,
    /// When each prefix was last sent with a breakpoint at its end.
    marked: BTreeMap<NodeId, Instant>,
    /// Every request so far, where somebody wants to look back at them.
    pub seen: Option<Vec<ServedRequest>>,
    pub scope: Scope,
    /// What the requests might have been.
    pub hypotheticals: Hypotheticals<'a>,
}

/// A request that the cache has served.
pub(super) struct ServedRequest {
    pub line: usize,
    pub subject: Rc<Subject>,
}

/// A request read and sized, with its line of the ledger begun.
pub(super) struct Prepared {
    pub line: Line,
    pub sized: SizedPrompt,
    pub recorded: Option<Usage>,
}

impl<'a> StreamReplay<'a> {
    pub fn new(stream: &Stream<'_>, options: &'a Options, first_chain: usize, result: &'a mut Replay) -> Self {
        let first = stream.requests.first().map(|request| request.times.at);
        let day = first.filter(|at| at.has_day()).map(day_of);
        let rules = options.rules.unwrap_or_else(|| Rules::for_recording(day));
        Self {
            options,
            first_chain,
            rules,
            wire: Wire::new(rules.forms),
            engine: Engine::new(&rules, 0, result.entries.len(), first_chain),
            pins: Pins::default(),
            counting: Counting::new(&options.sizing),
            size: None,
            contents: Contents::default(),
            identity: Identity::default(),
            cached_tokens: BTreeMap::new(),
            marked: BTreeMap::new(),
            seen: None,
            scope: stream.scope.clone(),
            hypotheticals: Hypotheticals::new(&rules, options),
            result,
        }
    }

    /// Adds the entries of all answers that began by `at` to the cache.
    pub fn deliver_until(&mut self, at: Instant) {
        self.engine.deliver_until(&self.wire.prefixes, at);
    }

    pub fn serve(&mut self, arrival: &Arrival<'_>) {
        match self.read(arrival.exchange) {
            Ok(read) => self.serve_request(read, arrival),
            Err(Unread::Refused) => {
                self.count_apart(arrival.exchange);
                let line = self.line(arrival, arrival.exchange.model.clone());
                self.unbilled(line, None, arrival.exchange);
            }
            Err(why) if why.hides_a_prompt() => {
                self.count_only(arrival, NotComparable::NoMarker, Some(UNPROMPTED));
            }
            Err(why) => {
                self.result.unreadable.extend(why.damage(&arrival.exchange.origin));
                self.count_only(arrival, NotComparable::NoProfile, None);
            }
        }
    }

    /// The request of an exchange, in the cache that it meets.
    pub fn read(&mut self, exchange: &Exchange) -> Result<RecordedRequest, Unread> {
        read(&mut self.wire, exchange, &self.scope.of(exchange))
    }

    /// A line without prediction and explanation: recorded usage is counted and billed, nothing more is known.
    fn count_only(&mut self, arrival: &Arrival<'_>, why: NotComparable, remark: Option<&str>) {
        let exchange = arrival.exchange;
        let mut line = self.line(arrival, exchange.model.clone());
        line.remarks.extend(remark.map(str::to_owned));
        line.recorded = exchange.usage.map(|recorded| recorded.usage);
        self.count_apart(exchange);
        let entry = self.entry(line, Err(why), exchange);
        let charged = exchange.usage.map(|recorded| recorded.charged());
        match charged {
            Some(charged) => {
                let quote = self.quote(exchange, None, &entry.line, &charged);
                let billed = Billed { model: &exchange.model, usage: &charged, quote: &quote, is_modelled: false };
                let hypotheticals = self.options.without_cache(&billed);
                self.engine.count(Entry { hypotheticals, ..entry }, &charged, &quote);
            }
            None => self.engine.count(entry, &Usage::default(), &Quote::default()),
        }
    }

    fn line(&self, arrival: &Arrival<'_>, model: String) -> Line {
        Line {
            at: self.scope.timed.then_some(arrival.times.at),
            first_byte_at: self.scope.timed.then_some(arrival.times.first_byte_at),
            ..Line::begun(self.engine.next_line(), arrival.session, model)
        }
    }

    fn entry(&mut self, line: Line, comparison: Result<Compared, NotComparable>, exchange: &Exchange) -> Entry {
        Entry { size: self.size.take(), ..Entry::new(line, exchange.origin.clone(), comparison) }
    }

    /// Counts a request that reaches no modelled cache, as far as its body is read like one that does.
    fn count_apart(&mut self, exchange: &Exchange) {
        if (exchange.maker() != Maker::Anthropic || exchange.failed()) && self.counting.is_asked() {
            // A scope that no path names, so that its prefixes meet no others.
            let read = self.wire.read(&exchange.body, "\u{0}counted", &exchange.model);
            let path = read.ok().and_then(|request| self.counting.count(&request, exchange, &self.wire));
            self.size = path.map(|path| path.size);
        }
    }

    pub fn prepare(&mut self, read: RecordedRequest, arrival: &Arrival<'_>) -> Prepared {
        let exchange = arrival.exchange;
        let RecordedRequest { request, remark } = read;
        let mut line = self.line(arrival, request.model.clone());
        line.remarks.extend(remark);
        let recorded = exchange.usage.map(|recorded| recorded.usage);
        let counted = self.counting.count(&request, exchange, &self.wire);
        self.size = counted.as_ref().map(|path| path.size);
        line.remarks.extend(counted.iter().flat_map(|path| path.remarks.clone()));
        let counted = counted.filter(|_| self.counting.decides()).map(|path| path.cumulative);
        let scope = self.scope.of(exchange);
        let facts = facts(exchange, &self.scope, &scope, Some(&arrival.times));
        let basis = SizeBasis { exchange, pins: &self.pins, counted };
        let sized = SizedPrompt::new(request, &self.wire, basis, &mut self.identity, &facts, &self.rules);
        line.chain = Some(sized.whose.lane.chain);
        line.remarks.extend(sized.subject.refusal.iter().map(|refusal| format!("{REFUSED}{refusal}")));
        Prepared { line, sized, recorded }
    }

    fn serve_request(&mut self, read: RecordedRequest, arrival: &Arrival<'_>) {
        let exchange = arrival.exchange;
        let Prepared { mut line, sized, recorded } = self.prepare(read, arrival);
        if sized.subject.is_refused(recorded.as_ref()) {
            self.unbilled(line, Some(&sized.subject.request), exchange);
            return;
        }
        let sizes = sized.sizes(&self.wire.prefixes);
        let batch = exchange.tier == ServiceTier::Batch;
        let account_created = self.options.account_created;
        let circumstances = Circumstances { account_created, batch, ..Circumstances::default() };
        let asked = sized.asked(&self.wire, &sizes, recorded, arrival.times.at);
        let asked = SizedRequest { circumstances, ..asked };
        let Reading { ticket, mut predicted, usage, explanation, thinking } =
            self.engine.serve(&asked, Some(self.engine.next_line()));
        if exchange.given_up {
            if let Some(ticket) = ticket {
                self.engine.expect_nothing(ticket, arrival.times.ended_at);
            }
            line.explanation = Some(Explanation::default());
            line.remarks.push(GIVEN_UP.to_owned());
            self.look_back_at(line.index, &sized);
            self.unbilled(line, Some(&sized.subject.request), exchange);
            return;
        }
        let comparison = self.comparison(&sized, arrival, &predicted);
        let markers = &sized.subject.request.markers;
        self.marked.extend(markers.iter().map(|marker| (marker.node, arrival.times.at)));
        line.recorded = recorded;
        line.predicted = Some(prediction(recorded, &predicted, comparison.is_ok()));
        line.explanation = explanation;
        let answered = exchange.usage.and_then(|recorded| recorded.thinking);
        let told = |thinking: &RejectedThinking| thinking.told(answered, recorded.is_some());
        line.remarks
            .extend(thinking.iter().map(|thinking| format!("{THINKING_AT}{}: {}", thinking.path, told(thinking))));
        let quote = self.quote(exchange, Some(&sized.subject.request), &line, &usage);
        let billed = Billed { model: &line.model, usage: &usage, quote: &quote, is_modelled: true };
        let hypotheticals = self.options.without_cache(&billed);
        if let Some(ticket) = ticket {
            if !exchange.unanswered {
                self.engine.expect(ticket, &arrival.times);
            }
            self.suppose(line.index, &sized, arrival, &usage, predicted.read_tokens, &quote);
        }
        if comparison == Err(NotComparable::Prewarmed) {
            // It read another entry, so its read shows the size of no prefix that is known here.
            predicted.hit = None;
        }
        self.remember(line.index, &sized, exchange, &predicted);
        let mut entry = Entry { hypotheticals, ..self.entry(line, comparison, exchange) };
        if self.options.composes {
            entry.composition = self.contents.of_request(&self.wire, &sized.subject, &usage);
        }
        self.engine.bill(entry, &usage, &quote);
    }

    /// A request that the provider refused, or would have, or that was given up: nothing is read, written or billed. What the
    /// provider refused is in no chain, and was not sent before.
    fn unbilled(&mut self, mut line: Line, request: Option<&Request>, exchange: &Exchange) {
        if let Some(status) = exchange.status.filter(|_| exchange.failed()) {
            line.remarks.push(format!("answered with HTTP {status}: nothing was billed"));
            line.remarks.extend(exchange.thinking_refused.clone());
        }
        let nothing = Usage::default();
        line.predicted = Some(nothing);
        let quote = self.quote(exchange, request, &line, &nothing);
        let entry = self.entry(line, Err(NotComparable::NoUsage), exchange);
        self.engine.bill(entry, &nothing, &quote);
    }

    fn comparison(
        &self,
        sized: &SizedPrompt,
        arrival: &Arrival<'_>,
        predicted: &Outcome,
    ) -> Result<Compared, NotComparable> {
        let marked_lately = |node: NodeId| {
            self.marked.get(&node).is_some_and(|marked| arrival.times.at.since(*marked) <= ENTRIES_LAST_AT_MOST)
        };
        let recorded = arrival.exchange.usage.ok_or(NotComparable::NoUsage)?;
        let usage = recorded.usage;
        if recorded.server_passes {
            return Err(NotComparable::ServerTools);
        }
        if sized.read_never_sent(&usage) || sized.read_of_others(&usage, marked_lately) {
            return Err(NotComparable::Prewarmed);
        }
        if sized.subject.request.markers_sent == 0 || sized.subject.request.markers.is_empty() {
            return Err(NotComparable::NoMarker);
        }
        let expected = self.cached_tokens.get(&sized.whose.lane.chain).copied();
        Ok(Compared {
            recorded: Verdict::of(usage.cache_read_input_tokens, expected),
            predicted: Verdict::of(sized.billed_read(predicted), expected),
            recorded_usage: usage,
            predicted_usage: predicted.usage(),
            size_known: predicted.hit.is_none_or(|hit| self.pins.get(hit).is_some()),
            between: predicted.hit.map_or((0, 0), |hit| sized.known_around(hit, &self.pins)),
            left_tokens: expected,
            rule: None,
            naive_usage: None,
            step: None,
            late: false,
        })
    }

    /// Prices of an exchange with this usage. `request` is absent where no profile reads the body.
    fn quote(&self, exchange: &Exchange, request: Option<&Request>, line: &Line, usage: &Usage) -> Quote {
        let unknown = RecordedUsage::default();
        let price = price(exchange, exchange.usage.as_ref().unwrap_or(&unknown), line.at);
        let price = request.map_or(price, |request| price.asked_by(request));
        self.options.tariff().quote(&price, usage)
    }

    fn remember(&mut self, line: usize, sized: &SizedPrompt, exchange: &Exchange, predicted: &Outcome) {
        let recorded = exchange.usage.filter(|recorded| !recorded.server_passes).map(|recorded| recorded.usage);
        if let Some(usage) = recorded {
            self.pins.show(&sized.subject.request, &self.wire, &sized.billed().cumulative);
            self.pins.learn(
                &sized.subject.request,
                &self.wire.prefixes,
                &sized.subject.effective(),
                predicted.hit,
                &usage,
            );
        }
        let left = exchange.usage.map(|recorded| recorded.last_pass()).unwrap_or_else(|| predicted.usage());
        let cached = left.cached_input_tokens();
        self.look_back_at(line, sized);
        self.cached_tokens.insert(sized.whose.lane.chain, cached);
    }

    /// Keeps a request, if somebody wants to look back at it.
    fn look_back_at(&mut self, line: usize, sized: &SizedPrompt) {
        if let Some(seen) = &mut self.seen {
            seen.push(ServedRequest { line, subject: Rc::clone(&sized.subject) });
        }
    }

    /// The stream has ended: unread writes and what-ifs are known now. Gives how many chains there were.
    fn finish(mut self) -> usize {
        let mut entries = self.engine.finish();
        self.hypotheticals.finish(&self.wire.prefixes, &mut entries);
        self.result.entries.extend(entries);
        let chains = self.identity.names();
        if !chains.is_empty() {
            self.result.used(self.rules.name);
        }
        let named = chains.iter().map(|id| NamedChain { id: id.clone(), is_sub_agent: false });
        self.result.named_chains.extend((self.first_chain..).zip(named));
        chains.len()
    }
}

/// The predicted usage. A request that has usage but cannot be compared counts with its recorded usage.
fn prediction(recorded: Option<Usage>, predicted: &Outcome, comparable: bool) -> Usage {
    let own = Usage { output_tokens: recorded.map_or(0, |usage| usage.output_tokens), ..predicted.usage() };
    if comparable { own } else { recorded.unwrap_or(own) }
}

/// The day of an instant, counted from the Unix epoch.
pub(super) fn day_of(at: Instant) -> i64 {
    i64::try_from(at.0 / 86_400_000_000_000).unwrap_or(i64::MAX)
}
