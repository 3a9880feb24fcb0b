//! What the provider does with a thinking block whose prefix changed, by model. Source: `providers-2026-11.md` A.3
//! (2026-11-23); a date there says when accounts were created, which no request shows.

use crate::wire::model::ModelId;
use crate::wire::{Request, json};

/// What becomes of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// HTTP 400 on every account.
    Refused,
    /// HTTP 400 on accounts created from 2026-08-31 on; older ones pay for the block.
    RefusedOnNewAccounts,
    /// The block is dropped: the model does not see it, and it is not billed.
    Dropped,
    /// The documents say that the model checks, but not what follows.
    Unknown,
}

/// The outcome for a request to its model; `None` for models that do not check, and for bodies of other providers.
pub fn outcome(request: &Request) -> Option<Outcome> {
    let unset = unset(request.resolved?.id).filter(|_| request.has_modelled_cache())?;
    Some(match behaviour(request).as_deref() {
        Some("drop_block") => Outcome::Dropped,
        Some("error") => Outcome::Refused,
        _ => unset,
    })
}

/// Without a setting.
const fn unset(model: ModelId) -> Option<Outcome> {
    match model {
        ModelId::Fable52 | ModelId::Mythos52 | ModelId::Mythos51 => Some(Outcome::Refused),
        ModelId::Fable51 | ModelId::Opus55 | ModelId::Sonnet55 => Some(Outcome::RefusedOnNewAccounts),
        ModelId::Haiku55 => Some(Outcome::Unknown),
        _ => None,
    }
}

/// The value of `thinking.block_binding.prefix_mismatch_behavior` (beta `thinking-binding-controls-2026-08-01`).
fn behaviour(request: &Request) -> Option<String> {
    let binding = json::member(request.envelope_value("thinking")?, b"\"block_binding\"")?;
    json::string(json::member(binding, b"\"prefix_mismatch_behavior\"")?)
}
