//! Event streams of managed agents.

use forkcast_replay::formats::Format;
use forkcast_replay::transcript::{InputOrigin, Sign, Stop};

use super::{clean, counted, counts, inputs_of, read, signs, text};

const LINES: &str = "managed-agents.jsonl";
const PAGE: &str = "managed-agents.json";

#[test]
fn spans_enclose_requests() {
    let inputs = clean(LINES, Format::ManagedAgents);
    let [session] = inputs.sessions.all() else { panic!("one session") };
    assert_eq!((&*session.id, session.format), ("managed-agents", Format::ManagedAgents));
    let answers = counted(inputs.sessions.all());
    let usage: Vec<_> = answers.iter().map(|answer| counts(answer.usage.as_ref().unwrap())).collect();
    assert_eq!(usage, [[6, 0, 3000, 40, 0], [2, 3000, 60, 5, 0]]);
    assert_eq!(answers.iter().map(|answer| answer.stop).collect::<Vec<_>>(), [Stop::ToolUse, Stop::EndTurn]);
    assert!(answers.iter().all(|answer| &*answer.model == "claude-opus-4-8"));
    let asked = answers[0].sent_at.unwrap().0 % 60_000_000_000;
    assert_eq!(asked, 2_500_000_000, "when its span began");
    assert_eq!(inputs_of(session, InputOrigin::ToolResults)[0].parts[0].call, answers[0].calls[0].id);
    assert!(signs(session).any(|sign| matches!(sign, Sign::TurnEnded { .. })));
}

#[test]
fn a_page_of_the_api_is_read_with_a_note_that_no_model_is_named() {
    let inputs = clean(PAGE, Format::ManagedAgents);
    assert_eq!(&*inputs.sessions.all()[0].id, "sesn_1");
    assert_eq!(counted(inputs.sessions.all()).len(), 1);
    assert_eq!(inputs.scopes[0].files[0].notes, ["the events name no model: requests have usage and no price"]);
    let whole = text(PAGE);
    let list = &whole[whole.find('[').unwrap()..=whole.rfind(']').unwrap()];
    assert_eq!(counted(read(list).sessions.all()).len(), 1, "a bare list too");
}

#[test]
fn events_of_another_thread_are_another_agent() {
    let threads = text(LINES)
        .replace("\"type\":\"agent.message\"", "\"session_thread_id\":\"sthr_2\",\"type\":\"agent.message\"");
    let inputs = read(&threads);
    let agents: Vec<&str> = inputs.sessions.all()[0].agents.iter().map(|agent| &*agent.id).collect();
    assert_eq!(agents, ["main", "sthr_2"]);
}

#[test]
fn a_broken_event_is_located() {
    let broken = text(LINES).replacen("\"output_tokens\":40", "\"output_tokens\":-40", 1);
    let faults: Vec<_> = read(&broken).unreadable.into_iter().map(|fault| (fault.line, fault.reason)).collect();
    assert_eq!(
        faults,
        [(5, "`raw`: found an integer that does not fit, expected a whole number, not negative".to_owned())]
    );
}
