//! Where definitions come from, and which definition of a name wins (ADEF-15..17, C09).

use std::collections::BTreeMap;
use std::rc::Rc;

use super::invalid::Invalid;
use super::{AgentDefinition, built_in, check, json, markdown};
use crate::outside::words;

words! {
    /// Where definitions come from (ADEF-15).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Source {
        /// In the runtime.
        #[default]
        BuiltIn = "built-in",
        /// In a plugin.
        Plugin = "plugin",
        /// In the user's home.
        User = "user",
        /// In the project.
        Project = "project",
        /// Managed by an organisation.
        Policy = "policy",
        /// On the command line, as JSON.
        Flag = "flag",
    }
}

/// Which definition of a name wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ranking {
    /// [`PUBLIC`].
    #[default]
    Public,
    /// [`CONTRACT`].
    Contract,
}

/// Sources in public order, highest first (`design.md` 5; pages on sub-agents, 2026-09).
pub const PUBLIC: [Source; 6] =
    [Source::Policy, Source::Flag, Source::Project, Source::User, Source::Plugin, Source::BuiltIn];

/// Sources in the contract's literal order, highest first (ADEF-16): built-in types cannot be replaced.
pub const CONTRACT: [Source; 6] =
    [Source::BuiltIn, Source::Plugin, Source::User, Source::Project, Source::Policy, Source::Flag];

/// Capitalised names of built-in types, and the types they mean (C14).
const ALIASES: [(&str, &str); 2] = [("Explore", "explore"), ("Plan", "plan")];

/// A text that defines agents, passed in by the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Its source.
    pub source: Source,
    /// Its path. A path that ends in `.json` or a text that starts with `{` is JSON; anything else is markdown.
    pub path: Rc<str>,
    /// Its content.
    pub text: Rc<str>,
}

/// What became of a definition (ADEF-24).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fate {
    /// Its name, or the path of its text if no name could be read.
    pub agent_type: Rc<str>,
    /// Its source.
    pub source: Source,
    /// The outcome.
    pub outcome: Outcome,
    /// The reason, for people.
    pub why: Rc<str>,
}

words! {
    /// What can become of a definition when it is read. A kept definition may still be denied or lack a server.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Outcome {
        /// It won its name.
        Kept = "kept",
        /// A higher source defines the same name.
        Shadowed = "shadowed",
        /// It is invalid.
        Invalid = "invalid",
    }
}

/// The definitions that won, by name, and the fate of all.
#[derive(Clone, Debug)]
pub struct Definitions {
    by_type: BTreeMap<Rc<str>, Rc<AgentDefinition>>,
    fates: Vec<Fate>,
    invalid: Vec<Invalid>,
}

impl Source {
    /// The source of a file at an absolute path, by the folders of ADEF-15; `None` if definitions are not read there.
    pub fn of_path(path: &str, home: &str) -> Option<Self> {
        let in_home = path.strip_prefix(home).is_some_and(|rest| rest.starts_with("/.claude/agents/"));
        match path {
            _ if !path.ends_with(".md") && !path.ends_with(".json") => None,
            _ if path.contains("/plugins/") && path.contains("/agents/") => Some(Self::Plugin),
            _ if in_home => Some(Self::User),
            _ if path.contains("/.claude/agents/") => Some(Self::Project),
            _ => None,
        }
    }
}

impl Ranking {
    /// Sources, highest first.
    pub const fn order(self) -> [Source; 6] {
        match self {
            Self::Public => PUBLIC,
            Self::Contract => CONTRACT,
        }
    }

    /// Zero for the highest source.
    fn rank(self, source: Source) -> usize {
        let rank = self.order().iter().position(|other| *other == source);
        debug_assert!(rank.is_some(), "an order has every source");
        rank.unwrap_or(usize::MAX)
    }
}

