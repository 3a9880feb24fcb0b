//! Findings without a changed byte: breakpoints that moved away, that are too far back, that are refused.

use super::finding::Finding;
use super::judge::Question;
use crate::cache::{EntryState, LookBack, PositionCount, Refusal, refusal};
use crate::diagnosis::{CarriedBlock, Cause, ChangeSite, MixedPrompt, Subject, Trials};
use crate::pricing::Category;
use crate::wire::{BlockKind, Level, Maker, NodeId, Place, Request, Wire};

/// Faults in the newer request's breakpoints, by which it loses `lost`. With all changes undone it reads `read` blocks.
pub(super) fn findings(case: &Question<'_>, trials: &Trials<'_>, read: usize, lost: &[CarriedBlock]) -> Vec<Finding> {
    let refused = case.newer.refusal.as_ref().and_then(|refusal| refused(&case.newer.request, refusal, case));
    // A breakpoint that the provider refuses is reported as that, not as one that is missing.
    let is_reported = case.newer.refusal.is_some() && refused.is_none();
    let unread = if is_reported { None } else { unread(case, trials, read) };
    let faults = refused.into_iter().chain(unread).enumerate();
    faults.map(|(at, fault)| finding(case, fault, if at == 0 { lost } else { &[] })).collect()
}

/// Faults in the breakpoints of a chain's first request: the provider refuses them.
pub(super) fn refusal(case: &Question<'_>) -> Option<Finding> {
    let refusal = case.newer.refusal.as_ref()?;
    let fault = refused(&case.newer.request, refusal, case)?;
    Some(Finding { older: None, ..finding(case, fault, &[]) })
}

/// The newer request's last breakpoint, if its prompt continues after it although the older one's breakpoints reached
/// to the end: nothing is lost yet, but the next request sends and pays for the rest again.
pub(super) fn falls_short(case: &Question<'_>) -> Option<Place> {
    let last = |taken: &Subject| taken.marked().into_iter().map(|(at, _)| at).max();
    let behind = |taken: &Subject| Some(taken.request.nodes.len() - (last(taken)? + 1));
    let (newer, last) = (case.newer, last(case.newer)?);
    let is_short = behind(case.older)? == 0 && behind(newer)? > 0 && newer.refusal.is_none();
    is_short.then(|| newer.request.places[last])
}

/// Blocks that are looked back over even if each counts: 22 to 25 in recordings (`observed.md` 1).
const REACHED_BLOCKS: usize = 25;

/// Whether the request reads its first `read` blocks only because the rules count runs of blocks as one position.
pub(super) fn rests_on_runs(wire: &Wire, request: &Subject, read: usize, rule: LookBack) -> bool {
    let rule = rule.of(wire.prefixes.counts_each_block(request.request.root));
    let Some(end) = read.checked_sub(1).filter(|_| rule.count == PositionCount::Runs) else { return false };
    let Some((at, _)) = request.marked().into_iter().find(|(at, _)| *at >= end) else { return false };
    let is_counted =
        |node: &&NodeId| !matches!(wire.prefixes.kind(**node), BlockKind::Parameters | BlockKind::Thinking);
    at - end > REACHED_BLOCKS && request.request.nodes[end..=at].iter().filter(is_counted).count() > REACHED_BLOCKS
}

/// A fault in a breakpoint, or in a block without one.
struct Fault<'a> {
    cause: Cause,
    /// The request that has it in its body, and its place.
    place: (&'a Request, Place),
    /// Its name.
    name: String,
}

/// The refusals that have a cause of their own, in the provider's words. [`Checked::refused`] reports the others.
///
/// [`Checked::refused`]: super::Checked::refused
fn refused<'a>(request: &'a Request, refusal: &Refusal, case: &Question<'_>) -> Option<Fault<'a>> {
    let place = refusal::place(request, refusal).unwrap_or(Place::head(Level::Messages));
    let (cause, name) = match refusal {
        Refusal::TooManyBreakpoints { found, max } => {
            (Cause::BreakpointLimit, format!("{found} breakpoints, at most {max} allowed: \"{refusal}\""))
        }
        Refusal::TtlOrder { .. } => {
            let title = title(case.wire, request, place);
            (Cause::TtlOrder, format!("one-hour breakpoint on {title}, after a five-minute one: \"{refusal}\""))
        }
        _ => return None,
    };
    Some(Fault { cause, place: (request, place), name })
}

