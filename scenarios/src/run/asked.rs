//! What was asked: an observer that keeps the draft of every request, for claims about bytes and for `bodies/`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_sim::agent::Event;
use forkcast_sim::simulation::{Observer, Seen};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::Draft;

/// A request as it was sent.
#[derive(Clone)]
pub struct Asked {
    /// Who asked.
    pub agent: Rc<str>,
    /// Answered requests of this agent before.
    pub turn: u32,
    /// How often this very request was sent before.
    pub attempt: u32,
    /// What was sent.
    pub draft: Draft,
    /// Breakpoints in it.
    pub breakpoints: u64,
}

/// Keeps every request.
#[derive(Clone, Default)]
pub struct Keeper {
    asked: Rc<RefCell<Vec<Asked>>>,
    /// Turn and attempt of each agent's last request.
    sent: BTreeMap<Rc<str>, (u32, u32)>,
}

impl Keeper {
    /// Hands over what was kept, in the order of the ledger.
    pub fn take(&self) -> Vec<Asked> {
        self.asked.take()
    }
}

impl Observer for Keeper {
    fn name(&self) -> &'static str {
        "keeper"
    }

    fn event(&mut self, _at: Instant, event: &Event) -> Result<(), String> {
        if let Event::RequestSent { agent, turn, attempt, .. } = event {
            self.sent.insert(agent.clone(), (*turn, *attempt));
        }
        Ok(())
    }

    fn served(&mut self, seen: &Seen<'_>) -> Result<(), String> {
        let (turn, attempt) = self.sent.get(seen.agent).copied().unwrap_or_default();
        let (agent, draft) = (seen.agent.into(), seen.draft.clone());
        let breakpoints = seen.request.markers.len() as u64;
        self.asked.borrow_mut().push(Asked { agent, turn, attempt, draft, breakpoints });
        Ok(())
    }
}