impl Text {
    /// The namespace of a plugin's definitions (ADEF-14): the folder under `plugins/`.
    pub(super) fn namespace(&self) -> Option<&str> {
        if self.source != Source::Plugin {
            return None;
        }
        let (_, behind) = self.path.split_once("plugins/")?;
        behind.split_once('/').map(|(plugin, _)| plugin).filter(|plugin| !plugin.is_empty())
    }

    fn is_json(&self) -> bool {
        self.path.ends_with(".json") || self.text.trim_start().starts_with('{')
    }

    fn definitions(&self) -> Vec<Result<(AgentDefinition, Vec<String>), Invalid>> {
        let raws = if self.is_json() {
            json::read(self).unwrap_or_else(|invalid| vec![Err(invalid)])
        } else {
            vec![markdown::read(self)]
        };
        raws.into_iter().map(|raw| raw.and_then(|raw| check::definition(self, raw))).collect()
    }
}

impl Definitions {
    /// The built-in types and those of `texts`, one per name: from the highest source, or the first within one source.
    pub fn gather(texts: &[Text], ranking: Ranking) -> Self {
        let mut gathered = Self { by_type: BTreeMap::new(), fates: Vec::new(), invalid: Vec::new() };
        let mut candidates: Vec<(AgentDefinition, Rc<str>)> =
            built_in::all().into_iter().map(|definition| (definition, "".into())).collect();
        for text in texts {
            for read in text.definitions() {
                match read {
                    Ok((definition, unknown)) => candidates.push((canonical(definition), passed_over(&unknown))),
                    Err(invalid) => gathered.refuse(text, invalid),
                }
            }
        }
        candidates.sort_by_key(|(definition, _)| ranking.rank(definition.source));
        for (definition, note) in candidates {
            gathered.consider(definition, note);
        }
        gathered
    }

    fn refuse(&mut self, text: &Text, invalid: Invalid) {
        let agent_type = text.path.clone();
        let why = invalid.to_string().into();
        self.fates.push(Fate { agent_type, source: text.source, outcome: Outcome::Invalid, why });
        self.invalid.push(invalid);
    }

    fn consider(&mut self, definition: AgentDefinition, note: Rc<str>) {
        let agent_type = definition.agent_type.clone();
        let source = definition.source;
        let (outcome, why) = match self.by_type.get(&agent_type) {
            Some(winner) => (Outcome::Shadowed, format!("by a definition from source {}", winner.source.name()).into()),
            None => (Outcome::Kept, note),
        };
        self.by_type.entry(agent_type.clone()).or_insert_with(|| Rc::new(definition));
        self.fates.push(Fate { agent_type, source, outcome, why });
    }

    /// The definition called `name`; capitalised names select built-in types (C14).
    pub fn get(&self, name: &str) -> Option<Rc<AgentDefinition>> {
        self.by_type.get(meant_type(name)).cloned()
    }

    /// All definitions, ordered by name.
    pub fn all(&self) -> impl Iterator<Item = &Rc<AgentDefinition>> {
        self.by_type.values()
    }

    /// The fate of every definition: invalid ones first, then by source, highest first.
    pub fn fates(&self) -> &[Fate] {
        &self.fates
    }

    /// The errors of invalid definitions.
    pub fn invalid(&self) -> &[Invalid] {
        &self.invalid
    }
}

impl Default for Definitions {
    /// The built-in types.
    fn default() -> Self {
        Self::gather(&[], Ranking::default())
    }
}

/// The type that `name` means: built-in types have capitalised aliases (C14).
pub fn meant_type(name: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, own)| own)
}

/// A file that defines `Explore` defines `explore`.
fn canonical(mut definition: AgentDefinition) -> AgentDefinition {
    if meant_type(&definition.agent_type) != &*definition.agent_type {
        definition.agent_type = meant_type(&definition.agent_type).into();
    }
    definition
}

fn passed_over(unknown: &[String]) -> Rc<str> {
    if unknown.is_empty() { "".into() } else { format!("unknown fields: {}", unknown.join(", ")).into() }
}
