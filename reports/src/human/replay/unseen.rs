//! Limits of these numbers: only those that apply to the input, with counts.

use forkcast_replay::calibrate::Generation;
use forkcast_replay::formats::claude_code::output_residual;
use forkcast_replay::what_if::WhatIf;
use forkcast_sim::pricing::Money;

use super::listed;
use crate::document::{Document, count, money, several};
use crate::report::{Counted, Report, UNKNOWN, Unpriced, Unseen, Untried, not_billed, unpriced};

pub(super) fn add(report: &Report<'_>, document: &mut Document) {
    let sentences = sentences(report);
    if !sentences.is_empty() {
        document.heading("Limits of these numbers");
        document.text(sentences);
    }
}

/// A sentence for each limit.
pub(super) fn sentences(report: &Report<'_>) -> Vec<String> {
    let found = report.unseen;
    let sentences = [
        without_rules(report, &found),
        without_price(report),
        estimated(report),
        absent(&found),
        compactions(&found),
        hidden(report, &found),
        given(&found),
        without_usage(report, &found),
        refused(&found),
        without_what_ifs(report),
        fees(report),
    ];
    sentences.into_iter().flatten().collect()
}

/// Requests with only usage and bill.
fn without_rules(report: &Report<'_>, found: &Unseen) -> Option<String> {
    let all = report.tally.counted;
    let without = found.not_modelled;
    let who = if without == all {
        "All requests".to_owned()
    } else {
        format!("{} of {}", count(without), several(all, "request"))
    };
    let is_both = report.totals.predicted.is_some() && report.counted == Counted::Recorded;
    let both = if is_both { ", so they count on both sides as recorded" } else { "" };
    (without > 0).then(|| format!("{who} went to models whose cache is not modelled: their misses are unknown{both}."))
}

/// Most models listed in a sentence.
const MODELS_NAMED: usize = 5;

/// Tokens that are counted without a cost.
pub(super) fn without_price(report: &Report<'_>) -> Option<String> {
    let mut unpriced = unpriced(report);
    unpriced.retain(|model| model.tokens > 0);
    unpriced.sort_by_key(|model| std::cmp::Reverse(model.tokens));
    let tokens: u64 = unpriced.iter().map(|model| model.tokens).sum();
    let requests: u64 = unpriced.iter().map(|model| model.requests).sum();
    let name = |model: &Unpriced| if model.model.is_empty() { UNKNOWN.to_owned() } else { model.model.clone() };
    let mut named: Vec<String> = unpriced.iter().take(MODELS_NAMED).map(name).collect();
    match unpriced.len().saturating_sub(MODELS_NAMED) {
        0 => {}
        more => named.push(format!("{more} more models")),
    }
    (!unpriced.is_empty()).then(|| {
        format!(
            "There is no price for {}: the {} of {} count, and are not in the cost. \
             {}.",
            listed(&named),
            several(tokens, "token"),
            several(requests, "request"),
            match unpriced.iter().all(|model| model.model.is_empty()) {
                true => "The recording does not name the model",
                false => "--price-book FILE or --price MODEL:CATEGORY=USD_PER_MTOK supplies one",
            },
        )
    })
}

/// Output recorded only at the start of the stream.
fn estimated(report: &Report<'_>) -> Option<String> {
    let found = report.totals.output_estimated;
    if found.requests == 0 {
        return None;
    }
    let who = format!("The output of {} is the start value of a stream", several(found.requests, "request"));
    if found.tokens == found.recorded_tokens {
        return Some(format!("{who} ({}): their true output is larger.", several(found.tokens, "token")));
    }
    let extra = found.extra.map(|extra| format!(", {} more than is in the cost (an estimate)", money(extra)));
    Some(format!(
        "{who}: {} recorded, about {} by the length of text and thinking{}; for outputs that are known this is {:+.0} % off in sum.",
        several(found.recorded_tokens, "token"),
        count(found.tokens),
        extra.unwrap_or_default(),
        // Clients that record no final output used older models.
        output_residual(Generation::Claude).sum_error * 100.0,
    ))
}

fn absent(found: &Unseen) -> Option<String> {
    let tokens = match found.absent_tokens {
        0 => String::new(),
        tokens => format!(" The client itself counts {} for them.", several(tokens, "token")),
    };
    let (are, their) = if found.absent_agents == 1 { ("was", "its") } else { ("were", "their") };
    (found.absent_agents > 0).then(|| {
        format!(
            "{} {are} started, but {their} transcripts are missing: {their} requests are in no sum.{tokens}",
            several(found.absent_agents, "sub-agent"),
        )
    })
}

fn compactions(found: &Unseen) -> Option<String> {
    let whose = if found.compactions == 1 { "its own request is" } else { "their own requests are" };
    (found.compactions > 0)
        .then(|| format!("{}: {whose} in no file, and in no sum.", several(found.compactions, "compaction")))
}

