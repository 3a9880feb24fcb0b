//! A slow twin of the prefix check: the definition, block by block, over random histories.

use std::collections::BTreeSet;

use forkcast_sim::diagnosis::{Circumstances, ThinkingCheck, ThinkingTurn};
use forkcast_sim::wire::{ChainId, NormalForms, Request, Wire};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{MODEL, thinking, tool};

/// A tool of the client, or the provider's own search.
fn any_tool(name: &str) -> Value {
    match name {
        "web_search" => json!({"type": "web_search_20250305", "name": name}),
        name => tool(name),
    }
}

/// An edit of a random history.
#[derive(Clone, Copy, Debug)]
enum Step {
    Answer {
        thoughts: usize,
    },
    System(u8),
    Tools(u8),
    EditMessage(usize, u8),
    /// White space at the end of a text.
    Pad(usize),
    DropThinking(usize),
    DropFirst,
    PutBack,
    /// Another signature, or the right one again.
    Forge(usize),
    AlterThinking(usize),
    Model(u8),
}

/// The definition, block by block: what was before each thinking block when it was made.
#[derive(Default)]
struct Twin {
    made: Vec<Made>,
}

/// A thinking block.
#[derive(Clone)]
struct Made {
    number: usize,
    /// All content before it.
    before: Vec<String>,
    /// The thinking block before it.
    after: Option<usize>,
    model: u8,
    /// Message and part.
    place: [usize; 2],
}

/// A path, and whether a switch of the model leaves out thinking.
type Verdict = (Option<String>, bool);

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    Thought(usize),
}

/// A history: user and assistant messages in turn.
#[derive(Clone, Default)]
struct History {
    system: u8,
    tools: u8,
    model: u8,
    forged: BTreeSet<usize>,
    altered: BTreeSet<usize>,
    messages: Vec<Vec<Part>>,
}

impl History {
    /// Tools in two orders, one more, and the provider's own search.
    const TOOLS: [&[&str]; 4] =
        [&["Read", "Edit"], &["Edit", "Read"], &["Read", "Edit", "New"], &["Read", "web_search", "Edit"]];

    /// The first two read each other's thinking, the last one reads only its own.
    const MODELS: [&str; 3] = [MODEL, "claude-mythos-5-2", "claude-fable-5-1"];

    fn body(&self) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => json!({"type": "text", "text": text}),
            Part::Thought(number) => self.thought(*number),
        };
        let message = |(at, parts): (usize, &Vec<Part>)| json!({"role": (["user", "assistant"][at % 2]), "content": parts.iter().map(part).collect::<Vec<_>>()});
        let messages: Vec<Value> = self.messages.iter().enumerate().map(message).collect();
        let tools: Vec<Value> = Self::TOOLS[usize::from(self.tools)].iter().map(|name| any_tool(name)).collect();
        let model = Self::MODELS[usize::from(self.model)];
        json!({"model": model, "tools": tools, "system": format!("prompt {}", self.system), "messages": messages})
            .to_string()
    }

    fn thought(&self, number: usize) -> Value {
        let mut thought = thinking(number);
        if self.forged.contains(&number) {
            thought["signature"] = json!(format!("forged-{number}"));
        }
        if self.altered.contains(&number) {
            thought["thinking"] = json!("[removed]");
        }
        thought
    }

    /// All thinking blocks.
    fn thoughts(&self) -> Vec<Made> {
        let mut found: Vec<Made> = Vec::new();
        let mut tools = Self::TOOLS[usize::from(self.tools)].to_vec();
        tools.sort_unstable();
        let mut before = vec![format!("{tools:?}"), format!("system {}", self.system)];
        for (at, parts) in self.messages.iter().enumerate() {
            for (nth, part) in parts.iter().enumerate() {
                match part {
                    Part::Text(text) => before.push(format!("{} {}", at % 2, text.trim())),
                    Part::Thought(number) => {
                        let after = found.last().map(|made| made.number);
                        let (before, place) = (before.clone(), [at, nth]);
                        found.push(Made { number: *number, before, after, model: self.model, place });
                    }
                }
            }
        }
        found
    }

    /// The texts of a message.
    fn texts(&mut self, at: usize) -> impl Iterator<Item = &mut String> {
        let messages = self.messages.len();
        self.messages[at % messages].iter_mut().filter_map(|part| match part {
            Part::Text(text) => Some(text),
            Part::Thought(_) => None,
        })
    }
}

impl Twin {
    /// What the provider says of `sent`, which follows a request to `model`.
    fn judge(&self, sent: &History, model: u8) -> Verdict {
        let (mut rejected, mut is_left_out) = (None, false);
        for now in sent.thoughts() {
            let made = self.made.iter().find(|made| made.number == now.number);
            let is_read = made.is_none_or(|made| made.model == sent.model || (made.model < 2 && sent.model < 2));
            let is_changed =
                made.is_some_and(|made| made.before != now.before || (now.after.is_some() && now.after != made.after));
            if sent.forged.contains(&now.number) || (is_read && is_changed) {
                let [message, part] = now.place;
                rejected = rejected.or(Some(format!("messages[{message}].content[{part}]")));
            }
            is_left_out |= sent.model == 2 && !is_read;
        }
        (rejected, is_left_out && sent.model != model)
    }
}

