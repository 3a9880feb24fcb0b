//! What a guard holds does not grow with what was checked: two requests of each chain.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test says what went wrong by panicking.

use std::fmt::Write;

use forkcast_sim::guard::{Guard, Rules, Sent};
use peak_alloc::PeakAlloc;

#[global_allocator]
static PEAK: PeakAlloc = PeakAlloc;

const REQUESTS: usize = 2_000;
const BODY_BYTES: usize = 200_000;

/// A body of which no part stands in another: the system prompt and eight messages.
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
fn requests_that_share_nothing_do_not_pile_up() {
    let mut guard = Guard::new(Rules::default());
    let before = PEAK.current_usage();
    PEAK.reset_peak_usage();
    for number in 0..REQUESTS {
        let body = body(number);
        assert!(body.len().abs_diff(BODY_BYTES) < 2_000);
        guard.take(&Sent { chain: Some("main"), ..Sent::body(body.as_bytes()) }).unwrap();
    }
    let peak = PEAK.peak_usage() - before;
    println!("{REQUESTS} requests of {BODY_BYTES} bytes that share nothing: at most {} MiB", peak >> 20);
    // Where the wire is made afresh, both live: 12 MiB of blocks, and as much again of raw elements and of room to grow.
    assert!(peak < 64 << 20, "{} MiB", peak >> 20);
}
