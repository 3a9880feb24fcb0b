//! Lines of a simulated run.

use std::io::{self, Write};

use forkcast_replay::formats::Format;
use forkcast_scenarios::capture::Recorder;
use forkcast_scenarios::run::{Request, Run};
use forkcast_sim::service::NotComparable;

use super::exchange::{Standing, Stored, StoredSizes};
use super::{LedgerLine, Origin};
use crate::format::sender::Sender;
use crate::names::Names;

/// Writes a line for each request. If there are bodies, a line declares the sizes of its request's blocks.
///
/// # Errors
/// When the target cannot be written.
pub fn write(run: &Run, has_bodies: bool, target: &mut dyn Write) -> io::Result<()> {
    let mut sizes = has_bodies.then(|| StoredSizes::all(run));
    let recorder = Recorder::new(run);
    let file = run.scenario.file.to_string();
    let standing = Standing { scope: 0, path: &file, session: 0, format: Format::Bodies.name() };
    run.requests.iter().try_for_each(|request| {
        let sizes = sizes.as_mut().and_then(Iterator::next);
        let stored = Stored::of(&recorder.request(request), standing, Names::Plain);
        let exchange = Some(Stored { sizes, ..stored });
        LedgerLine { exchange, ..LedgerLine::simulated(&recorder, request) }.write(target)
    })
}

impl<'a> LedgerLine<'a> {
    /// A request of a run, without its recording.
    pub fn simulated(recorder: &Recorder<'_>, request: &'a Request) -> Self {
        let (run, line) = (recorder.run(), &request.line);
        Self {
            line,
            sender: Sender::simulated(recorder, request),
            origin: Origin { file: run.scenario.file.to_string(), index: line.index, line: 0 },
            comparison: Err(NotComparable::NoUsage),
            is_counted: true,
            exchange: None,
            transcript: None,
            names: Names::Plain,
        }
    }
}
