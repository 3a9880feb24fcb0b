//! Requests that the provider refuses: reported with the block and the provider's own words.

use std::panic::catch_unwind;

use forkcast_sim::assert_prefix_stable;
use forkcast_sim::diagnosis::{Cause, Circumstances, Subject};
use forkcast_sim::guard::{Facts, Guard, NoteKind, Report, Rule, Rules, Sent, Severity, judge_pair};
use forkcast_sim::wire::{Pins, Usage, Wire};
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
        (
            changed(|body| {
                body["messages"][4]["content"][0]["content"] = json!([{"type": "tool_reference", "tool_name": "Gone"}]);
            }),
            "messages[4].content[0]",
            "Tool reference 'Gone' not found in available tools",
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

type Change = fn(&mut Value);

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
fn a_tool_that_was_found_may_be_deferred_or_a_servers() {
    let names = |body: &mut Value| {
        body["messages"][4]["content"][0]["content"] = json!([{"type": "tool_reference", "tool_name": "Gone"}]);
    };
    let with = |tool: Value| {
        changed(|body| {
            names(body);
            body["tools"].as_array_mut().unwrap().push(tool.clone());
        })
    };
    let deferred = json!({"name": "Gone", "description": "Goes.", "input_schema": {}, "defer_loading": true});
    for tool in [deferred, json!({"type": "mcp_toolset", "mcp_server_name": "files"})] {
        assert!(check(&[with(tool.clone())]).violations.is_empty(), "{tool}");
    }
    assert_eq!(check(&[changed(names)]).violations.len(), 1);
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

#[test]
fn a_message_without_content_is_refused_unless_it_is_the_last() {
    let emptied = |message: usize| changed(|body| body["messages"][message]["content"] = json!([]));
    let report = check(&[body(1), body(2), emptied(5)]);
    let [violation] = report.violations.as_slice() else { panic!("{:?}", report.violations) };
    assert_eq!(violation.what, "request 2 at messages[5]");
    let words = "messages.5: all messages must have non-empty content except for the optional final assistant message";
    assert_eq!(violation.found, format!("the provider refuses it: \"{words}\""));
    let last = changed(|body| {
        let prefill = json!({"role": "assistant", "content": []});
        body["messages"].as_array_mut().unwrap().push(prefill);
    });
    assert_eq!(check(&[body(1), body(2), last]).violations, []);
    // Thinking that the model drops was content.
    let thought = changed(|body| {
        body["messages"][5]["content"].as_array_mut().unwrap().truncate(1);
    });
    assert_eq!(check(&[body(1), body(2), thought]).violations, []);
}

/// openclaw/openclaw#103587.
#[test]
fn thinking_that_is_in_the_latest_answer_twice_is_refused() {
    let twice = |answer: usize| {
        changed(|body| {
            body["model"] = json!("claude-opus-5");
            let thought = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
            let content = body["messages"][answer]["content"].as_array_mut().unwrap();
            content.retain(|block| block["type"] != "thinking");
            content.splice(0..0, [thought.clone(), thought]);
        })
    };
    let report = check(&[twice(5)]);
    let [violation] = report.violations.as_slice() else { panic!("{:#?}", report.violations) };
    assert_eq!(violation.path, "messages[5].content[1]");
    assert!(violation.found.contains("blocks in the latest assistant message cannot be modified"), "{violation}");
    assert_eq!(check(&[twice(3)]).violations, [], "of earlier answers it is not known");
}

/// ax-llm/ax#517.
#[test]
fn a_breakpoint_on_a_message_is_refused() {
    let report = check(&[changed(|body| body["messages"][6]["cache_control"] = MARKED())]);
    let [violation] = report.violations.as_slice() else { panic!("{:#?}", report.violations) };
    assert_eq!(violation.path, "messages[6]");
    assert!(violation.found.contains("messages.6.cache_control: Extra inputs are not permitted"), "{violation}");
}

/// Of Bedrock's models, Claude has one hour from 4.5 on (earendil-works/pi#1570).
#[test]
fn an_hour_is_refused_for_models_of_bedrock_that_do_not_have_it() {
    let long = |model: &str| {
        let mut body = body(1);
        body["model"] = json!(model);
        body["system"][1]["cache_control"] = json!({"type": "ephemeral", "ttl": "1h"});
        check(&[body]).violations
    };
    for model in ["us.anthropic.claude-3-7-sonnet-20250219-v1:0", "anthropic.claude-opus-4-1-20250805-v1:0"] {
        let violations = long(model);
        let [violation] = violations.as_slice() else { panic!("{model}: {violations:?}") };
        assert_eq!(violation.path, "system[1]");
        assert!(violation.found.contains("system.1.cache_control.ttl: Extra inputs are not permitted"), "{violation}");
    }
    for model in ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-opus-4-1", "claude-3-7-sonnet-20250219"] {
        assert_eq!(long(model), [], "{model}");
    }
}

/// A body with thinking on whose first tool call follows no thinking, for a model, with the version of a cloud.
fn unthought(model: &str, version: Option<&str>) -> Value {
    let mut body = body(2);
    body["model"] = json!(model);
    body["thinking"] = json!({"type": "enabled", "budget_tokens": 1024});
    body["messages"][1]["content"].as_array_mut().unwrap().remove(0);
    if let Some(version) = version {
        body["anthropic_version"] = json!(version);
    }
    body
}

const VERTEX: Option<&str> = Some("vertex-2023-10-16");
const BEDROCK: Option<&str> = Some("bedrock-2023-05-31");

/// The words of `opencode` 3077 and `kilocode` 5219.
#[test]
fn a_tool_loop_without_thinking_is_refused_where_it_has_to_begin_with_it() {
    for (model, version) in
        [("claude-opus-4-5@20251101", VERTEX), ("", BEDROCK), ("eu.anthropic.claude-haiku-4-5-20251001-v1:0", None)]
    {
        let report = check(&[unthought(model, version)]);
        let [violation] = report.violations.as_slice() else { panic!("{model}: {:#?}", report.violations) };
        assert_eq!(violation.path, "messages[1].content[0]");
        let words = "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.";
        assert!(violation.found.contains(words), "{}", violation.found);
    }
    let silent: [(&str, Change); 6] = [
        ("adaptive", |body| body["thinking"] = json!({"type": "adaptive"})),
        ("off", |body| drop(body.as_object_mut().unwrap().remove("thinking"))),
        ("a model that answers without thinking", |body| body["model"] = json!("claude-sonnet-4-6@20260217")),
        ("Anthropic itself", |body| {
            body.as_object_mut().unwrap().remove("anthropic_version");
            body["model"] = json!("claude-opus-4-5");
        }),
        ("the loop is over", |body| {
            let turns = [json!({"role": "assistant", "content": "done"}), message("user", "and then?")];
            body["messages"].as_array_mut().unwrap().extend(turns);
        }),
        ("thinking before the first call only", |body| {
            let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t9", "name": "Read", "input": {}}]});
            let result =
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t9", "content": "a"}]});
            body["messages"].as_array_mut().unwrap().extend([call, result]);
            let thought = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
            body["messages"][1]["content"].as_array_mut().unwrap().insert(0, thought);
        }),
    ];
    for (what, change) in silent {
        let mut fine = unthought("claude-opus-4-5@20251101", VERTEX);
        change(&mut fine);
        assert_eq!(check(&[fine]).violations, [], "{what}");
    }
    let mut redacted = unthought("", BEDROCK);
    redacted["messages"][1]["content"]
        .as_array_mut()
        .unwrap()
        .insert(0, json!({"type": "redacted_thinking", "data": "d"}));
    assert_eq!(check(&[redacted]).violations, []);
}

#[test]
fn thinking_with_an_empty_signature_is_refused() {
    let signed = |signature: &str, model: &str| {
        changed(|body| {
            body["model"] = json!(model);
            body["messages"][5]["content"][0]["signature"] = json!(signature);
        })
    };
    let refused = signed("", "claude-opus-5");
    let thought = |block: Value| {
        changed(|body| {
            body["model"] = json!("claude-opus-5");
            body["messages"][5]["content"][0] = block.clone();
        })
    };
    for (block, words) in [
        (json!({"type": "thinking", "thinking": "hm"}), ".thinking.signature: Field required"),
        (json!({"type": "redacted_thinking", "data": ""}), ": Invalid `data` in `redacted_thinking` block"),
        (json!({"type": "redacted_thinking"}), ".redacted_thinking.data: Field required"),
    ] {
        let report = check(&[thought(block)]);
        let [violation] = report.violations.as_slice() else { panic!("{words}: {:#?}", report.violations) };
        assert_eq!(violation.found, format!("the provider refuses it: \"messages.5.content.0{words}\""));
    }
    let report = check(std::slice::from_ref(&refused));
    let [violation] = report.violations.as_slice() else { panic!("{:#?}", report.violations) };
    assert_eq!(violation.path, "messages[5].content[0]");
    let words = "messages.5.content.0: Invalid `signature` in `thinking` block";
    assert_eq!(violation.found, format!("the provider refuses it: \"{words}\""));
    // Servers with other models send none, and recorders leave them out.
    for (body, usage) in
        [(signed("", "glm-5.3"), None), (signed("s", "claude-opus-5"), None), (refused, Some(Usage::default()))]
    {
        let report = under(Rules::default(), &[(&body, usage)]);
        assert_eq!((report.violations.len(), noted(&report).len()), (0, 0), "{:#?}", report.violations);
    }
}

#[test]
fn a_change_in_a_refused_request_costs_nothing_beside_the_one_before() {
    let rules = Rules::default();
    let costs = |change: Change| {
        let mut wire = Wire::default();
        let mut newer = changed(change);
        newer["system"][0]["text"] = json!("Today is 2026-11-21. Be brief.");
        let [older, newer] = [body(2), newer].map(|body| {
            let request = wire.read(body.to_string().as_bytes(), "", "").unwrap();
            let cumulative = Pins::default().sizes(&request, &wire, None, None);
            Subject::new(0, request, cumulative, &rules.preset)
        });
        let judged = judge_pair(&wire, &rules.preset, &older, &newer, None, Circumstances::default());
        judged.findings.iter().filter_map(|found| found.loss).map(|loss| loss.tokens).sum::<u64>()
    };
    assert!(costs(|_| ()) > 1_000);
    assert_eq!(costs(|body| body["messages"][5]["content"][0]["cache_control"] = MARKED()), 0);
}
