//! The same prompt in other JSON spellings, and changes outside the prompt.

use super::super::case::{At, Case, is_excluded};
use super::super::generated::mark;
use super::super::json::Json;
use super::super::prompt::Block;

fn fine() -> Option<Vec<At>> {
    Some(Vec::new())
}

pub fn nothing(_: &mut Case) -> Option<Vec<At>> {
    fine()
}

pub fn string_or_list(case: &mut Case) -> Option<Vec<At>> {
    case.newer.system_as_string = !case.newer.system_as_string && case.newer.system.len() == 1;
    case.newer.messages.iter_mut().for_each(|message| message.as_string = !message.as_string);
    for block in case.newer.messages.iter_mut().flat_map(|message| message.content.iter_mut()) {
        let Some(content) = block.json.get_mut("content") else { continue };
        if let Some(text) = content.said() {
            *content = Json::parse(&format!(r#"[{{"type":"text","text":{}}}]"#, Json::text(&text)));
        }
    }
    fine()
}

/// The same text with other escapes.
fn escaped(text: &str) -> String {
    let mut out = String::from("\"");
    for (at, c) in text.chars().enumerate() {
        match c {
            '/' => out.push_str("\\/"),
            'e' if at % 3 == 0 => out.push_str("\\u0065"),
            c if !c.is_ascii() || c < ' ' || c == '"' || c == '\\' => {
                let mut units = [0; 2];
                c.encode_utf16(&mut units).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04X}")));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

pub fn escapes(case: &mut Case) -> Option<Vec<At>> {
    for block in case.newer.blocks_mut() {
        let mut all = Vec::new();
        // A header is recognised by its raw first characters, as sent.
        if !is_excluded(&block.json) {
            block.json.strings_mut(&mut all);
        }
        for text in all {
            let said = text.said()?;
            *text = Json::Raw(escaped(&said));
        }
    }
    // Values that determine what a block is are compared as sent.
    for block in case.newer.blocks_mut() {
        plain_words(&mut block.json);
    }
    fine()
}

fn plain_words(json: &mut Json) {
    if let Some(word) = json.get_mut("type")
        && let Some(said) = word.said()
    {
        *word = Json::text(&said);
    }
    for key in ["content", "source", "cache_control"] {
        match json.get_mut(key) {
            Some(Json::List(items)) => items.iter_mut().for_each(plain_words),
            Some(value @ Json::Object(_)) => {
                plain_words(value);
                if let Some(ttl) = value.get_mut("ttl") {
                    *ttl = Json::text(&ttl.said().unwrap_or_default());
                }
            }
            _ => {}
        }
    }
}

fn turn_keys(json: &mut Json) {
    let Json::Object(members) = json else { return };
    members.reverse();
    for (key, value) in members {
        match (key.as_str(), value) {
            ("content", Json::List(items)) => items.iter_mut().for_each(turn_keys),
            ("source", value) => turn_keys(value),
            _ => {}
        }
    }
}

pub fn block_keys(case: &mut Case) -> Option<Vec<At>> {
    let known = ["text", "thinking", "tool_use", "tool_result", "image", "document"];
    let sorted = |block: &Block| {
        let tool = block.json.get("name").is_some() && block.json.get("input").is_none();
        tool || known.contains(&super::super::case::kind(&block.json).as_str())
    };
    case.newer.blocks_mut().filter(|block| sorted(block)).for_each(|block| turn_keys(&mut block.json));
    case.newer.messages.iter_mut().for_each(|message| message.content_first = !message.content_first);
    fine()
}

pub fn body_keys(case: &mut Case) -> Option<Vec<At>> {
    let mut keys = case.newer.keys.clone();
    case.dice.shuffle(&mut keys);
    case.newer.keys = keys;
    fine()
}

pub fn envelope(case: &mut Case) -> Option<Vec<At>> {
    for (key, value) in [
        ("max_tokens", "77"),
        ("stream", "false"),
        ("temperature", "0.9"),
        ("metadata", r#"{"user_id":"other"}"#),
        ("stop_sequences", r#"["x"]"#),
        ("service_tier", "\"auto\""),
        ("diagnostics", r#"{"previous_message_id":"msg_1"}"#),
    ] {
        case.newer.set(key, value);
    }
    fine()
}

pub fn defaults_written(case: &mut Case) -> Option<Vec<At>> {
    case.both(|prompt| {
        prompt.unset("output_config");
        prompt.unset("thinking");
    });
    for (key, value) in [
        ("tool_choice", r#"{"type":"auto"}"#),
        ("output_config", r#"{"effort":"high"}"#),
        ("thinking", r#"{"type":"disabled"}"#),
        ("speed", "\"standard\""),
    ] {
        case.newer.set(key, value);
    }
    fine()
}

pub fn thinking_display(case: &mut Case) -> Option<Vec<At>> {
    case.older.set("thinking", r#"{"type":"adaptive","display":"updates"}"#);
    case.newer.set("thinking", r#"{"display":"omitted","type":"adaptive"}"#);
    fine()
}

pub fn billing_header(case: &mut Case) -> Option<Vec<At>> {
    case.newer.system.retain(|block| !is_excluded(&block.json));
    let told = format!("x-anthropic-billing-header: cc_version=2.1.330.{};", case.dice.hex(3));
    let block = case.newer.written(&format!(r#"{{"type":"text","text":"{told}"}}"#));
    case.newer.system.insert(0, block);
    case.newer.system_as_string = false;
    fine()
}

pub fn duplicate_keys(case: &mut Case) -> Option<Vec<At>> {
    let all = case.of_kind(&["text", "tool_use", "tool_result"]);
    let (_, block) = case.dice.any(&all)?;
    let Json::Object(members) = &mut case.newer.block_mut(block.id)?.json else { return None };
    let (key, _) = members.iter().find(|(key, _)| key != "type" && key != "cache_control")?.clone();
    members.insert(0, (key, Json::text("an earlier value, which a later one replaces")));
    fine()
}

pub fn markers_moved(case: &mut Case) -> Option<Vec<At>> {
    case.newer.unmark();
    let ids: Vec<u32> = case.newer.system.iter().chain(&case.newer.tools).map(|block| block.id).collect();
    let id = case.dice.any(&ids)?;
    mark(&mut case.newer.block_mut(id)?.json);
    fine()
}

pub fn markers_dropped(case: &mut Case) -> Option<Vec<At>> {
    case.newer.unmark();
    fine()
}

pub fn lifetimes_changed(case: &mut Case) -> Option<Vec<At>> {
    for block in case.newer.blocks_mut() {
        if let Some(marker) = block.json.get_mut("cache_control") {
            marker.set("ttl", Json::text("1h"));
        }
    }
    fine()
}

pub fn automatic(case: &mut Case) -> Option<Vec<At>> {
    case.newer.unmark();
    case.newer.set("cache_control", r#"{"type":"ephemeral"}"#);
    fine()
}
