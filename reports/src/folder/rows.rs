//! The parts of a result with something for each request: ledger, table, bodies, picture. They are written while the requests
//! pass for the report, which is complete only after the last one. Table and picture depend on a few facts about all requests;
//! these are expected, and what was written is made again if they turn out otherwise.

use super::staging::{Lines, Staging};
use super::{Folder, FolderError, LEDGER, REQUESTS};
use crate::figures::timeline::{Bars, Timeline};
use crate::format::ledger;
use crate::format::requests::{self, Columns};
use crate::report::{Counted, Recorded, Report, Senders};

/// Usage is recorded, and something is predicted.
const EXPECTED: Columns = Columns { counted: Counted::Recorded, are_predicted: true };

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
        for entry in entries {
            if rows.done.is_ok() {
                rows.done = rows.write(&mut self.staging, senders, entry);
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
    fn write(&mut self, staging: &mut Staging, senders: &Senders<'_>, entry: &Recorded<'_>) -> Result<(), FolderError> {
        self.ledger.write(|target| ledger::write(*senders, entry, target))?;
        self.table.write(|target| requests::write_within(senders, EXPECTED, entry, target))?;
        if EXPECTED.counted.counts(entry) {
            self.bars.take(entry);
        }
        if let (Some(bodies), Some(exchange)) = (&mut self.bodies, entry.exchange) {
            *bodies += 1;
            staging.body(entry.line.index, &exchange.body)?;
        }
        Ok(())
    }

    /// Ends the files; returns the picture.
    pub(super) fn finish(self, report: &Report<'_>, staging: &mut Staging) -> Result<Timeline, FolderError> {
        let Self { ledger, mut table, bars, done, .. } = self;
        done?;
        ledger.end()?;
        let columns = Columns::of(report);
        let timeline = bars.timeline(report).filter(|_| columns == EXPECTED);
        if let Some(timeline) = timeline {
            table.end()?;
            return Ok(timeline);
        }
        staging.remove(REQUESTS)?;
        table = begun(staging)?;
        let (mut timeline, mut done) = (Timeline::of(report), Ok(()));
        report.each(&mut |entry| {
            timeline.add(report, entry);
            if done.is_ok() {
                done = table.write(|target| requests::write(report, entry, target));
            }
        });
        done?;
        table.end()?;
        Ok(timeline)
    }
}
