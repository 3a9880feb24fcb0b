//! One request against what its cache held.

use forkcast_replay::replay::inspect::{Breakpoint, Entry as Held};
use forkcast_sim::cache::EntryState;
use forkcast_sim::ledger::Line;
use forkcast_sim::time::Duration;
use forkcast_sim::wire::Ttl;

use crate::document::{Cell, Column, Document, Marked, Part, Table, count, money, share};
use crate::explained::{Explained, Stop, found_shorter};
use crate::human::when;
use crate::names::Names;
use crate::report::{Entry, Report};

/// The explanation for people.
pub fn document(explained: &Explained<'_>) -> Document {
    let mut document = Document::default();
    document.title(title(explained));
    document.text(vec![outcome(explained), disagreement(explained)].into_iter().flatten().collect());
    document.heading("What it held");
    document.table(held(explained));
    document.heading("Its breakpoints, and what the cache held there");
    breakpoints(explained, &mut document);
    document.heading("Where the match stopped");
    document.text(stop(explained));
    document.heading("What the cache held");
    document.text(vec![entries(explained), nearest(explained)].into_iter().flatten().collect());
    difference(explained, &mut document);
    document.heading("What it cost, and what would have saved it");
    cost(explained, &mut document);
    document
}

/// What is known of a request to a provider without a cache profile: its usage and its bill.
pub fn unprofiled(report: &Report<'_>, entry: &Entry<'_>, provider: &str) -> Document {
    let line = entry.line;
    let mut document = Document::default();
    let place = format!("{}#{}", report.short(&entry.origin.file), entry.origin.index);
    let at = line.at.and_then(when::moment).map_or_else(String::new, |at| format!(", {at} UTC"));
    document.title(format!("Request {}, {place}: {}{at}", line.index, line.model));
    document.text(vec![
        recorded(line),
        format!("There is no cache profile for {provider} yet, so what its cache held is not known."),
    ]);
    document.heading("What it cost");
    let bill = line.charge.bill.as_ref().map(|bill| bill.total);
    document.text(vec![match bill {
        Some(bill) => format!("{} at list prices.", money(bill)),
        None if line.recorded.is_none() => "Nothing is known of it.".to_owned(),
        None => format!("{} has no price in the book, so tokens alone are known.", line.model),
    }]);
    document.aside(line.remarks.iter().map(|remark| format!("Note: {remark}.")).collect());
    document
}

fn recorded(line: &Line) -> String {
    let Some(usage) = line.recorded else { return "The recording has no usage of it.".to_owned() };
    format!(
        "Read {} of {} input tokens, wrote {}; {} tokens of answer.",
        count(usage.cache_read_input_tokens),
        count(usage.total_input_tokens()),
        count(usage.cache_creation_input_tokens()),
        count(usage.output_tokens)
    )
}

/// The tables alone, for formats that have no sentences.
pub fn tables(explained: &Explained<'_>) -> Document {
    let mut document = Document::default();
    document.table(held(explained));
    document.table(breakpoint_table(explained));
    document.table(causes(explained));
    document
}

fn title(explained: &Explained<'_>) -> String {
    let line = explained.entry.line;
    let at = line.at.and_then(when::moment).map_or_else(String::new, |at| format!(", {at} UTC"));
    let agent = explained.report.agent_of(explained.entry).map_or_else(String::new, |agent| format!(", {agent}"));
    format!("Request {}, {}: {}{agent}{at}", line.index, explained.name_of(line.index), line.model)
}

fn outcome(explained: &Explained<'_>) -> Option<String> {
    let line = explained.entry.line;
    let usage = line.billed()?;
    let missed = line.explanation.as_ref().map_or(0, |explanation| explanation.missed_tokens());
    let total = usage.total_input_tokens();
    let whose = if line.recorded.is_some() { "" } else { " (predicted: the recording has no usage)" };
    let rate = usage.hit_rate().map_or_else(String::new, |rate| format!(", {}", share(rate)));
    let read = format!("Read {} of {} input tokens{rate}{whose}", count(usage.cache_read_input_tokens), count(total));
    Some(match missed {
        0 => format!("{read}; nothing that was sent before was missed."),
        missed => format!("{read}; {} had been sent before and were paid again.", count(missed)),
    })
}

