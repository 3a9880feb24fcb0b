//! A result on disk. A replay writes `run.json`, `ledger.jsonl`, `requests.csv`, `timeline.svg`, `timeline.png` and optionally the
//! bodies of the requests, `bodies/NNNNN.json`; a run with bodies also writes all calls with their answers, `exchanges.jsonl`.
//!
//! * [`manifest`](mod@manifest): `manifest.json`, the list of our files. No other file is ever replaced or removed.
//! * `staging`: the temporary folder that a result is written to.
//! * `placing`: moves the finished result to its target, atomically if possible.
//! * [`rows`]: the parts of a result with something for each request.
//! * [`reading`]: reads a folder back.

mod fanout;
#[cfg(test)]
mod faults;
pub mod manifest;
mod placing;
pub mod reading;
pub mod rows;
mod simulated;
mod staging;
mod sums;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use forkcast_replay::output::disk::{Disk, System};

use thiserror::Error;

use crate::figures::png;
use crate::format::replay;
use crate::report::{Report, Senders};
use manifest::{MANIFEST, Manifest};
use placing::{Existing, Turn};
use rows::Rows;
use staging::{Staging, make_folders, parent_of};

/// Errors of a folder.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FolderError {
    /// It contains something else.
    #[error("{}: the folder is not empty and holds no result of forkcast; name another, or say --overwrite", .0.display())]
    Foreign(PathBuf),
    /// A file that is not ours has the name of a new file.
    #[error("{}: exists and is not listed as ours in {MANIFEST} of the output folder; not replaced, name another folder", .0.display())]
    Occupied(PathBuf),
    /// An input would be replaced.
    #[error("{}: this input is part of the older result that would be replaced; name another output folder", .0.display())]
    Input(PathBuf),
    /// It is not a folder.
    #[error("{}: is no folder", .0.display())]
    NoFolder(PathBuf),
    /// An error of the system.
    #[error("{}: {source}", path.display())]
    Io {
        /// Folder or file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The picture cannot be made from its text.
    #[error("{}: {source}", path.display())]
    Picture {
        /// File.
        path: PathBuf,
        /// Why.
        source: png::PictureError,
    },
}

/// The files that identify our folders.
const RUN: &str = "run.json";
const FANOUT: &str = "fanout.json";
const LEDGER: &str = "ledger.jsonl";
const REQUESTS: &str = "requests.csv";

/// The calls of a simulated run with their answers, if its bodies are kept: a recording.
const EXCHANGES: &str = "exchanges.jsonl";

/// The folder of the bodies.
const BODIES: &str = "bodies";

/// The file of the body of request `index`.
fn body_name(index: usize) -> String {
    format!("{index:05}.json")
}

/// The written files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Names of the files.
    pub files: Vec<String>,
    /// The number of bodies, if requested.
    pub bodies: Option<usize>,
}

/// The kind of result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// A replay.
    Replay,
    /// A simulated run.
    Run,
    /// A fan-out; the names of its plots depend on the result.
    Fanout,
}

impl Contents {
    /// The files that are always written.
    const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Replay => &[RUN, LEDGER, REQUESTS, "timeline.svg", "timeline.png"],
            Self::Run => &[RUN, LEDGER, REQUESTS, "timeline.svg", "timeline.png", "ribbon.svg", "ribbon.png"],
            Self::Fanout => &[FANOUT, "fanout.csv"],
        }
    }
}

/// A target folder with its temporary folder. The target changes only when the whole result is written.
#[derive(Debug)]
pub struct Folder {
    target: PathBuf,
    overwrite: bool,
    staging: Staging,
}

impl Folder {
    /// Prepares to write into a folder that is missing, is empty or contains an older result; with `overwrite` also
    /// into a folder with other files, which stay. `inputs` are the paths that will be read.
    ///
    /// # Errors
    /// When the folder is not ours or not writable, or when a protected file or an input would be replaced.
    pub fn open(path: &Path, contents: Contents, overwrite: bool, inputs: &[PathBuf]) -> Result<Self, FolderError> {
        let disk: Rc<dyn Disk> = Rc::new(System);
        Self::on(&disk, path, contents, overwrite, inputs)
    }

