//! From paths to exchanges: walks, detects formats by content, reads, and keeps account of everything it met.

mod agents;
mod detect;
mod each;
mod foreign;
mod load;
mod natural;
mod parallel;
mod progress;
mod unfold;
mod walk;

use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Fault};
use crate::exchange::Exchange;
use crate::formats::{self, Format, Reading};
use crate::trace::Trace;
use crate::transcript::{FileThreads, MEMORY_BYTES_MAX, Measuring, Sessions};
use detect::Verdict;
use load::Loaded;
use progress::{Meter, Named};

pub(crate) use agents::{AgentFolders, below};
pub use each::{Again, Piece};

pub use crate::formats::InputFormat;
pub use progress::Progress;

/// Largest file that is read, unpacked: 2 GiB. Recordings of one session stay below 100 MB.
pub const FILE_LIMIT: u64 = 2 << 30;

/// A recording made by hand of a small coding agent, in the format of [`formats::exchange_log`]: a cold write, a tool loop,
/// an expired entry, a changed date in the system prompt, a tool added at the front, two sub-agents in parallel.
pub const SAMPLE: &str = include_str!("../sample/sample.exchanges.jsonl");

/// The name under which [`SAMPLE`] appears.
pub const SAMPLE_NAME: &str = "sample.exchanges.jsonl";

/// How to read.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// The format; found out file by file where nothing is said.
    pub format: InputFormat,
    /// Counts the blocks of transcripts, which are not kept: only while they are read can they be counted. Without it
    /// nothing is counted and nothing is spent on it.
    pub measuring: Option<Arc<Measuring>>,
    /// How many bytes of packed conversations stay in memory; what is more goes into a temporary file.
    pub memory_bytes_max: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { format: InputFormat::default(), measuring: None, memory_bytes_max: MEMORY_BYTES_MAX }
    }
}

impl ReadOptions {
    /// The same with the blocks of transcripts counted.
    pub fn counted(self) -> Self {
        Self { measuring: Some(Arc::default()), ..self }
    }
}

impl From<InputFormat> for ReadOptions {
    fn from(format: InputFormat) -> Self {
        Self { format, ..Self::default() }
    }
}

/// Everything that was read, and everything that was not.
///
/// ```
/// use forkcast_replay::input::Inputs;
///
/// let inputs = Inputs::sample();
/// assert_eq!(inputs.exchanges().count(), 14);
/// assert!(inputs.unreadable.is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// Files looked at, whatever became of them.
    pub files: usize,
    /// Their size as stored (packed files count packed).
    pub bytes: u64,
    /// One per path that the user named, in that order; none for a path below another one.
    pub scopes: Vec<ScopeInput>,
    /// Sessions of agents that transcripts tell of, each joined from its files. One at a time is in memory.
    pub sessions: Sessions,
    /// Files, and parts of files, that are no recorded model requests.
    pub skipped: Vec<Skipped>,
    /// Damage that could be mended without guessing.
    pub repaired: Vec<Repaired>,
    /// Damage that cost an exchange or its usage.
    pub unreadable: Vec<Unreadable>,
    /// The format that was asked for.
    pub read_as: InputFormat,
    /// This is the embedded sample, which nobody named.
    pub is_sample: bool,
    /// Files that were not read because whoever watched did not go on: this is a part.
    pub unread_files: usize,
}

/// What one named path gave. Exchanges of one scope may share a cache.
#[derive(Clone, Debug, Default)]
pub struct ScopeInput {
    /// The path as the user named it.
    pub name: String,
    /// Its recordings, in the order of their names.
    pub files: Vec<FileInput>,
}

/// One recording.
#[derive(Clone, Debug)]
pub struct FileInput {
    /// The file as the user named it or as the walk found it.
    pub file: String,
    /// How it was read.
    pub format: Format,
    /// Its exchanges in the file's order.
    pub exchanges: Vec<Exchange>,
    /// What a serving trace tells.
    pub traces: Vec<Trace>,
    /// What was seen in it and changes nothing, such as stream events of unknown kinds.
    pub notes: Vec<String>,
}

/// A file, or a part of one, that was passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The file.
    pub file: String,
    /// Why.
    pub reason: String,
}

impl Skipped {
    /// Nothing is in it, as if its writing had failed: that is damage, and no file of another kind.
    pub fn is_damage(&self) -> bool {
        detect::NOTHING.contains(&self.reason.as_str())
    }
}

/// Damage that was mended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// The file.
    pub file: String,
    /// The line, counted from one; zero where unknown.
    pub line: usize,
    /// What was done.
    pub what: String,
}

/// Damage that was not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The file.
    pub file: String,
    /// The line, counted from one; zero where unknown.
    pub line: usize,
    /// The column where known, what was found and what was expected.
    pub reason: String,
}

