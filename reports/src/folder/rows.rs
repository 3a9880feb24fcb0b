//! The parts of a result with something for each request: ledger, table, bodies, picture. They are written while the requests
//! pass for the report, which is complete only after the last one. Table and picture depend on a few facts about all requests;
//! these are expected, and what was written is made again if they turn out otherwise.

use std::io;

use forkcast_replay::side_by_side::side_by_side;

use super::staging::{Lines, Staging};
use super::{Folder, FolderError, LEDGER, REQUESTS};
use crate::figures::timeline::{Bars, Timeline};
use crate::format::ledger;
use crate::format::requests::{self, Columns};
use crate::report::{Counted, Recorded, Report, Senders};

/// Usage is recorded, and something is predicted.
const EXPECTED: Columns = Columns { counted: Counted::Recorded, are_predicted: true };

/// Requests whose lines are in memory until they are written, a megabyte or two.
const AT_ONCE: usize = 512;

/// For fewer requests, a thread takes longer to begin than it saves.
const FEW: usize = 16;

/// See the module.
#[derive(Debug)]
pub struct Rows {
    ledger: Lines,
    table: Lines,
    bars: Bars,
    /// The number of bodies, if they were asked for.
    pub(super) bodies: Option<usize>,
    done: Result<(), FolderError>,
}

impl Folder {
    /// Begins the parts of a replay with something for each request. With `bodies` also the body of every request that was
    /// recorded as sent: its bytes, or their translation if the client spelled them for another platform. The folder then no
    /// longer needs the recordings.
    ///
    /// # Errors
    /// When a file cannot be created.
    pub fn rows(&mut self, bodies: bool) -> Result<Rows, FolderError> {
        let ledger = self.staging.create(LEDGER)?;
        let table = begun(&mut self.staging)?;
        Ok(Rows { ledger, table, bars: Bars::default(), bodies: bodies.then_some(0), done: Ok(()) })
    }

    /// Writes what requests have in these parts. An error is returned at the end.
    pub fn take(&mut self, rows: &mut Rows, senders: &Senders<'_>, entries: &[Recorded<'_>]) {
        for entries in entries.chunks(AT_ONCE) {
            if rows.done.is_ok() {
                rows.done = rows.write(&mut self.staging, senders, entries);
            }
        }
    }
}

fn begun(staging: &mut Staging) -> Result<Lines, FolderError> {
    let mut table = staging.create(REQUESTS)?;
    table.write(|target| requests::begin(target))?;
    Ok(table)
}

impl Rows {
    /// Writes requests; the table is made beside the ledger.
    fn write(
        &mut self,
        staging: &mut Staging,
        senders: &Senders<'_>,
        entries: &[Recorded<'_>],
    ) -> Result<(), FolderError> {
        let lines = |write: &dyn Fn(&Recorded<'_>, &mut Vec<u8>) -> io::Result<()>| -> io::Result<Vec<u8>> {
            let mut lines = Vec::new();
            entries.iter().try_for_each(|entry| write(entry, &mut lines))?;
            Ok(lines)
        };
        let work = |part: usize| match part {
            0 => lines(&|entry, target| ledger::write_within(senders, EXPECTED.counted, entry, target)),
            _ => lines(&|entry, target| requests::write_within(senders, EXPECTED, entry, target)),
        };
        let (mut files, mut done) = ([&mut self.ledger, &mut self.table].into_iter(), Ok(()));
        let mut take = |lines: io::Result<Vec<u8>>| {
            if let Some(file) = files.next().filter(|_| done.is_ok()) {
                done = file.write(|target| target.write_all(&lines?));
            }
        };
        match entries.len() {
            0..FEW => [0, 1].map(work).into_iter().for_each(take),
            _ => side_by_side(&[0, 1], &work, &mut take),
        }
        done?;
        for entry in entries {
            if EXPECTED.counted.counts(entry) {
                self.bars.take(entry);
            }
            if let (Some(bodies), Some(exchange)) = (&mut self.bodies, entry.exchange) {
                *bodies += 1;
                staging.body(entry.line.index, &exchange.body)?;
            }
        }
        Ok(())
    }

    /// Ends the files; returns the picture.
    pub(super) fn finish(self, report: &Report<'_>, staging: &mut Staging) -> Result<Timeline, FolderError> {
        let Self { mut ledger, mut table, bars, done, .. } = self;
        done?;
        let columns = Columns::of(report);
        if let Some(timeline) = bars.timeline(report).filter(|_| columns == EXPECTED) {
            ledger.end()?;
            table.end()?;
            return Ok(timeline);
        }
        staging.remove(REQUESTS)?;
        table = begun(staging)?;
        let is_ledger_right = columns.counted == EXPECTED.counted;
        if !is_ledger_right {
            staging.remove(LEDGER)?;
            ledger = staging.create(LEDGER)?;
        }
        let (mut timeline, mut done) = (Timeline::of(report), Ok(()));
        report.each(&mut |entry| {
            timeline.add(report, entry);
            if done.is_ok() {
                done = table.write(|target| requests::write(report, entry, target));
            }
            if done.is_ok() && !is_ledger_right {
                done = ledger.write(|target| ledger::write(report, entry, target));
            }
        });
        done?;
        ledger.end()?;
        table.end()?;
        Ok(timeline)
    }
}
