//! Checks the fields of a definition (ADEF-02..12). Names are those of the public pages on sub-agents (2026-09).

use std::collections::BTreeMap;
use std::fmt::Display;
use std::rc::Rc;

use serde_json::Value;

use super::invalid::Invalid;
use super::skill::first_line;
use super::sources::Text;
use super::{AgentDefinition, Isolation, McpServer, MemoryScope, Skill};
use crate::agent::hook::{Hook, Moment};
use crate::agent::permission::Mode;
use crate::outside::{found, found_value};

/// A definition as written, not yet checked.
pub(super) struct Raw {
    /// Fields by name; the system prompt is `prompt`.
    pub fields: BTreeMap<String, Field>,
    /// Line on which the definition begins.
    pub line: usize,
    /// Prefix of a field's name in errors.
    pub place: String,
}

/// A field.
pub(super) struct Field {
    /// Its line, counted from one.
    pub line: usize,
    /// Its value.
    pub value: Value,
}

/// Reserved names: the fork is never registered (C12, G16), and `main` is the spawning agent.
const RESERVED: [&str; 2] = ["fork", "main"];

const EFFORTS: [&str; 5] = ["low", "medium", "high", "xhigh", "max"];

/// The checked definition, and its unknown fields.
///
/// # Errors
/// The first invalid field.
pub(super) fn definition(text: &Text, raw: Raw) -> Result<(AgentDefinition, Vec<String>), Invalid> {
    let mut fields = Fields { text, raw };
    let name = fields.name()?;
    let when_to_use = fields.required("description")?;
    let prompt = fields.required("prompt")?;
    let mut definition = AgentDefinition::new(text.source, &name, &when_to_use, &prompt);
    definition.tools = fields.list("tools")?;
    definition.disallowed_tools = fields.list("disallowedTools")?.unwrap_or_default();
    definition.model = fields.text("model")?;
    definition.effort = fields.effort()?;
    definition.permission_mode = fields.word("permissionMode", Mode::WORDS)?;
    definition.background = fields.background()?;
    let places = [("worktree", Isolation::Worktree), ("remote", Isolation::Remote)];
    definition.isolation = fields.word("isolation", places)?;
    definition.max_turns = fields.max_turns()?;
    definition.color = fields.text("color")?;
    definition.memory = fields.word("memory", MemoryScope::WORDS)?;
    definition.required_mcp_servers = fields.list("requiredMcpServers")?.unwrap_or_default();
    definition.mcp_servers = fields.servers()?;
    definition.hooks = fields.hooks()?;
    definition.skills = fields.list("skills")?.unwrap_or_default();
    definition.initial_prompt = fields.text("initialPrompt")?;
    Ok((definition, fields.raw.fields.into_keys().collect()))
}

/// The checked skill of this name. Its other fields do not concern the runtime.
///
/// # Errors
/// The first invalid field.
pub(super) fn skill(text: &Text, raw: Raw) -> Result<Skill, Invalid> {
    let mut fields = Fields { text, raw };
    let instructions = fields.required("prompt")?;
    Ok(Skill {
        name: text.path.clone(),
        description: fields.text("description")?.unwrap_or_else(|| first_line(&instructions)),
        instructions,
        context: fields.text("context")?,
        allowed_tools: fields.list("allowed-tools")?,
        agent: fields.text("agent")?,
        resources: Vec::new(),
    })
}

/// The remaining fields while they are taken out one by one.
struct Fields<'a> {
    text: &'a Text,
    raw: Raw,
}

