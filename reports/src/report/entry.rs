//! One request of a report with its recording: an exchange, or an answer in the transcript of a session.

use std::ops::Deref;

use forkcast_replay::exchange::Exchange;
use forkcast_replay::input::Inputs;
use forkcast_replay::replay::{Options, Replay};
use forkcast_replay::transcript::{self, Answer, OutputCount};
use forkcast_sim::ledger::Line;
use forkcast_sim::pricing::{Category, Date, ModelKey, Money, Terms};
use forkcast_sim::service::{AnswerPlace, Entry, NotComparable};
use forkcast_sim::wire::Maker;

/// One request and its recording.
#[derive(Clone, Copy, Debug)]
pub struct Recorded<'a> {
    /// The request.
    pub entry: &'a Entry,
    /// The recording, if request and answer were recorded as sent.
    pub exchange: Option<&'a Exchange>,
    /// The recording, if it is in a transcript.
    pub answered: Option<Answered<'a>>,
    /// Its output, if only a start value was recorded.
    pub output: Option<EstimatedOutput>,
}

impl Deref for Recorded<'_> {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        self.entry
    }
}

/// An answer in a transcript, and its agent.
#[derive(Clone, Copy, Debug)]
pub struct Answered<'a> {
    /// The session.
    pub session: &'a transcript::Session,
    /// The agent.
    pub agent: &'a transcript::Agent,
    /// The answer.
    pub answer: &'a Answer,
    /// Its position among the sessions.
    pub place: AnswerPlace,
}

/// Output with only the start value of a stream recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EstimatedOutput {
    /// The recorded tokens, which are billed here.
    pub recorded_tokens: u64,
    /// The estimate from the length of text and thinking; the recorded tokens if there is none.
    pub tokens: u64,
    /// The additional cost of the estimate; `None` for a model without a price.
    pub extra: Option<Money>,
}

impl<'a> Recorded<'a> {
    /// It went to a provider without a cache model.
    pub fn is_foreign(&self) -> bool {
        match (self.exchange, self.answered) {
            (Some(exchange), _) => exchange.maker() != Maker::Anthropic,
            // Answers that the client itself wrote have a usage of zero.
            (None, Some(_)) => {
                let has_prompt = self.line.recorded.is_some_and(|usage| usage.total_input_tokens() > 0);
                has_prompt && self.comparison == Err(NotComparable::NoProfile)
            }
            (None, None) => false,
        }
    }

    /// The provider refused it: nothing was billed.
    pub fn failed(&self) -> bool {
        self.exchange.is_some_and(Exchange::failed)
    }

    /// It was cancelled before the first byte of its answer: nothing was billed.
    pub fn given_up(&self) -> bool {
        self.exchange.is_some_and(|exchange| exchange.given_up)
    }

    /// The working directory if the input has one, else the user's path.
    pub fn project(&self, inputs: &'a Inputs) -> Option<&'a str> {
        if let Some(project) = self.answered.and_then(|answered| answered.session.project.as_deref()) {
            return Some(project);
        }
        let mut files = inputs.scopes.iter().flat_map(|scope| scope.files.iter().map(|_| scope.name.as_str()));
        files.nth(self.line.session)
    }

    /// The id of its session; of a recording the name of its file.
    pub fn session_id(&self) -> &str {
        let file = || self.origin.file.rsplit_once(['/', '\\']).map_or(&*self.origin.file, |(_, name)| name);
        self.answered.map_or_else(file, |answered| &*answered.session.id)
    }

    /// Program and version that sent it: `claude-code/2.1.63`.
    pub fn client(&self) -> Option<String> {
        if let Some(answered) = self.answered {
            let name = answered.session.format.name();
            let version = answered.answer.version.as_deref();
            return Some(version.map_or_else(|| name.to_owned(), |version| format!("{name}/{version}")));
        }
        self.exchange?.client.clone()
    }
}

/// All requests of a replay in memory, in the order of the ledger.
pub fn entries<'a>(inputs: &'a Inputs, replay: &'a Replay, options: &Options) -> Vec<Recorded<'a>> {
    of_part(inputs, replay, None, options)
}

/// The requests of a part; those of its session, if it has one, else of any.
pub(super) fn of_part<'a>(
    inputs: &'a Inputs,
    part: &'a Replay,
    session: Option<&'a transcript::Session>,
    options: &Options,
) -> Vec<Recorded<'a>> {
    let files = inputs.scopes.iter().filter(|_| session.is_none()).flat_map(|scope| &scope.files);
    let files: Vec<&[Exchange]> = files.map(|file| file.exchanges.as_slice()).collect();
    let recorded = |entry: &'a Entry| {
        let answered = entry
            .answer
            .and_then(|place| answered(session.or_else(|| inputs.sessions.all().get(place.session))?, place));
        let exchange = match answered {
            Some(_) => None,
            None => files.get(entry.line.session).and_then(|file| find(file, entry.origin.index)),
        };
        Recorded { entry, exchange, answered, output: estimated(&entry.line, exchange, answered, options) }
    };
    part.entries.iter().map(recorded).collect()
}

