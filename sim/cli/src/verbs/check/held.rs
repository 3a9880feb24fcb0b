//! The lock on disk.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use forkcast_reports::check;
use forkcast_sim::guard::lock::{BadLock, Lock};

use crate::args::WantedLock;
use crate::exit::BadInput;

/// The lock that was there, and what is said of it.
pub struct Held<'a> {
    /// Its file; `None` where none is wanted.
    pub file: Option<&'a Path>,
    /// The lock, where there is one.
    pub lock: Option<Lock>,
}

impl<'a> Held<'a> {
    /// Reads the lock that is meant. For an update it may be broken or missing.
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

    /// What is said of it.
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

/// Writes a lock, whole or not at all: beside its place first, whatever ends the program meanwhile.
pub fn write(lock: &Lock, file: &Path) -> anyhow::Result<()> {
    // Through a link, and into what is no file, such as `/dev/stdout`.
    let file = &fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let written = match fs::metadata(file) {
        Ok(there) if !there.is_file() => fs::write(file, lock.text()),
        _ => replace(file, &lock.text()),
    };
    written.map_err(|error| BadInput::error(format_args!("{}: {error}", file.display())))
}

fn replace(file: &Path, text: &str) -> io::Result<()> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let beside = file.with_file_name(format!(".{name}.{}", std::process::id()));
    let moved = fs::write(&beside, text).and_then(|()| fs::rename(&beside, file));
    if moved.is_err() {
        drop(fs::remove_file(&beside));
    }
    moved
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
