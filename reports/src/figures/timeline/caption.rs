//! What the picture says in words.

use forkcast_sim::diagnosis::Cause;
use forkcast_sim::pricing::Money;

use super::lane::amount;
use super::{NAMED_MIN, Timeline};
use crate::document::{count, money, several, share};
use crate::figures::svg::Caption;
use crate::report::{Report, not_modelled};

/// Causes in the title.
const CAUSES_MAX: usize = 3;

pub(super) fn of(timeline: &Timeline, report: &Report<'_>) -> Caption {
    let lanes = timeline.lanes.iter().filter(|_| timeline.plan.has_names());
    let lanes = lanes.map(|(key, lane)| {
        let name = timeline.plan.name(*key, report);
        let [sum, missed] = [lane.sum.total(), lane.sum.missed].map(|part| amount(part, timeline.unit));
        format!("{name}: {sum}, of it {missed} missed")
    });
    let lanes: Vec<String> = lanes.collect();
    let bars = format!("Bars are {} by category. {}", timeline.upwards(), lanes.join("; "));
    Caption { title: title(report), note: note(timeline, report), description: bars }
}

/// The avoidable part and its causes; else the cost.
fn title(report: &Report<'_>) -> String {
    let account = &report.totals;
    let requests = several(report.tally.requests, "request");
    let rate = account.billed.usage.hit_rate().map(|rate| format!(", hit rate {}", share(rate))).unwrap_or_default();
    let Some(bill) = account.billed.cost else { return format!("{requests} without a price{rate}") };
    let perfect = account.perfect.filter(|_| account.is_explained());
    match perfect.map(|perfect| bill - perfect) {
        None => format!("{} for {requests}{rate}", money(bill)),
        Some(Money::ZERO) => format!("{} for {requests}: all that could be read was read", money(bill)),
        Some(avoidable) => {
            let causes = account.causes().into_iter().filter(|(_, total)| total.cost >= NAMED_MIN);
            let causes: Vec<String> = causes
                .take(CAUSES_MAX)
                .map(|(cause, total): (Cause, _)| format!("{cause} {}", money(total.cost)))
                .collect();
            let causes = if causes.is_empty() { String::new() } else { format!(": {}", causes.join(", ")) };
            format!("{} of {} was avoidable{causes}", money(avoidable), money(bill))
        }
    }
}

/// Requests, days, the meaning of a lane and a bar, and requests that are not drawn.
fn note(timeline: &Timeline, report: &Report<'_>) -> String {
    let day = |at| report.view.zone.text(at, "%Y-%m-%d");
    let days = report.span().and_then(|(first, last)| Some((day(first)?, day(last)?)));
    let days =
        days.map(|(first, last)| if first == last { format!(" on {first}") } else { format!(", {first} to {last}") });
    let rate = report.totals.billed.usage.hit_rate().map(|rate| format!(", hit rate {}", share(rate)));
    let sessions = several(report.sessions.len() as u64, "session");
    let mut parts = vec![format!(
        "{} in {sessions}{}{}",
        several(report.tally.requests, "request"),
        days.unwrap_or_default(),
        rate.unwrap_or_default()
    )];
    parts.extend(timeline.plan.of_a_lane());
    match timeline.broken() {
        0 => {}
        1 => parts.push("the bar with a gap is higher than drawn".to_owned()),
        number => parts.push(format!("{number} bars with a gap are higher than drawn")),
    }
    let left_out = [
        (not_modelled(report), "to caches that are not modelled"),
        (timeline.not_drawn, "without a place in time are not drawn"),
    ];
    let left_out = left_out.into_iter().filter(|(number, _)| *number > 0);
    parts.extend(left_out.map(|(number, what)| format!("{} {what}", count(number))));
    parts.join("; ")
}
