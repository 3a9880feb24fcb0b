//! The provider's treatment of a request: instants, usage, refusals, and reports when an answer breaks off.

use forkcast_sim::agent::Event;
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::model::scripted::{Reply, Rule};
use forkcast_sim::model::{Broken, CallError, Fault, Interruption};
use forkcast_sim::simulation::{self, Does, Failure, Finished, Lookup, Observer, Outage, Pace, run};
use forkcast_sim::time::{Duration, Instant};
use serde_json::json;

use super::stage::{at, calls, finished, says, setup, spawns, types};

fn fails(fault: Fault) -> Rule {
    Rule { reply: Reply { fault: Some(fault), ..says("main", "Never heard whole.").reply }, ..says("main", "") }
}

fn overloaded(retry_after: Option<Duration>) -> CallError {
    CallError::Refused { status: 529, kind: "overloaded_error".into(), message: "busy".into(), retry_after }
}

/// Milliseconds of the events with this word.
fn instants(finished: &Finished, word: &str) -> Vec<u64> {
    let is = |event: &Event| serde_json::to_value(event).unwrap()["event"] == word;
    finished.log.iter().filter(|logged| is(&logged.event)).map(|logged| logged.at.0 / 1_000_000).collect()
}

#[test]
fn the_first_byte_waits_for_read_written_and_fresh_tokens() {
    let finished = finished(setup(vec![says("main", "Hello.")], vec![types(0, "Hello")]));
    let (line, pace) = (&finished.entries[0].line, Pace::default());
    let usage = line.predicted.unwrap();
    let expected =
        pace.first_byte(usage.cache_read_input_tokens, usage.cache_creation_input_tokens(), usage.input_tokens);
    assert_eq!(line.first_byte_at.unwrap().since(line.at.unwrap()), expected);
    let ended = finished.entries[0].ended_at.unwrap();
    assert_eq!(ended.since(line.first_byte_at.unwrap()), pace.streaming(usage.output_tokens));
    assert!(pace.first_byte(100_000, 0, 0) < pace.first_byte(0, 100_000, 0), "reading is faster");
}

#[test]
fn a_reply_can_set_its_tokens_and_its_instants() {
    let said = Reply {
        output_tokens: Some(321),
        first_byte: Some(Duration::from_millis(1_000)),
        streaming: Some(Duration::from_millis(2_000)),
        ..says("main", "Hello.").reply
    };
    let finished = finished(setup(vec![Rule { reply: said, ..says("main", "") }], vec![types(0, "Hello")]));
    let line = &finished.entries[0].line;
    assert_eq!(line.predicted.unwrap().output_tokens, 321);
    assert_eq!(line.first_byte_at.unwrap().since(line.at.unwrap()), Duration::from_millis(1_000));
    assert_eq!(finished.entries[0].ended_at.unwrap().since(line.at.unwrap()), Duration::from_millis(3_000));
}

#[test]
fn a_refusal_has_no_line_and_is_retried_after_its_wait() {
    let rules = vec![fails(Fault::Refusal(overloaded(Some(Duration::from_millis(7_000))))), says("main", "Hello.")];
    let finished = finished(setup(rules, vec![types(0, "Hello")]));
    assert_eq!((finished.entries.len(), finished.agents[0].turns), (1, 1));
    let sent = instants(&finished, "request.sent");
    assert_eq!(sent[1] - sent[0], 7_000 + Pace::default().refusal.as_millis());
}

#[test]
fn an_outage_refuses_everything_while_it_lasts() {
    let mut setup = setup(vec![says("main", "Hello.")], vec![types(0, "Hello")]);
    setup.outages = vec![Outage { from: Instant(0), until: Instant::from_millis(3_000), error: overloaded(None) }];
    let finished = finished(setup);
    let sent = instants(&finished, "request.sent");
    assert!(sent.len() > 2 && *sent.last().unwrap() >= 3_000, "{sent:?}");
    assert_eq!(finished.entries.len(), 1, "the script was asked once");
}

#[test]
fn requests_that_a_provider_would_refuse_are_refused() {
    let mut setup = setup(vec![says("main", "Hello.")], vec![types(0, "Hello")]);
    setup.rules.breakpoints_max = 0;
    let finished = finished(setup);
    assert!(finished.entries.is_empty(), "nothing is billed");
    assert_eq!(instants(&finished, "request.sent").len(), 1, "an invalid request is not tried again");
}

#[test]
fn a_broken_answer_is_billed_for_the_part_that_arrived_and_its_write_stays() {
    let broken = Fault::Interruption { after_events: 2, how: Interruption::Broken(Broken::Reset) };
    let finished = finished(setup(vec![fails(broken), says("main", "Hello.")], vec![types(0, "Hello")]));
    let usage: Vec<_> = finished.entries.iter().map(|entry| entry.line.predicted.unwrap()).collect();
    assert_eq!(usage.len(), 2);
    assert!(usage[0].ephemeral_5m_input_tokens > 0 && usage[0].output_tokens < usage[1].output_tokens);
    assert_eq!(usage[1].cache_read_input_tokens, usage[0].ephemeral_5m_input_tokens, "the same bytes are read");
}

