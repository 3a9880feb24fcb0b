//! A shell whose commands are scripted: what they say, how long they take, what they change.

use std::cell::RefCell;
use std::rc::Rc;

use super::pattern::Pattern;
use super::{World, path};
use crate::agent::event::Event;
use crate::agent::ground::Ground;
use crate::time::Duration;

/// What a command does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The commands that are meant.
    pub command: Pattern,
    /// What they say, on both channels.
    pub output: Rc<str>,
    /// How they end; zero is success.
    pub exit_code: i32,
    /// How long they take; `None` is for ever.
    pub takes: Option<Duration>,
    /// After how long a watcher finds that they wait for something that will not come, where they do (NOTIFY-14).
    pub stuck_after: Option<Duration>,
    /// What they change when they end.
    pub changes: Vec<Change>,
    /// How often the rule holds, for a test that fails first and passes then; `None` is always.
    pub times: Option<u32>,
}

/// What a command changes. Paths are seen from the directory in which it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A file holds this text from now on.
    Write {
        /// Where.
        path: Rc<str>,
        /// What.
        text: Rc<str>,
    },
    /// A file grows by this text.
    Append {
        /// Where.
        path: Rc<str>,
        /// By what.
        text: Rc<str>,
    },
    /// A file is no more.
    Remove {
        /// Where.
        path: Rc<str>,
    },
}

impl Rule {
    /// The commands that `command` means say `output` and succeed at once.
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

/// The rules of a world. The first that means a command and still holds is taken.
#[derive(Debug, Default)]
pub struct Shell {
    rules: Vec<Rule>,
    /// How often each was taken.
    taken: RefCell<Vec<u32>>,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// What it said.
    pub output: Rc<str>,
    /// How it ended; zero is success.
    pub exit_code: i32,
}

/// The exit code of a command that no rule knows, as of one that a real shell does not find (POSIX.1-2024, 2.8.2).
const NOT_FOUND: i32 = 127;

impl Shell {
    /// A shell with these rules.
    pub fn new(rules: Vec<Rule>) -> Self {
        let taken = RefCell::new(vec![0; rules.len()]);
        Self { rules, taken }
    }

    /// Takes the rule for `command`, and its number.
    fn take(&self, command: &str) -> Option<(usize, &Rule)> {
        let mut taken = self.taken.borrow_mut();
        let holds = |at: usize, rule: &Rule| rule.times.is_none_or(|times| taken[at] < times);
        let mut rules = self.rules.iter().enumerate();
        let found = rules.find(|(at, rule)| holds(*at, rule) && rule.command.matches(command.trim()))?;
        taken[found.0] += 1;
        Some(found)
    }
}

/// A command on its way to its end.
pub struct Command<'a> {
    ground: &'a Ground,
    world: &'a World,
    cwd: Rc<str>,
    text: Rc<str>,
    rule: Option<&'a Rule>,
}

impl<'a> Command<'a> {
    /// Looks the command up and tells the watcher; `agent` runs it in `cwd`.
    pub fn begin(ground: &'a Ground, world: &'a World, agent: &Rc<str>, cwd: &Rc<str>, command: &str) -> Self {
        let found = world.shell.take(command);
        let program = command.split_whitespace().next().unwrap_or_default().into();
        ground.emit(&Event::Shell { agent: agent.clone(), program, rule: found.map(|(at, _)| at) });
        Self { ground, world, cwd: cwd.clone(), text: command.into(), rule: found.map(|(_, rule)| rule) }
    }

    /// After how long a watcher finds it stuck.
    pub fn stuck_after(&self) -> Option<Duration> {
        self.rule?.stuck_after
    }

    /// Waits for its end; what it changes is changed then, so a command that is given up changes nothing.
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
