//! A newer lock beside the pinned one.

use std::collections::BTreeSet;

use super::digest::Digest;
use super::loss::{Beside, Cached, Entries};
use super::matched::{self, Matched};
use super::pairs::{Divergence, Sides};
use super::{Breakpoint, Chain, Lock, Locked, Placed};
use crate::cache;
use crate::diagnosis::{Cause, Note, Provider, first_difference, window};
use crate::guard::{Finding, Loss, NoteKind, Noted, Report, Rule, Rules, Severity, Violation};
use crate::outside::quoted;
use crate::pricing::{Category, Money};
use crate::wire::Level;
use crate::wire::model::resolve;

/// What differs from a lock.
#[derive(Clone, Debug, Default)]
pub struct Equality {
    /// Blocks, parameters and models that differ, each once in its chain.
    pub findings: Vec<Finding>,
    /// Breakpoints that stand elsewhere.
    pub notes: Vec<Noted>,
    /// Chains and requests of the lock that were not sent.
    pub missing: Vec<Violation>,
    /// Chains and requests that the lock does not hold.
    pub strangers: Vec<Violation>,
}

impl Equality {
    /// Adds what was found to the report. What is missing fails the check as hard as the rules hold it. Chains and requests
    /// that are new fail it if all of the prompt is to be equal, or its conversation; else they are reported as warnings.
    pub fn report(self, rules: &Rules, report: &mut Report) {
        let is_whole = rules.equality == Severity::Fail || rules.pinned.contains(&Level::Messages);
        let strangers = if is_whole { Severity::Fail } else { Severity::Note };
        let forbidden = self.findings.iter().any(|finding| rules.forbid(finding));
        let before = report.violations.len();
        judge(self.missing, rules.missing, report);
        judge(self.strangers, strangers, report);
        report.score.insert(Rule::Equality.word(), !forbidden && report.violations.len() == before);
        report.findings.extend(self.findings);
        report.notes.extend(self.notes);
    }
}

fn judge(found: Vec<Violation>, severity: Severity, report: &mut Report) {
    match severity {
        Severity::Off => {}
        Severity::Note => report.warnings.extend(found.iter().map(Violation::to_string)),
        Severity::Fail => report.violations.extend(found),
    }
}

/// Lays `new` beside `old`: all levels, or the pinned ones alone where equality is off besides. Where the conversation is
/// not asked about, it may be of any length.
pub fn equality(old: &Lock, new: &Lock, rules: &Rules) -> Equality {
    let levels = match rules.equality {
        Severity::Off => rules.pinned.clone(),
        _ => Level::ALL.to_vec(),
    };
    let mut found = Equality::default();
    if levels.is_empty() {
        return found;
    }
    for chain in matched::chains(old, new) {
        match (chain.old, chain.new) {
            (Some(before), Some(after)) => {
                Chains { old, new, levels: &levels, rules }.compare(before, after, &mut found);
            }
            (Some(before), None) => found.missing.push(missing_chain(before)),
            (None, Some(after)) => found.strangers.push(new_chain(after)),
            (None, None) => {}
        }
    }
    found
}

fn missing_chain(chain: &Chain) -> Violation {
    Violation {
        rule: Rule::Equality,
        chain: Some(chain.name.clone()),
        what: "the chain".to_owned(),
        found: "missing: no request of it was sent".to_owned(),
        expected: format!("{}, as in the lock", counted(chain.requests.len())),
    }
}

fn new_chain(chain: &Chain) -> Violation {
    Violation {
        rule: Rule::Equality,
        chain: Some(chain.name.clone()),
        what: "the chain".to_owned(),
        found: format!("new: {}", counted(chain.requests.len())),
        expected: "no such chain, as in the lock".to_owned(),
    }
}

fn counted(requests: usize) -> String {
    match requests {
        1 => "1 request".to_owned(),
        _ => format!("{requests} requests"),
    }
}

/// What a difference is known by, so that it is told once: what stays different stays so in every later request.
type Told = (Cause, Option<Digest>, Option<Digest>, Option<String>);

struct Chains<'a> {
    old: &'a Lock,
    new: &'a Lock,
    levels: &'a [Level],
    rules: &'a Rules,
}