/// Entries that the older request left in the cache are not read although no byte of them changed.
fn unread<'a>(case: &Question<'a>, trials: &Trials<'_>, read: usize) -> Option<Fault<'a>> {
    let end = case.older.covered().checked_sub(1).filter(|end| read <= *end)?;
    let base = trials.own_base();
    // Without breakpoints the ends of messages are assumed, for an automatic cache: the client did not place them.
    if case.newer.request.maker != Maker::Anthropic && case.newer.request.markers_sent == 0 {
        return None;
    }
    let Some((at, _)) = base.prompt.markers().iter().find(|(at, _)| *at >= end) else {
        let place = place_of_older(case, base, end);
        let name =
            format!("no breakpoint on {} or after it, where the older request had one", title_of_older(case, end));
        return Some(Fault { cause: Cause::NoBreakpoint, place, name });
    };
    // No breakpoint reads what has expired meanwhile, and that cause comes first (`design.md` 6).
    let left = *case.older.request.nodes.get(end)?;
    if case.clocked.cache.state(&case.wire.prefixes, left, case.clocked.at) == EntryState::Expired {
        return None;
    }
    let newer = &case.newer.request;
    let place = base.slots.get(*at).and_then(|slot| slot.new).map(|new| (newer, newer.places[new]));
    let place = place.unwrap_or_else(|| place_of_older(case, base, *at));
    let title = title(case.wire, place.0, place.1);
    let name = format!("breakpoint on {title}, {} blocks after the older request's last cached block", at - end);
    Some(Fault { cause: Cause::BeyondLookback, place, name })
}

/// Position of the older block `at` in the newer request, or else in the older.
fn place_of_older<'a>(case: &Question<'a>, base: &MixedPrompt, at: usize) -> (&'a Request, Place) {
    let [older, newer] = [&case.older.request, &case.newer.request];
    let old = base.slots.get(at).and_then(|slot| slot.old).unwrap_or(at);
    let node = older.nodes.get(old);
    let same = node.and_then(|node| newer.nodes.iter().position(|newer| newer == node));
    let (request, at) = same.map_or((older, old), |new| (newer, new));
    (request, request.places.get(at).copied().unwrap_or(Place::head(Level::Messages)))
}

fn title_of_older(case: &Question<'_>, at: usize) -> String {
    let request = &case.older.request;
    request.places.get(at).map_or_else(String::new, |place| title(case.wire, request, *place))
}

/// The name of the block at `place`.
fn title(wire: &Wire, request: &Request, place: Place) -> String {
    let at = request.places.iter().position(|known| *known == place);
    let block = at.and_then(|at| wire.prefixes.block(request.nodes[at]));
    let kind = block.map(|block| wire.blocks.kind(block));
    let kind = match kind {
        Some(BlockKind::Tool) => "the tool",
        Some(BlockKind::Text) => "the text",
        Some(BlockKind::ToolUse) => "the tool use",
        Some(BlockKind::ToolResult) => "the tool result",
        Some(BlockKind::Media) => "the image or document",
        _ => "the block",
    };
    format!("{kind} at {}", request.path(place))
}

fn finding(case: &Question<'_>, fault: Fault<'_>, lost: &[CarriedBlock]) -> Finding {
    let Fault { cause, place: (request, place), name } = fault;
    let site = ChangeSite::new(cause, place.level, request.path(place), name);
    // Blocks that no breakpoint covers are plain input, and so is all of a refused request.
    Finding { breaks_prefix: true, ..case.finding_at(site, case.loss(lost, Category::Input)) }
}
