//! Recordings through the prefix guard: a guard for bodies, a watch for each rebuilt recording, and optionally a lock. [`Check`]
//! is a sink for [`feed`](crate::source::feed()).

mod recorded;
mod suites;

use std::collections::BTreeMap;
use std::vec;

use forkcast_sim::diagnosis::ChangeSite;
use forkcast_sim::guard::conformance::Card;
use forkcast_sim::guard::lock::{Lock, Recorder, Recording, RequestRecord};
use forkcast_sim::guard::{Checked, Facts, Finding, Guard, Report, Rules, Sent, Watch};
use forkcast_sim::pricing::PriceBook;
use forkcast_sim::service::Entry;
use forkcast_sim::wire::{BodyError, ChainId, Maker, Request, Wire};

use self::recorded::Account;
use self::suites::Suites;
use crate::exchange::Origin;
use crate::input::Inputs;
use crate::replay::{Options, SessionReplays};
use crate::source::Sink;
use crate::transcript::Session;

/// How to check.
#[derive(Clone, Debug, Default)]
pub struct Checking {
    /// The rules to check.
    pub rules: Rules,
    /// Prices; `None`: the list prices.
    pub prices: Option<PriceBook>,
    /// Also makes a lock.
    pub recording: Option<Recording>,
    /// Also runs the conformance suite on forks.
    pub conformance: bool,
}

/// The result of a check.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The report. All requests are numbered in the order in which they were sent.
    pub report: Report,
    /// The lock, if requested.
    pub lock: Option<Lock>,
    /// The origin of each request, by its number.
    pub origins: Vec<Origin>,
    /// The origin of each recorded error, in order. Its request has no number.
    pub refused: Vec<Origin>,
    /// Cards of the conformance suite, if requested, each with the numbers of its requests.
    pub cards: Vec<(Card, Vec<usize>)>,
}

/// A sink that checks all requests.
#[derive(Debug)]
pub struct Check {
    checking: Checking,
    guard: Guard,
    /// Numbers of the guard's requests among all.
    guarded: Vec<usize>,
    watch: Option<Watched>,
    /// The replay of transcripts, which judges their requests by recorded usage.
    replays: Option<SessionReplays>,
    /// Entries of the current transcript whose requests are still to come.
    entries: vec::IntoIter<Entry>,
    recorder: Option<Recorder>,
    suites: Option<Suites>,
    report: Report,
    origins: Vec<Origin>,
    /// Where recorded errors were read.
    refused: Vec<Origin>,
}

/// A recording of rebuilt requests.
#[derive(Debug)]
struct Watched {
    watch: Watch,
    /// Numbers of its requests among all.
    numbers: Vec<usize>,
    /// What the replay says of each.
    accounts: Vec<Option<Account>>,
    /// The latest request of each chain, by its own number.
    latest: BTreeMap<ChainId, usize>,
    /// Identifies its wire.
    arena: u64,
}

impl Check {
    /// A check without requests.
    pub fn new(checking: Checking) -> Self {
        let guard = Guard::new(checking.rules.clone());
        Self {
            guard: checking.prices.iter().cloned().fold(guard, Guard::with_prices),
            guarded: Vec::new(),
            watch: None,
            replays: None,
            entries: vec::IntoIter::default(),
            recorder: checking.recording.clone().map(Recorder::new),
            suites: checking.conformance.then(|| Suites::new(checking.rules.preset)),
            report: Report::default(),
            origins: Vec::new(),
            refused: Vec::new(),
            checking,
        }
    }

    /// The number of requests so far.
    pub fn requests(&self) -> usize {
        self.origins.len()
    }

    /// The result.
    pub fn finish(mut self) -> Outcome {
        self.end_watch();
        let Self { checking, guard, guarded, recorder, suites, mut report, origins, refused, .. } = self;
        report.add(guard.finish(), &checking.rules, number(&guarded));
        report.findings.sort_by_key(|finding| finding.request);
        report.notes.sort_by_key(|note| note.request);
        report.set_score(&checking.rules);
        report.warnings.extend(report.unlisted.told());
        let cards = suites.map_or_else(Vec::new, Suites::finish);
        Outcome { report, lock: recorder.map(Recorder::finish), origins, refused, cards }
    }

