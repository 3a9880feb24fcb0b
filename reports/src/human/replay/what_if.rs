//! The cost of the same requests under other choices, compared with the actual cost.

use forkcast_replay::what_if::{KEPT_TOKENS, SUMMARY_TOKENS};
use forkcast_sim::pricing::Money;

use super::same_tokens;
use crate::document::{Cell, Column, Document, Table, count, money};
use crate::report::{Account, Report, Side};

pub(super) fn add(report: &Report<'_>, document: &mut Document) {
    let account = &report.totals;
    if report.tried().next().is_none() && account.lower_bound.is_none() {
        return;
    }
    let mut table = Table::new(
        "what_if",
        vec![
            Column::name("What if", "name"),
            Column::right("Read", "cache_read_input_tokens"),
            Column::right("Written", "cache_creation_input_tokens"),
            Column::right("Fresh", "input_tokens").optional(),
            Column::right("Hit rate", "hit_rate").optional(),
            Column::right("Cost", "cost_usd").kept(),
            Column::right("Difference", "delta_usd").kept(),
            Column::right("", "delta_share").kept(),
        ],
    );
    let asked = match account.ledger.recorded_requests {
        _ if report.view.is_of_run => "(as run)",
        0 => "(as predicted)",
        _ => "(as recorded)",
    };
    table.rows.push(row(asked, &account.billed, None));
    let sides = report.tried().filter_map(|(at, tried)| Some((at, tried, account.what_if.get(at)?)));
    let delta = |at| account.saved(at).map(|saved| (-saved, account.saved_share(at).map(|share| -share)));
    table.rows.extend(sides.map(|(at, tried, side)| row(&tried.name, side, delta(at))));
    table.rows.extend(lower_bound(account));
    document.heading("What if");
    document.table(table);
    document.aside(asides(report));
}

/// What the rows leave out.
fn asides(report: &Report<'_>) -> Vec<String> {
    let bound = report.totals.lower_bound.map(|_| {
        "Lower bound, of the same prompts and models: each block written for five minutes, for an hour or not at all, with \
         knowledge of the future and without pings. It cannot be reached."
    });
    bound.map(str::to_owned).into_iter().chain(compacted(report)).chain(same_tokens::sentences(report)).collect()
}

/// Why nothing is compacted at a length.
const SHORTEST: &str = "no conversation gets so long, or system prompt and summary alone have as many tokens.";

/// The length at which compacting saves most, if lengths were asked for, and what no figure has.
fn compacted(report: &Report<'_>) -> Option<String> {
    let account = &report.totals;
    let is_compacted = |at: &usize| report.options.what_if[*at].compact_at.is_some();
    let lengths: Vec<usize> = report.tried().map(|(at, _)| at).filter(is_compacted).collect();
    // Summaries are answers too.
    let is_reached = |at: &usize| account.what_if[*at].usage.output_tokens > account.billed.usage.output_tokens;
    let reached = lengths.iter().filter(|at| is_reached(at)).filter_map(|at| Some((account.saved(*at)?, *at)));
    let best = match reached.max_by_key(|(saved, _)| *saved) {
        _ if lengths.is_empty() => return None,
        None => return Some(format!("Compacting: nothing at these lengths, for {SHORTEST}")),
        Some((saved, at)) if saved > Money::ZERO => {
            format!("{} would have saved {}", report.what_ifs[at].name, money(saved))
        }
        Some((_, at)) if lengths.len() == 1 => format!("{} would have saved nothing", report.what_ifs[at].name),
        Some(_) => "none of these lengths would have saved anything".to_owned(),
    };
    let idle = lengths.iter().any(|at| !is_reached(at)).then(|| format!(" A row that compacts nothing: {SHORTEST}"));
    Some(format!(
        "Compacting: {best}, if it leaves {} tokens after the system prompt and its answer has {} (medians of 34 recorded \
         ones). An agent may have to read again what its summary left out; that cost is in no row.{}",
        count(KEPT_TOKENS),
        count(SUMMARY_TOKENS),
        idle.unwrap_or_default()
    ))
}

fn row(name: &str, side: &Side, delta: Option<(Money, Option<f64>)>) -> Vec<Cell> {
    let usage = &side.usage;
    vec![
        Cell::text(name),
        Cell::Count(usage.cache_read_input_tokens),
        Cell::Count(usage.cache_creation_input_tokens()),
        Cell::Count(usage.input_tokens),
        Cell::Share(usage.hit_rate()),
        Cell::Money(side.cost),
        delta.map_or(Cell::Empty, |(delta, _)| Cell::MoneyDifference(Some(delta))),
        delta.map_or(Cell::Empty, |(_, share)| Cell::Error(share)),
    ]
}

fn lower_bound(account: &Account) -> Option<Vec<Cell>> {
    let bound = account.lower_bound?;
    let bill = account.billed.cost.filter(|bill| *bill > Money::ZERO);
    let delta = bill.map(|bill| bound - bill);
    let share = delta.zip(bill).map(|(delta, bill)| delta.picousd() as f64 / bill.picousd() as f64);
    Some(vec![
        Cell::text("(lower bound)"),
        Cell::Empty,
        Cell::Empty,
        Cell::Empty,
        Cell::Empty,
        Cell::Money(Some(bound)),
        delta.map_or(Cell::Empty, |delta| Cell::MoneyDifference(Some(delta))),
        share.map_or(Cell::Empty, |share| Cell::Error(Some(share))),
    ])
}
