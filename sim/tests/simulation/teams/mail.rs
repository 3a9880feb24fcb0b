//! Mailboxes (SWARM-02, SWARM-03, SWARM-13..17, SWARM-23, MSG-05).

use forkcast_sim::agent::Event;
use forkcast_sim::agent::team::{Content, Letter};
use forkcast_sim::laws::Messages;
use forkcast_sim::model::scripted::Rule;
use forkcast_sim::model::{CallError, Fault};
use forkcast_sim::simulation::{Does, Observer};
use forkcast_sim::time::Instant;
use serde_json::{Value, json};

use super::super::stage::{asked, at, finished, log, rule, says, slow, types};
use super::{events, field, first, id, idle, joins, results, state, team, tells, when};

#[test]
fn swarm_02_swarm_17_a_message_is_read_at_the_next_poll() {
    let rules = vec![
        rule("main", vec![joins("ina")]),
        when("Write to her", vec![tells("ina", "And now?")]),
        idle(),
        says("ina", "First."),
        says("ina", "Second."),
    ];
    let finished = finished(team(rules, vec![types(0, "Begin."), types(20_000, "Write to her.")]));
    let began = first(&finished, |event| matches!(event, Event::TeammateJoined { .. }));
    let own = id(&finished, "ina");
    let put = first(&finished, |event| matches!(event, Event::MailboxPut { mailbox, .. } if *mailbox == own));
    let taken = first(&finished, |event| matches!(event, Event::MailboxTake { mailbox, .. } if *mailbox == own));
    assert!(put < taken && taken <= put + 500, "{put} {taken}");
    assert_eq!((taken - began) % 500, 0);
    assert_eq!(first(&finished, |event| matches!(event, Event::MessageDelivered { .. })), taken);
    assert_eq!(field(&finished, "message.sent", "how"), ["mailbox"]);
    let heard = asked(&finished, "worker");
    assert_eq!(heard.len(), 2);
    assert!(heard[1].contains("And now?") && heard[1].contains("You are ina."), "{}", heard[1]);
    assert_eq!(state(&finished, "ina"), "completed");
}

#[test]
fn swarm_03_a_teammate_reaches_its_leader_through_the_mailbox() {
    let rules = vec![
        rule("main", vec![joins("ina")]),
        idle(),
        rule("ina", vec![tells("main", "Half done.")]),
        says("ina", "All done."),
    ];
    let finished = finished(team(rules, vec![types(0, "Begin.")]));
    assert_eq!(field(&finished, "mailbox.put", "kind"), ["message", "idle"]);
    assert_eq!(field(&finished, "mailbox.put", "mailbox"), ["main", "main"]);
    let own: Vec<_> =
        events(&finished, "queue.enqueue").into_iter().filter(|event| event["source"] == "mailbox").collect();
    assert_eq!(own.len(), 2);
    assert!(own.iter().all(|event| event["mode"] == "task-notification" && event["agent"].is_null()));
    let heard = results(&finished, "main");
    for words in ["Half done.", "All done.", "<kind>idle</kind>", "<teammate-message>"] {
        assert!(heard.contains(words), "{words}: {heard}");
    }
    assert_eq!(field(&finished, "message.delivered", "agent"), ["main"]);
    assert!(events(&finished, "notify.enqueued").is_empty(), "a teammate has no task notification");
}

fn refused() -> CallError {
    CallError::Refused { status: 400, kind: "invalid_request_error".into(), message: "no".into(), retry_after: None }
}

#[test]
fn swarm_13_a_crash_leaves_the_others_alone() {
    let crash = || {
        let mut crash = says("ina", "");
        crash.reply.fault = Some(Fault::Refusal(refused()));
        crash
    };
    let rules = vec![
        rule("main", vec![joins("ina"), joins("lou")]),
        idle(),
        crash(),
        slow("lou", "Wait.", 3_900),
        rule("lou", vec![tells("ina", "Are you there?")]),
        says("lou", "She is gone."),
        says("lou", "I go on."),
    ];
    let finished = finished(team(rules, vec![types(0, "Begin.")]));
    assert_eq!([state(&finished, "ina"), state(&finished, "lou")], ["failed", "completed"]);
    assert!(results(&finished, "main").contains("<state>failed</state>"));
}

#[test]
fn swarm_14_swarm_23_letters_are_lines_of_a_file_that_anybody_can_read() {
    let contents = [
        Content::Message { text: "a \"quote\"\nand a line".into() },
        Content::Idle { text: "".into() },
        Content::Left { state: "failed".into(), text: "why".into() },
        Content::PermissionRequest {
            request: 7,
            tool: "Bash".into(),
            tool_use: "toolu_1".into(),
            input: json!({ "command": "ls" }),
        },
        Content::PermissionReply { request: 7, allow: true },
    ];
    for content in contents {
        let letter = Letter { number: 3, from: "agent-1".into(), content };
        let line = serde_json::to_string(&letter).unwrap();
        assert!(!line.contains('\n'));
        assert_eq!(serde_json::from_str::<Letter>(&line).unwrap(), letter);
    }
}

