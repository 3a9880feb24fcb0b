//! Content repeated by several files counts once, independent of their names and order.

use forkcast_replay::formats::Format;
use forkcast_replay::transcript::{AgentKind, FileThreads, Session, Sessions};
use proptest::prelude::*;

use super::{FIXTURE, answer, answers, prompt, read};

fn file(name: &str, text: &str) -> FileThreads {
    FileThreads { scope: 0, file: name.into(), format: Format::ClaudeCode, threads: read(text).threads }
}

fn counted(sessions: &[Session]) -> Vec<(String, u64)> {
    let agents = sessions.iter().flat_map(|session| &session.agents);
    let found = agents.flat_map(|agent| answers(&agent.thread).into_iter().map(move |found| (agent, found)));
    found
        .filter(|(_, (_, answer))| !answer.copied)
        .map(|(agent, (_, answer))| (agent.file.to_string(), answer.usage.unwrap().usage.output_tokens))
        .collect()
}

/// A session, the one that resumes it, and a third that holds a larger count of the first answer.
fn files() -> Vec<FileThreads> {
    let first = format!("{}\n{}\n", prompt(1, 0), answer("a", 2, 1, 5));
    let resumed = format!("{first}{}\n{}\n", prompt(3, 2), answer("b", 4, 3, 6))
        .replace("\"sessionId\":\"s\"", "\"sessionId\":\"t\"");
    let late = first
        .replace("\"output_tokens\":5", "\"output_tokens\":50")
        .replace("\"sessionId\":\"s\"", "\"sessionId\":\"u\"");
    vec![file("p/s.jsonl", &first), file("p/t.jsonl", &resumed), file("p/u.jsonl", &late)]
}

#[test]
fn of_copies_the_one_with_the_largest_output_counts() {
    let sessions = Sessions::of(files());
    let sessions = sessions.all();
    assert_eq!(counted(sessions), [("p/t.jsonl".to_owned(), 6), ("p/u.jsonl".to_owned(), 50)]);
    // The others stay as history.
    assert_eq!(answers(&sessions[1].agents[0].thread).len(), 2);
}

#[test]
fn answers_older_than_their_file_are_said_to_be_copies() {
    let own = format!("{}\n{}\n", prompt(1, 0), answer("a", 2, 1, 5));
    assert_eq!(read(&own).notes, [""; 0]);
    let begun =
        r#"{"type":"queue-operation","operation":"dequeue","sessionId":"s","timestamp":"2030-01-01T00:00:00.000Z"}"#;
    let [note] = &read(format!("{begun}\n{own}")).notes[..] else { panic!("one note") };
    assert!(
        note.starts_with("1 answer is older than the file: copied from the session that this one resumes"),
        "{note}"
    );
}

/// The session and the one that resumes it, under these names.
fn resumed(names: [&str; 2]) -> Vec<FileThreads> {
    let mut two = files();
    two.truncate(2);
    two.iter_mut().zip(names).for_each(|(file, name)| file.file = name.into());
    two
}

#[test]
fn of_equal_copies_the_one_in_the_conversation_that_ended_first_counts() {
    for names in [["p/s.jsonl", "p/t.jsonl"], ["z.jsonl", "a/b.jsonl"]] {
        let mut found = counted(Sessions::of(resumed(names)).all());
        found.sort_by_key(|(_, output)| *output);
        assert_eq!(found, [(names[0].to_owned(), 5), (names[1].to_owned(), 6)]);
    }
}

#[test]
fn of_equal_copies_the_one_with_more_before_it_in_its_file_counts() {
    let enqueued = "{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"timestamp\":\"2026-07-24T04:57:00.000Z\",\"sessionId\":\"t\"}\n";
    for names in [["p/s.jsonl", "p/t.jsonl"], ["z.jsonl", "a/b.jsonl"]] {
        let mut two = resumed(names);
        let later = format!("{}\n{}\n{}\n{}\n", prompt(1, 0), answer("a", 2, 1, 5), prompt(3, 2), answer("b", 4, 3, 6));
        two[1].threads =
            read(format!("{enqueued}{}", later.replace("\"sessionId\":\"s\"", "\"sessionId\":\"t\""))).threads;
        assert_eq!(counted(Sessions::of(two).all()), [(names[1].to_owned(), 5), (names[1].to_owned(), 6)]);
    }
}

