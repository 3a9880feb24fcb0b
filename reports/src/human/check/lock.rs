//! The contents of a written lock, and the changes of an update.

use forkcast_sim::guard::lock::{Chain, Change, Changes, Lock, Locked};
use forkcast_sim::pricing::Money;
use forkcast_sim::wire::Usage;

use crate::document::{Cell, Column, Document, Table, count, money, several, share};
use crate::names::Names;

/// Rows that people see.
const SHOWN: usize = 20;

/// The contents of a new lock.
pub fn written(lock: &Lock, file: &str, names: Names) -> Document {
    let mut document = Document::default();
    let chains = several(lock.chains.len() as u64, "chain");
    let requests = several(lock.requests() as u64, "request");
    document.title(format!("{}: {requests} of {chains}", names.file(file)));
    document.aside(vec![format!("{}; cache rules {}, price book of {}", expected(lock), lock.preset, lock.prices)]);
    document.table(chains_table(lock, names));
    document
}

fn expected(lock: &Lock) -> String {
    let Some(rate) = lock.hit_rate() else {
        return match lock.cost() {
            Some(_) => "Nothing will be billed: the provider would refuse each request".to_owned(),
            None => "Expected cost unknown: the provider's cache is not modelled".to_owned(),
        };
    };
    let cost = lock.cost().map_or_else(|| "no price".to_owned(), money);
    format!("Expected: {cost}, hit rate {}", share(rate))
}

/// Blocks, tokens and breakpoints are those of the last request.
fn chains_table(lock: &Lock, names: Names) -> Table {
    let of_last = |chain: &Chain, count: fn(&Locked) -> u64| {
        chain.requests.last().map_or(Cell::Empty, |request| Cell::Count(count(request)))
    };
    let cost = |chain: &Chain| chain.requests.iter().map(|request| request.cost).sum::<Option<Money>>();
    Table::of("chains", &lock.chains)
        .with(Column::left("Chain", "chain"), |chain| Cell::Text(names.agent(&chain.name)))
        .with(Column::left("Child of", "parent"), |chain| {
            chain.parent.as_ref().map_or(Cell::Empty, |parent| Cell::Text(names.agent(parent)))
        })
        .with(Column::right("Requests", "requests"), |chain| Cell::Count(chain.requests.len() as u64))
        .with(Column::right("Blocks", "blocks"), |chain| of_last(chain, |request| request.blocks as u64))
        .with(Column::right("Tokens", "tokens"), |chain| of_last(chain, |request| request.usage.total_input_tokens()))
        .with(Column::right("Breakpoints", "breakpoints"), |chain| {
            of_last(chain, |request| request.breakpoints.len() as u64)
        })
        .with(Column::right("Hit rate", "hit_rate"), |chain| Cell::Share(chain.hit_rate()))
        .with(Column::right("Cost", "cost_usd").kept(), |chain| {
            if chain.hit_rate().is_none() { Cell::Empty } else { Cell::Money(cost(chain)) }
        })
        .shown(SHOWN, "chains")
}

/// The changes of an update and their cost, in one line.
pub(super) fn changed(changes: &Changes, file: &str, names: Names) -> String {
    let file = names.file(file);
    let number = changes.changes.len();
    match number {
        0 => format!("{file}: nothing changed"),
        1 => format!("{file} is rewritten: 1 change{}", more(changes)),
        _ => format!("{file} is rewritten: {} changes{}", count(number as u64), more(changes)),
    }
}

/// `, $0.0123 more for the same requests`.
fn more(changes: &Changes) -> String {
    let Some((before, after)) = changes.cost_before.zip(changes.cost_after) else { return String::new() };
    let sums = format!("{} before, {} now", money(before), money(after));
    match after - before {
        Money::ZERO => format!("; all requests cost {} as before", money(after)),
        less if less < Money::ZERO => format!("; all requests cost {} less ({sums})", money(-less)),
        more => format!("; all requests cost {} more ({sums})", money(more)),
    }
}

/// The changes, a row each.
pub(super) fn changes(changes: &Changes, names: Names) -> Table {
    let mut table = Table::new(
        "changes",
        vec![
            Column::left("Chain", "chain"),
            Column::right("Request", "position"),
            Column::wrap("What changed", "what"),
            Column::right("Cost before", "cost_before_usd").kept(),
            Column::right("Cost now", "cost_after_usd").kept(),
            Column::right("Hit rate before", "hit_rate_before").optional(),
            Column::right("Hit rate now", "hit_rate_after").optional(),
        ],
    );
    table.rows = changes.changes.iter().map(|change| change_row(change, names)).collect();
    table.shown_max = SHOWN;
    table.rows_are = "changes (--format csv lists all)";
    table
}

/// The changes of a review, each with its name and the decision on it. What differs in several requests of a chain in the
/// same way has one name and counts once.
pub fn reviewed(changes: &Changes, file: &str, is_accepted: &dyn Fn(&Change) -> bool, names: Names) -> Document {
    let mut document = Document::default();
    let together = changes.together();
    let open = together.iter().filter(|group| !is_accepted(group[0])).count();
    let file = names.file(file);
    document.title(match together.len() {
        0 => format!("{file}: nothing changed"),
        all => format!("{file}: {}, {} accepted, {open} open", several(all as u64, "change"), all - open),
    });
    if !together.is_empty() {
        let mut table = self::changes(changes, names);
        table.columns.splice(0..0, [Column::left("Review", "review"), Column::left("Change", "change")]);
        for (row, change) in table.rows.iter_mut().zip(&changes.changes) {
            let word = if is_accepted(change) { "accepted" } else { "open" };
            let first = together.iter().find(|group| group.iter().any(|one| one.name() == change.name()));
            let name = first.map_or_else(|| change.name(), |group| group[0].name());
            row.splice(0..0, [Cell::Text(word.to_owned()), Cell::Text(name)]);
        }
        document.table(table);
    }
    document
}

fn change_row(change: &Change, names: Names) -> Vec<Cell> {
    let whole = |chain: &str, requests: usize, how: &str| {
        let what = format!("the chain {how}: {}", several(requests as u64, "request"));
        [Cell::Text(names.agent(chain)), Cell::Empty, Cell::Text(what)]
    };
    let (head, costs) = match change {
        Change::ChainAdded { chain, requests, cost } => {
            (whole(chain, *requests, "is new"), [Cell::Empty, Cell::Money(*cost), Cell::Empty, Cell::Empty])
        }
        Change::ChainRemoved { chain, requests, cost } => {
            (whole(chain, *requests, "is gone"), [Cell::Money(*cost), Cell::Empty, Cell::Empty, Cell::Empty])
        }
        Change::Request { chain, position, what, before, after } => {
            let what = match (what.is_empty(), before, after) {
                (false, ..) => what.iter().map(|what| names.thing(what)).collect::<Vec<_>>().join("; "),
                (true, None, _) => "the request is new".to_owned(),
                (true, _, None) => "the request is gone".to_owned(),
                (true, Some(_), Some(_)) => "the expected usage".to_owned(),
            };
            let cost = |side: &Option<(Usage, Option<Money>)>| side.map_or(Cell::Empty, |(_, cost)| Cell::Money(cost));
            let rate = |side: &Option<(Usage, Option<Money>)>| {
                side.map_or(Cell::Empty, |(usage, _)| Cell::Share(usage.hit_rate()))
            };
            let head = [Cell::Text(names.agent(chain)), Cell::Count(*position as u64), Cell::Text(what)];
            (head, [cost(before), cost(after), rate(before), rate(after)])
        }
    };
    head.into_iter().chain(costs).collect()
}
