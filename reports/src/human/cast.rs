//! A recorded session beside its simulation: sums, the first departure, and the requests. JSON has the same columns.

pub mod what_if;

use std::collections::BTreeMap;

use forkcast_scenarios::cast::comparison::{Comparison, Departure, Errors, Forecasts, LATE_SECS, Pair, Side};
use forkcast_scenarios::cast::{Cast, Take};
use forkcast_sim::service::Verdict;

use crate::document::{Cell, Column, Document, Table, money, several};
use crate::record::{Shape, Value, table};

/// Most requests shown to people.
const REQUESTS_MAX: usize = 200;

/// When there is no recorded side.
const NOT_RECORDED: &str = "if the recording has no such request, or no usage of it";

/// When there is no simulated side.
const NOT_SIMULATED: &str = "if the simulation sent no such request";

/// When a sum has no cost.
const NO_PRICE: &str = "if nothing has a price";

/// A pair of a comparison.
pub(crate) struct PairOf<'a> {
    pair: &'a Pair<'a>,
    comparison: &'a Comparison<'a>,
    /// The agent's name in the table of agents.
    label: Option<&'a str>,
}

impl<'a> PairOf<'a> {
    /// All pairs.
    pub fn all(comparison: &'a Comparison<'a>) -> impl Iterator<Item = Self> {
        let label = |pair: &Pair<'_>| Some(&*comparison.run.agents[comparison.request(pair)?.agent].label);
        let played = comparison.pairs.iter().filter_map(|pair| Some((&*pair.take?.agent, label(pair)?)));
        let labels: BTreeMap<&str, &str> = played.collect();
        comparison.pairs.iter().map(move |pair| {
            let of_others = || labels.get(&*pair.take?.agent).copied();
            Self { pair, comparison, label: label(pair).or_else(of_others) }
        })
    }

    fn agent(&self) -> Option<String> {
        let simulated = || self.comparison.request(self.pair).map(|request| &self.comparison.run.agents[request.agent]);
        self.pair.take.map(|take| take.agent.clone()).or_else(|| Some(simulated()?.id.to_string()))
    }

    fn delay_ms(&self) -> Option<f64> {
        self.comparison.delay_secs(self.pair).map(|secs| secs * 1e3)
    }
}

fn verdicts() -> Shape {
    Shape::words(Verdict::ALL.map(Verdict::word))
}

