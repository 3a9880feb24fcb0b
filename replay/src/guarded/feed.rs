//! From paths to requests.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use super::Sink;
use super::exchanged::{self, Unchecked, Whose};
use super::labels::Labels;
use super::remarks::Remarks;
use super::timed::{Kept, Timed};
use super::{rebuilt, traced};
use crate::error::Error;
use crate::exchange::Exchange;
use crate::formats::Format;
use crate::input::{AgentFolders, FileInput, Inputs, Piece, Progress, ReadOptions, Unreadable};
use forkcast_sim::service::Times;

/// What became of the input.
#[derive(Debug, Default)]
pub struct Fed {
    /// The account of all files; exchanges are no more in it.
    pub inputs: Inputs,
    /// Requests that the sink was given.
    pub requests: usize,
    /// What is known of some of them less than of a body for Anthropic.
    pub remarks: Remarks,
    /// Requests that no cache could see, by file and reason.
    pub unchecked: Vec<Foreign>,
    /// Whoever watched did not go on: this is a part.
    pub partial: bool,
}

/// Requests of one file that are not checked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Foreign {
    /// The file.
    pub file: String,
    /// Why, in words.
    pub reason: String,
    /// How many.
    pub requests: usize,
    /// A cache may have seen a prompt that is not here.
    pub hides_a_prompt: bool,
}

impl Fed {
    /// Adds what became of further input.
    pub fn add(&mut self, other: Self) {
        self.inputs.add(other.inputs);
        self.requests += other.requests;
        self.remarks.add(other.remarks);
        self.unchecked.extend(other.unchecked);
        self.partial |= other.partial;
    }

    /// Why there is nothing to check; `None` where there is something.
    pub fn nothing(&self) -> Option<String> {
        if self.requests > 0 {
            return None;
        }
        let files = |count: usize| if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
        let looked = files(self.inputs.files);
        Some(match (self.unchecked.first(), self.inputs.unreadable.first(), self.inputs.skipped.first()) {
            (Some(first), ..) => format!("nothing to check in {looked}: {}: {}", first.file, first.told()),
            (None, Some(first), _) => {
                format!("nothing to check in {looked}: {}:{}: {}", first.file, first.line, first.reason)
            }
            (None, None, Some(first)) => format!("nothing to check in {looked}: {}: {}", first.file, first.reason),
            (None, None, None) => format!("nothing to check in {looked}: no request was found"),
        })
    }
}

impl Foreign {
    /// In one sentence.
    pub fn told(&self) -> String {
        let requests = if self.requests == 1 { "1 request".to_owned() } else { format!("{} requests", self.requests) };
        format!("{requests} not checked: {}", self.reason)
    }
}

/// Reads files and folders (`-` is standard input) and hands their requests to `sink` in the order in which they were sent.
/// `watch` sees how far reading is, and says whether to go on.
///
/// # Errors
/// Only when a path cannot be opened at all: damage is listed in the result.
pub fn feed(
    paths: &[impl AsRef<Path>],
    options: &ReadOptions,
    watch: &(dyn Fn(Progress) -> bool + Sync),
    sink: &mut dyn Sink,
) -> Result<Fed, Error> {
    let names: Vec<String> = paths.iter().map(|path| path.as_ref().to_string_lossy().into_owned()).collect();
    let kept = Kept { bytes: 0, most: options.memory_bytes_max.saturating_mul(BODIES_TO_PACKED) };
    let latest = Mutex::new(Progress::default());
    let noted = |progress: Progress| {
        latest.lock().iter_mut().for_each(|latest| **latest = progress);
        watch(progress)
    };
    // Requests of one file may be many, and most of the work comes behind the reading.
    let goes_on = || watch(latest.lock().map_or_else(|_| Progress::default(), |latest| *latest));
    let mut feeding = Feeding::new(names, kept, (&goes_on, sink));
    let inputs = Inputs::read_each(paths, options, &noted, &mut |piece| feeding.piece(piece))?;
    feeding.stopped |= inputs.unread_files > 0;
    feeding.timed();
    feeding.sessions(&inputs);
    Ok(feeding.finish(inputs))
}

/// Hands the requests of `inputs`, which were read, to `sink` in the order in which they were sent.
pub fn feed_inputs(mut inputs: Inputs, goes_on: &dyn Fn() -> bool, sink: &mut dyn Sink) -> Fed {
    let scopes = std::mem::take(&mut inputs.scopes);
    let names = scopes.iter().map(|scope| scope.name.clone()).collect();
    let kept = Kept { bytes: 0, most: usize::MAX };
    let mut feeding = Feeding::new(names, kept, (goes_on, sink));
    for (scope, input) in scopes.into_iter().enumerate() {
        for file in input.files {
            feeding.piece(Piece { scope, named: input.name.clone(), file, again: None });
        }
    }
    feeding.timed();
    feeding.sessions(&inputs);
    feeding.finish(inputs)
}

/// Bodies may take so many times the memory that packed conversations may.
const BODIES_TO_PACKED: usize = 16;

