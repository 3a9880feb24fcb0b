//! Random parents of forks: their history, and the forking message.

use std::rc::Rc;

use forkcast_sim::agent::Entry;
use forkcast_sim::agent::entry::{NamedCall, Nature, ToolUse};
use forkcast_sim::model::answer::Said;
use forkcast_sim::wire::{Message, Piece, Role};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A parent's history, and how it forks.
#[derive(Clone, Debug)]
pub struct Parent {
    pub past: Vec<Past>,
    pub forking: Forking,
    /// Before it forks, the user stops it in the middle of a message with calls.
    pub is_interrupted: bool,
    pub streaming_tools: bool,
    pub thinks: bool,
}

/// A turn of the history.
#[derive(Clone, Debug)]
pub enum Past {
    /// The user types, with an image or without.
    User { words: String, image: Option<usize> },
    /// A message of role `system` in the middle.
    System(String),
    /// The model says something and calls tools.
    Said(Turn),
    /// An earlier fork: launched, reported later.
    Fork(usize),
    /// An error instead of an answer; it is never sent.
    ApiError,
}

#[derive(Clone, Debug)]
pub struct Turn {
    pub thinking: Option<String>,
    pub text: Option<String>,
    pub calls: Vec<usize>,
    pub results: Results,
}

/// The position of results relative to the message of their calls.
#[derive(Clone, Copy, Debug)]
pub enum Results {
    /// All in one message.
    Together,
    /// Each in its own, in the order in which the tools ended: the last call's first.
    OneByOne,
    /// The first arrived while the message was streaming, and precedes it.
    Early,
    /// The user interrupted: the results say so, and a note follows.
    Interrupted,
}

/// The forking message.
#[derive(Clone, Debug)]
pub struct Forking {
    pub thinking: Option<String>,
    pub text: Option<String>,
    /// Tools by number; every [`FORK`] is a fork. At least one is.
    pub calls: Vec<usize>,
}

/// Kinds of calls; the first is a fork if forks are possible.
pub const KINDS: usize = 6;
pub const FORK: usize = 0;

pub fn parents() -> impl Strategy<Value = Parent> {
    let calls = prop_oneof![4 => vec(0..KINDS, 0..6), 1 => vec(0..KINDS, 0..=39)];
    let forking =
        (thought(), maybe_words(), calls, any::<prop::sample::Index>()).prop_map(|(thinking, text, calls, at)| {
            let mut calls = calls;
            calls.insert(at.index(calls.len() + 1), FORK);
            Forking { thinking, text, calls }
        });
    (vec(past(), 0..8), forking, prop::bool::weighted(0.2), any::<bool>(), any::<bool>()).prop_map(
        |(past, forking, is_interrupted, streaming_tools, thinks)| Parent {
            past,
            forking,
            is_interrupted,
            streaming_tools,
            thinks,
        },
    )
}

fn past() -> impl Strategy<Value = Past> {
    prop_oneof![
        4 => (words(), prop::option::weighted(0.3, 0..3_usize)).prop_map(|(words, image)| Past::User { words, image }),
        1 => words().prop_map(Past::System),
        6 => turn().prop_map(Past::Said),
        1 => (1..4_usize).prop_map(Past::Fork),
        1 => Just(Past::ApiError),
    ]
}

fn turn() -> impl Strategy<Value = Turn> {
    let results =
        prop_oneof![Just(Results::Together), Just(Results::OneByOne), Just(Results::Early), Just(Results::Interrupted)];
    let calls = prop_oneof![6 => vec(0..KINDS, 0..5), 1 => vec(0..KINDS, 0..=40)];
    (thought(), maybe_words(), calls, results).prop_map(|(thinking, text, calls, results)| Turn {
        thinking,
        text,
        calls,
        results,
    })
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-z]{1,8}( [a-z]{1,8}){0,6}", 1 => "\\PC{1,12}", 1 => Just("<fork-boilerplate> is a tag".to_owned())]
}

fn maybe_words() -> impl Strategy<Value = Option<String>> {
    prop::option::of(words())
}

fn thought() -> impl Strategy<Value = Option<String>> {
    prop::option::weighted(0.4, words())
}

/// A call of the kind `kind`: name and input. `fork_type` is the type that means a fork, if one is needed.
pub fn called(kind: usize, place: usize, fork_type: Option<&str>) -> (&'static str, Value) {
    match kind {
        FORK => {
            let mut input =
                json!({ "description": format!("part {place}"), "prompt": format!("Look at part {place}.") });
            if let Some(word) = fork_type {
                input["subagent_type"] = word.into();
            }
            ("Agent", input)
        }
        1 => ("Read", json!({ "file_path": format!("/repo/{place}.txt") })),
        2 => ("Glob", json!({ "pattern": "*.rs" })),
        3 => ("Nothing", json!({ "of": "the kind" })),
        4 => ("Read", json!({ "file": "a field that is not there" })),
        _ => (
            "Agent",
            json!({ "description": "named", "prompt": "Say so.", "subagent_type": "general-purpose", "run_in_background": true }),
        ),
    }
}

impl Parent {
    /// The conversation before the user asks for forks.
    pub fn history(&self) -> Vec<Rc<Entry>> {
        let mut entries = vec![Entry::user("h-first".into(), "Hello.", Nature::Typed)];
        for (at, past) in self.past.iter().enumerate() {
            past.write(at, &mut entries);
        }
        entries
    }

