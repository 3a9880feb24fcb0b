//! No entry of a team's task list is claimed twice.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::agent::Event;
use crate::simulation::Observer;
use crate::time::Instant;

/// An entry that an agent has claimed is claimed again only after it was given back, and only its owner or the leader
/// changes it (contract SWARM-10..12).
#[derive(Debug, Default)]
pub struct Claims {
    /// Agents that have claimed entries, by entry.
    claimed: BTreeMap<Rc<str>, Rc<str>>,
}

impl Observer for Claims {
    fn name(&self) -> &'static str {
        "claims"
    }

    fn event(&mut self, _at: Instant, event: &Event) -> Result<(), String> {
        let Event::ListEntry { entry, by, does, status, .. } = event else { return Ok(()) };
        let owner = self.claimed.get(entry).cloned();
        match (*does, &owner) {
            ("claimed", Some(owner)) => return Err(format!("entry {entry} of `{owner}` was claimed by `{by}`")),
            ("claimed", None) => _ = self.claimed.insert(entry.clone(), by.clone()),
            ("assigned", Some(owner)) => return Err(format!("entry {entry} of `{owner}` was assigned")),
            ("updated", Some(owner)) if owner != by && **by != *"main" => {
                return Err(format!("entry {entry} of `{owner}` was changed by `{by}`"));
            }
            ("updated", Some(_)) if *status == "pending" => _ = self.claimed.remove(entry),
            _ => {}
        }
        Ok(())
    }
}
