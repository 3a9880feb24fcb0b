//! Requests that the provider refuses: reported with the block and the provider's own words.

use std::panic::catch_unwind;

use forkcast_sim::assert_prefix_stable;
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::guard::{Facts, Guard, NoteKind, Report, Rule, Rules, Sent, Severity};
use forkcast_sim::wire::Usage;
use serde_json::{Value, json};

use super::conversation::{body, check, message, unmark};

/// [`body`] of two turns and an answer, modified by `change`.
fn changed(change: impl Fn(&mut Value)) -> Value {
    let mut body = body(2);
    body["messages"].as_array_mut().unwrap().extend([
        json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": "done"},
        ]}),
        message("user", "and then?"),
    ]);
    change(&mut body);
    body
}

const MARKED: fn() -> Value = || json!({"type": "ephemeral"});

/// The change, the block, and the provider's words (providers.md 1.1, 1.2 and 1.10).
fn cases() -> Vec<(Value, &'static str, &'static str)> {
    vec![
        (
            changed(|body| body["messages"][5]["content"][0]["cache_control"] = MARKED()),
            "messages[5].content[0]",
            "messages.5.content.0.thinking.cache_control: Extra inputs are not permitted",
        ),
        (
            changed(|body| {
                body["messages"][6]["content"] = json!([{"type": "text", "text": "", "cache_control": MARKED()}]);
            }),
            "messages[6].content[0]",
            "messages.6.content.0.text: cache_control cannot be set for empty text blocks",
        ),
        (
            changed(|body| {
                let parts =
                    json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b", "cache_control": MARKED()}]);
                body["messages"][4]["content"][0]["content"] = parts;
            }),
            "messages[4].content[0]",
            "messages.4.content.0.tool_result.content.1.cache_control: cache_control may not be specified within \
             `tool_result.content`. Instead, place it directly on `tool_result`",
        ),
        (
            changed(|body| {
                body["messages"][6]["content"][0]["cache_control"] = MARKED();
                body["cache_control"] = json!({"type": "ephemeral", "ttl": "1h"});
            }),
            "messages[6].content[0]",
            "cache_control: ttl='1h' differs from ttl='5m' of the last block, which is marked",
        ),
        (
            changed(|body| {
                body["max_tokens"] = json!(0);
                body["stream"] = json!(true);
            }),
            "",
            "max_tokens: 0 is not supported with stream",
        ),
    ]
}

fn under(rules: Rules, bodies: &[(&Value, Option<Usage>)]) -> Report {
    let mut guard = Guard::new(rules);
    for (body, usage) in bodies {
        guard
            .take(&Sent {
                facts: Facts { usage: *usage, ..Facts::default() },
                ..Sent::body(body.to_string().as_bytes())
            })
            .unwrap();
    }
    guard.finish()
}

#[test]
fn a_refused_request_fails_with_the_providers_words() {
    for (refused, path, words) in cases() {
        let report = check(&[body(1), body(2), refused.clone(), refused]);
        assert!(!report.passes(&Rules::default()) && !report.score["stability"], "{words}");
        let [violation] = report.violations.as_slice() else { panic!("{:#?}", report.violations) };
        assert_eq!((violation.rule, violation.chain.as_deref()), (Rule::Stability, Some("#1")));
        assert_eq!(violation.found, format!("the provider refuses it: \"{words}\""));
        let place = if path.is_empty() { String::new() } else { format!(" at {path}") };
        assert_eq!(violation.what, format!("request 2{place}, and 1 more of the chain"));
        assert!(noted(&report).is_empty());
    }
}

#[test]
fn a_breakpoint_that_is_refused_is_not_called_missing() {
    let result = |part: Value| move |body: &mut Value| body["messages"][4]["content"][0]["content"] = json!([part]);
    let mut older = body(2);
    result(json!({"type": "text", "text": "b"}))(&mut older);
    let newer = changed(|body| {
        unmark(body);
        result(json!({"type": "text", "text": "b", "cache_control": MARKED()}))(body);
    });
    let report = check(&[older, newer]);
    assert_eq!((report.findings.len(), report.violations.len()), (0, 1), "{:#?}", report.findings);
}

