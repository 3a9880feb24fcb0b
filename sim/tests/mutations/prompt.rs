//! A request for mutation: blocks keep their number when they move.

use super::json::Json;

/// A block with a number that identifies it.
#[derive(Clone, Debug)]
pub struct Block {
    pub id: u32,
    pub json: Json,
}

/// A message and its blocks.
#[derive(Clone, Debug)]
pub struct Message {
    pub role: String,
    /// Keys of the message besides role and content, as a separate block.
    pub own: Option<Block>,
    pub content: Vec<Block>,
    /// A single text is written as a string.
    pub as_string: bool,
    pub content_first: bool,
}

/// One request.
#[derive(Clone, Debug, Default)]
pub struct Prompt {
    /// Keys of the body, in order.
    pub keys: Vec<String>,
    /// Fields outside the prompt.
    pub fields: Vec<(String, Json)>,
    pub tools: Vec<Block>,
    pub system: Vec<Block>,
    pub system_as_string: bool,
    pub messages: Vec<Message>,
    /// The highest block number.
    pub next_id: u32,
}

impl Prompt {
    pub fn parse(body: &str) -> Self {
        let Json::Object(members) = Json::parse(body) else { panic!("a body is an object") };
        let mut prompt = Self { keys: members.iter().map(|(key, _)| key.clone()).collect(), ..Self::default() };
        for (key, value) in members {
            match key.as_str() {
                "tools" => prompt.tools = value.items().iter().map(|item| prompt.block(item.clone())).collect(),
                "system" => {
                    prompt.system_as_string = value.said().is_some();
                    prompt.system = listed(&value).into_iter().map(|item| prompt.block(item)).collect();
                }
                "messages" => {
                    prompt.messages = value.items().iter().map(|item| prompt.message(item)).collect();
                }
                _ => prompt.fields.push((key, value)),
            }
        }
        prompt
    }

    /// A new block.
    pub fn block(&mut self, json: Json) -> Block {
        self.next_id += 1;
        Block { id: self.next_id, json }
    }

    /// A new block from its text.
    pub fn written(&mut self, json: &str) -> Block {
        self.block(Json::parse(json))
    }

    pub fn message(&mut self, json: &Json) -> Message {
        let Json::Object(members) = json else { panic!("a message is an object") };
        let content = json.get("content").cloned().unwrap_or(Json::List(Vec::new()));
        let own: Vec<_> = members.iter().filter(|(key, _)| key != "role" && key != "content").cloned().collect();
        let own = (!own.is_empty()).then(|| self.block(Json::Object(own)));
        Message {
            role: json.get("role").and_then(Json::said).unwrap_or_default(),
            own,
            as_string: content.said().is_some(),
            content: listed(&content).into_iter().map(|item| self.block(item)).collect(),
            content_first: members.first().is_some_and(|(key, _)| key == "content"),
        }
    }

    /// A new message of one text.
    pub fn says(&mut self, role: &str, text: &str) -> Message {
        let text = Json::text(text);
        self.message(&Json::parse(&format!(r#"{{"role":"{role}","content":[{{"type":"text","text":{text}}}]}}"#)))
    }

    pub fn field(&self, key: &str) -> Option<&Json> {
        self.fields.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Sets a key of the body; a new one is added at the front.
    pub fn set(&mut self, key: &str, value: &str) {
        let value = Json::parse(value);
        match self.fields.iter_mut().find(|(name, _)| name == key) {
            Some((_, known)) => *known = value,
            None => {
                self.keys.insert(0, key.to_owned());
                self.fields.push((key.to_owned(), value));
            }
        }
    }

    pub fn unset(&mut self, key: &str) {
        self.keys.retain(|name| name != key);
        self.fields.retain(|(name, _)| name != key);
    }

    pub fn model(&self) -> String {
        self.field("model").and_then(Json::said).unwrap_or_default()
    }

    /// All blocks of all levels.
    pub fn blocks_mut(&mut self) -> impl Iterator<Item = &mut Block> {
        let messages = self.messages.iter_mut().flat_map(|message| message.content.iter_mut());
        self.tools.iter_mut().chain(&mut self.system).chain(messages)
    }

    pub fn block_mut(&mut self, id: u32) -> Option<&mut Block> {
        self.blocks_mut().find(|block| block.id == id)
    }

    /// The body as sent.
    pub fn body(&self) -> String {
        let mut members = Vec::new();
        for key in &self.keys {
            let value = match key.as_str() {
                "tools" => Json::List(self.tools.iter().map(|tool| tool.json.clone()).collect()),
                "system" => content(&self.system, self.system_as_string),
                "messages" => Json::List(self.messages.iter().map(Message::json).collect()),
                _ => self.field(key).expect("each key has a value").clone(),
            };
            members.push((key.clone(), value));
        }
        Json::Object(members).to_string()
    }

    /// Removes every breakpoint.
    pub fn unmark(&mut self) {
        self.blocks_mut().for_each(|block| block.json.remove("cache_control"));
    }
}

impl Message {
    fn json(&self) -> Json {
        let role = ("role".to_owned(), Json::text(&self.role));
        let content = ("content".to_owned(), content(&self.content, self.as_string));
        let mut members = if self.content_first { vec![content, role] } else { vec![role, content] };
        if let Some(Json::Object(own)) = self.own.as_ref().map(|own| &own.json) {
            members.extend(own.iter().cloned());
        }
        Json::Object(members)
    }
}

/// The blocks of a content; a string counts as one text block.
fn listed(content: &Json) -> Vec<Json> {
    match content {
        Json::Raw(raw) if raw.starts_with('"') => {
            vec![Json::Object(vec![("type".to_owned(), Json::text("text")), ("text".to_owned(), content.clone())])]
        }
        _ => content.items().to_vec(),
    }
}

/// Blocks as content: a string if requested and equivalent.
fn content(blocks: &[Block], as_string: bool) -> Json {
    match blocks {
        [only] if as_string && only.json.get("type").and_then(Json::said).as_deref() == Some("text") => {
            let plain = only.json.get("cache_control").is_none();
            match only.json.get("text").filter(|_| plain) {
                Some(text) => text.clone(),
                None => Json::List(vec![only.json.clone()]),
            }
        }
        _ => Json::List(blocks.iter().map(|block| block.json.clone()).collect()),
    }
}
