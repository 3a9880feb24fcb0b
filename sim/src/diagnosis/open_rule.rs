//! Rules of a provider's cache that are not known for the model of a request, though a result rests on them.

use super::cause::{Cause, Note};
use super::difference::ChangeSite;
use super::thinking;
use crate::outside::quoted;
use crate::wire::Request;

/// An assumption about the model of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OpenRule {
    /// A change of thinking or effort keeps the tools and the system prompt cached: "model-specific" in the documents
    /// (`providers.md` 1.7), recorded for models of 2026-01 to 2026-08 (`observed.md` 2).
    ThinkingLevel,
    /// A string is the same as a list with one text (recordings up to 2026-08: `observed.md` 1); for Fable 5.1 one user
    /// measured a miss (claude-code#93490).
    StringOrList,
    /// Neighbouring calls count as one position of the look-back, and so do neighbouring results (`providers.md` 1.3, the
    /// newest page); in recordings up to 2026-08 each block counts (`observed.md` 1).
    LookBack,
    /// What follows if thinking is sent again after other content than it was made after (`providers-2026-11.md` A.3).
    ThinkingCheck,
}

impl OpenRule {
    /// The rule that the effect of a change rests on.
    pub fn of_change(site: &ChangeSite, request: &Request) -> Option<Self> {
        let is_thinking = site.path.starts_with("thinking") || site.path.ends_with("effort");
        let is_open = site.cause == Cause::LevelParameter && is_thinking && is_unrecorded(request);
        is_open.then_some(Self::ThinkingLevel)
    }

    /// The rule by which a difference is harmless.
    pub fn of_note(note: Note, request: &Request) -> Option<Self> {
        (note == Note::Spelling && is_unrecorded(request)).then_some(Self::StringOrList)
    }

    /// As a warning about `model`.
    pub fn warning(self, model: &str) -> String {
        let model = quoted(model);
        match self {
            Self::ThinkingLevel => format!(
                "Whether a change of thinking or effort keeps the tools and the system prompt cached on {model} is not documented \
                 (\"model-specific\") and not recorded; this check assumes so, as recorded for models until 2026-08."
            ),
            Self::StringOrList => format!(
                "Whether {model} caches a string and a list with one text as the same is not documented and not recorded; this \
                 check assumes so, as recorded for models until 2026-08. For Fable 5.1 one user reports a miss \
                 (anthropics/claude-code#93490)."
            ),
            Self::LookBack => format!(
                "Some requests to {model} add more blocks at once than the cache looks back over, and read what was cached only if \
                 neighbouring calls, and neighbouring results, count as one position: documented since 2026-09; in recordings \
                 until 2026-08 each block counts. One more breakpoint, at the end of the previous request, avoids the question."
            ),
            Self::ThinkingCheck => format!(
                "What {model} does with thinking that is sent again after other content than it was made after is not documented; \
                 this check notes such changes and does not fail because of them."
            ),
        }
    }
}

/// Claude models since 2026-09, which bind thinking, are in no recording.
fn is_unrecorded(request: &Request) -> bool {
    request.resolved.is_some_and(|model| thinking::binds(model.id))
}