impl Chains<'_> {
    fn compare(&self, old: &Chain, new: &Chain, found: &mut Equality) {
        let mut told: BTreeSet<Told> = BTreeSet::new();
        let mut entries = Entries::new();
        for (position, Matched { old: before, new: after }) in
            matched::requests(old, new, self.levels).into_iter().enumerate()
        {
            match (before, after) {
                (Some(before), Some(after)) => {
                    self.requests(&new.name, [before, after], &mut entries, &mut told, found);
                }
                (Some(before), None) => found.missing.push(absent(&new.name, position, before)),
                (None, Some(after)) => found.strangers.push(unknown(&new.name, after)),
                (None, None) => {}
            }
        }
    }

    fn requests(
        &self,
        chain: &str,
        [before, after]: [&Locked; 2],
        entries: &mut Entries,
        told: &mut BTreeSet<Told>,
        found: &mut Equality,
    ) {
        if before.breakpoints != after.breakpoints && self.levels.contains(&Level::Messages) {
            found.notes.push(Noted {
                chain: chain.to_owned(),
                request: after.request,
                note: NoteKind::Harmless(Note::MarkerMoved),
                path: after.sent_at(&moved(&before.breakpoints, &after.breakpoints)),
                answer: None,
            });
        }
        let old = self.old.prompt(before);
        Cached::new(before, &old, minimum_tokens(before, self.rules)).write(entries);
        if before.is_same(after, self.levels) {
            return;
        }
        let new = self.new.prompt(after);
        let sides = Sides::new(&old, &new);
        let pair = Pair::new(chain, [before, after], &sides, entries, self.rules);
        if before.model != after.model && told.insert((Cause::ModelChanged, None, None, Some(after.model.clone()))) {
            found.findings.push(pair.model());
        }
        let divergences = sides.divergences();
        let mut loss = pair.loss(&divergences, |divergence| !told.contains(&known_by(&old, &new, divergence)));
        for divergence in divergences.iter().filter(|found| self.levels.contains(&found.level)) {
            if told.insert(known_by(&old, &new, divergence)) {
                let breaks = pair.breaks(divergence);
                // A token has one cause: the first change that loses it.
                let own = if breaks { std::mem::replace(&mut loss, pair.nothing()) } else { pair.nothing() };
                found.findings.push(pair.finding(divergence, Rule::Equality, own));
            }
        }
    }
}

fn known_by(old: &[Placed<'_>], new: &[Placed<'_>], divergence: &Divergence) -> Told {
    let digest = |side: &[Placed<'_>], at: Option<usize>| at.map(|at| side[at].block.digest);
    let field = (divergence.cause == Cause::LevelParameter).then(|| divergence.path.clone());
    (divergence.cause, digest(old, divergence.pair.old), digest(new, divergence.pair.new), field)
}

fn absent(chain: &str, position: usize, request: &Locked) -> Violation {
    Violation {
        rule: Rule::Equality,
        chain: Some(chain.to_owned()),
        what: format!("request {position} of the lock"),
        found: "missing: it was not sent".to_owned(),
        expected: format!("a request of {} blocks", request.blocks),
    }
}

fn unknown(chain: &str, request: &Locked) -> Violation {
    Violation {
        rule: Rule::Equality,
        chain: Some(chain.to_owned()),
        what: format!("request {}", request.request),
        found: format!("new: a request of {} blocks", request.blocks),
        expected: "no such request, as in the lock".to_owned(),
    }
}

/// The path of the first breakpoint that differs.
fn moved(old: &[Breakpoint], new: &[Breakpoint]) -> String {
    let came = new.iter().find(|breakpoint| !old.contains(breakpoint));
    let went = || old.iter().find(|breakpoint| !new.contains(breakpoint));
    came.or_else(went).map(|breakpoint| breakpoint.path.clone()).unwrap_or_default()
}

/// A request of the lock and what was sent in its place.
pub(super) struct Pair<'a> {
    chain: &'a str,
    before: &'a Locked,
    after: &'a Locked,
    sides: &'a Sides<'a>,
    old: Cached<'a>,
    new: Cached<'a>,
    entries: &'a Entries,
    rules: &'a Rules,
}

