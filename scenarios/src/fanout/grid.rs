//! Grids: every combination of the given parameter values.

use std::sync::Arc;

use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::LaunchPolicy;
use forkcast_sim::wire::Ttl;

use super::cell::{Cell, Spawn};

/// Maximum number of cells in one grid. A hundred thousand small ones take minutes; use a sweep for more.
pub const CELLS_MAX: usize = 100_000;

/// The values of each parameter; the rest is the same in all cells.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The parameters that do not vary.
    pub base: Cell,
    /// Children of one message.
    pub children: Vec<u32>,
    /// Tokens of the parent's last request.
    pub prefix: Vec<u64>,
    /// Tokens of the shared tail.
    pub tail: Vec<u64>,
    /// Tokens of a directive.
    pub directive: Vec<u64>,
    /// Requests of each child.
    pub turns: Vec<u32>,
    /// Growth per turn in tokens.
    pub growth: Vec<u64>,
    /// Models, as spelled.
    pub model: Vec<Arc<str>>,
    /// Lifetimes.
    pub ttl: Vec<Ttl>,
    /// Heads that live as long as the rest, and heads that live for an hour.
    pub has_hour_head: Vec<bool>,
    /// Whether the last request of a child does not write what would never be read.
    pub leaves_last: Vec<bool>,
    /// Numbers of children that wait.
    pub waiting: Vec<u32>,
    /// Warm or cold parents.
    pub is_cold: Vec<bool>,
    /// Launch policies.
    pub launch: Vec<LaunchPolicy>,
    /// Placements of breakpoints.
    pub placement: Vec<Placement>,
    /// Forks, and named agents to compare them with.
    pub spawn: Vec<Option<Spawn>>,
}

/// A grid with too many cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("these ranges give {cells} cells; the limit is {CELLS_MAX}: use fewer values, or run a sweep in shards")]
pub struct TooMany {
    /// The number of cells it would have.
    pub cells: u128,
}

impl Grid {
    /// A grid of one cell.
    pub fn of(base: Cell) -> Self {
        Self {
            children: vec![base.children],
            prefix: vec![base.prefix],
            tail: vec![base.tail],
            directive: vec![base.directive],
            turns: vec![base.turns],
            growth: vec![base.growth],
            model: vec![base.model.clone()],
            ttl: vec![base.ttl],
            has_hour_head: vec![base.has_hour_head],
            leaves_last: vec![base.leaves_last],
            waiting: vec![base.waiting],
            is_cold: vec![base.is_cold],
            launch: vec![base.launch],
            placement: vec![base.placement],
            spawn: vec![base.spawn],
            base,
        }
    }

    /// The number of cells.
    pub fn len(&self) -> u128 {
        let lengths = [
            self.children.len(),
            self.prefix.len(),
            self.tail.len(),
            self.directive.len(),
            self.turns.len(),
            self.growth.len(),
            self.model.len(),
            self.ttl.len(),
            self.has_hour_head.len(),
            self.leaves_last.len(),
            self.waiting.len(),
            self.is_cold.len(),
            self.placement.len(),
            self.spawn.len(),
            self.launch.len(),
        ];
        lengths.iter().fold(1, |product, length| u128::saturating_mul(product, *length as u128))
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cells. Later fields vary faster, so the policies of one setting are adjacent.
    ///
    /// # Errors
    /// If there are more than [`CELLS_MAX`]; then no cells are built.
    pub fn cells(&self) -> Result<Vec<Cell>, TooMany> {
        let cells = self.len();
        if cells > CELLS_MAX as u128 {
            return Err(TooMany { cells });
        }
        let mut all = vec![self.base.clone()];
        all = vary(&all, &self.model, |cell, model| cell.model = model.clone());
        all = vary(&all, &self.prefix, |cell, prefix| cell.prefix = *prefix);
        all = vary(&all, &self.tail, |cell, tail| cell.tail = *tail);
        all = vary(&all, &self.directive, |cell, directive| cell.directive = *directive);
        all = vary(&all, &self.growth, |cell, growth| cell.growth = *growth);
        all = vary(&all, &self.turns, |cell, turns| cell.turns = *turns);
        all = vary(&all, &self.children, |cell, children| cell.children = *children);
        all = vary(&all, &self.waiting, |cell, waiting| cell.waiting = *waiting);
        all = vary(&all, &self.ttl, |cell, ttl| cell.ttl = *ttl);
        all = vary(&all, &self.has_hour_head, |cell, has| cell.has_hour_head = *has);
        all = vary(&all, &self.is_cold, |cell, is_cold| cell.is_cold = *is_cold);
        all = vary(&all, &self.spawn, |cell, spawn| cell.spawn = *spawn);
        all = vary(&all, &self.placement, |cell, placement| cell.placement = *placement);
        all = vary(&all, &self.leaves_last, |cell, leaves| cell.leaves_last = *leaves);
        Ok(vary(&all, &self.launch, |cell, launch| cell.launch = *launch))
    }
}

fn vary<T>(cells: &[Cell], values: &[T], set: impl Fn(&mut Cell, &T)) -> Vec<Cell> {
    let with = |cell: &Cell, value: &T| {
        let mut cell = cell.clone();
        set(&mut cell, value);
        cell
    };
    cells.iter().flat_map(|cell| values.iter().map(|value| with(cell, value)).collect::<Vec<_>>()).collect()
}
