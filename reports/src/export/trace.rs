//! Chrome's trace events as JSON: a process for each session, a thread for each agent, an arrow for each start of an
//! agent. Calls of one agent that overlap are asynchronous events, because those of a thread must nest.
//!
//! Source: "Trace Event Format", docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU (accessed in
//! 2026-11).

use std::collections::BTreeMap;
use std::io::{self, Write};

use forkcast_sim::time::Instant;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Times, agent_of, times};
use crate::document::json_text;
use crate::report::{Recorded, Report, Senders};

/// An event. Fields without a value are left out.
#[derive(Debug, Default, Serialize)]
struct Event {
    ph: &'static str,
    name: String,
    cat: &'static str,
    ts: u64,
    pid: usize,
    tid: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'static str>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    args: Map<String, Value>,
}

/// Writes a trace. Returns how many requests have no times and are not in it.
///
/// # Errors
/// When the target cannot be written.
pub fn write(report: &Report<'_>, target: &mut dyn Write) -> io::Result<u64> {
    let mut threads = Threads::default();
    let (mut events, mut timeless) = (Vec::new(), 0);
    report.each(&mut |entry| match times(entry) {
        Some(times) => threads.add(report, entry, times, &mut events),
        None => timeless += 1,
    });
    threads.arrows(report, &mut events);
    let named = threads.names(report);
    let trace = json!({"displayTimeUnit": "ms", "otherData": {"generator": "forkcast"}});
    let Value::Object(mut trace) = trace else { return Ok(timeless) };
    let all = named.into_iter().chain(events).map(serde_json::to_value).collect::<Result<Vec<_>, _>>()?;
    trace.insert("traceEvents".to_owned(), Value::Array(all));
    json_text::compact(target, &trace)?;
    writeln!(target)?;
    Ok(timeless)
}

/// A session and one of its agents.
type Key = (usize, String);

/// An agent's calls so far.
#[derive(Debug)]
struct Thread {
    number: usize,
    began: Instant,
    ended: Instant,
}

/// Threads by session and agent.
#[derive(Debug, Default)]
struct Threads(BTreeMap<Key, Thread>);

impl Threads {
    fn add(&mut self, report: &Report<'_>, entry: &Recorded<'_>, times: Times, events: &mut Vec<Event>) {
        let Times { at, ended } = times;
        let session = entry.line.session;
        let number = self.0.len() + 1;
        let key = (session, agent_of(report, entry).to_owned());
        let thread = self.0.entry(key).or_insert(Thread { number, began: at, ended: Instant(0) });
        let overlaps = at < thread.ended;
        thread.ended = thread.ended.max(ended);
        let event = |ph, ts: Instant, dur, id, args| Event {
            ph,
            name: report.names.model(&entry.line.model).into_owned(),
            cat: "request",
            ts: micros(ts),
            pid: session + 1,
            tid: thread.number,
            dur,
            id,
            args,
            ..Event::default()
        };
        if overlaps {
            let id = Some(entry.line.index);
            events.push(event("b", at, None, id, facts(report, entry)));
            events.push(event("e", ended, None, id, Map::new()));
        } else {
            events.push(event("X", at, Some(micros(ended) - micros(at)), None, facts(report, entry)));
        }
    }

    /// From a parent to each agent that it started.
    fn arrows(&self, report: &Report<'_>, events: &mut Vec<Event>) {
        for ((session, id), child) in &self.0 {
            let Some(found) = report.session(*session) else { continue };
            let Some(agent) = found.agents.iter().find(|agent| agent.id == *id) else { continue };
            let Some(parent) = agent.parent.and_then(|parent| found.agents.get(parent)) else { continue };
            let Some(thread) = self.0.get(&(*session, parent.id.clone())) else { continue };
            let began = agent.spawned.as_ref().and_then(|spawned| spawned.at).unwrap_or(child.began).min(child.began);
            let arrow = |ph, bp, ts, tid| Event {
                ph,
                name: agent.kind.name().to_owned(),
                cat: "start",
                ts: micros(ts),
                pid: session + 1,
                tid,
                id: Some(child.number),
                bp,
                ..Event::default()
            };
            events.push(arrow("s", None, began, thread.number));
            events.push(arrow("f", Some("e"), child.began, child.number));
        }
    }

    /// Names of processes and threads.
    fn names(&self, report: &Report<'_>) -> Vec<Event> {
        let mut found = Vec::new();
        for ((session, id), thread) in &self.0 {
            let label = report.session(*session).map_or("unknown", |session| &session.label);
            for (name, text) in [("process_name", label), ("thread_name", id)] {
                let mut args = Map::new();
                args.insert("name".to_owned(), text.into());
                let (pid, tid) = (session + 1, thread.number);
                found.push(Event { ph: "M", name: name.to_owned(), pid, tid, args, ..Event::default() });
            }
        }
        found
    }
}

const fn micros(at: Instant) -> u64 {
    at.0 / 1_000
}

/// What a viewer shows of a request.
fn facts(report: &Report<'_>, entry: &Recorded<'_>) -> Map<String, Value> {
    let line = &entry.line;
    let mut facts = Map::new();
    let mut add = |name: &str, value: Value| facts.insert(name.to_owned(), value);
    add("request", line.index.into());
    add("kind", Senders::from(report).kind_of(entry).into());
    // Text, so that no viewer rounds it.
    add("cost_usd", line.charge.bill.as_ref().map(|bill| bill.total.to_string()).into());
    if let Some(usage) = line.billed() {
        add("input_tokens", usage.input_tokens.into());
        add("cache_read_input_tokens", usage.cache_read_input_tokens.into());
        add("cache_creation_input_tokens", usage.cache_creation_input_tokens().into());
        add("output_tokens", usage.output_tokens.into());
    }
    add("missed_tokens", line.explanation.as_ref().map(|why| why.missed_tokens()).into());
    add("causes", line.charge.causes.iter().map(|part| part.cause.word()).collect());
    facts
}
