//! Which spelling a body has, and whose cache it meets.
//!
//! Bodies alone, logs, and recorded calls of unknown hosts ask here, so that a request is judged alike wherever it
//! was found. The model's name decides whose cache it is. Names of no known maker (deployments of Azure, aliases of routers,
//! files of local models) say nothing: such a body is Anthropic's only if it is marked as Anthropic asks for it
//! (`cache_control`, `cachePoint`, `anthropic_version`); else its cache is not known.
//!
//! The keys decide the spelling: `contents` is Gemini's, a list of `input` instead of `messages` the Responses API's, `prompt`
//! Ollama's or an old completion's; other keys show whether a body is in the spelling of the Messages API, of Converse or of
//! chat completions. The Responses API is not Anthropic's: no source says how a gateway marks Claude's prompts for it, so the
//! cache of such a body is not known either.

use super::dialect::bedrock_converse;
use super::json::{self, DEPTH_LIMIT, ScanError, Scanner};
use crate::exchange::Dialect;

/// A provider that nothing names.
pub(crate) const UNKNOWN: &str = "unknown";

/// Whose model a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Claude,
    Of(&'static str),
    Unknown,
}

/// How the names of models begin, and the provider of each.
const FAMILIES: [(&str, &str); 23] = [
    ("gpt", "openai"),
    ("chatgpt-", "openai"),
    ("codex-", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("gemini", "gemini"),
    ("gemma", "gemini"),
    ("grok", "xai"),
    ("deepseek", "deepseek"),
    ("mistral", "mistral"),
    ("ministral", "mistral"),
    ("magistral", "mistral"),
    ("devstral", "mistral"),
    ("codestral", "mistral"),
    ("command-", "cohere"),
    ("kimi", "moonshot"),
    ("moonshot", "moonshot"),
    ("glm-", "zai"),
    ("qwen", "alibaba"),
    ("minimax", "minimax"),
    ("llama", "meta"),
    ("amazon.nova", "bedrock"),
];

/// Words that mean Claude: its own names and those of its families, by which clients call the newest of each.
const CLAUDES: [&str; 7] = ["claude", "anthropic", "haiku", "sonnet", "opus", "fable", "mythos"];

impl Named {
    /// For `openai/gpt-5` the part after the last slash decides, for `us.meta.llama4` and `ft:gpt-4.1:acme` what follows the
    /// region, the maker or the kind.
    fn of(model: &str) -> Self {
        let model = model.to_ascii_lowercase();
        let name = model.rsplit('/').next().unwrap_or(&model);
        if name.contains("claude") {
            return Self::Claude;
        }
        let ends = name.match_indices(['.', ':']).map(|(at, _)| &name[at + 1..]);
        let family = |name: &str| FAMILIES.iter().find(|(prefix, _)| name.starts_with(prefix));
        if let Some((_, provider)) = std::iter::once(name).chain(ends).find_map(family) {
            return Self::Of(provider);
        }
        let is_claude = model.split(|char: char| !char.is_ascii_alphanumeric()).any(|word| CLAUDES.contains(&word));
        if is_claude { Self::Claude } else { Self::Unknown }
    }
}

/// Whether a model is Claude by its name.
pub(crate) fn is_claude(model: &str) -> bool {
    Named::of(model) == Named::Claude
}

/// The provider of a request to a model, where no address says it; `None`: Anthropic, or others with its rules.
pub(crate) fn provider<B: AsRef<[u8]>>(model: &str, body: impl FnOnce() -> B) -> Option<&'static str> {
    provider_of(Named::of(model), || {
        let body = body();
        Keys::of(body.as_ref()).is_for_claude(model, body.as_ref())
    })
}

fn provider_of(named: Named, is_for_claude: impl FnOnce() -> bool) -> Option<&'static str> {
    match named {
        Named::Claude => None,
        Named::Of(provider) => Some(provider),
        Named::Unknown => (!is_for_claude()).then_some(UNKNOWN),
    }
}

/// Values of a body, or of an object that may contain one, that determine its spelling.
#[derive(Default)]
pub(super) struct Keys<'a> {
    pub request: Option<&'a [u8]>,
    pub response: Option<&'a [u8]>,
    pub input: Option<&'a [u8]>,
    pub messages: Option<&'a [u8]>,
    /// The spelling of a prompt without messages.
    pub prompt: Option<Dialect>,
    system: Option<&'a [u8]>,
    tools: Option<&'a [u8]>,
    pub has_max_tokens: bool,
    /// It has a key that only Converse has.
    of_converse: bool,
    /// It has `instructions`, which only the Responses API has.
    has_instructions: bool,
    /// It has the version that Bedrock and Vertex ask for with Claude's bodies.
    has_anthropic_version: bool,
}

impl<'a> Keys<'a> {
    pub fn of(raw: &'a [u8]) -> Self {
        let mut keys = Self::default();
        for (key, value) in json::members(raw).map_while(Result::ok) {
            keys.note(&json::text(key).unwrap_or_default(), value);
        }
        keys
    }

    /// The same for the object at the scanner, up to its end.
    pub fn scan(scanner: &mut Scanner<'a>) -> Result<(Self, Members<'a>), ScanError> {
        let (mut keys, mut members) = (Self::default(), Members { model: None, depth: 0 });
        scanner.enter(b'{')?;
        while let Some(key) = scanner.key()? {
            let value = scanner.value()?;
            if members.depth < DEPTH_LIMIT {
                members.depth = scanner.depth();
            }
            let key = json::unescaped(key);
            if key == "model" {
                members.model = Some(value);
            }
            keys.note(&key, value);
        }
        Ok((keys, members))
    }

