//! Breakpoints by the names of the design (`design.md` 5).

use forkcast_sim::wire::Ttl;

use super::stage::{Ask, ask, column, microusd, parts};

/// Five children of a parent: P = 46,000 in three blocks, T = 2,500, D = 200 (`economics.md` 3.7). A warm parent has asked
/// before, unseen; a primed first child has its answer before the others start.
fn children(warm: bool, primed: bool) -> Vec<Ask> {
    let parent = ask("tools:4000 system:12000 | talk:30000", 0).hidden();
    let child = |number: u64| {
        let at = 100 + if primed && number > 0 { 5 } else { 0 };
        let blocks = format!("tools:4000 system:12000 | talk:30000 calls:2000 results:500 directive{number}:200");
        ask(&blocks, at).agent(1 + usize::try_from(number).unwrap())
    };
    warm.then_some(parent).into_iter().chain((0..5).map(child)).collect()
}

/// The table of `economics.md` 3.7, in uncached input tokens (5 USD per million).
#[test]
fn the_worked_case_of_five_children() {
    let table = [
        ("shared", [304_125, 81_025, 39_625, 28_125]),
        ("tail", [304_375, 304_375, 39_875, 39_875]),
        ("both", [304_375, 81_275, 39_875, 28_375]),
    ];
    for (name, expected) in table {
        let cells = [(false, false), (false, true), (true, false), (true, true)];
        let found =
            cells.map(|(warm, primed)| microusd(&column(&format!("breakpoints={name}"), &children(warm, primed))) / 5);
        assert_eq!(found, expected, "{name}");
    }
}

/// A conversation of two turns; the second brings two results.
fn turns() -> Vec<Ask> {
    let unmarked = |asked: Ask| asked.marked(&[]);
    vec![
        unmarked(ask("tools:1000 system:1000 | a:1000", 0)),
        unmarked(ask("tools:1000 system:1000 | a:1000 u1:100 u2:100 r1:300 r2:300 note:50", 10)),
    ]
}

#[test]
fn nothing_is_marked() {
    assert_eq!(parts(&column("breakpoints=none", &turns())), [[0, 0, 0, 3_000], [0, 0, 0, 3_850]]);
}

#[test]
fn only_the_system_prompt_then_also_the_tail() {
    assert_eq!(parts(&column("breakpoints=system", &turns())), [[0, 2_000, 0, 1_000], [2_000, 1_850, 0, 0]]);
}

#[test]
fn the_tail_moves_along() {
    assert_eq!(parts(&column("breakpoints=tail", &turns())), [[0, 3_000, 0, 0], [3_000, 850, 0, 0]]);
}

/// The only message is the directive: what siblings share is the system prompt.
#[test]
fn a_first_request_of_one_message_shares_its_system_prompt() {
    assert_eq!(parts(&column("breakpoints=shared", &turns())), [[0, 2_000, 0, 1_000], [2_000, 1_850, 0, 0]]);
    assert_eq!(parts(&column("breakpoints=both", &turns())), [[0, 3_000, 0, 0], [3_000, 850, 0, 0]]);
}

/// The newest run of results is r1 r2, the block before it u2: 3,200 tokens. A first request without results marks nothing.
#[test]
fn before_the_newest_results() {
    let mut asks = turns();
    // A sibling with other results reads up to the calls.
    asks.push(ask("tools:1000 system:1000 | a:1000 u1:100 u2:100 r3:300 r4:300", 20).agent(1).marked(&[]));
    let rows = column("breakpoints=before-results", &asks);
    assert_eq!(parts(&rows), [[0, 0, 0, 3_000], [0, 3_850, 0, 0], [3_200, 0, 0, 600]]);
}

/// A fork's first request reads its parent's last prompt however long its own tail is: there are 25 blocks in between.
#[test]
fn the_previous_end_is_found_beyond_the_look_back() {
    let tail = (0..25).map(|at| format!("t{at}:10")).collect::<Vec<_>>().join(" ");
    let fork = format!("tools:1000 system:1000 | a:1000 {tail}");
    let asks = [ask("tools:1000 system:1000 | a:1000", 0), ask(&fork, 10).agent(1)];
    assert_eq!(parts(&column("breakpoints=tail+previous", &asks)), [[0, 3_000, 0, 0], [3_000, 250, 0, 0]]);
    assert_eq!(parts(&column("breakpoints=tail", &asks)), [[0, 3_000, 0, 0], [0, 3_250, 0, 0]]);
    // A later request of the same agent too.
    let asks = [ask("tools:1000 system:1000 | a:1000", 0), ask(&fork, 10)];
    assert_eq!(parts(&column("breakpoints=tail+previous", &asks)), [[0, 3_000, 0, 0], [3_000, 250, 0, 0]]);
}

/// A block that went away cannot be marked.
#[test]
fn after_a_rewind_there_is_no_previous_end() {
    let asks = [ask("tools:1000 system:1000 | a:1000", 0), ask("tools:1000 system:1000 | b:500", 10)];
    assert_eq!(parts(&column("breakpoints=tail+previous", &asks)), [[0, 3_000, 0, 0], [0, 2_500, 0, 0]]);
}

/// A sibling with another first message reads the marked system blocks: the last two of the head if none was sent.
#[test]
fn two_system_blocks_and_the_tail() {
    let first = ask("tools:1100 system:1000 | a:1000", 0).marked(&[]);
    let asks = [first.clone(), ask("tools:1100 system:1000 | b:500", 10).agent(1).marked(&[])];
    assert_eq!(parts(&column("breakpoints=client-2026", &asks)), [[0, 3_100, 0, 0], [2_100, 500, 0, 0]]);
    let asks = [first, ask("tools:1100 other:900 | b:500", 10).agent(1).marked(&[])];
    assert_eq!(parts(&column("breakpoints=client-2026", &asks)), [[0, 3_100, 0, 0], [1_100, 1_400, 0, 0]]);
}

#[test]
fn lifetimes_and_breakpoints_combine() {
    let asks = [ask("s:1500 | a:1000", 0).marked(&[]), ask("s:1500 | a:1000 b:500", 400).marked(&[(3, Ttl::OneHour)])];
    let rows = column("breakpoints=client-2026,ttl=head-1h", &asks);
    assert_eq!(parts(&rows), [[0, 1_000, 1_500, 0], [1_500, 1_500, 0, 0]]);
}
