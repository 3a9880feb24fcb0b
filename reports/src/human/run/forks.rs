//! Fan-outs for people: their cost and its alternatives, the reads of forks from their parents, and broken prefixes.

use std::ops::RangeInclusive;

use forkcast_scenarios::run::Run;
use forkcast_scenarios::run::remedy::{Remedy, remedy};
use forkcast_sim::agent::spawn::fork::Forks;

use crate::document::{Cell, Column, Document, Table, count, money, several, share};
use crate::forks::{FanOut, Miss, Reports, fan_outs};

/// The maximum number of fan-outs that are shown separately.
const TOLD_MAX: usize = 12;

/// Most misses of a fan-out shown to people.
const MISSES_MAX: usize = 8;

/// A part for each fan-out; nothing if there are no forks.
pub(super) fn add(run: &Run, document: &mut Document) {
    let found = fan_outs(run);
    if found.is_empty() {
        return;
    }
    document.heading("Sharing among forks");
    for fan_out in found.iter().take(TOLD_MAX) {
        document.text(told(run, fan_out));
        missed(run, fan_out, document);
    }
    if found.len() > TOLD_MAX {
        document.aside(vec![format!("… and {} more messages that forked", found.len() - TOLD_MAX)]);
    }
}

/// How forks were built, and when they started.
pub(super) fn made(forks: &Forks) -> String {
    let broken: Vec<&str> = forks.ablations.iter().map(|ablation| ablation.name()).collect();
    let broken = if broken.is_empty() { String::new() } else { format!("; broken on purpose: {}", broken.join(", ")) };
    format!("Forks built as {}, started as {}{broken}", forks.profile.name(), forks.launch.name())
}

fn told(run: &Run, found: &FanOut<'_>) -> Vec<String> {
    let mut lines = vec![cost(run, found)];
    lines.extend(shared(found));
    lines.extend(reports(run, found));
    lines
}

/// `5 forks of main, 15 requests: $0.1234, hit rate 92.1 %; without a cache $0.4321; with cold starts $0.2345`.
fn cost(run: &Run, found: &FanOut<'_>) -> String {
    let parent = found.parent.and_then(|parent| run.agents.get(parent)).map_or("nobody", |agent| &agent.label);
    let forks = several(found.forks.len() as u64, "fork");
    let mut line = format!("{forks} of {parent}, {}: ", several(found.sums.requests, "request"));
    line.push_str(&found.sums.cost.map_or_else(|| "no price".to_owned(), money));
    line.push_str(&found.sums.usage.hit_rate().map(|rate| format!(", hit rate {}", share(rate))).unwrap_or_default());
    if let Some(without) = found.sums.cost_without_cache {
        line.push_str(&format!("; without a cache {}", money(without)));
    }
    if let Some(cold) = found.cost_cold {
        line.push_str(&format!("; with cold starts {}", money(cold)));
    }
    line
}

/// The tokens that first requests read of the parent's prefix, and the tokens that they added.
fn shared(found: &FanOut<'_>) -> Option<String> {
    let read = range(found.range(|share| share.read_tokens)?);
    let shared = range(found.range(|share| share.shared_tokens)?);
    let own = range(found.range(|share| share.own_tokens)?);
    let who = if found.forks.len() == 1 { "It begins" } else { "Each begins" };
    Some(format!(
        "{who} with {shared} tokens of its parent's last request ({read} of them read), and adds {own} of its own"
    ))
}

fn range(range: RangeInclusive<u64>) -> String {
    let (least, most) = range.into_inner();
    if least == most { count(least) } else { format!("{} to {}", count(least), count(most)) }
}