    fn note(&mut self, key: &str, value: &'a [u8]) {
        match key {
            "request" => self.request = Some(value),
            "response" => self.response = Some(value),
            "input" => self.input = Some(value),
            "messages" => self.messages = Some(value),
            "system" => self.system = Some(value),
            "tools" => self.tools = Some(value),
            "max_tokens" => self.has_max_tokens = true,
            "instructions" => self.has_instructions = true,
            "anthropic_version" => self.has_anthropic_version = true,
            "contents" => self.prompt = Some(Dialect::GenerateContent),
            "prompt" | "inputText" => self.prompt = self.prompt.or(Some(Dialect::Ollama)),
            "chat_history" => self.prompt = Some(Dialect::Cohere),
            key if bedrock_converse::KEYS.contains(&key) => self.of_converse = true,
            _ => {}
        }
    }

    /// Whether it is in the spelling of the Responses API. Bodies for embeddings have a list of texts, or one.
    pub fn is_response(&self, model: &str) -> bool {
        let is_items = |input: &[u8]| first(input).is_some_and(|item| item.starts_with(b"{"));
        let is_named = || matches!(Named::of(model), Named::Of(_));
        let is_prompt = |input: &[u8]| self.has_instructions || is_items(input) || is_named();
        self.messages.is_none() && self.input.is_some_and(is_prompt)
    }

    /// The provider of a body (`None`: Anthropic), and its spelling.
    pub fn spelled_for(&self, model: &str, raw: &[u8]) -> (Option<&'static str>, Dialect) {
        let provider = provider_of(Named::of(model), || self.is_for_claude(model, raw));
        match (provider, self.messages, self.prompt) {
            (_, None, _) if self.is_response(model) => (provider.or(Some(UNKNOWN)), Dialect::Responses),
            (_, None, Some(Dialect::GenerateContent)) => (provider.or(Some("gemini")), Dialect::GenerateContent),
            (_, None, Some(Dialect::Cohere)) => (provider.or(Some("cohere")), Dialect::Cohere),
            (_, None, Some(prompt)) => (provider.or(Some(UNKNOWN)), prompt),
            (Some(_), Some(_), _) if self.is_converse() => (provider, Dialect::BedrockConverse),
            (Some(_), Some(_), _) if self.is_messages() => (provider, Dialect::Messages),
            (Some(_), Some(_), _) => (provider, Dialect::ChatCompletions),
            (..) => (provider, self.dialect()),
        }
    }

    /// Whether a body for a model that its name does not tell is in Anthropic's way. A body without a name has it in its address,
    /// as those for Bedrock and Vertex do.
    fn is_for_claude(&self, model: &str, raw: &[u8]) -> bool {
        let is_unnamed = || model.is_empty() && !self.is_response(model) && self.dialect() != Dialect::OpenRouter;
        self.has_anthropic_version || self.is_marked(raw) || is_unnamed()
    }

    /// Whether it has a marker of a cache. One beside the role of a message is none: no provider reads it.
    fn is_marked(&self, raw: &[u8]) -> bool {
        let markers = memchr::memmem::find_iter(raw, b"\"cache_control\"").count();
        let is_beside_role = |message: &&[u8]| json::member(message, "cache_control").is_some();
        let ignored = || self.messages.map_or(0, |list| json::elements(list).filter(is_beside_role).count());
        (markers > 0 && markers > ignored()) || memchr::memmem::find(raw, b"\"cachePoint\"").is_some()
    }

    /// Whether it is in the spelling of Converse, whose blocks have their kind as their only key and no `type`.
    fn is_converse(&self) -> bool {
        let message = self.messages.and_then(first);
        let content = message.and_then(|message| first(json::member(message, "content")?));
        let is_untyped = |block: &[u8]| {
            let keys = json::keys(block, 0).keys;
            keys.len() == 1 && keys[0] != "type"
        };
        let blocks = [self.system.and_then(first), content];
        self.of_converse || (self.tools.is_none() && blocks.into_iter().flatten().any(is_untyped))
    }

    /// Whether a body for a model other than Claude is in the spelling of the Messages API, which many makers offer.
    fn is_messages(&self) -> bool {
        let is_declared = |tool| json::member(tool, "input_schema").is_some();
        self.system.is_some() || self.tools.and_then(first).is_some_and(is_declared)
    }

    /// The spelling of a body for a Claude model. Chat completions have no `system`, and use functions for tools.
    fn dialect(&self) -> Dialect {
        if self.is_converse() {
            return Dialect::BedrockConverse;
        }
        let role = self.messages.and_then(first).and_then(|message| json::member_text(message, "role"));
        let is_function = |tool| json::member(tool, "function").is_some();
        let is_chat = matches!(role.as_deref(), Some("system" | "developer"))
            || self.tools.and_then(first).is_some_and(is_function);
        if self.system.is_none() && is_chat { Dialect::OpenRouter } else { Dialect::Messages }
    }
}

/// What a scan of an object shows besides its keys.
pub(super) struct Members<'a> {
    pub model: Option<&'a [u8]>,
    /// How deep the first member is nested that is nested too deep; else the last member.
    pub depth: usize,
}

/// The first element of a list.
fn first(list: &[u8]) -> Option<&[u8]> {
    json::elements(list).next()
}
