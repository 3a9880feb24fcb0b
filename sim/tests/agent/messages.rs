//! Messages to agents (MSG, DIAG-02).

use std::rc::Rc;

use forkcast_sim::agent::session::Context;
use forkcast_sim::agent::tool::Outcome;
use forkcast_sim::agent::{Event, Session};
use forkcast_sim::time::Duration;
use serde_json::{Value, json};

use super::background::all_done;
use super::clocked::{Played, Reply, Stage, blocks, call, main_agent, says, text, use_tool, wait};

/// A background call of this type, with a name.
fn spawn_named(kind: &str, name: &str) -> Reply {
    let input = json!({
        "description": "look round", "prompt": "look", "subagent_type": kind, "run_in_background": true, "name": name
    });
    call("Agent", input)
}

/// A background child called `scout` that runs a command of two seconds and says something a second later; then it
/// answers whatever it is asked.
fn scouting() -> Stage {
    let replies = vec![
        call("Bash", json!({ "command": "look" })).saying("I look."),
        text("seen").after(1_000),
        text("more"),
        text("end"),
    ];
    Stage::new()
        .with_messages()
        .agent("scout", "")
        .says("main", vec![spawn_named("scout", "finder"), text("done")])
        .says("scout", replies)
        .command("look", "all quiet", 2_000)
}

/// The text that the model sees, errors marked.
async fn send(context: &Rc<Context>, to: &str, message: Value, summary: Option<&str>) -> String {
    let mut input = json!({ "to": to, "message": message });
    if let Some(summary) = summary {
        input["summary"] = summary.into();
    }
    match use_tool(context, "SendMessage", input).await {
        Ok(Outcome { content, .. }) => content.to_string(),
        Err(error) => format!("error: {error}"),
    }
}

async fn tell(context: &Rc<Context>, to: &str, message: &str) -> String {
    send(context, to, message.into(), Some("a word")).await
}

/// Starts the child and returns the main agent and the child's id.
async fn started(session: &Rc<Session>) -> (Rc<Context>, Rc<str>) {
    let main = main_agent(session);
    says(&main, "go").await;
    (main, session.tasks.all()[0].id.clone())
}

/// The texts of the user messages in the last request of agents of this type, one for each block.
fn heard<T>(played: &Played<T>, agent_type: &str) -> Vec<String> {
    let asked = played.asked_by(agent_type);
    let texts = blocks(asked.last().unwrap()).into_iter().filter_map(|block| Some(block["text"].as_str()?.to_owned()));
    texts.filter(|text| text.starts_with("<agent-message")).collect()
}

/// What became of messages: sent (how), delivered, returned (why), in order.
fn fates<T>(played: &Played<T>) -> Vec<&'static str> {
    played.find(|event| match event {
        Event::MessageSent { how, .. } => Some(*how),
        Event::MessageDelivered { .. } => Some("delivered"),
        Event::MessageReturned { why, .. } => Some(*why),
        _ => None,
    })
}

/// Refusals: the word, and whether there is a name, a task, a transcript.
fn refusals<T>(played: &Played<T>) -> Vec<(&'static str, bool, bool, bool)> {
    played.find(|event| match event {
        Event::MessageRefused { why, registered, task, transcript, .. } => {
            Some((*why, *registered, *task, *transcript))
        }
        _ => None,
    })
}

