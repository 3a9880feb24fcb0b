//! Notes that a client makes anew for each request: after the newest message they cost nothing but themselves, before it
//! they break the prefix once per request.

use forkcast_sim::guard::Finding;
use serde_json::{Value, json};

use super::stage::{Folder, long};

/// A client's message: the speaker and the parts.
type Message = (&'static str, Vec<String>);

/// A body in the spelling of a provider.
type Spelling = (&'static str, fn(&[Message]) -> Value);

fn chat_of(model: &str, messages: &[Message]) -> Value {
    let content = |parts: &[String]| match parts {
        [only] => json!(only),
        parts => parts.iter().map(|part| json!({"type": "text", "text": part})).collect(),
    };
    let said = messages.iter().map(|(who, parts)| json!({"role": who, "content": content(parts)}));
    let system = json!({"role": "system", "content": long("rule")});
    json!({"model": model, "messages": std::iter::once(system).chain(said).collect::<Vec<_>>()})
}

fn chat(messages: &[Message]) -> Value {
    chat_of("gpt-5.5", messages)
}

fn responses(messages: &[Message]) -> Value {
    let message = |(who, parts): &Message| {
        let kind = if *who == "user" { "input_text" } else { "output_text" };
        let content: Vec<Value> = parts.iter().map(|part| json!({"type": kind, "text": part})).collect();
        json!({"type": "message", "role": who, "content": content})
    };
    json!({"model": "gpt-5.5", "instructions": long("rule"), "input": messages.iter().map(message).collect::<Vec<_>>()})
}

fn gemini(messages: &[Message]) -> Value {
    let message = |(who, parts): &Message| {
        let role = if *who == "user" { "user" } else { "model" };
        json!({"role": role, "parts": parts.iter().map(|part| json!({"text": part})).collect::<Vec<_>>()})
    };
    json!({"model": "gemini-3.5-pro", "systemInstruction": {"parts": [{"text": long("rule")}]},
        "contents": messages.iter().map(message).collect::<Vec<_>>()})
}

const SPELLINGS: [Spelling; 3] = [("chat", chat), ("responses", responses), ("gemini", gemini)];

fn user(text: impl Into<String>) -> Message {
    ("user", vec![text.into()])
}

/// A conversation of `turns` questions.
fn history(turns: usize) -> Vec<Message> {
    let question = |turn: usize| user(format!("Question {turn}: {}", long("why").split_at(400 + turn).0));
    let answer = |turn: usize| ("assistant", vec![format!("Answer {turn}: {}", long("so").split_at(300 + turn).0)]);
    (1..turns).flat_map(|turn| [question(turn), answer(turn)]).chain([question(turns)]).collect()
}

/// Four requests of a conversation, each with a note: those findings that break a prefix, and the others.
fn checked(spell: fn(&[Message]) -> Value, add: impl Fn(usize, &mut Vec<Message>)) -> [Vec<Finding>; 2] {
    let body = |turns: usize| {
        let mut messages = history(turns);
        add(turns, &mut messages);
        (format!("{turns}.json"), spell(&messages).to_string())
    };
    let files: Vec<(String, String)> = (1..=4).map(body).collect();
    let files: Vec<(&str, String)> = files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
    let (fed, outcome) = Folder::new(&files).check();
    assert_eq!((fed.requests, outcome.report.chains), (4, 1), "{:?}", fed.unchecked);
    let (breaks, harmless) = outcome.report.findings.into_iter().partition(|finding| finding.breaks_prefix);
    [breaks, harmless]
}

fn told(findings: &[Finding]) -> Vec<(usize, &'static str)> {
    findings.iter().map(|finding| (finding.request, finding.cause.word())).collect()
}

const REMOVED: [(usize, &str); 3] = [(1, "message_removed"), (2, "message_removed"), (3, "message_removed")];

/// Notes that share their beginning and end, and notes that share nothing.
const NOTES: [fn(usize) -> String; 2] = [
    |turn| format!("<time>2026-11-30T10:{turn:02}:00Z</time>"),
    |turn| ["alpha", "bravo?", "0 c", "* d!"][turn - 1].repeat(9),
];

#[test]
fn a_note_after_the_newest_message_breaks_nothing() {
    for (name, spell) in SPELLINGS {
        for note in NOTES {
            let own = checked(spell, |turn, messages| messages.push(user(note(turn))));
            assert_eq!((told(&own[0]), told(&own[1])), (vec![], REMOVED.to_vec()), "{name}");
            let part = checked(spell, |turn, messages| messages.last_mut().unwrap().1.push(note(turn)));
            assert_eq!((told(&part[0]), told(&part[1])), (vec![], REMOVED.to_vec()), "{name}, a part");
        }
    }
}

#[test]
fn a_note_with_text_after_it_that_stays_breaks_the_prefix() {
    for (name, spell) in SPELLINGS {
        for note in NOTES {
            let before =
                |turn: usize, messages: &mut Vec<Message>| messages.insert(messages.len() - 1, user(note(turn)));
            let [breaks, harmless] = checked(spell, before);
            assert_eq!((told(&breaks), told(&harmless)), (REMOVED.to_vec(), vec![]), "{name}");
            let first = |turn: usize, messages: &mut Vec<Message>| messages.last_mut().unwrap().1.insert(0, note(turn));
            let [breaks, _] = checked(spell, first);
            assert!(breaks.iter().any(|finding| finding.request == 1), "{name}, a part: {breaks:?}");
        }
        let kept = |_: usize, messages: &mut Vec<Message>| messages.insert(messages.len() - 1, user(long("kept")));
        let [breaks, harmless] = checked(spell, kept);
        let moved = [(1, "message_moved"), (2, "message_moved"), (3, "message_moved")];
        assert_eq!((told(&breaks), told(&harmless)), (moved.to_vec(), vec![]), "{name}");
    }
}

/// zed-industries/zed#23061: the excerpt under the cursor is the last message, and the history goes on before it.
#[test]
fn a_last_message_that_is_replaced_breaks_nothing() {
    const EXCERPTS: [&str; 4] = ["fn main", "let mut", "while x", "return 7"];
    for (name, spell) in SPELLINGS {
        let own = checked(spell, |turn, messages| {
            if turn > 1 {
                messages.last_mut().unwrap().1 = vec![EXCERPTS[turn - 1].repeat(90)];
            }
        });
        assert_eq!(told(&own[0]), [], "{name}");
        let behind = checked(spell, |turn, messages| {
            if turn > 1 {
                messages.last_mut().unwrap().1 = vec![EXCERPTS[turn - 1].repeat(90)];
                messages.push(user(long("kept")));
            }
        });
        assert!(behind[0].len() >= 2, "{name}: what stays behind it is lost: {:?}", behind[0]);
    }
}

/// Since GPT-5.6 `OpenAI` looks at the ends of messages alone: a message that lost its last part is not found.
#[test]
fn a_last_part_that_goes_costs_its_message_where_only_ends_are_looked_at() {
    let part = |turn: usize, messages: &mut Vec<Message>| messages.last_mut().unwrap().1.push(NOTES[0](turn));
    let [breaks, _] = checked(|messages| chat_of("gpt-5.6-sol", messages), part);
    assert_eq!(told(&breaks), REMOVED);
    assert_eq!(breaks[0].path, "messages[1].content[1]", "where it was, not what follows it now");
}

#[test]
fn the_start_of_a_message_is_shown_as_no_text() {
    for (name, spell) in SPELLINGS {
        let own = checked(spell, |turn, messages| messages.push(user(NOTES[1](turn))));
        let before = checked(spell, |turn, messages| messages.insert(messages.len() - 1, user(NOTES[1](turn))));
        for finding in own.into_iter().chain(before).flatten() {
            let shown = format!("{:?}", finding.windows);
            assert!(!shown.contains("message_start"), "{name}: {shown}");
        }
    }
}
