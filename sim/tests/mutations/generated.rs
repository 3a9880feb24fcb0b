//! Our own conversations in the spellings of real clients (`clients.md` 1 to 8, seen 2026-11).

use super::json::Json;
use super::prompt::{Message, Prompt};
use forkcast_fixtures::Dice;

/// The client whose spelling a conversation uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    PythonSdk,
    TypeScriptSdk,
    ClaudeCode,
    OpenCode,
    Pi,
}

pub const CLIENTS: [Client; 5] =
    [Client::PythonSdk, Client::TypeScriptSdk, Client::ClaudeCode, Client::OpenCode, Client::Pi];

const WORDS: [&str; 40] = [
    "parser",
    "order",
    "ledger",
    "invoice",
    "the",
    "and",
    "reads",
    "writes",
    "until",
    "module",
    "value",
    "tested",
    "small",
    "large",
    "café",
    "naïve",
    "größer",
    "数据",
    "行",
    "rows",
    "column",
    "carefully",
    "before",
    "after",
    "returns",
    "amounts",
    "\"quoted\"",
    "back\\slash",
    "tab\there",
    "line\nbreak",
    "it's",
    "(maybe)",
    "each",
    "every",
    "warehouse",
    "shelf",
    "label",
    "🙂",
    "naming",
    "review",
];

const NAMES: [&str; 12] =
    ["Read", "Write", "Edit", "Bash", "Grep", "Glob", "Fetch", "Search", "Plan", "Notebook", "Tasks", "Zip"];

const MARK: &str = r#""cache_control":{"type":"ephemeral"}"#;

/// A conversation of `turns` turns that grows from request to request.
pub struct Conversation {
    pub prompt: Prompt,
    client: Client,
    turn: usize,
    calls: usize,
    /// Turns mostly repeat the content of earlier turns.
    repeats: bool,
}

/// A unique text.
pub fn sentence(dice: &mut Dice, words: usize) -> String {
    let number = dice.hex(6);
    let mut said: Vec<String> = (0..words).map(|_| (*dice.pick(&WORDS)).to_owned()).collect();
    said.insert(words / 2, format!("n{number}n"));
    said.join(" ")
}

fn quoted(text: &str) -> String {
    Json::text(text).to_string()
}

