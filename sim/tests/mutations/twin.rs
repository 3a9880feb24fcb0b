//! A slow reference implementation: the blocks of a request in prompt order, their canonical bytes and the first
//! difference of two requests, from the rules in words (`clients.md` 9; prompt-caching page, "what invalidates the
//! cache", 2026-09).

use super::json::Json;
use super::prompt::{Block, Message, Prompt};

/// A block of the identity.
#[derive(Clone, Debug)]
pub struct Flat {
    /// Number of the block; zero for a level's parameters.
    pub id: u32,
    pub level: &'static str,
    pub role: String,
    pub path: String,
    pub bytes: String,
    /// It has a breakpoint.
    pub marked: bool,
    /// Parameters of a level or keys of a message, without offsets.
    pub keys: bool,
}

impl Flat {
    pub fn same(&self, other: &Self) -> bool {
        (self.level, &self.role, &self.bytes) == (other.level, &other.role, &other.bytes)
    }
}

/// The identity of a request, block by block.
pub fn flatten(prompt: &Prompt) -> Vec<Flat> {
    let mut found = Vec::new();
    for (at, tool) in prompt.tools.iter().enumerate() {
        let deferred = tool.json.get("defer_loading") == Some(&Json::Raw("true".into()));
        if !deferred && !is_web_search(tool) {
            found.push(flat(tool, "tools", "", format!("tools[{at}]")));
        }
    }
    parameters("system", &system_parameters(prompt), &mut found);
    for (at, block) in prompt.system.iter().enumerate() {
        let header = block.json.get("text").and_then(Json::said);
        if !header.is_some_and(|text| text.starts_with("x-anthropic-billing-header")) {
            found.push(flat(block, "system", "", format!("system[{at}]")));
        }
    }
    parameters("messages", &message_parameters(prompt), &mut found);
    let mut calls = Vec::new();
    for (at, message) in prompt.messages.iter().enumerate() {
        if let Some(own) = &message.own {
            let bytes = sorted(&own.json).to_string();
            let Json::Object(members) = &own.json else { continue };
            let path = format!("messages[{at}].{}", members.first().map_or("", |(key, _)| key.as_str()));
            found.push(Flat { bytes, keys: true, ..flat(own, "messages", &message.role, path) });
        }
        for (part, block) in in_call_order(message, &calls) {
            found.push(flat(block, "messages", &message.role, format!("messages[{at}].content[{part}]")));
        }
        let own_calls: Vec<String> = message.content.iter().filter_map(|block| call_of(block, "tool_use")).collect();
        if !own_calls.is_empty() {
            calls = own_calls;
        }
    }
    found
}

fn flat(block: &Block, level: &'static str, role: &str, path: String) -> Flat {
    let marked = block.json.get("cache_control").is_some();
    Flat { id: block.id, level, role: role.to_owned(), path, bytes: canonical(&block.json), marked, keys: false }
}

fn is_web_search(tool: &Block) -> bool {
    tool.json.get("type").and_then(Json::said).is_some_and(|kind| kind.starts_with("web_search_"))
}

fn call_of(block: &Block, kind: &str) -> Option<String> {
    let is = block.json.get("type").and_then(Json::said).as_deref() == Some(kind);
    let key = if kind == "tool_use" { "id" } else { "tool_use_id" };
    is.then(|| block.json.get(key).and_then(Json::said)).flatten()
}

/// The blocks of a message, with results in the order of the last calls.
fn in_call_order<'a>(message: &'a Message, calls: &[String]) -> Vec<(usize, &'a Block)> {
    let mut blocks: Vec<(usize, &Block)> = message.content.iter().enumerate().collect();
    let slots: Vec<usize> = (0..blocks.len()).filter(|at| call_of(blocks[*at].1, "tool_result").is_some()).collect();
    let rank = |block: &Block| {
        let id = call_of(block, "tool_result");
        calls.iter().position(|call| Some(call) == id.as_ref()).unwrap_or(usize::MAX)
    };
    let mut results: Vec<(usize, &Block)> = slots.iter().map(|slot| blocks[*slot]).collect();
    results.sort_by_key(|(_, block)| rank(block));
    for (slot, result) in slots.into_iter().zip(results) {
        blocks[slot] = result;
    }
    blocks
}

fn parameters(level: &'static str, fields: &[(&str, String)], found: &mut Vec<Flat>) {
    if !fields.is_empty() {
        let members: Vec<String> = fields.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
        let bytes = format!("{{{}}}", members.join(","));
        found.push(Flat {
            id: 0,
            level,
            role: String::new(),
            path: level.to_owned(),
            bytes,
            marked: false,
            keys: true,
        });
    }
}

fn system_parameters(prompt: &Prompt) -> Vec<(&'static str, String)> {
    let mut fields = Vec::new();
    let speed = prompt.field("speed").map(ToString::to_string).filter(|speed| speed != "\"standard\"");
    fields.extend(speed.map(|speed| ("speed", speed)));
    fields.extend(
        prompt.tools.iter().filter(|tool| is_web_search(tool)).map(|tool| ("web_search", canonical(&tool.json))),
    );
    let cited = |block: &Block| {
        let enabled = block.json.get("citations").and_then(|citations| citations.get("enabled"));
        enabled == Some(&Json::Raw("true".into()))
    };
    if prompt.messages.iter().any(|message| message.content.iter().any(cited)) {
        fields.push(("citations", "true".to_owned()));
    }
    fields
}

