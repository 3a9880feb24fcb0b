//! `forkcast.fanout/1`: cells of a fan-out, and the same as comma-separated values and for people.

use std::collections::BTreeSet;
use std::io::{self, Write};

use forkcast_scenarios::fanout::trial::{best_cost, best_makespan, sets, unpriced};
use forkcast_scenarios::fanout::{Outcome, Spawn, Trial};
use forkcast_scenarios::format::outline;
use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::Profile;
use forkcast_sim::wire::{Ttl, Usage};

use self::answer::AnswerOf;
use super::usage::TTLS;
use crate::record::{Record, Shape, Value, list, pretty, table};

mod answer;

pub use forkcast_scenarios::fanout::breakeven::Answer;

/// Name and version.
pub const SCHEMA: &str = "forkcast.fanout/1";

/// The description in the schema.
pub(super) const ABOUT: &str = "Cells of a fan-out: their parameters, the results of the runs, the formula, the lower \
                                bound, the best policy. Contains no text of prompts.";

/// Writes rows as one JSON object, with the answers that they were made for.
///
/// # Errors
/// When the target cannot be written.
pub fn write(
    rows: &[Trial],
    answers: &[Answer],
    price_book: &str,
    is_partial: bool,
    target: &mut dyn Write,
) -> io::Result<()> {
    pretty(&Fanout { trials: rows, answers, price_book, is_partial }, target)
}

/// Writes rows as comma-separated values with their columns in the first line.
///
/// # Errors
/// When the target cannot be written.
pub fn table(rows: &[Trial], target: &mut dyn Write) -> io::Result<()> {
    table::rows(self::rows(rows), target)
}

/// All of it.
pub(super) struct Fanout<'a> {
    trials: &'a [Trial],
    answers: &'a [Answer],
    price_book: &'a str,
    is_partial: bool,
}

record! {
    Fanout<'_>, "fanout":
    format || Shape::Constant(SCHEMA) => |_| SCHEMA;
    text "price_book", "The prices." => |fanout| Value::text(fanout.price_book);
    truth "is_partial", "The user stopped the work; the rows are the finished ones." => |fanout| fanout.is_partial;
    records: Row<'_>, "rows", "The cells." => |fanout| list(rows(fanout.trials));
    field "best_cost", || Shape::list(Shape::Count { least: 0 }),
        "Of each set of rows that differ in launch and breakpoints alone the cheapest, by its index. Rows with \
         unanswered requests are not compared; a set without any other, or without a price, is left out." =>
        |fanout| best_cost(fanout.trials), unit("position");
    field "best_makespan", || Shape::list(Shape::Count { least: 0 }),
        "Index of the fastest row of each such set. Rows with unanswered requests are not compared." =>
        |fanout| best_makespan(fanout.trials), unit("position");
    texts "unpriced", "Models without a price, in order: their cost is null." =>
        |fanout| Value::texts(unpriced(fanout.trials));
    records: AnswerOf<'_>, "answers", "Questions that the rows answer: curves, and their crossings." =>
        |fanout| list(fanout.answers.iter().map(AnswerOf));
}

/// A cell, its outcome, and the respects in which it is best.
pub(crate) struct Row<'a> {
    trial: &'a Trial,
    best: Vec<&'static str>,
}

/// The rows of these cells. A cell without another that differs only in policy is not compared.
pub(crate) fn rows(trials: &[Trial]) -> Vec<Row<'_>> {
    let compared: BTreeSet<usize> = sets(trials).into_iter().filter(|set| set.len() > 1).flatten().collect();
    let best = [("cost", best_cost(trials)), ("time", best_makespan(trials))];
    let words = |at: usize| {
        let best = best.iter().filter(|(_, best)| compared.contains(&at) && best.contains(&at));
        best.map(|(word, _)| *word).collect()
    };
    trials.iter().enumerate().map(|(at, trial)| Row { trial, best: words(at) }).collect()
}

