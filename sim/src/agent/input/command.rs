//! Slash commands (contract INPUT-04..07).

use std::rc::Rc;

use crate::agent::session::{Command, Context, Handling};
use crate::time::Duration;

/// A command with a fixed duration and a fixed output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scripted {
    /// How long it takes.
    pub takes: Duration,
    /// Its output.
    pub output: Rc<str>,
}

impl Command for Scripted {
    fn run<'a>(&'a self, main: &'a Rc<Context>) -> Handling<'a> {
        Box::pin(async move {
            main.session.handle.sleep(self.takes).await;
            Rc::clone(&self.output)
        })
    }
}

/// The slash command at the start of a text, and the text after it.
pub(super) fn split(text: &str) -> Option<(&str, &str)> {
    let behind = text.strip_prefix('/')?;
    let (name, rest) = behind.split_once(char::is_whitespace).unwrap_or((behind, ""));
    (!name.is_empty()).then(|| (name, rest.trim()))
}
