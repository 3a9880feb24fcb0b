//! Prompts of which nothing is cached: nothing breaks, and the report says so; short prompts of tests, which are
//! checked all the same.

use forkcast_sim::diagnosis::Cause;
use forkcast_sim::guard::{Guard, Rule, Rules};
use serde_json::{Value, json};

use super::breakpoints::found;
use super::conversation::{body, check, mark_end, message, replace, take, text, unmark};

/// A short conversation, with a clock in its system prompt.
fn short(turns: usize) -> Value {
    let mut messages = vec![message("user", "Hi")];
    for turn in 0..turns {
        messages.push(message("assistant", &format!("answer {turn}")));
        messages.push(message("user", &format!("question {turn}")));
    }
    let clock = format!("It is 10:0{turns}.");
    json!({"model": "claude-sonnet-4-5", "max_tokens": 100, "system": [{"type": "text", "text": clock}], "messages": messages})
}

fn marked(turns: usize) -> Value {
    let mut body = short(turns);
    mark_end(&mut body);
    body
}

#[test]
fn a_conversation_without_breakpoints_gets_a_warning() {
    let report = check(&[short(0), short(1), short(2)]);
    assert_eq!(
        report.warnings,
        [
            "The 3 requests of `#1` carry no cache breakpoint, so nothing of them is cached and no change can break a prefix. \
          If they are those of a test, `in_tests` checks them all the same."
        ]
    );
    // A single request has nothing to keep, and a breakpoint that counts shows that the author thought of caching.
    assert_eq!(check(&[short(0)]).warnings, [""; 0]);
    let mut later = body(1);
    unmark(&mut later);
    assert_eq!(check(&[body(0), later]).warnings, [""; 0]);
}

#[test]
fn a_conversation_below_the_minimum_gets_a_warning_with_its_length() {
    let warnings = check(&[marked(0), marked(1)]).warnings;
    let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
    assert!(warning.contains("have their last breakpoint after 1") && warning.contains("below 1,024"), "{warning}");
}

#[test]
fn in_tests_both_are_checked() {
    for (body, is_marked) in [(short as fn(usize) -> Value, false), (marked, true)] {
        let mut guard = Guard::new(Rules { in_tests: true, ..Rules::default() });
        (0..3).for_each(|turns| drop(take(&mut guard, &body(turns))));
        let report = guard.finish();
        let clock = |request| (request, Cause::SystemChanged, "system[0]", true);
        assert_eq!(found(&report), [clock(1), clock(2)]);
        // Without any breakpoint, those that are checked are assumed, and the provider caches nothing.
        let is_silent = |warning: &String| !warning.contains("so the provider caches nothing of them and reads 0 %");
        assert_eq!(report.warnings.iter().all(is_silent), is_marked, "{:?}", report.warnings);
        assert_eq!(report.warnings.len(), usize::from(!is_marked));
    }
    // A dropped breakpoint is missed in tests too.
    let mut guard = Guard::new(Rules { in_tests: true, ..Rules::default() });
    let mut dropped = marked(0);
    unmark(&mut dropped);
    take(&mut guard, &marked(0));
    let causes: Vec<Cause> = take(&mut guard, &dropped).findings.iter().map(|found| found.cause).collect();
    assert_eq!(causes, [Cause::NoBreakpoint]);
}

#[test]
fn a_change_next_to_a_dropped_breakpoint_breaks_on_its_own() {
    let (older, mut newer) = (body(3), body(4));
    replace(&mut newer, "/messages/1/content/0/text", "plan 0 is", "plan 0 was");
    unmark(&mut newer);
    let report = check(&[older, newer]);
    let edited = (1, Cause::MessageEdited, "messages[1].content[0]", true);
    assert_eq!(found(&report)[0], edited);
    assert_eq!(found(&report)[1].1, Cause::NoBreakpoint);
}

