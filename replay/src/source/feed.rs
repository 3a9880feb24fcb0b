//! From paths to requests.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use forkcast_sim::pricing::several;
use forkcast_sim::wire::Maker;

use super::exchange::{Unread, facts, sent, spelling};
use super::order::Recordings;
use super::{Remarks, Scope, Scopes, Sink, trace, transcript};
use crate::error::Error;
use crate::exchange::Exchange;
use crate::input::{Again, BodyFolder, FileInput, Inputs, Piece, Progress, ReadOptions, Unreadable};

/// The result of feeding a sink.
#[derive(Debug, Default)]
pub struct Fed {
    /// The account of all files, without exchanges.
    pub inputs: Inputs,
    /// The number of requests that the sink was given.
    pub requests: usize,
    /// Requests about which less is known than about a body for Anthropic.
    pub remarks: Remarks,
    /// Requests that no cache could see, by file and reason.
    pub unchecked: Vec<Foreign>,
    /// The caller cancelled; the result is partial.
    pub partial: bool,
}

/// Requests of one file that are not checked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Foreign {
    /// The file.
    pub file: String,
    /// Why, in words.
    pub reason: String,
    /// Their number.
    pub requests: usize,
    /// A cache may have seen a prompt that is not here.
    pub hides_a_prompt: bool,
}

impl Fed {
    /// Adds the result for further input.
    pub fn add(&mut self, other: Self) {
        self.inputs.add(other.inputs);
        self.requests += other.requests;
        self.remarks.add(other.remarks);
        self.unchecked.extend(other.unchecked);
        self.partial |= other.partial;
    }
}

impl Foreign {
    /// In one sentence.
    pub fn told(&self) -> String {
        format!("{}: {}", several(self.requests as u64, "request"), self.reason)
    }
}

/// Reads files and folders (`-` is standard input) and passes their requests to `sink` in the order in which they were sent.
/// `watch` is called with the progress of reading and returns whether to continue. Damage is listed in the result; only a path
/// that cannot be opened at all is an error.
pub fn feed(
    paths: &[impl AsRef<Path>],
    options: &ReadOptions,
    watch: &(dyn Fn(Progress) -> bool + Sync),
    sink: &mut dyn Sink,
) -> Result<Fed, Error> {
    let kept_bytes_max = options.memory_bytes_max.saturating_mul(BODIES_TO_PACKED);
    let latest = Mutex::new(Progress::default());
    let noted = |progress: Progress| {
        latest.lock().iter_mut().for_each(|latest| **latest = progress);
        watch(progress)
    };
    // One file may have many requests, and most of the work comes after reading.
    let goes_on = || watch(latest.lock().map_or_else(|_| Progress::default(), |latest| *latest));
    let mut feeding = Feeding::new(Scopes::new(paths.len()), kept_bytes_max, &goes_on, sink);
    let inputs = Inputs::read_each(paths, options, &noted, &mut |piece| feeding.piece(piece))?;
    feeding.stopped |= inputs.unread_files > 0;
    feeding.release();
    feeding.timed();
    feeding.sessions(&inputs);
    Ok(feeding.finish(inputs))
}

/// Passes the requests of `inputs` to `sink` in the order in which they were sent.
pub fn feed_inputs(mut inputs: Inputs, goes_on: &dyn Fn() -> bool, sink: &mut dyn Sink) -> Fed {
    let scopes = std::mem::take(&mut inputs.scopes);
    let mut feeding = Feeding::new(Scopes::new(scopes.len()), usize::MAX, goes_on, sink);
    for (scope, input) in scopes.into_iter().enumerate() {
        for file in input.files {
            feeding.piece(Piece { scope, named: input.name.clone(), file, again: None });
        }
    }
    feeding.release();
    feeding.timed();
    feeding.sessions(&inputs);
    feeding.finish(inputs)
}

/// The memory limit for bodies, in multiples of the limit for packed conversations.
const BODIES_TO_PACKED: usize = 64;

/// Most bodies that wait for one with `max_tokens`: clients count the parts of a first prompt before they send it.
const HELD_MAX: usize = 32;

struct Feeding<'a> {
    goes_on: &'a dyn Fn() -> bool,
    /// The caller cancelled.
    stopped: bool,
    sink: &'a mut dyn Sink,
    scopes: Scopes,
    /// By named path.
    folders: BTreeMap<usize, BodyFolder>,
    /// Bodies of one named path that may only count tokens.
    held: Vec<Piece>,
    /// By named path.
    timed: BTreeMap<usize, (Scope, Recordings<Exchange>)>,
    /// Bytes of bodies that are kept while files are read, and their limit.
    kept_bytes: usize,
    kept_bytes_max: usize,
    requests: usize,
    remarks: Remarks,
    unchecked: BTreeMap<(String, Unread), usize>,
    unreadable: Vec<Unreadable>,
}

impl<'a> Feeding<'a> {
    fn new(scopes: Scopes, kept_bytes_max: usize, goes_on: &'a dyn Fn() -> bool, sink: &'a mut dyn Sink) -> Self {
        Self {
            goes_on,
            stopped: false,
            sink,
            scopes,
            folders: BTreeMap::new(),
            held: Vec::new(),
            timed: BTreeMap::new(),
            kept_bytes: 0,
            kept_bytes_max,
            requests: 0,
            remarks: Remarks::default(),
            unchecked: BTreeMap::new(),
            unreadable: Vec::new(),
        }
    }