    /// The forking message.
    pub fn said(&self, fork_type: Option<&str>) -> Vec<Said> {
        let Forking { thinking, text, calls } = &self.forking;
        let calls = calls.iter().enumerate().map(|(place, kind)| {
            let (name, input) = called(*kind, place, fork_type);
            Said::ToolUse { id: call_id(place), name: name.into(), input }
        });
        let words = thinking.iter().cloned().map(Said::Thinking).chain(text.iter().cloned().map(Said::Text));
        words.chain(calls).collect()
    }
}

/// The id of the forking message's call at `place`.
pub fn call_id(place: usize) -> Rc<str> {
    format!("toolu_fork_{place:03}").into()
}

impl Past {
    fn write(&self, at: usize, entries: &mut Vec<Rc<Entry>>) {
        let uuid = |part: &str| Rc::from(format!("h-{at}-{part}"));
        match self {
            Self::User { words, image } => {
                let image = image.map(|number| {
                    let source =
                        json!({ "type": "base64", "media_type": "image/png", "data": format!("aW1hZ2U{number}") });
                    Piece::new(json!({ "type": "image", "source": source }).to_string())
                });
                let content = image.into_iter().chain([Piece::text(words)]).collect();
                entries.push(Entry::of(uuid("user"), Role::User, content, words, Nature::Typed));
            }
            Self::System(words) => {
                entries.push(Entry::of(
                    uuid("system"),
                    Role::System,
                    vec![Piece::text(words)],
                    words,
                    Nature::Inserted,
                ));
            }
            Self::Said(turn) => turn.write(at, entries),
            Self::Fork(count) => write_fork(at, *count, entries),
            Self::ApiError => {
                let words = "API Error: overloaded";
                entries.push(Entry::of(
                    uuid("error"),
                    Role::Assistant,
                    vec![Piece::text(words)],
                    words,
                    Nature::ApiError,
                ));
            }
        }
    }
}

impl Turn {
    fn write(&self, at: usize, entries: &mut Vec<Rc<Entry>>) {
        let id = |place: usize| Rc::from(format!("toolu_h{at}_{place:02}"));
        let uses: Vec<ToolUse> = self
            .calls
            .iter()
            .enumerate()
            .map(|(place, kind)| {
                let (name, input) = called(*kind, place, None);
                ToolUse { id: id(place), name: name.into(), input: Rc::new(input) }
            })
            .collect();
        let text = self.text.clone().or_else(|| uses.is_empty().then(|| "Well.".to_owned()));
        let result = |call: &ToolUse| {
            let words = if matches!(self.results, Results::Interrupted) { "stopped" } else { "done" };
            (call.id.clone(), Piece::tool_result(&call.id, words, matches!(self.results, Results::Interrupted)))
        };
        let mut results: Vec<_> = uses.iter().map(result).collect();
        let one = |part: usize, result| Entry::results(format!("h-{at}-r{part}").into(), vec![result]);
        if matches!(self.results, Results::Early) && !results.is_empty() {
            entries.push(one(0, results.remove(0)));
        }
        entries.push(assistant(format!("h-{at}-said").into(), self.thinking.as_deref(), text.as_deref(), &uses));
        if matches!(self.results, Results::OneByOne) {
            entries.extend(results.into_iter().rev().enumerate().map(|(part, result)| one(part, result)));
        } else if !results.is_empty() {
            entries.push(Entry::results(format!("h-{at}-results").into(), results));
        }
        let words = if matches!(self.results, Results::Interrupted) { "[Stopped here.]" } else { "Go on." };
        entries.push(Entry::user(format!("h-{at}-next").into(), words, Nature::Inserted));
    }
}

fn assistant(uuid: Rc<str>, thinking: Option<&str>, text: Option<&str>, tool_uses: &[ToolUse]) -> Rc<Entry> {
    let words = thinking.map(|words| Piece::thinking(words, "c2ln")).into_iter().chain(text.map(Piece::text));
    let calls = tool_uses.iter().map(|call| Piece::tool_use(&call.id, &call.name, &call.input));
    let message = Rc::new(Message { role: Role::Assistant, content: words.chain(calls).collect() });
    let plain = Entry::of(uuid, Role::Assistant, Vec::new(), text.unwrap_or_default(), Nature::Said);
    let tool_uses = tool_uses.iter().map(NamedCall::from).collect();
    Rc::new(Entry { message, tool_uses, ..Entry::clone(&plain) })
}

fn write_fork(at: usize, count: usize, entries: &mut Vec<Rc<Entry>>) {
    let uses: Vec<ToolUse> = (0..count)
        .map(|place| {
            let (name, input) = called(FORK, place, None);
            ToolUse { id: format!("toolu_f{at}_{place}").into(), name: name.into(), input: Rc::new(input) }
        })
        .collect();
    let results =
        uses.iter().map(|call| (call.id.clone(), Piece::tool_result(&call.id, "async_launched", false))).collect();
    entries.push(assistant(format!("h-{at}-forks").into(), None, None, &uses));
    entries.push(Entry::results(format!("h-{at}-launched").into(), results));
    entries.push(assistant(format!("h-{at}-waits").into(), None, Some("They run."), &[]));
    for call in &uses {
        let words = format!(
            "<task-notification><tool-use-id>{}</tool-use-id>Scope: it\nResult: fine</task-notification>",
            call.id
        );
        entries.push(Entry::user(format!("h-{at}-told-{}", call.id).into(), &words, Nature::Inserted));
    }
}
