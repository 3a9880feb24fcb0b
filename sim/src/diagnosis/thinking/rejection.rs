//! Thinking that its provider does not take as it is: what differs, and what follows.

use std::fmt;

use super::Outcome;
use crate::outside::quoted;
use crate::wire::{Level, Place, Request};

/// A thinking block that is sent after other content than it was made after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ThinkingFault {
    /// The block.
    pub place: Place,
    /// What differs before it.
    pub edit: Edit,
}

/// What differs before a thinking block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// Content differs from when the block was made, first at this place.
    Differs(Place),
    /// Content is missing that was at this place when the block was made.
    Missing(Place),
    /// The thinking block before it is not the one that was before it when it was made.
    Thinking,
}

/// The first thinking block of a request that its provider does not take as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedThinking {
    /// What becomes of the request.
    pub outcome: Outcome,
    /// Path of the block in the body that was sent.
    pub path: String,
    /// What the provider does, and what differs before the block.
    pub answer: String,
}

impl RejectedThinking {
    /// What the provider expects, and what helps.
    pub const EXPECTED: &str = "each kept thinking block after the content that it was made after; keep that content, or leave \
                                out this block and all kept thinking after it";

    pub(super) fn new(request: &Request, fault: &ThinkingFault, outcome: Outcome) -> Self {
        let answer = format!("{}: {}", follows(request, outcome), edited(request, &fault.edit));
        Self { outcome, path: request.path(fault.place), answer }
    }
}

impl fmt::Display for RejectedThinking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thinking at {}: {}", self.path, self.answer)
    }
}

/// What the provider does.
fn follows(request: &Request, outcome: Outcome) -> String {
    let model = quoted(&request.model);
    match outcome {
        Outcome::Refused => format!("HTTP 400 on {model}"),
        Outcome::RefusedOnNewAccounts => {
            format!("HTTP 400 on {model} for accounts created since 2026-08-31 (older ones pay for the block)")
        }
        Outcome::Dropped => format!("{model} drops this thinking"),
        Outcome::Unknown => format!("{model} checks this thinking; what follows is not documented"),
    }
}

/// What differs.
fn edited(request: &Request, edit: &Edit) -> String {
    match edit {
        Edit::Differs(Place { level: Level::Tools, .. }) => {
            "the list of tools differs from when it was made".to_owned()
        }
        Edit::Differs(place) => {
            format!("content before it differs from when it was made, first at {}", request.path(*place))
        }
        Edit::Missing(place) => {
            format!("content that was before it when it was made is missing, starting at {}", request.path(*place))
        }
        Edit::Thinking => "the thinking before it is not what was before it when it was made".to_owned(),
    }
}
