//! Grids: every combination of the given parameter values.

use std::sync::Arc;

use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::LaunchPolicy;
use forkcast_sim::wire::Ttl;

use super::cell::{Cell, Spawn};

/// Maximum number of cells in one grid. A hundred thousand small ones take minutes; use a sweep for more.
pub const CELLS_MAX: usize = 100_000;

/// Declares the parameters that vary, in the order in which they do: later ones vary faster, so the policies of one
/// setting are adjacent. Each is a field of [`Cell`].
macro_rules! axes {
    ($($(#[$about:meta])* $axis:ident: $value:ty,)*) => {
        /// The values of each parameter; the rest is the same in all cells.
        #[derive(Clone, Debug)]
        pub struct Grid {
            /// The parameters that do not vary.
            pub base: Cell,
            $($(#[$about])* pub $axis: Vec<$value>,)*
        }

        impl Grid {
            /// A grid of one cell.
            pub fn of(base: Cell) -> Self {
                Self { $($axis: alone(&base.$axis),)* base }
            }

            /// The number of cells.
            pub fn len(&self) -> u128 {
                [$(self.$axis.len()),*].iter().fold(1, |product, length| product.saturating_mul(*length as u128))
            }

            fn all(&self) -> Vec<Cell> {
                let all = vec![self.base.clone()];
                $(let all = vary(&all, &self.$axis, |cell| &mut cell.$axis);)*
                all
            }
        }
    };
}

axes! {
    /// Models, as spelled.
    model: Arc<str>,
    /// Tokens of the parent's last request.
    prefix: u64,
    /// Tokens of the shared tail.
    tail: u64,
    /// Tokens of a directive.
    directive: u64,
    /// Growth per turn in tokens.
    growth: u64,
    /// Requests of each child.
    turns: u32,
    /// Children of one message.
    children: u32,
    /// Numbers of children that wait.
    waiting: u32,
    /// Lifetimes.
    ttl: Ttl,
    /// Heads that live as long as the rest, and heads that live for an hour.
    has_hour_head: bool,
    /// Warm or cold parents.
    is_cold: bool,
    /// Forks, and named agents to compare them with.
    spawn: Option<Spawn>,
    /// Placements of breakpoints.
    placement: Placement,
    /// Whether the last request of a child does not write what would never be read.
    leaves_last: bool,
    /// Launch policies.
    launch: LaunchPolicy,
}

/// A grid with too many cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("these ranges give {cells} cells; the limit is {CELLS_MAX}: use fewer values, or run a sweep in shards")]
pub struct TooMany {
    /// The number of cells it would have.
    pub cells: u128,
}

impl Grid {
    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cells.
    ///
    /// # Errors
    /// If there are more than [`CELLS_MAX`]; then no cells are built.
    pub fn cells(&self) -> Result<Vec<Cell>, TooMany> {
        match self.len() {
            cells if cells > CELLS_MAX as u128 => Err(TooMany { cells }),
            _ => Ok(self.all()),
        }
    }
}

fn alone<T: Clone>(value: &T) -> Vec<T> {
    vec![value.clone()]
}

fn vary<T: Clone>(cells: &[Cell], values: &[T], axis: impl Fn(&mut Cell) -> &mut T) -> Vec<Cell> {
    let with = |cell: &Cell, value: &T| {
        let mut cell = cell.clone();
        axis(&mut cell).clone_from(value);
        cell
    };
    cells.iter().flat_map(|cell| values.iter().map(|value| with(cell, value)).collect::<Vec<_>>()).collect()
}
