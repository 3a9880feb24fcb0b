//! What changed between two requests, and what each change does to the cache.

use std::collections::BTreeSet;

use super::counterfactual::{Breakpoints, Carried, Counterfactual, Mixed};
use super::finding::{Finding, Loss, NoteKind, Noted, Rule};
use super::reads::Entries;
use super::subject::Subject;
use super::unread;
use crate::cache;
use crate::diagnosis::{self, Cause, Comparison, Difference, Note, Provider, Window, first_difference};
use crate::pricing::{Category, Rates};
use crate::wire::{BlockId, Request, Ttl, Wire};

/// Two requests to be laid side by side.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    /// Blocks and prefixes.
    pub wire: &'a Wire,
    /// What was written before the newer request.
    pub entries: &'a Entries,
    /// The provider's cache rules.
    pub preset: &'a cache::Rules,
    /// The request that it is compared with.
    pub older: &'a Subject,
    /// The request.
    pub newer: &'a Subject,
    /// Its prices.
    pub rates: Option<&'a Rates>,
    /// What is checked.
    pub rule: Rule,
    /// Name of its chain.
    pub chain: &'a str,
    /// Which differences have to be kept; all others are the newer request's own and stay as they are.
    pub concerns: &'a dyn Fn(&Difference) -> bool,
    /// Whether its breakpoints have to reach what the older request left in the cache.
    pub asks_breakpoints: bool,
}

/// What changed, in prompt order; breakpoints behind the bytes.
pub(super) fn judge(case: &Question<'_>) -> (Vec<Finding>, Vec<Noted>) {
    judge_compared(case, &diagnosis::compare(case.wire, &case.older.request, &case.newer.request))
}

/// The same where the two are compared already.
pub(super) fn judge_compared(case: &Question<'_>, comparison: &Comparison) -> (Vec<Finding>, Vec<Noted>) {
    let undone = Counterfactual::new(case.wire, case.older, case.newer, comparison, case.concerns);
    let mut findings = Vec::new();
    let mut notes = Vec::new();
    let base = undone.all_but(None, Breakpoints::OfBoth);
    let kept = base.kept(case.entries.read(&base.prompt, case.preset));
    let sent_read = match comparison.differences.as_slice() {
        [] => 0,
        _ => case.entries.read(&case.newer.prompt(case.wire), case.preset),
    };
    let mut counted = Counted::default();
    for (at, change) in comparison.differences.iter().enumerate().filter(|(_, found)| (case.concerns)(found)) {
        let alone = Alone::new(case, &undone, at, change, kept, sent_read);
        let finding = alone.finding(&mut counted);
        if !finding.breaks_prefix && alone.is_behind_all() {
            notes.push(case.note(NoteKind::Harmless(Note::TailOnly), &finding.path));
        }
        findings.push(finding);
    }
    if case.asks_breakpoints {
        let base = undone.all_but(None, Breakpoints::Own);
        let read = case.entries.read(&base.prompt, case.preset);
        let unread = unread::findings(case, &undone, (&base, read), &mut counted);
        if let Some(place) = unread::falls_short(case).filter(|_| unread.is_empty()) {
            notes.push(case.note(NoteKind::Harmless(Note::MarkerMoved), &case.newer.request.path(place)));
        }
        findings.extend(unread);
    }
    (findings, notes)
}

/// Blocks of the newer request whose loss is counted. A token has one cause: the first change in prompt order that loses it
/// (`design.md` 6), so that the losses of a request add up to what it paid too much.
#[derive(Debug, Default)]
pub(super) struct Counted(BTreeSet<usize>);

impl Counted {
    /// Those of `lost` that no change before counts.
    pub fn first(&mut self, lost: Vec<Carried>) -> Vec<Carried> {
        lost.into_iter().filter(|carried| self.0.insert(carried.new)).collect()
    }
}

impl Question<'_> {
    /// A note on the newer request.
    pub fn note(&self, note: NoteKind, path: &str) -> Noted {
        Noted { chain: self.chain.to_owned(), request: self.newer.number, note, path: path.to_owned(), answer: None }
    }

    /// What reading these would have saved; `otherwise` is what nothing is billed as. `None` where no cache is modelled.
    pub fn loss(&self, lost: &[Carried], otherwise: Category) -> Option<Loss> {
        if !self.newer.request.has_modelled_cache() {
            return None;
        }
        let is_upper_bound = lost.iter().any(|carried| carried.resent.is_upper_bound);
        let mut tokens = [(Category::Write1h, 0_u64), (Category::Write5m, 0), (Category::Input, 0)];
        let ends = self.newer.written_ends();
        for Carried { new, resent } in lost {
            let slot = match ends {
                (one_hour, _) if *new < one_hour => 0,
                (_, last) if *new < last => 1,
                _ => 2,
            };
            let whole = self.newer.tokens(*new);
            // Another request may have sent the block as it is.
            tokens[slot].1 += if *new < self.newer.request.known { whole } else { resent.tokens(whole) };
        }
        let cost = self.rates.map(|rates| {
            tokens.iter().map(|(billed_as, tokens)| rates.difference(*billed_as, Category::Read, *tokens)).sum()
        });
        let most = tokens.iter().rev().max_by_key(|(_, tokens)| *tokens);
        let most = most.filter(|_| !lost.is_empty()).map_or(otherwise, |(billed_as, _)| *billed_as);
        let tokens = tokens.iter().map(|(_, tokens)| tokens).sum();
        Some(Loss { tokens, is_upper_bound, billed_as: most, cost })
    }
}

