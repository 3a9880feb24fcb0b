//! The world that tools act on: files in memory and a scripted shell. It never touches the machine.
//!
//! * [`path`] and [`pattern`]: file names, and patterns of files and commands.
//! * [`files`]: texts by path.
//! * [`git`]: the commands that worktrees need.
//! * [`shell`]: the output, duration and changes of commands.

pub mod files;
pub mod git;
pub mod path;
pub mod pattern;
pub mod shell;

use std::rc::Rc;

pub use files::Files;
pub use shell::{Change, Ran, Rule, Shell};

/// The simulated world of a session.
#[derive(Debug, Default)]
pub struct World {
    /// Texts by path.
    pub files: Files,
    /// Scripted commands.
    pub shell: Rc<Shell>,
}

impl World {
    /// A world with these files and these rules for commands.
    pub fn new(files: Files, shell: Shell) -> Self {
        Self { files, shell: Rc::new(shell) }
    }

    /// Another machine with a copy of the files, where the same commands can be run.
    pub fn copy(&self) -> Self {
        Self { files: self.files.copy(), shell: self.shell.clone() }
    }
}