/// `Reports: 4 well-formed, 1 malformed (fork#3: it has no `Result:`)`.
fn reports(run: &Run, found: &FanOut<'_>) -> Option<String> {
    let Reports { well_formed, malformed, missing } = found.reports;
    let parts = [(well_formed, "well-formed"), (malformed, "malformed"), (missing, "missing")];
    let said: Vec<String> =
        parts.iter().filter(|(forks, _)| *forks > 0).map(|(forks, how)| format!("{} {how}", count(*forks))).collect();
    let first = found.forks.iter().filter_map(|fork| run.agents.get(*fork)).find_map(|agent| {
        let problem = agent.fork.as_ref()?.report.as_ref()?.problem.as_ref()?;
        Some(format!("; {}: {problem}", agent.label))
    });
    (!said.is_empty()).then(|| format!("Reports: {}{}", said.join(", "), first.unwrap_or_default()))
}

fn missed(run: &Run, found: &FanOut<'_>, document: &mut Document) {
    let Some(dearest) = found.misses.first() else {
        document.text(vec!["Their first requests missed no token that had been sent before".to_owned()]);
        return;
    };
    document.text(broken(run, found, dearest));
    let place = |miss: &Miss<'_>| miss.difference.map_or(Cell::Empty, |found| Cell::text(&found.path));
    let byte = |miss: &Miss<'_>| miss.difference.and_then(|found| found.offset_in_block);
    let what = |miss: &Miss<'_>| miss.difference.map_or(Cell::Empty, |found| Cell::text(&found.name));
    let table = Table::of("misses", &found.misses)
        .with(Column::left("Missed for", "cause").kept(), |miss| Cell::text(miss.cause.word()))
        .with(Column::right("Forks", "forks"), |miss| Cell::Count(miss.forks))
        .with(Column::right("Tokens", "tokens"), |miss| Cell::Count(miss.tokens))
        .with(Column::right("Cost", "cost_usd").kept(), |miss| Cell::Money(miss.cost))
        .with(Column::name("Place", "path"), place)
        .with(Column::right("Byte", "offset_in_block").optional(), |miss| byte(miss).map_or(Cell::Empty, Cell::Count))
        .with(Column::wrap("What", "name"), what)
        .shown(MISSES_MAX, "causes");
    document.table(table);
}

/// The block that broke the prefix, or the time or rule that did, and what would save it.
fn broken(run: &Run, found: &FanOut<'_>, miss: &Miss<'_>) -> Vec<String> {
    let word = miss.cause.word();
    let all = found.forks.len() as u64;
    let some = format!("{} of {}", count(miss.forks), count(all));
    let mut lines = vec![match miss.difference {
        None if miss.forks == all => {
            format!("The prefix was unchanged, but no fork could read all that had been sent before: {word}")
        }
        None => {
            format!("The prefix was unchanged, but {some} forks could not read all that had been sent before: {word}")
        }
        Some(difference) => {
            let offsets = difference.offset_in_block.zip(difference.offset_in_prefix).map(|(block, prefix)| {
                format!(
                    ", first differing byte {} of the block, {} of the prefix (canonical bytes)",
                    count(block),
                    count(prefix)
                )
            });
            let offsets = offsets.unwrap_or_default();
            let forks = if miss.forks == all { "all forks" } else { &format!("{some} forks") };
            // Of a model the name says what changed.
            let broke = if difference.name.contains(" became ") { "" } else { " broke the prefix" };
            format!("{word}: {}{broke} for {forks}, at {}{offsets}", difference.name, difference.path)
        }
    }];
    if let Some(varies) = miss.difference.and_then(|difference| difference.volatile) {
        lines.push(format!("The difference looks like volatile content: {}", varies.word()));
    }
    let causes = found.misses.iter().map(|miss| miss.cause).collect();
    match remedy(run, &causes) {
        Some(Remedy { options, before, after }) => lines.push(format!(
            "What would save it, run again: {}, {} instead of {}",
            options.join(" "),
            money(after),
            money(before)
        )),
        // No option undoes a change of content.
        None if miss.cause.is_change() => lines.push(format!("How to fix it: {}", miss.cause.suggestion())),
        None => {}
    }
    lines
}
