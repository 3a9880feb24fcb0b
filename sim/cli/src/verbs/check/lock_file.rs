//! The lock on disk.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use forkcast_replay::output::file::{self, Kind, begins};
use forkcast_reports::check;
use forkcast_sim::guard::lock::{BadLock, Lock};

use crate::args::WantedLock;
use crate::exit::BadInput;

/// Why no lock is written.
pub const UNREADABLE: &str = "no lock was written: the unreadable input would be missing in it";

/// The previous lock, and its description.
pub struct LockFile<'a> {
    /// Its file; `None` without a lock.
    pub file: Option<&'a Path>,
    /// The lock, if there is one.
    pub lock: Option<Lock>,
}

impl<'a> LockFile<'a> {
    /// Reads the requested lock. For an update it may be broken or missing.
    pub fn read(wanted: WantedLock<'a>, update: bool) -> anyhow::Result<Self> {
        let (file, named) = match wanted {
            WantedLock::None => return Ok(Self { file: None, lock: None }),
            WantedLock::Named(file) => (file, true),
            WantedLock::Usual(file) => (file, false),
        };
        let lock = match fs::read_to_string(file) {
            Ok(text) => match Lock::parse(&text) {
                Ok(lock) => Some(lock),
                Err(_) if update => None,
                Err(bad) => return Err(complaint(file, &bad)),
            },
            Err(error) if error.kind() == ErrorKind::NotFound && (update || !named) => None,
            Err(error) => return Err(BadInput::error(format_args!("--lock {}: {error}", file.display()))),
        };
        Ok(Self { file: Some(file), lock })
    }

    /// Whether the lock holds text of prompts.
    pub fn shows_content(&self) -> bool {
        let Some(lock) = &self.lock else { return false };
        let first = lock.chains.first().and_then(|chain| chain.requests.first());
        first.is_some_and(|request| lock.prompt(request).iter().any(|placed| placed.block.content.is_some()))
    }

    /// Its description.
    pub fn told(&self, lock: Option<&Lock>) -> check::Lock {
        match (self.file, lock) {
            (None, _) => check::Lock::Unwanted,
            (Some(_), None) => check::Lock::Absent,
            (Some(file), Some(lock)) => check::Lock::Held {
                file: file.display().to_string(),
                chains: lock.chains.len(),
                requests: lock.requests(),
            },
        }
    }
}

/// A lock file, with or without its leading comment.
const LOCK: Kind = Kind {
    name: "lock",
    is_ours: |head| {
        begins(head, "# Prompt prefixes that were sent, as digests.") || begins(head, "version = 1 preset = ")
    },
};

/// Refuses early if the file exists and is no lock.
pub fn check(path: &Path) -> anyhow::Result<()> {
    file::check(path, LOCK).map_err(BadInput::error)
}

/// Writes a lock atomically.
pub fn write(lock: &Lock, path: &Path) -> anyhow::Result<()> {
    file::write(path, LOCK, lock.text().as_bytes()).map_err(BadInput::error)
}

fn complaint(file: &Path, bad: &BadLock) -> anyhow::Error {
    let file = file.display();
    match bad {
        BadLock::At { line, found, expected } => {
            BadInput::error(format_args!("{file}:{line}: found {found}, expected {expected}"))
        }
        bad => BadInput::error(format_args!("{file}: {bad}")),
    }
}
