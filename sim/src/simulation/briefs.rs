//! Requests of runs that explain nothing and are not observed, until the run is over. An entry of the ledger is seven
//! times as large, and hundreds of thousands of children may wait at a time.

use std::rc::Rc;

use super::service::AnswerEnd;
use crate::time::Instant;
use crate::wire::{ChainId, Usage};

/// The lines of the ledger in brief, in order.
#[derive(Debug, Default)]
pub(super) struct Briefs {
    briefs: Vec<Brief>,
    /// The first line's number.
    first: usize,
}

/// What an entry is made of.
#[derive(Clone, Debug)]
pub(super) struct Brief {
    pub chain: ChainId,
    pub model: Rc<str>,
    pub at: Instant,
    pub first_byte_at: Option<Instant>,
    /// Without output.
    pub usage: Usage,
    pub ended: Option<(Instant, AnswerEnd)>,
}

impl Briefs {
    /// The next line of the ledger.
    pub fn push(&mut self, line: usize, chain: ChainId, model: &str, at: Instant, usage: Usage) {
        if self.briefs.is_empty() {
            self.first = line;
        }
        debug_assert_eq!(line, self.first + self.briefs.len(), "briefs are kept in the order of their lines");
        let before = self.briefs.last().map(|brief| &brief.model).filter(|before| ***before == *model);
        let model = before.map_or_else(|| model.into(), Rc::clone);
        self.briefs.push(Brief { chain, model, at, first_byte_at: None, usage, ended: None });
    }

    /// The brief of a line; `None` if it has an entry.
    pub fn get_mut(&mut self, line: usize) -> Option<&mut Brief> {
        self.briefs.get_mut(line.checked_sub(self.first)?)
    }

    /// Number of lines.
    pub const fn len(&self) -> usize {
        self.briefs.len()
    }

    /// All of them, in order.
    pub fn take(&mut self) -> Vec<Brief> {
        std::mem::take(&mut self.briefs)
    }
}
