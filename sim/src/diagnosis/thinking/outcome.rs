//! What becomes of a request with a thinking block whose prefix changed: by model, day, account, batch and setting.
//! Source: `providers-2026-11.md` A.3 and A.4 (2026-11-23); the models are in [`profile`].

use super::profile::{self, NEW_ACCOUNTS, Unset};
use crate::pricing::Date;
use crate::time::Instant;
use crate::wire::model::Platform;
use crate::wire::{Request, json};

/// What becomes of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// HTTP 400.
    Refused,
    /// HTTP 400 on accounts created from 2026-08-31 on; older ones pay for the block. It is not known how old this one is.
    RefusedOnNewAccounts,
    /// HTTP 400 by the pages until 2026-10; by a newer one the block may be dropped instead.
    Disputed,
    /// The model sees the block, and it is billed.
    Paid,
    /// The block is dropped: the model does not see it, and it is not billed.
    Dropped,
    /// The documents say that the model checks, but not what follows.
    Unknown,
    /// A Claude model that is not in the table: whether it checks is not known.
    UnknownModel,
}

impl Outcome {
    /// Whether the provider refuses the request, as far as it is known.
    pub fn refuses(self) -> bool {
        self <= Self::Disputed
    }
}

/// What decides the outcome besides the request itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Circumstances {
    /// The day on which it was sent; without it the newest rules count.
    pub date: Option<Date>,
    /// The day on which the account was created.
    pub account_created: Option<Date>,
    /// It is an item of a message batch.
    pub batch: bool,
}

impl Circumstances {
    /// The same at an instant, if it has a day.
    pub fn at(self, at: Option<Instant>) -> Self {
        Self { date: at.filter(|at| at.has_day()).map(Date::of), ..self }
    }
}

/// The outcome for a request to its model; `None` for models that do not check, and for bodies of other providers.
pub fn outcome(request: &Request, circumstances: &Circumstances) -> Option<Outcome> {
    if !request.has_modelled_cache() {
        return None;
    }
    let Some(resolved) = request.resolved else {
        return request.model.to_ascii_lowercase().contains("claude-").then_some(Outcome::UnknownModel);
    };
    let unset = match profile::unset(resolved.id, resolved.platform, circumstances.date)? {
        Unset::Unchecked => return None,
        unset => unset,
    };
    Some(match behaviour(request, resolved.platform).as_deref() {
        Some("drop_block") => Outcome::Dropped,
        Some("error") => Outcome::Refused,
        _ => without_setting(unset, circumstances),
    })
}

/// Batches drop the block where others refuse it: without the setting no item fails.
fn without_setting(unset: Unset, circumstances: &Circumstances) -> Outcome {
    let is_new = circumstances.account_created.map(|created| created >= NEW_ACCOUNTS);
    let outcome = match (unset, is_new) {
        (Unset::Refuses, _) | (Unset::RefusesNewAccounts, Some(true)) => Outcome::Refused,
        (Unset::RefusesNewAccounts, Some(false)) => Outcome::Paid,
        (Unset::RefusesNewAccounts, None) => Outcome::RefusedOnNewAccounts,
        (Unset::Disputed, Some(true) | None) => Outcome::Disputed,
        (Unset::Drops, _) => Outcome::Dropped,
        (Unset::Disputed | Unset::Unknown | Unset::Unchecked, _) => Outcome::Unknown,
    };
    if circumstances.batch && outcome.refuses() { Outcome::Dropped } else { outcome }
}

/// The value of `thinking.block_binding.prefix_mismatch_behavior` (beta `thinking-binding-controls-2026-08-01`), or of
/// `mismatch_behavior`, as Bedrock called it at first (AWS-1, 2026-09).
fn behaviour(request: &Request, platform: Platform) -> Option<String> {
    let binding = json::member(request.envelope_value("thinking")?, b"\"block_binding\"")?;
    let older = || json::member(binding, b"\"mismatch_behavior\"").filter(|_| platform == Platform::Bedrock);
    json::string(json::member(binding, b"\"prefix_mismatch_behavior\"").or_else(older)?)
}
