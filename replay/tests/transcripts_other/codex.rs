//! Rollouts of Codex CLI.

use std::collections::BTreeSet;

use forkcast_replay::formats::Format;
use forkcast_replay::transcript::{AgentKind, InputOrigin, Sign, Stop};

use super::{clean, counted, counts, inputs_of, raw, read, signs, sums, text};

const FIXTURE: &str = "codex.jsonl";

#[test]
fn a_rollout_is_read_line_by_line() {
    let inputs = clean(FIXTURE, Format::Codex);
    let [session] = inputs.sessions.all() else { panic!("one session") };
    assert_eq!((&*session.id, session.format), ("0195a000-0000-7000-8000-000000000001", Format::Codex));
    assert_eq!((session.user.as_deref(), session.project.as_deref()), (Some("/home/ada"), Some("/home/ada/loom")));
    let answers = counted(inputs.sessions.all());
    let usage: Vec<_> = answers.iter().map(|answer| answer.usage.as_ref().map(counts)).collect();
    assert_eq!(usage, [Some([7000, 2000, 0, 120, 70]), Some([300, 8900, 0, 30, 0]), None]);
    assert_eq!(answers[1].usage.unwrap().web_search_requests, 1);
    let stops: Vec<Stop> = answers.iter().map(|answer| answer.stop).collect();
    assert_eq!(stops, [Stop::ToolUse, Stop::EndTurn, Stop::Other]);
    let about = |i: usize| (&*answers[i].model, answers[i].version.as_deref(), answers[i].effort.as_deref());
    assert_eq!(about(0), ("gpt-5.5", Some("0.142.0"), Some("high")));
    assert_eq!(inputs.scopes[0].files[0].notes, ["1 requests without usage, the first in line 22"]);
}

#[test]
fn the_result_of_a_call_follows_the_answer_with_the_call() {
    let inputs = clean(FIXTURE, Format::Codex);
    let lines: Vec<u32> = super::items(&inputs.sessions.all()[0]).map(|item| item.line).collect();
    assert_eq!(lines, [3, 5, 8, 10, 13, 16, 18, 19, 19, 22, 23]);
    let answers = counted(inputs.sessions.all());
    // The first request was sent after the prompt of 09:00:01, the second after the result of 09:00:06.
    let seconds = |i: usize| answers[i].sent_at.unwrap().0 / 1_000_000_000 % 60;
    assert_eq!((seconds(0), seconds(1)), (1, 6));
}

#[test]
fn prompts_are_distinguished_from_the_clients_insertions() {
    let inputs = clean(FIXTURE, Format::Codex);
    let count = |origin| inputs_of(&inputs.sessions.all()[0], origin).len();
    assert_eq!((count(InputOrigin::Prompt), count(InputOrigin::Attachment)), (2, 1));
    assert_eq!((count(InputOrigin::ToolResults), count(InputOrigin::Summary)), (1, 1));
}

#[test]
fn a_compaction_reports_the_earlier_size() {
    let inputs = clean(FIXTURE, Format::Codex);
    let compacted = signs(&inputs.sessions.all()[0]).find_map(|sign| match sign {
        Sign::Compacted { before_tokens, automatic } => Some((*before_tokens, *automatic)),
        _ => None,
    });
    assert_eq!(compacted, Some((Some(9230), true)));
}

#[test]
fn a_sub_agent_belongs_to_the_session_of_its_root() {
    let child = text(FIXTURE)
        .replace("\"id\":\"0195a000-0000-7000-8000-000000000001\"", "\"id\":\"child\",\"session_id\":\"root\"")
        .replace(
            "\"source\":\"cli\"",
            r#""source":{"subagent":{"thread_spawn":{"parent_thread_id":"root","depth":1}}}"#,
        );
    let inputs = read(&child);
    let session = &inputs.sessions.all()[0];
    assert_eq!((&*session.id, &*session.agents[0].id), ("root", "child"));
    assert!(matches!(session.agents[0].kind, AgentKind::Named { .. }));
}