/// A conversation of a test that nothing of the provider caches, though no byte changes.
#[test]
fn in_tests_a_conversation_without_any_breakpoint_is_a_finding_with_its_price() {
    let calm = |turns: usize| {
        let mut body = short(turns);
        body["system"][0]["text"] = json!("It is ten.");
        body
    };
    let mut guard = Guard::new(Rules { in_tests: true, ..Rules::default() });
    (0..4).for_each(|turns| drop(take(&mut guard, &calm(turns))));
    let report = guard.finish();
    let [finding] = report.findings.as_slice() else { panic!("{:?}", report.findings) };
    assert_eq!((finding.cause, finding.path.as_str()), (Cause::NoBreakpoint, "messages[4].content[0]"));
    assert!(finding.name.contains("3 requests repeat: 0.0 % of all input is read, 5"), "{}", finding.name);
    assert!(finding.cost().is_some_and(|cost| cost.picousd() > 0) && !report.passes(&Rules::default()), "{finding:?}");
    assert_eq!(report.warnings, [""; 0], "the finding says it");
    // With a breakpoint on its last message it passes, and so do two requests: a single repetition may cost more.
    let mut guard = Guard::new(Rules { in_tests: true, ..Rules::default() });
    (0..4).for_each(|turns| {
        let mut body = calm(turns);
        mark_end(&mut body);
        take(&mut guard, &body);
    });
    assert!(guard.finish().findings.is_empty());
}

#[test]
fn a_long_history_without_a_breakpoint_counts_if_it_is_repeated_once() {
    let long = |turns: usize, words: usize| {
        let mut body = body(turns);
        unmark(&mut body);
        body["system"] = json!(text("policy", words));
        body["tools"] = json!([]);
        body
    };
    let report = check(&[long(0, 6_000), long(1, 6_000)]);
    let [finding] = report.findings.as_slice() else { panic!("{:?}", report.findings) };
    assert_eq!(finding.cause, Cause::NoBreakpoint);
    assert!(finding.name.contains("what 1 request repeats"), "{}", finding.name);
    assert!(finding.cost().is_some_and(|cost| cost.picousd() > 0));
    assert!(check(&[long(0, 3_000), long(1, 3_000)]).findings.is_empty(), "that much is often sent twice");
    assert!(check(&[long(0, 6_000)]).findings.is_empty());
}

/// A turn with some calls at once, after one call.
fn wide(calls: usize, model: &str) -> Value {
    let mut body = body(1);
    body["model"] = json!(model);
    unmark(&mut body);
    let messages = body["messages"].as_array_mut().unwrap();
    for call in 0..calls {
        let id = format!("w{call}");
        let sent = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {}});
        messages[1]["content"].as_array_mut().unwrap().push(sent);
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": "ok"});
        messages[2]["content"].as_array_mut().unwrap().push(result);
    }
    mark_end(&mut body);
    body
}

#[test]
fn a_wide_turn_rests_on_how_calls_are_counted() {
    let report = |calls: usize, model: &str| {
        let mut first = body(0);
        first["model"] = json!(model);
        check(&[first, wide(calls, model)])
    };
    let claude = "claude-sonnet-4-5";
    let warns = |calls: usize| report(calls, claude).warnings.iter().any(|warning| warning.contains("looks back over"));
    assert!(warns(24));
    assert!(!warns(8));
    // Only Anthropic's own API counts runs of calls.
    let lost =
        |calls: usize, model: &str| report(calls, model).findings.iter().any(|it| it.cause == Cause::BeyondLookback);
    let bedrock = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
    assert_eq!([lost(24, claude), lost(24, bedrock), lost(8, bedrock)], [false, true, false]);
}

#[test]
fn a_prefix_that_most_models_would_cache_is_noted_with_its_price() {
    let short = |turns: usize, words: usize| {
        let mut body = body(turns);
        body["model"] = json!("claude-haiku-4-5");
        body["tools"] = json!([]);
        body["system"] = json!([{"type": "text", "text": text("policy", words)}]);
        body
    };
    let report = |words: usize| check(&[short(0, words), short(1, words), short(2, words), short(3, words)]);
    let near = report(2_500);
    let [found] = near.findings.as_slice() else { panic!("{:?}", near.findings) };
    assert_eq!(found.cause, Cause::BelowMinimum);
    assert!(found.cost().is_some_and(|cost| cost.picousd() > 0));
    assert!(near.passes(&Rules::default()), "no change made it short");
    assert!(report(500).findings.is_empty(), "more content in the prefix would be idle advice");
    assert!(report(6_000).findings.is_empty());
}

