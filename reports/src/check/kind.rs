//! Findings that are one change: the same in many requests, or several blocks that came or went at once.

use std::collections::{BTreeMap, BTreeSet};

use forkcast_sim::diagnosis::{Cause, Volatile};
use forkcast_sim::guard::{Finding, Rule};
use forkcast_sim::pricing::Money;
use forkcast_sim::wire::{Level, Maker};

use super::Verdict;

/// The same change in one request or many.
#[derive(Clone, Debug)]
pub struct Kind<'a> {
    /// Its consequence.
    pub verdict: Verdict,
    /// All of it, in order of the requests; never empty.
    findings: Vec<&'a Finding>,
}

/// The common part of changes of one kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key<'a> {
    verdict: Verdict,
    rule: Rule,
    cause: Cause,
    volatile: Option<Volatile>,
    provider: Option<Maker>,
    level: Level,
    name: String,
    path: &'a str,
}

impl<'a> Kind<'a> {
    /// The first of it.
    pub fn first(&self) -> &'a Finding {
        self.findings[0]
    }

    /// Later requests with the same change.
    pub fn further(&self) -> Vec<usize> {
        let mut requests: Vec<usize> = self.findings.iter().map(|finding| finding.request).collect();
        requests.dedup();
        requests.split_off(1)
    }

    /// The same for each of its chains, in order of their first requests.
    pub fn by_chain(&self) -> Vec<Self> {
        let mut parts: Vec<Self> = Vec::new();
        for finding in &self.findings {
            match parts.iter_mut().find(|part| part.first().chain == finding.chain) {
                Some(part) => part.findings.push(finding),
                None => parts.push(Self { verdict: self.verdict, findings: vec![finding] }),
            }
        }
        parts
    }

    /// Its causes, the first one first: tools that come and go have two.
    pub fn causes(&self) -> Vec<Cause> {
        let mut causes = Vec::new();
        for finding in &self.findings {
            if !causes.contains(&finding.cause) {
                causes.push(finding.cause);
            }
        }
        causes
    }

    /// How often it occurs in the first request.
    pub fn times(&self) -> usize {
        self.of_first().count()
    }

    /// Its names in the first request, each once; those of tools that come and go, in all its requests.
    pub fn names(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        let of_all = is_of_tool_list(self.first());
        let told = self.findings.iter().filter(|finding| of_all || finding.request == self.first().request);
        for finding in told.filter(|finding| !finding.name.is_empty()) {
            if !names.contains(&finding.name.as_str()) {
                names.push(&finding.name);
            }
        }
        names
    }

    fn of_first(&self) -> impl Iterator<Item = &'a Finding> + use<'a, '_> {
        self.findings.iter().copied().filter(|finding| finding.request == self.first().request)
    }

    /// Its cost in all its requests; `None` if no cache is modelled or a model has no price.
    pub fn cost(&self) -> Option<Money> {
        lost(&self.findings).map(|lost| lost.cost).sum()
    }

    /// Tokens lost in all its requests; `None` if no cache is modelled.
    pub fn tokens_lost(&self) -> Option<u64> {
        lost(&self.findings).map(|lost| lost.tokens).sum()
    }
}

/// The loss of the findings of one request.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lost {
    /// Tokens; `None` if no cache is modelled.
    pub tokens: Option<u64>,
    /// Their cost; `None` in that case too, and if a model has no price.
    pub cost: Option<Money>,
}

/// The loss of each request. Findings of one rule lose different tokens; those of another rule lose the same ones again,
/// compared with another request or with the lock, so the rule with the largest loss counts.
pub(super) fn lost(findings: &[&Finding]) -> impl Iterator<Item = Lost> + use<> {
    let mut requests: BTreeMap<(usize, bool), BTreeMap<Rule, Lost>> = BTreeMap::new();
    for finding in findings {
        // What a chain repeats without a breakpoint is lost in all its requests, and is no loss of the last one's changes.
        let rules = requests.entry((finding.request, finding.rule == Rule::Breakpoints)).or_default();
        let lost = rules.entry(finding.rule).or_insert(Lost { tokens: Some(0), cost: Some(Money::ZERO) });
        lost.tokens = lost.tokens.zip(finding.tokens_lost()).map(|(sum, tokens)| sum + tokens);
        lost.cost = lost.cost.zip(finding.cost()).map(|(sum, cost)| sum + cost);
    }
    requests.into_values().filter_map(|rules| rules.into_values().max_by_key(|lost| lost.tokens))
}

/// The findings by kind.
pub(super) fn of<'a>(told: Vec<(Verdict, &'a Finding)>) -> Vec<Kind<'a>> {
    let mut runs: BTreeMap<Batch, String> = BTreeMap::new();
    for (_, finding) in told.iter().filter(|(_, finding)| is_of_run(finding)) {
        let names = runs.entry(run(finding)).or_default();
        let name = if finding.level == Level::Messages { unquoted(&finding.name) } else { finding.name.clone() };
        *names = format!("{names}{name}\n");
    }
    let keys: Vec<Key<'a>> = told
        .iter()
        .map(|(verdict, finding)| key(*verdict, finding, runs.get(&run(finding)).filter(|_| is_of_run(finding))))
        .collect();
    let keys = recognised(keys);
    let mut kinds: BTreeMap<Key<'a>, Vec<&'a Finding>> = BTreeMap::new();
    // Of a chain that dropped a breakpoint, what it repeats since then belongs to that.
    let mut dropped: BTreeMap<&str, Key<'a>> = BTreeMap::new();
    for ((verdict, finding), own) in told.into_iter().zip(keys) {
        let is_drop = finding.cause == Cause::NoBreakpoint && finding.rule != Rule::Breakpoints;
        let known = dropped.get(finding.chain.as_str()).filter(|_| finding.rule == Rule::Breakpoints);
        let key = known.filter(|known| known.verdict == verdict).cloned().unwrap_or(own);
        if is_drop {
            dropped.entry(&finding.chain).or_insert_with(|| key.clone());
        }
        kinds.entry(key).or_default().push(finding);
    }
    joined(kinds)
}

