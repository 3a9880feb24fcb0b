//! What writing a lock anew changed, as JSON.

use forkcast_sim::guard::lock::{Change, Changes};
use forkcast_sim::pricing::Money;
use forkcast_sim::wire::Usage;
use serde::Serialize;

use crate::format::number::Usd;
use crate::names::Names;

#[derive(Serialize)]
pub(super) struct UpdateObject {
    cost_before_usd: Option<Usd>,
    cost_after_usd: Option<Usd>,
    changes: Vec<ChangeObject>,
}

#[derive(Serialize)]
struct ChangeObject {
    change: &'static str,
    chain: String,
    position: Option<usize>,
    what: Vec<String>,
    cost_before_usd: Option<Usd>,
    cost_after_usd: Option<Usd>,
}

impl UpdateObject {
    /// The changes with their names as they are shown.
    pub(super) fn of(changes: &Changes, names: Names) -> Self {
        Self {
            cost_before_usd: changes.cost_before.map(Usd),
            cost_after_usd: changes.cost_after.map(Usd),
            changes: changes.changes.iter().map(|change| ChangeObject::of(change, names)).collect(),
        }
    }
}

impl ChangeObject {
    fn of(change: &Change, names: Names) -> Self {
        let whole = |change, chain: &str, before: Option<Money>, after: Option<Money>| Self {
            change,
            chain: names.agent(chain),
            position: None,
            what: Vec::new(),
            cost_before_usd: before.map(Usd),
            cost_after_usd: after.map(Usd),
        };
        match change {
            Change::ChainAdded { chain, cost, .. } => whole("chain_added", chain, None, *cost),
            Change::ChainRemoved { chain, cost, .. } => whole("chain_removed", chain, *cost, None),
            Change::Request { chain, position, what, before, after } => {
                let word = match (before, after) {
                    (None, _) => "request_added",
                    (_, None) => "request_removed",
                    _ => "request_changed",
                };
                let cost = |side: &Option<(Usage, Option<Money>)>| side.and_then(|(_, cost)| cost);
                Self {
                    position: Some(*position),
                    what: what.iter().map(|what| names.thing(what)).collect(),
                    ..whole(word, chain, cost(before), cost(after))
                }
            }
        }
    }
}
