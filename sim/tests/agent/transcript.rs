//! Transcripts, output files and progress are three separate things (TRANSCRIPT).

use std::rc::Rc;

use forkcast_sim::agent::entry::{Entry, NamedCall, Nature};
use forkcast_sim::agent::transcript::Unreadable;
use forkcast_sim::agent::{Context, Event, Session, input};
use forkcast_sim::wire::{Message, Piece, Role, Usage};
use serde_json::{Value, json};

use super::background::all_done;
use super::clocked::{Played, Stage, call, main_agent, says, spawn, spawn_behind, text, wait};

fn looking_round(first: super::clocked::Reply) -> Stage {
    Stage::new()
        .says("main", vec![first, text("done"), text("well")])
        .says(
            "general-purpose",
            vec![
                call("Bash", json!({ "command": "ls", "description": "list" })).saying("one").after(1_000),
                text("two").after(1_000),
            ],
        )
        .command("ls", "a", 400)
}

fn go(stage: Stage) -> Played<()> {
    stage.play(|session| async move {
        let main = main_agent(&session);
        session.front.type_line(&session, "go");
        input::headless(main).await;
    })
}

fn front() -> Played<()> {
    go(looking_round(spawn("general-purpose", "look round")))
}

fn behind() -> Played<()> {
    go(looking_round(spawn_behind("general-purpose", "look round")))
}

/// The parts of an entry, for comparison.
type Parts = (String, Vec<String>, Vec<NamedCall>, Vec<Rc<str>>, String, Nature, Usage);

fn parts(entry: &Entry) -> Parts {
    let content = entry.message.content.iter().map(|piece| piece.json().to_owned()).collect();
    let (tool_uses, answers) = (entry.tool_uses.to_vec(), entry.answers.to_vec());
    (entry.uuid.to_string(), content, tool_uses, answers, entry.text.to_string(), entry.nature, entry.usage)
}

