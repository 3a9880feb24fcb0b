//! The system prompt.

use super::super::case::{At, Case, is_excluded};
use super::super::json::Json;

fn counted(case: &Case) -> Vec<usize> {
    (0..case.newer.system.len()).filter(|at| !is_excluded(&case.newer.system[*at].json)).collect()
}

pub fn block_added(case: &mut Case) -> Option<Vec<At>> {
    let at = *counted(case).first()? + case.dice.below(counted(case).len() + 1);
    let said = format!(r#"{{"type":"text","text":"Also mind {}."}}"#, case.dice.hex(9));
    let block = case.newer.written(&said);
    let id = block.id;
    case.newer.system_as_string = false;
    case.newer.system.insert(at, block);
    Some(vec![At::Block(id)])
}

pub fn block_removed(case: &mut Case) -> Option<Vec<At>> {
    let all = counted(case);
    let at = case.dice.any(&all).filter(|_| all.len() > 1)?;
    Some(vec![At::Block(case.newer.system.remove(at).id)])
}

pub fn swapped(case: &mut Case) -> Option<Vec<At>> {
    let all = counted(case);
    (all.len() > 1).then(|| case.newer.system.swap(all[0], all[1]))?;
    Some(vec![At::First])
}

pub fn appended(case: &mut Case) -> Option<Vec<At>> {
    let at = *counted(case).last()?;
    let block = &mut case.newer.system[at];
    let text = block.json.get("text")?.said()?;
    block.json.set("text", Json::text(&format!("{text}\nBe brief.")));
    Some(vec![At::Block(case.newer.system[at].id)])
}

pub fn all_removed(case: &mut Case) -> Option<Vec<At>> {
    let ids: Vec<At> = counted(case).into_iter().map(|at| At::Block(case.newer.system[at].id)).collect();
    case.newer.system.clear();
    case.newer.system_as_string = false;
    (!ids.is_empty()).then_some(ids)
}

pub fn rewritten(case: &mut Case) -> Option<Vec<At>> {
    let all = counted(case);
    let at = case.dice.any(&all)?;
    let told = format!("You are another agent altogether, number {}.", case.dice.hex(6));
    let block = &mut case.newer.system[at];
    block.json.set("text", Json::text(&told));
    Some(vec![At::Block(block.id)])
}

pub fn split(case: &mut Case) -> Option<Vec<At>> {
    let all = counted(case);
    let at = case.dice.any(&all)?;
    let text = case.newer.system[at].json.get("text")?.said()?;
    let cut = text.char_indices().nth(text.chars().count() / 2).map(|(at, _)| at).filter(|at| *at > 0)?;
    case.newer.system[at].json.set("text", Json::text(&text[..cut]));
    let rest = case.newer.written(&format!(r#"{{"type":"text","text":{}}}"#, Json::text(&text[cut..])));
    case.newer.system.insert(at + 1, rest);
    case.newer.system_as_string = false;
    Some(vec![At::Block(case.newer.system[at].id)])
}

pub fn merged(case: &mut Case) -> Option<Vec<At>> {
    let all = counted(case);
    let [.., one, two] = all[..] else { return None };
    let text = |at: usize| case.newer.system[at].json.get("text").and_then(Json::said);
    let both = format!("{}{}", text(one)?, text(two)?);
    case.newer.system.remove(two);
    case.newer.system[one].json.set("text", Json::text(&both));
    Some(vec![At::Block(case.newer.system[one].id)])
}
