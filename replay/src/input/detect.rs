//! Which format a file has, by content alone.

use std::borrow::Cow;

use forkcast_sim::outside::found;

use super::foreign;
use crate::error::Fault;
use crate::formats::Format;
use crate::formats::json::{self, Broken};
use crate::formats::text::{Text, has_whole_line, is_list, is_whole_line};

/// How many lines are tried for records, where the document as a whole is none.
const LINES_TRIED: usize = 100;

/// How many keys of an unknown document are shown.
const KEYS_SHOWN: usize = 5;

/// What a file is.
pub(super) enum Verdict {
    /// A recording.
    Is(Format),
    /// Something else.
    Skip(String),
    /// Damaged before it showed what it is.
    Broken(Fault),
}

/// Why a file without content is no recording.
pub(super) const NOTHING: [&str; 2] = ["empty file", "nothing but white space at its beginning"];

const MARKUP: &str = "HTML or XML";
const BINARY: &str = "binary data";

/// Why a file that begins with `head` is no recording; `None` while it may be one.
pub(super) fn no_recording(head: &[u8]) -> Option<String> {
    let text = head.trim_ascii_start();
    if let Some(reason) = foreign::by_head(head) {
        return Some(reason.to_owned());
    }
    let reason = match text.first() {
        None if head.is_empty() => NOTHING[0],
        None => NOTHING[1],
        // A log whose first line is damaged is still one.
        _ if has_whole_line(head) => return None,
        Some(b'<') => MARKUP,
        _ if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") => "UTF-16 text, only UTF-8 is read",
        _ if head.contains(&0) => BINARY,
        _ => return None,
    };
    Some(reason.to_owned())
}

/// Detects the format of a whole file.
pub(super) fn detect(bytes: &[u8]) -> Verdict {
    let start = json::skip_space(bytes, 0);
    match bytes.get(start) {
        Some(b'{') => object(bytes, start),
        Some(b'[') => list(bytes, start),
        _ => {
            let text = Text::new(bytes);
            yaml(&text).or_else(|| lines(&text)).unwrap_or_else(|| Verdict::Skip(plain(&text).to_owned()))
        }
    }
}

fn object(bytes: &[u8], start: usize) -> Verdict {
    if !is_whole_line(bytes, start)
        && has_whole_line(bytes)
        && let Some(verdict) = lines(&Text::new(bytes))
    {
        return verdict;
    }
    let (keys, broken) = json::keys(bytes, start);
    if let Some(format) = by_keys(bytes, &keys) {
        return Verdict::Is(format);
    }
    let text = Text::new(bytes);
    if let Some(verdict) = lines(&text) {
        return verdict;
    }
    let wrapped = || foreign::by_data_keys(&data_keys(bytes));
    match (foreign::by_keys(&keys).or_else(wrapped), broken) {
        (Some(reason), _) => Verdict::Skip(reason.to_owned()),
        (None, Some(Broken { at, what })) => Verdict::Broken(text.fault(at, what)),
        (None, None) => Verdict::Skip(other_keys(&keys)),
    }
}

/// The keys of the first element under `data`.
fn data_keys(bytes: &[u8]) -> Vec<Cow<'_, str>> {
    let Some(list) = json::value_start(bytes, "data") else { return Vec::new() };
    json::keys(bytes, json::skip_space(bytes, list + 1)).0
}

/// A list of the records that otherwise stand line by line, known by its first element.
fn list(bytes: &[u8], start: usize) -> Verdict {
    if !is_list(bytes)
        && let Some(verdict) = lines(&Text::new(bytes))
    {
        return verdict;
    }
    let first = json::skip_space(bytes, start + 1);
    let keys = json::keys(bytes, first).0;
    let format = by_line_keys(bytes.get(first..).unwrap_or_default(), &keys).filter(|format| format.reads_lists());
    match (format, foreign::by_keys(&keys), json::walk_value(bytes, start)) {
        (Some(format), _, _) => Verdict::Is(format),
        (None, Some(reason), _) => Verdict::Skip(reason.to_owned()),
        (None, None, Ok(_)) => Verdict::Skip("a JSON list, no recording".to_owned()),
        (None, None, Err(broken)) => Verdict::Broken(Text::new(bytes).fault(broken.at, broken.what)),
    }
}

