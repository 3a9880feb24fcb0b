//! Rounds of TraceLab.

use std::collections::BTreeSet;

use forkcast_fixtures::beside;
use forkcast_replay::formats::Format;
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::transcript::{InputOrigin, Stop};

use super::{clean, counted, counts, inputs_of, raw, read, sums, text};

const FIXTURE: &str = "tracelab.jsonl";

#[test]
fn rounds_are_requests_of_their_sessions() {
    let inputs = clean(FIXTURE, Format::TraceLab);
    let ids: Vec<&str> = inputs.sessions.all().iter().map(|session| &*session.id).collect();
    assert_eq!(ids, ["claude:s1", "codex:s2"]);
    assert!(inputs.sessions.all().iter().all(|session| session.format == Format::TraceLab));
    let answers = counted(inputs.sessions.all());
    let usage: Vec<_> = answers.iter().map(|answer| counts(answer.usage.as_ref().unwrap())).collect();
    assert_eq!(usage, [[20, 3000, 1980, 90, 0], [2, 5000, 198, 30, 0], [600, 300, 0, 50, 20]]);
    let stops: Vec<Stop> = answers.iter().map(|answer| answer.stop).collect();
    assert_eq!(stops, [Stop::ToolUse, Stop::EndTurn, Stop::EndTurn]);
    assert_eq!(inputs_of(&inputs.sessions.all()[0], InputOrigin::ToolResults)[0].parts[0].call, answers[0].calls[0].id);
    assert_eq!(inputs.sessions.all()[1].user.as_deref(), Some("/home/ada"));
}

#[test]
fn a_total_that_is_not_its_parts_is_refused_and_located() {
    let broken = text(FIXTURE).replace("\"input_tokens_total\":5200", "\"input_tokens_total\":5201");
    let faults: Vec<_> = read(&broken).unreadable.into_iter().map(|fault| (fault.line, fault.reason)).collect();
    assert_eq!(faults, [(3, "`input_tokens_total` is 5201, expected 5200, the sum of its parts".to_owned())]);
}

#[test]
fn a_file_printed_for_human_eyes_is_the_same_file() {
    let rows: Vec<String> =
        raw::lines(&text(FIXTURE)).iter().map(|row| serde_json::to_string_pretty(row).unwrap()).collect();
    let shown = format!("# Shown.\n\n===== round 0001 =====\n{}\n", rows.join("\n\n===== round =====\n"));
    let inputs = read(&shown);
    assert_eq!(inputs.scopes[0].files[0].format, Format::TraceLab);
    assert_eq!(sums(inputs.sessions.all()), sums(read(&text(FIXTURE)).sessions.all()));
}

#[test]
fn examples_shown_and_raw_are_read() {
    let Some(inputs) = raw::inputs("tracelab-examples") else { return };
    let formats: Vec<Format> = inputs.scopes[0].files.iter().map(|file| file.format).collect();
    let count = |format| formats.iter().filter(|found| **found == format).count();
    assert_eq!((count(Format::ClaudeCode), count(Format::Codex), count(Format::TraceLab)), (1, 1, 4));
    assert_eq!(inputs.unreadable, []);
}

/// The rounds of a rollout have its counts and no ids: they are the same requests. The third request has no usage, so no round.
#[test]
fn rounds_and_their_rollout_count_once() {
    let rollout = text("codex.jsonl");
    let round = |index: u64, [whole, read, output, reasoning]: [u64; 4]| {
        let appended = whole - read;
        format!(
            r#"{{"provider":"codex","session_id":"codex:0195a000-0000-7000-8000-000000000001","round_index":{index},"round_id":"t1:{index}","model":"gpt-5.5","input_tokens_total":{whole},"prefix_tokens":{read},"newly_append_tokens":{appended},"output_tokens":{output},"reasoning_output_tokens":{reasoning},"timing_events":[]}}"#
        )
    };
    let rounds = [round(0, [9000, 2000, 120, 70]), round(1, [9200, 8900, 30, 0])].join("\n");
    let others = rounds.replace("000000000001", "000000000002");
    let count = |files: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        for (at, text) in files.iter().enumerate() {
            std::fs::write(folder.path().join(format!("{at}.jsonl")), text).unwrap();
        }
        counted(Inputs::read(&[folder.path()], InputFormat::Auto).unwrap().sessions.all()).len()
    };
    assert_eq!([count(&[&rollout]), count(&[&rounds]), count(&[&rollout, &rounds])], [3, 2, 3]);
    assert_eq!(count(&[&rollout, &others]), 5, "of another session");
}

#[test]
fn recorded_rounds_have_the_sums_of_a_plain_walk() {
    let Some(folder) = beside("tracelab-examples") else { return };
    for kind in ["derived", "sanitized"] {
        let file = folder.join("example_sessions").join(kind).join("round_trace.jsonl");
        let inputs = Inputs::read(&[&file], InputFormat::Auto).unwrap();
        let (mut rounds, mut expected, mut sessions) = (0, [0; 5], BTreeSet::new());
        for line in raw::lines(&std::fs::read_to_string(&file).unwrap()) {
            let count = |name: &str| raw::number(&line, &format!("/{name}"));
            let (read, written) = (count("prefix_tokens"), count("claude_cache_creation_input_tokens"));
            let counts = [
                count("newly_append_tokens") - written,
                read,
                written,
                count("output_tokens"),
                count("reasoning_output_tokens"),
            ];
            rounds += 1;
            sessions.insert(raw::word(&line, "/session_id").to_owned());
            expected = std::array::from_fn(|i| expected[i] + counts[i]);
        }
        assert_eq!(rounds, 19, "as noted with the recordings");
        assert_eq!(
            (sums(inputs.sessions.all()), inputs.sessions.len()),
            ((rounds, expected), sessions.len()),
            "{kind}"
        );
        assert_eq!((counted(inputs.sessions.all()).len(), inputs.unreadable.len()), (19, 0));
    }
}
