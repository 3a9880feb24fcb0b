//! Progress of reading, and whether it continues.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::natural;
use super::walk::{self, Found, Walk};
use crate::error::Error;

/// Progress of reading. Sizes are those of the files as stored; standard input is not included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Files read so far.
    pub files_done: usize,
    /// All files.
    pub files: usize,
    /// Bytes of the files read so far.
    pub bytes_done: u64,
    /// Bytes of all.
    pub bytes: u64,
}

/// A named path and the files below it; `None` for standard input.
pub(super) struct Named {
    pub name: String,
    pub walk: Option<Walk>,
}

impl Named {
    /// Walks a path.
    pub fn find(path: &Path) -> Result<Self, Error> {
        let name = path.to_string_lossy().into_owned();
        if name == "-" {
            return Ok(Self { name, walk: None });
        }
        match walk::walk(path) {
            Ok(walk) => Ok(Self { name, walk: Some(walk) }),
            Err(source) => Err(Error::Open { path: name, source }),
        }
    }

    /// Walks all paths. A file below several paths belongs to the outermost one, whatever their order; a path that has none
    /// left is dropped. Paths keep their order, but files that a shell's pattern may have given are in the order of their
    /// names, with numbers compared as numbers.
    pub fn find_all(paths: &[impl AsRef<Path>]) -> Result<Vec<Self>, Error> {
        let mut all = paths.iter().map(|path| Self::find(path.as_ref())).collect::<Result<Vec<_>, _>>()?;
        if all.len() < 2 {
            return Ok(all);
        }
        let needed = read_once(&mut all);
        let needed = all.into_iter().zip(needed).filter(|(_, needed)| *needed);
        let mut all: Vec<Self> = needed.map(|(named, _)| named).collect();
        if all.iter().all(Self::is_file) && are_of_pattern(&all) {
            all.sort_by(|one, other| natural::compare(&one.name, &other.name));
        }
        Ok(all)
    }

    fn is_file(&self) -> bool {
        self.walk.as_ref().is_some_and(|walk| walk.root.is_file())
    }

    pub fn files(&self) -> impl Iterator<Item = &Found> {
        self.walk.iter().flat_map(|walk| &walk.files)
    }
}

/// Whether these may be the names that a shell found for a pattern: it sorts them, in some languages without case.
fn are_of_pattern(named: &[Named]) -> bool {
    let small = |named: &Named| named.name.to_lowercase();
    named.is_sorted_by_key(|named| named.name.clone()) || named.is_sorted_by_key(small)
}

/// Keeps each file only in the outermost path above it, and returns which paths are still needed.
fn read_once(all: &mut [Named]) -> Vec<bool> {
    let mut outermost: Vec<usize> = (0..all.len()).collect();
    outermost.sort_by_cached_key(|at| {
        let root = all[*at].walk.as_ref().map(|walk| walk.root.clone()).unwrap_or_default();
        (root.components().count(), root)
    });
    let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
    let mut needed = vec![true; all.len()];
    for at in outermost {
        let Some(walk) = &mut all[at].walk else { continue };
        let before = walk.files.len();
        walk.files.retain(|found| seen.insert(found.real.clone()));
        needed[at] = before == 0 || !walk.files.is_empty();
    }
    needed
}

/// Counts the files that the threads have read, and reports progress.
pub(super) struct Meter<'a> {
    files: usize,
    bytes: u64,
    files_done: AtomicUsize,
    bytes_done: AtomicU64,
    unread: AtomicUsize,
    stopped: AtomicBool,
    watch: &'a (dyn Fn(Progress) -> bool + Sync),
}

impl<'a> Meter<'a> {
    pub fn new<'f>(files: impl Iterator<Item = &'f Found>, watch: &'a (dyn Fn(Progress) -> bool + Sync)) -> Self {
        let (files, bytes) =
            files.fold((0, 0_u64), |(files, bytes), file| (files + 1, bytes.saturating_add(file.bytes)));
        Self {
            files,
            bytes,
            files_done: AtomicUsize::new(0),
            bytes_done: AtomicU64::new(0),
            unread: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            watch,
        }
    }

    /// Whether to read the next file. One that is not read is counted.
    pub fn goes_on(&self) -> bool {
        let stopped = self.stopped.load(Ordering::Relaxed);
        if stopped {
            self.unread.fetch_add(1, Ordering::Relaxed);
        }
        !stopped
    }

    /// A file was read.
    pub fn done(&self, bytes: u64) {
        let progress = Progress {
            files_done: self.files_done.fetch_add(1, Ordering::Relaxed) + 1,
            files: self.files,
            bytes_done: self.bytes_done.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes),
            bytes: self.bytes,
        };
        if !(self.watch)(progress) {
            self.stopped.store(true, Ordering::Relaxed);
        }
    }

    /// Files that were not read.
    pub fn unread(&self) -> usize {
        self.unread.load(Ordering::Relaxed)
    }
}
