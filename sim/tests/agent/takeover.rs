//! From foreground to background, without loss or repetition (SYNC-08..11, TRANSCRIPT-07, LIFE-04, LIFE-05).

use std::rc::Rc;

use forkcast_sim::agent::hook::{Hook, HookSays, Hooks, Moment, Word};
use forkcast_sim::agent::query::Reason;
use forkcast_sim::agent::task::State;
use forkcast_sim::agent::{Event, Session};
use forkcast_sim::model::Question;
use forkcast_sim::time::Duration;
use forkcast_sim::wire::{Piece, Role};
use serde_json::{Value, json};

use super::clocked::{Played, Stage, background_all, blocks, call, main_agent, results, says, spawn, text, wait};

/// Plays `stage`, moves the child to the background after `ms`, and waits for its end.
fn switched(stage: Stage, ms: u64) -> Played<Rc<Session>> {
    stage.play(move |session| async move {
        let main = main_agent(&session);
        let turn = session.handle.spawn("main", async move { drop(says(&main, "go").await) });
        wait(&session, ms).await;
        background_all(&session);
        turn.await.unwrap();
        while session.tasks.running() > 0 {
            session.tasks.changed().await;
        }
        session
    })
}

/// A child that makes a one-minute call between two answers.
fn working() -> Stage {
    Stage::new()
        .says("main", vec![spawn("general-purpose", "work"), text("done")])
        .says(
            "general-purpose",
            vec![
                call("Glob", json!({ "pattern": "*" })).saying("first").after(1_000),
                call("Bash", json!({ "command": "make", "description": "build" })).saying("second").after(1_000),
                text("third").after(1_000),
            ],
        )
        .command("make", "built", 60_000)
}

/// The content of the child's requests as words: texts, calls and results.
fn words(blocks: &[Value]) -> Vec<String> {
    let word = |block: &Value| match block["type"].as_str() {
        Some("text") => block["text"].as_str().map(str::to_owned),
        Some("tool_use") => Some(format!("call {}", block["id"].as_str()?)),
        Some("tool_result") => Some(format!("result {}", block["tool_use_id"].as_str()?)),
        _ => None,
    };
    blocks.iter().filter_map(word).filter(|word| !word.starts_with("<system-reminder>")).collect()
}

const WHOLE: [&str; 7] = [
    "work",
    "first",
    "call general-purpose-0-1",
    "result general-purpose-0-1",
    "second",
    "call general-purpose-1-1",
    "result general-purpose-1-1",
];

#[test]
fn sync_08_the_foreground_run_ends_through_its_return_path() {
    let played = switched(working(), 500);
    let child = &played.agents()[0];
    let takeover = played.place(|event| matches!(event, Event::Takeover { .. }));
    let tidied = played.place(|event| matches!(event, Event::Cleanup { step: "clear_dump_state", .. }));
    let again = played.log.iter().rposition(|(_, event)| matches!(event, Event::AgentStarted { .. })).unwrap();
    assert!(tidied < takeover && takeover < again, "{tidied} {takeover} {again}");
    let started = played.find(|event| match event {
        Event::AgentStarted { agent, is_async, .. } => Some((agent.clone(), *is_async)),
        _ => None,
    });
    assert_eq!(started, [(child.clone(), false), (child.clone(), true)]);
}

#[test]
fn sync_09_sync_10_no_message_is_lost_or_repeated_whenever_the_signal_comes() {
    // In the first request, in the second one, in the tool, in the third request.
    for ms in [500, 1_500, 30_000, 62_500] {
        let played = switched(working(), ms);
        let child = played.asked_by("general-purpose");
        let last = child.last().unwrap();
        assert_eq!(words(&blocks(last)), WHOLE, "switched after {ms} ms");
        assert!(child.iter().all(|question| question.agent == child[0].agent), "one id");
        assert!(last.draft.messages.last().is_some_and(|message| message.role == Role::User));
        let said = played.find(|event| match event {
            Event::TranscriptAppend { kind: "said", agent, .. } if *agent == child[0].agent => Some(()),
            _ => None,
        });
        assert_eq!(said.len(), 3, "each answer is written once");
        assert_eq!(played.notifications().len(), 1);
    }
}