    fn end_watch(&mut self) {
        if let Some(Watched { watch, numbers, accounts, .. }) = self.watch.take() {
            let mut own = watch.finish();
            own.findings.iter_mut().for_each(without_offsets);
            recorded::settle(&mut own, accounts);
            self.report.add(own, &self.checking.rules, number(&numbers));
        }
    }

    fn new_watch(&self) -> Watched {
        let watch = Watch::new(self.checking.rules.clone());
        let watch = self.checking.prices.iter().cloned().fold(watch, Watch::with_prices);
        // A guard counts its wires from zero.
        let (numbers, accounts, latest) = (Vec::new(), Vec::new(), BTreeMap::new());
        Watched { watch, numbers, accounts, latest, arena: u64::MAX - self.origins.len() as u64 }
    }
}

impl Sink for Check {
    fn body(&mut self, origin: &Origin, sent: &Sent<'_>) -> Result<(), BodyError> {
        let checked = self.guard.take(sent)?;
        if let Some(suites) = &mut self.suites {
            suites.body(self.origins.len(), sent)?;
        }
        self.guarded.push(self.origins.len());
        self.origins.push(origin.clone());
        let seen = self.recorder.is_some().then(|| self.guard.seen(&checked, sent.facts.parent)).flatten();
        if let Some((recorder, seen)) = self.recorder.as_mut().zip(seen) {
            recorder.take(&seen);
        }
        Ok(())
    }

    fn refused(&mut self, origin: &Origin, chain: Option<&str>, message: &str) {
        self.refused.push(origin.clone());
        self.guard.refused(chain, message);
    }

    fn begin(&mut self) {
        self.end_watch();
        if let Some(suites) = &mut self.suites {
            suites.end_rebuilt();
        }
    }

    fn session(&mut self, inputs: &Inputs, at: usize, session: &Session) {
        if at == 0 {
            self.replays = None;
        }
        let prices = &self.checking.prices;
        let options = || Options { book: prices.clone().unwrap_or_default(), ..Options::default() };
        let replays = self.replays.get_or_insert_with(|| SessionReplays::new(inputs, options()));
        let entries = replays.entries(at, session);
        let is_recorded = entries.iter().any(|entry| entry.line.recorded.is_some());
        self.entries = if is_recorded { entries } else { Vec::new() }.into_iter();
    }

    fn rebuilt(&mut self, origin: &Origin, wire: &Wire, request: Request, cumulative: Vec<u64>, facts: &Facts<'_>) {
        if let Some(suites) = &mut self.suites {
            suites.rebuilt(self.origins.len(), wire, request.clone(), facts);
        }
        let mut watched = self.watch.take().unwrap_or_else(|| self.new_watch());
        let provider = Maker::diagnosing(&request);
        let checked: Checked = watched.watch.take(wire, request, cumulative, facts);
        let entry = self.entries.next();
        debug_assert!(entry.as_ref().is_none_or(|entry| entry.origin == *origin), "one entry for each request");
        let older = watched.latest.insert(checked.chain, checked.request);
        let account = entry.and_then(|entry| Account::of(&entry, &checked.chain_name, older, provider));
        watched.accounts.push(account);
        watched.numbers.push(self.origins.len());
        self.origins.push(origin.clone());
        if let (Some(recorder), Some(seen)) = (&mut self.recorder, watched.watch.seen(wire, &checked, facts.parent)) {
            recorder.take(&RequestRecord { arena: watched.arena, ..seen });
        }
        self.watch = Some(watched);
    }
}

/// The numbers of the requests of one part among all.
fn number(numbers: &[usize]) -> impl Fn(usize) -> usize {
    |own| numbers.get(own).copied().unwrap_or(own)
}

/// Only sizes of a transcript's blocks are known: an offset in them is not one in the bytes that were sent.
fn without_offsets(finding: &mut Finding) {
    let ChangeSite { cause, level, path, name, .. } = finding.site.clone();
    finding.site = ChangeSite::new(cause, level, path, name);
    finding.windows = None;
}
