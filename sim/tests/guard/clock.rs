//! Losses by time alone are noted and never a fault; the expected read and cost of a request.

use forkcast_sim::diagnosis::Cause;
use forkcast_sim::guard::{Facts, Guard, NoteKind, Rules, Sent};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::Usage;
use serde_json::{Value, json};

use super::conversation::{body, guard, take, unmark};

fn at(guard: &mut Guard, turns: usize, at_ms: u64, first_byte_ms: u64) -> Vec<NoteKind> {
    let body = body(turns).to_string();
    let sent = Sent {
        facts: Facts {
            at: Some(Instant::from_millis(at_ms)),
            first_byte_at: Some(Instant::from_millis(first_byte_ms)),
            ..Facts::default()
        },
        ..Sent::body(body.as_bytes())
    };
    guard.take(&sent).unwrap().notes.into_iter().map(|noted| noted.note).collect()
}

#[test]
fn a_pause_beyond_the_lifetime_is_a_note() {
    let mut guard = guard();
    assert!(at(&mut guard, 1, 0, 500).is_empty());
    assert!(at(&mut guard, 2, 300_000, 300_500).is_empty());
    assert_eq!(at(&mut guard, 3, 600_001, 600_002), [NoteKind::Time(Cause::Expired)]);
    let report = guard.finish();
    assert!(report.findings.is_empty() && report.passes(&Rules::default()));
}

#[test]
fn a_dropped_breakpoint_loses_nothing_that_had_expired() {
    for (pause_ms, is_lost) in [(1_000, true), (400_000, false)] {
        let mut guard = guard();
        at(&mut guard, 1, 0, 500);
        let mut newer = body(2);
        unmark(&mut newer);
        let newer = newer.to_string();
        let facts = Facts { at: Some(Instant::from_millis(pause_ms)), ..Facts::default() };
        let checked = guard.take(&Sent { facts, ..Sent::body(newer.as_bytes()) }).unwrap();
        let found: Vec<_> = checked.findings.iter().map(|found| (found.cause, found.tokens_lost() > Some(0))).collect();
        assert_eq!(found, [(Cause::NoBreakpoint, is_lost)]);
    }
}

/// Twenty-one blocks later no breakpoint finds the older entry, and after ten minutes there is none.
#[test]
fn a_breakpoint_too_far_back_loses_nothing_that_had_expired() {
    for (pause_ms, causes) in [(1_000, vec![Cause::BeyondLookback]), (600_000, vec![])] {
        let mut guard = guard();
        at(&mut guard, 1, 0, 500);
        let newer = body(12).to_string();
        let facts = Facts { at: Some(Instant::from_millis(pause_ms)), ..Facts::default() };
        let checked = guard.take(&Sent { facts, ..Sent::body(newer.as_bytes()) }).unwrap();
        let found: Vec<_> = checked.findings.iter().map(|found| found.cause).collect();
        assert_eq!(found, causes);
    }
}

#[test]
fn a_request_before_the_first_byte_of_the_previous_one_is_a_note() {
    let mut guard = guard();
    assert!(at(&mut guard, 1, 0, 2_000).is_empty());
    assert_eq!(at(&mut guard, 2, 1_999, 4_000), [NoteKind::Time(Cause::InFlight)]);
    // The first request's write is readable by now, the second one's is not.
    assert_eq!(at(&mut guard, 3, 3_000, 5_000), [NoteKind::Time(Cause::InFlight)]);
    assert!(at(&mut guard, 4, 5_000, 6_000).is_empty());
}

#[test]
fn bodies_without_instants_follow_one_another_by_a_second() {
    let mut guard = guard();
    let reads: Vec<bool> = (0..400).map(|_| take(&mut guard, &body(1)).expected.cache_read_input_tokens > 0).collect();
    assert!(!reads[0] && reads[1..].iter().all(|read| *read));
    assert!(guard.finish().notes.is_empty());
}

#[test]
fn expected_usage_and_cost_are_those_of_the_cache_and_the_price_book() {
    let mut guard = guard();
    let first = take(&mut guard, &body(1));
    let second = take(&mut guard, &body(2));
    let (wrote, read) = (first.expected.ephemeral_5m_input_tokens, second.expected.cache_read_input_tokens);
    assert_eq!((first.expected.cache_read_input_tokens, wrote), (0, read));
    // Sonnet 4.5: $3.75 written, $0.30 read, per million tokens; there is nothing after the last breakpoint.
    assert_eq!(first.cost.unwrap().picousd(), i128::from(wrote) * 3_750_000);
    let written = second.expected.ephemeral_5m_input_tokens;
    assert_eq!(second.cost.unwrap().picousd(), i128::from(read) * 300_000 + i128::from(written) * 3_750_000);
}

#[test]
fn recorded_usage_pins_the_sizes() {
    let mut guard = guard();
    let usage = |read, written| Usage {
        cache_read_input_tokens: read,
        ephemeral_5m_input_tokens: written,
        input_tokens: 3,
        output_tokens: 70,
        ..Usage::default()
    };
    let mut sent = |turns: usize, usage: Usage| {
        let body = body(turns).to_string();
        guard
            .take(&Sent { facts: Facts { usage: Some(usage), ..Facts::default() }, ..Sent::body(body.as_bytes()) })
            .unwrap()
            .expected
    };
    assert_eq!(sent(1, usage(0, 7_000)).total_input_tokens(), 7_003);
    // The size of the first request's write is known from its usage; the second one's own split is ignored.
    assert_eq!(sent(2, usage(0, 7_900)), usage(7_000, 900));
}

#[test]
fn bodies_without_instants_expire_after_as_many_others_as_the_lifetime_has_seconds() {
    let mut other = body(1);
    other["model"] = json!("claude-opus-4-5");
    let notes_after = |others: usize| {
        let mut guard = guard();
        let mut send = |name, body: &Value| {
            guard
                .take(&Sent {
                    facts: Facts { chain: Some(name), ..Facts::default() },
                    ..Sent::body(body.to_string().as_bytes())
                })
                .unwrap()
                .notes
        };
        send("first", &body(1));
        (0..others).for_each(|_| drop(send("other", &other)));
        send("first", &body(1)).into_iter().map(|noted| noted.note).collect::<Vec<_>>()
    };
    assert_eq!(notes_after(299), []);
    assert_eq!(notes_after(300), [NoteKind::Time(Cause::Expired)]);
}

/// A body that the provider refuses (providers.md 1.10), with the prompt of [`body`].
fn refused(turns: usize) -> Value {
    let mut refused = body(turns);
    refused["max_tokens"] = json!(0);
    refused["stream"] = json!(true);
    refused
}

#[test]
fn a_refused_request_is_expected_to_read_and_write_nothing() {
    let mut guard = guard();
    take(&mut guard, &body(1));
    assert_eq!(take(&mut guard, &refused(1)).expected, Usage::default());
}

#[test]
fn usage_of_a_refused_request_pins_no_sizes() {
    let read = |written: u64| {
        let mut guard = guard();
        let usage = |ephemeral_5m_input_tokens| Usage { ephemeral_5m_input_tokens, ..Usage::default() };
        let mut send = |body: &Value, usage| {
            guard
                .take(&Sent { facts: Facts { usage, ..Facts::default() }, ..Sent::body(body.to_string().as_bytes()) })
                .unwrap()
                .expected
        };
        send(&refused(1), Some(usage(written)));
        send(&body(1), None);
        send(&body(2), Some(usage(7_900))).cache_read_input_tokens
    };
    assert!(read(7_000) > 0);
    assert_eq!(read(7_000), read(5_000));
}
