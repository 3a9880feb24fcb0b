//! Test that an agent keeps the prefix of its prompts, byte for byte, with locks that are reviewed like snapshots.
//!
//! ```no_run
//! # let requests: Vec<Vec<u8>> = Vec::new();
//! forkcast_test::assert_prefix(&requests);
//! forkcast_test::assert_locked("tests/agent.lock", &requests); // FORKCAST_UPDATE=1 writes it
//! ```
//!
//! The program `forkcast` decides (`FORKCAST_BIN`, or the one on `PATH`); this crate gives it the bodies and shows its
//! report. Without locks, `forkcast_sim::guard` does the same in the process of the test, without a program.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// How requests are checked.
#[derive(Clone, Debug)]
pub struct Prefix {
    program: PathBuf,
    lock: Option<PathBuf>,
    update: bool,
    options: Vec<String>,
}

impl Default for Prefix {
    fn default() -> Self {
        Self {
            program: env::var_os("FORKCAST_BIN").map_or_else(|| PathBuf::from("forkcast"), PathBuf::from),
            lock: None,
            update: env::var_os("FORKCAST_UPDATE").is_some_and(|update| update == "1"),
            options: Vec::new(),
        }
    }
}

impl Prefix {
    /// With this program.
    #[must_use]
    pub fn program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = program.into();
        self
    }

    /// The requests must also be those of this lock.
    #[must_use]
    pub fn lock(mut self, lock: impl Into<PathBuf>) -> Self {
        self.lock = Some(lock.into());
        self
    }

    /// Whether the lock is written.
    #[must_use]
    pub const fn update(mut self, update: bool) -> Self {
        self.update = update;
        self
    }

    /// A further option of `forkcast check`.
    #[must_use]
    pub fn option(mut self, option: impl Into<String>) -> Self {
        self.options.push(option.into());
        self
    }

    /// Checks the requests, which are bodies in the order in which they were sent.
    ///
    /// # Errors
    /// The program's report if a rule is broken, or the reason why the requests could not be checked.
    pub fn check<B: AsRef<[u8]>>(&self, requests: &[B]) -> Result<(), String> {
        if let Some(lock) = self.lock.as_ref().filter(|lock| !self.update && !lock.exists()) {
            return Err(format!("no lock {} yet: FORKCAST_UPDATE=1 writes it", lock.display()));
        }
        let output = self.run(requests).map_err(|error| format!("not checked: {}: {error}", self.program.display()))?;
        match output.status.code() {
            Some(0) => Ok(()),
            Some(1) => Err(String::from_utf8_lossy(&output.stdout).into_owned()),
            _ => Err(format!("not checked: {}", String::from_utf8_lossy(&output.stderr).trim())),
        }
    }

    fn run<B: AsRef<[u8]>>(&self, requests: &[B]) -> io::Result<std::process::Output> {
        let folder = tempfile::tempdir()?;
        let bodies = folder.path().join("requests");
        fs::create_dir(&bodies)?;
        for (number, body) in requests.iter().enumerate() {
            fs::write(bodies.join(format!("{number:05}.json")), body)?;
        }
        let mut command = Command::new(&self.program);
        command.arg("check").arg(&bodies).arg("--in-tests").arg("--lock");
        match &self.lock {
            None => command.arg("none"),
            Some(lock) => {
                fs::create_dir_all(lock.parent().unwrap_or_else(|| Path::new("")))?;
                command.arg(lock).arg(if self.update { "--update" } else { "--locked" })
            }
        };
        command.args(&self.options).output()
    }
}

/// Asserts that no request breaks the cached prefix of an earlier one.
///
/// # Panics
/// With the program's report if one does, and if the requests could not be checked.
#[track_caller]
pub fn assert_prefix<B: AsRef<[u8]>>(requests: &[B]) {
    hold(&Prefix::default(), requests);
}

/// Asserts that no request breaks the cached prefix of an earlier one, and that all are those of the lock.
/// `FORKCAST_UPDATE=1` writes the lock.
///
/// # Panics
/// With the program's report if a rule is broken, and if the requests could not be checked.
#[track_caller]
pub fn assert_locked<B: AsRef<[u8]>>(lock: impl Into<PathBuf>, requests: &[B]) {
    hold(&Prefix::default().lock(lock), requests);
}

#[track_caller]
#[allow(clippy::panic)] // A failed assertion must panic.
fn hold<B: AsRef<[u8]>>(prefix: &Prefix, requests: &[B]) {
    if let Err(report) = prefix.check(requests) {
        panic!("{report}");
    }
}
