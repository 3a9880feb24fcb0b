//! Placements of breakpoints (`design.md` 5). Each name marks exactly what it says.

use std::rc::Rc;

use crate::outside::words;
use crate::wire::{Level, Mark, Message, Ttl};

words! {
    /// A placement of breakpoints.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Placement {
        /// No breakpoints.
        None = "none",
        /// The last system block.
        System = "system",
        /// The end of what siblings share: the block before the directive. The directive is the last block of a first
        /// request.
        Shared = "shared",
        /// The end of the prompt.
        Tail = "tail",
        /// `shared` and `tail`.
        Both = "both",
        /// `tail` and the last block of the previous request; for a fork, the parent's.
        TailPrevious = "tail+previous",
        /// The last block before the newest run of tool results.
        BeforeResults = "before-results",
        /// Two system blocks and the tail, as in the client of 2026 (`clients.md` 1).
        #[default]
        Client2026 = "client-2026",
    }
}

/// The inputs of a placement.
pub struct Layout<'a> {
    /// Blocks of the system prompt.
    pub system: usize,
    /// The messages.
    pub messages: &'a [Rc<Message>],
    /// The newest message that begins with tool results.
    pub newest_results: Option<usize>,
    /// Whether it is the agent's first request.
    pub is_first: bool,
    /// Whether it is the agent's last request, and known to be: then what its last breakpoint writes would never be read.
    pub is_last: bool,
}

/// A block: level, item, part.
type Spot = (Level, usize, usize);

impl Placement {
    /// The marks of a request in prompt order. From an agent's second request on, `shared`, `tail` and `both` mark only
    /// the tail, `none` marks nothing, and the others also mark the tail. In a last request the mark of the tail moves back
    /// to the last block that was written before, which is read with it.
    pub fn marks(self, layout: &Layout<'_>, ttl: Ttl) -> Vec<Mark> {
        let tail = layout.tail().filter(|_| !layout.is_first);
        let mut spots: Vec<Spot> = match self {
            Self::None => Vec::new(),
            Self::System => layout.last_system().into_iter().chain(tail).collect(),
            Self::Shared if layout.is_first => layout.before_directive().into_iter().collect(),
            Self::Both if layout.is_first => layout.before_directive().into_iter().chain(layout.tail()).collect(),
            Self::Shared | Self::Both | Self::Tail => layout.tail().into_iter().collect(),
            Self::TailPrevious => layout.previous_tail().into_iter().chain(layout.tail()).collect(),
            Self::BeforeResults => layout.before_results().into_iter().chain(tail).collect(),
            Self::Client2026 => layout.two_of_system().chain(layout.tail()).collect(),
        };
        if layout.is_last {
            layout.move_tail_back(&mut spots);
        }
        spots.dedup();
        spots.into_iter().map(|(level, item, part)| Mark { level, item, part, ttl }).collect()
    }
}

impl Layout<'_> {
    fn tail(&self) -> Option<Spot> {
        self.end_of(self.messages.len().checked_sub(1)?)
    }

    /// Of a first request, the block before the directive, if it is marked, or else the parent's end.
    fn move_tail_back(&self, spots: &mut Vec<Spot>) {
        let Some(tail) = self.tail().filter(|tail| spots.last() == Some(tail)) else { return };
        spots.retain(|spot| *spot != tail);
        let is_shared_marked = self.is_first && self.before_directive().is_some_and(|spot| spots.contains(&spot));
        if !is_shared_marked {
            spots.extend(self.previous_tail());
        }
        spots.sort_unstable();
    }

    /// The last block of a message.
    fn end_of(&self, item: usize) -> Option<Spot> {
        Some((Level::Messages, item, self.messages.get(item)?.content.len().checked_sub(1)?))
    }

    fn last_system(&self) -> Option<Spot> {
        Some((Level::System, self.system.checked_sub(1)?, 0))
    }

    fn two_of_system(&self) -> impl Iterator<Item = Spot> {
        (self.system.saturating_sub(2)..self.system).map(|item| (Level::System, item, 0))
    }

    /// The block before the last one, but not above the end of the system prompt.
    fn before_directive(&self) -> Option<Spot> {
        let (level, item, part) = self.tail()?;
        match (item, part) {
            (_, 1..) => Some((level, item, part - 1)),
            (1.., 0) => self.end_of(item - 1),
            (0, 0) => self.last_system(),
        }
    }

    /// The last block of the previous request, just before the newest answer.
    fn previous_tail(&self) -> Option<Spot> {
        let answer = self.messages.iter().rposition(|message| message.role == crate::wire::Role::Assistant)?;
        self.end_of(answer.checked_sub(1)?)
    }

    fn before_results(&self) -> Option<Spot> {
        self.end_of(self.newest_results?.checked_sub(1)?)
    }
}