fn disagreement(explained: &Explained<'_>) -> Option<String> {
    let recorded = explained.entry.line.recorded?.cache_read_input_tokens;
    let predicted = explained.inspection.predicted.read_tokens;
    let rules = explained.inspection.rules.name;
    (recorded != predicted).then(|| {
        format!(
            "The rules {rules} predict a read of {} tokens; the provider reported {}.",
            count(predicted),
            count(recorded)
        )
    })
}

fn held(explained: &Explained<'_>) -> Table {
    let mut table = Table::new(
        "levels",
        vec![
            Column::left("Level", "level"),
            Column::right("Blocks", "blocks"),
            Column::right("Tokens", "tokens"),
            Column::right("Blocks sent before", "blocks_sent_before"),
        ],
    );
    let row = |held: crate::explained::LevelHeld| {
        vec![
            Cell::text(held.level.name()),
            Cell::Count(held.blocks as u64),
            Cell::Count(held.tokens),
            Cell::Count(held.sent_before as u64),
        ]
    };
    table.rows = explained.levels().into_iter().map(row).collect();
    table
}

fn breakpoints(explained: &Explained<'_>, document: &mut Document) {
    if explained.inspection.breakpoints.is_empty() {
        document.text(vec!["It has none, so the cache was neither asked nor written to.".to_owned()]);
        return;
    }
    document.table(breakpoint_table(explained));
}

fn breakpoint_table(explained: &Explained<'_>) -> Table {
    let mut table = Table::new(
        "breakpoints",
        vec![
            Column::left("Breakpoint", "path"),
            Column::right("Tokens", "tokens"),
            Column::left("Lifetime", "ttl"),
            Column::left("Its own prefix", "state"),
            Column::right("Blocks looked at", "looked_at"),
            Column::wrap("Found to read", "found"),
        ],
    );
    table.rows = explained.inspection.breakpoints.iter().map(|breakpoint| row(explained, breakpoint)).collect();
    table
}

fn row(explained: &Explained<'_>, breakpoint: &Breakpoint) -> Vec<Cell> {
    let found = match breakpoint.found {
        _ if !breakpoint.effective => {
            format!("too short: {} tokens are cached at least", count(explained.inspection.minimum_tokens))
        }
        None => "nothing".to_owned(),
        Some(found) if found_shorter(breakpoint) => {
            format!("the prefix up to {}, {} tokens", explained.path(found), count(explained.tokens_through(found)))
        }
        Some(_) => "its own prefix".to_owned(),
    };
    vec![
        Cell::Text(explained.path(breakpoint.index)),
        Cell::Count(breakpoint.tokens),
        Cell::text(lifetime(breakpoint.marker.ttl)),
        Cell::text(state(breakpoint.state)),
        Cell::Count(breakpoint.looked_at as u64),
        Cell::Text(found),
    ]
}

const fn lifetime(ttl: Ttl) -> &'static str {
    match ttl {
        Ttl::FiveMinutes => "5 minutes",
        Ttl::OneHour => "1 hour",
    }
}

const fn state(state: EntryState) -> &'static str {
    match state {
        EntryState::Absent => "never written",
        EntryState::Live => "can be read",
        EntryState::Expired => "expired",
        EntryState::Evicted => "lost",
        EntryState::InFlight => "being written",
    }
}

fn stop(explained: &Explained<'_>) -> Vec<String> {
    let read = explained.read_blocks();
    let inspection = explained.inspection;
    let reached = match read.checked_sub(1) {
        Some(last) => format!(
            "The cache has it up to {} ({} tokens).",
            explained.path(last),
            count(inspection.predicted.read_tokens)
        ),
        None => "The cache has nothing of it.".to_owned(),
    };
    let known = match (inspection.sent_before().checked_sub(1), explained.first_new()) {
        (None, _) => "No earlier request of this model and scope began with the same block.".to_owned(),
        (Some(_), None) => "The whole prompt had been sent before.".to_owned(),
        (Some(last), Some(new)) => format!(
            "As an unbroken prefix it had been sent before up to {} ({} tokens); {} is the first block that was not.",
            explained.path(last),
            count(explained.tokens_through(last)),
            explained.path(new)
        ),
    };
    vec![format!("{reached} {known}"), reason(explained)]
}

