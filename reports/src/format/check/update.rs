//! The changes of rewriting a lock, as JSON.

use forkcast_sim::guard::lock::{self, Changes};
use forkcast_sim::pricing::Money;

use crate::format::usage::NO_PRICE;
use crate::names::Names;
use crate::record::{Shape, list};

/// The changes with their names as they are shown.
pub(super) struct Update<'a>(pub &'a Changes, pub Names);

record! {
    Update<'_>, "update":
    usd "cost_before_usd", "Cost of all requests of the lock before." => |it| it.0.cost_before, null(NO_PRICE);
    usd "cost_after_usd", "Their cost now." => |it| it.0.cost_after, null(NO_PRICE);
    records: Change<'_>, "changes", "The changes." =>
        |it| list(it.0.changes.iter().map(|change| Change(change, it.1)));
}

/// A chain or a request that changed.
pub(super) struct Change<'a>(pub &'a lock::Change, pub Names);

impl Change<'_> {
    fn word(&self) -> &'static str {
        match self.0 {
            lock::Change::ChainAdded { .. } => "chain_added",
            lock::Change::ChainRemoved { .. } => "chain_removed",
            lock::Change::Request { before: None, .. } => "request_added",
            lock::Change::Request { after: None, .. } => "request_removed",
            lock::Change::Request { .. } => "request_changed",
        }
    }

    fn position(&self) -> Option<usize> {
        match self.0 {
            lock::Change::Request { position, .. } => Some(*position),
            _ => None,
        }
    }

    fn what(&self) -> Vec<String> {
        match self.0 {
            lock::Change::Request { what, .. } => what.iter().map(|what| self.1.thing(what)).collect(),
            _ => Vec::new(),
        }
    }

    fn cost_before(&self) -> Option<Money> {
        match self.0 {
            lock::Change::ChainAdded { .. } => None,
            lock::Change::ChainRemoved { cost, .. } => *cost,
            lock::Change::Request { before, .. } => before.and_then(|(_, cost)| cost),
        }
    }

    fn cost_after(&self) -> Option<Money> {
        match self.0 {
            lock::Change::ChainAdded { cost, .. } => *cost,
            lock::Change::ChainRemoved { .. } => None,
            lock::Change::Request { after, .. } => after.and_then(|(_, cost)| cost),
        }
    }
}

fn changes() -> Shape {
    Shape::words(["chain_added", "chain_removed", "request_added", "request_removed", "request_changed"])
}

record! {
    Change<'_>, "lock_change":
    field "change", changes, "The kind of change." => |it| it.word();
    text "chain", "The chain." => |it| it.1.agent(it.0.chain());
    ordinal "position", "Place in the chain, from 0." => |it| it.position(), null("for a whole chain");
    texts "what", "The changes; empty if only the expected usage changed." => |it| it.what();
    usd "cost_before_usd", "Its cost before." =>
        |it| it.cost_before(), null("if it did not exist, or has no price");
    usd "cost_after_usd", "Its cost now." =>
        |it| it.cost_after(), null("if it no longer exists, or has no price");
}