#[test]
fn swarm_15_the_sender_of_a_full_mailbox_waits() {
    let rules = vec![
        rule("main", vec![joins("ina")]),
        when("Write", vec![tells("ina", "One."), tells("ina", "Two."), tells("ina", "Three.")]),
        idle(),
        says("ina", "Here."),
        Rule { times: None, ..says("ina", "Yes.") },
    ];
    let mut setup = team(rules, vec![types(0, "Begin."), types(10_100, "Write.")]);
    setup.settings.teams.as_mut().unwrap().capacity = 1;
    let finished = finished(setup);
    let own = id(&finished, "ina");
    let of: Vec<_> = log(&finished)
        .into_iter()
        .filter(|event| event["mailbox"] == *own)
        .map(|event| event["event"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(of.iter().filter(|word| **word == "mailbox.put").count(), 3);
    assert_eq!(of.iter().filter(|word| **word == "mailbox.take").count(), 3);
    assert!(of.contains(&"mailbox.full".to_owned()), "{of:?}");
    let unread = events(&finished, "mailbox.put");
    assert!(unread.iter().all(|put| put["unread"] == 1), "never more than there is room for");
    let heard = results(&finished, "worker");
    assert!(["One.", "Two.", "Three."].iter().all(|words| heard.contains(words)), "nothing is dropped: {heard}");
}

#[test]
fn swarm_16_all_traffic_is_recorded() {
    let rules = vec![
        rule("main", vec![joins("ina")]),
        when("Write", vec![tells("ina", "And now?")]),
        idle(),
        says("ina", "First."),
        says("ina", "Second."),
    ];
    let finished = finished(team(rules, vec![types(0, "Begin."), types(9_000, "Write.")]));
    let files = &finished.session.as_ref().unwrap().world.files;
    let audit = files.read("/home/user/.claude/teams/session-1/audit.jsonl").unwrap();
    let lines: Vec<Value> = audit.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |does: &str| {
        let lines = lines.iter().filter(|line| line["does"] == does);
        lines.map(|line| line["number"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    let logged = |word: &str| {
        let events = events(&finished, word);
        events.iter().map(|event| event["message"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!((of("put"), of("take")), (logged("mailbox.put"), logged("mailbox.take")));
    assert_eq!(of("put").len(), 3);
    assert!(audit.contains("And now?"));
    assert!(files.below("/home/user/.claude/teams/session-1/inboxes").is_empty(), "everything was read");
}

#[test]
fn msg_05_a_broadcast_reaches_every_teammate_but_its_sender() {
    let rules = vec![
        rule("main", vec![joins("ina"), joins("lou"), joins("rae")]),
        when("All", vec![tells("*", "Stop.")]),
        idle(),
        says("ina", "Here."),
        slow("ina", "I tell them.", 500),
        says("lou", "Here."),
        Rule { times: None, ..says("lou", "Yes.") },
        says("rae", "Here."),
        rule("rae", vec![tells("*", "Stop, all of you.")]),
        Rule { times: None, ..says("rae", "Told.") },
        Rule { times: None, ..says("ina", "Yes.") },
    ];
    let finished = finished(team(rules, vec![types(0, "Begin."), types(15_000, "All.")]));
    let sent = |from: &str| {
        let all = events(&finished, "message.sent").into_iter().filter(|sent| sent["agent"] == from);
        all.map(|sent| sent["to"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let ids = ["ina", "lou", "rae"].map(|name| id(&finished, name).to_string());
    assert_eq!(sent("main"), ids);
    assert_eq!(sent(&ids[2]), ids[..2]);
    assert_eq!(events(&finished, "message.delivered").len(), 5);
}

#[test]
fn a_teammate_that_left_gets_no_message_and_its_unread_ones_come_back() {
    let rules = vec![
        rule("main", vec![joins("ina")]),
        when("Write", vec![tells("ina", "One.")]),
        when("Once more", vec![tells("ina", "Two.")]),
        idle(),
        slow("ina", "I work.", 60_000),
    ];
    let acts = vec![
        types(0, "Begin."),
        types(5_000, "Write."),
        at(8_000, Does::Kills("ina".into())),
        types(20_000, "Once more."),
    ];
    let finished = finished(team(rules, acts));
    assert_eq!(field(&finished, "message.returned", "why"), ["killed"]);
    assert_eq!(field(&finished, "message.refused", "why"), ["left_team"]);
    assert!(asked(&finished, "main").iter().any(|heard| heard.contains("<message-returned>")));
}

#[test]
fn the_law_of_messages_finds_letters_that_are_lost_or_out_of_turn() {
    let put =
        |message| Event::MailboxPut { mailbox: "ina".into(), message, from: "main".into(), kind: "idle", unread: 1 };
    let take = |message| Event::MailboxTake { mailbox: "ina".into(), message, waited_ms: 0 };
    let at = Instant::default();
    let mut law = Messages::default();
    law.event(at, &put(1)).unwrap();
    law.event(at, &put(2)).unwrap();
    assert!(law.end(at, &[]).is_err(), "two are unread");
    law.event(at, &take(1)).unwrap();
    law.event(at, &Event::MailboxReturned { mailbox: "ina".into(), message: 2, why: "killed" }).unwrap();
    law.end(at, &[]).unwrap();
    assert!(law.event(at, &take(2)).is_err(), "a second time");
    law.event(at, &put(3)).unwrap();
    law.event(at, &put(4)).unwrap();
    assert!(law.event(at, &take(4)).is_err(), "before an older one");
}

#[test]
fn swarm_13_what_a_teammate_had_not_read_comes_back_to_its_sender() {
    let rules = vec![
        rule("main", vec![joins("ina")]),
        when("Write", vec![tells("ina", "One.")]),
        idle(),
        slow("ina", "I work.", 60_000),
    ];
    let acts = vec![types(0, "Begin."), types(3_000, "Write."), at(8_000, Does::Kills("ina".into()))];
    let mut setup = team(rules, acts);
    setup.settings.teams.as_mut().unwrap().poll = forkcast_sim::time::Duration::from_millis(30_000);
    let finished = finished(setup);
    assert_eq!(field(&finished, "mailbox.return", "why"), ["killed"]);
    assert_eq!(field(&finished, "message.returned", "why"), ["killed"]);
    assert!(results(&finished, "main").contains("<message-returned>"));
}