fn lines(session: &Session, agent: &str) -> Vec<Value> {
    let text = session.world.files.read(&session.transcripts.path(agent)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn transcript_01_transcript_09_progress_result_and_log_are_three_things() {
    let played = front();
    let child = played.agents()[0].clone();
    let task = played.session.tasks.get(&child).unwrap();
    let output = played.session.world.files.read(&task.output_file).unwrap();
    assert_eq!(&*output, "one\ntwo\n[completed]\n");
    assert_ne!(played.session.transcripts.path(&child), task.output_file);
    assert_eq!(lines(&played.session, &child).len(), 4, "the prompt, two answers and a result");
    assert!(played.results()[0]["content"].as_str().unwrap().starts_with("two"));
    assert!(played.count(|event| matches!(event, Event::Ui { kind: "progress", .. })) > 0);
}

#[test]
fn transcript_02_a_foreground_childs_progress_is_shown_while_the_call_waits() {
    let played = front();
    let shown = played.at(|event| matches!(event, Event::Ui { kind: "progress", .. }));
    assert_eq!(shown, 1_000, "the call returns at 2,400");
}

#[test]
fn transcript_03_a_background_agents_progress_is_kept_in_its_task_and_not_shown() {
    let played = looking_round(spawn_behind("general-purpose", "look round")).play(|session| async move {
        says(&main_agent(&session), "go").await;
        wait(&session, 1_500).await;
        let progress = session.tasks.all()[0].progress.get();
        (progress.messages, progress.tool_uses)
    });
    assert_eq!(played.value, (2, 1));
    assert_eq!(played.count(|event| matches!(event, Event::Ui { kind: "progress", .. })), 0);
}

#[test]
fn transcript_04_the_output_file_is_written_in_foreground_and_background_and_can_be_read() {
    for played in [front(), behind()] {
        let task = played.session.tasks.get(&played.agents()[0]).unwrap();
        let output = played.session.world.files.read(&task.output_file).unwrap();
        assert_eq!(&*output, "one\ntwo\n[completed]\n");
    }
    let reading = looking_round(spawn_behind("general-purpose", "look round")).play(|session| async move {
        let main = main_agent(&session);
        says(&main, "go").await;
        wait(&session, 1_500).await;
        let file = session.tasks.all()[0].output_file.clone();
        super::clocked::use_tool(&main, "Read", json!({ "file_path": &*file })).await.unwrap().content.text()
    });
    assert!(reading.value.contains("one") && !reading.value.contains("two"), "the transcript so far");
}

#[test]
fn transcript_05_a_sub_agent_has_its_own_side_chain_in_foreground_and_background() {
    for played in [front(), behind()] {
        let child = played.agents()[0].clone();
        let path = played.session.transcripts.path(&child);
        assert_eq!(&*path, format!("/home/user/.claude/projects/-repo/session-1/subagents/{child}.jsonl"));
        let own = lines(&played.session, &child);
        assert!(own.iter().all(|line| line["isSidechain"] == true && line["agentId"] == *child));
        let natures: Vec<&str> = own.iter().map(|line| line["nature"].as_str().unwrap()).collect();
        assert_eq!(natures, ["typed", "said", "results", "said"]);
        let parents: Vec<&Value> = own.iter().map(|line| &line["parentUuid"]).collect();
        let ids: Vec<&Value> = own.iter().map(|line| &line["uuid"]).collect();
        assert_eq!(parents[1..], ids[..3], "a chain");
        assert!(parents[0].is_null());
    }
}

#[test]
fn transcript_06_a_log_replays_to_the_same_messages() {
    let played = Stage::new().play(|session| async move {
        let main = main_agent(&session);
        for entry in odd_entries(&session) {
            main.record(&entry);
            main.entries.borrow_mut().push(entry);
        }
        let kept: Vec<_> = main.entries.borrow().iter().map(|entry| parts(entry)).collect();
        let replayed = session.transcripts.replay("main").unwrap();
        let sizes = replayed[0].message.content[0].declared_tokens();
        assert_eq!(lines(&session, "main").len(), kept.len(), "a line for each");
        (kept, replayed.iter().map(|entry| parts(entry)).collect::<Vec<_>>(), sizes)
    });
    let (kept, replayed, sizes) = played.value;
    assert_eq!(kept, replayed);
    assert_eq!(sizes, Some(70), "a declared size counts in the next request too");
}

/// Messages with everything that could get lost.
fn odd_entries(session: &Session) -> Vec<Rc<Entry>> {
    let id = || session.ids.next("entry");
    let reminder = "<system-reminder>\"quoted\"\\ and\nnext line \u{2028} ü</system-reminder>";
    let first = vec![Piece::text(reminder).sized(70), Piece::text("the prompt")];
    let input = "{\"b\": 1,\n \"a\": [true, null, 1.50]}";
    let said = vec![
        Piece::thinking("hm", "signed"),
        Piece::text("one"),
        Piece::text("two"),
        Piece::tool_use_raw("t1", "Odd", &input.replace('\n', " ")),
    ];
    let usage = Usage {
        input_tokens: 1,
        cache_read_input_tokens: 2,
        ephemeral_5m_input_tokens: 3,
        ephemeral_1h_input_tokens: 4,
        output_tokens: 5,
    };
    let said = Entry {
        uuid: id(),
        message: Rc::new(Message { role: Role::Assistant, content: said.into() }),
        tool_uses: vec![NamedCall { id: "t1".into(), name: "Odd".into() }].into(),
        answers: Rc::default(),
        text: "onetwo".into(),
        nature: Nature::Said,
        usage,
    };
    vec![
        Entry::of(id(), Role::User, first, "the prompt", Nature::Typed),
        Rc::new(said),
        Entry::results(id(), vec![("t1".into(), Piece::tool_result("t1", "no \"tool_use\" here", true))]),
        Entry::user(id(), "a notification", Nature::Inserted),
        Entry::of(id(), Role::Assistant, vec![Piece::text("HTTP 529")], "HTTP 529", Nature::ApiError),
    ]
}

#[test]
fn transcript_06_unreadable_lines_are_reported_with_their_place() {
    let played = Stage::new().play(|session| async move {
        let main: Rc<Context> = main_agent(&session);
        let nobody = session.transcripts.replay("nobody").err().unwrap().to_string();
        main.record(&Entry::user("e1".into(), "hello", Nature::Typed));
        let file = session.transcripts.path("main");
        session.world.files.append(&file, "{\"uuid\":\"e2\",\"nature\":\"sung\",\"message\":{\"content\":[]}}\n");
        let nature = session.transcripts.replay("main").err().unwrap();
        session.world.files.write(&file, "what?\n");
        (nobody, nature, session.transcripts.replay("main").err().unwrap().to_string())
    });
    let (nobody, nature, words) = played.value;
    assert_eq!(nobody, "agent `nobody` has no transcript");
    let Unreadable::Line { line, found, .. } = nature else { panic!("{nature}") };
    assert_eq!((line, &*found), (2, "the nature `sung`"));
    assert!(words.starts_with("/home/user/.claude/projects/-repo/session-1.jsonl, line 1: found "), "{words}");
}

#[test]
fn transcript_07_a_message_is_recorded_before_it_is_passed_on() {
    for played in [front(), behind()] {
        let child = played.agents()[0].clone();
        let written = played
            .place(|event| matches!(event, Event::TranscriptAppend { agent, kind: "said", .. } if *agent == child));
        let used = played.place(|event| matches!(event, Event::ToolEnd { agent, .. } if *agent == child));
        assert!(written < used);
        let entries = played.session.transcripts.replay(&child).unwrap();
        assert_eq!(entries.len(), 4, "as many as were produced");
    }
    let shown = front();
    let child = shown.agents()[0].clone();
    let written =
        shown.place(|event| matches!(event, Event::TranscriptAppend { agent, kind: "said", .. } if *agent == child));
    let raced = shown.place(|event| matches!(event, Event::Race { .. }));
    assert!(written < raced);
}

#[test]
fn transcript_07_a_withdrawn_message_is_gone() {
    let played = Stage::new().play(|session| async move {
        let main = main_agent(&session);
        for (uuid, words) in [("e1", "hello"), ("e2", "broken"), ("e3", "again")] {
            main.record(&Entry::user(uuid.into(), words, Nature::Typed));
        }
        main.strike(&"e2".into());
        let replayed = session.transcripts.replay("main").unwrap();
        replayed.iter().map(|entry| entry.text.to_string()).collect::<Vec<_>>()
    });
    assert_eq!(played.value, ["hello", "again"]);
}

#[test]
fn transcript_08_tasks_are_known_by_state_and_place() {
    let played = looking_round(spawn("general-purpose", "look round")).play(|session| async move {
        let main = main_agent(&session);
        let turn = session.handle.spawn("main", async move { drop(says(&main, "go").await) });
        wait(&session, 500).await;
        let seen = (session.tasks.in_foreground().len(), session.tasks.running());
        turn.await.unwrap();
        all_done(&session).await;
        (seen, session.tasks.in_foreground().len())
    });
    assert_eq!(played.value, ((1, 0), 0));
    let task = played.session.tasks.all()[0].clone();
    assert_eq!((task.state().name(), task.kind.name(), &*task.description), ("completed", "agent", "do a thing"));
}

#[test]
fn transcript_10_the_main_conversation_is_recorded_too() {
    let played = front();
    let own = lines(&played.session, "main");
    let natures: Vec<&str> = own.iter().map(|line| line["nature"].as_str().unwrap()).collect();
    assert_eq!(natures, ["typed", "said", "results", "said"]);
    assert!(own.iter().all(|line| line["isSidechain"] == false));
}
