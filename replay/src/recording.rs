//! Recordings for the recorded model: requests, and answers as they were received.
//!
//! An answer that the recording lacks is taken from the history of the next request of its chain, which repeats it; the last
//! one of a sub-agent from the result that its parent received. Otherwise a text that says so replaces it. All three are
//! counted, and so are blocks that no event of the model can represent ([`crate::response::events`]).

mod answers;
mod calls;
mod following;
mod sessions;
mod verbatim;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use forkcast_sim::diagnosis::{self, ChangeSite};
use forkcast_sim::guard::{Identity, Relative, Sender};
use forkcast_sim::model::answer::{Interruption, Said};
use forkcast_sim::model::recorded::{Fidelity, Recorded, Take};
use forkcast_sim::model::{Answer, Broken, CallError, Fault, Grammar, Unseen};
use forkcast_sim::outside::found;
use forkcast_sim::time::Duration;
use forkcast_sim::wire::{ChainId, NormalForms, Pins, Request, Wire};

use crate::exchange::{BreakOff, Dialect, Exchange, RecordedAnswer};
use crate::formats::json::{member, member_text};
use crate::response::events::Content;
use crate::source::Scope;
use crate::source::exchange::facts;
use crate::source::order::{Arrival, Stream};
pub use answers::{Called, called};
use calls::{Calls, messages, sends_callers};
pub use sessions::{RecordedSession, sessions};
pub use verbatim::{Breakpoints, Verbatim};

/// The replacement of an answer that is nowhere in the recording.
const UNKNOWN: &str = "(The recording does not hold this answer: no request followed it.)";

/// A recording, ready to be played.
#[derive(Debug, Default)]
pub struct Recording {
    /// Requests with their answers.
    pub takes: Vec<Take>,
    /// The request of each take: its place in the stream.
    pub arrivals: Vec<usize>,
    /// Answers that were taken from the next request, which repeats them.
    pub repeated_answers: usize,
    /// Last answers of agents that were taken from what their parents received.
    pub reported_answers: usize,
    /// Answers that are nowhere.
    pub unknown_answers: usize,
    /// Requests without usage: their prompts are sized by length.
    pub unmeasured: usize,
    /// Blocks left out of answers.
    pub blocks_left_out: usize,
    /// Exchanges whose request could not be read, with the reason.
    pub unread: Vec<String>,
    wire: Wire,
    scope: Scope,
    /// Chains whose client sends back who made a call.
    with_callers: BTreeSet<ChainId>,
}

/// A request whose answer is not known yet.
struct OpenTake<'a> {
    arrival: &'a Arrival<'a>,
    take: Take,
    chain: ChainId,
    /// The next request of its chain.
    next: Option<&'a [u8]>,
}

