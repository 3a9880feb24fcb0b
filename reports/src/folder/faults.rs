//! Fault injection: each disk operation in turn fails, is torn, or is the last one before the process dies. Afterwards the user's
//! files must be unchanged, the folder must hold the old or the new result, and the next run must succeed.

#![allow(clippy::panic)] // A test may stop at once.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use forkcast_replay::output::disk::{Disk, System};
use forkcast_replay::output::file::{self, Kind};
use tempfile::TempDir;

use super::manifest::{MANIFEST, Manifest};
use super::{Contents, Folder, FolderError, LEDGER, REQUESTS, RUN};

/// What goes wrong at the chosen operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// It returns an error; later operations work.
    Fails,
    /// The process dies at it, halfway if it is a write: nothing works from there on.
    Dies,
}

/// A disk on which one operation goes wrong.
#[derive(Debug)]
struct Faulty {
    at: usize,
    fault: Fault,
    step: Cell<usize>,
    is_dead: Cell<bool>,
    /// A folder without write permission.
    closed: Option<PathBuf>,
    /// The system has no atomic exchange.
    cannot_exchange: bool,
    /// Files that the user creates just before the exchange.
    meddles: RefCell<Vec<PathBuf>>,
}

impl Faulty {
    fn at(at: usize, fault: Fault) -> Self {
        Self {
            at,
            fault,
            step: Cell::new(0),
            is_dead: Cell::new(false),
            closed: None,
            cannot_exchange: false,
            meddles: RefCell::default(),
        }
    }

    fn step(&self) -> io::Result<()> {
        if self.is_dead.get() {
            return Err(io::Error::other("the process has ended"));
        }
        let now = self.step.replace(self.step.get() + 1);
        if now != self.at {
            return Ok(());
        }
        self.is_dead.set(self.fault != Fault::Fails);
        Err(ErrorKind::StorageFull.into())
    }
}

impl Disk for Faulty {
    fn create_file(&self, path: &Path) -> io::Result<File> {
        self.step()?;
        System.create_file(path)
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        if self.closed.as_deref() == path.parent() {
            return Err(ErrorKind::PermissionDenied.into());
        }
        System.create_folder(path)
    }

    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<usize> {
        let was_alive = !self.is_dead.get();
        if let Err(error) = self.step() {
            if was_alive && self.fault == Fault::Dies {
                System.write(file, &bytes[..bytes.len() / 2])?;
            }
            return Err(error);
        }
        System.write(file, bytes)
    }

    fn sync(&self, _: &File) -> io::Result<()> {
        self.step()
    }

    fn take_mode(&self, path: &Path, of: &Metadata) -> io::Result<()> {
        self.step()?;
        System.take_mode(path, of)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        System.rename(from, to)
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()> {
        self.step()?;
        if self.cannot_exchange {
            return Err(ErrorKind::Unsupported.into());
        }
        self.meddles.borrow_mut().drain(..).for_each(|path| fs::write(&path, "mine").unwrap());
        System.exchange(one, other)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        System.remove_file(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        System.remove_folder(path)
    }
}

/// The content of a file; longer than the write buffer.
fn text(version: &str, name: &str) -> String {
    format!("{{\n  \"schema\": \"forkcast.replay/1\", \"{version}\": \"{name}\"\n}}\n{}", "-".repeat(9_000))
}

/// Bodies of a version; each version has one that the other lacks.
fn bodies(version: &str) -> &'static [usize] {
    match version {
        "old" => &[0, 1, 2],
        _ => &[0, 2, 3],
    }
}

/// Files of a version; the old one has one that the new one lacks.
fn names(version: &str) -> &'static [&'static str] {
    match version {
        "old" => &[RUN, LEDGER, REQUESTS, "ribbon.svg"],
        _ => &[RUN, LEDGER, REQUESTS],
    }
}

