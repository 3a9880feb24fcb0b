//! Whose history a request repeats with changes all over, without ids.
//!
//! A chain normally continues through messages that are equal byte for byte, as long as these are the majority. If half
//! of them or more changed a little (a path, a date, thinking that a model does not keep), or if all but the newest are
//! gone, the content is still recognised, so that tools or a system prompt that changed at the same time are a break of
//! that chain.

use std::collections::BTreeMap;

use super::resemblance::{FRAME_BYTES, said};
use crate::diagnosis::{CommonEnds, equal_bytes, rewriting};
use crate::wire::{BlockId, BlockKind, ChainId, Request, Role, Wire};

/// Most chains that are compared, the latest first.
const COMPARED_MAX: usize = 32;

/// Least share of bytes, in percent, that two versions of a message have in common.
const MESSAGE_PERCENT_MIN: u64 = 60;

/// A message as short as this proves nothing: "Go on." is common.
const TRACE_BYTES_MIN: u64 = 16;

/// A message.
struct Saying {
    role: Role,
    blocks: Vec<BlockId>,
}

/// How much of a chain's history is repeated: messages, and bytes of them.
type Share = (usize, u64);

/// The one chain among `known` (latest first) with the history that `request` repeats. A request without a model's
/// message is a beginning, however similar to another one, unless it is one message that is rewritten for each step: then
/// those of the same head are `known`.
pub(super) fn only<'a>(
    wire: &Wire,
    request: &Request,
    mut known: impl Iterator<Item = (ChainId, &'a Request)>,
) -> Option<ChainId> {
    let new = told(wire, request);
    if !new.iter().any(|message| message.role == Role::Assistant) {
        let (chain, last) = known.next()?;
        return is_rebuilt(wire, last, request).then_some(chain);
    }
    let old: Vec<(ChainId, Vec<Saying>)> =
        known.take(COMPARED_MAX).map(|(chain, last)| (chain, told(wire, last))).collect();
    let again = old.iter().filter_map(|(chain, old)| Some((retold(wire, old, &new)?, *chain)));
    most(again).or_else(|| {
        let kept = old.iter().filter(|(_, old)| goes_on_from_last(wire, old, &new));
        most(kept.map(|(chain, _)| ((), *chain)))
    })
}

/// Bytes that a message has in common with the one of the step before, besides its beginning and its end: templates have these in
/// common, and a history has its middle.
const REBUILT_BYTES_MIN: usize = 2_000;

/// Bytes of the step that came since, which replaces nothing: a template with another text in it has no such place (patina 478, 2026).
const STEP_BYTES_MIN: usize = 100;

/// Whether both requests are one message of a user, and the newer one repeats half of the older one or more, with
/// something inserted before: agents that write their whole history into one text (browser-use 4887, 2026-11).
fn is_rebuilt(wire: &Wire, last: &Request, request: &Request) -> bool {
    let only = |request| match <[Saying; 1]>::try_from(told(wire, request)) {
        Ok([only]) => Some(only.blocks),
        Err(_) => None,
    };
    let Some((old, new)) = only(last).zip(only(request)) else { return false };
    if has_grown(wire, &old, &new) {
        return true;
    }
    is_inserted_into(wire, &old, &new)
}

/// Most bytes of such a text that are replaced before its history, such as the number of the step. Two templates with one history in them differ
/// by their tasks (`open-webui`'s tags and follow-up questions, 2026).
const REPLACED_BYTES_MAX: usize = 200;

/// Whether half of the text of a message or more is in a later one, with something inserted.
fn is_inserted_into(wire: &Wire, old: &[BlockId], new: &[BlockId]) -> bool {
    let text =
        |blocks: &[BlockId]| blocks.iter().flat_map(|block| wire.blocks.bytes(*block)).copied().collect::<Vec<u8>>();
    let (old, new) = (text(old), text(new));
    if old.len() >= new.len() {
        return false;
    }
    let ends = CommonEnds::of_characters(&old, &new).len();
    let inner = equal_bytes(&old, &new) - ends;
    if inner < REBUILT_BYTES_MIN || inner * 2 < old.len() - ends {
        return false;
    }
    let how = rewriting(&old, &new);
    how.longest_insertion >= STEP_BYTES_MIN && how.replaced_before <= REPLACED_BYTES_MAX
}

/// Whether `request` is another question behind the same messages, such as examples or a greeting: of as many messages only the
/// newest differs, and as a whole. Of the same agent there would be its answer.
pub(super) fn asks_otherwise(wire: &Wire, last: &Request, request: &Request) -> bool {
    let newest = |request: &Request| {
        let item = request.places.last().map(|place| place.item)?;
        request.places.iter().rposition(|place| !place.is_of_message(item))
    };
    // Equal nodes are equal prefixes.
    let Some(before) = newest(last).filter(|before| Some(*before) == newest(request)) else { return false };
    let said_before = wire.prefixes.block(request.nodes[before]);
    let is_answer = said_before.is_some_and(|block| wire.blocks.role(block) == Role::Assistant);
    if last.nodes[before] != request.nodes[before] || !is_answer {
        return false;
    }
    let blocks = |request: &Request| -> Vec<BlockId> {
        request.nodes[before + 1..].iter().filter_map(|node| wire.prefixes.block(*node)).collect()
    };
    let is_question =
        |block: &BlockId| wire.blocks.role(*block) == Role::User && wire.blocks.kind(*block) == BlockKind::Text;
    let [old, new] = [blocks(last), blocks(request)];
    old.iter().chain(&new).all(is_question)
        && old.iter().all(|block| !new.contains(block))
        && !has_grown(wire, &old, &new)
}