record! {
    PairOf<'_>, "cast_request":
    text "agent", "`main`, or the call that started the agent; the agent's id if it is not recorded." =>
        |of| of.agent().map(|agent| Value::text(&agent)), null("if neither side has it");
    text "label", "Its name in the table of agents; `agent` if it sent no simulated request." =>
        |of| of.label.map(Value::text).or_else(|| of.agent().map(|agent| Value::text(&agent))),
        null("if neither side has it"), shown("Agent");
    millis "recorded_at_ms", "When it was sent, from the start of the session." =>
        |of| of.pair.take.map(|take| take.sent_at),
        null("if the recording has no such request"), shown("Recorded at"), missing("–");
    millis "simulated_at_ms", "When the simulated one was sent." =>
        |of| of.comparison.request(of.pair).and_then(|request| request.line.at),
        null(NOT_SIMULATED), shown("Simulated at"), missing("–"), if_wide();
    number "late_ms", "How much later than recorded its answer ended; earlier is negative." =>
        |of| of.delay_ms().map(Value::Number), unit("ms"), null("if one side has no end");
    tokens "recorded_input_tokens", "All input of the recorded request." =>
        |of| of.pair.take.and_then(|take| take.usage).map(|usage| usage.total_input_tokens()),
        null(NOT_RECORDED), shown("Input"), missing("–");
    tokens "simulated_input_tokens", "All input of the simulated request." =>
        |of| of.comparison.request(of.pair).map(|request| request.usage().total_input_tokens()),
        null(NOT_SIMULATED), shown("Simulated"), missing("–");
    tokens "recorded_read_tokens", "What the recorded request read from the cache." =>
        |of| of.pair.take.and_then(|take| take.usage).map(|usage| usage.cache_read_input_tokens),
        null(NOT_RECORDED), shown("Read"), missing("–");
    tokens "simulated_read_tokens", "What the simulated request read from the cache." =>
        |of| of.comparison.request(of.pair).map(|request| request.usage().cache_read_input_tokens),
        null(NOT_SIMULATED), shown("Simulated"), missing("–");
    tokens "foreseen_read_tokens", "What `replay` foresees that it reads, from this session alone." =>
        |of| of.pair.take.and_then(|take| take.foreseen_read), null("for the first request of a conversation");
    field "recorded_verdict", verdicts, "How much of what its agent had left in the cache the recorded request read." =>
        |of| of.comparison.recorded_verdict(of.pair).map(Verdict::word),
        null(NOT_RECORDED), shown("Cache, recorded"), missing("–"), if_wide();
    field "simulated_verdict", verdicts, "The same of the simulated request." =>
        |of| of.comparison.request(of.pair).map(|request| request.verdict.word()),
        null(NOT_SIMULATED), shown("Cache, simulated"), missing("–"), if_wide();
    usd "recorded_input_cost_usd", "The cost of the recorded input." =>
        |of| of.comparison.recorded_cost(of.pair), null(NO_PRICE), shown("Cost, recorded"), missing("–"), if_wide();
    usd "simulated_input_cost_usd", "The cost of the simulated input." =>
        |of| of.comparison.simulated_cost(of.pair), null(NO_PRICE), shown("Cost, simulated"), missing("–"), if_wide();
    truth "is_copied", "It was billed in another session, which this one continues." =>
        |of| of.pair.take.is_some_and(|take| take.copied);
}

record! {
    Side, "cast_side":
    count "requests", "Requests." => |side| side.requests, unit("requests"), shown("Requests");
    tokens "total_input_tokens", "All input." => |side| side.usage.total_input_tokens(), shown("Input");
    tokens "cache_read_input_tokens", "Input that was read from the cache." => |side| side.usage.cache_read_input_tokens;
    share "hit_rate", "Input that was read over all input." =>
        |side| side.usage.hit_rate(), null("if there is no input"), shown("Read");
    usd "input_cost_usd", "The cost of the input." => |side| side.input_cost, null(NO_PRICE), shown("Input cost");
    usd "cost_usd", "The cost of input and output; outputs are estimated where only the beginning of a stream is recorded." =>
        |side| side.cost, null(NO_PRICE);
    millis "makespan_ms", "When the last answer ended, from the start of the session." => |side| side.ended_at;
}

record! {
    Errors, "cast_errors":
    count "requests", "Requests with a usage on both sides." => |errors| errors.requests, unit("requests");
    count "same_verdict", "Those with the same verdict." => |errors| errors.same_verdict, unit("requests");
    tokens "input_tokens", "Sum of the absolute differences of their input." => |errors| errors.input_tokens;
    tokens "read_tokens", "Sum of the absolute differences of their reads." => |errors| errors.read_tokens;
    usd "input_cost_usd", "Sum of the absolute differences of the cost of their input." =>
        |errors| errors.input_cost, null(NO_PRICE);
}

record! {
    Forecasts, "cast_forecasts":
    count "requests", "Requests that both foresee: all but the first one of each conversation." =>
        |sums| sums.requests, unit("requests");
    count "runtime_same_verdict", "Those with the recorded verdict, by the runtime." =>
        |sums| sums.runtime_same_verdict, unit("requests");
    tokens "runtime_read_tokens", "Sum of the absolute differences of reads, by the runtime." =>
        |sums| sums.runtime_read_tokens;
    count "replay_same_verdict", "Those with the recorded verdict, by `replay` from this session alone." =>
        |sums| sums.replay_same_verdict, unit("requests");
    tokens "replay_read_tokens", "Sum of the absolute differences of reads, by `replay`." => |sums| sums.replay_read_tokens;
}

