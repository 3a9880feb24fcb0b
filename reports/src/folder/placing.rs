//! Moves a finished result from its temporary folder to the target.
//!
//! | target | method | state after a kill |
//! |---|---|---|
//! | missing | rename the folder | new result or nothing |
//! | only an older result, or empty | exchange both folders atomically, then remove the old files one by one | old or new result |
//! | also other files; or a mount point, the working directory, a system without exchange | file by file | old or new result, or a folder with a manifest and no record, which is incomplete and which the next run replaces |
//!
//! File by file: (1) write a manifest of old and new files, (2) remove the old record, (3) rename the other files into the
//! target, (4) remove stale files, (5) rename the new record, (6) write the manifest of the new files.
//!
//! Concurrent writers take turns: each holds a lock on the folder around the target while it looks at the target, creates its
//! temporary folder or places the result.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

use super::manifest::{MANIFEST, Manifest, RECORDS};
use super::staging::{Staging, is_staging, parent_of, remove, remove_bodies, unless_missing};
use super::{BODIES, FolderError};

/// The contents of the target folder.
#[derive(Debug)]
pub(super) struct Existing {
    /// Our files; `None` if the folder is not ours.
    pub manifest: Option<Manifest>,
    /// Whether there is anything that is not ours.
    pub is_shared: bool,
    /// Whether there is nothing, ignoring temporary folders.
    pub is_empty: bool,
}

impl Existing {
    /// Lists an existing folder.
    pub fn of(folder: &Path) -> Result<Self, FolderError> {
        let failed = |source| FolderError::Io { path: folder.to_owned(), source };
        let manifest = Manifest::of(folder).map_err(failed)?;
        let mut found = Self { is_shared: false, is_empty: true, manifest };
        for entry in fs::read_dir(folder).map_err(failed)? {
            found.add(&entry.map_err(failed)?).map_err(failed)?;
        }
        Ok(found)
    }

    fn add(&mut self, entry: &fs::DirEntry) -> io::Result<()> {
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        let name = name.to_str().unwrap_or_default();
        if kind.is_dir() && is_staging(name) {
            self.is_shared = true;
            return Ok(());
        }
        self.is_empty = false;
        let is_ours = match &self.manifest {
            Some(manifest) if name == BODIES && kind.is_dir() => are_bodies(manifest, &entry.path())?,
            Some(manifest) => kind.is_file() && manifest.files.contains(name),
            None => false,
        };
        self.is_shared |= !is_ours;
        Ok(())
    }

    /// Refuses if the folder is not ours (unless `overwrite`) or if a file that is not ours has a name of a new file.
    pub fn check(&self, folder: &Path, new: &Manifest, overwrite: bool) -> Result<(), FolderError> {
        if self.manifest.is_none() && !self.is_empty && !overwrite {
            return Err(FolderError::Foreign(folder.to_owned()));
        }
        let old = self.manifest.clone().unwrap_or_default();
        for name in &new.files {
            let path = folder.join(name);
            let meta = fs::symlink_metadata(&path).ok();
            if meta.is_some_and(|meta| !(meta.is_file() && old.files.contains(name))) {
                return Err(FolderError::Occupied(path));
            }
        }
        if new.has_bodies() { check_bodies(&old, new, &folder.join(BODIES)) } else { Ok(()) }
    }
}

/// Whether a folder of bodies holds only our files.
fn are_bodies(manifest: &Manifest, folder: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_ours = entry.file_name().to_str().is_some_and(|name| manifest.has_body_named(name));
        if !is_ours || !entry.file_type()?.is_file() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Refuses if a body would replace a file that is not ours.
fn check_bodies(old: &Manifest, new: &Manifest, folder: &Path) -> Result<(), FolderError> {
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Ok(meta) if meta.is_dir() => {}
        _ => return Err(FolderError::Occupied(folder.to_owned())),
    }
    let failed = |source| FolderError::Io { path: folder.to_owned(), source };
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let is_file = entry.file_type().map_err(failed)?.is_file();
        let name = entry.file_name();
        let taken =
            name.to_str().is_some_and(|name| new.has_body_named(name) && !(is_file && old.has_body_named(name)));
        if taken {
            return Err(FolderError::Occupied(entry.path()));
        }
    }
    Ok(())
}

/// Moves the result to the target.
pub(super) fn place(mut staging: Staging, target: &Path, overwrite: bool) -> Result<(), FolderError> {
    let turn = Turn::wait_for(target);
    staging.manifest.files.insert(MANIFEST.to_owned());
    let placed =
        if target.is_dir() { place_into(&mut staging, target, overwrite) } else { place_folder(&mut staging, target) };
    // The temporary folder is removed before another writer may look.
    drop(staging);
    drop(turn);
    placed
}

/// Target missing: rename the folder.
fn place_folder(staging: &mut Staging, target: &Path) -> Result<(), FolderError> {
    write_manifest(staging)?;
    staging.disk.rename(&staging.path, target).map_err(|source| staging.failed(target, source))
}

/// Target exists.
fn place_into(staging: &mut Staging, target: &Path, overwrite: bool) -> Result<(), FolderError> {
    let existing = Existing::of(target)?;
    existing.check(target, &staging.manifest, overwrite)?;
    let old = existing.manifest.clone().unwrap_or_default();
    if !existing.is_shared && can_exchange(staging, target) {
        write_manifest(staging)?;
        if staging.disk.exchange(&staging.path, target).is_ok() {
            remove_old(staging, target, old);
            return Ok(());
        }
    }
    file_by_file(staging, target, &old)
}