impl FileInput {
    /// A recording of bodies that lie below `name`; none yet.
    fn of_bodies(name: String) -> Self {
        Self { file: name, format: Format::Bodies, exchanges: Vec::new(), traces: Vec::new(), notes: Vec::new() }
    }
}

impl Inputs {
    /// Reads files and folders; `-` is standard input, and pipes may be named. What several paths lead to is read once. Damage is listed in the result; only a path that cannot be opened
    /// at all is an error.
    pub fn read(paths: &[impl AsRef<Path>], format: InputFormat) -> Result<Self, Error> {
        Self::read_watched(paths, format, &|_| true)
    }

    /// The same; `watch` sees how far it is after each file, from whatever thread read it, and says whether to go on.
    /// What was read until then stays, and [`Self::unread_files`] tells how many files were not.
    pub fn read_watched(
        paths: &[impl AsRef<Path>],
        format: InputFormat,
        watch: &(dyn Fn(Progress) -> bool + Sync),
    ) -> Result<Self, Error> {
        Self::read_with(paths, &ReadOptions::from(format), watch)
    }

    /// The same with more choices.
    pub fn read_with(
        paths: &[impl AsRef<Path>],
        options: &ReadOptions,
        watch: &(dyn Fn(Progress) -> bool + Sync),
    ) -> Result<Self, Error> {
        let named = Named::find_all(paths)?;
        let meter = Meter::new(named.iter().flat_map(Named::files), watch);
        let sessions = Sessions::within(options.memory_bytes_max);
        let mut inputs = Self { read_as: options.format, sessions, ..Self::default() };
        for named in named {
            inputs.path(named, options, &meter);
        }
        inputs.unread_files = meter.unread();
        inputs.sessions.join();
        inputs.gather_bodies();
        Ok(inputs)
    }

    /// Adds the recordings of `other` behind these. Sessions of transcripts are not taken over: run folders hold none.
    pub fn add(&mut self, other: Self) {
        self.files += other.files;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.scopes.extend(other.scopes);
        self.skipped.extend(other.skipped);
        self.repaired.extend(other.repaired);
        self.unreadable.extend(other.unreadable);
        self.unread_files += other.unread_files;
    }

    /// Makes one recording of the bodies below each named path, in the order of their files, and one of those that were
    /// named one by one.
    fn gather_bodies(&mut self) {
        let named_alone = |scope: &ScopeInput| scope.files.iter().all(|file| file.file == scope.name);
        let mut listed: Option<usize> = None;
        for at in 0..self.scopes.len() {
            let scope = &mut self.scopes[at];
            let alone = named_alone(scope);
            let mut folders = AgentFolders::default();
            let name = scope.name.clone();
            let mut bodies = FileInput::of_bodies(name.clone());
            scope.files.retain_mut(|file| {
                folders.name(&name, file);
                let is_body = file.format == Format::Bodies;
                if is_body {
                    bodies.exchanges.append(&mut file.exchanges);
                    bodies.notes.append(&mut file.notes);
                }
                !is_body
            });
            if bodies.exchanges.is_empty() {
                continue;
            }
            let into = if alone { *listed.get_or_insert(at) } else { at };
            match self.scopes[into].files.iter_mut().find(|file| file.format == Format::Bodies) {
                Some(known) => known.exchanges.append(&mut bodies.exchanges),
                None => self.scopes[into].files.push(bodies),
            }
        }
    }

    /// The embedded sample.
    pub fn sample() -> Self {
        let read = Self::from_bytes(SAMPLE_NAME, SAMPLE.as_bytes(), InputFormat::As(Format::ExchangeLog));
        Self { read_as: InputFormat::Auto, is_sample: true, ..read }
    }

    /// One scope with one file, out of memory.
    pub fn from_bytes(name: &str, bytes: &[u8], format: InputFormat) -> Self {
        Self::from_bytes_with(name, bytes, &ReadOptions::from(format))
    }

    /// The same with more choices.
    pub fn from_bytes_with(name: &str, bytes: &[u8], options: &ReadOptions) -> Self {
        let mut inputs = Self::default();
        inputs.scopes.push(ScopeInput { name: name.to_owned(), files: Vec::new() });
        inputs.stored(name, bytes.len() as u64, &load::load(bytes, options.format == InputFormat::Auto), options);
        inputs.sessions.join();
        inputs
    }

    /// All exchanges, scope by scope, file by file.
    pub fn exchanges(&self) -> impl Iterator<Item = &Exchange> {
        self.scopes.iter().flat_map(|scope| &scope.files).flat_map(|file| &file.exchanges)
    }