/// The exchange with a number, which usually equals its index.
fn find(exchanges: &[Exchange], index: usize) -> Option<&Exchange> {
    let straight = exchanges.get(index).filter(|exchange| exchange.origin.index == index);
    straight.or_else(|| {
        let at = exchanges.binary_search_by_key(&index, |exchange| exchange.origin.index).ok()?;
        exchanges.get(at)
    })
}

fn answered(session: &transcript::Session, place: AnswerPlace) -> Option<Answered<'_>> {
    let agent = session.agents.get(place.agent)?;
    let answer = agent.thread.items.get(place.item)?.answer()?;
    Some(Answered { session, agent, answer, place })
}

fn estimated(
    line: &Line,
    exchange: Option<&Exchange>,
    answered: Option<Answered<'_>>,
    options: &Options,
) -> Option<EstimatedOutput> {
    if let Some(recorded) = exchange.and_then(|exchange| exchange.usage) {
        let tokens = recorded.usage.output_tokens;
        let start = EstimatedOutput { recorded_tokens: tokens, tokens, extra: None };
        return recorded.output_is_start_value.then_some(start);
    }
    let OutputCount::StreamStart { estimated_tokens } = answered?.answer.output else { return None };
    let recorded_tokens = line.recorded?.output_tokens;
    let tokens = u64::from(estimated_tokens).max(recorded_tokens);
    let extra = output_price(line, options).and_then(|price| price.times(tokens - recorded_tokens));
    Some(EstimatedOutput { recorded_tokens, tokens, extra })
}

/// The price of one token of output, by the request's own bill if it has one.
fn output_price(line: &Line, options: &Options) -> Option<TokenPrice> {
    let bill = line.charge.bill.as_ref()?;
    let billed = bill.lines.iter().find(|part| part.category == Category::Output && part.tokens > 0);
    if let Some(part) = billed {
        return Some(TokenPrice { cost: part.cost, tokens: part.tokens });
    }
    let terms = Terms {
        date: options.prices_of.or(line.at.filter(|at| at.has_day()).map(Date::of)),
        at: line.at,
        prompt_tokens: line.recorded.unwrap_or_default().total_input_tokens(),
        ..Terms::default()
    };
    let rates = options.book.rates(&ModelKey::from(line.model.as_str()), &terms).ok()?;
    let one = forkcast_sim::wire::Usage { output_tokens: MILLION, ..Default::default() };
    Some(TokenPrice { cost: rates.bill(&one, &[]).total, tokens: MILLION })
}

const MILLION: u64 = 1_000_000;

/// The cost of this many tokens.
#[derive(Clone, Copy)]
struct TokenPrice {
    cost: Money,
    tokens: u64,
}

impl TokenPrice {
    /// The cost of other tokens at the same price, rounded down.
    fn times(self, tokens: u64) -> Option<Money> {
        let product = self.cost.picousd().checked_mul(tokens.into())?;
        Some(Money::from_picousd(product / i128::from(self.tokens)))
    }
}
