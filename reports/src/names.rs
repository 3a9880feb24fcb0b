//! Names of files, agents and tools: as they are, or replaced by stable ids.

use forkcast_sim::outside::{quoted, quoted_part};

/// How names are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Names {
    /// As they are.
    #[default]
    Plain,
    /// As ids: equal names have equal ids, in every run.
    Anonymous,
}

/// Hexadecimal digits of an id: enough to tell a million names apart.
const DIGITS: usize = 10;

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

    /// The name of what differs, such as "tool `Read`, field `description`": the tool's name is replaced, the field's
    /// is not.
    pub fn thing(self, what: &str) -> String {
        match quoted_part(what) {
            Some((before, tool, after)) if before.ends_with("tool ") => {
                format!("{before}{}{after}", quoted(&self.shown("tool", tool)))
            }
            _ => what.to_owned(),
        }
    }

    /// A message that may quote the input: kept as it is or left out.
    pub fn message(self, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            // What a message quotes cannot be told from what it says.
            Self::Anonymous => text.split_once('`').map_or(text, |(before, _)| before.trim_end()).to_owned(),
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
    }
}