    /// How many requests there are, recorded or told of; what several sessions repeat counts with each.
    pub fn requests(&self) -> usize {
        let in_scope = |scope| self.requests_of(scope);
        (0..self.scopes.len()).map(in_scope).sum()
    }

    /// The same of one named path, by its place in [`Self::scopes`].
    pub fn requests_of(&self, scope: usize) -> usize {
        let files = self.scopes.get(scope).map_or(&[][..], |scope| &scope.files);
        let own =
            files.iter().map(|file| file.exchanges.len() + file.traces.iter().map(Trace::requests).sum::<usize>());
        own.sum::<usize>() + self.sessions.requests_of(scope)
    }

    fn path(&mut self, Named { name, walk }: Named, options: &ReadOptions, meter: &Meter<'_>) {
        self.scopes.push(ScopeInput { name: name.clone(), files: Vec::new() });
        let Some(mut walk) = walk else {
            let loaded = load::load(std::io::stdin().lock(), options.format == InputFormat::Auto);
            let size = loaded.as_ref().map_or(0, Loaded::size);
            self.stored(&name, size, &loaded, options);
            return;
        };
        each::in_order(&mut walk.files);
        let beside = self.sessions.beside();
        parallel::read(&walk.files, &beside, options, meter, &mut |read| self.absorb(read));
        self.files += walk.skipped.len();
        self.skipped.extend(walk.skipped);
        self.files += walk.unreadable.len();
        self.unreadable.extend(walk.unreadable);
    }

    /// Adds what one file gave.
    fn absorb(&mut self, read: Self) {
        self.files += read.files;
        self.bytes = self.bytes.saturating_add(read.bytes);
        self.skipped.extend(read.skipped);
        self.repaired.extend(read.repaired);
        self.unreadable.extend(read.unreadable);
        self.sessions.absorb(read.sessions, self.scopes.len().saturating_sub(1));
        if let Some(scope) = self.scopes.last_mut() {
            scope.files.extend(read.scopes.into_iter().flat_map(|scope| scope.files));
        }
    }

    fn stored(&mut self, file: &str, size: u64, loaded: &std::io::Result<Loaded>, options: &ReadOptions) {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(size);
        match loaded {
            Ok(Loaded::Skip(reason)) => self.skip(file, reason),
            Ok(Loaded::Broken(what)) => self.damage(file, &Fault::in_line(0, what)),
            Ok(Loaded::Bytes { bytes, fault }) => {
                self.content(file, bytes, options);
                if let Some(what) = fault {
                    self.damage(file, &Fault::in_line(0, what));
                }
            }
            Err(error) => self.damage(file, &Fault::in_line(0, format!("cannot be read: {error}"))),
        }
    }

    fn content(&mut self, file: &str, bytes: &[u8], options: &ReadOptions) {
        let unfolded = unfold::unfold(bytes);
        let bytes = unfolded.as_deref().unwrap_or(bytes);
        let verdict = match options.format {
            InputFormat::As(format) => Verdict::Is(format),
            InputFormat::Auto => detect::detect(bytes),
        };
        match verdict {
            Verdict::Is(format) => {
                let reading = formats::read_measured(format, file, bytes, options.measuring.as_deref());
                self.reading(file, format, reading);
            }
            Verdict::Skip(reason) => self.skip(file, reason),
            Verdict::Broken(fault) => self.damage(file, &fault),
        }
    }

    fn reading(&mut self, file: &str, format: Format, reading: Reading) {
        for reason in reading.skipped {
            self.skip(file, reason);
        }
        for fault in reading.repaired {
            self.repaired.push(Repaired { file: file.to_owned(), line: fault.line, what: fault.to_string() });
        }
        for fault in reading.unreadable {
            self.damage(file, &fault);
        }
        if reading.unreadable_beyond > 0 {
            self.damage(file, &Fault::in_line(0, format!("{} more damaged places", reading.unreadable_beyond)));
        }
        if !reading.threads.is_empty() {
            let scope = self.scopes.len().saturating_sub(1);
            self.sessions.add(FileThreads { scope, file: Arc::from(file), format, threads: reading.threads });
        }
        let input = FileInput {
            file: file.to_owned(),
            format,
            exchanges: reading.exchanges,
            traces: reading.traces,
            notes: reading.notes,
        };
        if let Some(scope) = self.scopes.last_mut() {
            scope.files.push(input);
        }
    }

    fn skip(&mut self, file: &str, reason: impl Into<String>) {
        self.skipped.push(Skipped { file: file.to_owned(), reason: reason.into() });
    }

    fn damage(&mut self, file: &str, fault: &Fault) {
        self.unreadable.push(Unreadable { file: file.to_owned(), line: fault.line, reason: fault.to_string() });
    }
}
