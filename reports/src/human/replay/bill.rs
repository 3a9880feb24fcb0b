//! The bill in one line, and its parts.

use forkcast_sim::pricing::Money;

use super::totals::part_of;
use super::{is_of_transcripts, listed, unseen};
use crate::document::{Cell, Column, Document, Table, count, money, several, share};
use crate::human::when;
use crate::report::{Report, not_modelled, unpriced};

/// `$259.15 · 1,802 requests · 28 sessions · 2026-07-10 to 2026-08-01 UTC`.
pub(super) fn title(report: &Report<'_>) -> String {
    if report.tally.requests == 0 && report.left_out.requests() > 0 {
        return format!("None of {} is in this {}", several(report.left_out.requests(), "request"), narrowed(report));
    }
    let session = if is_of_transcripts(report) { "session" } else { "recording" };
    let mut parts = vec![bill(report)];
    parts.push(several(report.tally.counted, "request"));
    let uncounted = report.tally.requests - report.tally.counted;
    parts.extend((uncounted > 0).then(|| format!("{} without usage", count(uncounted))));
    parts.push(several(report.sessions.len() as u64, session));
    parts.extend(report.span().and_then(|(from, to)| when::days(from, to, &report.view.zone)));
    let partial = if report.is_partial() { "Partial, interrupted before the end: " } else { "" };
    format!("{partial}{}", parts.join(" · "))
}

/// What the user limited the report to.
fn narrowed(report: &Report<'_>) -> String {
    let view = &report.view;
    let asked =
        [(!view.window.is_open(), "period"), (view.project.is_some(), "project"), (view.session.is_some(), "session")];
    listed(&asked.into_iter().filter(|(is_asked, _)| *is_asked).map(|(_, what)| what.to_owned()).collect::<Vec<_>>())
}

fn bill(report: &Report<'_>) -> String {
    let account = &report.totals;
    let predicted = if account.ledger.recorded_requests == 0 { " predicted" } else { "" };
    match account.billed.cost {
        Some(bill) if report.tally.counted > 0 => format!("{}{predicted}", money(bill)),
        None if !unpriced(report).is_empty() => "No price".to_owned(),
        _ => "Cost unknown".to_owned(),
    }
}

/// The parts of the bill.
pub(super) fn add(report: &Report<'_>, document: &mut Document) {
    if report.tally.counted == 0 {
        return;
    }
    let table = table(report);
    if !table.rows.is_empty() {
        document.table(table);
    }
    let sentences = [unseen::low_answers(report), avoidable(report), unread(report), unseen::without_price(report)];
    document.text(sentences.into_iter().flatten().collect());
}

fn table(report: &Report<'_>) -> Table {
    let account = &report.totals;
    let (usage, spending) = (&account.billed.usage, &account.spending);
    let parts = [
        ("Reading the context again", spending.read, usage.cache_read_input_tokens),
        ("Writing to the cache", spending.writes(), usage.cache_creation_input_tokens()),
        ("Answers", spending.output, usage.output_tokens),
        ("Input without the cache", spending.input, usage.input_tokens),
    ];
    let mut parts: Vec<(String, Money, Option<u64>)> = parts
        .into_iter()
        .filter(|(_, cost, tokens)| *cost > Money::ZERO || *tokens > 0)
        .map(|(what, cost, tokens)| (what.to_owned(), cost, Some(tokens)))
        .collect();
    parts
        .extend(account.fees.iter().map(|(name, (_, cost))| (format!("Fee: {}", name.replace('_', " ")), *cost, None)));
    parts.sort_by_key(|(_, cost, tokens)| (std::cmp::Reverse(*cost), std::cmp::Reverse(*tokens)));
    let bill = account.billed.cost;
    let requests = report.tally.counted.max(1);
    let mean = |tokens: u64| Cell::Count((tokens + requests / 2) / requests);
    Table::of("spending", &parts)
        .with(Column::wrap("Spent on", "what"), |(what, ..)| Cell::text(what))
        .with(Column::right("Cost", "cost_usd").kept(), |(_, cost, _)| Cell::Money(bill.map(|_| *cost)))
        .with(Column::right("Of the bill", "share").kept(), |(_, cost, _)| {
            Cell::Share(bill.map(|bill| part_of(*cost, bill)))
        })
        .with(Column::right("Tokens", "tokens"), |(.., tokens)| tokens.map_or(Cell::Empty, Cell::Count))
        .with(Column::right("A request", "tokens_per_request"), |(.., tokens)| tokens.map_or(Cell::Empty, mean))
        .whole()
}

/// Whether the bill has a part that could have been avoided.
pub(super) fn has_avoidable(report: &Report<'_>) -> bool {
    let account = &report.totals;
    account.is_explained() && account.billed.cost.zip(account.perfect).is_some_and(|(bill, perfect)| bill > perfect)
}

/// The part that would not have been paid if everything that had been sent before had been read.
fn avoidable(report: &Report<'_>) -> Option<String> {
    let account = &report.totals;
    let (bill, perfect) = account.billed.cost.zip(account.perfect).filter(|_| account.is_explained())?;
    if bill == perfect {
        let known = if not_modelled(report) == 0 { "" } else { ", as far as known" };
        return Some(format!("Nothing was missed: every token that could have been read was read{known}."));
    }
    let saved = bill - perfect;
    Some(format!(
        "Avoidable: {}, {} of the bill, for {} tokens that had been sent before and were not read.",
        money(saved),
        share(part_of(saved, bill)),
        count(account.ledger.missed_tokens),
    ))
}

fn unread(report: &Report<'_>) -> Option<String> {
    let premium = report.totals.unread_writes.filter(|premium| *premium > Money::ZERO)?;
    Some(format!("Cache writes that were never read cost {} more than plain input.", money(premium)))
}
