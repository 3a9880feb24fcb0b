//! Skills: instructions by name that a definition can ask for (contract CTX-11).

use crate::outside::words;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// Its name; of a plugin `plugin:name`.
    pub name: Rc<str>,
    /// What it is for, in the list that the main prompt shows.
    pub description: Rc<str>,
    /// What it tells an agent.
    pub instructions: Rc<str>,
    /// Paths of files that belong to it.
    pub resources: Vec<Rc<str>>,
}

words! {
    /// How a skill was found.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Match {
        /// By its whole name.
        Name = "name",
        /// By the namespace of the agent's plugin.
        Namespace = "namespace",
        /// By its name behind some plugin's namespace.
        Suffix = "suffix",
    }
}

/// The skills of a session, by name.
#[derive(Clone, Debug, Default)]
pub struct Skills(BTreeMap<Rc<str>, Rc<Skill>>);

impl Skill {
    /// What an agent is given of it: instructions, and where its files lie.
    pub fn text(&self) -> String {
        let files: String = self.resources.iter().map(|path| format!("\n- {path}")).collect();
        let files = if files.is_empty() { files } else { format!("\n\nIts files:{files}") };
        format!("Skill {}:\n\n{}{files}", self.name, self.instructions.trim_end())
    }
}

impl Skills {
    /// These skills. Of two with one name the first counts.
    pub fn new(skills: impl IntoIterator<Item = Skill>) -> Self {
        let mut by_name = BTreeMap::new();
        for skill in skills {
            by_name.entry(skill.name.clone()).or_insert_with(|| Rc::new(skill));
        }
        Self(by_name)
    }

    /// All in order of their names.
    pub fn all(&self) -> impl Iterator<Item = &Rc<Skill>> {
        self.0.values()
    }

    /// The skill that an agent means by `name`: the one of that name, else the one of the agent's own plugin, else the
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
