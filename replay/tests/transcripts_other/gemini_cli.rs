//! Chats of Gemini CLI.

use std::collections::BTreeMap;

use forkcast_replay::formats::Format;
use forkcast_replay::transcript::{InputOrigin, Sign, Stop};
use serde_json::Value;

use super::{clean, counted, counts, inputs_of, raw, read, signs, sums, text};

const DOCUMENT: &str = "gemini-cli.json";
const LINES: &str = "gemini-cli.jsonl";

#[test]
fn a_chat_in_one_document_is_read() {
    let inputs = clean(DOCUMENT, Format::GeminiCli);
    let [session] = inputs.sessions.all() else { panic!("one session") };
    assert_eq!((&*session.id, session.format), ("9e317001-0000-4000-8000-000000000001", Format::GeminiCli));
    assert_eq!((session.user.as_deref(), session.project.as_deref()), (None, Some("5eed5eed")));
    let answers = counted(inputs.sessions.all());
    let usage: Vec<_> = answers.iter().map(|answer| answer.usage.as_ref().map(counts)).collect();
    // 12,000 of the prompt and 7 of tools; 18 and 31 of thoughts.
    assert_eq!(usage, [Some([12_007, 0, 0, 49, 31]), Some([300, 11_800, 0, 3, 0])]);
    assert_eq!(answers.iter().map(|answer| answer.stop).collect::<Vec<_>>(), [Stop::ToolUse, Stop::EndTurn]);
    let lines: Vec<u32> = super::items(session).map(|item| item.line).collect();
    assert_eq!(lines, [7, 8, 8, 12, 15], "prompt, answer, result of its call, answer, the client's own word");
    assert_eq!(
        (inputs_of(session, InputOrigin::Prompt).len(), inputs_of(session, InputOrigin::Injected).len()),
        (1, 1)
    );
}

#[test]
fn a_chat_in_lines_takes_the_last_state_of_each_message() {
    let inputs = clean(LINES, Format::GeminiCli);
    let [session] = inputs.sessions.all() else { panic!("one session") };
    let answers = counted(inputs.sessions.all());
    let usage: Vec<_> = answers.iter().map(|answer| answer.usage.as_ref().map(counts)).collect();
    assert_eq!(usage, [Some([600, 300, 0, 4, 0]), Some([60, 890, 0, 6, 2])]);
    assert_eq!((session.user.as_deref(), session.project.as_deref()), (None, Some("/Users/ada/loom")));
    let told: Vec<_> = signs(session)
        .filter_map(|sign| match sign {
            Sign::Rewound { to } => Some(*to),
            Sign::Compacted { .. } => Some(None),
            _ => None,
        })
        .collect();
    assert_eq!(told, [Some(1), None], "back to before `m3`, then replaced");
}

#[test]
fn a_sub_agent_belongs_to_the_session_its_folder_is_named_after() {
    let child = text(LINES).replace("\"kind\":\"main\"", "\"kind\":\"subagent\"");
    let inputs = forkcast_replay::input::Inputs::from_bytes(
        "chats/parent/child.jsonl",
        child.as_bytes(),
        forkcast_replay::input::InputFormat::Auto,
    );
    let session = &inputs.sessions.all()[0];
    assert_eq!((&*session.id, &*session.agents[0].id), ("parent", "9e317002-0000-4000-8000-000000000002"));
}

#[test]
fn counts_that_contradict_each_other_are_refused_and_located() {
    let broken = text(DOCUMENT).replace("\"cached\": 11800", "\"cached\": 12800");
    let inputs = read(&broken);
    let faults: Vec<_> = inputs.unreadable.iter().map(|fault| (fault.line, fault.reason.as_str())).collect();
    let reason = "`tokens`: `input` is 12100, expected at least the 12800 read tokens that are part of it";
    assert_eq!(faults, [(12, reason)]);
}

#[test]
fn a_document_that_breaks_off_is_read_as_far_as_it_goes() {
    let whole = text(DOCUMENT);
    let inputs = read(&whole[..whole.find("\"m4\"").unwrap()]);
    assert_eq!(counted(inputs.sessions.all()).len(), 2);
    assert_eq!(inputs.unreadable.len(), 1);
}

#[test]
fn recorded_chats_have_the_sums_of_a_plain_walk() {
    let Some(inputs) = raw::inputs("gemini-cli-entireio") else { return };
    // Five files are three chats at several of their stages.
    let mut messages: BTreeMap<String, [u64; 5]> = BTreeMap::new();
    let mut all = 0;
    for (_, text) in raw::files("gemini-cli-entireio", &[".json"]) {
        let chat: Value = serde_json::from_str(&text).unwrap();
        let gemini = chat["messages"].as_array().unwrap().iter().filter(|message| message["type"] == "gemini");
        for message in gemini {
            let count = |name: &str| raw::number(message, &format!("/tokens/{name}"));
            let counts = [
                count("input") + count("tool") - count("cached"),
                count("cached"),
                0,
                count("output") + count("thoughts"),
                count("thoughts"),
            ];
            all += 1;
            messages.insert(raw::word(message, "/id").to_owned(), counts);
        }
    }
    assert_eq!((all, messages.len()), (25, 17));
    let expected = messages.values().fold([0; 5], |sum, one| std::array::from_fn(|i| sum[i] + one[i]));
    // One message has no `tokens` at all.
    assert_eq!((counted(inputs.sessions.all()).len(), sums(inputs.sessions.all())), (17, (16, expected)));
    assert_eq!((inputs.sessions.len(), inputs.unreadable.len(), inputs.skipped.len()), (3, 0, 2));
}
