//! The changes between two requests, and the effect of each on the cache.

use super::breakpoints::looks_at_message_ends;
use super::finding::{Finding, Loss, NoteKind, Noted, Rule};
use super::strip::strip;
use super::uncached::BEGINNING_TOKENS_MIN;
use super::unread;
use crate::diagnosis::{
    self, CacheMoment, CarriedBlock, Cause, ChangeDamage, ChangeSite, Comparison, Difference, Note, Subject, Trials,
    Window, first_difference, is_summary,
};
use crate::pricing::{Category, Rates};
use crate::wire::{BlockId, BlockKind, Maker, NodeId, Place, Request, Role, Wire, json, thinking_turns_kept};

/// Two requests to compare.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    /// Blocks and prefixes.
    pub wire: &'a Wire,
    /// The cache before the newer request, ignoring time: it decides what breaks.
    pub timeless: CacheMoment<'a>,
    /// The cache when the newer request is sent: it decides the loss. If times are unknown, the same as without.
    pub clocked: CacheMoment<'a>,
    /// The older request.
    pub older: &'a Subject,
    /// The request.
    pub newer: &'a Subject,
    /// Its prices.
    pub rates: Option<&'a Rates>,
    /// The rule that is checked.
    pub rule: Rule,
    /// Name of its chain.
    pub chain: &'a str,
    /// Selects the differences that count; all others belong to the newer request and stay as they are.
    pub concerns: &'a dyn Fn(&Difference) -> bool,
    /// Tokens that the newer request read, if it is recorded: they may end within a block. Else 0.
    pub read_tokens: u64,
    /// Whether its breakpoints have to reach the entries that the older request left in the cache.
    pub asks_breakpoints: bool,
}

/// The changes, in prompt order; breakpoints after bytes.
pub(super) fn judge(case: &Question<'_>) -> (Vec<Finding>, Vec<Noted>) {
    judge_compared(case, &diagnosis::compare(case.wire, &case.older.request, &case.newer.request))
}

/// The same for requests that were already compared.
pub(super) fn judge_compared(case: &Question<'_>, comparison: &Comparison) -> (Vec<Finding>, Vec<Noted>) {
    let trials = Trials::new(case.wire, [case.older, case.newer], comparison, case.concerns);
    let [timeless, clocked] = trials.damage([case.timeless, case.clocked]);
    let mut findings = Vec::new();
    let mut notes = Vec::new();
    let covered = case.older.covered();
    let changes = comparison.differences.iter().zip(timeless.changes.iter().zip(&clocked.changes));
    for (change, (timeless, clocked)) in changes.filter(|(found, _)| (case.concerns)(found)) {
        // What was recorded shows more than rules and bytes do.
        let breaks = timeless.breaks_prefix || !clocked.lost.is_empty();
        // A cache without breakpoints keeps each prompt to its end: what stands there may be replaced.
        let newer = &case.newer.request;
        let reads_tokens = !looks_at_message_ends(&newer.model);
        let loses = |damage: &ChangeDamage| if reads_tokens { damage.loses_tokens } else { damage.loses_content };
        // That less of it was recorded to be read has another reason.
        let is_behind = case.is_behind_the_answers(change, timeless);
        let is_at_the_end = !newer.has_modelled_cache()
            && change.cause != Cause::Compacted
            && (is_behind || !loses(timeless) && !loses(clocked));
        let is_refuted = case.is_refuted(change) || case.is_too_little(clocked);
        let breaks = breaks && !is_at_the_end && !is_refuted;
        let goes_back = breaks && comparison.differences.len() == 1 && case.is_taken_up_again(change);
        let breaks_prefix = breaks && !goes_back && !case.is_made_by_the_provider(change);
        if goes_back {
            notes.push(Noted::new(case.chain, case.newer.number, NoteKind::Branch, change.path.clone()));
        }
        let finding = Finding { breaks_prefix, ..case.finding(change, &clocked.lost) };
        // The entries of the older request end before the change.
        if !breaks_prefix && covered > 0 && change.begins() >= covered {
            notes.push(case.note(Note::TailOnly, &finding.path));
        }
        findings.push(finding);
    }
    if case.asks_breakpoints {
        let unread = unread::findings(case, &trials, timeless.own_read, &clocked.of_breakpoints);
        if let Some(place) = unread::falls_short(case).filter(|_| unread.is_empty()) {
            notes.push(case.note(Note::MarkerMoved, &case.newer.request.path(place)));
        }
        findings.extend(unread);
    }
    (findings, notes)
}

