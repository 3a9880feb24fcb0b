//! A simulated run on disk, under the names of a replay's.

use std::io::{self, Write};

use forkcast_replay::formats::exchange_log::{RawAnswer, write_line};
use forkcast_scenarios::capture::Recorder;
use forkcast_scenarios::run::Run;

use super::{Contents, EXCHANGES, Folder, FolderError, LEDGER, REQUESTS, RUN, Written, named};
use crate::figures::{lanes, ribbon};
use crate::format::ledger::simulated;
use crate::format::{requests, run};

impl Folder {
    /// Writes a run; an older result is replaced. `failures` are the expectations that failed. With `bodies` also writes the body
    /// of every request, and all calls with their answers as a recording.
    ///
    /// # Errors
    /// When a file cannot be written; the folder is then unchanged.
    pub fn write_run(mut self, found: &Run, failures: &[String], bodies: bool) -> Result<Written, FolderError> {
        self.file(RUN, |target| run::write(found, failures, target))?;
        self.file(LEDGER, |target| simulated::write(found, bodies, target))?;
        self.file(REQUESTS, |target| requests::write_run(found, target))?;
        self.picture(["timeline.svg", "timeline.png"], &lanes::svg(found))?;
        self.picture(["ribbon.svg", "ribbon.png"], &ribbon::svg(found))?;
        for request in found.requests.iter().filter(|_| bodies) {
            self.staging.body(request.line.index, &request.draft().body())?;
        }
        let mut files = named(Contents::Run);
        if bodies {
            self.file(EXCHANGES, |target| exchanges(found, target))?;
            files.push(EXCHANGES.to_owned());
        }
        self.place()?;
        Ok(Written { files, bodies: bodies.then_some(found.requests.len()) })
    }
}

/// The run as a recording.
fn exchanges(run: &Run, target: &mut dyn Write) -> io::Result<()> {
    for exchange in Recorder::new(run).calls() {
        write_line(target, &exchange, RawAnswer::kept(&exchange)).map_err(io::Error::other)?;
    }
    Ok(())
}
