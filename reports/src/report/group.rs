//! Groups of requests: by time, by agent, by model.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use forkcast_replay::input::Inputs;
use forkcast_sim::time::Instant;
use forkcast_sim::wire::model;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::session::{self, Session};
use super::{Account, Counted, Recorded};
use crate::names::Names;

/// What requests are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The day of the request in UTC: `2026-11-02`.
    Day,
    /// Its ISO week, Monday to Sunday in UTC: `2026-W45`.
    Week,
    /// Its month in UTC: `2026-11`.
    Month,
    /// The working directory if the input has one, else the user's path.
    Project,
    /// The model, whatever its spelling.
    Model,
    /// The agent: the input's own id, or the number of its chain.
    Agent,
    /// The client and its version.
    Version,
}

impl By {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Day, Self::Week, Self::Month, Self::Project, Self::Model, Self::Agent, Self::Version];

    /// The word on the command line and in files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Project => "project",
            Self::Model => "model",
            Self::Agent => "agent",
            Self::Version => "version",
        }
    }

    /// Keys are stretches of time.
    const fn is_time(self) -> bool {
        matches!(self, Self::Day | Self::Week | Self::Month)
    }
}

/// The requests with one key.
#[derive(Clone, Debug)]
pub struct Group {
    /// The key; [`UNKNOWN`] for requests that have none.
    pub key: String,
    /// Sums.
    pub account: Account,
}

/// The key of requests that have none.
pub const UNKNOWN: &str = "unknown";

/// What keys are looked up in.
pub(super) struct Keys<'a> {
    pub names: Names,
    /// The named path of each session, by the session's index.
    pub projects: &'a [&'a str],
    pub chain_ids: &'a BTreeMap<usize, String>,
    pub sessions: &'a [Session],
}

/// The named path of each file, in the order of all files.
pub(super) fn projects(inputs: &Inputs) -> Vec<&str> {
    inputs.scopes.iter().flat_map(|scope| scope.files.iter().map(|_| scope.name.as_str())).collect()
}

/// Every request in one group, as they come.
#[derive(Debug)]
pub(super) struct Groups {
    by: By,
    of_key: BTreeMap<String, Account>,
    /// The key of each spelling of a model.
    models: BTreeMap<String, Option<String>>,
}

impl Groups {
    pub const fn new(by: By) -> Self {
        Self { by, of_key: BTreeMap::new(), models: BTreeMap::new() }
    }

    pub fn take(&mut self, entry: &Recorded<'_>, keys: &Keys<'_>, counted: Counted) {
        let key = match self.by {
            By::Model => {
                let spelling = &entry.line.model;
                if !self.models.contains_key(spelling) {
                    self.models.insert(spelling.clone(), model_name(spelling, keys.names));
                }
                self.models.get(spelling).and_then(Option::as_deref).map(Cow::from)
            }
            by => keys.of(by, entry).map(Cow::from),
        };
        let key = key.unwrap_or(Cow::Borrowed(UNKNOWN));
        match self.of_key.get_mut(&*key) {
            Some(account) => account.take(entry, counted),
            None => self.of_key.entry(key.into_owned()).or_default().take(entry, counted),
        }
    }

    /// In order of time, else the most expensive first; requests without a key come last.
    pub fn sorted(self) -> Vec<Group> {
        let groups = self.of_key.into_iter().map(|(key, account)| Group { key, account: account.finished() });
        let mut groups: Vec<Group> = groups.collect();
        let is_unknown = |group: &Group| group.key == UNKNOWN;
        if self.by.is_time() {
            groups.sort_by_key(is_unknown);
        } else {
            groups.sort_by_key(|group| (is_unknown(group), rank(&group.account)));
        }
        groups
    }
}

/// The most expensive first; without a price, the largest.
pub(crate) fn rank(account: &Account) -> impl Ord + use<> {
    (Reverse(account.billed.cost), Reverse(account.billed.usage.total_input_tokens()), Reverse(account.ledger.requests))
}

impl Keys<'_> {
    fn of(&self, by: By, entry: &Recorded<'_>) -> Option<String> {
        match by {
            By::Day => calendar(entry.line.at?, "%Y-%m-%d"),
            By::Week => calendar(entry.line.at?, "%G-W%V"),
            By::Month => calendar(entry.line.at?, "%Y-%m"),
            By::Project => self.project(entry).map(|project| self.names.file(project)),
            By::Model => model_name(&entry.line.model, self.names),
            By::Agent => self.agent(entry),
            By::Version => entry.client().map(|client| self.names.client(client)),
        }
    }

    fn project<'e>(&'e self, entry: &'e Recorded<'_>) -> Option<&'e str> {
        let own = entry.answered.and_then(|answered| answered.session.project.as_deref());
        own.or_else(|| self.projects.get(entry.line.session).copied())
    }

    /// Agents of different sessions are different, whatever their ids.
    fn agent(&self, entry: &Recorded<'_>) -> Option<String> {
        if let Some(answered) = entry.answered {
            let session = session::of(self.sessions, entry.line.session)?;
            return Some(format!("{}/{}", session.id, session.agent(answered.place.agent)?.id));
        }
        match entry.chain.and_then(|chain| self.chain_ids.get(&chain)) {
            Some(id) => Some(id.clone()),
            None => entry.exchange?.chain.as_deref().map(|own| self.names.agent(own)),
        }
    }
}

fn model_name(spelling: &str, names: Names) -> Option<String> {
    match model::resolve(spelling) {
        Some(resolved) => Some(resolved.id.to_string()),
        None => Some(names.model(spelling).into_owned()).filter(|name| !name.is_empty()),
    }
}

fn calendar(at: Instant, form: &str) -> Option<String> {
    let timestamp = Timestamp::from_nanosecond(i128::from(at.0)).ok()?;
    Some(timestamp.to_zoned(TimeZone::UTC).strftime(form).to_string())
}

#[cfg(test)]
mod tests {
    use super::{Names, calendar, model_name};
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
            assert_eq!(calendar(at, "%Y-%m-%d").as_deref(), Some(day));
            assert_eq!(calendar(at, "%G-W%V").as_deref(), Some(week), "{day}");
        }
    }

    #[test]
    fn spellings_of_one_model_are_one() {
        let name = |spelling| model_name(spelling, Names::Plain);
        assert_eq!(name("claude-opus-4-8"), name("anthropic/claude-opus-4.8"));
        assert_eq!(name("gpt-5").as_deref(), Some("gpt-5"));
        assert_eq!(name(""), None);
    }
}