#[test]
fn a_request_cancelled_before_its_first_byte_writes_and_bills_nothing() {
    let rules = vec![says("main", "Never heard."), says("main", "Hello.")];
    let finished = finished(setup(rules, vec![types(0, "Hello"), at(100, Does::Escape), types(10_000, "Hello again")]));
    let usage: Vec<_> = finished.entries.iter().map(|entry| entry.line.predicted.unwrap()).collect();
    assert_eq!(usage[0], forkcast_sim::wire::Usage::default());
    assert_eq!(finished.entries[0].line.remarks.len(), 1);
    assert_eq!(finished.entries[0].ended_at, Some(Instant::from_millis(100)));
    assert_eq!(usage[1].cache_read_input_tokens, 0, "nothing was written that could be read");
}

#[test]
fn children_that_start_together_miss_the_entry_in_flight() {
    let rules = vec![
        spawns("main", "looker", "look here", true),
        spawns("main", "looker", "look there", true),
        Rule { times: None, ..says("main", "Noted.") },
        says("looker", "Nothing."),
    ];
    // Both are launched before the first one's answer has begun: launching takes less time than a first byte.
    let mut setup = setup(rules, vec![types(0, "Look.")]);
    setup.pace.base = Duration::from_millis(60_000);
    setup.pace.per_output_token = Duration(0);
    let first = finished(setup);
    let missed = first.entries.iter().filter_map(|entry| entry.line.explanation.as_ref()).flat_map(|e| &e.missed);
    let causes: Vec<Cause> = missed.map(|missed| missed.cause).collect();
    let lookers = first.agents.iter().filter(|agent| &*agent.agent_type == "looker").count();
    assert_eq!(lookers, 2);
    assert!(!causes.contains(&Cause::Unexplained), "{causes:?}");
}

#[test]
fn the_bill_minus_the_perfect_bill_is_the_cost_of_its_causes_when_an_entry_expires() {
    let rules = vec![says("main", "Hello."), says("main", "Hello again.")];
    let finished = finished(setup(rules, vec![types(0, "Hello"), types(400_000, "Still there?")]));
    let line = &finished.entries[1].line;
    assert_eq!(line.predicted.unwrap().cache_read_input_tokens, 0);
    let causes: Vec<_> = line.charge.causes.iter().map(|cause| cause.cause).collect();
    assert_eq!(causes, [Cause::Expired]);
    assert!(
        finished.entries[0].line.unread_writes.unwrap() > forkcast_sim::pricing::Money::ZERO,
        "the first write was never read"
    );
}

#[test]
fn an_expired_write_stays_unread_when_its_successor_is_read() {
    let unread = |requests: usize| {
        let acts = [types(0, "Hello"), types(400_000, "Still there?"), types(410_000, "Good.")];
        let acts: Vec<_> = acts.into_iter().take(requests).collect();
        let finished = finished(setup((0..requests).map(|_| says("main", "Hello.")).collect(), acts));
        assert_eq!(finished.entries.len(), requests);
        finished.entries[0].line.unread_writes.unwrap()
    };
    assert!(unread(2) > forkcast_sim::pricing::Money::ZERO);
    assert_eq!(unread(3), unread(2), "the third request reads the second one's write");
}

/// Rejects the second request.
struct Fussy;

impl Observer for Fussy {
    fn name(&self) -> &'static str {
        "fussy"
    }

    fn served(&mut self, seen: &Lookup<'_>) -> Result<(), String> {
        if seen.line == 1 { Err("a second request".to_owned()) } else { Ok(()) }
    }

    fn event(&mut self, _: Instant, event: &Event) -> Result<(), String> {
        match event {
            Event::Shell { .. } => Err("a command".to_owned()),
            _ => Ok(()),
        }
    }
}

fn fussy(rules: Vec<Rule>) -> simulation::Failed {
    let mut setup = setup(rules, vec![types(0, "Go."), at(0, Does::Answers { allow: true, tool: None })]);
    setup.observers.push(Box::new(Fussy));
    run(setup).unwrap_err()
}

/// Rejects the run as a whole.
struct Strict;

impl Observer for Strict {
    fn name(&self) -> &'static str {
        "strict"
    }

    fn end(&mut self, _: Instant, entries: &[forkcast_sim::service::Entry]) -> Result<(), String> {
        Err(format!("{} requests in all", entries.len()))
    }
}

#[test]
fn observers_see_the_whole_run_at_its_end() {
    let mut setup = setup(vec![says("main", "Hello.")], vec![types(0, "Hello")]);
    setup.observers.push(Box::new(Strict));
    let failed = run(setup).unwrap_err();
    let text = failed.to_string();
    assert!(text.starts_with("law `strict` is broken at ") && text.contains("1 requests in all"), "{text}");
    assert_eq!(failed.until.entries.len(), 1, "the partial result is kept");
}

#[test]
fn a_broken_law_ends_the_run_with_event_instant_and_seed() {
    let rules = vec![calls("main", "Read", json!({ "file_path": "/repo/README.md" })), says("main", "Read.")];
    let failed = fussy(rules);
    let text = failed.to_string();
    assert!(text.starts_with("law `fussy` is broken at ") && text.contains("a second request"), "{text}");
    assert!(text.ends_with("(seed 7)"), "{text}");
    assert!(!failed.until.laws_held.contains(&"fussy") && failed.until.laws_held.contains(&"money"));
    let bash = json!({ "command": "cargo check", "description": "Check" });
    let failed = fussy(vec![calls("main", "Bash", bash), says("main", "Checked.")]);
    assert!(matches!(failed.why, Failure::Alarm(simulation::Cause::BrokenLaw { law: "fussy", .. })));
    let text = failed.to_string();
    assert!(text.contains("a command (event ") && text.contains("\"event\":\"shell.run\""), "{text}");
}