/// The keys, those of changes in which nothing was recognised to vary as those of the same place in which one thing was.
fn recognised(mut keys: Vec<Key<'_>>) -> Vec<Key<'_>> {
    let mut known: BTreeMap<Key<'_>, BTreeSet<Option<Volatile>>> = BTreeMap::new();
    for key in &keys {
        known.entry(Key { volatile: None, ..key.clone() }).or_default().extend(key.volatile.map(Some));
    }
    for key in keys.iter_mut().filter(|key| key.volatile.is_none()) {
        if let Some(only) = known.get(key).filter(|known| known.len() == 1) {
            key.volatile = only.first().copied().flatten();
        }
    }
    keys
}

/// Fewest sections of a system prompt that change in the same requests and count as one change: an agent that renews its notes
/// (gaia#1025, 2026).
const SECTIONS_MIN: usize = 3;

/// The kinds, with sections of system prompts that change in exactly the same requests as one.
fn joined<'a>(kinds: BTreeMap<Key<'a>, Vec<&'a Finding>>) -> Vec<Kind<'a>> {
    let requests = |findings: &[&Finding]| findings.iter().map(|finding| finding.request).collect::<BTreeSet<usize>>();
    let is_section =
        |key: &Key<'_>| key.cause == Cause::SystemChanged && key.volatile.is_none() && !key.path.is_empty();
    let mut together: BTreeMap<(Verdict, Rule, BTreeSet<usize>), Vec<Key<'a>>> = BTreeMap::new();
    for (key, findings) in kinds.iter().filter(|(key, _)| is_section(key)) {
        together.entry((key.verdict, key.rule, requests(findings))).or_default().push(key.clone());
    }
    let mut kinds = kinds;
    for keys in together.into_values().filter(|keys| keys.len() >= SECTIONS_MIN) {
        let mut findings: Vec<&Finding> = keys.iter().filter_map(|key| kinds.remove(key)).flatten().collect();
        findings.sort_by_key(|finding| finding.request);
        kinds.insert(keys[0].clone(), findings);
    }
    kinds.into_iter().map(|(key, findings)| Kind { verdict: key.verdict, findings }).collect()
}

/// Identifies blocks that were added or removed together: a request, a rule, a cause.
type Batch = (usize, Rule, Cause);

fn run(finding: &Finding) -> Batch {
    (finding.request, finding.rule, finding.cause)
}

/// Blocks are usually added and removed together: one change of the program, whatever their names.
fn is_of_run(finding: &Finding) -> bool {
    use Cause::{MessageInserted, MessageRemoved, ThinkingStripped};
    matches!(finding.cause, MessageInserted | MessageRemoved | ThinkingStripped)
}

/// A tool that came or went. A program that offers other tools does so again and again, whatever their names.
fn is_of_tool_list(finding: &Finding) -> bool {
    matches!(finding.cause, Cause::ToolsAdded | Cause::ToolsRemoved)
}

/// What changes of one kind have in common. Paths of messages move from request to request, those of other levels do not,
/// unless one change of the program has many: then tools are told by their field, and an order by nothing, nor blocks that a
/// system prompt gets one by one. Of what came or went at once it is all their `names`. A tool that went comes back.
fn key<'a>(verdict: Verdict, finding: &'a Finding, names: Option<&String>) -> Key<'a> {
    let of_level = finding.level != Level::Messages || finding.cause == Cause::LevelParameter;
    let is_whole_block = finding.cause == Cause::SystemChanged && finding.field().is_none();
    let is_of_many = is_whole_block
        || is_of_tool_list(finding)
        || matches!(
            finding.cause,
            Cause::ToolsReordered | Cause::ToolChanged | Cause::NoBreakpoint | Cause::BeyondLookback
        );
    let path = if names.is_none() && of_level && !is_of_many { finding.path.as_str() } else { "" };
    let cause = if is_of_tool_list(finding) { Cause::ToolsAdded } else { finding.cause };
    let name = names.map_or_else(|| common_name(finding), String::clone);
    let Finding { rule, provider, .. } = *finding;
    Key { verdict, rule, cause, volatile: finding.volatile, provider, level: finding.level, name, path }
}

/// The part of a name that all changes of a kind share.
fn common_name(finding: &Finding) -> String {
    let is_new_id = finding.volatile == Some(Volatile::Uuid) && finding.is_of_an_id();
    match finding.cause {
        // The provider's words about a refusal name the place, and so does a missing breakpoint.
        cause if cause.is_refusal() || is_new_id => String::new(),
        // Whatever was at its place.
        Cause::HistoryTruncated | Cause::Rewound | Cause::Compacted => String::new(),
        Cause::ToolsReordered | Cause::KeyOrder | Cause::NoBreakpoint | Cause::BeyondLookback
            if finding.rule != Rule::Breakpoints =>
        {
            String::new()
        }
        Cause::ToolChanged => finding.field().map_or_else(|| finding.name.clone(), str::to_owned),
        // A serialiser writes the inputs of all tools.
        _ => {
            let words = unquoted(&finding.name);
            finding.field().map_or(words.clone(), |field| words + field)
        }
    }
}

/// A name without the names of tools and fields in it: those of one window or of one serialiser differ from request to request.
fn unquoted(name: &str) -> String {
    name.split('`').step_by(2).collect()
}
