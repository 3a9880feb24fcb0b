//! All sessions of an input, of which one at a time is in memory.
//!
//! What stays is what tells sessions and threads apart (ids, files, which answers are copies): about a kilobyte for each
//! thread. What was said stays packed, and beyond [`MEMORY_BYTES_MAX`] on disk.

use std::io;
use std::mem;
use std::sync::{Arc, OnceLock};

use super::assemble::{Found, Plan, assemble};
use super::packed::Packed;
use super::spill::Spill;
use super::{Session, Thread};
use crate::formats::Format;

/// How much packed conversation stays in memory where nobody says otherwise: that of about half a gigabyte of transcripts.
pub const MEMORY_BYTES_MAX: usize = 8 << 20;

/// The threads of one file.
#[derive(Debug)]
pub struct FileThreads {
    /// Index of the named path among the scopes.
    pub scope: usize,
    /// The file.
    pub file: Arc<str>,
    /// How it was read.
    pub format: Format,
    /// Its threads.
    pub threads: Vec<Thread>,
}

/// See the module. Files are added, then joined; after that there are sessions.
#[derive(Clone, Debug)]
pub struct Sessions {
    spill: Arc<Spill>,
    waiting: Vec<Found>,
    joined: Arc<Vec<Joined>>,
    whole: OnceLock<Vec<Session>>,
}

/// A session of the input.
#[derive(Debug)]
enum Joined {
    /// Put away.
    Away(Plan),
    /// Made by hand.
    Here(Box<Session>),
}

impl Default for Sessions {
    fn default() -> Self {
        Self::within(MEMORY_BYTES_MAX)
    }
}

impl FromIterator<Session> for Sessions {
    /// Sessions made by hand, which stay in memory.
    fn from_iter<I: IntoIterator<Item = Session>>(sessions: I) -> Self {
        let joined = sessions.into_iter().map(|session| Joined::Here(Box::new(session))).collect();
        Self { joined: Arc::new(joined), ..Self::default() }
    }
}

impl Sessions {
    /// None yet. `memory_bytes_max` is how much packed conversation stays in memory.
    pub fn within(memory_bytes_max: usize) -> Self {
        let spill = Arc::new(Spill::new(memory_bytes_max));
        Self { spill, waiting: Vec::new(), joined: Arc::default(), whole: OnceLock::new() }
    }

    /// The sessions of these files.
    pub fn of(files: impl IntoIterator<Item = FileThreads>) -> Self {
        let mut sessions = Self::default();
        files.into_iter().for_each(|file| sessions.add(file));
        sessions.join();
        sessions
    }

    /// None yet; what is added goes where these go.
    pub(crate) fn beside(&self) -> Self {
        Self { spill: self.spill.clone(), waiting: Vec::new(), joined: Arc::default(), whole: OnceLock::new() }
    }

    /// Puts the threads of a file away.
    pub(crate) fn add(&mut self, file: FileThreads) {
        let FileThreads { scope, file, format, threads } = file;
        let alone = threads.len() == 1;
        for thread in threads {
            let thread = Packed::new(thread, &self.spill);
            self.waiting.push(Found { scope, file: file.clone(), format, alone, thread, copied: Vec::new() });
        }
    }

    /// Takes over the files of another, which stood beside these, as those of scope `scope`.
    pub(crate) fn absorb(&mut self, other: Self, scope: usize) {
        self.waiting.extend(other.waiting.into_iter().map(|found| Found { scope, ..found }));
    }

    /// Joins all files into sessions.
    pub(crate) fn join(&mut self) {
        let plans = assemble(mem::take(&mut self.waiting), &self.spill);
        self.joined = Arc::new(plans.into_iter().map(Joined::Away).collect());
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.joined.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.joined.is_empty()
    }

    /// Takes one into memory; `None` where there is none at that index.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub fn load(&self, at: usize) -> Option<io::Result<Session>> {
        Some(match self.joined.get(at)? {
            Joined::Away(plan) => plan.session(&self.spill),
            Joined::Here(session) => Ok(session.as_ref().clone()),
        })
    }

    /// The file that names one.
    pub fn source(&self, at: usize) -> &str {
        match self.joined.get(at) {
            Some(Joined::Away(plan)) => &plan.source,
            Some(Joined::Here(session)) => &session.source,
            None => "",
        }
    }

    /// How many requests those of a named path hold, copies included.
    pub fn requests_of(&self, scope: usize) -> usize {
        self.joined
            .iter()
            .filter(|joined| joined.scope() == scope)
            .map(|joined| joined.sum(|thread| thread.requests))
            .sum()
    }

    /// How much work each is: the number of its items.
    pub(crate) fn items(&self) -> Vec<u64> {
        self.joined.iter().map(|joined| joined.sum(|thread| thread.items) as u64).collect()
    }

    /// All of them at once, in memory from then on: for inputs known to be small, and for tests. What cannot be read back
    /// is left out.
    pub fn all(&self) -> &[Session] {
        self.whole.get_or_init(|| (0..self.len()).filter_map(|at| self.load(at)?.ok()).collect())
    }
}

impl Joined {
    fn scope(&self) -> usize {
        match self {
            Self::Away(plan) => plan.scope,
            Self::Here(session) => session.scope,
        }
    }

    fn sum(&self, of: fn(&Counts) -> usize) -> usize {
        match self {
            Self::Away(plan) => plan.threads.iter().map(|found| of(&Counts::of(&found.thread))).sum(),
            Self::Here(session) => session.agents.iter().map(|agent| of(&Counts::of_items(&agent.thread.items))).sum(),
        }
    }
}

/// How much a thread holds.
struct Counts {
    items: usize,
    requests: usize,
}

impl Counts {
    const fn of(thread: &Packed) -> Self {
        Self { items: thread.items, requests: thread.requests }
    }

    fn of_items(items: &[super::Item]) -> Self {
        Self { items: items.len(), requests: super::packed::answers(items).count() }
    }
}
