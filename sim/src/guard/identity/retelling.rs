//! Whose history a request tells again, changed all over, where no id says so.
//!
//! A chain is followed by messages that are byte for byte the same, as long as these are the most. Where half of them or
//! more changed a little (a path, a date, thinking that a model does not keep), or where all went but the newest, what was
//! said is still recognised, so that tools or a system prompt that changed with it are that chain's break.

use std::collections::BTreeMap;

use super::resemblance::{alike_bytes, said};
use crate::wire::{BlockId, ChainId, Request, Role, Wire};

/// Chains that are compared, the latest first.
const COMPARED_MAX: usize = 32;

/// Least share of bytes, in percent, that two tellings of a message have in common.
const MESSAGE_PERCENT_MIN: u64 = 60;

/// Bytes of a block's canonical form that all blocks of its kind have: keys, braces, the type.
const FRAME_BYTES: u64 = 26;

/// A message as short as this is no trace: everybody says "Go on.".
const TRACE_BYTES_MIN: u64 = 16;

/// What somebody said.
struct Saying {
    role: Role,
    blocks: Vec<BlockId>,
}

/// How much of a chain's history is told again: messages, and bytes of them.
type Share = (usize, u64);

/// The one chain among `known`, which are given the latest first, whose history `request` tells again. A request in which
/// no model has spoken is a beginning, however like another one's it is.
pub(super) fn only<'a>(
    wire: &Wire,
    request: &Request,
    known: impl Iterator<Item = (ChainId, &'a Request)>,
) -> Option<ChainId> {
    let new = told(wire, request);
    if !new.iter().any(|message| message.role == Role::Assistant) {
        return None;
    }
    let old: Vec<(ChainId, Vec<Saying>)> =
        known.take(COMPARED_MAX).map(|(chain, last)| (chain, told(wire, last))).collect();
    let again = old.iter().filter_map(|(chain, old)| Some((retold(wire, old, &new)?, *chain)));
    most(again).or_else(|| {
        let kept = old.iter().filter(|(_, old)| goes_on_from_last(wire, old, &new));
        most(kept.map(|(chain, _)| ((), *chain)))
    })
}

/// The one that has most of it; none where two have as much.
fn most<T: Ord + Copy>(shares: impl Iterator<Item = (T, ChainId)>) -> Option<ChainId> {
    let mut by_share: BTreeMap<T, Vec<ChainId>> = BTreeMap::new();
    shares.for_each(|(share, chain)| by_share.entry(share).or_default().push(chain));
    match by_share.last_key_value()?.1.as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

/// The messages of a request. What clients put in between for the system is no history.
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

/// How much of `old` stands in `new` at its place, or near enough; `None` where that is not more than half of the shorter.
fn retold(wire: &Wire, old: &[Saying], new: &[Saying]) -> Option<Share> {
    let alike = old.iter().zip(new).filter_map(|(old, new)| alike(wire, old, new));
    let (messages, bytes) = alike.fold((0, 0), |(messages, bytes), alike| (messages + 1, bytes + alike));
    (messages * 2 > old.len().min(new.len())).then_some((messages, bytes))
}

/// How many bytes two tellings of a message have in common; `None` where they are two messages. Blocks that one of them left
/// out, such as thinking, tell nothing.
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

/// Bytes of a block beyond its frame.
fn said_bytes(wire: &Wire, block: BlockId) -> u64 {
    wire.blocks.len_bytes(block).saturating_sub(FRAME_BYTES)
}

fn common_bytes(wire: &Wire, old: BlockId, new: BlockId) -> u64 {
    let nature = |block| (wire.blocks.kind(block), wire.blocks.role(block));
    if nature(old) != nature(new) {
        return 0;
    }
    alike_bytes(wire.blocks.bytes(old), wire.blocks.bytes(new)).saturating_sub(FRAME_BYTES)
}

/// The newest message of `old` stands in `new`, and a model has answered it there.
fn goes_on_from_last(wire: &Wire, old: &[Saying], new: &[Saying]) -> bool {
    let Some(last) = old.last() else { return false };
    let is_trace = last.blocks.iter().map(|block| said_bytes(wire, *block)).sum::<u64>() >= TRACE_BYTES_MIN;
    let at = new.iter().rposition(|message| message.role == last.role && message.blocks == last.blocks);
    is_trace && at.is_some_and(|at| new[at..].iter().any(|message| message.role == Role::Assistant))
}