impl Recording {
    /// The recording of a stream of requests.
    pub fn of<'a>(stream: &'a Stream<'a>, forms: NormalForms) -> Self {
        let mut recording = Self { wire: Wire::new(forms), scope: stream.scope.clone(), ..Self::default() };
        let mut identity = Identity::default();
        let mut asked: Vec<OpenTake<'a>> = Vec::new();
        for (at, arrival) in stream.requests.iter().enumerate() {
            let open = recording.ask(arrival, &mut identity);
            recording.arrivals.extend(open.iter().map(|_| at));
            asked.extend(open);
        }
        let mut followers: BTreeMap<ChainId, &[u8]> = BTreeMap::new();
        for open in asked.iter_mut().rev() {
            open.next = followers.insert(open.chain, &open.arrival.exchange.body);
        }
        let ends = asked.iter().filter(|open| open.next.is_none());
        let with_callers = ends.filter(|open| sends_callers(&open.arrival.exchange.body));
        recording.with_callers = with_callers.map(|open| open.chain).collect();
        let reports = Reports::of(&asked);
        for open in asked {
            let answer = recording.answer(&open, &reports);
            recording.takes.push(Take { answer, ..open.take });
        }
        recording
    }

    /// A model that plays it. Where a question differs, its first difference is described as `forkcast diff` does.
    pub fn play(self, fidelity: Fidelity) -> Recorded {
        Recorded::new(self.wire, &self.scope.name, self.takes, fidelity, Box::new(first_difference))
    }

    fn ask<'a>(&mut self, arrival: &'a Arrival<'a>, identity: &mut Identity<KnownRequest>) -> Option<OpenTake<'a>> {
        let exchange = arrival.exchange;
        if exchange.dialect != Dialect::Messages {
            self.unread.push(format!(
                "{}: {} is no request that our agents send",
                place(exchange),
                exchange.dialect.name()
            ));
            return None;
        }
        match self.wire.read(&exchange.body, &self.scope.name, &exchange.model) {
            Err(why) => {
                self.unread.push(format!("{}: {why}", place(exchange)));
                None
            }
            Ok(request) => {
                let facts = facts(exchange, &self.scope, &self.scope.name, exchange.times().as_ref());
                let shared = Rc::new(request.clone());
                let whose =
                    identity.take(&self.wire, &request, &facts, |sender| KnownRequest { request: shared, sender });
                let chain = whose.lane.chain;
                self.unmeasured += usize::from(exchange.usage.is_none() && !exchange.failed());
                let take = Take { chain: whose.lane.name.into(), request, answer: Answer::default() };
                Some(OpenTake { arrival, take, chain, next: None })
            }
        }
    }

    fn answer(&mut self, open: &OpenTake<'_>, reports: &Reports<'_>) -> Answer {
        let exchange = open.arrival.exchange;
        let kept = exchange.answer.as_deref();
        let break_off = kept.and_then(|kept| kept.break_off);
        if exchange.failed() || break_off == Some(BreakOff::Lost) {
            let ended = exchange.sent_at.and(exchange.ended_at.or(exchange.first_byte_at));
            let first_byte = ended.map(|ended| ended.since(open.arrival.times.at));
            return Answer { fault: Some(Fault::Refusal(refusal(exchange))), first_byte, ..Answer::default() };
        }
        let content = self.content(open, reports);
        self.blocks_left_out += content.left_out;
        let usage = exchange.usage.filter(|usage| !usage.output_is_start_value || break_off.is_some());
        let began = exchange.sent_at.and(exchange.first_byte_at);
        let arrivals = kept.map_or(&[][..], |kept| &kept.events_at);
        let arrived = |number: &usize| -> Option<Duration> { Some(arrivals.get(*number)?.since(began?)) };
        Answer {
            fault: fault(&content, break_off),
            output_tokens: usage.map(|usage| usage.usage.output_tokens),
            first_byte: began.map(|began| began.since(open.arrival.times.at)),
            streaming: exchange.ended_at.zip(began).map(|(ended, began)| ended.since(began)),
            arrivals: content.numbers.iter().map_while(arrived).collect(),
            events: content.events,
            unseen: Unseen::default(),
            model: None,
        }
    }

    /// Tokens of the prompt of take `at` as far as its exchange shows them, else by length.
    fn estimated_tokens(&self, at: usize, exchange: &Exchange) -> u64 {
        let sizes = Pins::default().sizes(&self.takes[at].request, &self.wire, exchange.sizes.as_deref(), None);
        sizes.last().map_or(0, |tokens| *tokens)
    }

    /// The content of an answer, from the best source there is.
    fn content(&mut self, open: &OpenTake<'_>, reports: &Reports<'_>) -> Content {
        let exchange = open.arrival.exchange;
        let kept = exchange.answer.as_deref();
        if let Some(mut content) = kept.and_then(|kept| Content::read(exchange.dialect, &kept.body)) {
            if !self.with_callers.contains(&open.chain) {
                content.forget_callers();
            }
            return content;
        }
        if kept.is_some_and(|kept| kept.break_off.is_some()) {
            return Content::default();
        }
        let sent = messages(&exchange.body).len();
        let repeated = open.next.and_then(|next| messages(next).into_iter().nth(sent));
        if let Some(message) = repeated.filter(|message| member_text(message, "role").as_deref() == Some("assistant")) {
            self.repeated_answers += 1;
            let mut content = Content::default();
            content.message(message);
            return content;
        }
        let report = reports.of_chain(open.chain);
        match report {
            Some(_) => self.reported_answers += 1,
            None => self.unknown_answers += 1,
        }
        let said = Said::Text(report.unwrap_or(UNKNOWN).to_owned());
        let events = Answer::message(&format!("msg_{:06}", self.takes.len()), &[said]).events;
        Content::of_events(events)
    }
}

/// A request and its sender, for the chains of later ones.
#[derive(Clone, Debug)]
struct KnownRequest {
    request: Rc<Request>,
    sender: Sender,
}

impl Relative for KnownRequest {
    fn request(&self) -> &Request {
        &self.request
    }

    fn sender(&self) -> &Sender {
        &self.sender
    }
}

