//! A request from a transcript or a trace: no body is recorded, so there are no bytes to compare. It has its usage,
//! the tokens that its conversation had left in the cache, and the line that shows why these were not read.

use forkcast_sim::diagnosis::Cause;
use forkcast_sim::ledger::Line;

use crate::document::{Document, count, money, several};
use crate::human::when;
use crate::report::{Miss, Recorded, Report, lives_an_hour, statement_of_one};

/// Facts about such a request.
pub fn transcript(report: &Report<'_>, entry: &Recorded<'_>) -> Document {
    let line = &entry.line;
    let mut document = Document::default();
    let place = report.spot(&entry.into());
    let at = line.at.and_then(|at| when::sent(at, &report.view.zone)).map_or_else(String::new, |at| format!(", {at}"));
    document.title(format!("Request {}, {place}: {}{at}", line.index, report.names.model(&line.model)));
    document.text(who(report, entry).into_iter().chain(usage(line)).collect());
    document.heading("Tokens read and missed");
    document.text(read(entry));
    if !line.charge.causes.is_empty() {
        document.table(super::causes(report, entry));
        crate::human::list::hint(&mut document);
    }
    document.text([sign(report, entry), pause(report, entry)].into_iter().flatten().collect());
    document.heading("Its cost");
    document.text(cost(report, line));
    document.aside(super::notes(report, line));
    document
}

fn who(report: &Report<'_>, entry: &Recorded<'_>) -> Option<String> {
    let session = report.session_of(entry)?;
    let agent = report.agent_of(entry).unwrap_or("its only agent");
    let client = entry.client().map(|client| format!(", {}", report.names.client(client))).unwrap_or_default();
    Some(format!("Agent {agent} of session {}{client}.", session.id))
}

fn usage(line: &Line) -> Option<String> {
    let usage = line.billed()?;
    let whose = if line.recorded.is_some() { "Recorded" } else { "Predicted" };
    let written = [(usage.ephemeral_5m_input_tokens, "five minutes"), (usage.ephemeral_1h_input_tokens, "an hour")];
    let written = written.into_iter().filter(|(tokens, _)| *tokens > 0);
    let written: Vec<String> = written.map(|(tokens, life)| format!("{} for {life}", count(tokens))).collect();
    let written = if written.is_empty() { String::new() } else { format!(", wrote {}", written.join(" and ")) };
    Some(format!(
        "{whose}: read {} of {} input tokens{written}; {} of answer.",
        count(usage.cache_read_input_tokens),
        count(usage.total_input_tokens()),
        several(usage.output_tokens, "token"),
    ))
}

fn read(entry: &Recorded<'_>) -> Vec<String> {
    let line = &entry.line;
    let Some(why) = &line.explanation else {
        let unknown = match line.recorded.map(|usage| usage.total_input_tokens()) {
            None => "The recording has no usage of it, so nothing is known about its cache.",
            Some(0) => "Its recorded input is zero: it was answered without a cache.",
            Some(_) => "The contents of its cache are unknown, because there is no cache profile.",
        };
        return vec![unknown.to_owned()];
    };
    let known = why.read_tokens.saturating_add(why.missed_tokens());
    let mut said = vec![format!(
        "{} tokens of it had been sent before: {} were read, {} were missed. {} were new.",
        count(known),
        count(why.read_tokens),
        count(why.missed_tokens()),
        count(why.new_tokens),
    )];
    if let Some(predicted) = line.predicted {
        let read = count(predicted.cache_read_input_tokens);
        said.push(format!("The forecast, made from the request's size alone, predicted a read of {read}."));
    }
    said
}

/// The line that shows it.
fn sign(report: &Report<'_>, entry: &Recorded<'_>) -> Option<String> {
    let shown = entry.evidence.as_ref().filter(|_| !entry.line.charge.causes.is_empty())?;
    Some(format!("Shown by {}:{}: {}.", report.short(&shown.file), shown.line, shown.shows))
}

/// How long the agent paused, and how long what it had written could be read.
fn pause(report: &Report<'_>, entry: &Recorded<'_>) -> Option<String> {
    let is_it = |miss: &&Miss| miss.cause == Cause::Expired && miss.place.index == entry.line.index;
    let pause = report.misses.iter().find(is_it)?.pause?;
    let life = if lives_an_hour(entry) { "an hour" } else { "five minutes" };
    // In minutes, as the first screen has pauses.
    let pause = several(pause.as_millis() / 60_000, "minute");
    Some(format!("The agent had sent nothing for {pause}; its entries live for {life}."))
}

fn cost(report: &Report<'_>, line: &Line) -> Vec<String> {
    let Some(bill) = &line.charge.bill else {
        return vec![super::no_price(report, line)];
    };
    let mut said = vec![format!("{} at {}.", money(bill.total), statement_of_one(report, line.at))];
    if let Some(perfect) = line.charge.perfect.filter(|perfect| *perfect != bill.total) {
        said.push(format!("With every missed token read: {}, {} less.", money(perfect), money(bill.total - perfect)));
    }
    said
}
