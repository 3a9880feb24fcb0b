//! From paths to exchanges: walks, detects formats by content, reads, and accounts for every file.

mod body_folder;
mod detect;
mod each;
mod foreign;
mod forks;
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
use crate::formats::{self, File, Format, Reading};
use crate::trace::Trace;
use crate::transcript::{FileThreads, MEMORY_BYTES_MAX, Measuring, Sessions};
use detect::Verdict;
use load::Loaded;
use progress::{Meter, Named};
use walk::Found;

pub(crate) use body_folder::{BodyFolder, below};
pub use each::{Again, Piece};

pub use crate::formats::InputFormat;
pub use progress::Progress;

/// The largest file that is read, decompressed: 2 GiB. Recordings of one session are below 100 MB.
pub const FILE_LIMIT: u64 = 2 << 30;

/// A recording of a small coding agent, written by hand in the format of [`formats::exchange_log`]: a cold write, a tool
/// loop, an expired entry, a changed date in the system prompt, a tool added at the front, two sub-agents in parallel.
pub const SAMPLE: &str = include_str!("../sample/sample.exchanges.jsonl");

/// The name of [`SAMPLE`] in reports.
pub const SAMPLE_NAME: &str = "sample.exchanges.jsonl";

/// How to read.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// The format, by default detected for each file.
    pub format: InputFormat,
    /// Counts the blocks of transcripts while they are read, because they are not kept; `None`: nothing is counted.
    pub measuring: Option<Arc<Measuring>>,
    /// The maximum bytes of packed conversations in memory; more are written to a temporary file.
    pub memory_bytes_max: usize,
    /// Keeps the answers of exchanges and the texts of transcripts, to play them again. Nothing of them enters a report.
    pub keeps_answers: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: InputFormat::default(),
            measuring: None,
            memory_bytes_max: MEMORY_BYTES_MAX,
            keeps_answers: false,
        }
    }
}

impl ReadOptions {
    /// The same with the blocks of transcripts counted.
    pub fn counted(self) -> Self {
        Self { measuring: Some(Arc::default()), ..self }
    }

    /// The same with the answers of exchanges and the texts of transcripts.
    pub fn with_answers(self) -> Self {
        Self { keeps_answers: true, ..self }
    }
}

impl From<InputFormat> for ReadOptions {
    fn from(format: InputFormat) -> Self {
        Self { format, ..Self::default() }
    }
}

/// Everything that was read, and an account of the rest.
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
    /// All files, read or not.
    pub files: usize,
    /// Their size as stored (compressed files count compressed).
    pub bytes: u64,
    /// One per path that the user named, in that order; none for a path below another one.
    pub scopes: Vec<ScopeInput>,
    /// Sessions of agents in transcripts, each joined from its files. One at a time is in memory.
    pub sessions: Sessions,
    /// Files, and parts of files, without recorded model requests.
    pub skipped: Vec<Skipped>,
    /// Damage that could be repaired without guessing.
    pub repaired: Vec<Repaired>,
    /// Damage that lost an exchange or its usage.
    pub unreadable: Vec<Unreadable>,
    /// The requested format.
    pub read_as: InputFormat,
    /// This is the embedded sample, used because no path was named.
    pub is_sample: bool,
    /// Files that were not read because the caller cancelled; the result is partial.
    pub unread_files: usize,
}

/// The content of one named path. Exchanges of one scope may share a cache.
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
    /// Its format.
    pub format: Format,
    /// Its exchanges in the file's order.
    pub exchanges: Vec<Exchange>,
    /// Its serving traces.
    pub traces: Vec<Trace>,
    /// Observations that change nothing, such as stream events of unknown kinds.
    pub notes: Vec<String>,
}

/// A file, or a part of one, that was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The file.
    pub file: String,
    /// Why.
    pub reason: String,
    /// It is an entry of the file; the others are read.
    pub is_entry: bool,
}

impl Skipped {
    /// It is empty, as if writing had failed: that is damage, not a file of another kind.
    pub fn is_damage(&self) -> bool {
        detect::NOTHING.contains(&self.reason.as_str())
    }
}

/// Damage that was repaired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// The file.
    pub file: String,
    /// The line, counted from one; zero if unknown.
    pub line: usize,
    /// The repair.
    pub what: String,
}

/// Damage that was not repaired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The file.
    pub file: String,
    /// The line, counted from one; zero if unknown.
    pub line: usize,
    /// The column if known, the finding and the expectation.
    pub reason: String,
    /// It is in an answer: the request before it was read.
    pub of_answer: bool,
}