fn noted(report: &Report) -> Vec<(usize, &str, &str)> {
    let refused = report.notes.iter().filter(|noted| noted.note == NoteKind::Refused);
    refused.map(|noted| (noted.request, noted.path.as_str(), noted.answer.as_deref().unwrap())).collect()
}

#[test]
fn refusals_that_were_answered_or_are_allowed_are_noted() {
    let usage = Usage { input_tokens: 5_000, ..Usage::default() };
    let lenient = || Rules { stability: Severity::Note, ..Rules::default() };
    for (refused, path, words) in cases() {
        for (rules, usage) in [(Rules::default(), Some(usage)), (lenient(), None)] {
            let report = under(rules.clone(), &[(&body(1), None), (&refused, usage)]);
            assert!(report.passes(&rules), "{:#?}", report.violations);
            assert_eq!(noted(&report), [(1, path, words)]);
        }
    }
}

#[test]
fn findings_about_breakpoints_include_the_words_too() {
    let five = changed(|body| {
        for tool in body["tools"].as_array_mut().unwrap() {
            tool["cache_control"] = MARKED();
        }
    });
    let late = changed(|body| {
        body["messages"][6]["content"][0]["cache_control"] = json!({"type": "ephemeral", "ttl": "1h"});
    });
    let cases = [
        (five, Cause::BreakpointLimit, "A maximum of 4 blocks with cache_control may be provided. Found 5."),
        (
            late,
            Cause::TtlOrder,
            "messages.6.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come after",
        ),
    ];
    for (body, cause, words) in cases {
        for bodies in [vec![body.clone()], vec![super::conversation::body(1), body]] {
            let report = check(&bodies);
            let found = report.findings.iter().find(|found| found.cause == cause).unwrap();
            assert!(found.name.contains(words), "{}", found.name);
            assert!(report.violations.is_empty() && noted(&report).is_empty(), "said once");
        }
    }
}

#[test]
fn an_assertion_fails_with_the_providers_words() {
    let (refused, _, words) = cases().remove(0);
    let refused = refused.to_string();
    let failed = catch_unwind(|| assert_prefix_stable!(body(1).to_string(), refused)).unwrap_err();
    let text = failed.downcast_ref::<String>().unwrap();
    assert_eq!(text, &format!("the provider refuses body 1: {words}"));
}

/// No cache is asked: whether it keeps what was refused is not documented.
#[test]
fn a_text_without_a_letter_is_refused_once() {
    for (text, words) in [
        ("", "messages: text content blocks must be non-empty"),
        (" \n\t", "messages: text content blocks must contain non-whitespace text"),
    ] {
        let blank = changed(|body| body["messages"][6]["content"] = json!([{"type": "text", "text": text}]));
        let report = check(&[body(1), body(2), blank.clone(), blank]);
        let [violation] = report.violations.as_slice() else { panic!("{:?}", report.violations) };
        assert_eq!(violation.what, "request 2 at messages[6].content[0]");
        assert_eq!(violation.found, format!("the provider refuses it: \"{words}\""));
    }
    for (system, words) in [
        (
            json!([{"type": "text", "text": "Rules."}, {"type": "text", "text": ""}]),
            "system: text content blocks must be non-empty",
        ),
        (json!("\n"), "system: text content blocks must contain non-whitespace text"),
    ] {
        let report = check(&[changed(|body| body["system"] = system.clone())]);
        let [violation] = report.violations.as_slice() else { panic!("{:?}", report.violations) };
        assert_eq!(violation.found, format!("the provider refuses it: \"{words}\""));
    }
    // What the Messages API does with these is not known.
    for content in [json!(""), json!([]), json!([{"type": "text", "text": ""}])] {
        let fine = changed(|body| body["messages"][4]["content"][0]["content"] = content.clone());
        assert!(check(&[fine]).violations.is_empty(), "{content}");
    }
    for text in [".", "no letter is 0", "\u{feff}"] {
        let fine = changed(|body| body["messages"][6]["content"] = json!([{"type": "text", "text": text}]));
        assert!(check(&[body(1), body(2), fine]).violations.is_empty(), "{text:?}");
    }
}