fn tool(dice: &mut Dice, name: &str) -> String {
    let description = quoted(&format!("{name}: {}.", sentence(dice, 12)));
    let (one, two) = (quoted(&sentence(dice, 3)), quoted(&sentence(dice, 3)));
    let schema = format!(
        r#"{{"type":"object","properties":{{"path":{{"type":"string","description":{one}}},"limit":{{"type":"integer","description":{two},"minimum":1}}}},"required":["path"],"additionalProperties":false}}"#
    );
    match dice.below(2) {
        0 => format!(r#"{{"name":"{name}","description":{description},"input_schema":{schema}}}"#),
        _ => format!(r#"{{"description":{description},"input_schema":{schema},"name":"{name}"}}"#),
    }
}

impl Conversation {
    pub fn new(client: Client, dice: &mut Dice) -> Self {
        let keys: &[&str] = match client {
            Client::PythonSdk => &["max_tokens", "messages", "model", "system", "tools"],
            Client::TypeScriptSdk => &["model", "max_tokens", "system", "tools", "messages", "stream"],
            Client::ClaudeCode => &[
                "model",
                "messages",
                "system",
                "tools",
                "metadata",
                "max_tokens",
                "thinking",
                "output_config",
                "stream",
            ],
            Client::OpenCode => &["model", "max_tokens", "temperature", "system", "messages", "tools", "stream"],
            Client::Pi => &["model", "messages", "max_tokens", "stream", "system", "tools"],
        };
        let mut prompt = Prompt { keys: keys.iter().map(|key| (*key).to_owned()).collect(), ..Prompt::default() };
        let values = [
            ("model", quoted("claude-opus-4-8")),
            ("max_tokens", "32000".to_owned()),
            ("stream", "true".to_owned()),
            ("temperature", "0.5".to_owned()),
            ("metadata", format!(r#"{{"user_id":"{}"}}"#, dice.hex(8))),
            ("thinking", r#"{"type":"adaptive","display":"updates"}"#.to_owned()),
            ("output_config", r#"{"effort":"medium"}"#.to_owned()),
        ];
        for (key, value) in values.into_iter().filter(|(key, _)| keys.contains(key)) {
            prompt.fields.push((key.to_owned(), Json::parse(&value)));
        }
        let mut conversation = Self { prompt, client, turn: 0, calls: 0, repeats: false };
        conversation.tools(dice);
        conversation.system(dice);
        conversation.open(dice);
        conversation.mark();
        conversation
    }

    /// The same with mostly repeated turns: only ids, thinking and one text per exchange are new.
    pub fn repeating(client: Client, dice: &mut Dice) -> Self {
        Self { repeats: true, ..Self::new(client, dice) }
    }

    /// A new sentence, or `again`.
    fn said(&self, dice: &mut Dice, words: usize, again: &str) -> String {
        if self.repeats && !dice.one_in(4) { again.to_owned() } else { sentence(dice, words) }
    }

    fn tools(&mut self, dice: &mut Dice) {
        let count = 4 + dice.below(NAMES.len() - 4);
        let mut names: Vec<&str> = NAMES[..count].to_vec();
        dice.shuffle(&mut names);
        for name in names {
            let tool = tool(dice, name);
            let block = self.prompt.written(&tool);
            self.prompt.tools.push(block);
        }
        if self.client == Client::ClaudeCode {
            let held = r#"{"name":"DeferredToolPlaceholder","description":"Loaded later.","input_schema":{"type":"object"},"defer_loading":true}"#;
            let block = self.prompt.written(held);
            let at = self.prompt.tools.len() - 1;
            self.prompt.tools.insert(at, block);
        }
    }

    fn system(&mut self, dice: &mut Dice) {
        let long: Vec<String> = (0..30).map(|_| sentence(dice, 14)).collect();
        let texts: Vec<String> = match self.client {
            Client::ClaudeCode => vec![
                format!("x-anthropic-billing-header: cc_version=2.1.330.{}; cc_entrypoint=sdk-cli;", dice.hex(3)),
                "You are an agent for code.".to_owned(),
                long.join("\n"),
            ],
            _ => vec![format!("You are an agent.\n\n{}", long.join("\n"))],
        };
        self.prompt.system_as_string = self.client == Client::PythonSdk;
        for text in texts {
            let block = self.prompt.written(&format!(r#"{{"type":"text","text":{}}}"#, quoted(&text)));
            self.prompt.system.push(block);
        }
    }

    /// A text of `role`.
    fn text(&mut self, role: &str, text: &str) -> Message {
        let mut message = self.prompt.says(role, text);
        message.as_string = self.client == Client::PythonSdk || role == "system";
        message.content_first = self.client == Client::PythonSdk;
        message
    }

    fn open(&mut self, dice: &mut Dice) {
        let asked = format!("Please look at this: {}", sentence(dice, 20));
        let mut first = self.text("user", &asked);
        if self.client == Client::ClaudeCode {
            let said = format!("<system-reminder>\n{}\n</system-reminder>", sentence(dice, 25));
            let reminder = self.prompt.says("user", &said).content;
            first.content.splice(0..0, reminder);
            first.as_string = false;
        }
        if dice.one_in(2) {
            let image = self.image(dice);
            let at = dice.below(first.content.len() + 1);
            first.content.insert(at, image);
            first.as_string = false;
        }
        self.prompt.messages.push(first);
        if self.client == Client::ClaudeCode {
            let mut environment = self.text("system", &format!("Environment: {}", sentence(dice, 20)));
            environment.own = Some(self.prompt.written(r#"{"output_config":{"effort":"medium"}}"#));
            self.prompt.messages.push(environment);
        }
    }

    fn image(&mut self, dice: &mut Dice) -> super::prompt::Block {
        let data = dice.hex(400);
        self.prompt.written(&format!(
            r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{data}"}}}}"#
        ))
    }

    /// Appends the next exchange: an answer, and the reply to it.
    pub fn grow(&mut self, dice: &mut Dice) {
        self.turn += 1;
        let calls = [0, 1, 1, 1, 2, 3][dice.below(6)];
        // One of two texts without an id is new; otherwise the exchange could not be distinguished from the previous
        // one.
        let is_new = dice.one_in(2);
        self.answer(dice, calls, is_new);
        if calls == 0 {
            let said = if is_new { self.said(dice, 15, "Go on, please.") } else { sentence(dice, 15) };
            let message = self.text("user", &said);
            self.prompt.messages.push(message);
        } else {
            self.results(dice, calls);
        }
        if self.client == Client::ClaudeCode && dice.one_in(3) {
            let said = self.said(dice, 10, "be brief.");
            let reminder = self.text("system", &format!("Reminder: {said}"));
            self.prompt.messages.push(reminder);
        }
        self.mark();
    }

    fn answer(&mut self, dice: &mut Dice, calls: usize, is_new: bool) {
        let mut blocks = Vec::new();
        if self.client == Client::ClaudeCode || (self.client == Client::Pi && dice.one_in(2)) {
            let thought = quoted(&sentence(dice, 12));
            blocks.push(format!(r#"{{"type":"thinking","thinking":{thought},"signature":"{}"}}"#, dice.hex(64)));
        }
        if calls == 0 || dice.one_in(2) {
            let said = if calls == 0 && is_new { sentence(dice, 12) } else { self.said(dice, 12, "OK.") };
            blocks.push(format!(r#"{{"type":"text","text":{}}}"#, quoted(&said)));
        }
        for _ in 0..calls {
            self.calls += 1;
            let (name, words) = (*dice.pick(&NAMES[..4]), quoted(&sentence(dice, 6)));
            let again = self.repeats && !dice.one_in(4);
            let input = if again {
                r#"{"path":"src/a.rs","limit":9}"#.to_owned()
            } else {
                format!(
                    r#"{{"path":"src/{}.rs","limit":{},"options":{{"follow":true,"depth":{},"note":{words}}}}}"#,
                    dice.hex(5),
                    10 + dice.below(90),
                    dice.below(9)
                )
            };
            let id = format!("toolu_{:03}{}", self.calls, dice.hex(12));
            blocks.push(format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}"#));
        }
        let json = format!(r#"{{"role":"assistant","content":[{}]}}"#, blocks.join(","));
        let mut message = self.prompt.message(&Json::parse(&json));
        message.as_string = self.client == Client::PythonSdk;
        self.prompt.messages.push(message);
    }

    fn results(&mut self, dice: &mut Dice, calls: usize) {
        let asked = self.prompt.messages.last().expect("an answer came first");
        let ids: Vec<String> = asked.content.iter().filter_map(|block| block.json.get("id")?.said()).collect();
        assert_eq!(ids.len(), calls, "each call has an id");
        let results: Vec<String> = ids.iter().map(|id| result(dice, id, self.repeats)).collect();
        let json = format!(r#"{{"role":"user","content":[{}]}}"#, results.join(","));
        let message = self.prompt.message(&Json::parse(&json));
        self.prompt.messages.push(message);
    }

    /// Sets the breakpoints as the client does.
    pub fn mark(&mut self) {
        self.prompt.unmark();
        let Prompt { tools, system, messages, .. } = &mut self.prompt;
        let tail = messages.len() - 1;
        let ends: &[usize] = if self.client == Client::OpenCode { &[1, 0] } else { &[0] };
        match self.client {
            Client::PythonSdk => mark(&mut tools.last_mut().expect("tools").json),
            Client::Pi => {
                mark(&mut tools.last_mut().expect("tools").json);
                mark(&mut system[0].json);
            }
            Client::ClaudeCode => system[1..].iter_mut().for_each(|block| mark(&mut block.json)),
            Client::TypeScriptSdk | Client::OpenCode => mark(&mut system[0].json),
        }
        for back in ends.iter().filter(|back| **back <= tail) {
            let last = messages[tail - back].content.last_mut().expect("a message says something");
            if last.json.get("thinking").is_none() {
                mark(&mut last.json);
            }
        }
    }
}

/// Sets a breakpoint on a block.
pub fn mark(json: &mut Json) {
    let Json::Object(marker) = Json::parse(&format!("{{{MARK}}}")) else { return };
    json.set("cache_control", marker[0].1.clone());
}

fn result(dice: &mut Dice, id: &str, repeats: bool) -> String {
    if repeats && !dice.one_in(4) {
        let text = quoted(&"It is as it was. ".repeat(8));
        return format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":{text}}}"#);
    }
    let lines: Vec<String> = (0..2 + dice.below(6)).map(|_| sentence(dice, 12)).collect();
    let text = quoted(&lines.join("\n"));
    match dice.below(4) {
        0 => format!(r#"{{"tool_use_id":"{id}","type":"tool_result","content":[{{"type":"text","text":{text}}}]}}"#),
        1 => format!(
            r#"{{"type":"tool_result","tool_use_id":"{id}","content":[{{"type":"text","text":{text}}},{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{}"}}}}]}}"#,
            dice.hex(200)
        ),
        2 => format!(r#"{{"tool_use_id":"{id}","type":"tool_result","content":{text},"is_error":false}}"#),
        _ => format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":{text}}}"#),
    }
}
