//! Lines of a simulated run.

use std::io::{self, Write};

use forkcast_scenarios::run::{Request, Run};
use forkcast_sim::service::NotComparable;

use super::exchange::{Stored, StoredSizes};
use super::{LedgerLine, Origin};
use crate::format::sender::Sender;
use crate::names::Names;

/// Writes a line for each request. If there are bodies, a line declares the sizes of its request's blocks.
///
/// # Errors
/// When the target cannot be written.
pub fn write(run: &Run, has_bodies: bool, target: &mut dyn Write) -> io::Result<()> {
    let mut sizes = has_bodies.then(|| StoredSizes::all(run));
    run.requests.iter().try_for_each(|request| {
        let sizes = sizes.as_mut().and_then(Iterator::next);
        line(run, request, Stored { sizes, ..Stored::simulated(run, request) }).write(target)
    })
}

fn line<'a>(run: &'a Run, request: &'a Request, exchange: Stored) -> LedgerLine<'a> {
    let line = &request.line;
    LedgerLine {
        line,
        sender: Sender::simulated(run, request),
        is_virtual: true,
        origin: Origin { file: run.scenario.file.to_string(), index: line.index, line: 0 },
        comparison: Err(NotComparable::NoUsage),
        exchange: Some(exchange),
        transcript: None,
        names: Names::Plain,
    }
}
