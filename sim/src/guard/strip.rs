//! A request as a strip of its blocks, in which the changed one stands out.

use crate::diagnosis::Subject;
use crate::wire::{Level, Wire};

/// Neighbouring blocks of one level are joined up to this part of a prompt, so that a strip has a few hundred parts at most.
const FINEST: u64 = 100;

/// Blocks that are neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Their level.
    pub level: Level,
    /// How many there are.
    pub blocks: u64,
    /// Their tokens.
    pub tokens: u64,
    /// It is the changed block; if that was removed, the one at its place.
    pub is_changed: bool,
}

/// The blocks of a request, of which one changed.
pub(super) fn strip(wire: &Wire, request: &Subject, changed: usize) -> Vec<Stretch> {
    let most = request.cumulative.last().map_or(0, |all| all / FINEST);
    let mut strip: Vec<Stretch> = Vec::new();
    for (at, node) in request.request.nodes.iter().enumerate() {
        let Some(block) = wire.prefixes.block(*node) else { continue };
        let level = wire.blocks.level(block);
        let (tokens, is_changed) = (request.tokens(at), at == changed);
        match strip.last_mut() {
            Some(last) if last.level == level && !is_changed && !last.is_changed && last.tokens + tokens <= most => {
                last.blocks += 1;
                last.tokens += tokens;
            }
            _ => strip.push(Stretch { level, blocks: 1, tokens, is_changed }),
        }
    }
    strip
}