    fn piece(&mut self, piece: Piece) {
        if self.held.first().is_some_and(|held| held.scope != piece.scope) {
            self.release();
        }
        let is_undecided = self.folders.entry(piece.scope).or_default().look(&piece.file);
        if is_undecided && self.held.len() < HELD_MAX {
            self.held.push(piece);
            return;
        }
        self.release();
        self.take(piece);
    }

    fn release(&mut self) {
        std::mem::take(&mut self.held).into_iter().for_each(|piece| self.take(piece));
    }

    fn take(&mut self, Piece { scope: number, named, mut file, again }: Piece) {
        self.folders.entry(number).or_default().mark(&named, &mut file);
        let is_timed = |exchange: &Exchange| exchange.sent_at.is_some();
        if !file.exchanges.iter().all(is_timed) {
            let scope = self.scopes.untimed(number, &named, &file);
            let untimed = file.exchanges.iter().filter(|exchange| !is_timed(exchange));
            untimed.for_each(|exchange| self.exchange(exchange, &scope));
        }
        for found in &file.traces {
            self.stopped |= !(self.goes_on)();
            if !self.stopped {
                let label = self.scopes.file(number, &named, &file.file);
                let fed = trace::feed(found, &file.file, &label, self.sink);
                self.requests += fed.traced;
                self.remarks.add(fed);
            }
        }
        if file.exchanges.iter().any(is_timed) {
            let scope = self.scopes.timed(number, &named);
            self.timed.entry(number).or_insert_with(|| (scope, Recordings::default()));
            self.keep(number, file, again);
        }
    }

    /// Keeps the requests with instants until all files were read; a file that does not fit is read again later.
    fn keep(&mut self, number: usize, mut file: FileInput, again: Option<Again>) {
        let Some((_, recordings)) = self.timed.get_mut(&number) else { return };
        file.exchanges.retain(|exchange| exchange.sent_at.is_some());
        let bytes: usize = file.exchanges.iter().map(|exchange| exchange.body.len()).sum();
        match again.filter(|_| self.kept_bytes.saturating_add(bytes) > self.kept_bytes_max) {
            Some(again) => recordings.put_off(file.exchanges, Box::new(move || again.read())),
            None => {
                self.kept_bytes += bytes;
                recordings.add(file.exchanges);
            }
        }
    }

    fn timed(&mut self) {
        for (scope, recordings) in std::mem::take(&mut self.timed).into_values() {
            for (_, exchange) in recordings.in_order() {
                self.exchange(&exchange, &scope);
                if self.stopped {
                    return;
                }
            }
        }
    }

    fn exchange(&mut self, exchange: &Exchange, of: &Scope) {
        if self.stopped {
            return;
        }
        self.stopped = !(self.goes_on)();
        match self.hand_on(exchange, of) {
            Ok(maker) => {
                self.requests += 1;
                self.remarks.sent(maker, &exchange.model);
            }
            Err(why @ Unread::Unreadable(_)) => self.unreadable.extend(why.damage(&exchange.origin)),
            Err(why) => *self.unchecked.entry((exchange.origin.file.clone(), why)).or_default() += 1,
        }
    }

    /// Passes a request to the sink; returns the maker whose rules it follows.
    fn hand_on(&mut self, exchange: &Exchange, of: &Scope) -> Result<Maker, Unread> {
        if exchange.failed() {
            if let Some(message) = &exchange.thinking_refused {
                self.sink.refused(&exchange.origin, exchange.chain.as_deref(), message);
            }
            return Err(Unread::Refused);
        }
        let spelling = spelling(exchange)?;
        let times = exchange.times().filter(|_| spelling.maker == Maker::Anthropic);
        let scope = of.of(exchange);
        let facts = facts(exchange, of, &scope, times.as_ref());
        let taken = self.sink.body(&exchange.origin, &sent(exchange, &spelling, &facts));
        taken.map_err(|error| Unread::Unreadable(error.to_string()))?;
        Ok(spelling.maker)
    }

    fn sessions(&mut self, inputs: &Inputs) {
        for at in 0..inputs.sessions.len() {
            self.stopped |= !(self.goes_on)();
            if self.stopped {
                return;
            }
            match inputs.sessions.load(at) {
                Some(Ok(session)) => {
                    self.sink.session(inputs, at, &session);
                    let fed = transcript::feed(&session, self.sink);
                    self.requests += fed.rebuilt;
                    self.remarks.add(fed);
                }
                Some(Err(error)) => self.unreadable.push(Unreadable {
                    file: format!("session {at}"),
                    line: 0,
                    reason: format!("cannot be read back: {error}"),
                    of_answer: false,
                }),
                None => {}
            }
        }
    }

    fn finish(self, mut inputs: Inputs) -> Fed {
        let unchecked = self.unchecked.into_iter();
        let unchecked = unchecked.map(|((file, why), requests)| Foreign {
            file,
            reason: why.reason(),
            requests,
            hides_a_prompt: why.hides_a_prompt(),
        });
        let unchecked = unchecked.collect();
        inputs.unreadable.extend(self.unreadable);
        Fed { inputs, requests: self.requests, remarks: self.remarks, unchecked, partial: self.stopped }
    }
}