fn hidden(report: &Report<'_>, found: &Unseen) -> Option<String> {
    let estimate = report.totals.hidden.map(|cost| {
        format!(
            " Those that extended the cached prefix cost about {} (an estimate, without their output).",
            money(cost)
        )
    });
    (found.hidden > 0).then(|| {
        format!(
            "{} found the cache changed since the visible requests: clients also send requests that they do \
             not log (suggestions, titles, checks), and these are in no sum.{}",
            several(found.hidden, "request"),
            estimate.unwrap_or_default(),
        )
    })
}

fn given(found: &Unseen) -> Option<String> {
    (found.first_requests > 0).then(|| {
        format!(
            "System prompt and tools are in no transcript: {} taken as recorded, and the size of the hidden prefix \
             follows from {}.",
            if found.first_requests == 1 {
                "the first request of its chain is"
            } else {
                "first requests of chains are"
            },
            if found.first_requests == 1 { "it" } else { "them" },
        )
    })
}

/// Requests without any recorded usage, if others have it.
fn without_usage(report: &Report<'_>, found: &Unseen) -> Option<String> {
    let number = found.without_usage - found.refused;
    if number == 0 || report.counted == Counted::Predicted {
        return None;
    }
    let alone = match number {
        1 => "; replay it alone to see what the rules predict",
        _ => "; replay them alone to see what the rules predict",
    };
    let are = if number == 1 { "is" } else { "are" };
    let alone = if report.tally.predicted_uncounted { alone } else { "" };
    Some(format!("{} {are} without recorded usage and in no sum{alone}.", several(number, "request")))
}

/// Why something that was asked for was not tried: lifetimes and breakpoints are tried at the instants of the requests.
pub(super) fn without_what_ifs(report: &Report<'_>) -> Option<String> {
    let untried: Vec<(&WhatIf, Untried)> = report.untried().collect();
    let is_none_tried = untried.len() == report.view.what_ifs.len();
    let mut reasons: Vec<Untried> = untried.iter().map(|(_, why)| *why).collect();
    reasons.sort_unstable();
    reasons.dedup();
    let sentence = |reason: &Untried| {
        let asked = untried.iter().filter(|(_, why)| why == reason);
        let asked: Vec<String> = asked.map(|(what_if, _)| what_if.to_string()).collect();
        match (is_none_tried && reasons.len() == 1, asked.len()) {
            (true, _) => format!("{}: what-ifs are left out.", why(*reason)),
            (false, 1) => format!("{}: {} is left out.", why(*reason), asked[0]),
            (false, _) => format!("{}: {} are left out.", why(*reason), listed(&asked)),
        }
    };
    let sentences: Vec<String> = reasons.iter().map(sentence).collect();
    (!sentences.is_empty() && report.tally.counted > 0).then(|| sentences.join(" "))
}

const fn why(reason: Untried) -> &'static str {
    match reason {
        Untried::NoInstants => "The recording has no instants",
        Untried::NoCache => "No cache of these models is modelled",
        Untried::NoPrice => "There is no price for the model (--price MODEL:CATEGORY=USD_PER_MTOK supplies one)",
        Untried::NothingPriced => "No request has both a usage and a price",
    }
}

/// The least share of the bill that is worth a line on the first screen: one hundredth.
const BILL_PARTS: i128 = 100;

/// What answers cost beyond the bill, if the recording has only their beginnings.
pub(super) fn low_answers(report: &Report<'_>) -> Option<String> {
    let found = report.totals.output_estimated;
    let (extra, bill) = found.extra.zip(report.totals.billed.cost)?;
    (extra > Money::ZERO && extra.picousd().saturating_mul(BILL_PARTS) >= bill.picousd()).then(|| {
        format!(
            "The recording has only the beginnings of {}: about {} more than in the bill (an estimate).",
            several(found.requests, "answer"),
            money(extra)
        )
    })
}

fn refused(found: &Unseen) -> Option<String> {
    let were = if found.refused == 1 { "was" } else { "were" };
    (found.refused > 0)
        .then(|| format!("{} {were} refused by the provider: nothing was billed.", several(found.refused, "request")))
}

/// Charges by the makers of these models that are in no recording.
fn fees(report: &Report<'_>) -> Option<String> {
    let kinds = not_billed(report).count() as u64;
    // Recordings of bodies show the tools in use; transcripts do not.
    (kinds > 0 && report.has_transcripts()).then(|| {
        format!(
            "{} besides tokens can be charged and {} not recorded; see `price_book.not_billed` of --format json.",
            several(kinds, "thing"),
            if kinds == 1 { "is" } else { "are" },
        )
    })
}
