//! Thinking that its provider does not take as it is: what differs, and what follows.

use std::collections::BTreeSet;
use std::fmt;

use super::{Circumstances, Outcome, ThinkingTurn, Tools};
use crate::outside::quoted;
use crate::wire::model::ModelId;
use crate::wire::{Place, Request};

/// A thinking block that is sent after other content than it was made after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ThinkingFault {
    /// The block.
    pub place: Place,
    /// What differs before it.
    pub edit: Edit,
}

/// What differs before a thinking block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// Content differs from when the block was made, first at this place.
    Differs(Place),
    /// Content is missing that was at this place when the block was made.
    Missing(Place),
    /// The set of tools, in words.
    Tools(String),
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
    /// What differs before the block.
    pub edit: String,
    /// What the provider expects, and what helps.
    pub expected: &'static str,
    /// How many other blocks of the request fail.
    pub more: usize,
}

/// Thinking about which there is something to know, though the provider takes the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThinkingRemark {
    /// Path of the block in the body that was sent.
    pub path: String,
    /// What there is to know.
    pub words: String,
}

/// What the provider expects of content before thinking. The ways out: A.7, "removing only the named block is not enough".
pub(super) const CONTENT: &str = "each kept thinking block after the content that it was made after; keep that content, or leave out all \
                       thinking that was made before the change, or set \
                       `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\" for the rest of the conversation \
                       (with `anthropic-beta: thinking-binding-controls-2026-08-01`)";

/// What the provider expects of signatures.
pub(super) const SIGNATURE: &str =
    "each thinking block as it was answered, or without all thinking; no setting lets the provider drop it";

/// Blocks with a changed prefix.
#[derive(Clone, Copy)]
pub(super) struct Failing<'a> {
    /// The first.
    pub first: &'a ThinkingFault,
    /// What becomes of the request.
    pub outcome: Outcome,
    /// How many there are.
    pub blocks: usize,
}

/// The first block that the provider does not take: one with a changed prefix, or with a replaced signature.
pub(super) fn first(
    turn: &ThinkingTurn<'_>,
    failing: Option<Failing<'_>>,
    replaced: &[Place],
) -> Option<RejectedThinking> {
    let request = turn.request;
    let blocks = failing.map_or(0, |failing| failing.blocks);
    let more = (blocks + replaced.len()).saturating_sub(1);
    let more_words = match more {
        0 => String::new(),
        1 => "; 1 more thinking block of this request fails".to_owned(),
        more => format!("; {more} more thinking blocks of this request fail"),
    };
    let refuses_before =
        |place: Place| failing.is_some_and(|failing| failing.outcome.refuses() && failing.first.place < place);
    let (place, outcome, edit, expected) = match (replaced.first(), failing) {
        (Some(place), _) if !refuses_before(*place) => {
            (*place, Outcome::Refused, SIGNED_OTHERWISE.to_owned(), SIGNATURE)
        }
        (_, Some(Failing { first, outcome, .. })) => (first.place, outcome, edited(request, &first.edit), CONTENT),
        _ => return None,
    };
    let answer = format!("{}: {edit}{more_words}", follows(request, outcome, &turn.circumstances));
    Some(RejectedThinking { outcome, path: request.path(place), answer, edit, expected, more })
}

/// The provider's words, and what they are about.
const SIGNED_OTHERWISE: &str = "Invalid `signature` in `thinking` block: it was sent with another signature before";

/// How a remark on a request begins that is about its thinking.
pub const THINKING_AT: &str = "thinking at ";

impl fmt::Display for RejectedThinking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{THINKING_AT}{}: {}", self.path, self.answer)
    }
}

impl ThinkingRemark {
    /// The model may not read a block (`providers-2026-11.md` A.2).
    pub(super) fn unread(request: &Request, place: Place, maker: ModelId) -> Self {
        let words = format!("thinking is dropped on {}, which does not read that of {maker}", quoted(&request.model));
        Self { path: request.path(place), words }
    }

    /// The text of a block was altered, and its signature kept (`providers-2026-11.md` A.1).
    pub(super) fn altered(request: &Request, place: Place) -> Self {
        let words = "its text was altered and its signature kept: accepted when it was tried (Opus 5.5 and Sonnet 5, 2026-09-26), \
                     though another source says that it is refused";
        Self { path: request.path(place), words: words.to_owned() }
    }
}

/// What the provider does.
fn follows(request: &Request, outcome: Outcome, circumstances: &Circumstances) -> String {
    let model = quoted(&request.model);
    match outcome {
        Outcome::Refused if circumstances.batch => format!("the item of the batch fails (`errored`) on {model}"),
        Outcome::Refused => format!("HTTP 400 on {model}"),
        Outcome::RefusedOnNewAccounts => {
            format!("HTTP 400 on {model} for accounts created since 2026-08-31 (older ones pay for the block)")
        }
        Outcome::Disputed => {
            format!(
                "HTTP 400 on {model} by the pages until 2026-10; by a newer one this thinking may be dropped instead"
            )
        }
        Outcome::Paid => format!("{model} takes this thinking on accounts created before 2026-08-31, and bills it"),
        Outcome::Dropped => format!("thinking is dropped on {model}"),
        Outcome::Unknown => format!("{model} checks this thinking; what follows is not documented"),
        Outcome::UnknownModel => format!("whether {model} checks this thinking is not known"),
    }
}

/// What differs.
fn edited(request: &Request, edit: &Edit) -> String {
    match edit {
        Edit::Differs(place) => {
            format!("content before it differs from when it was made, first at {}", request.path(*place))
        }
        Edit::Missing(place) => {
            format!("content that was before it when it was made is missing, starting at {}", request.path(*place))
        }
        Edit::Tools(words) => format!("the list of tools differs from when it was made{words}"),
        Edit::Thinking => "the thinking before it is not what was before it when it was made".to_owned(),
    }
}

/// Most tools that are named.
const TOOLS_NAMED: usize = 3;

impl Edit {
    /// The tools that differ, by name.
    pub fn of_tools(tools: [Option<&Tools>; 2]) -> Self {
        let [Some(then), Some(now)] = tools else { return Self::Tools(String::new()) };
        let names: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
        let differs = |name: &&&String| then.get(**name) != now.get(**name);
        let all: Vec<String> = names.iter().filter(differs).map(|name| tool(name, then, now)).collect();
        let more = all.len().saturating_sub(TOOLS_NAMED);
        let more = if more == 0 { String::new() } else { format!(", and {more} more") };
        let shown: Vec<String> = all.into_iter().take(TOOLS_NAMED).collect();
        Self::Tools(format!(" ({}{more})", shown.join(", ")))
    }
}

/// A tool that differs.
fn tool(name: &str, then: &Tools, now: &Tools) -> String {
    let what = match (then.contains_key(name), now.contains_key(name)) {
        (false, _) => "is new",
        (_, false) => "is gone",
        _ => "was changed",
    };
    format!("{} {what}", quoted(name))
}
