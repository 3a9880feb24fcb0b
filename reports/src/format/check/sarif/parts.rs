//! The objects of a SARIF log that are written, with the standard's names.

use std::collections::BTreeMap;

use forkcast_sim::diagnosis::Provider;
use forkcast_sim::outside::inert_message;
use serde::Serialize;

use crate::check::{Check, Kind};
use crate::format::number::Usd;

/// One run of the tool.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Run {
    pub tool: Tool,
    pub column_kind: &'static str,
    pub invocations: [Invocation; 1],
    pub results: Vec<ResultObject>,
}

#[derive(Serialize)]
pub(super) struct Tool {
    pub driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Driver {
    name: &'static str,
    full_name: &'static str,
    semantic_version: &'static str,
    rules: Vec<RuleObject>,
}

impl Driver {
    pub fn new(rules: Vec<RuleObject>) -> Self {
        Self {
            name: "forkcast",
            full_name: "forkcast check: what breaks the prompt cache",
            semantic_version: env!("CARGO_PKG_VERSION"),
            rules,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RuleObject {
    pub id: String,
    name: String,
    short_description: Message,
    full_description: Message,
    help: Message,
    default_configuration: RuleConfiguration,
    properties: RuleProperties,
}

#[derive(Serialize)]
struct RuleConfiguration {
    level: &'static str,
}

#[derive(Serialize)]
struct RuleProperties {
    tags: [&'static str; 2],
}

impl RuleObject {
    pub fn new(id: &str, short: &str, full: &str) -> Self {
        Self {
            id: id.to_owned(),
            name: pascal(id),
            short_description: Message::text(short),
            full_description: Message::text(full),
            help: Message::text(full),
            default_configuration: RuleConfiguration { level: "error" },
            properties: RuleProperties { tags: ["prompt-cache", "cost"] },
        }
    }
}

/// `tool_changed` as `ToolChanged`, the form in which rules are named.
fn pascal(word: &str) -> String {
    let capital = |part: &str| {
        let mut chars = part.chars();
        chars.next().map(|first| first.to_uppercase().chain(chars).collect::<String>())
    };
    word.split('_').filter_map(capital).collect()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResultObject {
    pub rule_id: String,
    pub rule_index: usize,
    pub level: &'static str,
    pub message: Message,
    pub locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related_locations: Vec<Location>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occurrence_count: Option<usize>,
    pub partial_fingerprints: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<Properties>,
}

impl ResultObject {
    /// A result that no change of a prompt is behind. What it says is how it is known again.
    pub fn error(id: &str, rule_index: usize, text: &str, place: Location) -> Self {
        Self {
            rule_id: id.to_owned(),
            rule_index,
            level: "error",
            message: Message::text(text),
            locations: vec![place],
            related_locations: Vec::new(),
            occurrence_count: None,
            partial_fingerprints: BTreeMap::from([("forkcastRule/v1", id.to_owned())]),
            properties: None,
        }
    }
}

/// What programs may want to know beside the text.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Properties {
    rule: &'static str,
    verdict: &'static str,
    request: usize,
    older: Option<usize>,
    offset_in_block: Option<u64>,
    offset_in_prefix: Option<u64>,
    volatile: Option<&'static str>,
    provider: Option<&'static str>,
    provider_reason: Option<&'static str>,
    tokens_lost: Option<u64>,
    cost_usd: Option<Usd>,
}

impl Properties {
    pub fn of(check: &Check<'_>, kind: &Kind<'_>) -> Self {
        let finding = kind.first();
        Self {
            rule: finding.rule.word(),
            verdict: check.verdict(finding).word(),
            request: finding.request,
            older: finding.older,
            offset_in_block: finding.offset_in_block,
            offset_in_prefix: finding.offset_in_prefix,
            volatile: finding.volatile.map(|volatile| volatile.word()),
            provider: finding.provider.map(Provider::word),
            provider_reason: finding.provider_reason(),
            tokens_lost: kind.tokens_lost(),
            cost_usd: kind.cost().map(Usd),
        }
    }
}

#[derive(Serialize)]
pub(super) struct Message {
    text: String,
}

impl Message {
    pub fn text(text: &str) -> Self {
        Self { text: inert_message(text).into_owned() }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Invocation {
    pub execution_successful: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
pub(super) struct Notification {
    pub level: &'static str,
    pub message: Message,
    pub locations: [Location; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    physical_location: Option<PhysicalLocation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<LogicalLocation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

impl Location {
    /// A JSON path that stands in no file.
    pub fn of(path: Option<&str>) -> Self {
        let logical = path.filter(|path| !path.is_empty()).map(LogicalLocation::of);
        Self { id: None, physical_location: None, logical_locations: logical.into_iter().collect(), message: None }
    }

    /// A JSON path in a line of a file.
    pub fn at(file: &str, line: usize, path: Option<&str>) -> Self {
        let artifact_location = ArtifactLocation { uri: uri(file) };
        let physical = PhysicalLocation { artifact_location, region: Region { start_line: line } };
        Self { physical_location: Some(physical), ..Self::of(path) }
    }

    /// The same as one of several, with what it is to them.
    pub fn related(self, id: usize, text: &str) -> Self {
        Self { id: Some(id), message: Some(Message::text(text)), ..self }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    region: Region,
}

#[derive(Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation {
    fully_qualified_name: String,
    kind: &'static str,
}

impl LogicalLocation {
    fn of(path: &str) -> Self {
        Self { fully_qualified_name: path.to_owned(), kind: "object" }
    }
}

/// A path as the relative or absolute reference that a URI is, everything escaped that has a meaning there (RFC 3986).
fn uri(file: &str) -> String {
    let file = file.replace('\\', "/");
    let file = file.strip_prefix("./").unwrap_or(&file);
    let mut uri = if file.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in file.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::{pascal, uri};

    #[test]
    fn files_are_references() {
        assert_eq!(uri("./bodies/a b#1.json"), "bodies/a%20b%231.json");
        assert_eq!(uri("C:\\x"), "C%3A/x");
        assert_eq!(uri("/tmp/ä.json"), "file:///tmp/%C3%A4.json");
    }

    #[test]
    fn rules_have_names_of_one_word() {
        assert_eq!(pascal("tool_changed"), "ToolChanged");
    }
}
