//! The last bodies of chains, to recognise harmless spellings.

use std::collections::BTreeMap;

use super::finding::NoteKind;
use super::sent::Sent;
use crate::diagnosis::Note;
use crate::wire::spelling::SpellingKind;
use crate::wire::{ChainId, Wire};

/// Most bytes of bodies that are kept. Beyond that, the chain that was silent longest is dropped: its next request
/// lacks notes on spelling, and nothing else.
const KEPT_BYTES_MAX: usize = 8 << 20;

/// The last bodies of chains.
#[derive(Clone, Debug, Default)]
pub(super) struct SpellingMemory {
    bodies: BTreeMap<ChainId, (usize, Vec<u8>)>,
    total_bytes: usize,
}

impl SpellingMemory {
    /// Keeps the body of request `number`; returns the differences in spelling from the previous one in its chain.
    /// Breakpoints that move on with the conversation do their job, and are not reported.
    pub fn next(&mut self, chain: ChainId, number: usize, sent: &Sent<'_>, wire: &Wire) -> Vec<(NoteKind, String)> {
        let (found, before) = match self.bodies.remove(&chain) {
            Some((_, before)) => (wire.spelling_notes(&before, sent.body).unwrap_or_default(), before),
            None => (Vec::new(), Vec::new()),
        };
        self.total_bytes -= before.len();
        self.keep(chain, number, sent.body, before);
        let kept = found.into_iter().filter(|found| found.kind != SpellingKind::MarkerMoved);
        let path = |path: String| sent.addresses.map(|addresses| addresses.translate(&path)).unwrap_or(path);
        kept.map(|found| (NoteKind::Harmless(Note::from(found.kind)), path(found.path))).collect()
    }

    /// Keeps `body` in the memory of the one before it.
    fn keep(&mut self, chain: ChainId, number: usize, body: &[u8], mut kept: Vec<u8>) {
        kept.clear();
        kept.extend_from_slice(body);
        self.bodies.insert(chain, (number, kept));
        self.total_bytes += body.len();
        while self.total_bytes > KEPT_BYTES_MAX {
            let Some(oldest) = self.bodies.iter().min_by_key(|(_, (number, _))| *number).map(|(chain, _)| *chain)
            else {
                return;
            };
            self.total_bytes -= self.bodies.remove(&oldest).map_or(0, |(_, body)| body.len());
        }
    }
}
