//! A replay on disk: `run.json`, `ledger.jsonl`, `requests.csv`, `timeline.svg`, `timeline.png`.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::figures::{png, timeline};
use crate::format::{ledger, replay, requests};
use crate::report::Report;

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

/// The file that shows whose the folder is.
const RUN: &str = "run.json";

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
        if empty || overwrite || made_here(&path.join(RUN)) {
            return Ok(Self { path: path.to_owned() });
        }
        Err(FolderError::Foreign(path.to_owned()))
    }

    /// Writes all files; others in the folder are left alone. The record comes first, so that what breaks off is known
    /// as a folder of ours. Gives the names of the files.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, report: &Report<'_>) -> Result<Vec<&'static str>, FolderError> {
        self.file(RUN, |target| replay::write(report, target))?;
        self.file("ledger.jsonl", |target| ledger::write(report, target))?;
        self.file("requests.csv", |target| requests::write(report, target))?;
        let svg = timeline::svg(report);
        self.file("timeline.svg", |target| target.write_all(svg.as_bytes()))?;
        let picture = |source| FolderError::Picture { path: self.path.join("timeline.png"), source };
        let png = png::from_svg(&svg).map_err(picture)?;
        self.file("timeline.png", |target| target.write_all(&png))?;
        Ok(vec![RUN, "ledger.jsonl", "requests.csv", "timeline.svg", "timeline.png"])
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

/// Whether a file begins as the record of a run does.
fn made_here(path: &Path) -> bool {
    const HEAD_BYTES: u64 = 64;
    let mut head = String::new();
    let read = File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_string(&mut head));
    read.is_ok() && head.contains("\"schema\": \"forkcast.")
}
