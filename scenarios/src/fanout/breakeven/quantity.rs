//! Numbers of a cell that a figure varies to the right.

use forkcast_sim::words;

use super::{Question, thousands};
use crate::fanout::cell::Cell;

words! {
    /// See the module.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Quantity: word {
        /// Children of one message.
        Children = "children",
        /// Requests of each child.
        Turns = "turns",
        /// Tokens of the parent's context.
        Prefix = "prefix",
        /// Tokens of the tail that children share.
        Tail = "tail",
        /// Tokens of a directive.
        Directive = "directive",
        /// Tokens that a child's prompt grows by in each turn.
        Growth = "growth",
        /// Children that wait once.
        Waiting = "waiting",
    }
}

impl Quantity {
    /// The question that a figure of it answers.
    pub const fn question(self) -> Question {
        match self {
            Self::Children => Question::Children,
            quantity => Question::Grid(quantity),
        }
    }

    /// The number of a cell.
    pub fn of(self, cell: &Cell) -> u64 {
        match self {
            Self::Children => cell.children.into(),
            Self::Turns => cell.turns.into(),
            Self::Prefix => cell.prefix,
            Self::Tail => cell.tail,
            Self::Directive => cell.directive,
            Self::Growth => cell.growth,
            Self::Waiting => cell.waiting.into(),
        }
    }

    /// A cell without its number: equal for cells that differ in it alone.
    pub fn without(self, cell: &Cell) -> Cell {
        let mut cell = cell.clone();
        match self {
            Self::Children => cell.children = 0,
            Self::Turns => cell.turns = 0,
            Self::Prefix => cell.prefix = 0,
            Self::Tail => cell.tail = 0,
            Self::Directive => cell.directive = 0,
            Self::Growth => cell.growth = 0,
            Self::Waiting => cell.waiting = 0,
        }
        cell
    }

    /// A number in words: `8 children`, `80k of context`.
    pub fn said(self, number: u64) -> String {
        match self {
            Self::Children => counted(number, "child", "children"),
            Self::Turns => counted(number, "turn", "turns"),
            Self::Prefix => format!("{} of context", thousands(number)),
            Self::Tail => format!("tail {}", thousands(number)),
            Self::Directive => format!("directive {}", thousands(number)),
            Self::Growth => format!("growth {}", thousands(number)),
            Self::Waiting => format!("{number} waiting"),
        }
    }

    /// A range in words: `2 to 8 children`, `10k to 80k of context`.
    pub fn between(self, from: u64, to: u64) -> String {
        let size = |tokens: u64| if tokens == 0 { "0".to_owned() } else { thousands(tokens) };
        let sizes = || format!("{} to {}", size(from), size(to));
        match self {
            Self::Children | Self::Turns | Self::Waiting => format!("{from} to {}", self.said(to)),
            Self::Prefix => format!("{} of context", sizes()),
            Self::Tail => format!("a tail of {}", sizes()),
            Self::Directive => format!("directives of {}", sizes()),
            Self::Growth => format!("a growth of {} a turn", sizes()),
        }
    }
}

fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
