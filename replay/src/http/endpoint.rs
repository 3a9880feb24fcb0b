//! Which provider an address belongs to, and whether it takes model requests.

use crate::exchange::{ANTHROPIC, Dialect};

/// The destination of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// A model.
    Model {
        /// The provider.
        provider: String,
        /// The spelling of the body.
        dialect: Dialect,
        /// The model, if the address names it.
        model: Option<String>,
    },
    /// Anything else: files, token counting, telemetry, downloads.
    Elsewhere,
}

/// Endings of hosts, and the name of the provider in reports.
const HOSTS: &[(&str, &str)] = &[
    ("api.openai.com", "openai"),
    ("openai.azure.com", "azure"),
    ("services.ai.azure.com", "azure"),
    ("cognitiveservices.azure.com", "azure"),
    ("openrouter.ai", "openrouter"),
    ("api.mistral.ai", "mistral"),
    ("api.cohere.com", "cohere"),
    ("api.cohere.ai", "cohere"),
    ("api.deepseek.com", "deepseek"),
    ("api.x.ai", "xai"),
    ("api.groq.com", "groq"),
    ("api.moonshot.ai", "moonshot"),
    ("api.moonshot.cn", "moonshot"),
    ("api.z.ai", "zai"),
    ("open.bigmodel.cn", "zai"),
    ("api.minimax.io", "minimax"),
    ("dashscope.aliyuncs.com", "alibaba"),
    ("dashscope-intl.aliyuncs.com", "alibaba"),
    ("api.together.xyz", "together"),
    ("api.fireworks.ai", "fireworks"),
    ("api.perplexity.ai", "perplexity"),
    ("api.venice.ai", "venice"),
    ("api.doubleword.ai", "doubleword"),
    ("api.githubcopilot.com", "copilot"),
    ("chatgpt.com", "chatgpt"),
    ("generativelanguage.googleapis.com", "gemini"),
    ("aiplatform.googleapis.com", "vertex"),
    (".amazonaws.com", "bedrock"),
];

/// It offers chat completions too, with no prompt cache.
const HOST_OF_ANTHROPIC: &str = "api.anthropic.com";

/// Servers that people run themselves, so that no host names them.
const SERVERS: &[&str] = &["llamacpp", "ollama", "mistralrs"];

/// Endings of paths that ask a model. Cached objects of Gemini (`cachedContents`) are billed as its input. Embeddings are included because they cost money; those of Gemini
/// (`:embedContent`) are not, because their answers have no usage.
const MODEL_PATHS: &[(&str, Dialect)] = &[
    ("/completions", Dialect::ChatCompletions),
    ("/responses", Dialect::Responses),
    ("/v2/chat", Dialect::Cohere),
    ("/v1/chat", Dialect::Cohere),
    (":generateContent", Dialect::GenerateContent),
    (":streamGenerateContent", Dialect::GenerateContent),
    ("/cachedContents", Dialect::CachedContent),
    ("/v1beta/interactions", Dialect::GenerateContent),
    ("/api/chat", Dialect::Ollama),
    ("/api/generate", Dialect::Ollama),
    ("/embeddings", Dialect::Embeddings),
    ("/v1/embed", Dialect::Embeddings),
    ("/v2/embed", Dialect::Embeddings),
];

/// Sorts a request by method and address.
pub(crate) fn of(method: &str, uri: &str) -> Endpoint {
    if !method.eq_ignore_ascii_case("POST") {
        return Endpoint::Elsewhere;
    }
    let (host, path) = split(uri);
    if path.ends_with("/v1/messages") {
        return messages(host);
    }
    if let Some((model, action)) = bedrock(host, path) {
        return bedrock_model(model, action);
    }
    if let Some((publisher, model)) = vertex_publisher(path) {
        return match publisher {
            "anthropic" => anthropic(Dialect::Messages, Some(model)),
            _ => counted("vertex", Dialect::ChatCompletions, Some(model)),
        };
    }
    match MODEL_PATHS.iter().find(|(ending, _)| path.ends_with(ending)) {
        Some((_, dialect)) => counted(name_of(host), *dialect, gemini_model(path)),
        None => Endpoint::Elsewhere,
    }
}