/// What parents received from their agents.
struct Reports<'a> {
    calls: Calls,
    firsts: BTreeMap<ChainId, &'a [u8]>,
}

impl<'a> Reports<'a> {
    /// Read only if an answer is missing that no request follows.
    fn of(asked: &[OpenTake<'a>]) -> Self {
        let mut reports = Self { calls: Calls::default(), firsts: BTreeMap::new() };
        let ends = || asked.iter().filter(|open| open.next.is_none());
        let has_answer = |open: &OpenTake<'_>| open.arrival.exchange.answer.is_some();
        if ends().all(has_answer) {
            return reports;
        }
        ends().for_each(|open| reports.calls.add(&open.arrival.exchange.body));
        for open in asked {
            reports.firsts.entry(open.chain).or_insert(&open.arrival.exchange.body);
        }
        reports
    }

    fn of_chain(&self, chain: ChainId) -> Option<&str> {
        self.calls.report_of(self.firsts.get(&chain)?)
    }
}

fn refusal(exchange: &Exchange) -> CallError {
    let Some(status) = exchange.status.filter(|_| exchange.failed()) else { return CallError::Lost };
    let kept = exchange.answer.as_deref();
    let error = kept.and_then(|kept| member(&kept.body, "error"));
    let field = |name: &str| error.and_then(|error| member_text(error, name)).map(|text| Rc::<str>::from(&*text));
    CallError::Refused {
        status,
        kind: field("type").unwrap_or_else(|| "api_error".into()),
        message: field("message").unwrap_or_else(|| "as recorded".into()),
        retry_after: kept.and_then(|kept: &RecordedAnswer| kept.retry_after),
    }
}

/// How an answer breaks off. Without a word of the recorder, the client gave up: the user's interruption is by far the most
/// frequent cause.
fn fault(content: &Content, break_off: Option<BreakOff>) -> Option<Fault> {
    let mut grammar = Grammar::default();
    let after_events = content.events.iter().take_while(|event| grammar.step(event).is_ok()).count();
    let is_whole = after_events == content.events.len() && grammar.end().is_ok();
    let how = match break_off {
        None if is_whole => return None,
        Some(BreakOff::Reset) => Interruption::Broken(Broken::Reset),
        Some(BreakOff::Silent) => Interruption::Broken(Broken::Silent),
        Some(BreakOff::Closed) => Interruption::Closed,
        None | Some(BreakOff::GivenUp | BreakOff::Lost) => Interruption::GivenUp,
    };
    Some(Fault::Interruption { after_events, how })
}

/// The first difference in words.
fn first_difference(wire: &Wire, recorded: &Request, asked: &Request) -> String {
    let comparison = diagnosis::compare(wire, recorded, asked);
    let appended = || diagnosis::appended(wire, recorded, asked, &comparison);
    let first = comparison.differences.first().cloned().or_else(|| appended().into_iter().next());
    let equal = asked.nodes.iter().zip(&recorded.nodes).take_while(|(asked, recorded)| asked == recorded).count();
    match first {
        Some(difference) => format!(
            "the first {equal} blocks are equal, then {} at `{}` differs ({}){}",
            difference.name,
            difference.path,
            difference.cause.word(),
            first_byte(&difference)
        ),
        None if recorded.nodes.len() > asked.nodes.len() => {
            format!("it ends after {equal} blocks, and the recording goes on")
        }
        None => format!("its {equal} blocks are equal, but {}", beside_prompt(recorded, asked)),
    }
}

/// The first differing byte, as `diff` reports it.
fn first_byte(site: &ChangeSite) -> String {
    let offsets = site.offset_in_block.zip(site.offset_in_prefix);
    offsets.map_or_else(String::new, |(block, prefix)| {
        format!(", first differing byte {block} of the block, {prefix} of the prefix (canonical bytes)")
    })
}

/// The difference of two requests with one prompt.
fn beside_prompt(recorded: &Request, asked: &Request) -> String {
    let keys = recorded.envelope.iter().chain(&asked.envelope).map(|field| field.key.as_str());
    let differs = |key: &&str| recorded.envelope_value(key) != asked.envelope_value(key);
    match keys.into_iter().find(differs) {
        Some(key) => format!("the parameter {} is another", found(key)),
        None => "its breakpoints are others".to_owned(),
    }
}

fn place(exchange: &Exchange) -> String {
    format!("{}, request {}", exchange.origin.file, exchange.origin.index)
}
