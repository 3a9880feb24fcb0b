//! Recordings of real clients: every finding that fails there was read by hand, and is a change of the prompt that the
//! client made. Counts by folder and cause; a new one is a false alarm until it has been read.

use std::collections::BTreeMap;
use std::path::Path;

use forkcast_fixtures::beside;
use serde_json::Value;

use super::bodies::{folder, forkcast, stdout};

/// Folders, and the real findings in them: a changed `toolChoice` after which the provider read nothing, and reminders that
/// Claude Code moved within its history.
const REAL: [(&str, &[(&str, usize)]); 2] = [
    ("cassettes-pydantic-ai", &[("stability level_parameter", 1)]),
    (
        "wire-cache-fix",
        &[("stability message_edited", 3), ("stability message_inserted", 2), ("stability message_removed", 24)],
    ),
];

#[test]
fn captures_of_real_clients_have_no_false_alarm() {
    let Some(data) = beside("") else { return };
    let out = folder("captures");
    let captures = std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().path());
    let is_capture = |path: &Path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("cassettes-") || name == "wire-cache-fix"
    };
    let mut found: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    for path in captures.filter(|path| is_capture(path)) {
        let options = ["check", path.to_str().unwrap(), "--quiet", "--lock", "none", "--format", "json"];
        // A folder may hold a damaged file besides.
        let check: Value = serde_json::from_str(stdout(&forkcast(&out, &options))).unwrap();
        for finding in check["findings"].as_array().unwrap().iter().filter(|found| found["verdict"] == "fails") {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let cause = format!("{} {}", finding["rule"].as_str().unwrap(), finding["cause"].as_str().unwrap());
            *found.entry(name).or_default().entry(cause).or_default() += 1;
        }
    }
    println!("{found:#?}");
    let real = REAL.map(|(name, causes)| {
        (name.to_owned(), causes.iter().map(|(cause, count)| ((*cause).to_owned(), *count)).collect())
    });
    assert_eq!(found, BTreeMap::from(real));
}