/// A host of the provider that the innermost of the folders in `path` is named after, as recorders without hosts name
/// them; empty if there is none.
pub(crate) fn host_by_folder(path: &str) -> &str {
    let folders = path.rsplit(['/', '\\']).skip(1);
    let host = |folder| match HOSTS.iter().find(|(_, provider)| *provider == folder) {
        Some((host, _)) => Some(*host),
        None if folder == ANTHROPIC => Some(HOST_OF_ANTHROPIC),
        None => SERVERS.contains(&folder).then_some(folder),
    };
    folders.filter_map(host).next().unwrap_or("")
}

/// Whether a path returns the answers of a batch.
pub(crate) fn is_batch_results(path: &str) -> bool {
    path.contains("/batches/") && path.ends_with("/results")
}

/// The region in the name of a host: `eu.api.openai.com`, `bedrock-runtime.us-east-1.amazonaws.com`,
/// `us-central1-aiplatform.googleapis.com`.
pub(crate) fn region(host: &str) -> Option<&str> {
    let bedrock = || host.strip_prefix("bedrock-runtime")?.split_once('.')?.1.strip_suffix(".amazonaws.com");
    let region = host
        .strip_suffix(".api.openai.com")
        .or_else(|| host.strip_suffix("-aiplatform.googleapis.com"))
        .or_else(bedrock)?;
    (!region.is_empty()).then_some(region)
}

/// The Messages API. Hosts of other providers offer it for their own models too; the body names the model.
fn messages(host: &str) -> Endpoint {
    match host.ends_with(HOST_OF_ANTHROPIC) {
        true => anthropic(Dialect::Messages, None),
        false => counted(name_of(host), Dialect::Messages, None),
    }
}

/// Whether nothing is known of the host that a provider is named after.
pub(super) fn is_unknown(provider: &str) -> bool {
    let is_known = HOSTS.iter().any(|(_, name)| *name == provider);
    !is_known && provider != ANTHROPIC && provider != HOST_OF_ANTHROPIC && !SERVERS.contains(&provider)
}

/// A provider whose exchanges are counted and whose bodies are kept as sent.
fn counted(name: &str, dialect: Dialect, model: Option<String>) -> Endpoint {
    Endpoint::Model { provider: name.to_owned(), dialect, model }
}

fn anthropic(dialect: Dialect, model: Option<String>) -> Endpoint {
    counted(ANTHROPIC, dialect, model)
}

/// Host and path, without scheme, port, query and fragment.
pub(crate) fn split(uri: &str) -> (&str, &str) {
    let rest = uri.split_once("://").map_or(uri, |(_, rest)| rest);
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let slash = rest.find('/').unwrap_or(rest.len());
    let (host, path) = rest.split_at(slash);
    (host.split(':').next().unwrap_or(host), path)
}

/// `/model/<id>/<action>` on a Bedrock host.
fn bedrock<'a>(host: &str, path: &'a str) -> Option<(String, &'a str)> {
    if !host.contains("bedrock-runtime") && !host.ends_with("amazonaws.com") {
        return None;
    }
    let (id, action) = path.strip_prefix("/model/")?.rsplit_once('/')?;
    Some((percent_decoded(id), action))
}

fn bedrock_model(model: String, action: &str) -> Endpoint {
    let dialect = match action {
        "invoke" | "invoke-with-response-stream" => Dialect::BedrockInvoke,
        "converse" | "converse-stream" => Dialect::BedrockConverse,
        _ => return Endpoint::Elsewhere,
    };
    counted("bedrock", dialect, Some(model))
}

/// Models of other makers on Google Cloud: `…/publishers/<maker>/models/<model>:rawPredict`, with the maker's own body.
fn vertex_publisher(path: &str) -> Option<(&str, String)> {
    let (_, rest) = path.split_once("/publishers/")?;
    let (publisher, rest) = rest.split_once("/models/")?;
    let (model, action) = rest.rsplit_once(':')?;
    matches!(action, "rawPredict" | "streamRawPredict").then(|| (publisher, percent_decoded(model)))
}

fn gemini_model(path: &str) -> Option<String> {
    let (_, rest) = path.split_once("/models/")?;
    Some(percent_decoded(rest.rsplit_once(':')?.0))
}

fn name_of(host: &str) -> &str {
    let known = HOSTS.iter().find(|(known, _)| host.ends_with(known));
    known.map_or(host, |(_, name)| name)
}

fn percent_decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        let decoded = (byte == b'%').then(|| hex_pair(behind)).flatten();
        out.push(decoded.unwrap_or(byte));
        rest = if decoded.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

fn hex_pair(bytes: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(*bytes.first()?)? * 16 + digit(*bytes.get(1)?)?)
}
