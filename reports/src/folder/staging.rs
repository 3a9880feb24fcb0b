//! The temporary folder to which a result is written before it is placed. It is created next to the target folder or,
//! if that is impossible, inside it. A killed process does not remove its temporary folder; the next run does.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use forkcast_replay::output::disk::{Disk, Target, fresh, is_fresh};

use super::manifest::{MANIFEST, Manifest};
use super::{BODIES, FolderError, body_name};

/// Prefix of temporary folders.
const STAGING: &str = ".forkcast-";

/// Whether a name is that of a temporary folder.
pub(super) fn is_staging(name: &str) -> bool {
    is_fresh(name, STAGING, "")
}

/// A temporary folder with the result so far.
#[derive(Debug)]
pub(super) struct Staging {
    pub disk: Rc<dyn Disk>,
    pub path: PathBuf,
    /// The folder that the result is for; error messages show paths in it.
    target: PathBuf,
    /// The temporary folder is inside the target folder.
    pub is_inside: bool,
    /// The files written so far.
    pub manifest: Manifest,
    /// A lock for the life of the process, so that no other process removes the folder as a leftover.
    _held: Option<File>,
}

impl Staging {
    /// Creates the folder and removes leftovers of killed processes; in the writer's turn.
    ///
    /// # Errors
    /// When no temporary folder can be created.
    pub fn begin(disk: &Rc<dyn Disk>, target: &Path) -> Result<Self, FolderError> {
        let parent = parent_of(target);
        [Some(&*parent), target.is_dir().then_some(target)]
            .into_iter()
            .flatten()
            .for_each(|folder| remove_leftovers(&**disk, folder));
        let beside = Self::in_folder(disk, &parent, target);
        let made = match beside {
            // The parent folder is not writable, or the target is a mount point.
            Err(_) if target.is_dir() => Self::in_folder(disk, target, target),
            Ok(made) if target.is_dir() && !made.can_move_into(target) => {
                drop(made);
                Self::in_folder(disk, target, target)
            }
            beside => beside,
        };
        let made = made.map_err(|source| FolderError::Io { path: target.to_owned(), source })?;
        // A private target folder needs a private temporary folder.
        if let Ok(meta) = fs::metadata(target) {
            made.disk.take_mode(&made.path, &meta).map_err(|source| made.failed(target, source))?;
        }
        Ok(made)
    }

    fn in_folder(disk: &Rc<dyn Disk>, folder: &Path, target: &Path) -> io::Result<Self> {
        let ((), path) = fresh(folder, STAGING, "", |path| disk.create_folder(path))?;
        // Systems that cannot lock folders never remove leftovers either.
        let held = File::open(&path).and_then(|held| held.lock().map(|()| held)).ok();
        Ok(Self {
            disk: Rc::clone(disk),
            path,
            target: target.to_owned(),
            is_inside: folder == target,
            manifest: Manifest::default(),
            _held: held,
        })
    }

    /// Whether its files can be renamed into a folder. Tested by renaming the (empty) temporary folder there and back.
    fn can_move_into(&self, target: &Path) -> bool {
        let Some(there) = self.path.file_name().map(|name| target.join(name)) else { return false };
        self.disk.rename(&self.path, &there).and_then(|()| self.disk.rename(&there, &self.path)).is_ok()
    }

    /// Creates a file.
    ///
    /// # Errors
    /// On an error of the system.
    pub fn create(&mut self, name: &str) -> Result<Lines, FolderError> {
        self.manifest.files.insert(name.to_owned());
        let path = self.target.join(name);
        match Target::create(&self.disk, &self.path.join(name)) {
            Ok(file) => Ok(Lines { path, target: BufWriter::new(file) }),
            Err(source) => Err(FolderError::Io { path, source }),
        }
    }

    /// Removes a file that was created.
    ///
    /// # Errors
    /// On an error of the system.
    pub fn remove(&mut self, name: &str) -> Result<(), FolderError> {
        self.disk.remove_file(&self.path.join(name)).map_err(|source| self.failed(&self.target.join(name), source))
    }

    /// Writes a file.
    ///
    /// # Errors
    /// On an error of the system.
    pub fn file(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), FolderError> {
        let mut lines = self.create(name)?;
        lines.write(write)?;
        lines.end()
    }

