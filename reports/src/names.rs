//! Names of files, agents, tools, models and clients: as they are, or replaced by stable ids.

use std::borrow::Cow;

use forkcast_replay::formats::Format;
use forkcast_sim::outside::{quoted, quoted_part};
use forkcast_sim::wire::model;

/// How names are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Names {
    /// Unchanged.
    #[default]
    Plain,
    /// As ids: equal names have equal ids, in every run.
    Anonymous,
}

/// Hexadecimal digits of an id: enough to distinguish a million names.
const DIGITS: usize = 10;

/// The name of Claude Code in the headers of its requests (recorded headers, `replay/src/http/client.rs`).
const CLAUDE_CODE_IN_HEADERS: &str = "claude-cli";

impl Names {
    /// A file or folder.
    pub fn file(self, name: &str) -> String {
        self.shown("file", name)
    }

    /// A session's id in the input.
    pub fn session(self, name: &str) -> String {
        self.shown("session", name)
    }

    /// An agent's id in the input.
    pub fn agent(self, name: &str) -> String {
        self.shown("agent", name)
    }

    /// A tool.
    pub fn tool(self, name: &str) -> String {
        self.shown("tool", name)
    }

    /// A model. A model of the table is public and is given by its id, because spellings may contain an account.
    pub fn model(self, spelling: &str) -> Cow<'_, str> {
        match (self, model::resolve(spelling)) {
            (Self::Plain, _) => Cow::Borrowed(spelling),
            (Self::Anonymous, Some(resolved)) => Cow::Owned(resolved.id.to_string()),
            (Self::Anonymous, None) if spelling.is_empty() => Cow::Borrowed(spelling),
            (Self::Anonymous, None) => Cow::Owned(self.shown("model", spelling)),
        }
    }

    /// A client with its version, as `claude-code/2.1.63`. Clients with a reader and numeric versions are public.
    pub fn client(self, client: String) -> String {
        if self == Self::Plain {
            return client;
        }
        let (name, version) = client.split_once('/').map_or((&*client, None), |(name, version)| (name, Some(version)));
        let is_public = name == CLAUDE_CODE_IN_HEADERS || Format::ALL.iter().any(|known| known.name() == name);
        let name = if is_public { name.to_owned() } else { self.shown("client", name) };
        match version {
            None => name,
            Some(version) if is_number(version) => format!("{name}/{version}"),
            Some(version) => format!("{name}/{}", self.shown("version", version)),
        }
    }

    /// The name of a difference, such as "tool `Read`, field `description`": names of tools and models are replaced,
    /// the field's is not.
    pub fn thing(self, what: &str) -> String {
        let (mut said, mut rest) = (String::with_capacity(what.len()), what);
        while let Some((before, name, after)) = quoted_part(rest) {
            let shown = match before {
                _ if before.ends_with("tool ") => Cow::Owned(self.tool(name)),
                _ if before.ends_with("model ") || before == " became " => self.model(name),
                _ => Cow::Borrowed(name),
            };
            said.push_str(before);
            said.push_str(&quoted(&shown));
            rest = after;
        }
        said.push_str(rest);
        said
    }

    /// A message that may quote the input: kept as it is or left out.
    pub fn message(self, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Anonymous => without_quotations(text),
        }
    }

    fn shown(self, kind: &str, name: &str) -> String {
        match self {
            Self::Plain => name.to_owned(),
            Self::Anonymous => {
                let digest = blake3::hash(name.as_bytes()).to_hex();
                format!("{kind}-{}", &digest.as_str()[..DIGITS])
            }
        }
    }
}

/// Most numbers of a version, and digits of each: excludes dates and addresses.
const NUMBERS: std::ops::RangeInclusive<usize> = 1..=4;
const NUMBER_DIGITS: std::ops::RangeInclusive<usize> = 1..=5;

/// Numbers with dots between them, as `2.1.63`.
fn is_number(version: &str) -> bool {
    let is_digits = |part: &str| NUMBER_DIGITS.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    NUMBERS.contains(&version.split('.').count()) && version.split('.').all(is_digits)
}

/// The text with an ellipsis instead of each quotation. If one does not end, its content is unknown.
fn without_quotations(text: &str) -> String {
    let (mut said, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, _, after)) = quoted_part(rest) {
        said.push_str(before);
        said.push_str("`…`");
        rest = after;
    }
    said.push_str(rest.split('`').next().unwrap_or_default());
    said
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn ids_are_stable_and_hide_the_name() {
        let names = Names::Anonymous;
        assert_eq!(names.file("a/b.json"), names.file("a/b.json"));
        assert_ne!(names.file("a/b.json"), names.file("a/c.json"));
        assert_eq!(Names::Plain.file("a/b.json"), "a/b.json");
    }

    #[test]
    fn a_tool_is_hidden_and_its_field_is_not() {
        let shown = Names::Anonymous.thing("tool `Read`, field `description`");
        assert!(shown.starts_with("tool `tool-") && shown.ends_with("`, field `description`"), "{shown}");
        let shown = Names::Anonymous.thing("tool ``a`secret``, field `x`");
        assert!(!shown.contains("secret") && shown.ends_with("`, field `x`"), "{shown}");
        assert_eq!(Names::Anonymous.thing("parameter `effort`"), "parameter `effort`");
        let shown = Names::Anonymous.thing("model `claude-opus-4.8` became ``a`secret``");
        assert!(shown.starts_with("model `claude-opus-4-8` became `model-") && !shown.contains("secret"), "{shown}");
    }

    #[test]
    fn only_public_models_and_clients_are_shown() {
        let names = Names::Anonymous;
        let account = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-8";
        assert_eq!([names.model("claude-opus-4-8"), names.model("")], ["claude-opus-4-8", ""]);
        for secret in [account, "acme-secret-7b"] {
            let shown = names.model(secret);
            assert!(!shown.contains("123456789012") && !shown.contains("secret"), "{shown}");
            assert_eq!(Names::Plain.model(secret), secret);
        }
        assert!(names.model("acme-secret-7b").starts_with("model-"));
        let client = |client: &str| names.client(client.to_owned());
        for known in ["claude-code/2.1.63", "claude-cli/2.1.63", "codex"] {
            assert_eq!(client(known), known);
        }
        for secret in ["claude-code/2.1.63-acme", "claude-code/192.168.17.4200000", "acme-agent/1.0"] {
            let shown = client(secret);
            assert!(!shown.contains("acme") && !shown.contains("168"), "{shown}");
        }
    }

    #[test]
    fn a_message_ends_as_it_began() {
        let message = |text: &str| Names::Anonymous.message(text);
        assert_eq!(
            message("The 6 requests of ``a`secret`` carry no breakpoint."),
            "The 6 requests of `…` carry no breakpoint."
        );
        assert_eq!(message("found `a`, expected `b`"), "found `…`, expected `…`");
        assert_eq!(message("found `a` and a ` secret"), "found `…` and a ");
    }
}
