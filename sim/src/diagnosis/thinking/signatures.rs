//! Signatures of thinking blocks: which blocks a request has in another form than the request before it.
//!
//! Source: `providers-2026-11.md` A.1: a signature that was altered by one character is HTTP 400 on every model and account,
//! and no setting helps (measured 2026-09-26, CR and OR-9); a block whose text alone was altered is accepted (CR, on Opus 5.5
//! and Sonnet 5; a public script says that it is not).
//!
//! Requests do not show what was answered, so that a block is known only as it was sent the first time.

use std::collections::{BTreeMap, BTreeSet};

use super::ThinkingTurn;
use crate::wire::{BlockId, BlockKind, ChainId, Place, Request, Wire, json};

/// Identity of a thinking block: digest of its signature. Its text is for display only: one that was altered is accepted.
pub(super) type Key = [u8; 32];

/// Signatures that replaced others, by chain.
#[derive(Clone, Debug, Default)]
pub(super) struct Signatures {
    originals: BTreeMap<(ChainId, Key), Key>,
}

/// The identity of a thinking block; without a signature, as in tests, the whole block is its own.
pub(super) fn key(bytes: &[u8]) -> Key {
    blake3::hash(signature(bytes).unwrap_or(bytes)).into()
}

/// The signature of a block, or the data of a redacted one.
fn signature(bytes: &[u8]) -> Option<&[u8]> {
    /// An empty string.
    const EMPTY: usize = 2;
    let signed = |name: &[u8]| json::member(bytes, name).filter(|value| value.len() > EMPTY);
    signed(b"\"signature\"").or_else(|| signed(b"\"data\""))
}

impl Signatures {
    /// Compares a request with the one that it continues. Returns the first block whose text alone was altered.
    pub fn compare(&mut self, turn: &ThinkingTurn<'_>) -> Option<Place> {
        let ThinkingTurn { wire, request, .. } = *turn;
        let previous = turn.previous?;
        let equal = request.nodes.iter().zip(&previous.nodes).take_while(|(new, old)| new == old).count();
        let old: BTreeMap<Place, BlockId> = thoughts(wire, previous, equal).collect();
        if old.is_empty() {
            return None;
        }
        let (mut altered, mut replaced) = (None, Vec::new());
        for (place, new) in thoughts(wire, request, equal) {
            let Some(old) = old.get(&place).copied().filter(|old| *old != new) else { continue };
            let [was, is] = [old, new].map(|block| wire.blocks.bytes(block));
            let is_same_text = json::member(was, b"\"thinking\"") == json::member(is, b"\"thinking\"");
            match signature(was).zip(signature(is)) {
                Some((was, is)) if was == is => altered = altered.or(Some(place).filter(|_| !is_same_text)),
                Some(_) if is_same_text && is_beside_the_same(wire, [previous, request], place.item) => {
                    replaced.push([was, is].map(key));
                }
                _ => {}
            }
        }
        if !replaced.is_empty() {
            self.replace(turn, previous, &replaced);
        }
        altered
    }

    /// Signatures are where others were. If the older request has the new one too, a block was moved; and it is the
    /// original if the old one had replaced it.
    fn replace(&mut self, turn: &ThinkingTurn<'_>, previous: &Request, replaced: &[[Key; 2]]) {
        let all = thoughts(turn.wire, previous, 0);
        let known: BTreeSet<Key> = all.map(|(_, block)| key(turn.wire.blocks.bytes(block))).collect();
        for [old, new] in replaced.iter().filter(|[_, new]| !known.contains(new)) {
            let original = self.originals.get(&(turn.chain, *old)).copied().unwrap_or(*old);
            if original != *new {
                self.originals.insert((turn.chain, *new), original);
            }
        }
    }

    /// The signature that this one replaced; `None` for one that was made so.
    pub fn original(&self, mut chains: impl Iterator<Item = ChainId>, key: &Key) -> Option<Key> {
        if self.originals.is_empty() {
            return None;
        }
        chains.find_map(|chain| self.originals.get(&(chain, *key)).copied())
    }

    /// The blocks of a request with replaced signatures.
    pub fn replaced<C: Iterator<Item = ChainId>>(&self, turn: &ThinkingTurn<'_>, chains: impl Fn() -> C) -> Vec<Place> {
        if self.originals.is_empty() {
            return Vec::new();
        }
        let all = thoughts(turn.wire, turn.request, 0);
        let is_replaced = |block: BlockId| self.original(chains(), &key(turn.wire.blocks.bytes(block))).is_some();
        all.filter(|(_, block)| is_replaced(*block)).map(|(place, _)| place).collect()
    }
}

/// The thinking blocks of a request from a block on.
fn thoughts<'a>(wire: &'a Wire, request: &'a Request, from: usize) -> impl Iterator<Item = (Place, BlockId)> + 'a {
    let own = request.nodes.iter().zip(&request.places).skip(from);
    let blocks = own.filter_map(|(node, place)| Some((*place, wire.prefixes.block(*node)?)));
    blocks.filter(|(_, block)| wire.blocks.kind(*block) == BlockKind::Thinking)
}

/// Whether two requests have the same content besides thinking in a message: if not, it is another answer.
fn is_beside_the_same(wire: &Wire, requests: [&Request; 2], message: u32) -> bool {
    let [old, new] = requests.map(|request| {
        let own = request.nodes.iter().zip(&request.places).filter(|(_, place)| place.is_of_message(message));
        let blocks = own.filter_map(|(node, _)| wire.prefixes.block(*node));
        blocks.filter(|block| wire.blocks.kind(*block) != BlockKind::Thinking).collect::<Vec<BlockId>>()
    });
    !old.is_empty() && old == new
}