impl Question<'_> {
    /// It was recorded that the request read far beyond the change, so that the cache had it. Sizes are estimates.
    fn is_refuted(&self, change: &Difference) -> bool {
        const READ_PERCENT_MAX: u64 = 80;
        let last = change.pairs.iter().filter_map(|pair| pair.new).chain([change.new_index]).max();
        let end = last.and_then(|last| self.newer.cumulative.get(last));
        self.read_tokens >= BEGINNING_TOKENS_MIN
            && end.is_some_and(|end| end * 100 < self.read_tokens * READ_PERCENT_MAX)
    }

    /// Two agents differ, and have less in common than is worth a note.
    fn is_too_little(&self, damage: &ChangeDamage) -> bool {
        let is_measured = self.rule == Rule::Siblings && self.newer.minimum_tokens > 0;
        is_measured && !damage.lost.is_empty() && self.tokens_of(&damage.lost) < BEGINNING_TOKENS_MIN
    }

    fn tokens_of(&self, lost: &[CarriedBlock]) -> u64 {
        lost.iter().map(|carried| carried.resent.tokens(self.newer.tokens(carried.new))).sum()
    }

    /// All that is lost, less than is worth a breakpoint, was behind the last answer of both: a reminder or a question that is put
    /// behind each state of a history.
    fn is_behind_the_answers(&self, change: &Difference, damage: &ChangeDamage) -> bool {
        let behind = |request: &Request| {
            let is_answer = |node: &NodeId| {
                let block = self.wire.prefixes.block(*node);
                block.is_some_and(|block| self.wire.blocks.role(block) == Role::Assistant)
            };
            request.nodes.iter().rposition(is_answer).map(|last| last + 1)
        };
        let Some(newer) = behind(&self.newer.request) else { return false };
        let older = behind(&self.older.request).unwrap_or(0);
        let is_behind = |lost: &CarriedBlock| lost.resent.old >= older && lost.new >= newer;
        let are_edits_behind = change.pairs.iter().all(|pair| match (pair.old, pair.new) {
            (Some(old), Some(new)) => old >= older && new >= newer,
            _ => true,
        });
        are_edits_behind
            && !damage.lost.is_empty()
            && damage.lost.iter().all(is_behind)
            && self.tokens_of(&damage.lost) < BEGINNING_TOKENS_MIN
    }

    /// Somebody went back to an earlier message and said something else: nothing of the part before it changed, and the new
    /// message alone follows it. A client that loses a part of its history goes on with more.
    fn is_taken_up_again(&self, change: &Difference) -> bool {
        let Request { nodes, places, .. } = &self.newer.request;
        let Some(first) = places.get(change.new_index) else { return false };
        let is_users = |(node, place): (&NodeId, &Place)| {
            let block = self.wire.prefixes.block(*node);
            let is_said = |block| {
                let kind = self.wire.blocks.kind(block);
                self.wire.blocks.role(block) == Role::User && matches!(kind, BlockKind::Text | BlockKind::Media)
            };
            place.item == first.item && (place.keys || block.is_some_and(is_said))
        };
        change.cause == Cause::Rewound
            && self.rule == Rule::Stability
            && nodes[change.new_index..].iter().zip(&places[change.new_index..]).all(is_users)
    }

    /// The provider made the change, not the client.
    fn is_made_by_the_provider(&self, change: &Difference) -> bool {
        self.is_compacted_by_the_provider(change) || self.is_stripped_by_the_provider(change)
    }

    /// The provider leaves out the thinking of earlier turns, because the model or the request's `context_management` says
    /// so; the client may send it or not (Messages API, extended thinking and context editing, 2026-09).
    fn is_stripped_by_the_provider(&self, change: &Difference) -> bool {
        let newer = &self.newer.request;
        let strips = thinking_turns_kept(newer.envelope_value("context_management"), newer.resolved).is_some();
        let is_earlier = || strips && self.last_user_text().is_some_and(|at| change.new_index < at);
        let left_out = |block: BlockId| newer.excluded.iter().any(|out| out.block == block);
        let mut old = change.pairs.iter().map(|pair| self.wire.prefixes.block(self.older.request.nodes[pair.old?]));
        change.cause == Cause::ThinkingStripped && (is_earlier() || old.all(|block| block.is_some_and(left_out)))
    }

    /// The newer prompt's last text of a user, with which its newest turn begins.
    fn last_user_text(&self) -> Option<usize> {
        let is_users = |block: BlockId| {
            self.wire.blocks.role(block) == Role::User && self.wire.blocks.kind(block) == BlockKind::Text
        };
        let nodes = &self.newer.request.nodes;
        nodes.iter().rposition(|node| self.wire.prefixes.block(*node).is_some_and(is_users))
    }

    /// The provider replaced the history, as the request's `context_management` asks it to: the client only appended its
    /// summary (Messages API, compaction, beta `compact-2026-01-12`, 2026-09). What it encrypted no client can have made
    /// (Responses API, compaction, 2026-09).
    fn is_compacted_by_the_provider(&self, change: &Difference) -> bool {
        let blocks = &self.wire.blocks;
        // If nothing of the history stayed, the summary is at its place.
        let places = change.pairs.iter().filter_map(|pair| pair.new).chain([change.new_index]);
        let came = places.filter_map(|at| self.wire.prefixes.block(*self.newer.request.nodes.get(at)?));
        let edits = self.newer.request.envelope_value("context_management").unwrap_or_default();
        let is_asked = memchr::memmem::find(edits, b"\"compact_").is_some();
        let is_encrypted = |block| {
            !blocks.is_outline(block)
                && json::member(blocks.bytes(block), b"\"encrypted_content\"").is_some()
                && is_summary(blocks, block)
        };
        let mut came = came.filter(|block| blocks.kind(*block) == BlockKind::Opaque);
        change.cause == Cause::Compacted && came.any(|block| is_asked || is_encrypted(block))
    }

    /// A note on the newer request.
    pub fn note(&self, note: Note, path: &str) -> Noted {
        Noted::new(self.chain, self.newer.number, NoteKind::Harmless(note), path.to_owned())
    }

    /// The amount that reading these would have saved; `otherwise` is the billing if nothing is lost. `None` if no
    /// cache is modelled.
    pub fn loss(&self, lost: &[CarriedBlock], otherwise: Category) -> Option<Loss> {
        if !self.newer.request.has_modelled_cache() {
            return None;
        }
        let is_upper_bound = lost.iter().any(|carried| carried.resent.is_upper_bound);
        let mut tokens = [(Category::Write1h, 0_u64), (Category::Write5m, 0), (Category::Input, 0)];
        let billed = self.newer.billing();
        for CarriedBlock { new, resent } in lost {
            let category = billed.category(*new);
            let whole = self.newer.tokens(*new);
            // Another request may have sent the block unchanged.
            let sent_before = if *new < self.newer.request.known { whole } else { resent.tokens(whole) };
            let sent_before = sent_before.min(self.newer.cumulative[*new].saturating_sub(self.read_tokens));
            tokens.iter_mut().filter(|(known, _)| *known == category).for_each(|(_, sum)| *sum += sent_before);
        }
        let cost = self.rates.map(|rates| {
            tokens.iter().map(|(billed_as, tokens)| rates.difference(*billed_as, Category::Read, *tokens)).sum()
        });
        let most = tokens.iter().rev().max_by_key(|(_, tokens)| *tokens);
        let most = most.filter(|_| !lost.is_empty()).map_or(otherwise, |(billed_as, _)| *billed_as);
        let tokens = tokens.iter().map(|(_, tokens)| tokens).sum();
        Some(Loss { tokens, is_upper_bound, billed_as: most, cost, requests: 1 })
    }

    /// A change that loses the blocks `lost`.
    pub fn finding(&self, change: &Difference, lost: &[CarriedBlock]) -> Finding {
        // An added or removed block is shown next to the block at its place; a parameter has none.
        let is_parameter = change.cause == Cause::LevelParameter;
        let shown_at = |request: &Request, at: usize, is_there: bool| {
            let node = request.nodes.get(at).filter(|_| is_there || !is_parameter);
            node.and_then(|node| self.wire.prefixes.block(*node))
        };
        let older = shown_at(&self.older.request, change.old_index, change.old.is_some());
        let newer = shown_at(&self.newer.request, change.new_index, change.new.is_some());
        let loss = self.loss(lost, self.newer.billing().category(change.new_index));
        let windows = self.windows(older, newer).filter(|_| change.cause != Cause::ModelChanged);
        let strip = strip(self.wire, self.newer, change.new_index);
        Finding { windows, strip, ..self.finding_at(change.site.clone(), loss) }
    }

    /// A change that breaks nothing, shown without bytes.
    pub fn finding_at(&self, site: ChangeSite, loss: Option<Loss>) -> Finding {
        Finding {
            rule: self.rule,
            chain: self.chain.to_owned(),
            request: self.newer.number,
            older: Some(self.older.number),
            with_sibling: false,
            site,
            provider: Maker::diagnosing(&self.newer.request),
            breaks_prefix: false,
            loss,
            windows: None,
            strip: Vec::new(),
        }
    }

    /// The bytes around the first difference of two blocks; `None` if their content was not kept, or
    /// is the same.
    fn windows(&self, older: Option<BlockId>, newer: Option<BlockId>) -> Option<[Window; 2]> {
        let blocks = &self.wire.blocks;
        // A start of a message that came or went is no text: both sides show the block after it.
        if older == newer || [older, newer].into_iter().flatten().any(|block| blocks.is_outline(block)) {
            return None;
        }
        let [older, newer] = [older, newer].map(|block| block.map_or(&[][..], |block| blocks.bytes(block)));
        let offset = first_difference(older, newer);
        Some([older, newer].map(|bytes| diagnosis::window(bytes, offset)))
    }
}
