//! Recordings with whole bodies, played by the runtime: its requests against the recorded ones.

use std::collections::BTreeMap;

use forkcast_fixtures::beside;
use forkcast_replay::input::{Inputs, ReadOptions};
use forkcast_replay::source::order::{Stream, streams};
use forkcast_scenarios::cast::otherwise::Otherwise;
use forkcast_scenarios::cast::recorded::{ExchangeCast, Play, casts, of_stream};
use forkcast_scenarios::cast::{Content, Take};
use forkcast_scenarios::format::expect::Ends;
use forkcast_scenarios::run::{Options, Run, play_script};
use forkcast_sim::diagnosis;
use forkcast_sim::model::{Delta, Event};
use forkcast_sim::simulation::Passage;
use forkcast_sim::wire::{NormalForms, Wire};
use serde_json::{Value, json};

/// Requests of recorded sessions, by how they compare.
#[derive(Debug, Default)]
struct Compared {
    finished: usize,
    played: usize,
    equal: usize,
    /// Equal but for the order of keys. Braintrust's recorder sorts the keys of bodies that it stores as JSON, so their order
    /// says nothing there.
    in_other_order: usize,
    /// First differences of the others.
    differences: BTreeMap<String, usize>,
}

impl Compared {
    /// Plays a session and compares its requests with the recorded ones that got the same answers.
    fn play(&mut self, whole: ExchangeCast, stream: &Stream<'_>) {
        let ExchangeCast { cast, original } = whole;
        let body = |take: &Take| {
            let arrival = original.recording.arrivals.get((take.line as usize).checked_sub(1)?)?;
            Some((take.reply.clone(), stream.requests[*arrival].exchange.body.as_slice()))
        };
        let bodies: BTreeMap<String, &[u8]> = cast.takes.iter().filter_map(body).collect();
        let scenario = cast.scenario(&[]).unwrap();
        let voices = original.voices(&cast, &scenario, Play::Cast);
        let run = play_script(scenario, voices, &Options::default(), |_| true);
        self.finished += usize::from(run.ends == Ends::Finished);
        self.compare(&run, &bodies);
    }

    fn compare(&mut self, run: &Run, bodies: &BTreeMap<String, &[u8]>) {
        let agent = |at: usize| run.agents[at].id.clone();
        let sent: BTreeMap<_, _> =
            run.requests.iter().map(|request| ((agent(request.agent), request.turn), request)).collect();
        for said in &run.utterances {
            let body = said.reply.as_deref().and_then(|reply| bodies.get(reply));
            let Some((body, request)) = body.zip(sent.get(&(said.agent.clone(), said.turn))) else { continue };
            let mut wire = Wire::new(NormalForms::default());
            let (ours, theirs) = (wire.take(&request.draft(), "x"), wire.read(body, "x", "").unwrap());
            self.played += 1;
            let first = diagnosis::compare(&wire, &theirs, &ours).differences.into_iter().next();
            match first {
                _ if ours.nodes == theirs.nodes => self.equal += 1,
                Some(first) if first.cause.word() == "key_order" => self.in_other_order += 1,
                Some(first) => *self.differences.entry(first.cause.word().to_owned()).or_default() += 1,
                None => *self.differences.entry("another length".to_owned()).or_default() += 1,
            }
        }
    }
}

/// Recorded requests that are played, and those that must be equal. Measured on 2026-11-25.
struct Floor {
    place: &'static str,
    played: usize,
    equal: usize,
    in_other_order: usize,
}

const FLOORS: [Floor; 4] = [
    Floor { place: "cassettes-braintrust-js", played: 158, equal: 153, in_other_order: 5 },
    Floor { place: "cassettes-dd-trace-js", played: 24, equal: 24, in_other_order: 0 },
    Floor {
        place: "wire-cache-fix/harvested/pinned-s-4b6a435234bf-26-28.full.json.gz",
        played: 22,
        equal: 21,
        in_other_order: 0,
    },
    Floor {
        place: "wire-cache-fix/harvested/pinned-s-86a4ec44206b-69-71.json.gz",
        played: 49,
        equal: 48,
        in_other_order: 0,
    },
];