record! {
    /// The decisive columns come first, and remain on a narrow screen.
    Row<'_>, "row":
    text "model", "The model, as spelled." => |row| Value::text(&row.trial.cell.model), shown("model"), if_it_varies();
    field "children", || Shape::Count { least: 1 }, "Children of one message." =>
        |row| row.trial.cell.children, shown("children"), unit("children");
    tokens "prefix_tokens", "The parent's last request: tools, system prompt, history." =>
        |row| row.trial.cell.prefix, shown("prefix"), if_it_varies();
    tokens "tail_tokens", "Tokens that children share after it." => |row| row.trial.cell.tail, shown("tail"), if_it_varies();
    tokens "directive_tokens", "Tokens of each child's own directive." =>
        |row| row.trial.cell.directive, shown("directive"), if_it_varies();
    field "turns", || Shape::Count { least: 1 }, "Requests of each child." =>
        |row| row.trial.cell.turns, shown("turns"), if_it_varies(), unit("requests");
    tokens "growth_tokens", "Tokens that a turn adds to a child's prompt." =>
        |row| row.trial.cell.growth, shown("growth"), if_it_varies();
    field "ttl", || Shape::words(TTLS), "Lifetime of cache entries." =>
        |row| row.trial.cell.ttl.name(), shown("ttl"), if_it_varies();
    field "head_ttl", || Shape::words(TTLS), "Lifetime of the breakpoints in the system prompt." =>
        |row| row.trial.cell.has_hour_head.then(|| Ttl::OneHour.name()), shown("head"), if_it_varies(),
        null("if it is that of the others");
    field "parent", || Shape::words(["warm", "cold"]),
        "Whether an entry of the parent is alive when the children start." =>
        |row| if row.trial.cell.is_cold { "cold" } else { "warm" }, shown("parent"), if_it_varies();
    field "kind", || Shape::words(["fork", "spawn"]), "Forks, or agents of their own." =>
        |row| if row.trial.cell.spawn.is_some() { "spawn" } else { "fork" }, shown("kind"), if_it_varies();
    field "breakpoints", || Shape::words(Placement::ALL.map(Placement::name)), "Placement of breakpoints." =>
        |row| row.trial.cell.placement.name(), shown("breakpoints"), if_it_varies();
    field "last_turn", || Shape::words(["unmarked"]),
        "The last request of a child does not write what would never be read." =>
        |row| row.trial.cell.leaves_last.then_some("unmarked"), shown("last turn"), if_it_varies(),
        null("if it marks its end");
    field "launch", || Shape::Pattern(outline::LAUNCH),
        "When the children start." =>
        |row| row.trial.cell.launch.name(), shown("launch"), kept();
    flat: Outcome, => |row| row.trial.outcome.value();
    field "best", || Shape::list(Shape::words(["cost", "time"])),
        "In which respect it is the best of those that differ only in launch and breakpoints." =>
        |row| row.best.clone(), shown("best"), kept();
    record: Usage, "parent_usage", "Tokens of the parent's own requests." =>
        |row| row.trial.outcome.parent_usage.value();
    tokens "output_tokens_per_turn", "Tokens of each answer of a child." => |row| row.trial.cell.output;
    field "profile", || Shape::words(Profile::ALL.map(Profile::name)), "How the messages of forks are built." =>
        |row| row.trial.cell.profile.name();
    text "cache", "Preset of cache rules." => |row| row.trial.cell.rules.name;
    texts "ablations", "Principles that were broken on purpose." =>
        |row| Value::texts(row.trial.cell.ablations.iter().map(|ablation| ablation.name()));
    record: Spawn, "spawn", "Agents of their own instead of forks." =>
        |row| row.trial.cell.spawn.as_ref().map(Record::value), null("for forks");
    field "itpm", || Shape::Count { least: 1 },
        "Uncached input tokens per minute that the provider accepts." =>
        |row| row.trial.cell.itpm, null("without a limit"), unit("tokens per minute");
    field "rpm", || Shape::Count { least: 1 }, "Requests per minute that the provider accepts." =>
        |row| row.trial.cell.rpm, null("without a limit"), unit("requests per minute");
    count "waiting", "Children that each pause once for more than five minutes." =>
        |row| row.trial.cell.waiting, shown("waiting"), if_it_varies(), if_any(), unit("children");
}

record! {
    Spawn, "spawn":
    tokens "system_tokens", "Their system prompt." => |spawn| spawn.system;
    tokens "tools_tokens", "Their tools." => |spawn| spawn.tools;
    tokens "brief_tokens", "Their brief." => |spawn| spawn.brief;
    tokens "gathered_tokens", "Tokens of the parent's history that they gather again." => |spawn| spawn.gathered;
    count "gathering_turns", "Turns that they need for that." => |spawn| spawn.gathering_turns, unit("requests");
}
