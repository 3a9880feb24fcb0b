//! A recorded session is played back to the same session, and diverges at the same place as the session.

use forkcast_replay::exchange::{Dialect, Exchange, Origin, RecordedUsage};
use forkcast_replay::recording::Recording;
use forkcast_replay::source::Scope;
use forkcast_replay::source::order::{Arrival, Stream};
use forkcast_sim::agent::world::Files;
use forkcast_sim::model::answer::Said;
use forkcast_sim::model::recorded::Fidelity;
use forkcast_sim::model::scripted::{Reply, Rule, Scripted};
use forkcast_sim::service::{Entry, Times};
use forkcast_sim::simulation::{Act, Does, Finished, Setup, run};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::NormalForms;
use serde_json::json;

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
    assert_eq!((recording.takes.len(), recording.unknown_answers, recording.blocks_left_out), (3, 1, 0));
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
    for part in ["does not ask what answer 0", "messages[0]", "loosely"] {
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