#[test]
fn sync_09_turns_continue_to_count() {
    let played = switched(working(), 30_000);
    let turns: Vec<u32> = played.asked_by("general-purpose").iter().map(|question| question.turn).collect();
    assert_eq!(turns, [0, 1, 2]);
    let bounded = || {
        let mut stage = working().agent("bounded", "maxTurns: 2");
        stage = stage.says("main", vec![spawn("bounded", "work"), text("done")]);
        let replies = || vec![call("Glob", json!({ "pattern": "*" })).after(1_000); 5];
        stage.says("bounded", replies())
    };
    let played = switched(bounded(), 1_500);
    assert_eq!(played.asked_by("bounded").len(), 3, "the one that was cut off is asked again, and no fourth");
}

#[test]
fn sync_10_interrupted_work_is_done_again_and_answered_once() {
    let played = switched(working(), 30_000);
    let made = played.find(|event| match event {
        Event::ToolStart { tool_use, .. } if &**tool_use == "general-purpose-1-1" => Some(()),
        _ => None,
    });
    assert_eq!(made.len(), 2);
    assert_eq!(played.at(|event| matches!(event, Event::Notified { .. })), 30_000 + 60_000 + 1_000);
    let last = *played.asked_by("general-purpose").last().unwrap();
    let answers = results(last).into_iter().filter(|result| result["tool_use_id"] == "general-purpose-1-1");
    assert_eq!(answers.map(|result| result["content"].clone()).collect::<Vec<_>>(), [json!("built")]);
}

#[test]
fn sync_10_a_result_of_an_interrupted_message_is_dropped() {
    // The tool has ended while the message of its call is still arriving, and the signal comes before the message is
    // complete.
    let stage = working().says(
        "general-purpose",
        vec![call("Glob", json!({ "pattern": "*" })).held(10_000), text("third").after(1_000)],
    );
    let played = switched(stage, 5_000);
    assert_eq!(played.count(|event| matches!(event, Event::TranscriptAppend { kind: "tombstone", .. })), 1);
    let child = played.agents()[0].clone();
    let entries = played.session.transcripts.replay(&child).unwrap();
    let answers = entries.iter().flat_map(|entry| entry.answers.iter()).count();
    assert_eq!((entries.len(), answers), (4, 1), "the prompt, two answers and a result");
    assert_eq!(results(played.asked_by("general-purpose").last().unwrap()).len(), 1);
}

#[test]
fn sync_09_an_agent_with_a_complete_last_message_only_ends() {
    let mut stage = Stage::new()
        .says("main", vec![spawn("general-purpose", "work"), text("done")])
        .says("general-purpose", vec![text("third").after(1_000)]);
    // A hook delays the end by ten seconds, and the signal comes meanwhile.
    let says = HookSays { after: Duration::from_millis(10_000), word: Word::Nothing };
    stage.hooks = Hooks::new(vec![Hook::new("slow", Moment::Stop, vec![says])]);
    let played = switched(stage, 5_000);
    assert_eq!(played.asked_by("general-purpose").len(), 1, "nothing is asked again");
    let told = played.notifications();
    assert!(told[0].contains("<status>completed</status>") && told[0].contains("<result>third</result>"), "{told:?}");
}

#[test]
fn sync_11_the_call_reports_the_launch_and_the_end_is_reported_later() {
    let played = switched(working(), 30_000);
    let statuses = played.find(|event| match event {
        Event::AgentResult { status, tool_use, .. } => Some((*status, tool_use.to_string())),
        _ => None,
    });
    assert_eq!(statuses, [("async_launched", "main-0-1".to_owned())]);
    let told = played.notifications();
    assert!(told[0].contains("<tool-use-id>main-0-1</tool-use-id>"));
    assert!(told[0].contains("<result>third</result>"));
    assert!(told[0].contains("<tool_uses>2</tool_uses><duration_ms>91000</duration_ms>"), "{}", told[0]);
    assert!(told[0].contains("<total_tokens>330</total_tokens>"), "{}", told[0]);
}

