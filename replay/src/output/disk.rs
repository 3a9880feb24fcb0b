//! Operations that change the disk. New files and folders get their mode from the umask.

use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Operations that change the disk, with the errors of the system. Tests use an implementation that fails at a chosen
/// operation instead of [`System`].
pub trait Disk: fmt::Debug {
    /// Creates a file; fails if it exists.
    fn create_file(&self, path: &Path) -> io::Result<File>;

    /// Creates a folder; fails if it exists.
    fn create_folder(&self, path: &Path) -> io::Result<()>;

    /// Writes some of the bytes and returns how many.
    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<usize>;

    /// Flushes a file to the disk, so that a later rename never names a file without its content. A full network disk may
    /// report its error only here.
    fn sync(&self, file: &File) -> io::Result<()>;

    /// Copies the mode of another file or folder.
    fn take_mode(&self, path: &Path, of: &Metadata) -> io::Result<()>;

    /// Renames a file or folder. An existing file of the new name is replaced.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Exchanges the names of two folders atomically; not every system supports this.
    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()>;

    /// Removes one file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty folder.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;
}

/// The real disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

impl Disk for System {
    fn create_file(&self, path: &Path) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(path)
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn write(&self, mut file: &File, bytes: &[u8]) -> io::Result<usize> {
        file.write(bytes)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn take_mode(&self, path: &Path, of: &Metadata) -> io::Result<()> {
        fs::set_permissions(path, of.permissions())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()> {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
    }

    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    fn exchange(&self, _: &Path, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }
}

/// A file that is being written.
#[derive(Debug)]
pub struct Target {
    disk: Rc<dyn Disk>,
    file: File,
}

impl Target {
    /// Creates a file; fails if it exists.
    pub fn create(disk: &Rc<dyn Disk>, path: &Path) -> io::Result<Self> {
        Ok(Self { disk: Rc::clone(disk), file: disk.create_file(path)? })
    }

    /// Flushes it to the disk.
    pub fn sync(&self) -> io::Result<()> {
        self.disk.sync(&self.file)
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.write(&self.file, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Random letters and digits in a fresh name.
const RANDOM_LENGTH: usize = 6;

/// Creates something under a new unique name: `prefix`, six random letters or digits, `suffix`. Returns it with its path.
pub fn fresh<T>(
    folder: &Path,
    prefix: &str,
    suffix: &str,
    make: impl FnMut(&Path) -> io::Result<T>,
) -> io::Result<(T, PathBuf)> {
    let mut names = tempfile::Builder::new();
    let names = names.prefix(prefix).suffix(suffix).rand_bytes(RANDOM_LENGTH);
    names.make_in(folder, make)?.keep().map_err(|error| error.error)
}

/// Whether a name has the form of [`fresh`].
pub fn is_fresh(name: &str, prefix: &str, suffix: &str) -> bool {
    let random = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(suffix));
    random.is_some_and(|random| random.len() == RANDOM_LENGTH && random.bytes().all(|c| c.is_ascii_alphanumeric()))
}