/// A log of `lines` lines in one text, within a tag or without.
fn log(lines: usize, close: &str) -> Value {
    let mut body = body(0);
    let lines: String = (0..lines).map(|line| text(&format!("line {line}"), 2_000)).collect();
    body["messages"] = json!([{"role": "user", "content": [{"type": "text", "text": format!("{lines}{close}")}]}]);
    body
}

/// An end of a log that another one replaced.
fn replaced(lines: usize) -> Value {
    let mut body = log(2, "");
    let end = json!({"type": "text", "text": text(&format!("state {lines}"), 2_000)});
    mark_end(&mut body);
    body["messages"][0]["content"].as_array_mut().unwrap().push(end);
    body
}

#[test]
fn a_text_that_grows_is_repeated_up_to_where_it_grew() {
    for close in ["", "</log>"] {
        let report = check(&[log(2, close), log(3, close), log(4, close)]);
        let broken: Vec<_> = report.findings.iter().filter(|found| found.breaks_prefix).collect();
        let [found] = broken.as_slice() else { panic!("{broken:?}") };
        assert_eq!((found.cause, found.path.as_str()), (Cause::NoBreakpoint, "messages[0].content[0]"));
        assert!(found.suggestion().starts_with("End a block where the repeated part ends"), "{}", found.suggestion());
        let end = format!("it ends at byte {} of the block", found.offset_in_block.unwrap());
        assert!(found.name.replace(',', "").ends_with(&end), "{}", found.name);
        // Two lines are repeated, then three; a block for each line would have been written once and read later.
        let tokens = found.tokens_lost().unwrap();
        assert!((9_900..10_300).contains(&tokens), "{tokens}");
        let read = tokens * 2_700_000;
        let written = 8_000 * 750_000;
        let cost = u64::try_from(found.cost().unwrap().picousd()).unwrap();
        assert!(cost.abs_diff(read - written) * 20 < read, "{cost}, {read} and {written}");
    }
    assert!(check(&[replaced(0), replaced(1), replaced(2)]).findings.iter().all(|found| !found.breaks_prefix));
}

#[test]
fn agents_that_begin_with_one_text_are_noted() {
    let brief = |task: usize, equal: usize| {
        let mut body = log(0, &format!("{}{}", text("guide", equal), text(&format!("task {task}"), 100)));
        body["messages"][0]["content"][0].as_object_mut().unwrap().remove("cache_control");
        body
    };
    let report = |equal: usize| check(&(0..4).map(|task| brief(task, equal)).collect::<Vec<_>>());
    let noted = report(3_000);
    let broken: Vec<_> = noted.findings.iter().filter(|found| found.breaks_prefix).collect();
    let [found] = broken.as_slice() else { panic!("{broken:?}") };
    assert_eq!((found.cause, found.rule), (Cause::NoBreakpoint, Rule::Siblings));
    assert!(noted.passes(&Rules::default()));
    assert!((8_900..9_300).contains(&found.tokens_lost().unwrap()), "{:?}", found.loss);
    assert!(report(900).findings.iter().all(|found| !found.breaks_prefix));
}

#[test]
fn single_prompts_below_the_minimum_are_noted() {
    let prompt = |task: usize, words: usize| {
        let mut body = body(0);
        body["model"] = json!("claude-haiku-4-5");
        body["tools"] = json!([]);
        body["system"] =
            json!([{"type": "text", "text": text("policy", words), "cache_control": {"type": "ephemeral"}}]);
        body["messages"] = json!([message("user", &format!("task {task}"))]);
        body
    };
    let report = |words: usize| check(&(0..4).map(|task| prompt(task, words)).collect::<Vec<_>>());
    let noted = report(3_000);
    let [found] = noted.findings.as_slice() else { panic!("{:?}", noted.findings) };
    assert_eq!((found.cause, found.rule), (Cause::BelowMinimum, Rule::Siblings));
    assert!(found.cost().is_some_and(|cost| cost.picousd() > 0));
    assert!(report(500).findings.is_empty());
    assert!(report(6_000).findings.is_empty());
}