#[allow(clippy::needless_pass_by_value)] // Most callers make the disk for this one call.
fn write(disk: Rc<dyn Disk>, path: &Path, version: &str, overwrite: bool) -> Result<(), FolderError> {
    let mut folder = Folder::on(&disk, path, Contents::Replay, overwrite, &[])?;
    for name in names(version) {
        folder.file(name, |target| target.write_all(text(version, name).as_bytes()))?;
    }
    for index in bodies(version) {
        folder.staging.body(*index, text(version, &index.to_string()).as_bytes())?;
    }
    folder.place()
}

/// A disk without faults. It does not sync, which would take minutes.
fn sound() -> Rc<dyn Disk> {
    Rc::new(Faulty::at(usize::MAX, Fault::Fails))
}

/// All files below a folder.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                let name = entry.path().strip_prefix(folder).unwrap().display().to_string();
                found.insert(name, fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
    found
}

/// All files of a version except the manifest.
fn result(version: &str) -> BTreeMap<String, String> {
    let named = names(version).iter().map(|name| ((*name).to_owned(), text(version, name)));
    let numbered =
        bodies(version).iter().map(|index| (format!("bodies/{index:05}.json"), text(version, &index.to_string())));
    named.chain(numbered).collect()
}

/// The target before the write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Nothing,
    Empty,
    /// An older result alone.
    Older,
    /// An older result and files of the user, also in the folder of bodies.
    Shared,
    /// Only files of the user, with `--overwrite`.
    Foreign,
    /// A result of an earlier version, without manifest, and files of the user.
    Unlisted,
}

impl Before {
    /// Creates it and returns the files of the user.
    fn make(self, path: &Path) -> BTreeMap<String, String> {
        if !matches!(self, Self::Nothing | Self::Older | Self::Shared) {
            fs::create_dir_all(path).unwrap();
        }
        if matches!(self, Self::Older | Self::Shared) {
            write(sound(), path, "old", false).unwrap();
        }
        if self == Self::Unlisted {
            names("old").iter().for_each(|name| fs::write(path.join(name), text("old", name)).unwrap());
        }
        let own: &[&str] = match self {
            Self::Shared | Self::Foreign => &["notes.txt", "bodies/01.json", "bodies/00001.txt"],
            Self::Unlisted => &["notes.txt", "bodies/00001.json"],
            _ => &[],
        };
        for name in own {
            fs::create_dir_all(path.join(name).parent().unwrap()).unwrap();
            fs::write(path.join(name), format!("mine: {name}")).unwrap();
        }
        own.iter().map(|name| ((*name).to_owned(), format!("mine: {name}"))).collect()
    }

    /// The result in it.
    fn result(self) -> BTreeMap<String, String> {
        match self {
            Self::Older | Self::Shared => result("old"),
            Self::Unlisted => result("old").into_iter().filter(|(name, _)| !name.starts_with("bodies")).collect(),
            _ => BTreeMap::new(),
        }
    }
}

/// Limits of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Machine {
    Usual,
    /// The system has no atomic exchange.
    Plain,
    /// The parent of the target is not writable.
    Closed,
}

const CASES: [(Machine, &[Before]); 3] = [
    (
        Machine::Usual,
        &[Before::Nothing, Before::Empty, Before::Older, Before::Shared, Before::Foreign, Before::Unlisted],
    ),
    (Machine::Plain, &[Before::Older, Before::Shared]),
    (Machine::Closed, &[Before::Empty, Before::Older]),
];

