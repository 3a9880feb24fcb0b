//! `forkcast.run/1`: one run of a scenario.

mod agent;
mod fan_out;
mod request;

use std::io::{self, Write};

use forkcast_replay::calibrate::{Generation, Quality, Residual, built_in_residual};
use forkcast_scenarios::format::expect::{Ends, Pending};
use forkcast_scenarios::run::{Run, Sums};
use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::{Forks, Profile};
use forkcast_sim::wire::Usage;
use forkcast_sim::wire::model::Tokenizer;

use super::own_prices::OwnPrices;
use super::usage::{HIT_RATE, NO_INPUT, NO_PRICE, TTLS};
use super::words::tokenizers;
use crate::forks::fan_outs;
use crate::names::Names;
use crate::record::{Record, Shape, Value, list, pretty};
use crate::report::{Report, statement_of_run};
use agent::AgentOf;
use fan_out::FanOutOf;
use request::RequestOf;

/// Name and version.
pub const SCHEMA: &str = "forkcast.run/1";

/// The description in the schema.
pub(super) const ABOUT: &str = "One run of a scenario: its agents, every request with its bill and its reads and \
                                writes, the laws. Contains no text of prompts.";

/// Writes a run as one JSON object; `failures` are the claims that did not hold.
///
/// # Errors
/// When the target cannot be written.
pub fn write(run: &Run, failures: &[String], target: &mut dyn Write) -> io::Result<()> {
    write_with(run, failures, None, target)
}

/// The same with its requests as a replay, if requested.
///
/// # Errors
/// When the target cannot be written.
pub fn write_with(
    run: &Run,
    failures: &[String],
    report: Option<&Report<'_>>,
    target: &mut dyn Write,
) -> io::Result<()> {
    pretty(&RunResult { run, failures, report }, target)
}

/// A run and the results of its claims.
pub(super) struct RunResult<'a> {
    run: &'a Run,
    failures: &'a [String],
    report: Option<&'a Report<'a>>,
}

record! {
    RunResult<'_>, "run":
    format || Shape::Constant(SCHEMA) => |_| SCHEMA;
    text "scenario", "Its name." => |it| Value::text(&it.run.scenario.name);
    count "seed", "The random seed." => |it| it.run.scenario.seed, unit("random seed");
    record: Options<'_>, "options", "How it was run." => |it| Options(it.run).value();
    record: Sizes<'_>, "sizes",
        "Where token figures of prompts come from. Output tokens are the script's, or estimated by length." =>
        |it| Sizes(it.run).value();
    text "price_book", "The prices." => |it| statement_of_run(it.run);
    field "digest", || Shape::Pattern("^[0-9a-f]{32}$"), "Over (instant, event), in order." =>
        |it| format!("{:032x}", it.run.digest);
    field "ends", || Shape::words(Ends::ALL.map(Ends::word)), "How it ended." => |it| it.run.ends.word();
    text "message", "Why it did not finish." => |it| it.run.message.clone(), null("if it did");
    records: AgentOf<'_>, "agents", "Who took part, parents before children." => |it| list(AgentOf::all(it.run));
    records: RequestOf<'_>, "requests", "Every request, in order of sending." => |it| list(RequestOf::all(it.run));
    records: FanOutOf<'_>, "fan_outs", "The forks of each message together." =>
        |it| {
            let found = fan_outs(it.run);
            Value::List(found.iter().map(|found| FanOutOf { run: it.run, found }.value()).collect())
        };
    record: Totals<'_>, "totals", "Sums over all requests." => |it| Totals(it.run, it.run.totals()).value();
    field "laws", || Shape::Map(Box::new(Shape::Truth)), "Whether each law held, by name." =>
        |it| Value::map(it.run.laws.iter().copied());
    texts "failures", "Claims of the scenario that did not hold." => |it| Value::texts(it.failures);
    records: Pending, "pending", "Steps that need a part that is not there yet." =>
        |it| Value::List(it.run.scenario.expect.pending.iter().map(Record::value).collect());
    record: Report<'_>, "replay", "The same requests as a replay, `forkcast.replay/1`." =>
        |it| it.report.map_or(Value::Absent, Record::value), absent("without `--what-if`, `--by` and limits");
}

struct Options<'a>(&'a Run);