#[test]
fn msg_01_msg_02_msg_06_a_text_needs_a_summary_and_a_structured_message_one_receiver() {
    let played = scouting().play(|session| async move {
        let (main, child) = started(&session).await;
        let mut told = Vec::new();
        told.push(send(&main, &child, "hello".into(), None).await);
        told.push(send(&main, &child, "hello".into(), Some("  ")).await);
        told.push(send(&main, "*", json!({ "kind": "stop" }), None).await);
        told.push(send(&main, &child, json!({ "kind": "note" }), None).await);
        told.push(send(&main, &child, 7.into(), None).await);
        all_done(&session).await;
        told
    });
    let told = &played.value;
    assert!(told[0].starts_with("error: SendMessage: a text needs a `summary`"), "{told:?}");
    assert_eq!(told[0], told[1]);
    assert!(told[2].contains("never to all"), "{told:?}");
    assert!(!told[3].starts_with("error"), "{told:?}");
    assert!(told[4].contains("expected a string or an object"), "{told:?}");
    assert_eq!(heard(&played, "scout"), ["<agent-message from=\"main\">\n{\"kind\":\"note\"}\n</agent-message>"]);
    let tools = &played.asked_by("main")[0].draft.tools;
    let tools: Vec<Value> = tools.iter().map(|tool| serde_json::from_str(tool.json()).unwrap()).collect();
    let tool = tools.iter().find(|tool| tool["name"] == "SendMessage").unwrap();
    let fields: Vec<&String> = tool["input_schema"]["properties"].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["message", "summary", "to"]);
}

#[test]
fn msg_03_msg_04_msg_15_a_name_comes_before_an_id() {
    let played = scouting().play(|session| async move {
        let (main, child) = started(&session).await;
        says(&main, "go on").await;
        tell(&main, "finder", "by name").await;
        tell(&main, &child, "by id").await;
        // A second agent gets the first one's id as its name.
        let input = json!({ "description": "d", "prompt": "p", "subagent_type": "scout", "run_in_background": true,
            "name": &*child });
        use_tool(&main, "Agent", input).await.unwrap();
        let other = session.tasks.names.get(&child).unwrap();
        tell(&main, &child, "name first").await;
        all_done(&session).await;
        (child, other)
    });
    let (child, other) = &played.value;
    let to = played.find(|event| match event {
        Event::MessageSent { to, .. } => Some(to.clone()),
        _ => None,
    });
    assert_eq!(to, [child.clone(), child.clone(), other.clone()]);
}

#[test]
fn msg_07_msg_08_messages_wait_for_the_end_of_the_round_and_come_in_order() {
    let played = scouting().play(|session| async move {
        let (main, child) = started(&session).await;
        wait(&session, 500).await;
        let told = tell(&main, &child, "one").await;
        tell(&main, &child, "two").await;
        all_done(&session).await;
        told
    });
    assert!(played.value.ends_with("reads the message before its next request."), "{}", played.value);
    let shown = ["one", "two"].map(|text| format!("<agent-message from=\"main\">\n{text}\n</agent-message>"));
    assert_eq!(heard(&played, "scout"), shown);
    let delivered = |event: &Event| matches!(event, Event::MessageDelivered { .. });
    assert_eq!(played.at(delivered), 2_000, "the command runs to its end");
    let sent = |event: &Event| matches!(event, Event::MessageSent { .. });
    assert_eq!(played.at(sent), 500);
    assert_eq!(fates(&played), ["queued", "queued", "delivered", "delivered"]);
    let outcomes = played.find(|event| match event {
        Event::ToolEnd { tool_use, outcome, .. } if tool_use.starts_with("scout") => Some(*outcome),
        _ => None,
    });
    assert_eq!(outcomes, ["ok"]);
}

#[test]
fn msg_08_a_message_that_waits_at_the_end_of_a_loop_continues_it() {
    let played = scouting().play(|session| async move {
        let (main, child) = started(&session).await;
        wait(&session, 2_500).await;
        tell(&main, &child, "and then?").await;
        all_done(&session).await;
    });
    assert_eq!(fates(&played), ["queued", "delivered"]);
    assert_eq!(played.asked_by("scout").len(), 3, "the second answer was to be the last");
    let told = played.notifications();
    assert!(told.len() == 1 && told[0].contains("<result>more</result>"), "{told:?}");
}