/// A temporary folder for a test.
fn place() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Tests one fault. `None` if the write has fewer operations.
fn tried(place: &Path, before: Before, machine: Machine, fault: Fault, at: usize) -> Option<()> {
    let context = format!("{before:?}, {machine:?}, {fault:?} at {at}");
    let path = place.join("out");
    drop(fs::remove_dir_all(&path));
    let own = before.make(&path);
    let disk = Rc::new(Faulty {
        closed: (machine == Machine::Closed).then(|| fs::canonicalize(place).unwrap()),
        cannot_exchange: machine == Machine::Plain,
        ..Faulty::at(at, fault)
    });
    let overwrite = before == Before::Foreign;
    let written = write(Rc::clone(&disk) as Rc<dyn Disk>, &path, "new", overwrite);
    check_state(&path, before, machine, &own, written.is_ok(), &context);
    write(sound(), &path, "last", overwrite).unwrap_or_else(|error| panic!("{context}: the next run: {error}"));
    let mut left = files(&path);
    let manifest = left.remove(MANIFEST).unwrap();
    assert_eq!(left, own.into_iter().chain(result("last")).collect(), "{context}: the next run");
    assert_eq!(Manifest::of(&path).unwrap().unwrap().text(), manifest, "{context}");
    let beside: Vec<_> = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(beside, ["out"], "{context}: something is left next to it");
    (disk.step.get() > at).then_some(())
}

/// Checks the state after a fault.
fn check_state(
    path: &Path,
    before: Before,
    machine: Machine,
    own: &BTreeMap<String, String>,
    is_written: bool,
    context: &str,
) {
    let mut found = files(path);
    for (name, text) in own {
        assert_eq!(found.remove(name).as_ref(), Some(text), "{context}: the user's {name}");
    }
    let has_manifest = found.remove(MANIFEST).is_some();
    found.retain(|name, _| !name.starts_with(".forkcast"));
    let (is_old, is_new) = (found == before.result(), found == result("new"));
    assert!(is_new || !is_written, "{context}: said to be written: {:?}", found.keys());
    // With other files in the folder, a kill between two renames leaves a folder without a record.
    let in_one_step = machine == Machine::Usual && matches!(before, Before::Nothing | Before::Empty | Before::Older);
    let says_so = !in_one_step && has_manifest && !found.contains_key(RUN);
    assert!(is_old || is_new || says_so, "{context}: neither old nor new: {:?}", found.keys());
}

#[test]
fn the_folder_is_complete_after_any_fault() {
    let place = place();
    let mut steps = 0;
    for (machine, befores) in CASES {
        for before in befores {
            for fault in [Fault::Fails, Fault::Dies] {
                let run = |at: &usize| tried(place.path(), *before, machine, fault, *at).is_some();
                steps += (0..).take_while(run).count();
            }
        }
    }
    println!("{steps} faults");
    assert!(steps > 500, "only {steps} steps were tried");
}

#[test]
fn files_added_during_the_exchange_are_kept() {
    let place = place();
    let path = place.path().join("out");
    write(sound(), &path, "old", false).unwrap();
    let real = fs::canonicalize(&path).unwrap();
    let disk = Faulty::at(usize::MAX, Fault::Fails);
    disk.meddles.borrow_mut().extend([real.join("notes.txt"), real.join("bodies/notes.txt")]);
    write(Rc::new(disk), &path, "new", false).unwrap();
    let found = files(&path);
    for name in ["notes.txt", "bodies/notes.txt"] {
        assert_eq!(found.get(name).map(String::as_str), Some("mine"), "{name}: {:?}", found.keys());
    }
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "nothing is left next to it");
}

#[test]
fn concurrent_writers_leave_one_complete_result() {
    for (name, notes) in [("at-once", false), ("at-once-shared", true)] {
        let place = place();
        let path = place.path().join("out");
        if notes {
            fs::create_dir_all(&path).unwrap();
            fs::write(path.join("notes.txt"), "mine").unwrap();
        }
        for round in 0..20 {
            std::thread::scope(|scope| {
                for writer in 0..4 {
                    let path = &path;
                    scope.spawn(move || write(sound(), path, &format!("{round}.{writer}"), true).unwrap());
                }
            });
            let mut found = files(&path);
            assert_eq!(found.remove("notes.txt").is_some(), notes);
            found.remove(MANIFEST).unwrap();
            let is_whole = (0..4).any(|writer| found == result(&format!("{round}.{writer}")));
            assert!(is_whole, "{name}, round {round}: {:?}", found.keys());
        }
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left next to it");
    }
}