fn reason(explained: &Explained<'_>) -> String {
    let missed = explained.missed_entry();
    let entry = || missed.map_or_else(String::new, |entry| format!("The entry of {} blocks", entry.blocks));
    match explained.stop() {
        Stop::Refused => {
            let why = explained.inspection.refusal.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("The provider refuses the request: {why}")
        }
        Stop::NoBreakpoint => "Without a breakpoint nothing is looked up.".to_owned(),
        Stop::BelowMinimum => format!(
            "Every breakpoint lies in a prefix of less than the {} tokens that this model caches at least.",
            count(explained.inspection.minimum_tokens)
        ),
        Stop::NewFromHere => {
            "Everything that had been sent as this prefix is read; what follows is new to the cache.".to_owned()
        }
        Stop::Expired => format!("{} is longer, but it {}.", entry(), age(explained, missed)),
        Stop::InFlight => format!("{} is longer, but the answer of the request that writes it had not begun.", entry()),
        Stop::Evicted => format!("{} is longer, but it was lost before its time.", entry()),
        Stop::BeyondLookback => format!(
            "{} is longer and could be read, but no breakpoint looks back as far: {} positions at most.",
            entry(),
            explained.inspection.rules.look_back.reach
        ),
        Stop::NeverWritten => {
            "What had been sent beyond that ended at no breakpoint, so no entry was written there.".to_owned()
        }
    }
}

fn age(explained: &Explained<'_>, entry: Option<&Held>) -> String {
    let Some(life) = entry.and_then(|entry| entry.life) else { return "has expired".to_owned() };
    let idle = explained.inspection.at.since(life.last_use);
    format!("was last used {} before and lives {}", span(idle.as_millis()), lifetime(life.ttl))
}

fn entries(explained: &Explained<'_>) -> Option<String> {
    let total = explained.inspection.entries.len();
    if total == 0 {
        return Some("Nothing: no earlier request of this model and scope wrote an entry.".to_owned());
    }
    let counted = explained.counts().into_iter().filter(|(_, number)| *number > 0);
    let words: Vec<String> = counted.map(|(of, number)| format!("{} {}", count(number as u64), plural(of))).collect();
    let entries = if total == 1 { "entry" } else { "entries" };
    Some(format!("{} {entries} of this model and scope: {}.", count(total as u64), words.join(", ")))
}

const fn plural(state: EntryState) -> &'static str {
    match state {
        EntryState::Live => "readable",
        EntryState::InFlight => "being written",
        EntryState::Expired => "expired",
        EntryState::Evicted => "lost",
        EntryState::Absent => "absent",
    }
}

fn nearest(explained: &Explained<'_>) -> Option<String> {
    let Some(nearest) = &explained.inspection.nearest else {
        return (!explained.inspection.entries.is_empty())
            .then(|| "None of them begins with the same block as this request.".to_owned());
    };
    let entry = &nearest.entry;
    let since = explained.ms_since(entry.marked_by.1);
    let ago = since.map_or_else(String::new, |ms| format!(" {} before", span(ms)));
    let shared = match entry.blocks - entry.shared_blocks {
        0 => "all of it is a prefix of this request".to_owned(),
        _ => format!("this request shares its first {} blocks", count(entry.shared_blocks as u64)),
    };
    Some(format!(
        "Nearest: {} blocks, {} tokens, last marked by {}{ago}, {}{}; {shared}.",
        count(entry.blocks as u64),
        count(entry.tokens),
        explained.name_of(entry.marked_by.1),
        state(entry.state),
        remaining(explained, entry),
    ))
}