    fn on(
        disk: &Rc<dyn Disk>,
        path: &Path,
        contents: Contents,
        overwrite: bool,
        inputs: &[PathBuf],
    ) -> Result<Self, FolderError> {
        let failed = |source| FolderError::Io { path: path.to_owned(), source };
        if path.exists() && !path.is_dir() {
            return Err(FolderError::NoFolder(path.to_owned()));
        }
        make_folders(&**disk, &parent_of(path))?;
        // If the path is a symbolic link, write to the folder that it points to.
        let target = if path.is_dir() { fs::canonicalize(path).map_err(failed)? } else { path.to_owned() };
        let _turn = Turn::wait_for(&target);
        if target.is_dir() {
            let existing = Existing::of(path)?;
            existing.check(path, &Manifest::of_names(contents.names()), overwrite)?;
            if let Some(manifest) = existing.manifest.filter(Manifest::has_bodies) {
                check_inputs(path, &manifest, inputs)?;
            }
        }
        let staging = Staging::begin(disk, &target)?;
        Ok(Self { target, overwrite, staging })
    }

    /// Writes a replay; an older result is replaced. The requests pass again; [`Report::watched`] saves this.
    ///
    /// # Errors
    /// When a file cannot be written; the folder is then unchanged.
    pub fn write(mut self, report: &Report<'_>, bodies: bool) -> Result<Written, FolderError> {
        let mut rows = self.rows(bodies)?;
        report.each(&mut |entry| self.take(&mut rows, &Senders::from(report), &[*entry]));
        self.finish(report, rows)
    }

    /// Writes the rest of a replay whose requests were written while they passed.
    ///
    /// # Errors
    /// When a file cannot be written; the folder is then unchanged.
    pub fn finish(mut self, report: &Report<'_>, rows: Rows) -> Result<Written, FolderError> {
        self.file(RUN, |target| replay::write(report, target))?;
        let bodies = rows.bodies;
        let timeline = rows.finish(report, &mut self.staging)?;
        self.picture(["timeline.svg", "timeline.png"], &timeline.svg(report))?;
        self.place()?;
        Ok(Written { files: named(Contents::Replay), bodies })
    }

    fn file(&mut self, name: &str, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), FolderError> {
        self.staging.file(name, write)
    }

    /// Writes a picture as SVG and as PNG.
    fn picture(&mut self, [svg_name, png_name]: [&str; 2], svg: &str) -> Result<(), FolderError> {
        self.file(svg_name, |target| target.write_all(svg.as_bytes()))?;
        let failed = |source| FolderError::Picture { path: self.target.join(png_name), source };
        let png = png::from_svg(svg).map_err(failed)?;
        self.file(png_name, |target| target.write_all(&png))
    }

    /// Moves the result to the target folder.
    fn place(self) -> Result<(), FolderError> {
        placing::place(self.staging, &self.target, self.overwrite)
    }
}

fn named(contents: Contents) -> Vec<String> {
    contents.names().iter().map(|name| (*name).to_owned()).collect()
}

/// Refuses if an input is among the bodies that would be replaced.
fn check_inputs(folder: &Path, manifest: &Manifest, inputs: &[PathBuf]) -> Result<(), FolderError> {
    let folder = fs::canonicalize(folder).map_err(|source| FolderError::Io { path: folder.to_owned(), source })?;
    let bodies = folder.join(BODIES);
    let is_replaced = |input: &PathBuf| {
        // Missing files, and `-` for standard input.
        let Ok(input) = fs::canonicalize(input) else { return false };
        let name = input.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        input == folder || input == bodies || input.parent() == Some(&bodies) && manifest.has_body_named(name)
    };
    match inputs.iter().find(|input| is_replaced(input)) {
        Some(input) => Err(FolderError::Input(input.clone())),
        None => Ok(()),
    }
}