/// Answers without ids, in a session without one.
fn nameless() -> String {
    let without = |line: String| line.replace("\"id\":\"a\",", "").replace("\"sessionId\":\"s\",", "");
    format!("{}\n{}\n", without(prompt(1, 0)), without(answer("a", 2, 1, 5)))
}

#[test]
fn answers_without_ids_are_copies_if_the_whole_file_is_one() {
    let other = nameless().replace("\"output_tokens\":5", "\"output_tokens\":7");
    let sessions =
        Sessions::of([file("a/x.jsonl", &nameless()), file("b/y.jsonl", &nameless()), file("x.jsonl", &other)]);
    let mut outputs: Vec<u64> = counted(sessions.all()).into_iter().map(|(_, output)| output).collect();
    outputs.sort_unstable();
    assert_eq!(outputs, [5, 7]);
}

#[test]
fn files_without_a_session_id_are_sessions_of_their_own_whatever_they_are_called() {
    let other = nameless().replace("\"output_tokens\":5", "\"output_tokens\":7");
    for names in [["a/x.jsonl", "b/x.jsonl"], ["a/x.jsonl", "a/y.jsonl"]] {
        let sessions = Sessions::of([file(names[0], &nameless()), file(names[1], &other)]);
        assert_eq!(sessions.len(), 2);
        let ids: Vec<&str> = sessions.all().iter().map(|session| &*session.id).collect();
        assert_eq!(ids, if names[1] == "b/x.jsonl" { ["x", "x~2"] } else { ["x", "y"] });
    }
}

/// The file of the fixture's sub-agent: one more answer than the lines of progress show, and a larger count.
fn own_file() -> String {
    let side = |line: String| {
        line.replace("\"isSidechain\":false", "\"isSidechain\":true,\"agentId\":\"a1b2c3d\"")
            .replace("\"sessionId\":\"s\"", "\"sessionId\":\"5e5510a0-0000-4000-a000-000000000001\"")
    };
    let known = answer("msg_s", 2, 1, 1);
    [prompt(1, 0), known, prompt(3, 2), answer("msg_t", 4, 3, 8)].map(side).join("\n")
}

#[test]
fn a_sub_agent_with_a_file_of_its_own_is_one_agent() {
    let files = || vec![file("p/5e.jsonl", FIXTURE), file("p/5e/subagents/agent-a1b2c3d.jsonl", &own_file())];
    let sessions = Sessions::of(files());
    let sessions = sessions.all();
    assert_eq!(sessions.len(), 1);
    let agents = &sessions[0].agents;
    assert_eq!(agents.len(), 2);
    assert_eq!(&*agents[1].file, "p/5e/subagents/agent-a1b2c3d.jsonl");
    assert_eq!(agents[1].parent, Some(0));
    assert!(matches!(&agents[1].kind, AgentKind::Named { name: Some(name), .. } if &**name == "Explore"));
    // The larger of the two outputs, 2 in the caller's file and 1 in its own, and the answer that only its own file has.
    let outputs: Vec<u64> =
        answers(&agents[1].thread).iter().map(|(_, a)| a.usage.unwrap().usage.output_tokens).collect();
    assert_eq!(outputs, [2, 8]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_in_which_files_are_read_changes_nothing(order in Just((0..5).collect::<Vec<usize>>()).prop_shuffle()) {
        let all = || {
            let mut all = files();
            all.push(file("p/5e.jsonl", FIXTURE));
            all.push(file("p/5e/subagents/agent-a1b2c3d.jsonl", &own_file()));
            all
        };
        let mut shuffled: Vec<Option<FileThreads>> = all().into_iter().map(Some).collect();
        let shuffled = order.iter().map(|at| shuffled[*at].take().unwrap());
        prop_assert_eq!(format!("{:?}", Sessions::of(shuffled).all()), format!("{:?}", Sessions::of(all()).all()));
    }
}
