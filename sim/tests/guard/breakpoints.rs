//! No byte changed, and still nothing is read: breakpoints that were dropped, that are too far back, that are refused.

use forkcast_sim::diagnosis::{Cause, Note};
use forkcast_sim::guard::{Finding, NoteKind, Report, Rules};
use forkcast_sim::pricing::Category;
use serde_json::{Value, json};

use super::conversation::{body, check, mark_end, message, unmark};

pub fn found(report: &Report) -> Vec<(usize, Cause, &str, bool)> {
    let one = |finding: &Finding| (finding.request, finding.cause, finding.breaks_prefix);
    let found = report.findings.iter().map(|finding| (one(finding), finding.path.as_str()));
    found.map(|((request, cause, breaks), path)| (request, cause, path, breaks)).collect()
}

/// A body with `blocks` more texts than [`body`] of two turns.
fn talkative(blocks: usize) -> Value {
    let mut body = body(2);
    let said: Vec<Value> = (0..blocks).map(|at| json!({"type": "text", "text": format!("word {at}")})).collect();
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": said}));
    messages.push(message("user", "go on"));
    mark_end(&mut body);
    body
}

#[test]
fn a_dropped_breakpoint_leaves_its_cache_entry_unread() {
    let (older, mut newer) = (body(3), body(4));
    unmark(&mut newer);
    let report = check(&[older, newer]);
    assert_eq!(found(&report), [(1, Cause::NoBreakpoint, "messages[6].content[0]", true)]);
    let finding = &report.findings[0];
    assert!(finding.offset_in_block.is_none() && finding.windows.is_none() && finding.tokens_lost() > Some(400));
    assert!(!report.passes(&Rules::default()));
}

#[test]
fn a_breakpoint_that_no_longer_reaches_the_end_is_noted_once() {
    let back = |turns: usize| {
        let mut body = body(turns);
        unmark(&mut body);
        body["messages"][turns * 2 - 2]["content"][0]["cache_control"] = json!({"type": "ephemeral"});
        body
    };
    let report = check(&[body(2), body(3), back(4), back(5), body(6)]);
    assert_eq!(found(&report), [], "all that was cached is read");
    let moved = NoteKind::Harmless(Note::MarkerMoved);
    let notes = report.notes.iter().filter(|noted| noted.note == moved);
    let told: Vec<_> = notes.map(|noted| (noted.request, noted.path.as_str())).collect();
    assert_eq!(told, [(2, "messages[6].content[0]")]);
}

#[test]
fn the_look_back_reaches_twenty_positions_and_no_further() {
    // The breakpoint itself is the first of them: the older request's end is the twentieth.
    assert!(check(&[body(2), talkative(18)]).findings.is_empty());
    let report = check(&[body(2), talkative(19)]);
    assert_eq!(found(&report), [(1, Cause::BeyondLookback, "messages[6].content[0]", true)]);
    assert!(report.findings[0].name.contains("20 blocks after"), "{}", report.findings[0].name);
}

#[test]
fn another_breakpoint_within_the_look_back_fixes_it() {
    let mut newer = talkative(40);
    newer["messages"][4]["content"][0]["cache_control"] = json!({"type": "ephemeral"});
    assert!(check(&[body(2), newer]).findings.is_empty());
}

/// Ten texts that come in before the end of the history, none of which alone is too much for the look-back.
#[test]
fn what_several_changes_lose_only_together_counts_for_the_first() {
    let said = |words: std::ops::Range<u32>| -> Vec<Value> {
        words.map(|at| json!({"type": "text", "text": format!("word {at}")})).collect()
    };
    let mut older = body(0);
    unmark(&mut older);
    let mut newer = older.clone();
    newer["system"][1].as_object_mut().unwrap().remove("cache_control");
    for (body, words) in [(&mut older, 10..20), (&mut newer, 0..20)] {
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(json!({"role": "assistant", "content": said(words)}));
        messages.push(message("user", "go on"));
    }
    mark_end(&mut newer);
    let report = check(&[older, newer]);
    let lost: Vec<u64> = report.findings.iter().map(|found| found.tokens_lost().unwrap()).collect();
    assert_eq!(found(&report)[0], (1, Cause::MessageInserted, "messages[1].content[0]", true));
    assert_eq!((report.findings.len(), lost[0] > 2_000, lost[1..].iter().sum::<u64>()), (10, true, 0));
    assert!(report.findings[1..].iter().all(|found| !found.breaks_prefix));
}

#[test]
fn a_fifth_breakpoint_is_refused() {
    let (older, mut newer) = (body(3), body(4));
    for message in [1, 3, 5] {
        newer["messages"][message]["content"][0]["cache_control"] = json!({"type": "ephemeral"});
    }
    let report = check(&[older, newer.clone(), body(5)]);
    assert_eq!(found(&report), [(1, Cause::BreakpointLimit, "messages[8].content[0]", true)]);
    assert_eq!(report.findings[0].tokens_lost(), Some(0), "nothing of it is billed");
    // A chain's first request has nothing to lose, but is refused all the same.
    assert_eq!(found(&check(&[newer])), [(0, Cause::BreakpointLimit, "messages[8].content[0]", true)]);
}

