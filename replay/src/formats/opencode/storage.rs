//! A session in OpenCode's storage of versions before 1.2 (2026-02): `session/PROJECT/SESSION.json` has the session,
//! `message/SESSION/MESSAGE.json` its messages and `part/MESSAGE/PART.json` their parts. Names of files are in order of time.
//! Later versions keep a database.

use std::fs;
use std::path::Path;

use serde_json::value::RawValue;

use super::export::Export;
use super::{Message, SessionInfo};
use crate::error::Fault;
use crate::formats::text::json_reason;
use crate::formats::{Reading, beside};

/// Folders beside `session`.
const MESSAGES: &str = "message";
const PARTS: &str = "part";

/// The folder of sessions, if `folder` has messages or parts of them.
pub(super) fn sessions_beside(folder: &str) -> Option<&'static str> {
    [MESSAGES, PARTS].contains(&folder).then_some("session")
}

/// Reads the messages of a session whose own file is in `folder`.
pub(super) fn read(info: &SessionInfo<'_>, folder: Option<&Path>, export: &mut Export, reading: &mut Reading) {
    let storage = folder.and_then(Path::parent).and_then(Path::parent);
    let id = info.id.as_deref().unwrap_or_default();
    for (at, (name, raw)) in documents(storage, MESSAGES, id, reading).iter().enumerate() {
        let parts = documents(storage, PARTS, name, reading);
        let parts = parts.iter().filter_map(|(name, raw)| parsed::<&RawValue>(name, raw, reading)).collect();
        if let Some(info) = parsed(name, raw, reading) {
            export.message(reading, at + 1, &Message { info, parts });
        }
    }
}

fn parsed<'a, T: serde::Deserialize<'a>>(name: &str, raw: &'a [u8], reading: &mut Reading) -> Option<T> {
    let parsed = serde_json::from_slice(raw);
    parsed.map_err(|error| reading.damage(Fault::in_line(1, format!("`{name}`: {}", json_reason(&error))))).ok()
}

/// Names, without their ending, and bytes of the files in the folder `owner` of `kind`, in order.
fn documents(storage: Option<&Path>, kind: &str, owner: &str, reading: &mut Reading) -> Vec<(String, Vec<u8>)> {
    let plain = !owner.is_empty() && !owner.contains(['/', '\\', '.']);
    let listed = storage.filter(|_| plain).and_then(|storage| fs::read_dir(storage.join(kind).join(owner)).ok());
    let names = listed.into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter_map(|name| Some(name.strip_suffix(".json")?.to_owned())).collect();
    names.sort_unstable();
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        match beside::read(storage, &format!("{kind}/{owner}/{name}.json")) {
            Ok(bytes) => found.push((name, bytes)),
            Err(why) => reading.damage(Fault::in_line(1, format!("`{name}`: {why}"))),
        }
    }
    found
}
