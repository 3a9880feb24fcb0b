//! Writes one file that the user named. The content goes to a temporary file in the same folder, which is then renamed: if the
//! program is killed, either the old or the new file is there. A file that is not ours is never replaced, and nothing is written
//! through a symbolic link.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use thiserror::Error;

use super::disk::{Disk, System, Target, fresh, is_fresh};

/// Prefix of temporary files.
const UNFINISHED: &str = ".unfinished-";

/// Bytes that are read of an existing file to recognise it.
const HEAD_BYTES: u64 = 4096;

/// A kind of file that the program writes.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its name in error messages: `lock`.
    pub name: &'static str,
    /// Whether a file that begins with this text is of this kind. Empty files are not asked about: they can always be replaced.
    pub is_ours: fn(&str) -> bool,
}

/// Why a file was not written.
#[derive(Debug, Error)]
#[error("{}: {why}", path.display())]
pub struct NotWritten {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub why: Why,
}

/// Why a file was not written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Why {
    /// A file exists that is not ours.
    #[error("exists and is no {0} of forkcast; not replaced")]
    Foreign(&'static str),
    /// The path is a symbolic link.
    #[error("is a symbolic link; name the file that it points to")]
    Link,
    /// The path is a folder.
    #[error("is a folder")]
    Folder,
    /// The folder in which it would be is missing.
    #[error("its folder `{}` does not exist", .0.display())]
    NoFolder(PathBuf),
    /// An error of the system.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Whether a text begins with another, ignoring all white space.
pub fn begins(text: &str, with: &str) -> bool {
    let mut bare = text.chars().filter(|c| !c.is_whitespace());
    with.chars().filter(|c| !c.is_whitespace()).all(|expected| bare.next() == Some(expected))
}

/// What writes the content of a file. It is called again if the file must be written once more.
pub type Content<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

/// Writes a file, or appends to a stream such as `/dev/stdout`. After an error an existing file is unchanged.
pub fn write(path: &Path, kind: Kind, bytes: &[u8]) -> Result<(), NotWritten> {
    write_with(path, kind, &|target| target.write_all(bytes))
}

/// [`write()`] of content that is not in memory.
pub fn write_with(path: &Path, kind: Kind, content: Content<'_>) -> Result<(), NotWritten> {
    write_on(&(Rc::new(System) as Rc<dyn Disk>), path, kind, content)
}

/// [`write()`] on a given disk.
pub fn write_to(disk: &Rc<dyn Disk>, path: &Path, kind: Kind, bytes: &[u8]) -> Result<(), NotWritten> {
    write_on(disk, path, kind, &|target| target.write_all(bytes))
}

fn write_on(disk: &Rc<dyn Disk>, path: &Path, kind: Kind, content: Content<'_>) -> Result<(), NotWritten> {
    let written = match Existing::of(path, kind) {
        Ok(Existing::Stream) => append(path, content).map_err(Why::Io),
        Ok(Existing::Absent) => replace_retrying(disk, path, None, content).map_err(Why::Io),
        Ok(Existing::Ours(before)) => replace_retrying(disk, path, Some(&before), content).map_err(Why::Io),
        Err(why) => Err(why),
    };
    written.map_err(|why| NotWritten { path: path.to_owned(), why })
}

/// Checks whether a file could be written. Called before long work, so that a refusal comes early.
pub fn check(path: &Path, kind: Kind) -> Result<(), NotWritten> {
    Existing::of(path, kind).map(drop).map_err(|why| NotWritten { path: path.to_owned(), why })
}

/// What exists at a path.
enum Existing {
    Absent,
    /// A file that may be replaced.
    Ours(Metadata),
    /// A device or a pipe; writing to it replaces nothing.
    Stream,
}

impl Existing {
    fn of(path: &Path, kind: Kind) -> Result<Self, Why> {
        let meta = match fs::symlink_metadata(path) {
            Ok(meta) => meta,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty() && !parent.exists());
                return parent.map_or(Ok(Self::Absent), |parent| Err(Why::NoFolder(parent.to_owned())));
            }
            Err(error) => return Err(error.into()),
        };
        // Links that the system provides for streams: /dev/stdout, /dev/fd/3.
        if meta.is_symlink() && path.starts_with("/dev") {
            return Ok(Self::Stream);
        }
        if meta.is_symlink() {
            return Err(Why::Link);
        }
        if meta.is_dir() {
            return Err(Why::Folder);
        }
        if !meta.is_file() {
            return Ok(Self::Stream);
        }
        if meta.len() == 0 || (kind.is_ours)(&head(path)?) {
            Ok(Self::Ours(meta))
        } else {
            Err(Why::Foreign(kind.name))
        }
    }
}

/// The first bytes of a file as text.
fn head(path: &Path) -> io::Result<String> {
    let mut head = Vec::new();
    File::open(path)?.take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok(String::from_utf8_lossy(&head).into_owned())
}

fn append(path: &Path, content: Content<'_>) -> io::Result<()> {
    // Append: standard output may be a file that the shell opened with `>>`.
    let mut target = BufWriter::new(OpenOptions::new().append(true).open(path)?);
    match content(&mut target).and_then(|()| target.flush()) {
        // The reader of a pipe may leave early.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Another process may delete our temporary file while it removes leftovers; then it is written once more.
fn replace_retrying(
    disk: &Rc<dyn Disk>,
    path: &Path,
    before: Option<&Metadata>,
    content: Content<'_>,
) -> io::Result<()> {
    match replace(disk, path, before, content) {
        Err(error) if error.kind() == ErrorKind::NotFound => replace(disk, path, before, content),
        other => other,
    }
}

fn replace(disk: &Rc<dyn Disk>, path: &Path, before: Option<&Metadata>, content: Content<'_>) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (target, beside) = fresh(folder, UNFINISHED, "", |path| Target::create(disk, path))?;
    let written = write_all(target, content)
        .and_then(|()| before.map_or(Ok(()), |before| disk.take_mode(&beside, before)))
        .and_then(|()| disk.rename(&beside, path));
    if written.is_err() {
        // The first error is the one to report.
        drop(disk.remove_file(&beside));
    }
    written
}

fn write_all(target: Target, content: Content<'_>) -> io::Result<()> {
    let mut target = BufWriter::new(target);
    content(&mut target)?;
    target.into_inner()?.sync()
}

/// Temporary files of these kinds in a folder: left by killed processes, or still being written.
pub fn unfinished(folder: &Path, kinds: &[Kind]) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // Earlier versions named temporary parts of a sweep with `.json`.
        let is_named = ["", ".json"].iter().any(|suffix| is_fresh(&name, UNFINISHED, suffix));
        if !is_named || !entry.file_type()?.is_file() {
            continue;
        }
        let head = head(&entry.path())?;
        if head.is_empty() || kinds.iter().any(|kind| (kind.is_ours)(&head)) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}