#[test]
fn an_hour_after_five_minutes_is_refused() {
    let (older, mut newer) = (body(3), body(4));
    newer["messages"][8]["content"][0]["cache_control"] = json!({"type": "ephemeral", "ttl": "1h"});
    // A one-hour breakpoint before those of five minutes is allowed.
    newer["tools"][2]["cache_control"] = json!({"type": "ephemeral", "ttl": "1h"});
    let report = check(&[older, newer]);
    assert_eq!(found(&report), [(1, Cause::TtlOrder, "messages[8].content[0]", true)]);
}

#[test]
fn a_refused_request_writes_nothing() {
    let mut refused = body(4);
    refused["messages"][8]["content"][0]["cache_control"] = json!({"type": "ephemeral", "ttl": "1h"});
    let mut edited = body(5);
    edited["messages"][8]["content"][0]["content"] = "short".into();
    // The edit is in the part that only the refused request had sent.
    let report = check(&[body(3), refused, edited]);
    assert_eq!(report.findings.iter().filter(|finding| finding.breaks_prefix).count(), 1);
}

#[test]
fn bytes_and_breakpoints_are_both_found() {
    let (older, mut newer) = (body(3), body(4));
    for message in [1, 3, 5] {
        newer["messages"][message]["content"][0]["cache_control"] = json!({"type": "ephemeral"});
    }
    newer["tools"][1]["name"] = "Change".into();
    let report = check(&[older, newer]);
    let causes: Vec<(Cause, bool)> = found(&report).into_iter().map(|found| (found.1, found.3)).collect();
    assert_eq!(causes, [(Cause::ToolChanged, true), (Cause::BreakpointLimit, true)]);
    assert!(
        report.findings.iter().all(|found| found.loss.unwrap().billed_as == Category::Input),
        "a refused request writes nothing"
    );
}

#[test]
fn a_removed_block_takes_its_breakpoint_along() {
    let [mut older, mut newer] = [body(2), body(2)];
    unmark(&mut older);
    unmark(&mut newer);
    newer["system"].as_array_mut().unwrap().pop();
    let report = check(&[older, newer]);
    assert_eq!(found(&report), [(1, Cause::SystemChanged, "system[1]", true)]);
}

/// Goes back two turns after [`body`] of four and continues differently; the breakpoint is two blocks from its end.
fn gone_back() -> Value {
    let mut newer = body(2);
    let messages = newer["messages"].as_array_mut().unwrap();
    for turn in 0..2 {
        messages.push(json!({"role": "assistant", "content": [
            {"type": "text", "text": format!("{turn}, and now for another way")},
            {"type": "tool_use", "id": format!("o{turn}"), "name": "Bash", "input": {"command": format!("try {turn}")}},
        ]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": format!("o{turn}"), "content": format!("{turn} came of it")},
        ]}));
    }
    unmark(&mut newer);
    newer["messages"][7]["content"][1]["cache_control"] = json!({"type": "ephemeral"});
    newer
}

#[test]
fn a_breakpoint_near_the_end_of_a_rewind_counts_at_the_end_of_the_abandoned_part() {
    let (older, newer) = (body(4), gone_back());
    let rewound = (1, Cause::Rewound, "messages[5].content[0]", true);
    assert_eq!(found(&check(&[older.clone(), newer.clone()])), [rewound]);
    // Without a breakpoint among the messages nothing of either history is read.
    let mut unmarked = newer;
    unmark(&mut unmarked);
    let causes: Vec<Cause> = found(&check(&[older, unmarked])).iter().map(|found| found.1).collect();
    assert_eq!(causes, [Cause::Rewound, Cause::NoBreakpoint]);
}

#[test]
fn a_user_who_goes_back_is_a_branch_and_a_client_that_goes_on_from_there_a_break() {
    let again = |more: bool| {
        let mut newer = body(2);
        let messages = newer["messages"].as_array_mut().unwrap();
        messages.truncate(2);
        messages.push(message("user", "another way"));
        if more {
            messages.extend([message("assistant", "Fine"), message("user", "Go on")]);
        }
        mark_end(&mut newer);
        newer
    };
    let notes = |report: &Report| report.notes.iter().map(|noted| noted.note.word()).collect::<Vec<_>>();
    let report = check(&[body(4), again(false)]);
    assert_eq!(found(&report), [(1, Cause::Rewound, "messages[2].content[0]", false)]);
    assert_eq!(notes(&report), ["branch"]);
    let report = check(&[body(4), again(true)]);
    assert_eq!(found(&report), [(1, Cause::Rewound, "messages[2].content[0]", true)]);
    assert!(!report.findings[0].suggestion().starts_with("Nothing"));
}