struct Feeding<'a> {
    goes_on: &'a dyn Fn() -> bool,
    /// Whoever watched did not go on.
    stopped: bool,
    sink: &'a mut dyn Sink,
    names: Vec<String>,
    labels: Labels,
    /// By named path.
    agents: BTreeMap<usize, AgentFolders>,
    /// By scope, with its label.
    timed: BTreeMap<usize, (String, Timed)>,
    kept: Kept,
    requests: usize,
    remarks: Remarks,
    unchecked: BTreeMap<(String, Unchecked), usize>,
    unreadable: Vec<Unreadable>,
}

impl<'a> Feeding<'a> {
    fn new(names: Vec<String>, kept: Kept, (goes_on, sink): (&'a dyn Fn() -> bool, &'a mut dyn Sink)) -> Self {
        Self {
            goes_on,
            stopped: false,
            sink,
            names,
            labels: Labels::default(),
            agents: BTreeMap::new(),
            timed: BTreeMap::new(),
            kept,
            requests: 0,
            remarks: Remarks::default(),
            unchecked: BTreeMap::new(),
            unreadable: Vec::new(),
        }
    }

    fn piece(&mut self, Piece { scope, named, mut file, again }: Piece) {
        self.agents.entry(scope).or_default().name(&named, &mut file);
        let FileInput { file, format, exchanges, traces, .. } = file;
        let (timed, untimed): (Vec<_>, Vec<_>) = exchanges.into_iter().partition(|exchange| exchange.sent_at.is_some());
        let label = match format {
            Format::Bodies => self.labels.bodies(scope, &named, &file, self.names.len() == 1),
            _ if untimed.is_empty() && traces.is_empty() => String::new(),
            _ => self.labels.file(scope, &named, &file),
        };
        for exchange in &untimed {
            let scope = exchanged::scope(exchange, &label);
            let whose = Whose { scope: &scope, siblings: format == Format::Bodies };
            self.exchange(exchange, whose, false);
        }
        if !timed.is_empty() {
            let label = self.labels.scope(scope, &named);
            let (_, recordings) = self.timed.entry(scope).or_insert_with(|| (label, Timed::default()));
            recordings.add(timed, again, &mut self.kept);
        }
        for trace in &traces {
            self.stopped |= !(self.goes_on)();
            if !self.stopped {
                let fed = traced::feed(trace, &file, &label, self.sink);
                self.requests += fed.traced;
                self.remarks.add(fed);
            }
        }
    }

    fn timed(&mut self) {
        for (label, recordings) in std::mem::take(&mut self.timed).into_values() {
            recordings.drain(&mut |exchange| {
                let scope = exchanged::scope(exchange, &label);
                self.exchange(exchange, Whose { scope: &scope, siblings: false }, true);
                !self.stopped
            });
        }
    }

    fn exchange(&mut self, exchange: &Exchange, whose: Whose<'_>, timed: bool) {
        if self.stopped {
            return;
        }
        self.stopped = !(self.goes_on)();
        let spelled = match exchanged::spelled(exchange) {
            _ if exchange.failed() => Err(Unchecked::Refused),
            spelled => spelled,
        };
        let spelled = match spelled {
            Ok(spelled) => spelled,
            Err(why) => {
                *self.unchecked.entry((exchange.origin.file.clone(), why)).or_default() += 1;
                return;
            }
        };
        let instants = exchange.sent_at.filter(|_| timed).map(|at| {
            let times = Times::of(at, exchange.first_byte_at, exchange.ended_at);
            (times.at, times.first_byte_at)
        });
        match self.sink.body(&exchange.origin, &exchanged::sent(exchange, &spelled, whose, instants)) {
            Ok(()) => {
                self.requests += 1;
                self.remarks.sent(spelled.maker, &exchange.model);
            }
            Err(error) => self.unreadable.push(Unreadable {
                file: exchange.origin.file.clone(),
                line: exchange.origin.line,
                reason: format!("request {}: {error}", exchange.origin.index),
            }),
        }
    }

    fn sessions(&mut self, inputs: &Inputs) {
        for at in 0..inputs.sessions.len() {
            self.stopped |= !(self.goes_on)();
            if self.stopped {
                return;
            }
            match inputs.sessions.load(at) {
                Some(Ok(session)) => {
                    let fed = rebuilt::feed(&session, self.sink);
                    self.requests += fed.rebuilt;
                    self.remarks.add(fed);
                }
                Some(Err(error)) => self.unreadable.push(Unreadable {
                    file: format!("session {at}"),
                    line: 0,
                    reason: format!("cannot be read back: {error}"),
                }),
                None => {}
            }
        }
    }

    fn finish(self, mut inputs: Inputs) -> Fed {
        let unchecked = self.unchecked.into_iter();
        let unchecked = unchecked.map(|((file, why), requests)| Foreign {
            file,
            reason: why.told().to_owned(),
            requests,
            hides_a_prompt: why.hides_a_prompt(),
        });
        let unchecked = unchecked.collect();
        inputs.unreadable.extend(self.unreadable);
        Fed { inputs, requests: self.requests, remarks: self.remarks, unchecked, partial: self.stopped }
    }
}