#[test]
fn sync_09_task_directory_and_read_files_pass_to_the_new_run() {
    let stage = working().file("/repo/app/a.txt", "a").says(
        "main",
        vec![
            call(
                "Agent",
                json!({ "description": "d", "prompt": "work", "subagent_type": "general-purpose", "cwd": "/repo/app" }),
            ),
            text("done"),
        ],
    );
    let stage = stage.says(
        "general-purpose",
        vec![
            call("Read", json!({ "file_path": "/repo/app/a.txt" })).after(1_000),
            call("Edit", json!({ "file_path": "/repo/app/a.txt", "old_string": "a", "new_string": "b" })).after(1_000),
            text("third"),
        ],
    );
    let played = switched(stage, 1_500);
    let contexts = played.find(|event| match event {
        Event::ContextCreated { cwd, is_async, read_files, .. } => Some((cwd.to_string(), *is_async, *read_files)),
        _ => None,
    });
    assert_eq!(contexts, [("/repo/app".to_owned(), false, 0), ("/repo/app".to_owned(), true, 1)]);
    assert_eq!(
        played.session.world.files.read("/repo/app/a.txt").as_deref(),
        Some("b"),
        "it may edit the files that it has read"
    );
    let child = played.agents()[0].clone();
    let states = [(child.clone(), "running", false), (child.clone(), "running", true), (child, "completed", true)];
    assert_eq!(played.states(), states, "one task");
}

/// The tools that a question offers.
fn offered(question: &Question) -> Vec<String> {
    let name =
        |piece: &Piece| serde_json::from_str::<Value>(piece.json()).unwrap()["name"].as_str().unwrap().to_owned();
    question.draft.tools.iter().map(name).collect()
}

#[test]
fn sync_09_tools_08_the_new_run_has_the_tools_of_a_background_agent() {
    let played = switched(working(), 30_000);
    let asked = played.asked_by("general-purpose");
    let has: Vec<bool> = asked.iter().map(|question| offered(question).contains(&"TaskCreate".to_owned())).collect();
    assert_eq!(has, [true, true, false], "two questions in the foreground and one in the background");
    let kept: Vec<String> = offered(asked[1]).into_iter().filter(|name| name != "TaskCreate").collect();
    assert_eq!(offered(asked[2]), kept, "nothing else is taken, and the order stays");
    let dropped = played.find(|event| match event {
        Event::ToolsResolved { agent, dropped, .. } if *agent == asked[0].agent => Some(dropped.clone()),
        _ => None,
    });
    assert_eq!(dropped, [vec![], vec![("TaskCreate".into(), "background")]], "and the reason is reported");
}

#[test]
fn sync_09_tools_08_if_no_tool_depends_on_the_background_the_new_run_continues_the_prefix() {
    let stage =
        working().agent("builder", "tools: Bash, Glob").says("main", vec![spawn("builder", "work"), text("done")]);
    let replies = vec![
        call("Glob", json!({ "pattern": "*" })).after(1_000),
        call("Bash", json!({ "command": "make", "description": "build" })).after(1_000),
        text("third").after(1_000),
    ];
    let played = switched(stage.says("builder", replies), 30_000);
    let asked = played.asked_by("builder");
    assert_eq!((asked.len(), offered(asked[2])), (3, vec!["Bash".to_owned(), "Glob".to_owned()]));
    let spelled = |pieces: &[Piece]| pieces.iter().map(|piece| piece.json().to_owned()).collect::<Vec<_>>();
    for pair in asked.windows(2) {
        let (old, new) = (&pair[0].draft, &pair[1].draft);
        assert_eq!(spelled(&old.tools), spelled(&new.tools));
        assert_eq!(spelled(&old.system), spelled(&new.system));
        assert_eq!((&old.model, &old.parameters), (&new.model, &new.parameters));
        let (old, new) = (blocks(pair[0]), blocks(pair[1]));
        assert_eq!(old, new[..old.len()], "earlier messages are sent again unchanged");
    }
}

