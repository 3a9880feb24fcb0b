//! The messages as a sequence.

use super::super::case::{At, Case};
use super::super::generated::sentence;
use super::super::json::Json;
use super::super::prompt::{Block, Message};
use super::super::twin::Sides;

fn blocks(messages: &[Message]) -> Vec<At> {
    let ids = |message: &Message| {
        let own = message.own.iter().map(|own| own.id);
        own.chain(message.content.iter().map(|block| block.id)).collect::<Vec<_>>()
    };
    messages.iter().flat_map(ids).map(At::Block).collect()
}

/// `None` if the newer request still continues the older one because the swapped parts are equal.
fn differs(case: &Case) -> Option<()> {
    let sides = Sides::new(&case.older, &case.newer);
    (sides.common() < sides.old.len()).then_some(())
}

/// A message of the shared history.
fn message(case: &mut Case) -> Option<usize> {
    let history = case.history();
    (history > 0).then(|| case.dice.below(history))
}

pub fn rewritten(case: &mut Case) -> Option<Vec<At>> {
    let all = case.of_kind(&["text"]);
    let (_, block) = case.dice.any(&all)?;
    let told = sentence(&mut case.dice, 12);
    case.newer.block_mut(block.id)?.json.set("text", Json::text(&told));
    Some(vec![At::Block(block.id)])
}

pub fn inserted(case: &mut Case) -> Option<Vec<At>> {
    let at = message(case)?;
    let told = sentence(&mut case.dice, 8);
    let role = *case.dice.pick(&["user", "system", "assistant"]);
    let message = case.newer.says(role, &told);
    let found = blocks(std::slice::from_ref(&message));
    case.newer.messages.insert(at, message);
    Some(found)
}

pub fn exchange_inserted(case: &mut Case) -> Option<Vec<At>> {
    let at = message(case)?;
    let told = [sentence(&mut case.dice, 8), sentence(&mut case.dice, 8)];
    let pair = [case.newer.says("user", &told[0]), case.newer.says("assistant", &told[1])];
    let found = blocks(&pair);
    case.newer.messages.splice(at..at, pair);
    Some(found)
}

pub fn block_inserted(case: &mut Case) -> Option<Vec<At>> {
    let at = message(case)?;
    let told = sentence(&mut case.dice, 8);
    let block = case.newer.says("user", &told).content.remove(0);
    let id = block.id;
    let to = case.dice.below(case.newer.messages[at].content.len().max(1));
    (at + 1 < case.history()).then(|| case.newer.messages[at].content.insert(to, block))?;
    Some(vec![At::Block(id)])
}

pub fn removed(case: &mut Case) -> Option<Vec<At>> {
    let history = case.history();
    let at = (history > 2).then(|| 1 + case.dice.below(history - 2))?;
    let gone = case.newer.messages.remove(at);
    Some(blocks(&[gone])).filter(|found| !found.is_empty())
}

/// A call and its result.
pub fn exchange_removed(case: &mut Case) -> Option<Vec<At>> {
    let history = case.history();
    let at = (history > 3).then(|| 1 + case.dice.below(history - 3))?;
    let gone: Vec<Message> = case.newer.messages.drain(at..at + 2).collect();
    Some(blocks(&gone))
}

pub fn block_removed(case: &mut Case) -> Option<Vec<At>> {
    let several: Vec<usize> = (0..case.history()).filter(|at| case.older.messages[*at].content.len() > 1).collect();
    let at = case.dice.any(&several)?;
    let kinds: Vec<usize> = (0..case.older.messages[at].content.len())
        .filter(|part| super::super::case::kind(&case.newer.messages[at].content[*part].json) != "thinking")
        .collect();
    let part = case.dice.any(&kinds)?;
    Some(vec![At::Block(case.newer.messages[at].content.remove(part).id)])
}

pub fn swapped(case: &mut Case) -> Option<Vec<At>> {
    let history = case.history();
    let at = (history > 1).then(|| case.dice.below(history - 1))?;
    case.newer.messages.swap(at, at + 1);
    differs(case)?;
    Some(vec![At::First])
}

pub fn moved_first(case: &mut Case) -> Option<Vec<At>> {
    let at = message(case).filter(|at| *at > 0)?;
    let moved = case.newer.messages.remove(at);
    case.newer.messages.insert(0, moved);
    differs(case)?;
    Some(vec![At::First])
}

