//! Files beside a recording: bodies that a recorder does not keep in the recording itself.

use std::fs;
use std::path::{Component, Path};

/// The largest file of a body, as stored. The API accepts 32 MB.
const BODY_LIMIT: u64 = 256 << 20;

/// Endings of a file that was packed after its path was recorded. Packed bodies are unpacked like those of HTTP.
const PACKED: [&str; 3] = ["", ".gz", ".zst"];

/// The bytes of the file at `path` below `folder`. Paths come from the recording, so they may only lead down.
pub(super) fn read(folder: Option<&Path>, path: &str) -> Result<Vec<u8>, String> {
    let leads_down = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    if !leads_down {
        return Err("the body is in another file, and its path does not lead below the recording".to_owned());
    }
    let folder = folder.ok_or("the body is in another file, which is only read beside a recording that is a file")?;
    let found = PACKED.iter().map(|ending| folder.join(format!("{path}{ending}"))).find(|path| path.is_file());
    let found = found.ok_or("the body is in another file, which is missing")?;
    let unreadable = |error| format!("the body is in another file, which cannot be read: {error}");
    let size = fs::metadata(&found).map_err(unreadable)?.len();
    if size > BODY_LIMIT {
        return Err(format!("the body is in another file of {size} bytes, expected at most {BODY_LIMIT}"));
    }
    fs::read(found).map_err(unreadable)
}
