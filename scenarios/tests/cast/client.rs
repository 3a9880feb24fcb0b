//! What clients do, as transcripts show it: when requests were sent and agents started, who heard of them, what stayed in the cache.

use forkcast_replay::input::Inputs;
use forkcast_replay::replay::{Options as Replayed, SessionReplays};
use forkcast_replay::transcript::Session;
use forkcast_scenarios::cast::comparison::Comparison;
use forkcast_scenarios::cast::otherwise::Otherwise;
use forkcast_scenarios::cast::{Content, cast, cast_foreseen};
use forkcast_scenarios::format::expect::Ends;
use forkcast_scenarios::run::Run;
use forkcast_sim::time::Instant;

use super::{answer, inputs, played, sessions, user, written};

fn text(said: &str) -> String {
    format!(r#"{{"type":"text","text":"{said}"}}"#)
}

fn reads(run: &Run) -> Vec<u64> {
    let main = run.requests.iter().filter(|request| request.agent == 0);
    main.map(|request| request.usage().cache_read_input_tokens).collect()
}

/// A call at 4 s starts an agent in the background. It is answered at 9 s, because hooks ran; the answer to that is at 12 s.
fn with_an_agent() -> Vec<String> {
    let call = r#"{"type":"tool_use","id":"toolu_1","name":"Agent","input":{"description":"d","prompt":"Look.","run_in_background":true}}"#;
    let launched = r#"[{"type":"tool_result","tool_use_id":"toolu_1","content":"Async agent launched successfully."}]"#;
    let launched = user(Some(4), 9, launched).replace(
        r#""message":"#,
        r#""toolUseResult":{"isAsync":true,"status":"async_launched","agentId":"a1","prompt":"Look."},"message":"#,
    );
    vec![
        user(None, 0, r#""Look around.""#),
        answer(0, 4, call, 15_000, 0),
        launched,
        answer(9, 12, &text("It looks."), 500, 15_000),
    ]
}

#[test]
fn agents_start_when_their_calls_were_answered_and_nobody_hears_an_unreported_end() {
    let session = written("launch", &with_an_agent()).remove(0);
    let cast = cast(&session, Content::Full);
    let run = played(&cast).unwrap();
    let departure = Comparison::new(&cast, &run).departure(0.001).map(|(why, _)| why);
    assert_eq!((run.ends, departure), (Ends::Finished, None), "{:?}", run.message);
    let mains = run.requests.iter().filter(|request| request.agent == 0 && request.usage().total_input_tokens() > 0);
    assert_eq!(mains.count(), 2, "the agent is stopped after the end");
}

/// A notification that enters the queue at 20 s and is written down at 26 s.
fn notified(with_trace: bool) -> Session {
    let notice = "<task-notification>\\n<task-id>a1</task-id>\\n<tool-use-id>toolu_1</tool-use-id>\\n<status>completed</status>\\n<result>Seen.</result>\\n</task-notification>";
    let queue = |at_secs: u32, rest: &str| {
        format!(
            r#"{{"type":"queue-operation","sessionId":"s","timestamp":"2026-07-01T10:00:{at_secs:02}.000Z",{rest}}}"#
        )
    };
    let mut lines = with_an_agent();
    lines.push(queue(20, &format!(r#""operation":"enqueue","content":"{notice}""#)));
    lines.extend(with_trace.then(|| queue(26, r#""operation":"dequeue""#)));
    lines.push(user(Some(12), 26, &format!(r#""{notice}""#)));
    lines.push(answer(26, 30, &text("It is there."), 100, 15_500));
    written("notified", &lines).remove(0)
}

#[test]
fn an_agent_ended_when_its_notification_entered_the_queue_if_it_left_it_with_a_trace() {
    for (with_trace, takes) in [(true, "first_byte_ms: 11000"), (false, "first_byte_ms: 17000")] {
        let yaml = cast(&notified(with_trace), Content::Full).yaml();
        assert!(yaml.contains(takes), "{with_trace}: {yaml}");
    }
}

#[test]
fn a_request_with_an_older_line_is_sent_with_the_result_that_it_waited_for() {
    let call = r#"{"type":"tool_use","id":"toolu_1","name":"WebFetch","input":{"url":"a"}}"#;
    let result = r#"[{"type":"tool_result","tool_use_id":"toolu_1","content":"the page"}]"#;
    let queued = r#"{"type":"attachment","sessionId":"s","uuid":"q","parentUuid":"l9","timestamp":"2026-07-01T10:00:06.000Z","version":"2.1.150","attachment":{"type":"queued_command","prompt":"And then?","commandMode":"prompt"}}"#;
    let lines = [
        user(None, 0, r#""What does it say?""#),
        answer(0, 4, call, 15_000, 0),
        user(Some(4), 9, result),
        queued.to_owned(),
        answer(9, 12, &text("Nothing."), 500, 15_000).replace(r#""parentUuid":"l9""#, r#""parentUuid":"q""#),
    ];
    let session = written("queued", &lines).remove(0);
    let cast = cast(&session, Content::Full);
    assert_eq!(cast.takes[1].sent_at, Instant::from_millis(9_000));
    let run = played(&cast).unwrap();
    assert!(Comparison::new(&cast, &run).departure(0.001).is_none());
}

#[test]
fn a_part_of_the_prompt_changed_if_the_provider_said_so() {
    let reason =
        r#""diagnostics":{"cache_miss_reason":{"type":"system_changed","cache_missed_input_tokens":7000}},"usage""#;
    let lines = [
        user(None, 0, r#""Begin.""#),
        answer(0, 4, &text("Begun."), 7_000, 8_000),
        user(Some(4), 10, r#""Go on.""#),
        answer(10, 14, &text("Gone on."), 7_200, 8_000).replace(r#""usage""#, reason),
    ];
    let session = written("diagnosed", &lines).remove(0);
    assert_eq!(reads(&played(&cast(&session, Content::Full)).unwrap()), [8_000, 8_000]);
}

#[test]
fn entries_live_as_long_as_was_billed() {
    let split = |written: u32| {
        let total = format!(r#""cache_creation_input_tokens":{written},"#);
        let split = format!(
            r#"{total}"cache_creation":{{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":{written}}},"#
        );
        (total, split)
    };
    let (total, as_1h) = split(15_000);
    let lines = [
        user(None, 0, r#""Begin.""#),
        answer(0, 4, &text("Begun."), 15_000, 0).replace(&total, &as_1h),
        user(Some(4), 10, r#""Go on.""#),
        answer(10, 14, &text("Gone on."), 200, 15_000),
    ];
    let session = written("lifetimes", &lines).remove(0);
    let run = played(&cast(&session, Content::Full)).unwrap();
    let written = run.requests.iter().map(|request| request.usage());
    let written: Vec<_> =
        written.map(|usage| (usage.ephemeral_5m_input_tokens, usage.ephemeral_1h_input_tokens)).collect();
    assert_eq!(written, [(0, 15_003), (200, 0)]);
}

/// Two sessions of a user: one that pauses for 20 minutes, and one that begins shortly before it goes on.
fn neighbours() -> (tempfile::TempDir, Inputs) {
    let later = |line: String, minute: &str| line.replace("T10:00:", &format!("T10:{minute}:"));
    let first = [
        user(None, 0, r#""Begin.""#),
        answer(0, 4, &text("Begun."), 15_000, 0),
        later(user(Some(4), 10, r#""Go on.""#), "20"),
        later(answer(10, 14, &text("Gone on."), 7_200, 8_000), "20"),
    ];
    let of_other = |line: String| later(line.replace(r#""sessionId":"s""#, r#""sessionId":"t""#), "18");
    let second = [user(None, 30, r#""Other.""#), answer(30, 34, &text("Done."), 500, 8_000)].map(of_other);
    let folder = tempfile::tempdir().unwrap();
    for (name, lines) in [("s", first.to_vec()), ("t", second.to_vec())] {
        std::fs::write(folder.path().join(format!("{name}.jsonl")), lines.join("\n") + "\n").unwrap();
    }
    let read = inputs(&[folder.path().to_owned()]);
    (folder, read)
}

#[test]
fn other_sessions_that_were_read_show_what_they_keep_in_the_cache() {
    let (_folder, inputs) = neighbours();
    let (at, session) = sessions(&inputs).into_iter().enumerate().find(|(_, session)| &*session.id == "s").unwrap();
    let foreseen = SessionReplays::new(&inputs, Replayed::default()).foresee(at, &session);
    let among = cast_foreseen(&session, Content::Full, &Otherwise::default(), foreseen);
    assert_eq!(reads(&played(&cast(&session, Content::Full)).unwrap()), [0, 0]);
    assert_eq!(reads(&played(&among).unwrap()), [0, 7_501]);
}
