//! A replay on disk: `run.json`, `ledger.jsonl`, `requests.csv`, `timeline.svg`, `timeline.png`, and where the user asks
//! for them the bodies of the requests, `bodies/NNNNN.json`.

mod fanout;
pub mod reading;
mod simulated;

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::figures::{png, timeline};
use crate::format::{ledger, replay, requests};
use crate::report::{Entry, Report};

/// What cannot be done with a folder.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FolderError {
    /// It holds something else.
    #[error("{}: the folder is not empty and holds no {RUN} of forkcast; name another, or say --overwrite", .0.display())]
    Foreign(PathBuf),
    /// It is no folder.
    #[error("{}: is no folder", .0.display())]
    NoFolder(PathBuf),
    /// The system refuses.
    #[error("{}: {source}", path.display())]
    Io {
        /// Folder or file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The picture cannot be made of its text.
    #[error("{}: {source}", path.display())]
    Picture {
        /// File.
        path: PathBuf,
        /// Why.
        source: png::PictureError,
    },
}

/// The files of which one shows whose the folder is.
const RUN: &str = "run.json";
const FANOUT: &str = "fanout.json";
const LEDGER: &str = "ledger.jsonl";
const REQUESTS: &str = "requests.csv";

/// The folder of the bodies.
const BODIES: &str = "bodies";

/// The file of the body of request `index`.
fn body_name(index: usize) -> String {
    format!("{index:05}.json")
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Names of the files.
    pub files: Vec<&'static str>,
    /// How many bodies, where they were asked for.
    pub bodies: Option<usize>,
}

/// A folder that may be written to.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes the folder, or takes one that is empty or was made here; with `overwrite` any.
    ///
    /// # Errors
    /// When it holds something else or cannot be made.
    pub fn open(path: &Path, overwrite: bool) -> Result<Self, FolderError> {
        let failed = |source| FolderError::Io { path: path.to_owned(), source };
        if path.exists() && !path.is_dir() {
            return Err(FolderError::NoFolder(path.to_owned()));
        }
        fs::create_dir_all(path).map_err(failed)?;
        let empty = fs::read_dir(path).map_err(failed)?.next().is_none();
        if empty || overwrite || [RUN, FANOUT].iter().any(|name| made_here(&path.join(name))) {
            return Ok(Self { path: path.to_owned() });
        }
        Err(FolderError::Foreign(path.to_owned()))
    }

    /// Writes all files; others in the folder are left alone. The record comes first, so that what breaks off is known
    /// as a folder of ours. Gives the names of the files.
    ///
    /// With `bodies` also the body of every request that was recorded as sent: its bytes, or their translation where the client
    /// spelled them for another platform. With them the folder needs the recordings no more.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, report: &Report<'_>, bodies: bool) -> Result<Written, FolderError> {
        self.file(RUN, |target| replay::write(report, target))?;
        let bodies = if bodies { Some(Bodies::begin(self.path.join(BODIES))?) } else { None };
        let (requests, bodies) = self.requests(report, bodies)?;
        let svg = timeline::svg(report, requests);
        self.file("timeline.svg", |target| target.write_all(svg.as_bytes()))?;
        let picture = |source| FolderError::Picture { path: self.path.join("timeline.png"), source };
        let png = png::from_svg(&svg).map_err(picture)?;
        self.file("timeline.png", |target| target.write_all(&png))?;
        Ok(Written { files: vec![RUN, LEDGER, REQUESTS, "timeline.svg", "timeline.png"], bodies })
    }

    /// Writes what has a line or a file for each request, in one pass.
    fn requests(
        &self,
        report: &Report<'_>,
        mut bodies: Option<Bodies>,
    ) -> Result<(timeline::Requests, Option<usize>), FolderError> {
        let (mut ledger, mut table) = (self.create(LEDGER)?, self.create(REQUESTS)?);
        requests::begin(&mut table.target).map_err(|source| table.failed(source))?;
        let mut found = timeline::Requests::default();
        let mut done = Ok(());
        report.each(&mut |entry| {
            found.add(report, entry);
            if done.is_ok() {
                done = ledger
                    .write(|target| ledger::write(report, entry, target))
                    .and_then(|()| table.write(|target| requests::write(report, entry, target)))
                    .and_then(|()| bodies.as_mut().map_or(Ok(()), |bodies| bodies.write(entry)));
            }
        });
        done?;
        ledger.write(|target| target.flush())?;
        table.write(|target| target.flush())?;
        Ok((found, bodies.map(|bodies| bodies.written)))
    }

    fn create(&self, name: &str) -> Result<Lines, FolderError> {
        let path = self.path.join(name);
        match File::create(&path) {
            Ok(file) => Ok(Lines { path, target: BufWriter::new(file) }),
            Err(source) => Err(FolderError::Io { path, source }),
        }
    }

    fn file(&self, name: &str, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), FolderError> {
        let path = self.path.join(name);
        let written = File::create(&path).and_then(|file| {
            let mut target = BufWriter::new(file);
            write(&mut target)?;
            target.flush()
        });
        written.map_err(|source| FolderError::Io { path, source })
    }
}

/// A file that grows by a line for each request.
struct Lines {
    path: PathBuf,
    target: BufWriter<File>,
}

impl Lines {
    fn write(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), FolderError> {
        write(&mut self.target).map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> FolderError {
        FolderError::Io { path: self.path.clone(), source }
    }
}

/// The folder of bodies.
struct Bodies {
    folder: PathBuf,
    written: usize,
}

impl Bodies {
    /// Empties the folder, or makes it.
    fn begin(folder: PathBuf) -> Result<Self, FolderError> {
        let emptied = if folder.exists() { fs::remove_dir_all(&folder) } else { Ok(()) };
        match emptied.and_then(|()| fs::create_dir_all(&folder)) {
            Ok(()) => Ok(Self { folder, written: 0 }),
            Err(source) => Err(FolderError::Io { path: folder, source }),
        }
    }

    fn write(&mut self, entry: &Entry<'_>) -> Result<(), FolderError> {
        let Some(exchange) = entry.exchange else { return Ok(()) };
        let path = self.folder.join(body_name(entry.line.index));
        self.written += 1;
        fs::write(&path, &exchange.body).map_err(|source| FolderError::Io { path, source })
    }
}

/// Whether a file begins as the record of a run does.
fn made_here(path: &Path) -> bool {
    begins_with(path, "\"schema\": \"forkcast.")
}

/// Whether a word stands at the head of a file.
fn begins_with(path: &Path, word: &str) -> bool {
    const HEAD_BYTES: u64 = 64;
    let mut head = String::new();
    let read = File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_string(&mut head));
    read.is_ok() && head.contains(word)
}
