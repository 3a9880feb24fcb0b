//! A packed thread: the data needed to join files into sessions, and the place of the rest.

use std::io;
use std::sync::Arc;

use forkcast_sim::time::Instant;
use forkcast_sim::wire::number;
use xxhash_rust::xxh3::xxh3_128;

use super::spill::{Spill, Spot};
use super::{Answer, Item, Thread};

/// A thread without its items.
#[derive(Clone, Debug)]
pub(super) struct Packed {
    pub session: Option<Arc<str>>,
    pub agent: Option<Arc<str>>,
    pub user: Option<Arc<str>>,
    pub project: Option<Arc<str>>,
    /// The first instant that an item has.
    pub first_at: Option<Instant>,
    /// The latest instant that an item has.
    pub last_at: Option<Instant>,
    /// The number of items.
    pub items: usize,
    /// The number of requests among them.
    pub requests: usize,
    /// Hash of all items: equal for copies, whatever the names of their files.
    pub digest: u128,
    /// Its answers, until all files are joined.
    pub answers: Vec<Mark>,
    spot: Spot,
}

/// The identity of an answer and the rank of its copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub id: u128,
    pub output_tokens: u64,
    /// Index among the thread's items.
    pub item: u32,
}

impl Mark {
    fn of(at: usize, answer: &Answer) -> Self {
        Self { id: answer.id, output_tokens: output_tokens(answer), item: number(at) }
    }
}

/// The recorded output of an answer.
pub(super) fn output_tokens(answer: &Answer) -> u64 {
    answer.usage.map_or(0, |recorded| recorded.usage.output_tokens)
}

/// The answers among `items`, each with its index.
pub(super) fn answers(items: &[Item]) -> impl Iterator<Item = (usize, &Answer)> {
    items.iter().enumerate().filter_map(|(at, item)| Some((at, item.answer()?)))
}

impl Packed {
    /// Packs a thread.
    pub fn new(thread: Thread, spill: &Spill) -> Self {
        let Thread { session, agent, user, project, items } = thread;
        let marks: Vec<Mark> = answers(&items).map(|(at, answer)| Mark::of(at, answer)).collect();
        let bytes = packed(&items);
        Self {
            session,
            agent,
            user,
            project,
            first_at: items.iter().find_map(|item| item.at),
            last_at: items.iter().filter_map(|item| item.at).max(),
            items: items.len(),
            requests: marks.len(),
            answers: marks,
            digest: xxh3_128(&bytes),
            spot: spill.put(bytes),
        }
    }

    /// Unpacks the thread; the packed one is kept.
    pub fn unpacked(&self, spill: &Spill) -> io::Result<Thread> {
        let items = spill.read(self.spot, |bytes| postcard::from_bytes(bytes))?;
        let items = items.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        Ok(Thread {
            session: self.session.clone(),
            agent: self.agent.clone(),
            user: self.user.clone(),
            project: self.project.clone(),
            items,
        })
    }
}

/// Packing fails only for types of unknown length, and items have none of these.
fn packed(items: &[Item]) -> Vec<u8> {
    let packed = postcard::to_allocvec(items);
    debug_assert!(packed.is_ok(), "an item that cannot be packed");
    packed.unwrap_or_default()
}
