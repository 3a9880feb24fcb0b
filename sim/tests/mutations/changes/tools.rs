//! The tool list.

use super::super::case::{At, Case, is_excluded};
use super::super::json::Json;
use super::super::prompt::{Block, Prompt};
use forkcast_fixtures::Dice;

fn definition(prompt: &mut Prompt, dice: &mut Dice) -> Block {
    let name = format!("{}{}", dice.pick(&["Added", "Zoom", "Another"]), dice.hex(3));
    prompt.written(&format!(
        r#"{{"name":"{name}","description":"Does what {} says.","input_schema":{{"type":"object","properties":{{}}}}}}"#,
        dice.hex(6)
    ))
}

fn add(case: &mut Case, at: usize) -> Option<Vec<At>> {
    let block = definition(&mut case.newer, &mut case.dice);
    let id = block.id;
    case.newer.tools.insert(at, block);
    Some(vec![At::Block(id)])
}

pub fn added_first(case: &mut Case) -> Option<Vec<At>> {
    add(case, 0)
}

pub fn added_between(case: &mut Case) -> Option<Vec<At>> {
    let len = case.newer.tools.len();
    (len > 1).then(|| 1 + case.dice.below(len - 1)).and_then(|at| add(case, at))
}

pub fn added_last(case: &mut Case) -> Option<Vec<At>> {
    let len = case.newer.tools.len();
    (len > 0).then_some(len).and_then(|at| add(case, at))
}

pub fn several_added(case: &mut Case) -> Option<Vec<At>> {
    let mut found = added_first(case)?;
    found.extend(added_last(case)?);
    Some(found)
}

/// Indices of tools that are part of the prompt.
fn counted(case: &Case) -> Vec<usize> {
    (0..case.newer.tools.len()).filter(|at| !is_excluded(&case.newer.tools[*at].json)).collect()
}

fn remove(case: &mut Case, at: usize) -> Option<Vec<At>> {
    Some(vec![At::Block(case.newer.tools.remove(at).id)])
}

pub fn removed_first(case: &mut Case) -> Option<Vec<At>> {
    let at = *counted(case).first()?;
    remove(case, at)
}

pub fn removed_between(case: &mut Case) -> Option<Vec<At>> {
    let all = counted(case);
    let at = case.dice.any(all.get(1..all.len().checked_sub(1)?)?)?;
    remove(case, at)
}

pub fn removed_last(case: &mut Case) -> Option<Vec<At>> {
    let at = *counted(case).last()?;
    remove(case, at)
}

pub fn all_removed(case: &mut Case) -> Option<Vec<At>> {
    let ids = counted(case).into_iter().map(|at| At::Block(case.newer.tools[at].id)).collect::<Vec<_>>();
    case.newer.tools.clear();
    (!ids.is_empty()).then_some(ids)
}

pub fn swapped(case: &mut Case) -> Option<Vec<At>> {
    let all = counted(case);
    let at = case.dice.any(all.get(..all.len().checked_sub(1)?)?)?;
    let other = *all.iter().find(|other| **other > at)?;
    case.newer.tools.swap(at, other);
    Some(vec![At::First])
}

pub fn swapped_far(case: &mut Case) -> Option<Vec<At>> {
    let all = counted(case);
    (all.len() > 3).then(|| case.newer.tools.swap(all[0], all[all.len() - 1]))?;
    Some(vec![At::First])
}

pub fn moved_first(case: &mut Case) -> Option<Vec<At>> {
    let all = counted(case);
    let at = case.dice.any(all.get(1..)?)?;
    let block = case.newer.tools.remove(at);
    case.newer.tools.insert(0, block);
    Some(vec![At::First])
}

pub fn moved_last(case: &mut Case) -> Option<Vec<At>> {
    let all = counted(case);
    let at = case.dice.any(all.get(..all.len().checked_sub(1)?)?)?;
    let block = case.newer.tools.remove(at);
    case.newer.tools.push(block);
    Some(vec![At::First])
}

pub fn sorted_anew(case: &mut Case) -> Option<Vec<At>> {
    let order = |tools: &[Block]| tools.iter().map(|tool| tool.id).collect::<Vec<_>>();
    let before = order(&case.newer.tools);
    let name = |tool: &Block| tool.json.get("name").and_then(Json::said);
    case.newer.tools.sort_by_key(name);
    if order(&case.newer.tools) == before {
        case.newer.tools.reverse();
    }
    (counted(case).len() > 1).then(|| vec![At::First])
}

