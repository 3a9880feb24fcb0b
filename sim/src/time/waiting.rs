//! What a task waits for, for the report of a stalled run.

use std::fmt;
use std::rc::Rc;

use super::executor::Core;

/// The object of a wait.
pub enum What {
    /// As described by the waiting task.
    Said(Box<str>),
    /// The end of the task with this name.
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

/// While it lives, reports say that the task which created it waits for its object.
#[must_use = "the wait is over when this is dropped"]
pub struct Waiting(Option<(Rc<Core>, (u64, u64))>);

impl Waiting {
    /// Begins a wait of the current task. On another runtime, or outside of a task, nothing is recorded.
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