impl<'a> Pair<'a> {
    pub fn new(
        chain: &'a str,
        [before, after]: [&'a Locked; 2],
        sides: &'a Sides<'a>,
        entries: &'a Entries,
        rules: &'a Rules,
    ) -> Self {
        let old = Cached::new(before, sides.old, minimum_tokens(before, rules));
        let new = Cached::new(after, sides.new, minimum_tokens(after, rules));
        Self { chain, before, after, sides, old, new, entries, rules }
    }

    fn model(&self) -> Finding {
        let name = format!("model {} became {}", quoted(&self.before.model), quoted(&self.after.model));
        let loss = self.beside().loss(0, &[]);
        let shown = Shown { level: Level::Tools, path: "model".to_owned(), name };
        Finding {
            breaks_prefix: self.old.covered() > 0,
            ..self.priced(Rule::Equality, Cause::ModelChanged, shown, loss)
        }
    }

    /// Whether a difference stands in what the lock's request cached.
    pub fn breaks(&self, found: &Divergence) -> bool {
        found.pair.old_at < self.old.covered()
    }

    /// No loss, at the prices of the newer request.
    pub fn nothing(&self) -> Loss {
        let cost = self.after.rates.map(|_| Money::ZERO);
        Loss { tokens: 0, is_upper_bound: false, billed_as: Category::Input, cost }
    }

    /// What is lost by the divergences that `count`, as if the others were none.
    pub fn loss(&self, divergences: &[Divergence], counts: impl Fn(&Divergence) -> bool) -> Loss {
        if self.before.model != self.after.model {
            return self.nothing();
        }
        let first = divergences.iter().find(|found| counts(found));
        first.map_or_else(|| self.nothing(), |first| self.beside().loss(first.pair.new_at, divergences))
    }

    fn beside(&self) -> Beside<'_> {
        Beside {
            sides: self.sides,
            after: self.after,
            old: &self.old,
            new: &self.new,
            entries: self.entries,
            rules: &self.rules.preset,
        }
    }

    pub fn finding(&self, found: &Divergence, rule: Rule, loss: Loss) -> Finding {
        let shown = Shown { level: found.level, path: self.after.sent_at(&found.path), name: found.name.clone() };
        let finding = self.priced(rule, found.cause, shown, loss);
        let exact = self.content(found);
        let before: u64 = self.sides.new[..found.pair.new_at].iter().map(|placed| placed.block.bytes).sum();
        let offset = exact.map(|(old, new)| first_difference(old, new));
        Finding {
            offset_in_block: offset.map(|offset| offset as u64),
            offset_in_prefix: offset.map(|offset| before + offset as u64),
            offset_range: found.offset_range,
            breaks_prefix: self.breaks(found),
            windows: exact.zip(offset).map(|((old, new), offset)| [window(old, offset), window(new, offset)]),
            ..finding
        }
    }

    fn priced(&self, rule: Rule, cause: Cause, shown: Shown, loss: Loss) -> Finding {
        Finding {
            rule,
            chain: self.chain.to_owned(),
            request: self.after.request,
            older: None,
            level: shown.level,
            path: shown.path,
            name: shown.name,
            offset_in_block: None,
            offset_in_prefix: None,
            offset_range: None,
            cause,
            provider: Provider::of_model(resolve(&self.after.model)),
            volatile: None,
            breaks_prefix: false,
            loss: self.after.has_modelled_cache.then_some(loss),
            windows: None,
        }
    }

    /// Texts of both blocks, where both locks were asked to show them.
    fn content(&self, found: &Divergence) -> Option<(&[u8], &[u8])> {
        let (old, new) = (&self.sides.old[found.pair.old?], &self.sides.new[found.pair.new?]);
        found.offset_range?;
        Some((old.block.content.as_ref()?.as_bytes(), new.block.content.as_ref()?.as_bytes()))
    }
}

/// The shortest prefix of a request that is cached.
pub(super) fn minimum_tokens(request: &Locked, rules: &Rules) -> u64 {
    match rules.in_tests {
        true => 0,
        false => cache::minimum_tokens(resolve(&request.model).map(|resolved| resolved.id)),
    }
}

/// What a difference is called, and where it stands.
struct Shown {
    level: Level,
    path: String,
    name: String,
}
