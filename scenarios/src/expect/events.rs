//! Compares events with their patterns: how often each happens, and in which order.

use forkcast_sim::simulation::Logged;
use serde_json::Value;

use super::Failures;
use crate::format::expect::Pattern;
use crate::run::Run;

/// An event as a line of the log.
struct EventLine {
    at_ms: u64,
    fields: Value,
}

/// Fields that name an agent or its task.
const NAMES_OF_AGENTS: [&str; 3] = ["agent", "parent", "task"];

pub(super) fn check(failed: &mut Failures<'_>) {
    let run = failed.run;
    let expect = &run.scenario.expect;
    if expect.events.is_empty() && expect.orders.is_empty() {
        return;
    }
    let lines: Vec<EventLine> = run.events.iter().map(EventLine::of).collect();
    for pattern in &expect.events {
        let times = lines.iter().filter(|line| line.fits(pattern, run)).count() as u64;
        if times < pattern.min || pattern.max.is_some_and(|max| times > max) {
            let near = nearest(pattern, &lines, run);
            failed.add(
                &pattern.origin,
                format!("{} happened {}; expected {}{near}", described(pattern), often(times), wanted(pattern)),
            );
        }
    }
    for order in &expect.orders {
        in_order(order, &lines, failed);
    }
}

/// Each pattern must match an event after the match of the previous pattern.
fn in_order(order: &[Pattern], lines: &[EventLine], failed: &mut Failures<'_>) {
    let run = failed.run;
    let mut from = 0;
    let mut before: Option<(&Pattern, u64)> = None;
    for pattern in order {
        match lines[from..].iter().position(|line| line.fits(pattern, run)) {
            Some(step) => {
                before = Some((pattern, lines[from + step].at_ms));
                from += step + 1;
            }
            None => {
                let earlier = lines[..from].iter().rev().find(|line| line.fits(pattern, run));
                let after = before
                    .map_or_else(String::new, |(pattern, at)| format!(" after {} at {at} ms", described(pattern)));
                let hint = match earlier {
                    Some(line) => format!("; it happened earlier, at {} ms", line.at_ms),
                    None => nearest(pattern, lines, run),
                };
                failed.add(&pattern.origin, format!("{} did not happen{after}{hint}", described(pattern)));
                return;
            }
        }
    }
}

impl EventLine {
    fn of(logged: &Logged) -> Self {
        let fields = serde_json::to_value(&logged.event);
        let fields = fields.unwrap_or_else(|error| unreachable!("an event is JSON: {error}"));
        Self { at_ms: logged.at.0 / 1_000_000, fields }
    }

    fn fits(&self, pattern: &Pattern, run: &Run) -> bool {
        self.is_a(pattern)
            && pattern.at_ms.is_none_or(|at| at == self.at_ms)
            && pattern.fields.iter().all(|(name, wanted)| self.has(name, wanted, run))
    }

    fn is_a(&self, pattern: &Pattern) -> bool {
        self.fields["event"] == *pattern.event
    }

    fn has(&self, name: &str, wanted: &Value, run: &Run) -> bool {
        let found = &self.fields[name];
        let called = || {
            let (id, wanted) = found.as_str().zip(wanted.as_str())?;
            Some(run.agents_called(wanted).any(|(_, agent)| *agent.id == *id))
        };
        found == wanted || NAMES_OF_AGENTS.contains(&name) && called().unwrap_or(false)
    }
}

fn described(pattern: &Pattern) -> String {
    let fields: Vec<String> = pattern.fields.iter().map(|(name, value)| format!("{name}: {}", shown(value))).collect();
    let at = pattern.at_ms.map(|at| format!(" at {at} ms")).unwrap_or_default();
    if fields.is_empty() {
        format!("`{}`{at}", pattern.event)
    } else {
        format!("`{}` with {}{at}", pattern.event, fields.join(", "))
    }
}

/// Names and numbers in full. Events contain no sentences; for one that is here by mistake only its length is shown.
fn shown(value: &Value) -> String {
    match value.as_str().filter(|text| text.contains(char::is_whitespace)) {
        Some(text) => format!("a text of {} characters", text.chars().count()),
        None => value.to_string(),
    }
}

fn often(times: u64) -> String {
    match times {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        times => format!("{times} times"),
    }
}

fn wanted(pattern: &Pattern) -> String {
    match (pattern.min, pattern.max) {
        (min, Some(max)) if min == max => often(min),
        (min, Some(max)) => format!("{min} to {max} times"),
        (min, None) => format!("at least {}", often(min)),
    }
}

/// The nearest event of the same kind, so that a wrong field is visible.
fn nearest(pattern: &Pattern, lines: &[EventLine], run: &Run) -> String {
    let fitting =
        |line: &&EventLine| pattern.fields.iter().filter(|(name, wanted)| line.has(name, wanted, run)).count();
    match lines.iter().filter(|line| line.is_a(pattern)).max_by_key(fitting) {
        None => "; no such event happened at all".to_owned(),
        Some(line) => format!("; the nearest is {} at {} ms", line.fields, line.at_ms),
    }
}
