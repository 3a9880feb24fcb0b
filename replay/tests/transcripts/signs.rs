//! The contents of the fixture, line by line.

use forkcast_replay::transcript::{
    DiagnosisKind, InputOrigin, Item, OutputCount, Sign, SpawnMode, Stop, Thinking, What, call_id,
};

use super::{FIXTURE, answers, read};

/// A word for each item, with what matters of it.
fn told(item: &Item) -> String {
    let what = match &item.what {
        What::Answer(answer) => {
            let calls: Vec<&str> = answer.calls.iter().map(|call| &*call.tool).collect();
            format!("answer {} {:?}", answer.parts.len(), calls)
        }
        What::Input(input) => format!("{:?} {}", input.origin, input.parts.len()),
        What::Sign(Sign::Thinking(Thinking::On(_))) => "thinking on".to_owned(),
        What::Sign(Sign::Thinking(Thinking::Off)) => "thinking off".to_owned(),
        What::Sign(Sign::Spawned(result)) => format!("spawned {} {:?}", result.agent, result.mode),
        What::Sign(Sign::Notified { call, task }) => format!("notified {task} {}", *call == call_id(b"toolu_2")),
        What::Sign(sign) => format!("{sign:?}"),
    };
    format!("{}: {what}", item.line)
}

#[test]
fn every_sign_of_a_session_is_an_item_at_its_line() {
    let reading = read(FIXTURE);
    assert!(reading.unreadable.is_empty() && reading.repaired.is_empty(), "{reading:?}");
    let main = &reading.threads[0];
    assert_eq!((main.agent.as_deref(), main.user.as_deref()), (None, Some("/home/ann")));
    let items: Vec<String> = main.items.iter().map(told).collect();
    let expected = [
        "3: thinking on",
        "3: Prompt 1",
        "4: answer 3 [\"Read\", \"Task\"]",
        "7: ToolResults 1",
        "10: spawned a1b2c3d Background",
        "10: ToolResults 1",
        "11: answer 1 []",
        "12: StopHooks",
        "13: TurnEnded { duration_ms: Some(15250) }",
        "14: Enqueued",
        "15: notified a1b2c3d true",
        "15: thinking off",
        "15: Notification 1",
        "16: Failed { status: Some(529), attempt: 1, retry_in_ms: Some(612) }",
        "17: answer 1 []",
        "18: PlanMode(true)",
        "18: thinking off",
        "18: Prompt 1",
        "19: Interrupted",
        "19: Interruption 1",
        "20: Rewound { to: Some(14) }",
        "20: thinking on",
        "20: Prompt 1",
        "21: answer 1 []",
        "22: Compacted { before_tokens: Some(155454), automatic: true }",
        "23: Summary 1",
        "24: thinking off",
        "24: Injected 1",
        "25: answer 1 []",
        "26: MicroCompacted { saved_tokens: Some(9000), results: 2 }",
        "27: Command(\"exit\")",
        "27: Command 1",
        "28: Command 1",
        "29: Synthetic",
        "29: Restarted",
        "31: thinking on",
        "31: Prompt 1",
        "32: ToolsAnnounced(\"deferred_tools_delta\")",
        "32: Attachment 1",
        "34: answer 1 [\"ToolSearch\"]",
    ];
    assert_eq!(items, expected);
}

#[test]
fn an_answer_over_several_lines_is_one_with_the_largest_output() {
    let reading = read(FIXTURE);
    let answers = answers(&reading.threads[0]);
    let (item, first) = answers[0];
    let usage = first.usage.unwrap().usage;
    assert_eq!((usage.cache_read_input_tokens, usage.ephemeral_5m_input_tokens), (0, 1000));
    assert_eq!((usage.output_tokens, first.stop, item.line), (7, Stop::ToolUse, 4));
    let seconds = |at: Option<forkcast_sim::time::Instant>| at.unwrap().0 / 1_000_000_000 % 60;
    assert_eq!((seconds(first.sent_at), seconds(first.first_at), seconds(first.ended_at)), (0, 4, 6));
    assert!(matches!(first.output, OutputCount::StreamStart { estimated_tokens: 100..=250 }), "{:?}", first.output);
    let spawn = first.calls[1].spawn.as_deref().unwrap();
    assert_eq!((spawn.kind.as_deref(), spawn.background, spawn.worktree), (Some("Explore"), true, true));
    let (_, third) = answers[2];
    assert_eq!((third.output, third.retries, third.stop), (OutputCount::Final, 1, Stop::EndTurn));
    let (_, last) = *answers.last().unwrap();
    assert_eq!(last.effort.as_deref(), Some("high"));
    let diagnosis = last.diagnosis.unwrap();
    assert_eq!((diagnosis.kind, diagnosis.missed_tokens), (DiagnosisKind::SystemChanged, Some(321)));
}

#[test]
fn lines_of_progress_show_a_sub_agent() {
    let reading = read(FIXTURE);
    let agent = &reading.threads[1];
    assert_eq!(agent.agent.as_deref(), Some("a1b2c3d"));
    assert!(matches!(&agent.items[0].what, What::Input(input) if input.origin == InputOrigin::Directive));
    let answers = answers(agent);
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0].1.usage.unwrap().usage.ephemeral_5m_input_tokens, 500);
    let sent_at = answers[0].1.sent_at.unwrap().0;
    assert_eq!(sent_at / 1_000_000 % 60_000, 8_000);
    let spawned = reading.threads[0].items.iter().find_map(|item| match &item.what {
        What::Sign(Sign::Spawned(result)) => Some(result),
        _ => None,
    });
    assert_eq!(spawned.map(|result| (result.mode, result.total_tokens)), Some((SpawnMode::Background, Some(505))));
}
