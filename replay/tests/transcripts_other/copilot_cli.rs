//! Events of Copilot CLI.

use std::collections::BTreeSet;

use forkcast_replay::formats::Format;
use forkcast_replay::transcript::InputOrigin;

use super::{clean, counted, counts, inputs_of, raw, read, sums, text};

const FIXTURE: &str = "copilot-cli.jsonl";

#[test]
fn a_sum_replaces_all_requests_of_its_model_with_a_note() {
    let inputs = clean(FIXTURE, Format::CopilotCli);
    let [session] = inputs.sessions.all() else { panic!("one session") };
    assert_eq!((&*session.id, session.format), ("c0911001", Format::CopilotCli));
    assert_eq!(session.project.as_deref(), Some("/home/ada/loom"));
    let answers = counted(inputs.sessions.all());
    let told: Vec<_> = answers.iter().map(|answer| (&*answer.model, answer.usage.as_ref().map(counts))).collect();
    // The one request of the second model has its sum as its own.
    let expected =
        [("claude-sonnet-4.6", Some([13_000, 12_800, 200, 36, 10])), ("gpt-5.4-mini", Some([700, 0, 0, 4, 0]))];
    assert_eq!(told, expected);
    assert_eq!((answers[0].parts.len(), answers[0].calls.len()), (3, 1), "thinking, call and text of both messages");
    let note = "2 requests of `claude-sonnet-4.6` are merged into one: only their sum is recorded, in line 12";
    assert_eq!(inputs.scopes[0].files[0].notes, [note]);
    assert_eq!(inputs_of(session, InputOrigin::Prompt).len(), 1);
    assert_eq!(inputs_of(session, InputOrigin::ToolResults).len(), 1);
}

#[test]
fn a_session_without_an_end_has_requests_without_usage() {
    let whole = text(FIXTURE);
    let inputs = read(&whole[..whole.find("{\"type\":\"session.shutdown\"").unwrap()]);
    assert_eq!((counted(inputs.sessions.all()).len(), sums(inputs.sessions.all())), (3, (0, [0; 5])));
    let notes = &inputs.scopes[0].files[0].notes;
    let sentence =
        "the session has no orderly end, so the sums of 3 requests are missing; their outputs alone are 40 tokens";
    assert_eq!(notes, &[sentence, "3 requests without usage, the first in line 6"]);
}

#[test]
fn sums_of_nothing_are_no_usage_and_contradictions_are_located() {
    let told = text(FIXTURE).replace("\"inputTokens\":700,\"outputTokens\":4", "\"inputTokens\":0,\"outputTokens\":0");
    let inputs = read(&told);
    assert_eq!(sums(inputs.sessions.all()).0, 1);
    assert!(inputs.scopes[0].files[0].notes.iter().any(|note| note.contains("were reported with no tokens")));
    let broken = text(FIXTURE).replace("\"cacheReadTokens\":12800", "\"cacheReadTokens\":30000");
    let faults: Vec<_> = read(&broken).unreadable.into_iter().map(|fault| (fault.line, fault.reason)).collect();
    let reason = "`modelMetrics` of `claude-sonnet-4.6`: `inputTokens` is 26000, expected at least the 30000 read \
                  and 200 written tokens that are part of it";
    assert_eq!(faults, [(12, reason.to_owned())]);
}

#[test]
fn a_resumed_session_adds_the_sums_of_both_runs() {
    let whole = text(FIXTURE);
    let resumed =
        whole.replace("session.start", "session.resume").replace("msg_c", "msg_d").replace("\"a3\"", "\"b3\"");
    let inputs = read(&format!("{whole}{resumed}"));
    assert_eq!(inputs.sessions.len(), 1);
    assert_eq!(sums(inputs.sessions.all()), (4, [27_400, 25_600, 400, 80, 20]));
}

#[test]
fn recorded_events_have_the_sums_of_a_plain_walk() {
    let Some(inputs) = raw::inputs("copilot-cli-agentv") else { return };
    // Two files are one session at two of its stages.
    let (mut turns, mut messages, mut distinct) = (0, 0, BTreeSet::new());
    let (mut shutdowns, mut with_usage, mut expected) = (0, 0, [0; 5]);
    for (_, text) in raw::files("copilot-cli-agentv", &[".jsonl"]) {
        for line in raw::lines(&text) {
            match raw::word(&line, "/type") {
                "assistant.turn_start" => turns += 1,
                "assistant.message" => {
                    messages += 1;
                    distinct.insert(raw::word(&line, "/data/messageId").to_owned());
                }
                "session.shutdown" => {
                    shutdowns += 1;
                    for usage in line["data"]["modelMetrics"].as_object().unwrap().values() {
                        let count = |name: &str| raw::number(usage, &format!("/usage/{name}"));
                        let read = count("cacheReadTokens");
                        let rest = count("inputTokens") - read;
                        let counts = [rest, read, 0, count("outputTokens"), count("reasoningTokens")];
                        with_usage += usize::from(counts.iter().any(|count| *count > 0));
                        expected = std::array::from_fn(|i| expected[i] + counts[i]);
                    }
                }
                _ => {}
            }
        }
    }
    assert_eq!((turns, messages, shutdowns), (171, 169, 10), "169 answered turns, as noted with the recordings");
    assert_eq!(sums(inputs.sessions.all()), (with_usage, expected));
    assert_eq!(counted(inputs.sessions.all()).len(), distinct.len(), "every recorded sum is that of one request");
    assert_eq!((inputs.sessions.len(), inputs.unreadable.len(), inputs.skipped.len()), (12, 0, 2));
}