/// A history that is edited, with its twin.
#[derive(Default)]
struct Edited {
    history: History,
    twin: Twin,
    answers: usize,
    /// A thinking block that was left out, and the text after it.
    dropped: Option<[Part; 2]>,
}

impl Edited {
    fn step(&mut self, step: Step) {
        let Self { history, dropped, .. } = self;
        match step {
            Step::Answer { thoughts } => self.answer(thoughts),
            Step::System(word) => history.system = word,
            Step::Tools(set) => history.tools = set,
            Step::EditMessage(at, word) => {
                history.texts(at).for_each(|text| *text = format!("{} {word}", text.split(' ').next().unwrap()));
            }
            Step::Pad(at) => history.texts(at).for_each(|text| text.push_str(" \n")),
            Step::DropThinking(nth) => {
                let thought = |(at, part): (usize, &Part)| matches!(part, Part::Thought(_)).then_some(at);
                let places = history.messages.iter().enumerate().flat_map(|(message, parts)| {
                    parts.iter().enumerate().filter_map(thought).map(move |part| (message, part))
                });
                if let Some((message, part)) = places.collect::<Vec<_>>().get(nth) {
                    let parts = &mut history.messages[*message];
                    *dropped = Some([parts.remove(*part), parts[*part].clone()]);
                }
            }
            Step::Model(model) => history.model = model,
            Step::Forge(nth) | Step::AlterThinking(nth) => {
                let sent = history.thoughts();
                let Some(number) = sent.get(nth).map(|made| made.number) else { return };
                let set = if matches!(step, Step::Forge(_)) { &mut history.forged } else { &mut history.altered };
                if !set.remove(&number) {
                    set.insert(number);
                }
            }
            Step::DropFirst if history.messages.len() > 2 => drop(history.messages.drain(0..2)),
            Step::DropFirst => {}
            Step::PutBack => {
                if let Some([thought, beside]) = dropped.take()
                    && let Some(parts) = history.messages.iter_mut().find(|parts| parts.contains(&beside))
                {
                    let at = parts.iter().position(|part| *part == beside).unwrap();
                    parts.insert(at, thought);
                }
            }
        }
    }

    /// An answer to the request that was just sent, and the user's next message.
    fn answer(&mut self, thoughts: usize) {
        self.answers += 1;
        let said = self.answers;
        let thought = |nth| [Part::Thought(said * 10 + nth), Part::Text(format!("answer{said}.{nth}"))];
        let mut answer: Vec<Part> = (0..thoughts).flat_map(thought).collect();
        answer.push(Part::Text(format!("end{said}")));
        self.history.messages.push(answer);
        let new = self.history.thoughts().into_iter().filter(|made| made.number / 10 == said);
        self.twin.made.extend(new);
        self.history.messages.push(vec![Part::Text(format!("continue with part {said}"))]);
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..3_usize).prop_map(|thoughts| Step::Answer { thoughts }),
        1 => (0..2_u8).prop_map(Step::System),
        1 => (0..4_u8).prop_map(Step::Tools),
        1 => (0..6_usize, 0..2_u8).prop_map(|(at, word)| Step::EditMessage(at, word)),
        1 => (0..6_usize).prop_map(Step::Pad),
        1 => (0..4_usize).prop_map(Step::DropThinking),
        1 => Just(Step::DropFirst),
        1 => Just(Step::PutBack),
        1 => (0..4_usize).prop_map(Step::Forge),
        1 => (0..4_usize).prop_map(Step::AlterThinking),
        1 => (0..3_u8).prop_map(Step::Model),
    ];
    proptest::collection::vec(step, 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn a_request_is_rejected_if_the_definition_says_so(steps in steps()) {
        let begin = vec![vec![Part::Text("begin with the first part".to_owned())]];
        let mut edited = Edited { history: History { messages: begin, ..History::default() }, ..Edited::default() };
        let (mut wire, mut check) = (Wire::new(NormalForms::DEFAULT), ThinkingCheck::default());
        let mut previous: Option<Request> = None;
        let mut model = 0;
        for step in steps {
            let request = wire.read(edited.history.body().as_bytes(), "", "").unwrap();
            let turn = ThinkingTurn {
                wire: &wire,
                request: &request,
                chain: ChainId(0),
                previous: previous.as_ref(),
                parent: None,
                circumstances: Circumstances::default(),
            };
            let judged = check.take(&turn);
            let found = (judged.rejected.as_ref().map(|rejected| rejected.path.clone()), judged.unread.is_some());
            prop_assert_eq!(found, edited.twin.judge(&edited.history, model), "{:?}", judged);
            model = edited.history.model;
            previous = Some(request);
            edited.step(step);
        }
    }
}