#[test]
fn msg_09_msg_12_life_09_an_agent_that_has_ended_goes_on_in_the_background() {
    let played = scouting().play(|session| async move {
        let (main, child) = started(&session).await;
        all_done(&session).await;
        let told = tell(&main, "finder", "look again").await;
        let running = session.tasks.get(&child).unwrap().state().name();
        all_done(&session).await;
        (child, told, running)
    });
    let (child, told, running) = &played.value;
    assert_eq!(*running, "running", "the call does not wait");
    assert!(told.contains(&format!("agentId: {child}\noutput_file: /tmp/claude/")), "{told}");
    assert_eq!(fates(&played), ["resumed", "delivered"]);
    let asked = played.asked_by("scout");
    let before = &asked[1].draft;
    let after = &asked[2].draft;
    assert_eq!(after.messages.len(), before.messages.len() + 2, "its answer and the message");
    for (old, new) in before.messages.iter().zip(&after.messages) {
        let json = |message: &forkcast_sim::wire::Message| -> Vec<String> {
            message.content.iter().map(|piece| piece.json().to_owned()).collect()
        };
        assert_eq!(json(old), json(new), "replayed byte for byte");
    }
    let states: Vec<_> = played.states().into_iter().map(|(_, state, _)| state).collect();
    assert_eq!(states, ["running", "completed", "running", "completed"]);
    let told = played.notifications();
    assert_eq!(told.len(), 2, "each run is reported: {told:?}");
    assert!(told[0].contains("<result>seen</result>") && told[1].contains("<result>more</result>"), "{told:?}");
    assert!(told[1].contains("<tool-use-id>toolu-"), "the call that sent the message: {told:?}");
}

#[test]
fn msg_09_a_second_run_starts_when_the_first_one_is_cleaned_up() {
    let stage = scouting().set(|settings| settings.classifier = Duration::from_secs(5));
    let played = stage.play(|session| async move {
        let (main, child) = started(&session).await;
        wait(&session, 4_000).await;
        tell(&main, &child, "again").await;
        let at_ms = session.now().0 / 1_000_000;
        all_done(&session).await;
        at_ms
    });
    assert_eq!(played.value, 8_000, "three seconds of work and five of the classifier");
    let notified = played.count(|event| matches!(event, Event::Notified { .. }));
    assert_eq!(notified, 2);
}

#[test]
fn msg_10_msg_11_msg_13_diag_02_a_forgotten_agent_goes_on_from_its_transcript_alone() {
    let played = scouting().play(|session| async move {
        let (main, child) = started(&session).await;
        all_done(&session).await;
        assert!(session.tasks.forget(&child));
        let by_name = tell(&main, "finder", "still there?").await;
        let by_id = tell(&main, &child, "still there?").await;
        all_done(&session).await;
        assert!(session.tasks.forget(&child) && session.transcripts.remove(&child));
        let lost = tell(&main, &child, "and now?").await;
        let never = tell(&main, "agent-none", "who?").await;
        [by_name, by_id, lost, never]
    });
    let [by_name, by_id, lost, never] = &played.value;
    assert!(by_name.starts_with("error: SendMessage: there is no agent `finder`"), "{by_name}");
    assert!(by_id.contains("output_file: "), "{by_id}");
    assert!(lost.contains("no transcript") && never.contains("no transcript"), "{lost} {never}");
    let from = played.find(|event| match event {
        Event::Resumed { from, entries, .. } => Some((*from, *entries)),
        _ => None,
    });
    assert_eq!(from, [("transcript", 4)]);
    assert_eq!(refusals(&played), [("no_target", false, false, false); 3]);
    assert_eq!(played.asked_by("scout").len(), 3, "nothing is invented");
}

#[test]
fn diag_02_a_refusal_says_what_is_known_of_the_receiver() {
    let played = scouting().command("serve", "", 60_000).play(|session| async move {
        let (main, child) = started(&session).await;
        use_tool(&main, "Bash", json!({ "command": "serve", "run_in_background": true })).await.unwrap();
        let shell = session.tasks.all().iter().find(|task| task.id.starts_with("shell")).unwrap().id.clone();
        tell(&main, &shell, "hello").await;
        all_done(&session).await;
        session.transcripts.remove(&child);
        tell(&main, "finder", "hello").await;
    });
    assert_eq!(refusals(&played), [("no_agent", false, true, false), ("no_target", true, true, false)]);
}

