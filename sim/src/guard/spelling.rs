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
        let body = sent.body;
        let before = self.bodies.remove(&chain).map(|(_, before)| before);
        self.total_bytes -= before.as_ref().map_or(0, Vec::len);
        let found = before.and_then(|before| wire.spelling_notes(&before, body).ok()).unwrap_or_default();
        self.keep(chain, number, body);
        let kept = found.into_iter().filter(|found| found.kind != SpellingKind::MarkerMoved);
        let path = |path: String| sent.addresses.map(|addresses| addresses.translate(&path)).unwrap_or(path);
        kept.map(|found| (NoteKind::Harmless(Note::from(found.kind)), path(found.path))).collect()
    }

    fn keep(&mut self, chain: ChainId, number: usize, body: &[u8]) {
        self.bodies.insert(chain, (number, body.to_vec()));
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
