//! Exports and the storage of OpenCode.

use std::fs;
use std::path::Path;

use forkcast_replay::formats::Format;
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::transcript::{InputOrigin, Sign, Stop};
use serde_json::Value;

use super::{clean, counted, counts, inputs_of, read, signs, sums, text};

const FIXTURE: &str = "opencode.json";

#[test]
fn each_step_of_a_message_is_a_request() {
    let inputs = clean(FIXTURE, Format::OpenCode);
    let [session] = inputs.sessions.all() else { panic!("one session") };
    assert_eq!((&*session.id, session.format), ("ses_1", Format::OpenCode));
    assert_eq!((session.user.as_deref(), session.project.as_deref()), (Some("/home/ada"), Some("/home/ada/loom")));
    let answers = counted(inputs.sessions.all());
    let usage: Vec<_> = answers.iter().map(|answer| answer.usage.as_ref().map(counts)).collect();
    // In the first step reasoning is not part of the output, in the second it is, as its total shows.
    let expected = [Some([3, 0, 9000, 75, 15]), Some([4, 9000, 50, 35, 5]), Some([2, 9050, 0, 9, 0]), None];
    assert_eq!(usage, expected);
    let costs: Vec<String> =
        answers.iter().filter_map(|answer| Some(answer.usage?.reported_cost?.to_string())).collect();
    assert_eq!(costs, ["0.02", "0.01", "0.005"]);
    let stops: Vec<Stop> = answers.iter().map(|answer| answer.stop).collect();
    assert_eq!(stops, [Stop::ToolUse, Stop::EndTurn, Stop::Other, Stop::Other]);
    let models: Vec<&str> = answers.iter().map(|answer| &*answer.model).collect();
    assert_eq!(models, ["claude-opus-4-8", "claude-opus-4-8", "anthropic/claude-opus-4.8", "claude-opus-4-8"]);
}

#[test]
fn a_task_names_its_sub_agent_and_its_result_follows() {
    let inputs = clean(FIXTURE, Format::OpenCode);
    let session = &inputs.sessions.all()[0];
    let answers = counted(inputs.sessions.all());
    let spawn = answers[0].calls[0].spawn.as_ref().unwrap();
    assert_eq!(spawn.kind.as_deref(), Some("general"));
    let agents: Vec<&str> = signs(session)
        .filter_map(|sign| if let Sign::Spawned(result) = sign { Some(&*result.agent) } else { None })
        .collect();
    assert_eq!(agents, ["ses_2"]);
    assert_eq!(inputs_of(session, InputOrigin::ToolResults)[0].parts[0].call, answers[0].calls[0].id);
}

#[test]
fn a_compaction_follows_the_request_that_made_it() {
    let inputs = clean(FIXTURE, Format::OpenCode);
    let session = &inputs.sessions.all()[0];
    assert!(signs(session).any(|sign| matches!(sign, Sign::Compacted { automatic: true, .. })));
    assert!(signs(session).any(|sign| matches!(sign, Sign::Interrupted)));
    assert_eq!(inputs_of(session, InputOrigin::Summary).len(), 1);
}

#[test]
fn a_child_session_belongs_to_its_parent() {
    let child = text(FIXTURE).replacen("\"id\": \"ses_1\"", "\"id\": \"ses_2\", \"parentID\": \"ses_1\"", 1);
    let inputs = read(&child);
    let session = &inputs.sessions.all()[0];
    assert_eq!((&*session.id, &*session.agents[0].id), ("ses_1", "ses_2"));
}

#[test]
fn an_invalid_message_is_located() {
    let broken = text(FIXTURE).replacen("\"output\": 60", "\"output\": \"60\"", 1);
    let inputs = read(&broken);
    assert_eq!(inputs.unreadable.len(), 1);
    assert!(inputs.unreadable[0].reason.starts_with("part: found a text of 2 characters"), "{:?}", inputs.unreadable);
    let cut = text(FIXTURE);
    let inputs = read(&cut[..cut.find("msg_4").unwrap()]);
    assert_eq!((counted(inputs.sessions.all()).len(), inputs.unreadable.len()), (2, 1));
}

/// The fixture as files of the storage, below `folder`.
fn stored(folder: &Path) {
    let export: Value = serde_json::from_str(&text(FIXTURE)).unwrap();
    let write = |path: String, value: &Value| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, value.to_string()).unwrap();
    };
    write("session/p1/ses_1.json".to_owned(), &export["info"]);
    for (at, message) in export["messages"].as_array().unwrap().iter().enumerate() {
        write(format!("message/ses_1/msg_{at:03}.json"), &message["info"]);
        for (part, value) in message["parts"].as_array().unwrap().iter().enumerate() {
            write(format!("part/msg_{at:03}/prt_{part:03}.json"), value);
        }
    }
}

#[test]
fn the_storage_of_a_session_counts_as_its_export() {
    let folder = tempfile::tempdir().unwrap();
    stored(folder.path());
    let inputs = Inputs::read(&[folder.path()], InputFormat::Auto).unwrap();
    assert_eq!((&inputs.unreadable, &inputs.repaired), (&vec![], &vec![]));
    let read: usize = inputs.scopes.iter().map(|scope| scope.files.len()).sum();
    assert_eq!(read, 1, "messages and parts are read with their session");
    let exported = clean(FIXTURE, Format::OpenCode);
    assert_eq!(sums(inputs.sessions.all()), sums(exported.sessions.all()));
    let texts = |inputs: &Inputs| inputs_of(&inputs.sessions.all()[0], InputOrigin::ToolResults).len();
    assert_eq!(texts(&inputs), texts(&exported));
}