impl Fields<'_> {
    /// Takes a field that is present and not `null`.
    fn take(&mut self, field: &str) -> Option<Field> {
        self.raw.fields.remove(field).filter(|field| !field.value.is_null())
    }

    fn wrong(&self, line: usize, field: &str, found: impl Display, expected: &str) -> Invalid {
        Invalid::at(self.text, line, &format!("{}{field}", self.raw.place), found, expected)
    }

    fn name(&mut self) -> Result<String, Invalid> {
        let line = self.raw.fields.get("name").map_or(self.raw.line, |field| field.line);
        let name = self.required("name")?;
        let plain = |c: char| c.is_alphanumeric() || ['-', '_', '.'].contains(&c);
        if !name.chars().all(plain) {
            return Err(self.wrong(line, "name", found(&name), "letters, digits, `-`, `_` and `.`"));
        }
        if RESERVED.contains(&&*name) {
            return Err(self.wrong(line, "name", found(&name), "a name that the runtime does not reserve"));
        }
        Ok(match self.text.namespace() {
            Some(plugin) => format!("{plugin}:{name}"),
            None => name.to_string(),
        })
    }

    /// A required, non-empty text (ADEF-02).
    fn required(&mut self, field: &str) -> Result<Rc<str>, Invalid> {
        let line = self.raw.line;
        let expected = match field {
            "prompt" => "a system prompt: the text after the frontmatter, or `prompt` in JSON",
            _ => "a text",
        };
        self.text(field)?.ok_or_else(|| self.wrong(line, field, "nothing", expected))
    }

    fn text(&mut self, field: &str) -> Result<Option<Rc<str>>, Invalid> {
        let Some(Field { line, value }) = self.take(field) else { return Ok(None) };
        match value.as_str() {
            Some(text) if !text.trim().is_empty() => Ok(Some(text.into())),
            Some(_) => Err(self.wrong(line, field, "an empty text", "a text")),
            None => Err(self.wrong(line, field, found_value(&value), "a text")),
        }
    }

    /// A list of texts, or one text with commas between them.
    fn list(&mut self, field: &str) -> Result<Option<Vec<Rc<str>>>, Invalid> {
        let Some(Field { line, value }) = self.take(field) else { return Ok(None) };
        let expected = "a list of names, or names with commas between them";
        let items = match &value {
            Value::String(text) => apart(text),
            Value::Array(items) => items.iter().filter_map(|item| item.as_str().map(Rc::from)).collect(),
            _ => return Err(self.wrong(line, field, found_value(&value), expected)),
        };
        let lost = value.as_array().is_some_and(|all| all.len() != items.len());
        if lost || items.iter().any(|item: &Rc<str>| item.trim().is_empty()) {
            return Err(self.wrong(line, field, found_value(&value), expected));
        }
        Ok(Some(items))
    }

    /// One of a few words.
    fn word<T: Copy, const N: usize>(&mut self, field: &str, words: [(&str, T); N]) -> Result<Option<T>, Invalid> {
        let Some(Field { line, value }) = self.take(field) else { return Ok(None) };
        match words.iter().find(|(word, _)| value.as_str() == Some(word)) {
            Some((_, meant)) => Ok(Some(*meant)),
            None => Err(self.wrong(line, field, found_value(&value), &one_of(words.iter().map(|(word, _)| *word)))),
        }
    }

    /// A level or a number (ADEF-05).
    fn effort(&mut self) -> Result<Option<Rc<str>>, Invalid> {
        let Some(Field { line, value }) = self.take("effort") else { return Ok(None) };
        match &value {
            Value::Number(number) if number.as_u64().is_some_and(|number| number > 0) => {
                Ok(Some(number.to_string().into()))
            }
            Value::String(level) if EFFORTS.contains(&level.as_str()) => Ok(Some(level.as_str().into())),
            _ => {
                let expected = format!("{}, or a positive whole number", one_of(EFFORTS.into_iter()));
                Err(self.wrong(line, "effort", found_value(&value), &expected))
            }
        }
    }

    fn background(&mut self) -> Result<bool, Invalid> {
        let Some(Field { line, value }) = self.take("background") else { return Ok(false) };
        value.as_bool().ok_or_else(|| self.wrong(line, "background", found_value(&value), "`true` or `false`"))
    }

    /// A positive whole number (ADEF-09).
    fn max_turns(&mut self) -> Result<Option<u32>, Invalid> {
        let Some(Field { line, value }) = self.take("maxTurns") else { return Ok(None) };
        match value.as_u64().map(u32::try_from) {
            Some(Ok(turns)) if turns > 0 => Ok(Some(turns)),
            _ => Err(self.wrong(line, "maxTurns", found_value(&value), "a whole number from 1 to 4294967295")),
        }
    }

    /// Names of the session's servers, and own servers written as objects (C10).
    fn servers(&mut self) -> Result<Vec<McpServer>, Invalid> {
        let Some(Field { line, value }) = self.take("mcpServers") else { return Ok(Vec::new()) };
        let mut servers = Vec::new();
        let own = |object: &serde_json::Map<String, Value>| -> Vec<McpServer> {
            object.keys().map(|name| McpServer::Own(name.as_str().into())).collect()
        };
        match &value {
            Value::Object(object) => servers = own(object),
            Value::String(text) => servers.extend(apart(text).into_iter().map(McpServer::Reference)),
            Value::Array(items) => {
                for item in items {
                    match item {
                        Value::String(name) => servers.push(McpServer::Reference(name.as_str().into())),
                        Value::Object(object) => servers.extend(own(object)),
                        _ => {
                            return Err(self.wrong(
                                line,
                                "mcpServers",
                                found_value(item),
                                "a server's name, or an object",
                            ));
                        }
                    }
                }
            }
            _ => {
                return Err(self.wrong(
                    line,
                    "mcpServers",
                    found_value(&value),
                    "a list of names and objects, or an object",
                ));
            }
        }
        Ok(servers)
    }

    /// Hooks by moment. Each is a name, or an object with `matcher` and `hooks`, whose `command` is the name. The name
    /// selects the script of the hook.
    fn hooks(&mut self) -> Result<Vec<Hook>, Invalid> {
        let Some(Field { line, value }) = self.take("hooks") else { return Ok(Vec::new()) };
        let Some(moments) = value.as_object() else {
            return Err(self.wrong(line, "hooks", found_value(&value), "an object from moments to lists of hooks"));
        };
        let mut hooks = Vec::new();
        for (word, entries) in moments {
            let Some(moment) = Moment::named(word) else {
                let expected = one_of(Moment::ALL.into_iter().map(Moment::name));
                return Err(self.wrong(line, "hooks", found(word), &expected));
            };
            let place = format!("hooks.{word}");
            let wrong = |found: &Value| {
                self.wrong(line, &place, found_value(found), "names, or objects with `matcher` and `hooks`")
            };
            for entry in entries.as_array().ok_or_else(|| wrong(entries))? {
                hooks.extend(entry_hooks(entry, moment).ok_or_else(|| wrong(entry))?);
            }
        }
        Ok(hooks)
    }
}