fn write_manifest(staging: &mut Staging) -> Result<(), FolderError> {
    let manifest = staging.manifest.clone();
    staging.write_manifest(&manifest)
}

/// Whether the target may be exchanged: not if it contains the working directory, which would leave the shell in a removed
/// folder, nor if owner, group or device would change.
fn can_exchange(staging: &Staging, target: &Path) -> bool {
    let is_working_directory = std::env::current_dir().is_ok_and(|here| here.starts_with(target));
    !staging.is_inside && !is_working_directory && have_same_owner(&staging.path, target)
}

#[cfg(unix)]
fn have_same_owner(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owner = |path: &Path| fs::metadata(path).map(|meta| (meta.uid(), meta.gid(), meta.dev()));
    matches!((owner(one), owner(other)), (Ok(one), Ok(other)) if one == other)
}

#[cfg(not(unix))]
fn have_same_owner(_: &Path, _: &Path) -> bool {
    true
}

/// Removes the old result after an exchange. Errors are ignored: the new result is in place, and the next run removes leftovers.
/// Files that the user added in the meantime are moved to the new folder.
fn remove_old(staging: &mut Staging, target: &Path, old: Manifest) {
    if remove(&*staging.disk, &staging.path, &old).is_err() {
        let is_foreign = |name: &str| !old.files.contains(name) && name != BODIES;
        move_foreign(staging, &staging.path, target, is_foreign);
        move_foreign(staging, &staging.path.join(BODIES), &target.join(BODIES), |name| !old.has_body_named(name));
    }
    staging.manifest = old;
}

/// Moves entries that are not ours, unless the name is taken.
fn move_foreign(staging: &Staging, from: &Path, to: &Path, is_foreign: impl Fn(&str) -> bool) {
    let Ok(entries) = fs::read_dir(from) else { return };
    for entry in entries.flatten() {
        let there = to.join(entry.file_name());
        let moves = entry.file_name().to_str().is_none_or(&is_foreign) && fs::symlink_metadata(&there).is_err();
        if moves {
            if !to.is_dir() {
                drop(staging.disk.create_folder(to));
            }
            drop(staging.disk.rename(&entry.path(), &there));
        }
    }
}

fn file_by_file(staging: &mut Staging, target: &Path, old: &Manifest) -> Result<(), FolderError> {
    let new = staging.manifest.clone();
    let is_record = |name: &str| RECORDS.contains(&name);
    rewrite_manifest(staging, target, &new.union(old))?;
    for record in old.files.iter().filter(|name| is_record(name)) {
        remove_file_if_any(staging, &target.join(record))?;
    }
    for name in new.files.iter().filter(|name| !is_record(name) && *name != MANIFEST) {
        move_file(staging, &staging.path.join(name), &target.join(name))?;
    }
    if new.has_bodies() {
        move_bodies(staging, target)?;
    }
    for name in old.files.difference(&new.files).filter(|name| *name != MANIFEST) {
        remove_file_if_any(staging, &target.join(name))?;
    }
    if old.has_bodies() {
        let is_stale = |name: &str| old.has_body_named(name) && !new.has_body_named(name);
        remove_bodies(&*staging.disk, target, is_stale)
            .map_err(|source| staging.failed(&target.join(BODIES), source))?;
    }
    for record in new.files.iter().filter(|name| is_record(name)) {
        move_file(staging, &staging.path.join(record), &target.join(record))?;
    }
    rewrite_manifest(staging, target, &new)
}

/// Writes a manifest and renames it into the target.
fn rewrite_manifest(staging: &mut Staging, target: &Path, manifest: &Manifest) -> Result<(), FolderError> {
    let written = staging.path.join(MANIFEST);
    remove_file_if_any(staging, &written)?;
    staging.write_manifest(manifest)?;
    move_file(staging, &written, &target.join(MANIFEST))
}

fn move_bodies(staging: &Staging, target: &Path) -> Result<(), FolderError> {
    let (from, to) = (staging.path.join(BODIES), target.join(BODIES));
    if !to.is_dir() {
        staging.disk.create_folder(&to).map_err(|source| staging.failed(&to, source))?;
    }
    for entry in fs::read_dir(&from).map_err(|source| staging.failed(&from, source))? {
        let entry = entry.map_err(|source| staging.failed(&from, source))?;
        move_file(staging, &entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

fn move_file(staging: &Staging, from: &Path, to: &Path) -> Result<(), FolderError> {
    staging.disk.rename(from, to).map_err(|source| staging.failed(to, source))
}

fn remove_file_if_any(staging: &Staging, path: &Path) -> Result<(), FolderError> {
    unless_missing(staging.disk.remove_file(path)).map_err(|source| staging.failed(path, source))
}

/// A writer's turn: a lock on the folder around the target. It leaves no file behind, and the system releases it when
/// the process ends. If folders cannot be locked, writers do not wait for each other.
pub(super) struct Turn {
    _held: Option<File>,
}

impl Turn {
    /// Waits until no other writer holds it.
    pub fn wait_for(target: &Path) -> Self {
        let locked = |folder: &Path| File::open(folder).and_then(|folder| folder.lock().map(|()| folder));
        // A folder that may not be listed cannot be locked.
        Self { _held: locked(&parent_of(target)).or_else(|_| locked(target)).ok() }
    }
}
