//! Files below a path, in the order of their names, so that nothing depends on the file system.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Skipped, Unreadable};
use crate::formats::Format;

/// A file to read.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Its name in messages: `/` between its parts, whatever the system.
    pub name: String,
    /// Its path.
    pub path: PathBuf,
    /// Its path without symbolic links.
    pub real: PathBuf,
    /// Its size as stored.
    pub bytes: u64,
    /// It can be read again: it is not a pipe.
    pub rereadable: bool,
}

/// The files below a path.
#[derive(Default)]
pub(super) struct Walk {
    pub files: Vec<Found>,
    pub skipped: Vec<Skipped>,
    pub unreadable: Vec<Unreadable>,
    seen: BTreeSet<PathBuf>,
    /// The path without symbolic links.
    pub root: PathBuf,
}

/// Walks a file or a folder. Symbolic links are followed, but no folder is entered twice and nothing is read twice. The named
/// path itself may be a pipe; pipes in folders are skipped.
pub(super) fn walk(path: &Path) -> io::Result<Walk> {
    let name = path.to_string_lossy().into_owned();
    let meta = fs::metadata(path)?;
    if !meta.is_dir() {
        let root = real(path);
        let found =
            Found { name, path: path.to_owned(), real: root.clone(), bytes: meta.len(), rereadable: meta.is_file() };
        return Ok(Walk { root, files: vec![found], ..Walk::default() });
    }
    let mut walk = Walk { root: fs::canonicalize(path)?, ..Walk::default() };
    fs::read_dir(path)?;
    let real = walk.root.clone();
    walk.folder(&name, path, &real);
    Ok(walk)
}

/// Whether the folder `own` has only bodies that a recording among its siblings refers to.
fn has_bodies_of_a_sibling(own: &str, siblings: &[String]) -> bool {
    let Some(owner) = Format::owner_of_bodies(own) else { return false };
    let is_owner = |sibling: &String| {
        sibling.strip_prefix(owner).is_some_and(|ending| ending.is_empty() || ending.starts_with(".json"))
    };
    siblings.iter().any(is_owner)
}

/// A path without symbolic links. Pipes of a shell (`/dev/fd/63`) have none and keep their names.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

impl Walk {
    /// `real` is the folder's path without links. Below a folder it is joined from names, because the system would resolve
    /// the whole path again for each folder.
    fn folder(&mut self, name: &str, path: &Path, real: &Path) {
        if !self.seen.insert(real.to_owned()) {
            return self.skip(name, "a folder that was read already, through a symbolic link");
        }
        let mut entries = match fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(error) => return self.fail(name, &error),
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        let names: Vec<String> = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        for (entry, own) in entries.iter().zip(&names) {
            let below = format!("{}/{own}", name.trim_end_matches('/'));
            match has_bodies_of_a_sibling(own, &names) && entry.path().is_dir() {
                true => self.skip(&below, "bodies, read with the recording beside this folder"),
                false => self.entry(below, entry, real),
            }
        }
    }

    fn entry(&mut self, name: String, entry: &fs::DirEntry, folder: &Path) {
        let path = entry.path();
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        let real = if is_link { fs::canonicalize(&path) } else { Ok(folder.join(entry.file_name())) };
        match (real, fs::metadata(&path)) {
            (Ok(real), _) if is_link && real.starts_with(&self.root) => {
                self.skip(&name, "a symbolic link to what is read anyway");
            }
            (Ok(real), Ok(meta)) if meta.is_dir() => self.folder(&name, &path, &real),
            (Err(error), Ok(meta)) if meta.is_dir() => self.fail(&name, &error),
            (real, Ok(meta)) => self.file(name, real.unwrap_or_else(|_| path.clone()), path, &meta),
            (_, Err(error)) => self.fail(&name, &error),
        }
    }

    fn file(&mut self, name: String, real: PathBuf, path: PathBuf, meta: &fs::Metadata) {
        if meta.is_file() {
            self.files.push(Found { name, path, real, bytes: meta.len(), rereadable: true });
        } else {
            self.skip(&name, "neither file nor folder");
        }
    }

    fn skip(&mut self, name: &str, reason: &str) {
        self.skipped.push(Skipped { file: name.to_owned(), reason: reason.to_owned(), is_entry: false });
    }

    fn fail(&mut self, name: &str, error: &io::Error) {
        let reason = format!("cannot be opened: {error}");
        self.unreadable.push(Unreadable { file: name.to_owned(), line: 0, reason, of_answer: false });
    }
}