/// The hooks of one entry of a moment.
fn entry_hooks(entry: &Value, moment: Moment) -> Option<Vec<Hook>> {
    if let Some(name) = entry.as_str() {
        return Some(vec![hook(name, moment, None)]);
    }
    let matcher = match entry.get("matcher") {
        Some(matcher) => Some(matcher.as_str()?),
        None => None,
    };
    let listed = entry.get("hooks")?.as_array()?;
    listed.iter().map(|listed| Some(hook(listed.get("command").unwrap_or(listed).as_str()?, moment, matcher))).collect()
}

fn hook(name: &str, moment: Moment, matcher: Option<&str>) -> Hook {
    Hook { matcher: matcher.map(Rc::from), ..Hook::new(name, moment, Vec::new()) }
}

/// Names separated by commas; a comma inside brackets does not separate: `Agent(a, b), Read`.
fn apart(text: &str) -> Vec<Rc<str>> {
    let mut depth = 0_u32;
    let items = text.split(|c: char| {
        depth = match c {
            '(' => depth + 1,
            ')' => depth.saturating_sub(1),
            _ => depth,
        };
        c == ',' && depth == 0
    });
    items.map(str::trim).filter(|item| !item.is_empty()).map(Rc::from).collect()
}

/// The allowed words of a field, for an error.
fn one_of<'a>(words: impl Iterator<Item = &'a str>) -> String {
    format!("one of {}", words.map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "))
}
