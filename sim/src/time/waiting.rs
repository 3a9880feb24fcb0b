//! What a task says that it waits for, for the report of a run that stalls.

use std::fmt;
use std::rc::Rc;

use super::executor::Core;

/// What is waited for.
pub enum What {
    /// In the words of who waits.
    Said(Box<str>),
    /// The end of the task of this name.
    End(Rc<str>),
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Said(what) => f.write_str(what),
            Self::End(name) => write!(f, "the end of `{name}`"),
        }
    }
}

/// While it lives, a report says that the task which made it waits for what it names.
#[must_use = "the wait is over when this is dropped"]
pub struct Waiting(Option<(Rc<Core>, (u64, u64))>);

impl Waiting {
    /// Begins a wait of the current task; on another runtime, or outside of a task, nothing is noted.
    pub(super) fn begin(core: Option<&Rc<Core>>, what: impl FnOnce() -> What) -> Self {
        Self(core.and_then(|core| Some((Rc::clone(core), core.begin_wait(what())?))))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some((core, key)) = &self.0 {
            core.end_wait(*key);
        }
    }
}
