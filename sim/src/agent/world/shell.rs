//! A shell with scripted commands: output, duration and changes.

use std::cell::RefCell;
use std::rc::Rc;

use super::pattern::Pattern;
use super::{World, path};
use crate::agent::event::Event;
use crate::agent::ground::Ground;
use crate::time::Duration;

/// The script of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The commands it applies to.
    pub command: Pattern,
    /// Their output, on both channels.
    pub output: Rc<str>,
    /// Their exit code; zero is success.
    pub exit_code: i32,
    /// Their duration; `None` for a command that never ends.
    pub takes: Option<Duration>,
    /// When a watcher detects that they are stuck, if they are (NOTIFY-14).
    pub stuck_after: Option<Duration>,
    /// Their changes, made when they end.
    pub changes: Vec<Change>,
    /// How often the rule applies, for example for a test that fails first and passes later; `None` for always.
    pub times: Option<u32>,
}

/// A change made by a command. Paths are relative to its working directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Replaces the content of a file.
    Write {
        /// Path of the file.
        path: Rc<str>,
        /// Its new content.
        text: Rc<str>,
    },
    /// Appends to a file.
    Append {
        /// Path of the file.
        path: Rc<str>,
        /// The appended text.
        text: Rc<str>,
    },
    /// Removes a file.
    Remove {
        /// Path of the file.
        path: Rc<str>,
    },
}

impl Rule {
    /// Commands that match `command` print `output` and succeed at once.
    pub fn new(command: &str, output: &str) -> Self {
        Self {
            command: Pattern::new(command),
            output: output.into(),
            exit_code: 0,
            takes: Some(Duration::default()),
            stuck_after: None,
            changes: Vec::new(),
            times: None,
        }
    }
}

/// The rules of a world. The first rule that matches a command and is not used up applies.
#[derive(Debug, Default)]
pub struct Shell {
    rules: Vec<Rule>,
    /// How often each rule was used.
    taken: RefCell<Vec<u32>>,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Its output.
    pub output: Rc<str>,
    /// Its exit code; zero is success.
    pub exit_code: i32,
}

/// The exit code of a command without a rule, as for a command that a real shell does not find (POSIX.1-2024, 2.8.2).
const NOT_FOUND: i32 = 127;

impl Shell {
    /// A shell with these rules.
    pub fn new(rules: Vec<Rule>) -> Self {
        let taken = RefCell::new(vec![0; rules.len()]);
        Self { rules, taken }
    }

    /// Uses the rule for `command`; returns it with its number.
    fn take(&self, command: &str) -> Option<(usize, &Rule)> {
        let mut taken = self.taken.borrow_mut();
        let holds = |at: usize, rule: &Rule| rule.times.is_none_or(|times| taken[at] < times);
        let mut rules = self.rules.iter().enumerate();
        let found = rules.find(|(at, rule)| holds(*at, rule) && rule.command.matches(command.trim()))?;
        taken[found.0] += 1;
        Some(found)
    }
}

/// A running command.
pub struct Command<'a> {
    ground: &'a Ground,
    world: &'a World,
    cwd: Rc<str>,
    text: Rc<str>,
    rule: Option<&'a Rule>,
}

impl<'a> Command<'a> {
    /// Looks up the command and emits an event; `agent` runs it in `cwd`.
    pub fn begin(ground: &'a Ground, world: &'a World, agent: &Rc<str>, cwd: &Rc<str>, command: &str) -> Self {
        let found = world.shell.take(command);
        let program = command.split_whitespace().next().unwrap_or_default().into();
        ground.emit(&Event::Shell { agent: agent.clone(), program, rule: found.map(|(at, _)| at) });
        Self { ground, world, cwd: cwd.clone(), text: command.into(), rule: found.map(|(_, rule)| rule) }
    }

    /// When a watcher detects that it is stuck.
    pub fn stuck_after(&self) -> Option<Duration> {
        self.rule?.stuck_after
    }

    /// Waits for its end. Its changes are made then, so a cancelled command changes nothing.
    pub async fn end(&self) -> Ran {
        let Some(rule) = self.rule else {
            let output = format!(
                "no rule for this command: `{}`. Commands here are scripted; this one has no answer in the script.",
                self.text
            );
            return Ran { output: output.into(), exit_code: NOT_FOUND };
        };
        let _waiting = self.ground.handle.waiting_for("the end of a command");
        match rule.takes {
            Some(takes) => self.ground.handle.sleep(takes).await,
            None => std::future::pending().await,
        }
        for change in &rule.changes {
            self.change(change);
        }
        Ran { output: rule.output.clone(), exit_code: rule.exit_code }
    }

    fn change(&self, change: &Change) {
        let files = &self.world.files;
        let at = |path: &str| path::absolute(&self.cwd, path);
        match change {
            Change::Write { path, text } => files.write(&at(path), text.clone()),
            Change::Append { path, text } => files.append(&at(path), text),
            Change::Remove { path } => {
                files.remove(&at(path));
            }
        }
    }
}
