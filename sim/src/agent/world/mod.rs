//! What tools act on: files in memory and a scripted shell. Nothing here ever touches the machine.
//!
//! * [`path`] and [`pattern`]: names of files, and which of them or of the commands are meant.
//! * [`files`]: texts by their path.
//! * [`shell`]: what a command says, how long it takes and what it changes.

pub mod files;
pub mod path;
pub mod pattern;
pub mod shell;

pub use files::Files;
pub use shell::{Change, Ran, Rule, Shell};

/// The simulated world of a session.
#[derive(Debug, Default)]
pub struct World {
    /// Texts by their path.
    pub files: Files,
    /// What commands do.
    pub shell: Shell,
}

impl World {
    /// A world with these files and these rules for commands.
    pub const fn new(files: Files, shell: Shell) -> Self {
        Self { files, shell }
    }
}
