//! A recorded session is played back to the same session, and diverges at the same place as the session.

use forkcast_replay::exchange::{Dialect, Exchange, Origin, RecordedUsage};
use forkcast_replay::input::{Inputs, ReadOptions};
use forkcast_replay::recording::Recording;
use forkcast_replay::source::Scope;
use forkcast_replay::source::order::{Arrival, Stream, streams};
use forkcast_sim::agent::world::Files;
use forkcast_sim::model::answer::{Fault, Interruption, Said};
use forkcast_sim::model::recorded::Fidelity;
use forkcast_sim::model::scripted::{Reply, Rule, Scripted};
use forkcast_sim::model::{Answer, Delta, Event};
use forkcast_sim::service::{Entry, Times};
use forkcast_sim::simulation::{Act, Does, Finished, Setup, run};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::NormalForms;
use serde_json::{Value, json};

fn says(said: Vec<Said>) -> Rule {
    Rule { times: Some(1), reply: Reply { said, ..Reply::default() }, ..Rule::default() }
}

fn session(script: impl forkcast_sim::model::Script + 'static, question: &str) -> Setup {
    let mut setup = Setup::new(11, script);
    setup.world.files = Files::new([("/repo/a.txt".to_owned(), "some text\n".to_owned())]);
    let types = |ms, text: &str| Act { at: Instant::from_millis(ms), does: Does::Types(text.into()) };
    setup.acts = vec![types(0, question), types(60_000, "And now?")];
    setup.keeps_drafts = true;
    setup
}

fn played() -> Finished {
    let input = json!({ "file_path": "/repo/a.txt", "limit": 3, "offset": 1 });
    let read = Said::ToolUse { id: "toolu_x".into(), name: "Read".into(), input };
    let script = Scripted::new(vec![
        says(vec![Said::Thinking("A file.".to_owned()), Said::Text("I read it.".to_owned()), read]),
        says(vec![Said::Text("It says \"some text\".".to_owned())]),
        says(vec![Said::Text("The same.".to_owned())]),
    ]);
    run(session(script, "What is in a.txt?")).unwrap()
}

/// The requests of a run as a proxy would have recorded them.
fn exchanges(finished: &Finished) -> Vec<Exchange> {
    let record = |(entry, draft): (&Entry, forkcast_sim::wire::Draft)| {
        let line = &entry.line;
        let origin = Origin { file: "run".to_owned(), index: line.index, line: 0 };
        Exchange {
            sent_at: line.at,
            first_byte_at: line.first_byte_at,
            ended_at: entry.ended_at,
            status: Some(200),
            usage: line.predicted.map(|usage| RecordedUsage { usage, ..RecordedUsage::default() }),
            ..Exchange::request_only(origin, draft.model.to_string(), draft.body())
        }
    };
    finished.entries.iter().zip(finished.drafts.iter()).map(record).collect()
}

fn recording(exchanges: &[Exchange]) -> Recording {
    let arrival = |exchange| -> Arrival<'_> {
        let exchange: &Exchange = exchange;
        Arrival {
            exchange,
            session: 0,
            times: Times {
                at: exchange.sent_at.unwrap(),
                first_byte_at: exchange.first_byte_at.unwrap(),
                ended_at: exchange.ended_at.unwrap(),
            },
        }
    };
    let stream = Stream {
        scope: Scope { name: "run".to_owned(), timed: true, siblings: false },
        requests: exchanges.iter().map(arrival).collect(),
    };
    Recording::of(&stream, NormalForms::default())
}

#[test]
fn a_recorded_session_plays_back_event_for_event() {
    let first = played();
    let recording = recording(&exchanges(&first));
    let counts = [recording.repeated_answers, recording.unknown_answers, recording.blocks_left_out];
    assert_eq!((recording.takes.len(), counts), (3, [2, 1, 0]));
    assert!(recording.unread.is_empty(), "{:?}", recording.unread);
    let again = run(session(recording.play(Fidelity::Strict), "What is in a.txt?")).unwrap();
    assert_eq!(first.digest, again.digest);
    let bodies = |finished: &Finished| -> Vec<_> { finished.drafts.iter().map(|draft| draft.body()).collect() };
    assert_eq!(bodies(&first), bodies(&again));
}

#[test]
fn a_diverging_session_is_reported_with_the_place() {
    let recording = recording(&exchanges(&played()));
    let failed = run(session(recording.play(Fidelity::Strict), "What is in b.txt?")).unwrap_err().to_string();
    for part in ["does not ask what answer 0", "messages[0].content[1]", "message_edited", "loosely"] {
        assert!(failed.contains(part), "{part}: {failed}");
    }
}

