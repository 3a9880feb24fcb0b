//! Requests with instants from several recordings, in order of time.
//!
//! Recordings of one scope share a cache, so their requests meet in time. What fits is kept while files are read; of the
//! others only the span of their instants, and they are read once more when their time has come. So memory is that of the
//! recordings that overlap.

use std::collections::VecDeque;

use forkcast_sim::time::Instant;

use crate::exchange::Exchange;
use crate::input::{Again, FileInput};
use crate::schedule::Extent;

/// A recording whose requests have instants.
#[derive(Debug)]
struct Recording {
    first: Instant,
    /// Decides at one instant, so that names of files do not.
    extent: Extent,
    /// In order of time; empty until it is read once more.
    exchanges: VecDeque<Exchange>,
    again: Option<Again>,
}

/// The recordings of one scope.
#[derive(Debug, Default)]
pub(super) struct Timed {
    recordings: Vec<Recording>,
}

/// How many bytes of bodies are kept over all scopes while files are read, and how many may be.
#[derive(Debug)]
pub(super) struct Kept {
    pub bytes: usize,
    pub most: usize,
}

impl Timed {
    /// Adds the requests of a file that have instants.
    pub fn add(&mut self, exchanges: Vec<Exchange>, again: Option<Again>, kept: &mut Kept) {
        let extent = Extent::of(&exchanges);
        let ordered = ordered(exchanges);
        let Some(first) = ordered.front().and_then(|exchange| exchange.sent_at) else { return };
        let bytes: usize = ordered.iter().map(|exchange| exchange.body.len()).sum();
        let fits = again.is_none() || kept.bytes.saturating_add(bytes) <= kept.most;
        let recording = match fits {
            true => Recording { first, extent, exchanges: ordered, again: None },
            false => Recording { first, extent, exchanges: VecDeque::new(), again },
        };
        kept.bytes += if fits { bytes } else { 0 };
        self.recordings.push(recording);
    }

    /// Hands every request to `take` in order of time, then of the contents of files, then of their order; until it says that it ends.
    pub fn drain(mut self, take: &mut dyn FnMut(&Exchange) -> bool) {
        while let Some(at) = self.next() {
            let Some(exchange) = self.recordings[at].exchanges.pop_front() else { continue };
            if !take(&exchange) {
                return;
            }
        }
    }

    /// The recording whose turn it is, read once more if need be.
    fn next(&mut self) -> Option<usize> {
        loop {
            let time = |recording: &Recording| match (recording.exchanges.front(), &recording.again) {
                (Some(exchange), _) => exchange.sent_at,
                (None, Some(_)) => Some(recording.first),
                (None, None) => None,
            };
            let times = self.recordings.iter().enumerate();
            let (.., at) = times.filter_map(|(at, found)| Some((time(found)?, found.extent, at))).min()?;
            let recording = &mut self.recordings[at];
            match recording.again.take() {
                Some(again) if recording.exchanges.is_empty() => {
                    let file = again.read().unwrap_or_else(empty);
                    recording.exchanges = ordered(file.exchanges);
                }
                _ => return Some(at),
            }
        }
    }
}

/// Requests with instants in order of time.
fn ordered(exchanges: Vec<Exchange>) -> VecDeque<Exchange> {
    let mut timed: Vec<Exchange> = exchanges.into_iter().filter(|exchange| exchange.sent_at.is_some()).collect();
    timed.sort_by_key(|exchange| (exchange.sent_at, exchange.origin.index));
    timed.into()
}

fn empty() -> FileInput {
    FileInput {
        file: String::new(),
        format: crate::formats::Format::Bodies,
        exchanges: Vec::new(),
        traces: Vec::new(),
        notes: Vec::new(),
    }
}
