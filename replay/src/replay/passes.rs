//! A replay that is not stored: it is made again, session by session, for each pass. So only the entries of one session at a time
//! are in memory.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use super::session::{self, Place};
use super::{Options, Replay, run, sessions, traces};
use crate::input::{Inputs, Unreadable};
use crate::rebuild::forecast::Shared;
use crate::side_by_side::in_turn;
use crate::source::order::streams;
use crate::transcript::Session;

/// Replayed requests that can be passed on several times.
pub trait InParts: fmt::Debug {
    /// Passes on all requests, part by part, in order; the same ones each time. A part of one session comes with the session.
    fn each(&self, take: &mut dyn FnMut(&Replay, Option<&Session>));
}

impl InParts for Replay {
    /// One part.
    fn each(&self, take: &mut dyn FnMut(&Replay, Option<&Session>)) {
        take(self, None);
    }
}

/// See the module. The prompts of recorded exchanges are all in memory, and so is their replay.
pub struct Passes<'a> {
    inputs: &'a Inputs,
    options: &'a Options,
    stop: &'a dyn Fn() -> bool,
    recorded: Replay,
    /// Chains of recorded exchanges and traces.
    chains: usize,
    shared: Shared,
    /// The number of sessions in the first pass; later passes end there too.
    end: Cell<Option<usize>>,
}

impl fmt::Debug for Passes<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Passes").field("inputs", &self.inputs.files).finish_non_exhaustive()
    }
}

impl<'a> Passes<'a> {
    /// Replays exchanges and traces, and collects what sessions share. `stop` is called before each request of these, and in the
    /// first pass before each session.
    pub fn new(inputs: &'a Inputs, options: &'a Options, stop: &'a dyn Fn() -> bool) -> Self {
        let mut recorded = Replay::default();
        let mut chains = 0;
        for stream in streams(inputs) {
            chains += run::run(&stream, options, chains, stop, &mut recorded);
        }
        chains += traces::run(inputs, options, chains, stop, &mut recorded);
        let shared = if recorded.partial { Shared::default() } else { sessions::shared(inputs, options) };
        Self { inputs, options, stop, recorded, chains, shared, end: Cell::new(None) }
    }

    /// Everything in memory, at once.
    pub(super) fn whole(mut self) -> Replay {
        let mut whole = std::mem::take(&mut self.recorded);
        whole.partial |= self.sessions(whole.entries.len(), whole.partial, &mut |part, _| whole.append(part));
        whole
    }

    /// Passes on the sessions' parts, whose lines are numbered from `first`. Returns whether it was stopped.
    fn sessions(&self, first: usize, partial: bool, take: &mut dyn FnMut(Replay, Option<&Session>)) -> bool {
        let (inputs, options, shared) = (self.inputs, self.options, &self.shared);
        let (begun_before, end) = (self.end.get().is_some(), self.end.get().unwrap_or(inputs.sessions.len()));
        if partial || end == 0 {
            return partial;
        }
        let files = inputs.scopes.iter().map(|scope| scope.files.len()).sum::<usize>();
        let halted = AtomicBool::new(false);
        let work = |at: usize| {
            let session = (!halted.load(Ordering::Relaxed)).then(|| inputs.sessions.lend(at)).flatten()?;
            Some(session.map(|session| {
                let place = Place { index: at, number: files + at, timed: sessions::is_timed(&session) };
                (session::replay(&session, place, shared, options), session)
            }))
        };
        let (mut requests, mut chains, mut taken) = (first, self.chains, 0);
        let mut items = inputs.sessions.items();
        items.truncate(end);
        in_turn(items, &work, &mut |done: Option<io::Result<(Replay, Cow<'_, Session>)>>| {
            let Some(done) = done.filter(|_| !halted.load(Ordering::Relaxed)) else { return };
            if !begun_before && (self.stop)() {
                halted.store(true, Ordering::Relaxed);
                return;
            }
            match done {
                Ok((mut part, session)) => {
                    part.number(requests, chains);
                    requests += part.entries.len();
                    chains += session.agents.len();
                    take(part, Some(&session));
                }
                Err(error) => take(lost(inputs.sessions.source(taken), &error), None),
            }
            taken += 1;
        });
        self.end.set(Some(taken));
        taken < inputs.sessions.len()
    }
}

impl InParts for Passes<'_> {
    fn each(&self, take: &mut dyn FnMut(&Replay, Option<&Session>)) {
        take(&self.recorded, None);
        let partial = self.sessions(self.recorded.entries.len(), self.recorded.partial, &mut |part, session| {
            take(&part, session);
        });
        if partial && !self.recorded.partial {
            take(&Replay { partial, ..Replay::default() }, None);
        }
    }
}

/// The part for a session that cannot be read back from the temporary file.
fn lost(file: &str, error: &io::Error) -> Replay {
    let reason = format!("the session was read and cannot be read back from the temporary file: {error}");
    Replay {
        unreadable: vec![Unreadable { file: file.to_owned(), line: 0, reason, of_answer: false }],
        ..Replay::default()
    }
}

impl Replay {
    /// Numbers the lines from `first` and the chains from `chains`.
    fn number(&mut self, first: usize, chains: usize) {
        for entry in &mut self.entries {
            entry.line.index += first;
            entry.chain = entry.chain.map(|chain| chains + chain);
        }
    }

    /// Adds a part.
    fn append(&mut self, part: Self) {
        self.entries.extend(part.entries);
        self.unreadable.extend(part.unreadable);
        part.rules.into_iter().for_each(|rules| self.used(rules));
    }
}