#[test]
fn a_fork_counts_its_copied_part_once() {
    let whole = text(FIXTURE);
    let meta = whole.lines().next().unwrap().replace("000000000001", "000000000002");
    // A fork begins with its own meta and repeats the parent's lines under new instants.
    let forked = format!("{meta}\n{}", whole.replace("2026-03-02T09:0", "2026-03-02T11:0"));
    let place = forkcast_fixtures::tempdir().unwrap();
    let both = place.path();
    std::fs::write(both.join("a.jsonl"), &whole).unwrap();
    std::fs::write(both.join("b.jsonl"), &forked).unwrap();
    let inputs = forkcast_replay::input::Inputs::read(&[both], Default::default()).unwrap();
    let alone = read(&whole);
    assert_eq!(sums(inputs.sessions.all()), sums(alone.sessions.all()));
}

#[test]
fn counts_that_contradict_each_other_are_refused_and_located() {
    let broken = text(FIXTURE).replacen("\"cached_input_tokens\":8900", "\"cached_input_tokens\":9900", 1);
    let inputs = read(&broken);
    let faults: Vec<_> = inputs.unreadable.iter().map(|fault| (fault.line, fault.reason.as_str())).collect();
    let reason = "`event_msg`: `input_tokens` is 9200, expected at least the 9900 read tokens that are part of it";
    assert_eq!(faults, [(15, reason)]);
    assert_eq!(counted(inputs.sessions.all()).len(), 3, "the request is kept without usage");
}

#[test]
fn two_records_on_one_line_are_taken_apart_and_a_broken_one_is_located() {
    let torn =
        text(FIXTURE).replacen("}}\n{\"timestamp\":\"2026-03-02T09:00:05", "}}{\"timestamp\":\"2026-03-02T09:00:05", 1);
    let inputs = read(&torn);
    assert_eq!(inputs.repaired.len(), 1);
    assert_eq!(
        (inputs.repaired[0].line, inputs.repaired[0].what.as_str()),
        (8, "2 records on one line were taken apart")
    );
    assert_eq!(sums(inputs.sessions.all()), sums(read(&text(FIXTURE)).sessions.all()));
    let cut = text(FIXTURE).trim_end().strip_suffix("\"}}").unwrap().to_owned();
    let inputs = read(&cut);
    assert_eq!(inputs.unreadable.iter().map(|fault| fault.line).collect::<Vec<_>>(), [23]);
}

#[test]
fn recorded_rollouts_have_the_sums_of_a_plain_walk() {
    let Some(inputs) = raw::inputs("codex-agentv") else { return };
    let (mut requests, mut repeats, mut expected) = (0, 0, [0; 5]);
    // Three sessions were recorded at several of their stages.
    let (mut known, mut sessions, mut prompts) = (BTreeSet::new(), BTreeSet::new(), 0);
    for (_, text) in raw::files("codex-agentv", &[".jsonl"]) {
        let (mut before, lines) = (None, raw::lines(&text));
        let session = raw::word(&lines[0], "/payload/id").to_owned();
        sessions.insert(session.clone());
        for line in lines {
            prompts += usize::from(raw::word(&line, "/payload/type") == "user_message");
            if raw::word(&line, "/payload/type") != "token_count" {
                continue;
            }
            let total = line.pointer("/payload/info/total_token_usage").cloned();
            if before == total {
                repeats += 1;
                continue;
            }
            requests += 1;
            let is_new = known.insert((session.clone(), total.clone().unwrap().to_string()));
            before = total;
            if !is_new {
                continue;
            }
            let last = |name: &str| raw::number(&line, &format!("/payload/info/last_token_usage/{name}"));
            let read = last("cached_input_tokens");
            let counts = [last("input_tokens") - read, read, 0, last("output_tokens"), last("reasoning_output_tokens")];
            expected = std::array::from_fn(|i| expected[i] + counts[i]);
        }
    }
    assert_eq!(sums(inputs.sessions.all()), (known.len(), expected));
    // The note counts two more rollouts that are not in the folder: 2,714 distinct and 51 repeated counts.
    assert_eq!((requests, repeats), (2692, 34));
    let share = expected[1] as f64 / (expected[0] + expected[1]) as f64;
    assert!((share - 0.947).abs() < 0.0015, "{share}");
    assert_eq!((inputs.sessions.len(), inputs.unreadable.len(), inputs.skipped.len()), (sessions.len(), 0, 2));
    let read: usize = inputs.sessions.all().iter().map(|session| inputs_of(session, InputOrigin::Prompt).len()).sum();
    eprintln!("{} requests, {read} prompts of {prompts}, sums {expected:?}", known.len());
}
