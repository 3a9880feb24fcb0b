//! How an agent begins and how it is tidied up on every path (contract CTX-07..16, SYNC-22).

use std::rc::Rc;

use super::Context;
use crate::agent::entry::{Entry, Nature};

/// What hangs on a running agent in the session; dropping it takes everything away again, however the agent ended
/// (CTX-16): by its last answer, by an error, by an abort, or because its loop was dropped.
#[must_use = "dropping it tidies up behind the agent"]
pub struct Scope {
    context: Rc<Context>,
}

impl Context {
    /// Begins a new agent: its history holds its prompt alone, with what its definition and hooks add (CTX-08).
    pub async fn begin(self: &Rc<Self>, prompt: &str) -> Scope {
        let scope = self.resume();
        let entry = Entry::user(self.session.ids.next("entry"), prompt, Nature::Typed);
        self.entries.borrow_mut().push(entry);
        scope
    }

    /// Begins an agent whose history stands already (SYNC-09): nothing is added to it.
    pub fn resume(self: &Rc<Self>) -> Scope {
        Scope { context: self.clone() }
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        self.context.read_files.borrow_mut().clear();
    }
}
