//! What each model does with a thinking block whose prefix changed, as dated data.
//!
//! Source: `providers-2026-11.md` A.3 (compiled 2026-11-23), row by row; its tags are in [`ProfileRow::source`]: PT-26 is the
//! page on preserved thinking of 2026-09-26, WN-52 that on Fable 5.2 of 2026-11-09, AWS-1 and AWS-2 Bedrock's page of 2026-09
//! and of 2026-10.

use crate::pricing::Date;
use crate::wire::model::{ModelId, Platform};

/// What a model does with such a block, if the request sets nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unset {
    /// It does not check.
    Unchecked,
    /// HTTP 400 on every account.
    Refuses,
    /// HTTP 400 on accounts created from 2026-08-31 on; older ones pay for the block, which the model sees.
    RefusesNewAccounts,
    /// The same by the pages until 2026-10; a newer page counts the model among those without an error.
    Disputed,
    /// It drops the block.
    Drops,
    /// It checks, but no source says what follows.
    Unknown,
}

/// Accounts created from this day on (00:00 UTC) are new (PT-26).
pub(super) const NEW_ACCOUNTS: Date = Date(2026, 8, 31);

/// One row of the profile.
#[derive(Clone, Copy, Debug)]
pub struct ProfileRow {
    /// The model.
    pub model: ModelId,
    /// From this day on; the first row of a model also holds before.
    pub since: Date,
    /// What it does.
    pub unset: Unset,
    /// Who says so.
    pub source: &'static str,
}

const fn row(model: ModelId, since: Date, unset: Unset, source: &'static str) -> ProfileRow {
    ProfileRow { model, since, unset, source }
}

/// The models that check, each with its newest row last.
pub const PROFILE: [ProfileRow; 9] = [
    row(ModelId::Fable51, Date(2026, 9, 1), Unset::RefusesNewAccounts, "PT-26; measured: CR, IRIS, pydantic-ai#7984"),
    row(ModelId::Mythos51, Date(2026, 9, 1), Unset::Unchecked, "PT-26: does not run the check"),
    row(ModelId::Mythos51, Date(2026, 11, 9), Unset::Refuses, "WN-52: HTTP 400 on every account; the newer page wins"),
    row(ModelId::Opus55, Date(2026, 9, 22), Unset::RefusesNewAccounts, "PT-26; measured on older accounts: IRIS, CR"),
    row(
        ModelId::Opus55,
        Date(2026, 11, 1),
        Unset::Disputed,
        "pages of 2026-11 split the models; the table was not readable",
    ),
    row(ModelId::Sonnet55, Date(2026, 9, 28), Unset::RefusesNewAccounts, "migration guide of 2026-10; measured: IRIS"),
    row(ModelId::Haiku55, Date(2026, 10, 7), Unset::Unknown, "list of breaking changes, 2026-10-07"),
    row(ModelId::Fable52, Date(2026, 11, 9), Unset::Refuses, "WN-52: HTTP 400 on every account; Bedrock's card too"),
    row(ModelId::Mythos52, Date(2026, 11, 9), Unset::Refuses, "WN-52: HTTP 400 on every account"),
];

/// Until this day Bedrock dropped blocks by default, and called the setting `mismatch_behavior` (AWS-1); since then it is
/// as on the Claude API, with rejection by default (AWS-2; the day within 2026-10 is not known).
const BEDROCK_REJECTS: Date = Date(2026, 10, 1);

/// Whether thinking of this model is bound at all.
pub fn binds(model: ModelId) -> bool {
    PROFILE.iter().any(|row| row.model == model)
}

/// What `model` on `platform` did on `date`, or does by the newest rules; `None` for models that are not in the table.
pub(super) fn unset(model: ModelId, platform: Platform, date: Option<Date>) -> Option<Unset> {
    let mut own = PROFILE.iter().filter(|row| row.model == model);
    let first = own.next()?;
    let row = own.rfind(|row| date.is_none_or(|date| row.since <= date)).unwrap_or(first);
    Some(match row.unset {
        Unset::Unchecked | Unset::Unknown => row.unset,
        _ if platform != Platform::Bedrock => row.unset,
        _ if date.is_some_and(|date| date < BEDROCK_REJECTS) => Unset::Drops,
        _ => Unset::Refuses,
    })
}

#[cfg(test)]
mod tests {
    use super::{PROFILE, ProfileRow};

    #[test]
    fn rows_of_a_model_follow_each_other_by_date_and_each_has_a_source() {
        for pair in PROFILE.windows(2) {
            assert!(pair[0].model != pair[1].model || pair[0].since < pair[1].since);
        }
        let is_sourced = |row: &ProfileRow| ["PT-26", "WN-52", "2026"].iter().any(|tag| row.source.contains(tag));
        assert!(PROFILE.iter().all(is_sourced));
        let apart = |at: usize| {
            PROFILE[..at].iter().rposition(|row| row.model == PROFILE[at].model).is_none_or(|last| last + 1 == at)
        };
        assert!((1..PROFILE.len()).all(apart), "rows of one model are next to each other");
    }
}