pub fn shuffled(case: &mut Case) -> Option<Vec<At>> {
    let order = |tools: &[Block]| tools.iter().map(|tool| tool.id).collect::<Vec<_>>();
    let before = order(&case.newer.tools);
    case.dice.shuffle(&mut case.newer.tools);
    (order(&case.newer.tools) != before && counted(case).len() > 2).then(|| vec![At::First])
}

/// A tool of the prompt, for a change.
fn changed(case: &mut Case, change: impl FnOnce(&mut Json, &mut Dice) -> Option<()>) -> Option<Vec<At>> {
    let all = counted(case);
    let at = case.dice.any(&all)?;
    let tool = &mut case.newer.tools[at];
    change(&mut tool.json, &mut case.dice)?;
    Some(vec![At::Block(case.newer.tools[at].id)])
}

pub fn renamed(case: &mut Case) -> Option<Vec<At>> {
    changed(case, |tool, dice| {
        tool.set("name", Json::text(&format!("Renamed{}", dice.hex(3))));
        Some(())
    })
}

pub fn renamed_and_described(case: &mut Case) -> Option<Vec<At>> {
    changed(case, |tool, dice| {
        tool.set("name", Json::text(&format!("Renamed{}", dice.hex(3))));
        tool.get("description")?;
        tool.set("description", Json::text(&format!("It works otherwise now: {}.", dice.hex(8))));
        Some(())
    })
}

pub fn described_anew(case: &mut Case) -> Option<Vec<At>> {
    changed(case, |tool, dice| {
        tool.get("description")?;
        tool.set("description", Json::text(&format!("It works otherwise now: {}.", dice.hex(8))));
        Some(())
    })
}

pub fn property_added(case: &mut Case) -> Option<Vec<At>> {
    changed(case, |tool, dice| {
        let properties = tool.get_mut("input_schema")?.get_mut("properties")?;
        properties.set(&format!("new_{}", dice.hex(3)), Json::parse(r#"{"type":"boolean"}"#));
        Some(())
    })
}

pub fn property_removed(case: &mut Case) -> Option<Vec<At>> {
    changed(case, |tool, _| {
        tool.get_mut("input_schema")?.get_mut("properties")?.get("limit")?;
        tool.get_mut("input_schema")?.get_mut("properties")?.remove("limit");
        Some(())
    })
}

pub fn type_changed(case: &mut Case) -> Option<Vec<At>> {
    changed(case, |tool, _| {
        let limit = tool.get_mut("input_schema")?.get_mut("properties")?.get_mut("limit")?;
        limit.set("type", Json::text("number"));
        Some(())
    })
}

pub fn required_changed(case: &mut Case) -> Option<Vec<At>> {
    changed(case, |tool, _| {
        *tool.get_mut("input_schema")?.get_mut("required")? = Json::parse(r#"["path","limit"]"#);
        Some(())
    })
}

pub fn schema_keys(case: &mut Case) -> Option<Vec<At>> {
    changed(case, |tool, dice| {
        let schema = tool.get_mut("input_schema")?;
        let which = dice.below(2);
        schema.objects_mut(which, &mut 0)?.reverse();
        Some(())
    })
}

pub fn strict(case: &mut Case) -> Option<Vec<At>> {
    changed(case, |tool, _| {
        tool.set("strict", Json::Raw("true".into()));
        Some(())
    })
}

pub fn moved_and_changed(case: &mut Case) -> Option<Vec<At>> {
    let found = described_anew(case)?;
    let At::Block(id) = found[0] else { return None };
    let all = counted(case);
    let at = all.iter().position(|at| case.newer.tools[*at].id == id)?;
    let other = all.get(at + 1).or(all.get(at.checked_sub(1)?))?;
    case.newer.tools.swap(all[at], *other);
    Some(found)
}

pub fn deferred_loaded(case: &mut Case) -> Option<Vec<At>> {
    (!case.newer.tools.is_empty()).then_some(())?;
    let at = case.dice.below(case.newer.tools.len() + 1);
    let mut block = definition(&mut case.newer, &mut case.dice);
    block.json.set("defer_loading", Json::Raw("true".into()));
    case.newer.tools.insert(at, block);
    Some(Vec::new())
}
