//! Changes that are judged to break a prefix in the captures, each compared with the bill of its request.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use forkcast_replay::check::{Check, Checking, Outcome};
use forkcast_replay::exchange::Origin;
use forkcast_replay::input::ReadOptions;
use forkcast_replay::source::{Sink, feed};
use forkcast_sim::cache::PRESETS;
use forkcast_sim::guard::{Facts, Finding, Rules, Sent};
use forkcast_sim::wire::{BodyError, Request, Usage, Wire};

/// A check that also keeps the bill.
struct Billed {
    check: Check,
    usages: Vec<Option<Usage>>,
}

impl Sink for Billed {
    fn body(&mut self, origin: &Origin, sent: &Sent<'_>) -> Result<(), BodyError> {
        self.check.body(origin, sent)?;
        self.usages.push(sent.facts.usage);
        Ok(())
    }

    fn begin(&mut self) {
        self.check.begin();
    }

    fn rebuilt(&mut self, origin: &Origin, wire: &Wire, request: Request, cumulative: Vec<u64>, facts: &Facts<'_>) {
        self.check.rebuilt(origin, wire, request, cumulative, facts);
        self.usages.push(facts.usage);
    }
}

/// The findings under the preset with this number, and the bill of each request.
fn judged(data: &Path, preset: usize) -> (Outcome, Vec<Option<Usage>>) {
    let rules = Rules { preset: PRESETS[preset], ..Rules::default() };
    let mut sink = Billed { check: Check::new(Checking { rules, ..Checking::default() }), usages: Vec::new() };
    feed(&[data.join("wire-cache-fix")], &ReadOptions::default(), &|_| true, &mut sink).unwrap();
    (sink.check.finish(), sink.usages)
}

fn breaking(outcome: &Outcome) -> impl Iterator<Item = &Finding> {
    outcome.report.findings.iter().filter(|found| found.breaks_prefix)
}

type Key = (usize, &'static str, String);

fn key(found: &Finding) -> Key {
    (found.request, found.cause.word(), found.path.clone())
}

/// What the bills of two requests show about the later one.
enum Recorded {
    /// No answer of it is recorded.
    Nothing,
    /// It read this much less than the earlier one had left in the cache of its prompt.
    Short(u64),
}

fn recorded(older: Option<Usage>, newer: Option<Usage>) -> Recorded {
    let Some((older, newer)) = older.zip(newer) else { return Recorded::Nothing };
    let left = older.cache_read_input_tokens + older.cache_creation_input_tokens();
    let asked = newer.total_input_tokens();
    Recorded::Short(left.min(asked).saturating_sub(newer.cache_read_input_tokens))
}

/// Changes of one request that say the same of the same place.
struct Row {
    origin: Origin,
    times: usize,
    lost: u64,
    recorded: Recorded,
    /// Changes of the request in all.
    of_request: usize,
    observed: bool,
}

impl Row {
    fn why(&self) -> String {
        match self.recorded {
            Recorded::Nothing => "its answer is not recorded: the bytes moved, and no bill shows the cost".to_owned(),
            Recorded::Short(0) => "**nothing was lost**".to_owned(),
            Recorded::Short(_) if self.lost == 0 && self.of_request > 1 => {
                "its loss counts for the previous change".to_owned()
            }
            Recorded::Short(short) => {
                let own = short.abs_diff(self.lost);
                format!("the bill also counts the changed part, about {own} tokens that could not have been read")
            }
        }
    }

    fn line(&self, (_, cause, path): &Key) -> String {
        let Row { origin, times, lost, recorded, observed, .. } = self;
        let capture = origin.file.split("-s-").nth(1).map_or("", |rest| &rest[..12]);
        let short = match recorded {
            Recorded::Nothing => "–".to_owned(),
            Recorded::Short(short) => short.to_string(),
        };
        let observed = if *observed { "yes" } else { "no" };
        let (request, why) = (origin.index, self.why());
        format!("| {capture} | {request} | `{cause}` | {path} | {times} | {lost} | {short} | {observed} | {why} |")
    }
}

fn rows(outcome: &Outcome, usages: &[Option<Usage>], observed: &BTreeSet<Key>) -> BTreeMap<Key, Row> {
    let mut rows: BTreeMap<Key, Row> = BTreeMap::new();
    for found in breaking(outcome) {
        let row = rows.entry(key(found)).or_insert_with(|| Row {
            origin: outcome.origins[found.request].clone(),
            times: 0,
            lost: found.tokens_lost().unwrap(),
            recorded: recorded(found.older.and_then(|older| usages[older]), usages[found.request]),
            of_request: breaking(outcome).filter(|other| other.request == found.request).count(),
            observed: observed.contains(&key(found)),
        });
        row.times += 1;
    }
    rows
}

/// The number of requests with breaking changes, and of changes, with this result in the bill.
fn sum<'a>(rows: impl Iterator<Item = (&'a Key, &'a Row)>) -> (usize, usize) {
    let (mut requests, mut changes) = (BTreeSet::new(), 0);
    for ((request, ..), row) in rows {
        requests.insert(request);
        changes += row.times;
    }
    (requests.len(), changes)
}

pub fn table(data: &Path) -> String {
    let (documents, usages) = judged(data, 0);
    let observed: BTreeSet<Key> = breaking(&judged(data, 2).0).map(key).collect();
    let rows = rows(&documents, &usages, &observed);
    let is = |billed: fn(&Recorded) -> bool| sum(rows.iter().filter(|(_, row)| billed(&row.recorded)));
    let (all, unknown) = (sum(rows.iter()), is(|billed| matches!(billed, Recorded::Nothing)));
    let (short, idle) =
        (is(|billed| matches!(billed, Recorded::Short(1..))), is(|billed| matches!(billed, Recorded::Short(0))));
    let known: BTreeSet<Key> = rows.keys().cloned().collect();
    let mut out = format!(
        "## Changes judged under `docs-2026-09`\n\nEvery change in all captures of `wire-cache-fix` that is judged to break a prefix: {} in {} requests. Of {} in {} requests the answer\nis recorded, and all of these read too little; {} in {} did not. Of {} in {} requests no answer is recorded. *Lost as judged*: unchanged\ntokens that were cached. *Short*: what the bill shows, as in the table above. A capture holds lengths in place of texts; in\nrequests without an answer, blocks have the sizes that an answered request showed, and new ones an estimate by length.\n\n| capture | request | cause | block | changes | lost as judged | short | also under `observed-2026-08` | why they differ |\n|---|---:|---|---|---:|---:|---:|---|---|\n",
        all.1, all.0, short.1, short.0, idle.1, idle.0, unknown.1, unknown.0
    );
    rows.iter().for_each(|(key, row)| writeln!(out, "{}", row.line(key)).unwrap());
    let more: Vec<String> = observed
        .difference(&known)
        .map(|(request, cause, path)| format!("`{cause}` {path} of request {}", documents.origins[*request].index))
        .collect();
    writeln!(out, "\nUnder `observed-2026-08` alone: {}. The documents' rules count runs of calls and results as one position each, the\nrecordings do not.", more.join(", ")).unwrap();
    assert_eq!(idle, (0, 0), "a change is judged to break a prefix that was read all the same");
    out
}
