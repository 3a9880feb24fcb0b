//! Message logs: of the main conversation and of every sub-agent, on files of the simulated world (contract TRANSCRIPT).

use std::rc::Rc;

use super::context::Context;
use super::entry::Entry;

/// The transcripts of a session.
#[derive(Debug, Default)]
pub struct Transcripts {}

impl Transcripts {
    /// Writes `entry` to the log of `context`'s agent.
    pub fn append(&self, _context: &Context, _entry: &Rc<Entry>) {}
}
