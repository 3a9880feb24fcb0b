//! The input and its damage, in `forkcast.check/1` and `forkcast.replay/1` alike.

use forkcast_replay::input::{Inputs, Unreadable};

use crate::names::Names;
use crate::record::Value;
use crate::report::{Damage, Fate};

/// The input, and its damaged parts.
pub(super) struct Account<'a> {
    pub inputs: &'a Inputs,
    /// Requests that were read and could not be replayed.
    pub unreplayed: &'a [Unreadable],
    pub names: Names,
}

impl Account<'_> {
    /// All places with this fate.
    fn places(&self, fate: Fate, record: fn(DamagedPlace) -> Value) -> Value {
        let found = Damage::all(self.inputs, self.unreplayed).filter(|damage| damage.fate == fate);
        Value::List(found.map(|damage| record(DamagedPlace::of(damage, self.names))).collect())
    }
}

record! {
    Account<'_>, "inputs":
    count "files", "Files that were read." => |it| it.inputs.files, unit("files");
    count "bytes", "Their size." => |it| it.inputs.bytes, unit("bytes");
    records: Skipped, "skipped", "Files, and parts of files, that are no recorded model requests." =>
        |it| it.places(Fate::PassedOver, |place| Skipped(place).value());
    records: Repair, "repaired", "Parts that were repaired and read." =>
        |it| it.places(Fate::Repaired, |place| Repair(place).value());
    records: DamagedPlace, "unreadable", "Unreadable parts." =>
        |it| it.places(Fate::Unreadable, |place| place.value());
    records: Note, "notes", "Observations without an effect on numbers." =>
        |it| it.places(Fate::Noted, |place| Note(place).value());
}

/// A place with its names as they are shown.
pub(super) struct DamagedPlace {
    pub fate: Fate,
    pub file: String,
    pub line: usize,
    pub reason: String,
}

impl DamagedPlace {
    pub fn of(damage: Damage<'_>, names: Names) -> Self {
        let Damage { fate, file, line, reason } = damage;
        Self { fate, file: names.file(file), line, reason: names.message(reason) }
    }
}

record! {
    DamagedPlace, "unreadable":
    text "file", "The file." => |place| place.file.clone();
    ordinal "line", "Its line, from 1; 0 for the whole file." => |place| place.line;
    text "reason", "Why it is not read." => |place| place.reason.clone();
}

/// A file without readable content.
struct Skipped(DamagedPlace);

record! {
    Skipped, "skipped":
    text "file", "The file." => |it| it.0.file.clone();
    text "reason", "Why it is not read." => |it| it.0.reason.clone();
}

/// A place that was repaired.
struct Repair(DamagedPlace);

record! {
    Repair, "repaired":
    text "file", "The file." => |it| it.0.file.clone();
    ordinal "line", "Its line, from 1; 0 for the whole file." => |it| it.0.line;
    text "what", "The repair." => |it| it.0.reason.clone();
}

/// An observation that changes no number.
struct Note(DamagedPlace);

record! {
    Note, "note":
    text "file", "The file." => |it| it.0.file.clone();
    text "note", "The observation." => |it| it.0.reason.clone();
}
