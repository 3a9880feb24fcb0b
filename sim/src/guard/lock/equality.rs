//! A newer lock beside the pinned one.

use std::collections::BTreeSet;

use super::digest::Digest;
use super::matched::{self, Matched};
use super::pairs::{Divergence, Sides};
use super::{Breakpoint, Chain, Lock, Locked, Placed};
use crate::diagnosis::{Cause, Note, Provider, first_difference, window};
use crate::guard::{Finding, NoteKind, Noted, Report, Rule, Rules, Severity, Violation};
use crate::pricing::Category;
use crate::wire::model::resolve;
use crate::wire::{Level, Ttl};

/// What differs from a lock.
#[derive(Clone, Debug, Default)]
pub struct Equality {
    /// Blocks, parameters and models that differ, each once in its chain.
    pub findings: Vec<Finding>,
    /// Breakpoints that stand elsewhere.
    pub notes: Vec<Noted>,
    /// Chains and requests that are missing or new.
    pub strangers: Vec<Violation>,
}

impl Equality {
    /// Adds what was found to the report. Chains and requests that are missing or new fail the check where all of the
    /// prompt is to be equal, or its conversation; else they are told.
    pub fn report(self, rules: &Rules, report: &mut Report) {
        let fails = rules.equality == Severity::Fail || rules.pinned.contains(&Level::Messages);
        let forbidden = self.findings.iter().any(|finding| rules.forbid(finding));
        report.score.insert(Rule::Equality.word(), !forbidden && (self.strangers.is_empty() || !fails));
        report.findings.extend(self.findings);
        report.notes.extend(self.notes);
        match fails {
            true => report.violations.extend(self.strangers),
            false => report.warnings.extend(self.strangers.iter().map(Violation::to_string)),
        }
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
            (Some(before), Some(after)) => Chains { old, new, levels: &levels }.compare(before, after, &mut found),
            (Some(before), None) => found.strangers.push(missing_chain(before)),
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
}

impl Chains<'_> {
    fn compare(&self, old: &Chain, new: &Chain, found: &mut Equality) {
        let mut told: BTreeSet<Told> = BTreeSet::new();
        for (position, Matched { old: before, new: after }) in
            matched::requests(old, new, self.levels).into_iter().enumerate()
        {
            match (before, after) {
                (Some(before), Some(after)) => self.requests(&new.name, (before, after), &mut told, found),
                (Some(before), None) => found.strangers.push(absent(&new.name, position, before)),
                (None, Some(after)) => found.strangers.push(unknown(&new.name, after)),
                (None, None) => {}
            }
        }
    }

    fn requests(
        &self,
        chain: &str,
        (before, after): (&Locked, &Locked),
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
        if before.is_same(after, self.levels) {
            return;
        }
        let (old, new) = (self.old.prompt(before), self.new.prompt(after));
        let sides = Sides::new(&old, &new);
        let pair = Pair { chain, before, after, sides: &sides, covered: before.covered(&old) };
        if before.model != after.model && told.insert((Cause::ModelChanged, None, None, Some(after.model.clone()))) {
            found.findings.push(pair.model());
        }
        for divergence in sides.divergences().into_iter().filter(|found| self.levels.contains(&found.level)) {
            let digest = |side: &[Placed<'_>], at: Option<usize>| at.map(|at| side[at].block.digest);
            let (before, after) = (digest(&old, divergence.pair.old), digest(&new, divergence.pair.new));
            let field = (divergence.cause == Cause::LevelParameter).then(|| divergence.path.clone());
            if told.insert((divergence.cause, before, after, field)) {
                found.findings.push(pair.finding(&divergence, Rule::Equality));
            }
        }
    }
}

fn absent(chain: &str, position: usize, request: &Locked) -> Violation {
    Violation {
        rule: Rule::Equality,
        chain: Some(chain.to_owned()),
        what: format!("request {position} of the lock"),
        found: "missing".to_owned(),
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
    pub chain: &'a str,
    pub before: &'a Locked,
    pub after: &'a Locked,
    pub sides: &'a Sides<'a>,
    /// Blocks of the older one that its breakpoints cover.
    pub covered: usize,
}

impl Pair<'_> {
    fn model(&self) -> Finding {
        let name = format!("model `{}` became `{}`", self.before.model, self.after.model);
        let tokens_lost = self.tokens_behind(0);
        self.priced(Rule::Equality, Cause::ModelChanged, (Level::Tools, "model".to_owned(), name), 0, tokens_lost)
    }

    pub fn finding(&self, found: &Divergence, rule: Rule) -> Finding {
        let breaks = found.pair.old_at < self.covered;
        let lost = if breaks { self.tokens_behind(found.pair.new_at) } else { 0 };
        let shown = (found.level, self.after.sent_at(&found.path), found.name.clone());
        let finding = self.priced(rule, found.cause, shown, found.pair.new_at, lost);
        let exact = self.content(found);
        let before: u64 = self.sides.new[..found.pair.new_at].iter().map(|placed| placed.block.bytes).sum();
        let offset = exact.map(|(old, new)| first_difference(old, new));
        Finding {
            offset_in_block: offset.map(|offset| offset as u64),
            offset_in_prefix: offset.map(|offset| before + offset as u64),
            offset_range: found.offset_range,
            breaks_prefix: breaks,
            windows: exact.zip(offset).map(|((old, new), offset)| [window(old, offset), window(new, offset)]),
            ..finding
        }
    }

    fn priced(
        &self,
        rule: Rule,
        cause: Cause,
        (level, path, name): (Level, String, String),
        new_at: usize,
        tokens_lost: u64,
    ) -> Finding {
        let billed_as = self.billed_as(new_at);
        Finding {
            rule,
            chain: self.chain.to_owned(),
            request: self.after.request,
            older: None,
            level,
            path,
            name,
            offset_in_block: None,
            offset_in_prefix: None,
            offset_range: None,
            cause,
            provider: Provider::of_model(resolve(&self.after.model)),
            volatile: None,
            breaks_prefix: self.covered > 0,
            tokens_lost,
            billed_as,
            cost: self.after.rates.map(|rates| rates.difference(billed_as, Category::Read, tokens_lost)),
            windows: None,
        }
    }

    /// Texts of both blocks, where both locks were asked to show them.
    fn content(&self, found: &Divergence) -> Option<(&[u8], &[u8])> {
        let (old, new) = (&self.sides.old[found.pair.old?], &self.sides.new[found.pair.new?]);
        found.offset_range?;
        Some((old.block.content.as_ref()?.as_bytes(), new.block.content.as_ref()?.as_bytes()))
    }

    /// Tokens of unchanged blocks from `from` on that the older request had within its breakpoints.
    fn tokens_behind(&self, from: usize) -> u64 {
        let behind = self.sides.new.iter().zip(&self.sides.alignment.partner).skip(from);
        let kept = behind.filter(|(_, partner)| partner.is_some_and(|old| old < self.covered));
        kept.map(|(placed, _)| placed.tokens).sum()
    }

    /// What tokens behind block `from` are billed as: written where a breakpoint follows.
    fn billed_as(&self, from: usize) -> Category {
        let follows = |breakpoint: &&Breakpoint| {
            let stands = |placed: &Placed<'_>| placed.place.to_string() == breakpoint.path;
            self.sides.new.iter().rposition(stands).is_some_and(|at| at >= from)
        };
        match self.after.breakpoints.iter().find(follows).map(|breakpoint| breakpoint.ttl) {
            Some(Ttl::FiveMinutes) => Category::Write5m,
            Some(Ttl::OneHour) => Category::Write1h,
            None => Category::Input,
        }
    }
}