fn message_parameters(prompt: &Prompt) -> Vec<(&'static str, String)> {
    let own = |key: &str, without: &str| {
        let mut value = prompt.field(key)?.clone();
        value.remove(without);
        Some(sorted(&value).to_string())
    };
    let output = |key: &str| prompt.field("output_config").and_then(|config| config.get(key)).map(ToString::to_string);
    let mut fields = Vec::new();
    fields.extend(own("tool_choice", "").filter(|choice| choice != r#"{"type":"auto"}"#).map(|v| ("tool_choice", v)));
    fields.extend(output("format").map(|format| ("output_config.format", format)));
    fields.extend(own("thinking", "display").filter(|v| v != r#"{"type":"disabled"}"#).map(|v| ("thinking", v)));
    fields.extend(output("effort").filter(|v| v != "\"high\"").map(|effort| ("output_config.effort", effort)));
    fields
}

/// An object with its own keys sorted and the last of equal keys kept; deeper values are as sent.
fn sorted(json: &Json) -> Json {
    let Json::Object(members) = json else { return json.clone() };
    let mut kept: Vec<(String, Json)> = Vec::new();
    for (key, value) in members {
        match kept.iter_mut().find(|(known, _)| known == key) {
            Some(known) => known.1 = value.clone(),
            None => kept.push((key.clone(), value.clone())),
        }
    }
    kept.sort_by(|a, b| a.0.cmp(&b.0));
    Json::Object(kept)
}

/// The canonical bytes of a block: sorted envelope keys, no breakpoints, escapes as in serde.
pub fn canonical(block: &Json) -> String {
    let kind = block.get("type").and_then(Json::said).unwrap_or_default();
    let known = ["text", "thinking", "redacted_thinking", "tool_use", "tool_result", "image", "document"];
    let tool = block.get("name").is_some() && block.get("input").is_none();
    if !known.contains(&kind.as_str()) && !tool {
        let mut plain = block.clone();
        plain.remove("cache_control");
        return respelled(&plain).to_string();
    }
    respelled(&envelope(block, 4)).to_string()
}

fn envelope(block: &Json, depth: u8) -> Json {
    let Json::Object(mut members) = sorted(block) else { return block.clone() };
    members.retain(|(key, _)| key != "cache_control");
    for (key, value) in &mut members {
        match (key.as_str(), &*value) {
            ("content", Json::Raw(raw)) if raw.starts_with('"') => {
                *value = Json::parse(&format!(r#"[{{"text":{raw},"type":"text"}}]"#));
            }
            ("content", Json::List(items)) if depth > 0 => {
                *value = Json::List(items.iter().map(|item| envelope(item, depth - 1)).collect());
            }
            ("source", Json::Object(_)) if depth > 0 => *value = envelope(value, depth - 1),
            _ => {}
        }
    }
    Json::Object(members)
}

/// All strings in serde's spelling.
fn respelled(json: &Json) -> Json {
    match json {
        Json::List(items) => Json::List(items.iter().map(respelled).collect()),
        Json::Object(members) => {
            Json::Object(members.iter().map(|(key, value)| (key.clone(), respelled(value))).collect())
        }
        Json::Raw(_) => json.said().map_or_else(|| json.clone(), |text| Json::text(&text)),
    }
}

/// The expected place of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    pub path: String,
    pub level: &'static str,
    pub offset_in_block: u64,
    pub offset_in_prefix: u64,
    /// Index of the differing block in the newer request, and in the older one.
    pub index: usize,
    pub old_index: usize,
    /// No offset is defined here.
    pub keys: bool,
    /// If one request has keys of a message here and the other a block: the path of those keys, which may be the part
    /// that moved.
    pub other_path: Option<String>,
}

/// Both requests, flat.
pub struct Sides {
    pub old: Vec<Flat>,
    pub new: Vec<Flat>,
}

impl Sides {
    pub fn new(older: &Prompt, newer: &Prompt) -> Self {
        Self { old: flatten(older), new: flatten(newer) }
    }

    /// The number of equal leading blocks.
    pub fn common(&self) -> usize {
        self.old.iter().zip(&self.new).take_while(|(old, new)| old.same(new)).count()
    }

    /// The first different place.
    pub fn first(&self) -> Spot {
        let at = self.common();
        self.spot(at, at, self.first_went() || self.ends_before(at, at))
    }

    /// The number of leading blocks covered by the older request's breakpoints.
    pub fn covered(&self) -> usize {
        self.old.iter().rposition(|flat| flat.marked).map_or(0, |at| at + 1)
    }

    /// Where a level begins in the older request.
    pub fn level_start(&self, level: &str) -> usize {
        self.old.iter().position(|flat| flat.level == level).unwrap_or(self.old.len())
    }

    /// Whether the first different block of the newer request was elsewhere in the older one.
    fn first_went(&self) -> bool {
        let new = self.new.get(self.common());
        new.is_some_and(|new| self.old.iter().any(|old| old.same(new)))
    }

    /// The place of a block that was changed, added or removed.
    pub fn of(&self, id: u32) -> Spot {
        let at = |side: &[Flat]| side.iter().position(|flat| flat.id == id);
        let behind = |own: &[Flat], at: usize, other: &[Flat]| {
            let before = own[..at]
                .iter()
                .rev()
                .find_map(|flat| other.iter().position(|known| (known.id, known.level) == (flat.id, flat.level)));
            before.map_or(0, |before| before + 1)
        };
        match (at(&self.old), at(&self.new)) {
            (Some(old), Some(new)) => self.spot(old, new, false),
            (None, Some(new)) => {
                let alike = alike(&self.new, new, &self.old);
                self.spot(behind(&self.new, new, &self.old) + alike, new + alike, false)
            }
            (Some(old), None) => {
                let alike = alike(&self.old, old, &self.new);
                self.spot(old + alike, behind(&self.old, old, &self.new) + alike, true)
            }
            (None, None) => panic!("block {id} is in neither request"),
        }
    }

    /// The removed block came right after a block of its message that is kept, and the newer message ends with that.
    fn ends_before(&self, old: usize, new: usize) -> bool {
        let Some((before, kept)) = old.checked_sub(1).zip(new.checked_sub(1)) else { return false };
        let is_message = |side: &[Flat], one: usize, two: usize| {
            let block = |at: usize| side.get(at).filter(|flat| !flat.keys && flat.level == "messages");
            block(one).is_some() && block(one).map(|flat| item(&flat.path)) == block(two).map(|flat| item(&flat.path))
        };
        self.old[before].same(&self.new[kept])
            && is_message(&self.old, before, old)
            && is_message(&self.new, kept, kept)
            && !is_message(&self.new, kept, new)
    }

    fn spot(&self, old: usize, new: usize, new_is_next: bool) -> Spot {
        let gone = self.old.get(old);
        let rank = |flat: &Flat| ["tools", "system", "messages"].iter().position(|level| *level == flat.level);
        let came = self.new.get(new).filter(|came| gone.is_none_or(|gone| rank(came) <= rank(gone)));
        let place = came.or(gone).expect("one side continues");
        let path = match gone.filter(|_| new_is_next) {
            // The message that is kept ends before the removed block.
            Some(gone) if !gone.keys && self.ends_before(old, new) => {
                let (list, kept) = in_list(&self.new[new - 1].path);
                format!("{list}[{}]", kept + in_list(&gone.path).1 - in_list(&self.old[old - 1].path).1)
            }
            // A removed block just before a message's own keys, and such keys that were removed.
            Some(gone) if place.keys && !gone.keys => format!("{}.content[0]", item(&place.path)),
            Some(gone) if gone.keys && !place.keys => format!("{}.{}", item(&place.path), key(&gone.path)),
            _ => place.path.clone(),
        };
        let keys = if new_is_next { gone.is_some_and(|gone| gone.keys) } else { place.keys };
        let bytes = |side: &[Flat], at: usize| side.get(at).map(|flat| flat.bytes.clone()).unwrap_or_default();
        let (was, is) = (bytes(&self.old, old), bytes(&self.new, new));
        let offset = was.bytes().zip(is.bytes()).take_while(|(was, is)| was == is).count() as u64;
        let before: usize = self.new[..new.min(self.new.len())].iter().map(|flat| flat.bytes.len()).sum();
        Spot {
            path,
            level: place.level,
            offset_in_block: offset,
            offset_in_prefix: before as u64 + offset,
            index: new,
            old_index: old,
            keys,
            other_path: came
                .zip(gone)
                .filter(|(came, gone)| came.keys && !gone.keys)
                .map(|(came, _)| came.path.clone()),
        }
    }
}

/// The number of blocks after an inserted or removed section that equal its beginning. Both sides begin with these, so
/// the section is reported by its last equal position.
fn alike(side: &[Flat], at: usize, other: &[Flat]) -> usize {
    let partner = |flat: &Flat| other.iter().find(|known| (known.id, known.level) == (flat.id, flat.level));
    let alone = |at: &usize| partner(&side[*at]).is_none();
    let from = (0..=at).rev().take_while(alone).last().unwrap_or(at);
    let to = (at..side.len()).take_while(alone).last().unwrap_or(at) + 1;
    let is_same = |(own, next): &(&Flat, &Flat)| own.same(next) && partner(next).is_some_and(|known| known.same(next));
    side[from..].iter().zip(&side[to..]).take_while(is_same).count()
}

/// The list of a block's path, and its index there.
fn in_list(path: &str) -> (&str, usize) {
    let (list, index) = path.strip_suffix(']').and_then(|path| path.rsplit_once('[')).expect("the path of a block");
    (list, index.parse().expect("an index"))
}

/// `messages[3]` for a path inside it.
fn item(path: &str) -> &str {
    path.split('.').next().unwrap_or_default()
}

fn key(path: &str) -> &str {
    path.split_once('.').map_or("", |(_, key)| key)
}
