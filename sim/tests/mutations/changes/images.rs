//! Images.

use super::super::case::{At, Case};
use super::super::json::Json;

fn of(case: &mut Case) -> Option<u32> {
    let all = case.of_kind(&["image"]);
    case.dice.any(&all).map(|(_, block)| block.id)
}

pub fn byte_changed(case: &mut Case) -> Option<Vec<At>> {
    let id = of(case)?;
    let data = case.newer.block_mut(id)?.json.get_mut("source")?.get_mut("data")?;
    let text = data.said().filter(|text| text.len() > 2)?;
    let at = case.dice.below(text.len());
    *data = Json::text(&format!("{}Z{}", &text[..at], &text[at + 1..]));
    Some(vec![At::Block(id)])
}

pub fn encoded_anew(case: &mut Case) -> Option<Vec<At>> {
    let id = of(case)?;
    let fresh = case.dice.hex(380);
    let source = case.newer.block_mut(id)?.json.get_mut("source")?;
    source.set("data", Json::text(&fresh));
    source.set("media_type", Json::text("image/jpeg"));
    Some(vec![At::Block(id)])
}

pub fn added(case: &mut Case) -> Option<Vec<At>> {
    let at = (0..case.history()).find(|at| case.older.messages[*at].role == "user")?;
    let data = case.dice.hex(90);
    let image = case.newer.written(&format!(
        r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{data}"}}}}"#
    ));
    let id = image.id;
    case.newer.messages[at].content.insert(0, image);
    Some(vec![At::Block(id)])
}

pub fn removed(case: &mut Case) -> Option<Vec<At>> {
    let id = of(case)?;
    let at = case.message_of(id)?;
    case.newer.messages[at].content.retain(|block| block.id != id);
    (!case.newer.messages[at].content.is_empty()).then(|| vec![At::Block(id)])
}

pub fn became_text(case: &mut Case) -> Option<Vec<At>> {
    let id = of(case)?;
    case.newer.block_mut(id)?.json = Json::parse(r#"{"type":"text","text":"[image removed]"}"#);
    Some(vec![At::Block(id)])
}

/// An image in a tool result.
pub fn in_result(case: &mut Case) -> Option<Vec<At>> {
    let has_image = |json: &Json| {
        json.get("content").is_some_and(|content| content.items().iter().any(|item| item.get("source").is_some()))
    };
    let all = case.of_kind(&["tool_result"]);
    let all: Vec<u32> = all.into_iter().filter(|(_, b)| has_image(&b.json)).map(|(_, b)| b.id).collect();
    let id = case.dice.any(&all)?;
    let fresh = case.dice.hex(210);
    let items = case.newer.block_mut(id)?.json.get_mut("content")?.items_mut();
    let image = items.iter_mut().find_map(|item| item.get_mut("source"))?;
    image.set("data", Json::text(&fresh));
    Some(vec![At::Block(id)])
}