impl Question<'_> {
    /// A change by which `lost` are lost.
    pub fn finding(&self, change: &Difference, lost: &[Carried]) -> Finding {
        // What came in or went away is shown beside what stood at its place; a parameter has none.
        let is_parameter = change.cause == Cause::LevelParameter;
        let shown_at = |request: &Request, at: usize, is_there: bool| {
            let node = request.nodes.get(at).filter(|_| is_there || !is_parameter);
            node.and_then(|node| self.wire.prefixes.block(*node))
        };
        let older = shown_at(&self.older.request, change.old_index, change.old.is_some());
        let newer = shown_at(&self.newer.request, change.new_index, change.new.is_some());
        Finding {
            rule: self.rule,
            chain: self.chain.to_owned(),
            request: self.newer.number,
            older: Some(self.older.number),
            level: change.level,
            path: change.path.clone(),
            name: change.name.clone(),
            offset_in_block: change.offset_in_block,
            offset_in_prefix: change.offset_in_prefix,
            offset_range: change.offset_range,
            cause: change.cause,
            provider: Provider::of(&self.newer.request),
            volatile: change.volatile,
            breaks_prefix: false,
            loss: self.loss(lost, self.newer.billed_at(change.new_index)),
            windows: self.windows(older, newer).filter(|_| change.cause != Cause::ModelChanged),
        }
    }

    /// The bytes around the first difference of two blocks; `None` where their content was not kept.
    fn windows(&self, older: Option<BlockId>, newer: Option<BlockId>) -> Option<[Window; 2]> {
        let blocks = &self.wire.blocks;
        if [older, newer].into_iter().flatten().any(|block| blocks.is_outline(block)) {
            return None;
        }
        let [older, newer] = [older, newer].map(|block| block.map_or(&[][..], |block| blocks.bytes(block)));
        let offset = first_difference(older, newer);
        Some([older, newer].map(|bytes| diagnosis::window(bytes, offset)))
    }
}

/// One change, all others undone.
struct Alone<'a> {
    case: &'a Question<'a>,
    undone: &'a Counterfactual<'a>,
    change: &'a Difference,
    mixed: Mixed,
    /// Blocks of the older prompt read with all changes undone.
    base_read: usize,
    /// Blocks read with this one alone.
    read: usize,
    /// Leading blocks of the newer prompt that are read as it was sent, with all changes.
    sent_read: usize,
}

impl<'a> Alone<'a> {
    fn new(
        case: &'a Question<'a>,
        undone: &'a Counterfactual<'a>,
        at: usize,
        change: &'a Difference,
        base_read: usize,
        sent_read: usize,
    ) -> Self {
        let mixed = undone.all_but(Some(at), Breakpoints::OfBoth);
        let read = case.entries.read(&mixed.prompt, case.preset);
        Self { case, undone, change, mixed, base_read, read, sent_read }
    }

    /// Where the change begins in the older prompt.
    fn begins(&self) -> usize {
        self.change.pairs.iter().map(|pair| pair.old_at).min().map_or(0, |first| first.min(self.change.old_index))
    }

    /// What the older request had in the cache ends before the change.
    fn is_behind_all(&self) -> bool {
        let covered = self.case.older.covered();
        covered > 0 && self.begins() >= covered
    }

    /// Something is not read that stands where blocks are read without the change. All that stands behind a history that was
    /// summed up stands where that stood, the summary too.
    fn breaks_prefix(&self) -> bool {
        let is_unread = self.mixed.slots.len() > self.read;
        if self.change.cause == Cause::Compacted && self.begins() < self.base_read && is_unread {
            return true;
        }
        let came = |new: usize| self.change.pairs.iter().find(|pair| pair.new == Some(new));
        self.mixed.slots.iter().skip(self.read).any(|slot| match (slot.old, slot.new) {
            (Some(old), _) => old < self.base_read,
            (None, Some(new)) => came(new).is_some_and(|pair| pair.old_at < self.base_read),
            (None, None) => false,
        })
    }

    /// What was sent before and would have been read without the change: behind it, within it, and before it back to
    /// where a breakpoint ends.
    fn lost(&self) -> Vec<Carried> {
        let unread = self.mixed.slots.iter().skip(self.read);
        let carried = unread.filter_map(|slot| self.undone.carried_in(slot));
        carried.filter(|carried| carried.resent.old < self.base_read).collect()
    }

    fn finding(&self, counted: &mut Counted) -> Finding {
        let Self { case, change, .. } = self;
        let lost = self.lost();
        let is_unread = |carried: &&Carried| carried.new >= self.sent_read;
        let paid: Vec<Carried> = lost.iter().filter(is_unread).copied().collect();
        // A sibling may have written all that this one brings along, changed as it is.
        let breaks_prefix = self.breaks_prefix() && (lost.is_empty() || !paid.is_empty());
        let lost = if breaks_prefix { counted.first(paid) } else { Vec::new() };
        Finding { breaks_prefix, ..case.finding(change, &lost) }
    }
}

impl Subject {
    /// How many leading blocks one-hour breakpoints cover, and how many any do: what is not read is billed by these.
    fn written_ends(&self) -> (usize, usize) {
        if self.refusal.is_some() {
            return (0, 0);
        }
        let marked = self.marked().into_iter().filter(|(at, _)| self.cumulative[*at] >= self.minimum_tokens);
        marked.fold((0, 0), |(one_hour, last), (at, ttl)| {
            (if ttl == Ttl::OneHour { one_hour.max(at + 1) } else { one_hour }, last.max(at + 1))
        })
    }

    /// What the block at `at` is billed as where it is not read.
    pub(super) fn billed_at(&self, at: usize) -> Category {
        match self.written_ends() {
            (one_hour, _) if at < one_hour => Category::Write1h,
            (_, last) if at < last => Category::Write5m,
            _ => Category::Input,
        }
    }
}
