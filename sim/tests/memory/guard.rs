//! The memory of a guard grows neither with checked requests (it keeps two per chain) nor with findings.

use std::fmt::Write;

use forkcast_sim::guard::{Facts, Guard, LISTED_MAX, Rules, Sent};

use super::{ALONE, HEAP};

const REQUESTS: usize = 2_000;
const BODY_BYTES: usize = 200_000;

/// A body that shares no part with others: the system prompt and eight messages.
fn body(number: usize) -> String {
    let text = |part: usize| {
        let word = format!("request {number} part {part} ");
        word.repeat(BODY_BYTES / 9 / word.len())
    };
    let mut messages = String::new();
    for part in 1..9 {
        let (comma, role) = if part > 1 { (",", ["assistant", "user"][part % 2]) } else { ("", "user") };
        write!(messages, r#"{comma}{{"role":"{role}","content":"{}"}}"#, text(part)).unwrap();
    }
    format!(
        r#"{{"model":"claude-sonnet-4-5","cache_control":{{"type":"ephemeral"}},"system":"{}","messages":[{messages}]}}"#,
        text(0)
    )
}

#[test]
fn requests_that_share_nothing_do_not_accumulate() {
    let _alone = ALONE.lock();
    let mut guard = Guard::new(Rules::default());
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    for number in 0..REQUESTS {
        let body = body(number);
        assert!(body.len().abs_diff(BODY_BYTES) < 2_000);
        guard
            .take(&Sent { facts: Facts { chain: Some("main"), ..Facts::default() }, ..Sent::body(body.as_bytes()) })
            .unwrap();
    }
    let peak = HEAP.peak_usage() - before;
    println!("{REQUESTS} requests of {BODY_BYTES} bytes that share nothing: at most {} MiB", peak >> 20);
    // While a wire is rebuilt, both exist: 12 MiB of blocks, and as much again for raw elements and spare capacity.
    assert!(peak < 64 << 20, "{} MiB", peak >> 20);
}

/// Changes in each request of the second test.
const CHANGES: usize = 8;

/// A short body in which every message is different.
fn retold(number: usize) -> String {
    let message = |at: usize| {
        let text = format!("message {at} as it was at {number}, and the same words after it each time");
        format!(r#"{{"role":"{}","content":"{text}"}}"#, ["user", "assistant"][at % 2])
    };
    let messages: Vec<String> = (0..CHANGES).map(message).collect();
    format!(
        r#"{{"model":"claude-sonnet-4-5","cache_control":{{"type":"ephemeral"}},"system":"Be kind.","messages":[{}]}}"#,
        messages.join(",")
    )
}

#[test]
fn findings_beyond_the_listed_ones_are_counted() {
    let _alone = ALONE.lock();
    let rules = Rules::default();
    let mut guard = Guard::new(Rules { in_tests: true, ..rules.clone() });
    let before = HEAP.current_usage();
    let requests = 8 * LISTED_MAX / CHANGES;
    let (mut found, mut lost) = (0, 0);
    for number in 0..=requests {
        let checked = guard
            .take(&Sent {
                facts: Facts { chain: Some("main"), ..Facts::default() },
                ..Sent::body(retold(number).as_bytes())
            })
            .unwrap();
        found += checked.findings.len();
        lost += checked.findings.iter().map(|finding| finding.tokens_lost().unwrap()).sum::<u64>();
    }
    let report = guard.finish();
    let held = HEAP.current_usage() - before;
    println!("{found} findings in {requests} requests: {} MiB", held >> 20);
    assert!(found > 7 * LISTED_MAX && report.findings.len() == LISTED_MAX, "{found}");
    assert_eq!(report.unlisted.findings, found - LISTED_MAX);
    assert_eq!(report.unlisted.forbidden, report.unlisted.findings);
    let listed: u64 = report.findings.iter().map(|finding| finding.tokens_lost().unwrap()).sum();
    assert_eq!(listed + report.unlisted.tokens_lost, lost);
    assert!(!report.passes(&rules) && !report.score["stability"]);
    assert!(held < 16 << 20, "{} MiB, and all that was found would take 80", held >> 20);
}
