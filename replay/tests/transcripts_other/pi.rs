//! Sessions of pi.

use forkcast_replay::formats::Format;
use forkcast_replay::transcript::{InputOrigin, Sign, Stop, Thinking};
use serde_json::Value;

use super::{clean, counted, counts, inputs_of, raw, read, signs, sums, text};

const FIXTURE: &str = "pi.jsonl";

#[test]
fn a_session_is_read_line_by_line() {
    let inputs = clean(FIXTURE, Format::Pi);
    let [session] = inputs.sessions.all() else { panic!("one session") };
    assert_eq!((&*session.id, session.format), ("5e551011-0000-4000-8000-000000000001", Format::Pi));
    assert_eq!((session.user.as_deref(), session.project.as_deref()), (Some("/Users/ada"), Some("/Users/ada/loom")));
    let answers = counted(inputs.sessions.all());
    let usage: Vec<_> = answers.iter().map(|answer| answer.usage.as_ref().map(counts)).collect();
    assert_eq!(usage, [Some([3, 0, 2000, 40, 0]), Some([5, 2000, 60, 8, 0]), None]);
    let costs: Vec<String> =
        answers.iter().filter_map(|answer| Some(answer.usage?.reported_cost?.to_string())).collect();
    assert_eq!(costs, ["0.013515", "0.0016"]);
    assert_eq!(
        answers.iter().map(|answer| answer.stop).collect::<Vec<_>>(),
        [Stop::ToolUse, Stop::EndTurn, Stop::Other]
    );
    // Asked at 1769932810.002 s, as the message itself says.
    assert_eq!(answers[0].sent_at.unwrap().0, 1_769_932_810_002_000_000);
    assert_eq!((answers[0].calls.len(), &*answers[0].calls[0].tool), (1, "bash"));
    assert_eq!(answers[0].effort.as_deref(), Some("high"));
    assert_eq!(answers[0].calls[0].id, inputs_of(session, InputOrigin::ToolResults)[0].parts[0].call);
}

#[test]
fn another_branch_goes_back_to_its_parent() {
    let inputs = clean(FIXTURE, Format::Pi);
    let rewound: Vec<_> = signs(&inputs.sessions.all()[0])
        .filter_map(|sign| if let Sign::Rewound { to } = sign { Some(*to) } else { None })
        .collect();
    // Items: thinking level, prompt, answer, …: the branch hangs on the prompt.
    assert_eq!(rewound, [Some(1)]);
}