fn by_keys(bytes: &[u8], keys: &[Cow<'_, str>]) -> Option<Format> {
    let has = |name: &str| keys.iter().any(|key| key == name);
    if has("http_interactions") {
        Some(Format::RubyVcr)
    } else if has("interactions") {
        Some(Format::Vcr)
    } else if has("log") && is_archive(bytes) {
        Some(Format::Har)
    } else if has("header") && has("records") {
        Some(Format::WireCapture)
    } else {
        by_line_keys(&bytes[json::skip_space(bytes, 0)..], keys)
            .or_else(|| is_body(bytes, &has).then_some(Format::Bodies))
    }
}

/// The value under `log` has entries, or what stands before them.
fn is_archive(bytes: &[u8]) -> bool {
    let log = json::value_start(bytes, "log").and_then(|start| bytes.get(start..)).unwrap_or_default();
    ["entries", "creator", "pages"].iter().any(|key| json::value_start(log, key).is_some())
}

/// Keys of bodies whose model stands in the address: those for Bedrock and Vertex, and those of Converse.
const MODEL_ELSEWHERE: [&str; 4] = ["anthropic_version", "toolConfig", "inferenceConfig", "modelId"];

fn is_body(bytes: &[u8], has: &dyn Fn(&str) -> bool) -> bool {
    let says = |keys: [&str; 2]| keys.into_iter().all(has);
    (has("model") && ["messages", "input", "prompt"].into_iter().any(has))
        || (has("messages") && MODEL_ELSEWHERE.iter().any(|key| has(key)))
        || [["request", "response"], ["message", "chat_history"], ["inputText", "textGenerationConfig"]]
            .into_iter()
            .any(says)
        || has_contents(bytes)
        || has("request") && json::member(bytes, "request").is_some_and(has_contents)
}

/// The list under `contents` is a conversation with Gemini.
fn has_contents(bytes: &[u8]) -> bool {
    let Some(list) = json::value_start(bytes, "contents") else { return false };
    json::keys(bytes, json::skip_space(bytes, list + 1)).0.iter().any(|key| key == "parts")
}

fn by_line_keys(object: &[u8], keys: &[Cow<'_, str>]) -> Option<Format> {
    let has = |name: &str| keys.iter().any(|key| key == name);
    if has("resourceSpans") {
        Some(Format::Otel)
    } else if has("standard_logging_object") || has("call_type") && has("startTime") {
        Some(Format::LiteLlm)
    } else if has("v") && has("request") {
        Some(Format::ExchangeLog)
    } else if has("request") && has("logged_at") {
        Some(Format::ClaudeTrace)
    } else if has("ts") && has("body") {
        Some(Format::WireCapture)
    } else if has("type") && is_session_line(&has) {
        Some(Format::ClaudeCode)
    } else {
        by_agent_keys(object, &has).or_else(|| by_trace_keys(&has))
    }
}

/// Transcripts of other agents.
fn by_agent_keys(object: &[u8], has: &dyn Fn(&str) -> bool) -> Option<Format> {
    let holds =
        |key: &str, inner: &str| json::member(object, key).is_some_and(|value| json::member(value, inner).is_some());
    if has("timestamp") && has("type") && has("payload") {
        Some(Format::Codex)
    } else if has("sessionId") && has("projectHash") {
        Some(Format::GeminiCli)
    } else if has("timestamp") && has("type") && (has("id") && has("cwd") || holds("message", "role")) {
        Some(Format::Pi)
    } else if has("type") && has("data") && has("timestamp") && has("parentId") {
        Some(Format::CopilotCli)
    } else if has("info") && has("messages") && holds("info", "id") {
        Some(Format::OpenCode)
    } else if has("role") && has("kind") && has("time") && has("raw") || has("type") && has("processed_at") {
        Some(Format::ManagedAgents)
    } else if has("history") && (has("trajectory") || first_message_names_agent(object)) {
        Some(Format::SweAgent)
    } else if has("provider") && has("round_index") && has("prefix_tokens") {
        Some(Format::TraceLab)
    } else if has("data") && data_keys(object).iter().any(|key| key == "processed_at") {
        Some(Format::ManagedAgents)
    } else if has("$set") || has("$rewindTo") || is_gemini_answer(object, has) {
        Some(Format::GeminiCli)
    } else {
        None
    }
}

/// A line of a chat of Gemini CLI whose first line, which names the session, is damaged.
fn is_gemini_answer(object: &[u8], has: &dyn Fn(&str) -> bool) -> bool {
    has("id") && has("timestamp") && json::member_text(object, "type").is_some_and(|kind| kind == "gemini")
}

/// The list under `history` is a conversation of SWE-agent.
fn first_message_names_agent(object: &[u8]) -> bool {
    let Some(list) = json::value_start(object, "history") else { return false };
    let keys = json::keys(object, json::skip_space(object, list + 1)).0;
    ["role", "content", "agent"].iter().all(|name| keys.iter().any(|key| key == name))
}

/// Serving traces: prompts as ids of blocks, or as bare texts.
fn by_trace_keys(has: &dyn Fn(&str) -> bool) -> Option<Format> {
    if has("hash_id_scope") && has("requests") {
        Some(Format::Weka)
    } else if has("hash_ids") && has("input_length") {
        Some(Format::Mooncake)
    } else if has("input") && has("session_id") && has("timestamp") {
        Some(Format::LmCache)
    } else {
        None
    }
}

/// A line of a session of Claude Code: said, queued, or kept beside it (a title, a mode, a snapshot of files).
fn is_session_line(has: &dyn Fn(&str) -> bool) -> bool {
    let said = has("sessionId") && (has("uuid") || has("operation") || has("leafUuid"));
    let kept = has("sessionId")
        && ["mode", "permissionMode", "customTitle", "aiTitle", "prNumber", "frameUrl"].iter().any(|key| has(key));
    said || kept || has("summary") && has("leafUuid") || has("messageId") && has("snapshot")
}

/// A log whose first lines are damaged still shows its kind in a later one.
fn lines(text: &Text<'_>) -> Option<Verdict> {
    let begun = || text.lines().map(|(_, _, line)| line).filter(|line| line.starts_with(b"{")).take(LINES_TRIED);
    let by_keys_of = |line: &[u8]| by_line_keys(line, &json::keys(line, 0).0);
    let whole = begun().filter(|line| is_whole_line(line, 0)).find_map(by_keys_of);
    whole.or_else(|| begun().find_map(by_keys_of)).map(Verdict::Is)
}

fn other_keys(keys: &[Cow<'_, str>]) -> String {
    let shown = keys.iter().take(KEYS_SHOWN).map(|key| found(key)).collect::<Vec<_>>();
    let more = if keys.len() > KEYS_SHOWN { ", …" } else { "" };
    format!("JSON of another kind (keys {}{more})", shown.join(", "))
}

fn yaml(text: &Text<'_>) -> Option<Verdict> {
    let mut lines = text.lines().map(|(_, _, line)| line);
    lines.find_map(|line| {
        if let Some(reason) = foreign::by_yaml_line(line) {
            return Some(Verdict::Skip(reason.to_owned()));
        }
        let key = line.get(..memchr::memchr(b':', line)?)?;
        match key {
            b"interactions" => Some(Verdict::Is(Format::Vcr)),
            b"http_interactions" => Some(Verdict::Is(Format::RubyVcr)),
            b"messages" => Some(Verdict::Skip("YAML of a client's own messages, no HTTP exchanges".to_owned())),
            _ => None,
        }
    })
}

fn plain(text: &Text<'_>) -> &'static str {
    if text.bytes.trim_ascii_start().starts_with(b"<") {
        return MARKUP;
    }
    if memchr::memchr(0, text.bytes).is_some() {
        return BINARY;
    }
    let commas = |line: &[u8]| line.iter().filter(|byte| **byte == b',').count();
    let mut counts = text.lines().map(|(_, _, line)| commas(line)).take(2);
    match (counts.next(), counts.next()) {
        (Some(first), Some(second)) if first > 1 && first == second => "a table of comma-separated values",
        _ => "text of another kind",
    }
}
