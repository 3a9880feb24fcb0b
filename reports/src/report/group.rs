//! Groups of requests: by time, by agent, by model.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::session::{self, Session};
use super::{Account, Counted, Recorded, Zone};
use crate::names::Names;
use forkcast_sim::pricing::Money;
use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::model;
use forkcast_sim::words;

words! {
    /// The keys by which requests are grouped.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum By: word {
        /// The day of the request: `2026-11-02`.
        Day = "day",
        /// Its ISO week, Monday to Sunday: `2026-W45`.
        Week = "week",
        /// Its month: `2026-11`.
        Month = "month",
        /// The block of five hours, from a full hour on, that begins with the first request after the previous block.
        Block = "block",
        /// The working directory if the input has one, else the user's path; worktrees count as their repository.
        Project = "project",
        /// The model, whatever its spelling.
        Model = "model",
        /// The agent: the input's own id, or the number of its chain.
        Agent = "agent",
        /// The kind of agent: `main`, `fork`, or the requested type, such as `Explore`.
        Kind = "kind",
        /// The client and its version.
        Version = "version",
    }
}

impl By {
    /// Whether keys are stretches of time.
    pub const fn is_time(self) -> bool {
        matches!(self, Self::Day | Self::Week | Self::Month | Self::Block)
    }
}

/// The requests with one key.
#[derive(Clone, Debug)]
pub struct Group {
    /// The key; [`UNKNOWN`] for requests without one.
    pub key: String,
    /// The second key, if two were requested.
    pub then_key: Option<String>,
    /// Sums.
    pub account: Account,
}

/// The key of requests without one.
pub const UNKNOWN: &str = "unknown";

/// Data for looking keys up.
pub(super) struct Keys<'a> {
    pub names: Names,
    pub zone: &'a Zone,
    /// The first instant of each block of five hours.
    pub blocks: &'a [Instant],
    pub chains: &'a BTreeMap<usize, session::Chain>,
    pub sessions: &'a [Session],
}

/// The length of a block.
pub const BLOCK: Duration = Duration::from_secs(5 * 60 * 60);

const HOUR: Duration = Duration::from_secs(60 * 60);

/// The blocks for requests sent at these instants.
pub(super) fn blocks(instants: impl IntoIterator<Item = Instant>) -> Vec<Instant> {
    let hours: BTreeSet<u64> = instants.into_iter().map(|at| at.0 / HOUR.0).collect();
    let mut blocks: Vec<Instant> = Vec::new();
    for hour in hours {
        let at = Instant(hour.saturating_mul(HOUR.0));
        if blocks.last().is_none_or(|last| at.since(*last) >= BLOCK) {
            blocks.push(at);
        }
    }
    blocks
}

/// The keys of a group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct GroupKey {
    first: String,
    second: Option<String>,
}

/// Every request in one group, as they come.
#[derive(Debug)]
pub(super) struct Groups {
    by: By,
    then_by: Option<By>,
    of_key: BTreeMap<GroupKey, Account>,
    /// The key of each spelling of a model.
    models: BTreeMap<String, Option<String>>,
}

impl Groups {
    pub const fn new(by: By, then_by: Option<By>) -> Self {
        Self { by, then_by, of_key: BTreeMap::new(), models: BTreeMap::new() }
    }

    pub fn take(&mut self, entry: &Recorded<'_>, keys: &Keys<'_>, counted: Counted) {
        let first = self.key(self.by, entry, keys);
        let second = self.then_by.map(|by| self.key(by, entry, keys));
        self.of_key.entry(GroupKey { first, second }).or_default().take(entry, counted);
    }

    fn key(&mut self, by: By, entry: &Recorded<'_>, keys: &Keys<'_>) -> String {
        let key = match by {
            By::Model => {
                let spelling = &entry.line.model;
                if !self.models.contains_key(spelling) {
                    self.models.insert(spelling.clone(), model_name(spelling, keys.names));
                }
                self.models.get(spelling).cloned().flatten()
            }
            by => keys.of(by, entry),
        };
        key.unwrap_or_else(|| UNKNOWN.to_owned())
    }

    /// In order of time, else the most expensive first; requests without a key come last. Groups of two keys are in the order
    /// of the first, and within it of the second.
    pub fn sorted(self) -> Vec<Group> {
        let Self { by, then_by, of_key, .. } = self;
        let groups = of_key.into_iter();
        let groups = groups.map(|(GroupKey { first, second }, account)| Group {
            key: first,
            then_key: second,
            account: account.finished(),
        });
        let mut groups: Vec<Group> = groups.collect();
        let mut of_first: BTreeMap<String, Money> = BTreeMap::new();
        for group in &groups {
            *of_first.entry(group.key.clone()).or_default() += group.account.billed.cost.unwrap_or_default();
        }
        let last = then_by.unwrap_or(by);
        groups.sort_by_cached_key(|group| {
            let Group { key, then_key, account } = group;
            let dearest_first = (!by.is_time() && then_by.is_some()).then(|| Reverse(of_first.get(key).copied()));
            let in_order = (by.is_time() || then_by.is_some()).then(|| key.clone());
            let own = (!last.is_time()).then(|| rank(account));
            (key == UNKNOWN, dearest_first, in_order, then_key.as_deref() == Some(UNKNOWN), own, then_key.clone())
        });
        groups
    }
}