/// How the bill of the run is to be compared with the one of the recording.
pub fn summary(comparison: &Comparison<'_>) -> String {
    let (recorded, simulated) = (comparison.recorded(), comparison.simulated());
    if recorded.requests == 0 {
        return "The recording has no usage, so this bill is compared with none.".to_owned();
    }
    let requests = several(recorded.requests, "request");
    let left = match recorded.requests.saturating_sub(simulated.requests) {
        0 => String::new(),
        left => format!(", where {} of them were never sent", crate::document::count(left)),
    };
    let costs = recorded.input_cost.zip(simulated.input_cost).map_or_else(String::new, |(recorded, simulated)| {
        format!(" Their input cost {} as recorded and {} here{left}.", money(recorded), money(simulated))
    });
    let mut takes = comparison.pairs.iter().filter_map(|pair| pair.take);
    let is_estimated = |take: &Take| take.usage.is_some_and(|usage| usage.output_tokens != take.output_tokens);
    let answers = match takes.any(is_estimated) {
        true => {
            " Answers have their estimated whole length here, and the recorded one in the bill of `forkcast replay`."
        }
        false => "",
    };
    format!("The recording has the usage of {requests}.{costs}{answers}")
}

/// Sums of both sides, the first departure, and the requests.
pub fn document(cast: &Cast, comparison: &Comparison<'_>) -> Document {
    let mut document = Document::default();
    document.heading("Recorded beside simulated");
    document.text(vec![departure(comparison), errors(&comparison.errors()), forecasts(&comparison.forecasts())]);
    let mut sums = table::people("sides", &[comparison.recorded(), comparison.simulated()], 2);
    sums.columns.insert(0, Column::left("", "side"));
    for (row, name) in sums.rows.iter_mut().zip(["recorded", "simulated"]) {
        row.insert(0, Cell::text(name));
    }
    document.table(sums);
    document.table(requests(comparison));
    document.aside(cast.gaps.iter().map(ToString::to_string).collect());
    document
}

fn requests(comparison: &Comparison<'_>) -> Table {
    let pairs: Vec<PairOf<'_>> = PairOf::all(comparison).collect();
    let mut table = table::people("pairs", &pairs, REQUESTS_MAX);
    table.rows_are = "requests";
    table
}

/// The error of all requests together, apart from signs that cancel each other.
fn errors(errors: &Errors) -> String {
    let Errors { requests, same_verdict, input_tokens, read_tokens, .. } = *errors;
    let count = crate::document::count;
    format!(
        "{} of {} with a recorded usage got the recorded verdict; the absolute errors add up to {} tokens of input and {} \
         of reads.",
        count(same_verdict),
        several(requests, "request"),
        count(input_tokens),
        count(read_tokens)
    )
}

/// The forecast of `replay`, over the requests that both foresee.
fn forecasts(sums: &Forecasts) -> String {
    let count = crate::document::count;
    format!(
        "Without the first requests of conversations, {} remain: the runtime has the recorded verdict for {} and is {} \
         tokens of reads off, `forkcast replay` for {} and {}.",
        count(sums.requests),
        count(sums.runtime_same_verdict),
        count(sums.runtime_read_tokens),
        count(sums.replay_same_verdict),
        count(sums.replay_read_tokens)
    )
}

fn departure(comparison: &Comparison<'_>) -> String {
    let Some((why, pair)) = comparison.departure(LATE_SECS) else {
        return format!("Every recorded answer was asked for, and came within {LATE_SECS} s of its recorded instant.");
    };
    let line = pair.take.map_or_else(String::new, |take| format!(" (line {} of the recording)", take.line));
    match why {
        Departure::Unrecorded => {
            "The simulation first leaves the recording with a request that is not recorded.".to_owned()
        }
        Departure::NotAsked => format!("The first recorded answer that was never asked for{line}."),
        Departure::Late => {
            let delay = comparison.delay_secs(pair).map_or(0.0, f64::abs);
            format!("The first answer more than {LATE_SECS} s from its recorded instant is {delay:.0} s off{line}.")
        }
    }
}