#[test]
fn sync_10_a_nested_agent_is_launched_again_if_only_its_parent_moves_to_the_background() {
    let stage = Stage::new()
        .agent("outer", "")
        .says("main", vec![spawn("outer", "go on"), text("done")])
        .says("outer", vec![spawn("explore", "look"), text("outer is done")])
        .says("explore", vec![text("inner is done").after(60_000)]);
    let played = stage.play(|session| async move {
        let main = main_agent(&session);
        let turn = session.handle.spawn("main", async move { drop(says(&main, "go").await) });
        wait(&session, 10_000).await;
        let outer = session.tasks.in_foreground().into_iter().find(|task| task.owner.is_none()).unwrap();
        assert!(session.tasks.background(&outer.id));
        turn.await.unwrap();
        while session.tasks.running() > 0 {
            session.tasks.changed().await;
        }
    });
    let explorers = played.find(|event| match event {
        Event::AgentStarted { agent, agent_type, .. } if &**agent_type == "explore" => Some(agent.clone()),
        _ => None,
    });
    let explorers: Vec<State> =
        explorers.iter().map(|agent| played.session.tasks.get(agent).unwrap().state()).collect();
    assert_eq!(explorers, [State::Killed, State::Completed], "commands of the interrupted call are stopped");
    assert_eq!(played.at(|event| matches!(event, Event::Notified { .. })), 10_000 + 60_000);
    let answers = results(played.asked_by("outer").last().unwrap());
    assert_eq!(answers.len(), 1, "one call, one result");
    assert!(answers[0]["content"].to_string().contains("inner is done"));
}

#[test]
fn life_04_life_05_first_the_call_waits_and_then_the_lifecycle() {
    let played = switched(working(), 30_000);
    let main_went_on =
        played.at(|event| matches!(event, Event::RequestSent { agent, turn: 1, .. } if &**agent == "main"));
    assert_eq!(main_went_on, 30_000);
    assert_eq!(played.value.tasks.get(&played.agents()[0]).unwrap().state(), State::Completed);
}

#[test]
fn sync_12_nested_children_move_to_the_background_together() {
    let stage = Stage::new()
        .agent("outer", "")
        .says("main", vec![spawn("outer", "go on"), text("done")])
        .says("outer", vec![spawn("explore", "look"), text("outer is done").after(1_000)])
        .says("explore", vec![text("inner is done").after(60_000)]);
    let played = switched(stage, 10_000);
    let agents = played.find(|event| match event {
        Event::Takeover { agent, .. } => Some(agent.clone()),
        _ => None,
    });
    let kinds: Vec<_> = agents.iter().map(|agent| played.session.tasks.get(agent).unwrap().owner.clone()).collect();
    assert_eq!(kinds, [Some(agents[1].clone()), None], "the inner one first, so that its caller learns of it");
    assert_eq!(played.count(|event| matches!(event, Event::Notified { status: "completed", .. })), 2);
}

#[test]
fn sync_09_async_12_a_child_that_was_taken_over_is_stopped_with_its_task() {
    let played = working().play(|session| async move {
        let main = main_agent(&session);
        let turn = session.handle.spawn("main", async move { drop(says(&main, "go").await) });
        wait(&session, 30_000).await;
        background_all(&session);
        turn.await.unwrap();
        wait(&session, 1_000).await;
        let child = session.tasks.all()[0].clone();
        session.tasks.kill(&child.id).unwrap();
        wait(&session, 200_000).await;
        child.state()
    });
    assert_eq!(played.value, State::Killed);
    assert_eq!(played.asked_by("general-purpose").len(), 2, "the background run sends no more requests");
    assert_eq!(played.at(|event| matches!(event, Event::Notified { status: "killed", .. })), 31_000);
}

#[test]
fn sync_09_escape_does_not_stop_a_child_in_the_background() {
    let played = working().play(|session| async move {
        let main = main_agent(&session);
        let (turn, abort) = (main.clone(), main.abort.clone());
        let turn = session.handle.spawn("main", async move { says(&turn, "go").await.reason });
        wait(&session, 30_000).await;
        background_all(&session);
        wait(&session, 10).await;
        abort.give();
        while session.tasks.running() > 0 {
            session.tasks.changed().await;
        }
        turn.await.unwrap()
    });
    assert_eq!(played.value, Reason::Completed, "its turn was over");
    assert!(played.notifications()[0].contains("<status>completed</status>"));
}

#[test]
fn agent_26_a_child_that_moves_to_the_background_gets_its_name() {
    let input = json!({ "description": "a", "prompt": "work", "subagent_type": "general-purpose", "name": "worker" });
    let played = switched(working().says("main", vec![call("Agent", input), text("done")]), 500);
    assert_eq!(played.session.tasks.names.get("worker").as_ref(), Some(&played.agents()[0]));
}