/// Prints its table: `cargo test -p forkcast-scenarios --test all -- bytes:: --nocapture`.
#[test]
fn requests_of_recorded_clients_are_those_of_the_runtime() {
    println!("recording: sessions, finished; requests that are played, equal, equal but for key order; the others");
    for floor in FLOORS {
        let Some(path) = beside(floor.place) else { continue };
        let inputs = Inputs::read_with(&[path], &ReadOptions::default().with_answers(), &|_| true).unwrap();
        let mut sum = Compared::default();
        let mut sessions = 0;
        for stream in streams(&inputs) {
            for whole in of_stream(&stream, Content::Full, &Otherwise::default()) {
                sessions += 1;
                sum.play(whole, &stream);
            }
        }
        let Compared { finished, played, equal, in_other_order, differences } = sum;
        println!("{}: {sessions}, {finished}; {played}, {equal}, {in_other_order}; {differences:?}", floor.place);
        assert_eq!(finished, sessions, "{}", floor.place);
        assert!(played >= floor.played && equal >= floor.equal, "{}: {played} played, {equal} equal", floor.place);
        assert_eq!(in_other_order, floor.in_other_order, "{}", floor.place);
    }
}

/// A call with its answer. `session` is where clients put it.
fn call(session: &str, messages: &[Value], answer: &str) -> String {
    let user = json!({ "session_id": session }).to_string();
    let tools = json!([{ "name": "Read", "description": "Reads.", "input_schema": { "type": "object" } }]);
    let request = json!({ "model": "claude-opus-4-8", "max_tokens": 9, "messages": messages, "tools": tools,
        "metadata": { "user_id": user } });
    let usage = json!({ "input_tokens": 900, "output_tokens": 4 });
    let response = json!({ "type": "message", "content": [{ "type": "text", "text": answer }], "stop_reason": "end_turn",
        "usage": usage });
    json!({ "v": 1, "request": request, "response": response }).to_string()
}

fn line(role: &str, text: &str) -> Value {
    json!({ "role": role, "content": text })
}

/// The texts that the runs of a log were answered with, and the gaps, by session.
fn played(log: &str) -> Vec<(String, Vec<String>, Vec<String>)> {
    let inputs = Inputs::from_bytes("log.jsonl", log.as_bytes(), ReadOptions::default().with_answers());
    let session = |whole: ExchangeCast| {
        let ExchangeCast { cast, original } = whole;
        let scenario = cast.scenario(&[]).unwrap();
        let voices = original.voices(&cast, &scenario, Play::Cast);
        let run = play_script(scenario, voices, &Options { keeps_answers: true, ..Options::default() }, |_| true);
        assert_eq!(run.ends, Ends::Finished, "{:?}", run.message);
        let text = |passage: &Passage| {
            let deltas = passage.answer.events.iter().filter_map(|event| match event {
                Event::BlockDelta { delta: Delta::Text(text), .. } => Some(&**text),
                _ => None,
            });
            deltas.collect::<String>()
        };
        let gaps = cast.gaps.iter().map(ToString::to_string).collect();
        (cast.name.clone(), run.traffic.iter().map(text).collect(), gaps)
    };
    casts(&inputs, Content::Full, &Otherwise::default()).into_iter().map(session).collect()
}

#[test]
fn damaged_recordings_of_two_sessions_are_played_as_far_as_they_go() {
    let begin = |text: &str| vec![line("user", text)];
    let go_on = |before: &[Value], said: &str, text: &str| -> Vec<Value> {
        [before, &[line("assistant", said), line("user", text)]].concat()
    };
    let (a1, b1) = (begin("One."), begin("Eins."));
    let (a2, b2) = (go_on(&a1, "Yes.", "Two."), go_on(&b1, "Ja.", "Zwei."));
    let a3 = go_on(&a2, "No.", "Three.");
    let torn = call("b", &go_on(&b2, "Nein.", "Drei."), "Ende.");
    let log = [
        call("a", &a1, "Yes."),
        call("b", &b1, "Ja."),
        call("b", &b2, "Nein."),
        // The second request of this session is missing; the third one repeats its answer.
        call("a", &a3, "End."),
        torn[..torn.len() / 2].to_owned(),
    ];
    let sessions = played(&log.join("\n"));
    let [(first, said_a, gaps_a), (second, said_b, gaps_b)] = &sessions[..] else { panic!("{sessions:?}") };
    assert_eq!((&**first, &**second), ("a", "b"));
    assert_eq!(said_a[..], ["Yes.", "No.", "End."]);
    assert_eq!(said_b[..], ["Ja.", "Nein."]);
    let located = "log.jsonl, request 3: 1 answers before it have no request; they are played from its history";
    assert_eq!(gaps_a[..], [located]);
    assert_eq!(gaps_b[..], [""; 0]);
}
