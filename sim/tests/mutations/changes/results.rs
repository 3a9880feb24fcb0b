//! Tool calls, their results, and thinking.

use super::super::case::{At, Case, kind};
use super::super::json::Json;

const PLACEHOLDERS: [&str; 5] = [
    "[Old tool result content cleared]",
    "[tool output removed to save context]",
    "<result omitted>",
    "[...]",
    "(output pruned)",
];

fn clear(case: &mut Case, id: u32, with: &str) -> Option<At> {
    let block = case.newer.block_mut(id)?;
    let content = block.json.get_mut("content")?;
    *content = Json::text(with);
    Some(At::Block(id))
}

/// Results with content longer than `bytes`.
fn longer(case: &Case, bytes: usize) -> Vec<u32> {
    let long = |json: &Json| json.get("content").is_some_and(|content| content.to_string().len() > bytes);
    case.of_kind(&["tool_result"]).into_iter().filter(|(_, b)| long(&b.json)).map(|(_, b)| b.id).collect()
}

pub fn one_cleared(case: &mut Case) -> Option<Vec<At>> {
    let all = longer(case, 60);
    let id = case.dice.any(&all)?;
    let with = *case.dice.pick(&PLACEHOLDERS);
    Some(vec![clear(case, id, with)?])
}

pub fn all_cleared(case: &mut Case) -> Option<Vec<At>> {
    let all = longer(case, 60);
    let with = *case.dice.pick(&PLACEHOLDERS);
    let found: Option<Vec<At>> = all.into_iter().map(|id| clear(case, id, with)).collect();
    found.filter(|found| !found.is_empty())
}

pub fn emptied(case: &mut Case) -> Option<Vec<At>> {
    let all = longer(case, 60);
    let id = case.dice.any(&all)?;
    Some(vec![clear(case, id, "")?])
}

pub fn error_flipped(case: &mut Case) -> Option<Vec<At>> {
    let all = case.of_kind(&["tool_result"]);
    let (_, block) = case.dice.any(&all)?;
    let json = &mut case.newer.block_mut(block.id)?.json;
    let is = json.get("is_error") == Some(&Json::Raw("true".into()));
    json.set("is_error", Json::Raw(if is { "false" } else { "true" }.into()));
    Some(vec![At::Block(block.id)])
}

pub fn id_changed(case: &mut Case) -> Option<Vec<At>> {
    let all = case.of_kind(&["tool_use"]);
    let (_, block) = case.dice.any(&all)?;
    renew(case, &block.json.get("id")?.said()?)
}

/// Gives a call and its result another id.
fn renew(case: &mut Case, id: &str) -> Option<Vec<At>> {
    let fresh = Json::text(&format!("toolu_new{}", case.dice.hex(12)));
    let shared: Vec<u32> = case.older.blocks_mut().map(|block| block.id).collect();
    let mut found = Vec::new();
    for block in case.newer.blocks_mut() {
        for key in ["id", "tool_use_id"] {
            if block.json.get(key).and_then(Json::said).as_deref() == Some(id) {
                block.json.set(key, fresh.clone());
                found.extend(shared.contains(&block.id).then_some(At::Block(block.id)));
            }
        }
    }
    Some(found).filter(|found| !found.is_empty())
}

pub fn all_ids_renewed(case: &mut Case) -> Option<Vec<At>> {
    let ids: Vec<String> =
        case.of_kind(&["tool_use"]).iter().filter_map(|(_, block)| block.json.get("id")?.said()).collect();
    let mut found = Vec::new();
    for id in ids {
        found.extend(renew(case, &id)?);
    }
    Some(found).filter(|found| !found.is_empty())
}

pub fn input_keys(case: &mut Case) -> Option<Vec<At>> {
    let all = case.of_kind(&["tool_use"]);
    let (_, block) = case.dice.any(&all)?;
    let which = case.dice.below(2);
    let input = case.newer.block_mut(block.id)?.json.get_mut("input")?;
    input.objects_mut(which, &mut 0)?.reverse();
    Some(vec![At::Block(block.id)])
}

pub fn input_number(case: &mut Case) -> Option<Vec<At>> {
    let all = case.of_kind(&["tool_use"]);
    let (_, block) = case.dice.any(&all)?;
    let limit = case.newer.block_mut(block.id)?.json.get_mut("input")?.get_mut("limit")?;
    (limit.said().is_none() && limit.items().is_empty()).then_some(())?;
    *limit = Json::Raw(format!("{limit}.0"));
    Some(vec![At::Block(block.id)])
}

/// Messages of the shared history with at least two blocks of this kind.
fn several(case: &Case, of: &str) -> Vec<usize> {
    let many = |at: &usize| case.older.messages[*at].content.iter().filter(|b| kind(&b.json) == of).count() > 1;
    (0..case.history()).filter(many).collect()
}

pub fn results_by_completion(case: &mut Case) -> Option<Vec<At>> {
    let all = several(case, "tool_result");
    let at = case.dice.any(&all)?;
    let content = &mut case.newer.messages[at].content;
    let slots: Vec<usize> = (0..content.len()).filter(|slot| kind(&content[*slot].json) == "tool_result").collect();
    let calls = case.older.messages.get(at.checked_sub(1)?)?.content.iter();
    let known = calls.filter(|block| kind(&block.json) == "tool_use").count();
    (known >= slots.len()).then(|| content.swap(slots[0], slots[1]))?;
    Some(Vec::new())
}

pub fn calls_reordered(case: &mut Case) -> Option<Vec<At>> {
    let all = several(case, "tool_use");
    let at = case.dice.any(&all)?;
    let content = &mut case.newer.messages[at].content;
    let slots: Vec<usize> = (0..content.len()).filter(|slot| kind(&content[*slot].json) == "tool_use").collect();
    content.swap(slots[0], slots[1]);
    Some(vec![At::First])
}

fn thoughts(case: &Case) -> Vec<u32> {
    case.of_kind(&["thinking"]).into_iter().map(|(_, block)| block.id).collect()
}

fn strip(case: &mut Case, ids: &[u32]) -> Option<Vec<At>> {
    let alone = |at: usize, case: &Case| case.newer.messages[at].content.len() < 2;
    let mut found = Vec::new();
    for id in ids {
        let at = case.message_of(*id)?;
        if !alone(at, case) {
            case.newer.messages[at].content.retain(|block| block.id != *id);
            found.push(At::Block(*id));
        }
    }
    Some(found).filter(|found| !found.is_empty())
}

pub fn thinking_stripped(case: &mut Case) -> Option<Vec<At>> {
    let all = thoughts(case);
    let id = case.dice.any(&all)?;
    strip(case, &[id])
}

pub fn all_thinking_stripped(case: &mut Case) -> Option<Vec<At>> {
    let all = thoughts(case);
    strip(case, &all)
}

pub fn thinking_changed(case: &mut Case) -> Option<Vec<At>> {
    let all = thoughts(case);
    let id = case.dice.any(&all)?;
    let thinking = case.newer.block_mut(id)?.json.get_mut("thinking")?;
    *thinking = Json::text(&format!("Another thought, {}", thinking.said()?));
    Some(vec![At::Block(id)])
}
