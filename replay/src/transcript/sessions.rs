//! All sessions of an input, one at a time in memory.
//!
//! About a kilobyte per thread stays in memory: ids, files, which answers are copies. The conversations are packed, and written
//! to disk beyond [`MEMORY_BYTES_MAX`]. A few are unpacked once and stay so; many are unpacked for each pass.

use std::borrow::Cow;
use std::io;
use std::mem;
use std::sync::{Arc, OnceLock};

use super::assemble::{Found, Plan, assemble};
use super::packed::{Packed, answers};
use super::spill::Spill;
use super::{Session, Thread};
use crate::formats::Format;

/// The default for packed conversations in memory; the rest is on disk.
pub const MEMORY_BYTES_MAX: usize = 2 << 20;

/// All conversations stay unpacked if they have no more items together: about 6 MB.
const KEPT_ITEMS_MAX: u64 = 16 << 10;

/// The threads of one file.
#[derive(Debug)]
pub struct FileThreads {
    /// Index of the named path among the scopes.
    pub scope: usize,
    /// The file.
    pub file: Arc<str>,
    /// Its format.
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
    /// Unpacked sessions, in step with `joined`; empty if they are too many.
    kept: Arc<Vec<OnceLock<Session>>>,
    whole: OnceLock<Vec<Session>>,
}

/// A session of the input.
#[derive(Debug)]
enum Joined {
    /// A packed one.
    Away(Plan),
    /// One that was added as it is.
    Here(Box<Session>),
}

impl Default for Sessions {
    fn default() -> Self {
        Self::within(MEMORY_BYTES_MAX)
    }
}

impl FromIterator<Session> for Sessions {
    /// Sessions that stay in memory as they are.
    fn from_iter<I: IntoIterator<Item = Session>>(sessions: I) -> Self {
        let joined = sessions.into_iter().map(|session| Joined::Here(Box::new(session))).collect();
        Self { joined: Arc::new(joined), ..Self::default() }
    }
}

impl Sessions {
    /// None yet. `memory_bytes_max` limits the packed conversations in memory.
    pub fn within(memory_bytes_max: usize) -> Self {
        Self::stored_in(Arc::new(Spill::new(memory_bytes_max)))
    }

    fn stored_in(spill: Arc<Spill>) -> Self {
        Self { spill, waiting: Vec::new(), joined: Arc::default(), kept: Arc::default(), whole: OnceLock::new() }
    }

    /// The sessions of these files.
    pub fn of(files: impl IntoIterator<Item = FileThreads>) -> Self {
        let mut sessions = Self::default();
        files.into_iter().for_each(|file| sessions.add(file));
        sessions.join();
        sessions
    }

    /// None yet; they will be stored with these.
    pub(crate) fn beside(&self) -> Self {
        Self::stored_in(self.spill.clone())
    }

    /// Packs the threads of a file.
    pub(crate) fn add(&mut self, file: FileThreads) {
        let FileThreads { scope, file, format, threads } = file;
        let alone = threads.len() == 1;
        for thread in threads {
            let thread = Packed::new(thread, &self.spill);
            self.waiting.push(Found { scope, file: file.clone(), format, alone, thread, copied: Vec::new() });
        }
    }

    /// Adds the files of another, made by [`Self::beside`], to the scope `scope`.
    pub(crate) fn absorb(&mut self, other: Self, scope: usize) {
        self.waiting.extend(other.waiting.into_iter().map(|found| Found { scope, ..found }));
    }

    /// Joins all files into sessions.
    pub(crate) fn join(&mut self) {
        let plans = assemble(mem::take(&mut self.waiting), &self.spill);
        self.joined = Arc::new(plans.into_iter().map(Joined::Away).collect());
        if self.spill.is_in_memory() && self.items().iter().sum::<u64>() <= KEPT_ITEMS_MAX {
            self.kept = Arc::new(self.joined.iter().map(|_| OnceLock::new()).collect());
        }
    }

    /// The number of sessions.
    pub fn len(&self) -> usize {
        self.joined.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.joined.is_empty()
    }

    /// Loads one; `None` if there is none at that index. It is an error if the temporary file cannot be read.
    pub fn load(&self, at: usize) -> Option<io::Result<Session>> {
        Some(match self.joined.get(at)? {
            Joined::Away(plan) => plan.session(&self.spill),
            Joined::Here(session) => Ok(session.as_ref().clone()),
        })
    }

    /// The same for several passes: unpacked once if all fit into memory.
    pub(crate) fn lend(&self, at: usize) -> Option<io::Result<Cow<'_, Session>>> {
        let unpacked = match self.joined.get(at)? {
            Joined::Here(session) => return Some(Ok(Cow::Borrowed(session))),
            Joined::Away(plan) => || plan.session(&self.spill),
        };
        let Some(kept) = self.kept.get(at) else { return Some(unpacked().map(Cow::Owned)) };
        Some(match kept.get() {
            Some(session) => Ok(Cow::Borrowed(session)),
            None => unpacked().map(|session| Cow::Borrowed(kept.get_or_init(|| session))),
        })
    }

    /// The file of one.
    pub fn source(&self, at: usize) -> &str {
        match self.joined.get(at) {
            Some(Joined::Away(plan)) => &plan.session.source,
            Some(Joined::Here(session)) => &session.source,
            None => "",
        }
    }

    /// The number of requests below a named path, copies included.
    pub fn requests_of(&self, scope: usize) -> usize {
        let own = self.joined.iter().filter(|joined| match joined {
            Joined::Away(plan) => plan.session.scope == scope,
            Joined::Here(session) => session.scope == scope,
        });
        let requests = own.map(|joined| match joined {
            Joined::Away(plan) => plan.threads.iter().map(|found| found.thread.requests).sum::<usize>(),
            Joined::Here(session) => session.agents.iter().map(|agent| answers(&agent.thread.items).count()).sum(),
        });
        requests.sum()
    }

    /// The number of items of each, a measure of its work.
    pub(crate) fn items(&self) -> Vec<u64> {
        let items = self.joined.iter().map(|joined| match joined {
            Joined::Away(plan) => plan.threads.iter().map(|found| found.thread.items).sum::<usize>(),
            Joined::Here(session) => session.agents.iter().map(|agent| agent.thread.items.len()).sum(),
        });
        items.map(|items| items as u64).collect()
    }

    /// All of them, which then stay in memory: for small inputs and for tests. Unreadable ones are left out.
    pub fn all(&self) -> &[Session] {
        self.whole.get_or_init(|| (0..self.len()).filter_map(|at| self.load(at)?.ok()).collect())
    }
}
