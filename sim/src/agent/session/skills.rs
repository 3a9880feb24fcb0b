//! The skills of a session, and how an agent finds one (contract CTX-11).

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::agent::definition::Skill;
use crate::outside::words;

words! {
    /// How a skill was found.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Match {
        /// By its full name.
        Name = "name",
        /// By the namespace of the agent's plugin.
        Namespace = "namespace",
        /// By its name in any plugin's namespace.
        Suffix = "suffix",
    }
}

/// The skills of a session, by name.
#[derive(Clone, Debug, Default)]
pub struct Skills(BTreeMap<Rc<str>, Rc<Skill>>);

impl Skills {
    /// A set of skills. If two share a name, the first counts.
    pub fn new(skills: impl IntoIterator<Item = Skill>) -> Self {
        let mut by_name = BTreeMap::new();
        for skill in skills {
            by_name.entry(skill.name.clone()).or_insert_with(|| Rc::new(skill));
        }
        Self(by_name)
    }

    /// All skills, ordered by name.
    pub fn all(&self) -> impl Iterator<Item = &Rc<Skill>> {
        self.0.values()
    }

    /// The skill that an agent means by `name`: an exact match, otherwise one of the agent's own plugin, otherwise the
    /// first of any plugin.
    pub fn find(&self, name: &str, agent_type: &str) -> Option<(Rc<Skill>, Match)> {
        if let Some(skill) = self.0.get(name) {
            return Some((skill.clone(), Match::Name));
        }
        if let Some((plugin, _)) = agent_type.split_once(':')
            && let Some(skill) = self.0.get(format!("{plugin}:{name}").as_str())
        {
            return Some((skill.clone(), Match::Namespace));
        }
        let behind = |skill: &&Rc<Skill>| skill.name.split_once(':').is_some_and(|(_, own)| own == name);
        self.all().find(behind).map(|skill| (skill.clone(), Match::Suffix))
    }
}