/// `, for another 4 min 12 s`.
fn remaining(explained: &Explained<'_>, entry: &Held) -> String {
    let Some(life) = entry.life.filter(|_| entry.state == EntryState::Live && explained.entry.line.at.is_some()) else {
        return String::new();
    };
    let used: Duration = explained.inspection.at.since(life.last_use);
    let left = life.ttl.duration().as_millis().saturating_sub(used.as_millis());
    format!(", for another {}", span(left))
}

fn difference(explained: &Explained<'_>, document: &mut Document) {
    let Some(sides) = explained.sides() else { return };
    let findings = sides.findings();
    let Some(first) = findings.first() else { return };
    let found = first.difference;
    let byte = found.offset_in_block.map_or_else(String::new, |byte| format!(", byte {} of the block", count(byte)));
    let volatile = found
        .volatile
        .map_or_else(String::new, |kind| format!("; it looks like something that varies by itself: {}", kind.word()));
    document.text(vec![format!(
        "First difference to it: {}, {} at {}{byte}{volatile}.",
        found.cause.word(),
        sides.names.thing(&found.name),
        found.path
    )]);
    if let Some([older, newer]) = first.windows.as_ref().filter(|_| sides.names == Names::Plain) {
        document.parts.push(Part::Verbatim(vec![labelled("entry    ", older), labelled("request  ", newer)]));
    }
}

fn labelled(label: &str, window: &Marked) -> Marked {
    Marked { before: format!("{label}{}", window.before), ..window.clone() }
}

fn cost(explained: &Explained<'_>, document: &mut Document) {
    let charge = &explained.entry.line.charge;
    let bill = charge.bill.as_ref().map(|bill| bill.total);
    document.text(vec![match bill.zip(charge.perfect) {
        None => format!("{} has no price in the book, so tokens alone are known.", explained.entry.line.model),
        Some((bill, perfect)) if bill == perfect => format!("{} at list prices; nothing was missed.", money(bill)),
        Some((bill, perfect)) => format!(
            "{} at list prices; {} with every missed token read: {} more than need be.",
            money(bill),
            money(perfect),
            money(bill - perfect)
        ),
    }]);
    let table = causes(explained);
    if !table.rows.is_empty() {
        document.table(table);
    }
    document.aside(explained.entry.line.remarks.iter().map(|remark| format!("Note: {remark}.")).collect());
}

fn causes(explained: &Explained<'_>) -> Table {
    let mut table = Table::new(
        "causes",
        vec![
            Column::left("Cause", "cause"),
            Column::right("Tokens", "tokens"),
            Column::right("Cost", "cost_usd"),
            Column::wrap("What changed", "change"),
            Column::wrap("What would save it", "suggestion"),
        ],
    );
    let differences = explained.entry.line.explanation.as_ref().map_or(&[][..], |why| &why.differences);
    let row = |part: &forkcast_sim::ledger::CauseCost| {
        let change = differences.iter().find(|found| found.cause == part.cause);
        let what = change.map_or_else(String::new, |found| {
            format!("{}, at {}", explained.report.names.thing(&found.name), found.path)
        });
        vec![
            Cell::text(part.cause.word()),
            Cell::Count(part.tokens),
            Cell::Money(part.cost),
            Cell::Text(what),
            Cell::text(part.cause.suggestion()),
        ]
    };
    table.rows = explained.entry.line.charge.causes.iter().map(row).collect();
    table
}

/// `4 min 12 s`, `3 h 5 min`, `0.4 s`.
fn span(ms: u64) -> String {
    const MINUTE: u64 = 60_000;
    const HOUR: u64 = 60 * MINUTE;
    match ms {
        0..1_000 => format!("{} ms", ms),
        1_000..MINUTE => format!("{} s", ms / 1_000),
        MINUTE..HOUR => format!("{} min {} s", ms / MINUTE, ms % MINUTE / 1_000),
        _ => format!("{} h {} min", ms / HOUR, ms % HOUR / MINUTE),
    }
}

#[cfg(test)]
mod tests {
    use super::span;

    #[test]
    fn spans_have_two_units_at_most() {
        assert_eq!([400, 12_000, 252_000, 11_100_000].map(span), ["400 ms", "12 s", "4 min 12 s", "3 h 5 min"]);
    }
}