#[test]
fn failed_requests_are_refusals_and_foreign_ones_are_reported() {
    let mut exchanges = exchanges(&played());
    exchanges[0].status = Some(529);
    exchanges[2].dialect = Dialect::ChatCompletions;
    let recording = recording(&exchanges);
    assert!(recording.takes[0].answer.fault.is_some() && recording.takes[0].answer.events.is_empty());
    assert_eq!(recording.unread, ["run, request 2: chat-completions is no request that our agents send"]);
    assert_eq!(recording.unknown_answers, 1);
}

/// An exchange without instants.
fn said(file: &str, request: &Value, response: &Value) -> String {
    json!({ "v": 1, "chain": file, "request": request, "response": response }).to_string() + "\n"
}

fn log(lines: &str) -> Recording {
    let inputs = Inputs::from_bytes("log", lines.as_bytes(), ReadOptions::default().with_answers());
    assert!(inputs.unreadable.is_empty(), "{:?}", inputs.unreadable);
    Recording::of(&streams(&inputs)[0], NormalForms::default())
}

fn text_of(answer: &Answer) -> String {
    let texts = answer.events.iter().filter_map(|event| match event {
        Event::BlockDelta { delta: Delta::Text(text), .. } => Some(&**text),
        _ => None,
    });
    texts.collect()
}

fn usage() -> Value {
    json!({ "input_tokens": 9, "output_tokens": 4 })
}

fn request(messages: &[Value]) -> Value {
    json!({ "model": "claude-opus-4-8", "max_tokens": 9, "messages": messages })
}

/// A parent with one agent, whose last answer was not recorded.
fn parent_of_one(prompt: &str, result: &str) -> Recording {
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "Agent", "input": { "prompt": prompt } });
    let started = json!({ "role": "assistant", "content": [call] });
    let went_on =
        json!([{ "type": "tool_result", "tool_use_id": "toolu_1", "content": [{ "type": "text", "text": result }] }]);
    let ask = json!({ "role": "user", "content": "Look." });
    let answer =
        |content: Value| json!({ "type": "message", "content": content, "stop_reason": "end_turn", "usage": usage() });
    let first = said("main", &request(std::slice::from_ref(&ask)), &answer(json!([call])));
    let agent = said("agent", &request(&[json!({ "role": "user", "content": "Look into a.txt." })]), &Value::Null);
    let next = request(&[ask, started, json!({ "role": "user", "content": went_on })]);
    log(&(first + &agent + &said("main", &next, &answer(json!([{ "type": "text", "text": "Done." }])))))
}

#[test]
fn the_last_answer_of_an_agent_is_what_its_parent_received() {
    let whole = parent_of_one("Look into a.txt.", "It says x.\n\nagentId: a-1\n<usage>total_tokens: 5</usage>");
    assert_eq!((whole.reported_answers, whole.unknown_answers, whole.repeated_answers), (1, 0, 0));
    assert_eq!(text_of(&whole.takes[1].answer), "It says x.");
    assert_eq!(text_of(&whole.takes[2].answer), "Done.");
    let launched = parent_of_one("Look into a.txt.", "It runs.\nagentId: a-1\noutput_file: /tmp/a-1");
    assert_eq!((launched.reported_answers, launched.unknown_answers), (0, 1), "a receipt is no report");
    let other = parent_of_one("Look into b.txt.", "It says x.");
    assert_eq!((other.reported_answers, other.unknown_answers), (0, 1), "another agent's report");
}

#[test]
fn streams_and_messages_have_the_same_content() {
    let events = concat!(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n\n",
        "event: ping\ndata: {\"type\":\"ping\"}\n\n",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"redacted_thinking\",\"data\":\"x\"}}\n\n",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Read\",\"input\":{}}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":1}\"}}\n\n",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n",
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":4}}\n\n",
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    );
    let ask = request(&[json!({ "role": "user", "content": "Look." })]);
    let streamed = |events: &str| log(&(json!({ "v": 1, "request": ask, "response_sse": events }).to_string() + "\n"));
    let recording = streamed(events);
    assert_eq!(recording.blocks_left_out, 1);
    let played = &recording.takes[0].answer;
    played.check().unwrap();
    assert_eq!((played.output_tokens, &played.fault), (Some(4), &None));
    let content = json!([{ "type": "redacted_thinking", "data": "x" },
        { "type": "tool_use", "id": "t", "name": "Read", "input": { "a": 1 } }]);
    let message =
        json!({ "type": "message", "id": "m", "content": content, "stop_reason": "tool_use", "usage": usage() });
    let told = log(&said("main", &ask, &message));
    let without_pings = |answer: &Answer| -> Vec<Event> {
        answer.events.iter().filter(|event| **event != Event::Ping).cloned().collect()
    };
    assert_eq!(without_pings(&told.takes[0].answer), without_pings(played));
    let cut = streamed(events.split("event: message_delta").next().unwrap());
    let given_up = Some(Fault::Interruption { after_events: 5, how: Interruption::GivenUp });
    assert_eq!(cut.takes[0].answer.fault, given_up);
}