/// Whether the first block of a message that differs has all that it had the step before, and more at one place (rt911 336, 2026), or
/// there are more blocks behind all that there were, if these were several (headroom 2671, 2026: one may be a template). A template
/// with something else in it loses what it had.
fn has_grown(wire: &Wire, old: &[BlockId], new: &[BlockId]) -> bool {
    let equal = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let bytes = |blocks: &[BlockId]| blocks.iter().map(|block| said_bytes(wire, *block)).sum::<u64>();
    match (old.get(equal), new.get(equal)) {
        (None, Some(_)) => equal > 1 && bytes(old) >= REBUILT_BYTES_MIN as u64,
        (Some(was), Some(is)) => {
            let (was, is) = (wire.blocks.bytes(*was), wire.blocks.bytes(*is));
            was.len() >= REBUILT_BYTES_MIN
                && is.len() >= was.len() + STEP_BYTES_MIN
                && CommonEnds::of(was, is).len() == was.len()
        }
        _ => false,
    }
}

/// The one with the largest repeated part; `None` if two are equal.
fn most<T: Ord + Copy>(shares: impl Iterator<Item = (T, ChainId)>) -> Option<ChainId> {
    let mut by_share: BTreeMap<T, Vec<ChainId>> = BTreeMap::new();
    shares.for_each(|(share, chain)| by_share.entry(share).or_default().push(chain));
    match by_share.last_key_value()?.1.as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

/// The messages of a request. System text that clients insert is no history.
fn told(wire: &Wire, request: &Request) -> Vec<Saying> {
    let mut messages: Vec<(u32, Saying)> = Vec::new();
    for (item, block) in said(wire, request) {
        let role = wire.blocks.role(block);
        match messages.last_mut() {
            _ if role == Role::System => {}
            Some((known, message)) if *known == item => message.blocks.push(block),
            _ => messages.push((item, Saying { role, blocks: vec![block] })),
        }
    }
    messages.into_iter().map(|(_, message)| message).collect()
}

/// How much of `old` is in `new` at or near the same place; `None` if not more than half of the shorter one.
fn retold(wire: &Wire, old: &[Saying], new: &[Saying]) -> Option<Share> {
    let alike = old.iter().zip(new).filter_map(|(old, new)| alike(wire, old, new));
    let (messages, bytes) = alike.fold((0, 0), |(messages, bytes), alike| (messages + 1, bytes + alike));
    (messages * 2 > old.len().min(new.len())).then_some((messages, bytes))
}

/// How many bytes two versions of a message have in common; `None` if they are different messages. Blocks that only one
/// of them has, such as thinking, are ignored.
fn alike(wire: &Wire, old: &Saying, new: &Saying) -> Option<u64> {
    if old.role != new.role {
        return None;
    }
    let (mut rest, mut same) = (new.blocks.clone(), 0);
    let mut changed: Vec<BlockId> = Vec::new();
    for block in &old.blocks {
        match rest.iter().position(|known| known == block) {
            Some(at) => same += said_bytes(wire, rest.remove(at)),
            None => changed.push(*block),
        }
    }
    let kept = old.blocks.len() - changed.len();
    let fewer = old.blocks.len().min(new.blocks.len());
    let common: u64 = changed.iter().zip(&rest).map(|(old, new)| common_bytes(wire, *old, *new)).sum();
    let sum = |blocks: &[BlockId]| blocks.iter().map(|block| said_bytes(wire, *block)).sum::<u64>();
    let shorter = sum(&old.blocks).min(sum(&new.blocks));
    let is_alike = (same + common) * 100 >= shorter * MESSAGE_PERCENT_MIN && same + common > 0;
    (is_alike || kept * 2 >= fewer && kept > 0).then_some(same + common)
}

/// Bytes of a block besides its frame.
fn said_bytes(wire: &Wire, block: BlockId) -> u64 {
    wire.blocks.len_bytes(block).saturating_sub(FRAME_BYTES)
}

fn common_bytes(wire: &Wire, old: BlockId, new: BlockId) -> u64 {
    let nature = |block| (wire.blocks.kind(block), wire.blocks.role(block));
    if nature(old) != nature(new) {
        return 0;
    }
    (CommonEnds::of(wire.blocks.bytes(old), wire.blocks.bytes(new)).len() as u64).saturating_sub(FRAME_BYTES)
}

/// The newest message of `old` is in `new`, followed by a model's answer.
fn goes_on_from_last(wire: &Wire, old: &[Saying], new: &[Saying]) -> bool {
    let Some(last) = old.last() else { return false };
    let is_trace = last.blocks.iter().map(|block| said_bytes(wire, *block)).sum::<u64>() >= TRACE_BYTES_MIN;
    let at = new.iter().rposition(|message| message.role == last.role && message.blocks == last.blocks);
    is_trace && at.is_some_and(|at| new[at..].iter().any(|message| message.role == Role::Assistant))
}