/// A reminder in both requests, at the end of one message in the older and of a later message in the newer.
pub fn reminder_moved(case: &mut Case) -> Option<Vec<At>> {
    let users: Vec<usize> = (0..case.history()).filter(|at| case.older.messages[*at].role == "user").collect();
    let [from, .., to] = users[..] else { return None };
    let block = reminder(case);
    case.older.messages[from].content.push(block.clone());
    case.older.messages[from].as_string = false;
    case.newer.messages[to].content.push(block);
    case.newer.messages[to].as_string = false;
    Some(vec![At::First])
}

/// The reminder moves to the newest user message.
pub fn reminder_at_the_end(case: &mut Case) -> Option<Vec<At>> {
    let users: Vec<usize> = (0..case.history()).filter(|at| case.older.messages[*at].role == "user").collect();
    let from = case.dice.any(&users)?;
    let block = reminder(case);
    case.older.messages[from].content.push(block.clone());
    case.older.messages[from].as_string = false;
    let history = case.history();
    let last = case.newer.messages[history..].iter_mut().rfind(|message| message.role == "user")?;
    last.content.push(block);
    last.as_string = false;
    Some(vec![At::First])
}

fn reminder(case: &mut Case) -> Block {
    let told = format!("<system-reminder>{}</system-reminder>", sentence(&mut case.dice, 6));
    case.newer.block(Json::parse(&format!(r#"{{"type":"text","text":{}}}"#, Json::text(&told))))
}

pub fn truncated(case: &mut Case) -> Option<Vec<At>> {
    let history = case.history();
    let cut = (history > 3).then(|| 1 + case.dice.below(history - 2))?;
    case.newer.messages.drain(..cut);
    Some(vec![At::First])
}

/// The first message stays, and most of the following ones are removed.
pub fn window_slid(case: &mut Case) -> Option<Vec<At>> {
    let history = case.history();
    let cut = (history > 8).then(|| 5 + case.dice.below(history - 7))?;
    case.newer.messages.drain(1..cut);
    Some(vec![At::First])
}

fn rewound_to(case: &mut Case, with: usize) -> Option<Vec<At>> {
    let history = case.history();
    let keep = (history > 4).then(|| 1 + case.dice.below(history - 3))?;
    case.newer.messages.truncate(keep);
    for at in 0..with {
        let told = sentence(&mut case.dice, 14);
        let message = case.newer.says(["user", "assistant"][at % 2], &told);
        case.newer.messages.push(message);
    }
    Some(vec![At::First])
}

pub fn rewound(case: &mut Case) -> Option<Vec<At>> {
    let more = 1 + case.dice.below(5);
    rewound_to(case, more)
}

pub fn rewound_in_silence(case: &mut Case) -> Option<Vec<At>> {
    rewound_to(case, 0)
}

fn summed_up(case: &mut Case, kept: usize) -> Option<Vec<At>> {
    let history = case.history();
    let cut = (history > kept + 5 && (kept > 0 || history > 9)).then(|| history - kept)?;
    let told: Vec<String> = (0..8).map(|_| sentence(&mut case.dice, 10)).collect();
    let told = format!("This conversation goes on from an earlier one. In sum: {}", told.join(" "));
    let summary = case.newer.says("user", &told);
    case.newer.messages.splice(..cut, [summary]);
    Some(vec![At::First])
}

pub fn compacted(case: &mut Case) -> Option<Vec<At>> {
    let len = case.newer.messages.len();
    case.newer.messages.truncate(len.min(case.history()));
    summed_up(case, 0)
}

pub fn compacted_but_the_last(case: &mut Case) -> Option<Vec<At>> {
    let kept = 1 + case.dice.below(3);
    summed_up(case, kept)
}

pub fn compacted_but_a_third(case: &mut Case) -> Option<Vec<At>> {
    let kept = case.history() / 3;
    summed_up(case, kept)
}

/// A summary that identifies itself, for as little as a question, its answer and the reply.
pub fn compacted_by_words(case: &mut Case) -> Option<Vec<At>> {
    let history = case.history();
    let cut = (history > 4).then(|| 3 + case.dice.below(history - 4))?;
    let openings = [
        "This session is being continued from a previous conversation that ran out of context.",
        "Summary of the conversation so far:",
        "## Conversation summary\n",
        "<conversation_summary>",
    ];
    let told = format!("{} {}", case.dice.pick(&openings), sentence(&mut case.dice, 30));
    let summary = case.newer.says("user", &told);
    case.newer.messages.splice(..cut, [summary]);
    Some(vec![At::First])
}

pub fn doubled(case: &mut Case) -> Option<Vec<At>> {
    let at = message(case)?;
    let mut copy = case.newer.messages[at].clone();
    for block in copy.own.iter_mut().chain(&mut copy.content) {
        block.id = case.newer.block(block.json.clone()).id;
    }
    let found = blocks(std::slice::from_ref(&copy));
    case.newer.messages.insert(at + 1, copy);
    (at + 1 < case.history()).then_some(found)
}

pub fn role_changed(case: &mut Case) -> Option<Vec<At>> {
    let single: Vec<usize> = (0..case.history())
        .filter(|at| case.older.messages[*at].content.len() == 1 && case.older.messages[*at].own.is_none())
        .collect();
    let at = case.dice.any(&single)?;
    let message = &mut case.newer.messages[at];
    message.role = if message.role == "user" { "assistant" } else { "user" }.to_owned();
    Some(vec![At::Block(message.content[0].id)])
}

pub fn split(case: &mut Case) -> Option<Vec<At>> {
    let all = case.of_kind(&["text"]);
    let (_, block) = case.dice.any(&all)?;
    let at = case.message_of(block.id)?;
    let text = block.json.get("text")?.said()?;
    let cut = text.char_indices().nth(text.chars().count() / 2).map(|(at, _)| at).filter(|at| *at > 0)?;
    case.newer.block_mut(block.id)?.json.set("text", Json::text(&text[..cut]));
    let rest = case.newer.written(&format!(r#"{{"type":"text","text":{}}}"#, Json::text(&text[cut..])));
    let message = &mut case.newer.messages[at];
    let part = message.content.iter().position(|known| known.id == block.id)?;
    message.content.insert(part + 1, rest);
    message.as_string = false;
    Some(vec![At::Block(block.id)])
}

pub fn merged(case: &mut Case) -> Option<Vec<At>> {
    let is_text = |block: &Block| super::super::case::kind(&block.json) == "text";
    let pairs: Vec<(usize, usize)> = (0..case.history())
        .flat_map(|at| (1..case.older.messages[at].content.len()).map(move |part| (at, part)))
        .filter(|(at, part)| case.older.messages[*at].content[part - 1..=*part].iter().all(is_text))
        .collect();
    let (at, part) = case.dice.any(&pairs)?;
    let content = &mut case.newer.messages[at].content;
    let gone = content.remove(part);
    let kept = &mut content[part - 1];
    let text = |block: &Block| block.json.get("text").and_then(Json::said);
    let both = format!("{}{}", text(kept)?, text(&gone)?);
    kept.json.set("text", Json::text(&both));
    Some(vec![At::Block(kept.id)])
}

pub fn type_left_out(case: &mut Case) -> Option<Vec<At>> {
    let all = case.of_kind(&["text"]);
    let (at, block) = case.dice.any(&all)?;
    case.newer.messages[at].as_string = false;
    case.newer.block_mut(block.id)?.json.remove("type");
    Some(vec![At::Block(block.id)])
}

fn own(case: &mut Case, was: Option<&str>, is: Option<&str>) -> Option<Vec<At>> {
    let at = message(case)?;
    (case.older.messages[at].own.is_none()).then_some(())?;
    let id = case.newer.written("{}").id;
    let keys = |effort: &str| Json::parse(&format!(r#"{{"output_config":{{"effort":"{effort}"}}}}"#));
    let block = |effort: &str| Block { id, json: keys(effort) };
    case.older.messages[at].own = was.map(block);
    case.newer.messages[at].own = is.map(block);
    Some(vec![At::Block(id)])
}

pub fn effort_of_a_message(case: &mut Case) -> Option<Vec<At>> {
    own(case, Some("medium"), Some("low"))
}

pub fn effort_of_a_message_came(case: &mut Case) -> Option<Vec<At>> {
    own(case, None, Some("low"))
}

pub fn effort_of_a_message_went(case: &mut Case) -> Option<Vec<At>> {
    own(case, Some("medium"), None)
}