    /// Writes the body of a request. Bodies are not synced: there may be 100,000 of them.
    ///
    /// # Errors
    /// On an error of the system.
    pub fn body(&mut self, index: usize, bytes: &[u8]) -> Result<(), FolderError> {
        let folder = self.path.join(BODIES);
        if !self.manifest.has_bodies() {
            self.disk.create_folder(&folder).map_err(|source| self.failed(&self.target.join(BODIES), source))?;
        }
        self.manifest.add_body(index);
        let name = body_name(index);
        let written = Target::create(&self.disk, &folder.join(&name)).and_then(|mut target| target.write_all(bytes));
        written.map_err(|source| self.failed(&self.target.join(BODIES).join(name), source))
    }

    /// Writes the manifest file.
    ///
    /// # Errors
    /// On an error of the system.
    pub fn write_manifest(&mut self, manifest: &Manifest) -> Result<(), FolderError> {
        self.file(MANIFEST, |target| target.write_all(manifest.text().as_bytes()))
    }

    pub fn failed(&self, path: &Path, source: io::Error) -> FolderError {
        FolderError::Io { path: path.to_owned(), source }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // If this fails, the next run removes the folder.
        drop(remove(&*self.disk, &self.path, &self.manifest));
    }
}

/// A file that is being written.
#[derive(Debug)]
pub(super) struct Lines {
    /// Its path after placing, for error messages.
    path: PathBuf,
    target: BufWriter<Target>,
}

impl Lines {
    pub fn write(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), FolderError> {
        write(&mut self.target).map_err(|source| FolderError::Io { path: self.path.clone(), source })
    }

    pub fn end(mut self) -> Result<(), FolderError> {
        let ended = self.target.flush().and_then(|()| self.target.get_ref().sync());
        ended.map_err(|source| FolderError::Io { path: self.path, source })
    }
}

/// Removes the files of a manifest one by one, then the folder if it is empty.
///
/// # Errors
/// The first error of the system; also when the folder holds other files.
pub(super) fn remove(disk: &dyn Disk, folder: &Path, manifest: &Manifest) -> io::Result<()> {
    remove_bodies(disk, folder, |name| manifest.has_body_named(name))?;
    // The manifest is last: it says which files are ours.
    for name in manifest.files.iter().filter(|name| *name != MANIFEST) {
        unless_missing(disk.remove_file(&folder.join(name)))?;
    }
    unless_missing(disk.remove_file(&folder.join(MANIFEST)))?;
    unless_missing(disk.remove_folder(folder))
}

/// Removes selected bodies by name, then their folder if it is empty.
///
/// # Errors
/// The first error of the system; also when the folder holds other files.
pub(super) fn remove_bodies(disk: &dyn Disk, folder: &Path, is_removed: impl Fn(&str) -> bool) -> io::Result<()> {
    let bodies = folder.join(BODIES);
    // Never follow a symbolic link.
    if !fs::symlink_metadata(&bodies).is_ok_and(|meta| meta.is_dir()) {
        return Ok(());
    }
    for entry in fs::read_dir(&bodies)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(&is_removed) && entry.file_type()?.is_file() {
            unless_missing(disk.remove_file(&entry.path()))?;
        }
    }
    match disk.remove_folder(&bodies) {
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(()),
        other => unless_missing(other),
    }
}

/// A missing file counts as removed.
pub(super) fn unless_missing(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Removes temporary folders of killed processes: folders with our prefix that no process has locked, and in them only files with
/// names that the program writes.
fn remove_leftovers(disk: &dyn Disk, folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let is_ours =
            entry.file_name().to_str().is_some_and(is_staging) && entry.file_type().is_ok_and(|kind| kind.is_dir());
        let Some(held) = is_ours.then(|| File::open(entry.path()).ok()).flatten() else { continue };
        if held.try_lock().is_ok() {
            // Errors are harmless here: the next run tries again.
            drop(Manifest::by_name(&entry.path()).and_then(|left| remove(disk, &entry.path(), &left)));
        }
    }
}

/// The parent folder of a path.
pub(super) fn parent_of(target: &Path) -> PathBuf {
    match target.parent() {
        Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
        Some(parent) => parent.to_owned(),
        None => target.to_owned(),
    }
}

/// Creates the missing folders of a path.
pub(super) fn make_folders(disk: &dyn Disk, path: &Path) -> Result<(), FolderError> {
    let missing: Vec<&Path> =
        path.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists()).collect();
    for folder in missing.into_iter().rev() {
        match disk.create_folder(folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(FolderError::Io { path: folder.to_owned(), source: error });
            }
            _ => {}
        }
    }
    Ok(())
}
