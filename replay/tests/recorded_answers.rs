//! Recorded answers, assembled by the runtime, against the requests that repeat them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_fixtures::beside;
use forkcast_replay::exchange::Dialect;
use forkcast_replay::input::{Inputs, ReadOptions};
use forkcast_replay::recording::Recording;
use forkcast_replay::source::order::{Stream, streams};
use forkcast_sim::diagnosis::{self, Difference};
use forkcast_sim::model::recorded::Take;
use forkcast_sim::model::{Answer, Question, Script, Unscripted};
use forkcast_sim::simulation::{Act, Does, Setup, run};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::{Message, NormalForms, Role, Wire};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// Says one answer, and keeps the history of the question after it.
struct Once {
    answer: Option<Answer>,
    history: Rc<RefCell<Vec<Rc<Message>>>>,
}

impl Script for Once {
    fn answer(&mut self, question: &Question) -> Result<Answer, Unscripted> {
        let next = self.answer.take();
        next.ok_or_else(|| {
            self.history.borrow_mut().clone_from(&question.draft.messages);
            Unscripted("that is all".to_owned())
        })
    }
}

/// The message of the assistant that a session sends after this answer, as JSON.
fn assembled(answer: &Answer) -> Option<String> {
    let history = Rc::new(RefCell::new(Vec::new()));
    let answer = Answer { first_byte: None, streaming: None, arrivals: Vec::new(), ..answer.clone() };
    let mut setup = Setup::new(1, Once { answer: Some(answer), history: Rc::clone(&history) });
    let types = |ms, text: &str| Act { at: Instant::from_millis(ms), does: Does::Types(text.into()) };
    setup.acts = vec![types(0, "One."), types(3_600_000, "Two.")];
    drop(run(setup));
    let history = history.borrow();
    let said: Vec<&str> = history
        .iter()
        .filter(|message| message.role == Role::Assistant)
        .flat_map(|message| message.content.iter().map(|piece| piece.json()))
        .collect();
    (!said.is_empty()).then(|| format!("{{\"role\":\"assistant\",\"content\":[{}]}}", said.join(",")))
}

/// How the requests of a recording repeat the answers before them.
#[derive(Default)]
struct Repeats {
    requests: usize,
    /// Requests that are the one before them, the answer as the runtime assembles it, and what the user added.
    equal: usize,
    /// First differences of the others.
    differences: BTreeMap<String, usize>,
}

impl Repeats {
    fn stream(&mut self, stream: &Stream<'_>) {
        let recording = Recording::of(stream, NormalForms::default());
        let mut last: BTreeMap<Rc<str>, (&Take, &[u8], bool)> = BTreeMap::new();
        assert!(recording.unread.iter().all(|why| why.contains("is no request that our agents send")));
        let exchanges = stream.requests.iter().map(|arrival| arrival.exchange);
        let exchanges = exchanges.filter(|exchange| exchange.dialect == Dialect::Messages);
        for (take, exchange) in recording.takes.iter().zip(exchanges) {
            let body = exchange.body.as_slice();
            let answered = exchange.answer.is_some() && !exchange.failed();
            let before = last.insert(Rc::clone(&take.chain), (take, body, answered));
            if let Some((before, sent, true)) = before.filter(|(_, sent, _)| goes_on(sent, body)) {
                self.pair(&before.answer, sent, body);
            }
        }
    }

    fn pair(&mut self, answer: &Answer, sent: &[u8], next: &[u8]) {
        let Some(expected) = assembled(answer).and_then(|said| expected(sent, &said, next)) else { return };
        let mut wire = Wire::new(NormalForms::default());
        let (Ok(ours), Ok(theirs)) = (wire.read(expected.as_bytes(), "x", ""), wire.read(next, "x", "")) else {
            return;
        };
        self.requests += 1;
        if ours.nodes == theirs.nodes {
            self.equal += 1;
            return;
        }
        let comparison = diagnosis::compare(&wire, &ours, &theirs);
        let told = |first: &Difference| first.cause.word().to_owned();
        let first = comparison.differences.first().map(told);
        *self.differences.entry(first.unwrap_or_else(|| "cut off".to_owned())).or_default() += 1;
    }
}

/// Whether a request has more than an answer in addition to the one before it: first message and model are the same.
fn goes_on(sent: &[u8], body: &[u8]) -> bool {
    let [sent, body] = [sent, body].map(|body| -> Value { serde_json::from_slice(body).unwrap() });
    let count = |body: &Value| body["messages"].as_array().map_or(0, Vec::len);
    sent["model"] == body["model"] && count(&sent) + 2 <= count(&body)
}

/// The request `next` with `said` instead of the answer to `sent`.
fn expected(sent: &[u8], said: &str, next: &[u8]) -> Option<String> {
    let answered = messages(sent)?.len();
    let mut fields: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(next).ok()?;
    let mut all = messages(next)?;
    *all.get_mut(answered)? = RawValue::from_string(said.to_owned()).ok()?;
    fields.insert("messages".to_owned(), to_raw_value(&all).ok()?);
    serde_json::to_string(&fields).ok()
}

fn messages(body: &[u8]) -> Option<Vec<Box<RawValue>>> {
    let fields: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(body).ok()?;
    serde_json::from_str(fields.get("messages")?.get()).ok()
}

/// Requests of real clients whose answer before them is recorded, and the first differences. Braintrust's recorder sorts
/// the keys of bodies, so their order says nothing there.
const FOLDERS: [Folder; 2] = [
    Folder { name: "cassettes-braintrust-js", requests: 68, equal: 63, in_other_order: 5 },
    Folder { name: "cassettes-dd-trace-js", requests: 7, equal: 7, in_other_order: 0 },
];

/// Counts of a folder's requests: all, those that are equal, those with keys in another order.
struct Folder {
    name: &'static str,
    requests: usize,
    equal: usize,
    in_other_order: usize,
}

#[test]
fn requests_repeat_the_answers_that_the_runtime_assembles() {
    for folder in FOLDERS {
        let Some(path) = beside(folder.name) else { continue };
        let inputs = Inputs::read_with(&[&path], &ReadOptions::default().with_answers(), &|_| true).unwrap();
        let mut repeats = Repeats::default();
        for stream in streams(&inputs) {
            repeats.stream(&stream);
        }
        let in_other_order = repeats.differences.remove("key_order").unwrap_or_default();
        assert!(repeats.differences.is_empty(), "{}: {:?}", folder.name, repeats.differences);
        let counts = [repeats.requests, repeats.equal, in_other_order];
        assert_eq!(counts, [folder.requests, folder.equal, folder.in_other_order], "{}", folder.name);
    }
}