record! {
    Options<'_>, "run_options":
    texts "set", "Fields that were set from outside." => |it| Value::texts(&it.0.options.set);
    count "interleave", "The seed by which ready tasks are drawn." =>
        |it| it.0.options.interleave, null("if the first comes first"), unit("random seed");
    text "cache", "Preset of cache rules." => |it| it.0.scenario.cache.unwrap_or_default().name;
    field "breakpoints", || Shape::words(Placement::ALL.map(Placement::name)), "Placement of breakpoints." =>
        |it| forkcast_scenarios::load::settings(&it.0.scenario).placement.name();
    field "ttl", || Shape::words(TTLS), "Lifetime of cache entries." =>
        |it| forkcast_scenarios::load::settings(&it.0.scenario).ttl.name();
    text "prices_of", "The day of the list prices." =>
        |it| it.0.scenario.prices.map_or_else(|| it.0.book.version().to_owned(), |date| date.to_string());
    record: OwnPrices<'_>, "prices", "The user's own prices." =>
        |it| OwnPrices(&it.0.book, Names::Plain).value();
    record: Forks, "forks", "How forks are made, and when they start." =>
        |it| forkcast_scenarios::load::settings(&it.0.scenario).forks.value();
}

record! {
    Forks, "forks":
    field "profile", || Shape::words(Profile::ALL.map(Profile::name)), "How the messages of forks are built." =>
        |forks| forks.profile.name();
    text "launch", "When they start, and the named agents of one message and type." => |forks| forks.launch.name();
    texts "ablations", "Principles that were broken on purpose." =>
        |forks| Value::texts(forks.ablations.iter().map(|ablation| ablation.name()));
}

struct Sizes<'a>(&'a Run);

record! {
    Sizes<'_>, "run_sizes":
    field "declared", || Shape::Map(Box::new(Shape::Count { least: 0 })),
        "Parts of the prompt whose tokens the scenario declares. Where there are any, the provider adds nothing." =>
        |it| Value::map(it.0.declared()), unit("tokens");
    records: CountQuality, "counted",
        "The tokenizers by which all else is counted, one for each that a model of the run has." =>
        |it| list(it.0.tokenizers().into_iter().map(CountQuality));
}

/// A tokenizer that was counted with.
struct CountQuality(Tokenizer);

impl CountQuality {
    fn residual(&self) -> Option<Residual> {
        Generation::of(self.0).map(built_in_residual)
    }
}

/// When a field is null.
const NOT: &str = "for counts that were measured on none";

record! {
    CountQuality, "counted_by":
    field "tokenizer", tokenizers, "The tokenizer." => |it| it.0.word();
    field "quality", || Shape::words([Quality::Exact, Quality::Calibrated, Quality::Borrowed].map(Quality::word)),
        "How good its count is." =>
        |it| Quality::of(it.0).word();
    number "error", "Counted / billed - 1, in sum over the recordings that a calibrated count was measured on." =>
        |it| it.residual().map(|residual| residual.sum_error), unit("part of 1"), null(NOT);
    number "p90_error", "Nine of ten of these are off by no more than this share." =>
        |it| it.residual().map(|residual| residual.p90_error), unit("part of 1"), null(NOT);
}

struct Totals<'a>(&'a Run, Sums);

record! {
    Totals<'_>, "totals":
    count "requests", "How many there are." => |it| it.1.requests, unit("requests");
    flat: Sums, => |it| it.1.value();
    millis "makespan_ms", "From start to end." => |it| it.0.makespan;
}

record! {
    /// Sums of requests, of a run, an agent or a fan-out.
    Sums, "run_sums":
    record: Usage, "usage", "Their tokens." => |sums| sums.usage.value();
    share "hit_rate", HIT_RATE => |sums| sums.usage.hit_rate(), null(NO_INPUT);
    usd "cost_usd", "Their bill." => |sums| sums.cost, null(NO_PRICE);
    usd "cost_without_cache_usd", "The bill of the same tokens without any cache." =>
        |sums| sums.cost_without_cache, null(NO_PRICE);
}

record! {
    Pending, "pending":
    text "step", "The step." => |pending| Value::text(&pending.step);
    text "needs", "What it needs." => |pending| Value::text(&pending.needs);
}
