//! Skills: named instructions that an agent can be given, and that the user or the model can call (contract CTX-11, SLASH).

use std::rc::Rc;

use super::invalid::Invalid;
use super::sources::{Source, Text};
use super::{check, markdown};

/// The value of `context` with which a skill runs as an agent of its own (SLASH-01).
const FORK: &str = "fork";

/// Where the text after the name of a command goes.
const ARGUMENTS: &str = "$ARGUMENTS";

/// A skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skill {
    /// Its name; `plugin:name` for a plugin.
    pub name: Rc<str>,
    /// Its purpose, for the list in the main prompt.
    pub description: Rc<str>,
    /// Its instructions for an agent.
    pub instructions: Rc<str>,
    /// Paths of files that belong to it.
    pub resources: Vec<Rc<str>>,
    /// `context` of its frontmatter, as written.
    pub context: Option<Rc<str>>,
    /// The only tools of its fork (SLASH-02).
    pub allowed_tools: Option<Vec<Rc<str>>>,
    /// The type of agent that runs its fork.
    pub agent: Option<Rc<str>>,
}

impl Skill {
    /// The skill called `name` with this text: instructions, after frontmatter if there is any. Without a `description`
    /// its first line is one.
    ///
    /// # Errors
    /// If the frontmatter or one of its fields is invalid.
    pub fn read(name: &str, text: &str) -> Result<Self, Invalid> {
        if !text.starts_with("---") {
            let instructions = text.into();
            return Ok(Self { name: name.into(), description: first_line(text), instructions, ..Self::default() });
        }
        let text = Text { source: Source::Project, path: name.into(), text: text.into() };
        check::skill(&text, markdown::read(&text)?)
    }

    /// Whether it runs as an agent of its own; any other `context` means no fork (SLASH-01).
    pub fn is_fork(&self) -> bool {
        self.context.as_deref() == Some(FORK)
    }

    /// The text that an agent gets: instructions, and the paths of its files.
    pub fn text(&self) -> String {
        let files: String = self.resources.iter().map(|path| format!("\n- {path}")).collect();
        let files = if files.is_empty() { files } else { format!("\n\nIts files:{files}") };
        format!("Skill {}:\n\n{}{files}", self.name, self.instructions.trim_end())
    }

    /// The same for a call with these arguments: they replace `$ARGUMENTS`, or follow the text.
    pub fn called(&self, arguments: &str) -> String {
        let text = self.text();
        match text.contains(ARGUMENTS) {
            true => text.replace(ARGUMENTS, arguments),
            false if arguments.is_empty() => text,
            false => format!("{text}\n\nArguments: {arguments}"),
        }
    }
}

/// The description of instructions that have none.
pub(super) fn first_line(instructions: &str) -> Rc<str> {
    instructions.lines().next().unwrap_or("").into()
}