#[test]
fn msg_14_other_sessions_take_texts_only_and_need_a_connection() {
    let played = scouting().play(|session| async move {
        let (main, _) = started(&session).await;
        for to in ["bridge:7", "uds:/tmp/other"] {
            send(&main, to, json!({ "kind": "stop" }), None).await;
            tell(&main, to, "hello").await;
        }
        tell(&main, "*", "hello").await;
        all_done(&session).await;
    });
    let words: Vec<_> = refusals(&played).into_iter().map(|(why, ..)| why).collect();
    assert_eq!(words, ["structured_to_session", "not_connected", "structured_to_session", "not_connected", "no_team"]);
}

#[test]
fn a_message_to_an_agent_that_is_stopped_comes_back_with_the_reason() {
    let played = scouting().play(|session| async move {
        let (main, child) = started(&session).await;
        wait(&session, 500).await;
        tell(&main, &child, "wait").await;
        session.tasks.kill(&child).unwrap();
        all_done(&session).await;
    });
    assert_eq!(fates(&played), ["queued", "killed"]);
    let told = played.notifications();
    let returned = told.iter().find(|told| told.starts_with("<message-returned>")).unwrap();
    assert!(returned.contains("it is killed</why>\n<message>wait</message>"), "{returned}");
}

#[test]
fn loop_18_the_turn_limit_of_a_second_run_counts_its_own_turns() {
    let looks = (0..5).map(|_| call("Bash", json!({ "command": "look" }))).collect();
    let played = scouting().agent("limited", "maxTurns: 2").says("main", vec![spawn_named("limited", "l"), text("x")]);
    let played = played.says("limited", looks);
    let played = played.play(|session| async move {
        let (main, child) = started(&session).await;
        // It waits at the limit, so it is never read.
        wait(&session, 3_500).await;
        tell(&main, &child, "early").await;
        all_done(&session).await;
        tell(&main, &child, "go on").await;
        all_done(&session).await;
    });
    assert_eq!(fates(&played), ["queued", "completed", "resumed", "delivered"]);
    let reasons = played.find(|event| match event {
        Event::QueryEnded { agent, reason, turns } if &**agent != "main" => Some((*reason, *turns)),
        _ => None,
    });
    assert_eq!(reasons, [("max_turns", 2), ("max_turns", 2)], "each run has two turns of its own");
}

#[test]
fn msg_10_fork_15_a_fork_goes_on_with_its_parents_prompt_and_tools_byte_for_byte() {
    let stage = Stage::new()
        .with_messages()
        .set(|settings| settings.features = ["FORK_SUBAGENT".to_owned()].into())
        .says("main", vec![call("Agent", json!({ "description": "d", "prompt": "part" })), text("done"), text("more")])
        .says("fork", vec![text("Scope: part\nResult: half"), text("Scope: part\nResult: all")]);
    let played = stage.play(|session| async move {
        let (main, child) = started(&session).await;
        all_done(&session).await;
        session.set_flag("tengu_any", true);
        assert!(session.tasks.forget(&child));
        tell(&main, &child, "the rest").await;
        all_done(&session).await;
    });
    let asked = played.asked_by("fork");
    let parts = |at: usize| {
        let draft = &asked[at].draft;
        let pieces = draft.tools.iter().chain(draft.system.iter());
        let messages = draft.messages.iter().flat_map(|message| &message.content);
        pieces.chain(messages).map(|piece| piece.json().to_owned()).collect::<Vec<_>>()
    };
    let (before, after) = (parts(0), parts(1));
    assert_eq!(after[..before.len()], before[..]);
    assert_eq!(after.len(), before.len() + 2, "its report and the message");
    assert_eq!(asked[0].draft.parameters, asked[1].draft.parameters);
}

#[test]
fn a_message_to_oneself_is_refused() {
    let stage = scouting().says(
        "scout",
        vec![call("SendMessage", json!({ "to": "finder", "message": "hello", "summary": "s" })).after(100), text("x")],
    );
    let played = stage.play(|session| async move {
        started(&session).await;
        all_done(&session).await;
    });
    assert_eq!(refusals(&played), [("own_id", true, true, true)]);
    assert_eq!(fates(&played), [""; 0]);
}
