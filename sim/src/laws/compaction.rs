//! Compaction never loses an unanswered call.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::agent::Event;
use crate::simulation::Observer;
use crate::time::Instant;

/// A conversation is made shorter in the first step of an iteration only, in the order snip, micro, auto, and while no
/// call of its agent is without a result (contract COMPACT-01).
#[derive(Debug, Default)]
pub struct Compaction {
    calls: BTreeMap<Rc<str>, BTreeSet<Rc<str>>>,
    /// Agents in their first step, with the last mechanism.
    compacting: BTreeMap<Rc<str>, usize>,
}

/// The mechanisms in order.
const ORDER: [&str; 3] = ["snip", "micro", "auto"];

impl Compaction {
    fn compacted(&mut self, agent: &Rc<str>, mechanism: &str) -> Result<(), String> {
        if let Some(call) = self.calls.get(agent).and_then(BTreeSet::first) {
            return Err(format!("the conversation of `{agent}` was compacted while its call {call} had no result"));
        }
        let rank = ORDER.iter().position(|known| *known == mechanism).map_or(0, |at| at + 1);
        match self.compacting.get_mut(agent) {
            None => Err(format!("the conversation of `{agent}` was compacted in another step than the first")),
            Some(last) if *last >= rank => Err(format!("`{mechanism}` of `{agent}` came too late")),
            Some(last) => {
                *last = rank;
                Ok(())
            }
        }
    }
}

impl Observer for Compaction {
    fn name(&self) -> &'static str {
        "compaction"
    }

    fn event(&mut self, _at: Instant, event: &Event) -> Result<(), String> {
        match event {
            Event::ToolStart { agent, tool_use, .. } => {
                self.calls.entry(agent.clone()).or_default().insert(tool_use.clone());
            }
            Event::ToolEnd { agent, tool_use, .. } => _ = self.calls.get_mut(agent).map(|calls| calls.remove(tool_use)),
            // A loop that was dropped with its calls starts again.
            Event::QueryStarted { agent, .. } => _ = self.calls.remove(agent),
            Event::QueryStep { agent, step, .. } => {
                match *step {
                    "compact" => self.compacting.insert(agent.clone(), 0),
                    _ => self.compacting.remove(agent),
                };
            }
            Event::Compacted { agent, mechanism, .. } => return self.compacted(agent, mechanism),
            _ => {}
        }
        Ok(())
    }
}
