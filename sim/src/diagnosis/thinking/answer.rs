//! Which message of a request is the answer to the request before it.

use crate::diagnosis::CommonEnds;
use crate::wire::{BlockId, Level, Place, Request, Wire};

/// Whether the next message after those of `previous` is its answer. It is not if `request` has another last message in
/// their place: then `previous` was an aside of the client, or its turn was taken back. An aside that keeps a block of that
/// message looks like an edit of it, here and to the judge of the cache.
pub(super) fn is_answered(wire: &Wire, previous: &Request, request: &Request) -> bool {
    let Some(last) = previous.places.last().filter(|place| place.level == Level::Messages) else { return false };
    // From the end, so that a turn costs nothing for the messages before it.
    let of = |request: &Request| {
        let nodes = request.nodes.iter().zip(&request.places).rev();
        let later = |place: &Place| place.level == Level::Messages && place.item > last.item;
        let is_there = |place: &Place| place.level == Level::Messages && place.item == last.item;
        let own = nodes.skip_while(|(_, place)| later(place)).take_while(|(_, place)| is_there(place));
        let own = own.filter(|(_, place)| !place.keys);
        own.filter_map(|(node, _)| wire.prefixes.block(*node)).collect::<Vec<BlockId>>()
    };
    match (of(previous).as_slice(), of(request).as_slice()) {
        ([old], [new]) => is_edited(wire.blocks.bytes(*old), wire.blocks.bytes(*new)),
        (old, new) => old.iter().any(|block| new.contains(block)),
    }
}

/// Whether a text is more likely an edit of the other than another text: half of it is equal at its ends.
fn is_edited(old: &[u8], new: &[u8]) -> bool {
    /// Keys and quotes around the text of a block.
    const SCAFFOLDING: usize = 25;
    let equal = CommonEnds::of(old, new).len().saturating_sub(SCAFFOLDING);
    equal * 2 >= old.len().max(new.len()).saturating_sub(SCAFFOLDING)
}