#[test]
fn files_of_the_user_are_never_replaced() {
    let place = place();
    let path = place.path().join("out");
    for name in [RUN, LEDGER, MANIFEST, "bodies/00002.json"] {
        drop(fs::remove_dir_all(&path));
        fs::create_dir_all(path.join("bodies")).unwrap();
        fs::write(path.join(name), "mine").unwrap();
        let refused = write(sound(), &path, "new", true).unwrap_err();
        assert!(matches!(&refused, FolderError::Occupied(path) if path.ends_with(name)), "{name}: {refused}");
        assert_eq!(files(&path), BTreeMap::from([(name.to_owned(), "mine".to_owned())]));
    }
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    use std::os::unix::fs::symlink;
    let place = place();
    let [path, elsewhere, link] = ["out", "elsewhere", "link"].map(|name| place.path().join(name));
    fs::create_dir_all(&elsewhere).unwrap();
    fs::write(elsewhere.join("00000.json"), "mine").unwrap();
    for (name, to) in [("ledger.jsonl", "../elsewhere/00000.json"), ("bodies", "../elsewhere")] {
        write(sound(), &path, "old", false).unwrap();
        match name {
            "bodies" => fs::remove_dir_all(path.join(name)).unwrap(),
            _ => fs::remove_file(path.join(name)).unwrap(),
        }
        symlink(to, path.join(name)).unwrap();
        let refused = write(sound(), &path, "new", true).unwrap_err();
        assert!(matches!(&refused, FolderError::Occupied(path) if path.ends_with(name)), "{refused}");
        assert_eq!(files(&elsewhere), BTreeMap::from([("00000.json".to_owned(), "mine".to_owned())]));
        fs::remove_file(path.join(name)).unwrap();
    }
    // The target folder itself may be given as a link.
    symlink("elsewhere", &link).unwrap();
    write(sound(), &link, "new", false).unwrap_err();
    fs::remove_file(elsewhere.join("00000.json")).unwrap();
    write(sound(), &link, "new", false).unwrap();
    assert!(link.is_symlink() && elsewhere.join(RUN).is_file());
}

#[cfg(unix)]
#[test]
fn modes_follow_the_umask_or_the_existing_folder() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let place = place();
    let [path, folder, file] = ["out", "folder", "file"].map(|name| place.path().join(name));
    fs::create_dir(&folder).unwrap();
    fs::write(&file, "").unwrap();
    write(sound(), &path, "old", false).unwrap();
    assert_eq!((mode(&path), mode(&path.join(LEDGER))), (mode(&folder), mode(&file)));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    write(sound(), &path, "new", false).unwrap();
    assert_eq!(mode(&path), 0o700);
}

/// The same for a single file.
#[test]
fn a_file_is_old_or_new_after_any_fault() {
    let notes = Kind { name: "note", is_ours: |head| head.starts_with("note") };
    let place = place();
    let path = place.path().join("note.txt");
    for old in [None, Some("note: old")] {
        for fault in [Fault::Fails, Fault::Dies] {
            for at in 0.. {
                drop(fs::remove_file(&path));
                if let Some(text) = old {
                    fs::write(&path, text).unwrap();
                }
                let faulty = Rc::new(Faulty::at(at, fault));
                let disk: Rc<dyn Disk> = faulty.clone();
                let written = file::write_to(&disk, &path, notes, b"note: new");
                let found = fs::read_to_string(&path).ok();
                let expected = if written.is_ok() { Some("note: new") } else { old };
                assert_eq!(found.as_deref(), expected, "{old:?}, {fault:?} at {at}");
                if faulty.step.get() <= at {
                    break;
                }
                for left in file::unfinished(place.path(), &[notes]).unwrap() {
                    fs::remove_file(left).unwrap();
                }
            }
        }
    }
    fs::write(&path, "somebody's").unwrap();
    let refused = file::write(&path, notes, b"note: new").unwrap_err().to_string();
    assert!(refused.ends_with("note.txt: exists and is no note of forkcast; not replaced"), "{refused}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "somebody's");
}