#[test]
fn a_compaction_keeps_its_text_and_drops_entries_that_reach_no_model() {
    let inputs = clean(FIXTURE, Format::Pi);
    let session = &inputs.sessions.all()[0];
    let [summary] = inputs_of(session, InputOrigin::Summary)[..] else { panic!("one summary") };
    let sizes: Vec<u32> = summary.parts.iter().map(|part| part.bytes).collect();
    let (summary, kept) = ("\"Threads were counted.\"", r#"{"type":"text","text":"Look again."}"#);
    assert_eq!(sizes, [summary.len() as u32, kept.len() as u32]);
    assert!(signs(session).any(|sign| matches!(sign, Sign::Compacted { before_tokens: Some(2100), .. })));
    assert!(signs(session).any(|sign| matches!(sign, Sign::Thinking(Thinking::On(_)))));
    assert_eq!(inputs_of(session, InputOrigin::Injected).len(), 0);
    assert_eq!(inputs_of(session, InputOrigin::Prompt).len(), 2);
}

#[test]
fn instants_that_are_no_dates_are_unknown_and_counted() {
    let session = r#"{"type":"session","id":"s","timestamp":"2026-02-01T08:00:00Z","cwd":"D:\\work\\engine"}"#;
    let prompt = r#"{"type":"message","id":"a","timestamp":"yesterday","message":{"role":"user","content":"Hi"}}"#;
    let inputs = read(&format!("{session}\n{prompt}\n{prompt}\n"));
    let [repaired] = &inputs.repaired[..] else { panic!("{:?}", inputs.repaired) };
    assert_eq!((repaired.line, &*repaired.what), (2, "2 instants are no dates, taken as unknown"));
    assert!(super::items(&inputs.sessions.all()[0]).all(|item| item.at.is_none()));
    assert_eq!(
        inputs.sessions.all()[0].user.as_deref(),
        Some("D:\\work"),
        "users are recognised in the same way for every client"
    );
}

#[test]
fn a_branch_in_a_file_of_its_own_counts_once() {
    let place = forkcast_fixtures::tempdir().unwrap();
    let folder = place.path();
    std::fs::write(folder.join("a.jsonl"), text(FIXTURE)).unwrap();
    std::fs::write(folder.join("b.jsonl"), text(FIXTURE).replace("5e551011", "5e551022")).unwrap();
    let inputs = forkcast_replay::input::Inputs::read(&[folder], Default::default()).unwrap();
    assert_eq!(inputs.sessions.len(), 2);
    assert_eq!(sums(inputs.sessions.all()), sums(read(&text(FIXTURE)).sessions.all()));
}

#[test]
fn a_models_router_is_kept_if_it_is_informative() {
    let model = |provider: &str, model: &str| {
        let told = text(FIXTURE).replace(
            "\"provider\":\"anthropic\",\"model\":\"claude-opus-4-5\"",
            &format!(r#""provider":"{provider}","model":"{model}""#),
        );
        counted(read(&told).sessions.all())[0].model.to_string()
    };
    assert_eq!(model("anthropic", "claude-opus-4-5"), "claude-opus-4-5");
    assert_eq!(model("google-vertex", "gemini-2.5-pro"), "vertex_ai/gemini-2.5-pro");
    assert_eq!(model("nobody", "own-model"), "own-model");
}

#[test]
fn an_invalid_message_is_located() {
    let broken = text(FIXTURE).replace("\"input\":3,", "\"input\":\"3\",");
    let faults: Vec<_> = read(&broken).unreadable.into_iter().map(|fault| (fault.line, fault.reason)).collect();
    assert_eq!(faults, [(5, "message: found a text of 1 character, expected a whole number, not negative".to_owned())]);
}

#[test]
fn recorded_sessions_have_the_sums_of_a_plain_walk() {
    let Some(inputs) = raw::inputs("pi-mono-fixtures") else { return };
    let (mut messages, mut with_usage, mut expected, mut cost) = (0, 0, [0; 5], 0.0);
    for (_, text) in raw::files("pi-mono-fixtures", &[".jsonl"]) {
        for line in raw::lines(&text).iter().filter(|line| raw::word(line, "/message/role") == "assistant") {
            let count = |name: &str| raw::number(line, &format!("/message/usage/{name}"));
            let counts = [count("input"), count("cacheRead"), count("cacheWrite"), count("output"), 0];
            messages += 1;
            with_usage += usize::from(counts.iter().any(|count| *count > 0));
            expected = std::array::from_fn(|i| expected[i] + counts[i]);
            cost += line.pointer("/message/usage/cost/total").and_then(Value::as_f64).unwrap_or(0.0);
        }
    }
    assert_eq!(messages, 937, "as noted with the recordings");
    assert_eq!(counted(inputs.sessions.all()).len(), messages);
    assert_eq!(sums(inputs.sessions.all()), (with_usage, expected));
    let read: i128 =
        counted(inputs.sessions.all()).iter().filter_map(|answer| Some(answer.usage?.reported_cost?.picousd())).sum();
    assert!((read as f64 / 1e12 - cost).abs() < 1e-6, "{read} {cost}");
    assert_eq!((inputs.sessions.len(), inputs.unreadable.len(), inputs.skipped.len()), (2, 0, 2));
    eprintln!("{messages} requests, {with_usage} with usage, sums {expected:?}, {cost:.2} USD");
}