/// Where the bytes of a file come from.
struct Place<'a> {
    /// Its name in messages.
    name: &'a str,
    /// Its folder, unless it is no file.
    folder: Option<&'a Path>,
    /// Its size as stored.
    size: u64,
}

/// Reads the files of one path; `None` is standard input.
type ReadFiles<'r> = &'r mut dyn FnMut(&mut Inputs, Option<Vec<Found>>, &Meter<'_>);

impl Inputs {
    /// Files that were read: of one that is passed over no more is read than its beginning.
    pub fn files_read(&self) -> usize {
        self.files.saturating_sub(self.files_skipped())
    }

    /// Files that were passed over.
    pub fn files_skipped(&self) -> usize {
        self.skipped.iter().filter(|skipped| !skipped.is_entry).count()
    }

    /// Reads files and folders; `-` is standard input, and pipes may be named. A file below several paths is read once.
    /// Damage is listed in the result; only a path that cannot be opened at all is an error.
    pub fn read(paths: &[impl AsRef<Path>], format: InputFormat) -> Result<Self, Error> {
        Self::read_with(paths, &ReadOptions::from(format), &|_| true)
    }

    /// The same with more choices. `watch` is called with the progress after each file, from the thread that read it, and
    /// returns whether to continue; if not, [`Self::unread_files`] counts the rest.
    pub fn read_with(
        paths: &[impl AsRef<Path>],
        options: &ReadOptions,
        watch: &(dyn Fn(Progress) -> bool + Sync),
    ) -> Result<Self, Error> {
        let named = Named::find_all(paths)?;
        let mut inputs = Self::of_named(named, options, watch, &mut |inputs, files, meter| {
            let beside = inputs.sessions.beside();
            match files {
                Some(files) => parallel::read(&files, &beside, options, meter, &mut |read| inputs.absorb(read)),
                None => inputs.absorb(parallel::standard_input(&beside, options)),
            }
        });
        inputs.gather_bodies();
        Ok(inputs)
    }

    /// Passes the files of each path to `read`, in order of their names.
    fn of_named(
        named: Vec<Named>,
        options: &ReadOptions,
        watch: &(dyn Fn(Progress) -> bool + Sync),
        read: ReadFiles<'_>,
    ) -> Self {
        let meter = Meter::new(named.iter().flat_map(Named::files), watch);
        let sessions = Sessions::within(options.memory_bytes_max);
        let mut inputs = Self { read_as: options.format, sessions, ..Self::default() };
        for Named { name, walk } in named {
            inputs.scopes.push(ScopeInput { name, files: Vec::new() });
            let Some(mut walk) = walk else {
                read(&mut inputs, None, &meter);
                continue;
            };
            each::in_order(&mut walk.files);
            let files = forks::after_parents(walk.files, options);
            read(&mut inputs, Some(files), &meter);
            inputs.files += walk.skipped.len() + walk.unreadable.len();
            inputs.skipped.extend(walk.skipped);
            inputs.unreadable.extend(walk.unreadable);
        }
        inputs.unread_files = meter.unread();
        inputs.sessions.join();
        inputs
    }

    /// Adds the recordings of `other` at the end. Its sessions of transcripts are dropped: run folders have none.
    pub fn add(&mut self, other: Self) {
        self.files += other.files;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.scopes.extend(other.scopes);
        self.skipped.extend(other.skipped);
        self.repaired.extend(other.repaired);
        self.unreadable.extend(other.unreadable);
        self.unread_files += other.unread_files;
    }

    /// Makes one recording of the bodies below each named path, in the order of their files, and one of all bodies that
    /// were named one by one.
    fn gather_bodies(&mut self) {
        let named_alone = |scope: &ScopeInput| scope.files.iter().all(|file| file.file == scope.name);
        let mut listed: Option<usize> = None;
        for at in 0..self.scopes.len() {
            let scope = &mut self.scopes[at];
            let alone = named_alone(scope);
            let mut folders = BodyFolder::default();
            for file in &scope.files {
                folders.look(file);
            }
            let name = scope.name.clone();
            let (mut exchanges, mut notes) = (Vec::new(), Vec::new());
            scope.files.retain_mut(|file| {
                folders.mark(&name, file);
                let is_body = file.format == Format::Bodies;
                if is_body {
                    exchanges.append(&mut file.exchanges);
                    notes.append(&mut file.notes);
                }
                !is_body
            });
            if exchanges.is_empty() {
                continue;
            }
            let into = if alone { *listed.get_or_insert(at) } else { at };
            match self.scopes[into].files.iter_mut().find(|file| file.format == Format::Bodies) {
                Some(known) => known.exchanges.append(&mut exchanges),
                None => {
                    let bodies = FileInput { file: name, format: Format::Bodies, exchanges, traces: Vec::new(), notes };
                    self.scopes[into].files.push(bodies);
                }
            }
        }
        let recordings = self.scopes.iter_mut().flat_map(|scope| &mut scope.files);
        for recording in recordings.filter(|file| file.format == Format::Bodies) {
            let numbered = recording.exchanges.iter_mut().enumerate();
            numbered.for_each(|(index, exchange)| exchange.origin.index = index);
        }
    }

    /// The embedded sample.
    pub fn sample() -> Self {
        let read = Self::from_bytes(SAMPLE_NAME, SAMPLE.as_bytes(), InputFormat::As(Format::ExchangeLog));
        Self { read_as: InputFormat::Auto, is_sample: true, ..read }
    }

    /// One scope with one file, from memory.
    pub fn from_bytes(name: &str, bytes: &[u8], options: impl Into<ReadOptions>) -> Self {
        let options = options.into();
        let mut inputs = Self::default();
        inputs.scopes.push(ScopeInput { name: name.to_owned(), files: Vec::new() });
        let loaded = load::load(bytes, options.format == InputFormat::Auto);
        let place = Place { name, folder: None, size: bytes.len() as u64 };
        inputs.stored(&place, &loaded, &options);
        inputs.sessions.join();
        inputs
    }

    /// All exchanges, scope by scope, file by file.
    pub fn exchanges(&self) -> impl Iterator<Item = &Exchange> {
        self.scopes.iter().flat_map(|scope| &scope.files).flat_map(|file| &file.exchanges)
    }

    /// The number of requests; a request that several sessions repeat counts in each.
    pub fn requests(&self) -> usize {
        (0..self.scopes.len()).map(|scope| self.requests_of(scope)).sum()
    }

    /// The number of requests of one named path, by its index in [`Self::scopes`].
    pub fn requests_of(&self, scope: usize) -> usize {
        let files = self.scopes.get(scope).map_or(&[][..], |scope| &scope.files);
        let own =
            files.iter().map(|file| file.exchanges.len() + file.traces.iter().map(Trace::requests).sum::<usize>());
        own.sum::<usize>() + self.sessions.requests_of(scope)
    }

    /// Adds the content of one file.
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

    fn stored(&mut self, place: &Place<'_>, loaded: &std::io::Result<Loaded>, options: &ReadOptions) {
        let file = place.name;
        self.files += 1;
        self.bytes = self.bytes.saturating_add(place.size);
        match loaded {
            Ok(Loaded::Skip(reason)) => self.skip(file, reason),
            Ok(Loaded::Broken(what)) => self.damage(file, &Fault::in_line(0, what)),
            Ok(Loaded::Bytes { bytes, fault }) => {
                self.content(place, bytes, options);
                if let Some(what) = fault {
                    self.damage(file, &Fault::in_line(0, what));
                }
            }
            Err(error) => self.damage(file, &Fault::in_line(0, format!("cannot be read: {error}"))),
        }
    }

    fn content(&mut self, place: &Place<'_>, bytes: &[u8], options: &ReadOptions) {
        let file = place.name;
        let unfolded = unfold::unfold(bytes);
        let bytes = unfolded.as_deref().unwrap_or(bytes);
        let verdict = match options.format {
            InputFormat::As(format) => Verdict::Is(format),
            InputFormat::Auto => detect::detect(bytes),
        };
        match verdict {
            Verdict::Is(format) => {
                let reading = formats::read_file(
                    format,
                    &File {
                        name: file,
                        bytes,
                        folder: place.folder,
                        measuring: options.measuring.as_deref(),
                        keeps_answers: options.keeps_answers,
                    },
                );
                self.reading(file, format, reading);
            }
            Verdict::Skip(reason) => self.skip(file, reason),
            Verdict::Broken(fault) => self.damage(file, &fault),
        }
    }

    fn reading(&mut self, file: &str, format: Format, mut reading: Reading) {
        Exchange::mark_unanswered(&mut reading.exchanges);
        let skipped = reading.skipped.into_iter();
        self.skipped.extend(skipped.map(|reason| Skipped { file: file.to_owned(), reason, is_entry: true }));
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
        self.skipped.push(Skipped { file: file.to_owned(), reason: reason.into(), is_entry: false });
    }

    fn damage(&mut self, file: &str, fault: &Fault) {
        let reason = fault.to_string();
        self.unreadable.push(Unreadable {
            file: file.to_owned(),
            line: fault.line,
            reason,
            of_answer: fault.of_answer,
        });
    }
}
