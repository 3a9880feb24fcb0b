//! Files below a path, in the order of their names, so that nothing depends on the file system.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Skipped, Unreadable};

/// A file to read.
pub(super) struct Found {
    /// Its name in messages: `/` between its parts, whatever the system.
    pub name: String,
    /// Its path.
    pub path: PathBuf,
    /// Its size as stored.
    pub bytes: u64,
}

/// What lies below a path.
#[derive(Default)]
pub(super) struct Walk {
    pub files: Vec<Found>,
    pub skipped: Vec<Skipped>,
    pub unreadable: Vec<Unreadable>,
    seen: BTreeSet<PathBuf>,
    root: PathBuf,
}

/// Walks a file or a folder. Symbolic links are followed, but no folder is entered twice and nothing is read twice.
pub(super) fn walk(path: &Path) -> io::Result<Walk> {
    let mut walk = Walk { root: fs::canonicalize(path)?, ..Walk::default() };
    let name = path.to_string_lossy().into_owned();
    let meta = fs::metadata(path)?;
    if meta.is_dir() {
        fs::read_dir(path)?;
        walk.folder(&name, path);
    } else {
        walk.file(name, path.to_owned(), &meta);
    }
    Ok(walk)
}

impl Walk {
    fn folder(&mut self, name: &str, path: &Path) {
        match fs::canonicalize(path).map(|real| self.seen.insert(real)) {
            Ok(true) => {}
            Ok(false) => return self.skip(name, "a folder that was read already, through a symbolic link"),
            Err(error) => return self.fail(name, &error),
        }
        let mut entries = match fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(error) => return self.fail(name, &error),
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let below = format!("{}/{}", name.trim_end_matches('/'), entry.file_name().to_string_lossy());
            self.entry(below, &entry);
        }
    }

    fn entry(&mut self, name: String, entry: &fs::DirEntry) {
        let path = entry.path();
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        let target = if is_link { fs::canonicalize(&path) } else { Ok(path.clone()) };
        match (target, fs::metadata(&path)) {
            (Ok(target), _) if is_link && target.starts_with(&self.root) => {
                self.skip(&name, "a symbolic link to what is read anyway");
            }
            (_, Ok(meta)) if meta.is_dir() => self.folder(&name, &path),
            (_, Ok(meta)) => self.file(name, path, &meta),
            (_, Err(error)) => self.fail(&name, &error),
        }
    }

    fn file(&mut self, name: String, path: PathBuf, meta: &fs::Metadata) {
        if meta.is_file() {
            self.files.push(Found { name, path, bytes: meta.len() });
        } else {
            self.skip(&name, "neither file nor folder");
        }
    }

    fn skip(&mut self, name: &str, reason: &str) {
        self.skipped.push(Skipped { file: name.to_owned(), reason: reason.to_owned() });
    }

    fn fail(&mut self, name: &str, error: &io::Error) {
        let reason = format!("cannot be opened: {error}");
        self.unreadable.push(Unreadable { file: name.to_owned(), line: 0, reason });
    }
}