/// The most expensive first; without a price, the largest.
pub(crate) fn rank(account: &Account) -> impl Ord + use<> {
    (Reverse(account.billed.cost), Reverse(account.billed.usage.total_input_tokens()), Reverse(account.ledger.requests))
}

impl Keys<'_> {
    fn of(&self, by: By, entry: &Recorded<'_>) -> Option<String> {
        let calendar = |form| self.zone.text(entry.line.at?, form);
        match by {
            By::Day => calendar("%Y-%m-%d"),
            By::Week => calendar("%G-W%V"),
            By::Month => calendar("%Y-%m"),
            By::Block => self.zone.text(self.block(entry.line.at?)?, BLOCK_FORM),
            By::Project => session::of(self.sessions, entry.line.session)?.project.as_deref().map(str::to_owned),
            By::Model => model_name(&entry.line.model, self.names),
            By::Agent => self.agent(entry),
            By::Kind => kind(entry, self.sessions, self.chains),
            By::Version => entry.client().map(|client| self.names.client(client)),
        }
    }

    fn block(&self, at: Instant) -> Option<Instant> {
        let after = self.blocks.partition_point(|block| *block <= at);
        self.blocks.get(after.checked_sub(1)?).copied()
    }

    /// Agents of different sessions are different, whatever their ids.
    fn agent(&self, entry: &Recorded<'_>) -> Option<String> {
        if let Some(answered) = entry.answered {
            let session = session::of(self.sessions, entry.line.session)?;
            return Some(format!("{}/{}", session.id, session.agent(answered.place.agent)?.id));
        }
        match entry.chain.and_then(|chain| self.chains.get(&chain)) {
            Some(chain) => Some(chain.id.clone()),
            None => entry.exchange?.chain.as_deref().map(|own| self.names.agent(own)),
        }
    }
}

/// The format of the beginning of a block.
pub const BLOCK_FORM: &str = "%Y-%m-%d %H:%M";

/// The kind of the agent that sent a request: the requested type, if there is one.
pub(super) fn kind(
    entry: &Recorded<'_>,
    sessions: &[Session],
    chains: &BTreeMap<usize, session::Chain>,
) -> Option<String> {
    let kind = match entry.answered {
        Some(answered) => &session::of(sessions, entry.line.session)?.agent(answered.place.agent)?.kind,
        None => &chains.get(&entry.chain?)?.kind,
    };
    Some(kind.name().to_owned())
}

fn model_name(spelling: &str, names: Names) -> Option<String> {
    match model::resolve(spelling) {
        Some(resolved) => Some(resolved.id.to_string()),
        None => Some(names.model(spelling).into_owned()).filter(|name| !name.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK_FORM, Names, Zone, blocks, model_name};
    use forkcast_sim::time::Instant;

    /// Weeks by `date -u -d … +%G-W%V`: the first days of a year may belong to the last week of the year before.
    #[test]
    fn weeks_are_those_of_iso_8601() {
        for (seconds, day, week) in [
            (1_793_577_600, "2026-11-02", "2026-W45"),
            (1_767_225_600, "2026-01-01", "2026-W01"),
            (1_798_761_600, "2027-01-01", "2026-W53"),
            (1_735_603_200, "2024-12-31", "2025-W01"),
        ] {
            let at = Instant::from_millis(seconds * 1_000);
            assert_eq!(Zone::default().text(at, "%Y-%m-%d").as_deref(), Some(day));
            assert_eq!(Zone::default().text(at, "%G-W%V").as_deref(), Some(week), "{day}");
        }
    }

    #[test]
    fn a_block_begins_with_a_full_hour_and_lasts_five() {
        let at = |minutes: u64| Instant::from_millis(1_793_577_600_000 + minutes * 60_000);
        let begun: Vec<String> = blocks([at(130), at(125), at(419), at(420), at(1_000)])
            .into_iter()
            .filter_map(|block| Zone::default().text(block, BLOCK_FORM))
            .collect();
        assert_eq!(begun, ["2026-11-02 02:00", "2026-11-02 07:00", "2026-11-02 16:00"]);
    }

    #[test]
    fn spellings_of_one_model_are_one() {
        let name = |spelling| model_name(spelling, Names::Plain);
        assert_eq!(name("claude-opus-4-8"), name("anthropic/claude-opus-4.8"));
        assert_eq!(name("gpt-5").as_deref(), Some("gpt-5"));
        assert_eq!(name(""), None);
    }
}
