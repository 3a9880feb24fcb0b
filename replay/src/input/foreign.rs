//! Files that are almost recordings: what they are, and how to export a readable one from the same tool.

use std::borrow::Cow;

/// By the first bytes, before the file is treated as text.
pub(super) fn by_head(head: &[u8]) -> Option<&'static str> {
    let has = |word: &str| memchr::memmem::find(head, word.as_bytes()).is_some();
    if is_flow_file(head) {
        return Some(
            "a mitmproxy flow file (tnetstring); export it as HAR: `mitmdump -nr FLOWS --set hardump=FILE.har`",
        );
    }
    if head.starts_with(b"\n")
        && head.contains(&0x12)
        && (has("gen_ai.") || has("service.name") || has("telemetry.sdk"))
    {
        return Some("OTLP traces in protobuf; export them as JSON (file exporter of the collector, `format: json`)");
    }
    if head.starts_with(b"SQLite format 3\0") {
        return Some("an SQLite database; export its rows as JSON lines");
    }
    if head.starts_with(b"PK\x03\x04") {
        return Some("a ZIP archive; unpack it and name what is in it");
    }
    None
}

/// `<length>:` and a dictionary whose first key is a string: `5120:7:version;2:21#…`.
fn is_flow_file(head: &[u8]) -> bool {
    let number = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let after_number = |bytes: &[u8]| match number(bytes) {
        0 => None,
        digits if digits <= 12 && bytes.get(digits) == Some(&b':') => Some(digits + 1),
        _ => None,
    };
    let Some(dictionary) = after_number(head).and_then(|at| head.get(at..)) else { return false };
    let Some(key) = after_number(dictionary).and_then(|at| dictionary.get(at..)) else { return false };
    let word = key.iter().take_while(|byte| byte.is_ascii_lowercase() || **byte == b'_').count();
    (2..=30).contains(&word) && matches!(key.get(word), Some(b';' | b','))
}

/// By the keys of a JSON object.
pub(super) fn by_keys(keys: &[Cow<'_, str>]) -> Option<&'static str> {
    let has = |name: &str| keys.iter().any(|key| key == name);
    if has("info") && has("item") {
        Some("a Postman collection holds requests without their answers; record them through a proxy and export HAR")
    } else if has("_type") && has("__export_format") {
        Some("an Insomnia export holds requests without their answers; export the timeline as HAR")
    } else if has("resourceMetrics") || has("resourceLogs") {
        Some("OTLP metrics or logs; requests are in traces (`resourceSpans`)")
    } else if has("status") && has("protocolVersion") && has("host") {
        Some(CHARLES)
    } else if has("context") && has("attributes") && has("start_time") {
        Some("spans as the console exporter of OpenTelemetry prints them; export them as OTLP in JSON")
    } else if has("traceID") && has("spans") {
        Some(JAEGER)
    } else if has("sessionID") && has("role") && has("id") {
        Some("a message of OpenCode's storage; pass all of `storage`, or export: `opencode export SESSION`")
    } else if has("sessionId") && has("messageId") && has("message") {
        Some("Gemini CLI's log of prompts, which holds no usage; its chats lie in `chats`")
    } else if has("instructions") && has("id") && has("timestamp") {
        Some("a rollout of Codex CLI from before 0.32, which holds no usage")
    } else {
        None
    }
}

const JAEGER: &str = "traces as Jaeger exports them; export them as OTLP in JSON";

/// By the keys of the first element of the list under `data`, which some tools use for their rows.
pub(super) fn by_data_keys(keys: &[Cow<'_, str>]) -> Option<&'static str> {
    keys.iter().any(|key| key == "traceID").then_some(JAEGER)
}

const CHARLES: &str = "a session of Charles; export it as HAR";

/// By a line of YAML.
pub(super) fn by_yaml_line(line: &[u8]) -> Option<&'static str> {
    if line.starts_with(b"- !ruby/struct:VCR::HTTPInteraction") {
        return Some("a cassette of VCR 1 (ruby objects); migrate it: `rake vcr:migrate_cassettes`");
    }
    if line.starts_with(b"type: collection.insomnia.rest") {
        return Some("an Insomnia collection holds requests without their answers; export the timeline as HAR");
    }
    None
}
