//! Modules inside a room: which of them may use which.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use forkcast_fixtures::{tempdir, workspace};

use super::{code, heads_of_group, rust_files, word};

/// A sub-room with those it may use.
type Row = (&'static str, &'static [&'static str]);

/// A use in the wrong direction, and the number of files with it.
type Known = (&'static str, &'static str, usize);

/// A folder of sources: its path prefix, its sub-rooms, and known uses in the wrong direction.
struct Room {
    folder: &'static str,
    prefix: &'static str,
    rows: &'static [Row],
    /// Uses in the wrong direction that are not fixed yet, with the number of files. Neither may grow.
    known: &'static [Known],
}

const AGENT: &[Row] = &[
    ("abort", &[]),
    ("event", &[]),
    ("entry", &[]),
    ("ground", &["event"]),
    ("world", &["event", "ground"]),
    ("queue", &["event", "ground"]),
    ("hook", &["event", "ground"]),
    ("permission", &["abort", "event", "ground", "world", "queue"]),
    ("definition", &["hook", "permission"]),
    ("settings", &["world", "definition"]),
    ("conversation", &["entry", "settings"]),
    ("task", &["abort", "event", "ground", "world", "settings"]),
    ("team", &["abort", "event", "ground", "world", "settings"]),
    ("notification", &["event", "ground", "queue", "task", "team"]),
    ("transcript", &["event", "entry", "ground", "world", "settings", "task"]),
    (
        "session",
        &[
            "abort",
            "event",
            "entry",
            "ground",
            "world",
            "queue",
            "hook",
            "permission",
            "definition",
            "settings",
            "conversation",
            "task",
            "team",
            "notification",
            "transcript",
        ],
    ),
    ("prompt", &["event", "entry", "definition", "settings", "session"]),
    ("query", &["event", "entry", "world", "permission", "settings", "team", "session", "prompt"]),
    (
        "spawn",
        &[
            "abort",
            "event",
            "entry",
            "world",
            "permission",
            "definition",
            "settings",
            "conversation",
            "task",
            "team",
            "notification",
            "session",
            "prompt",
            "query",
        ],
    ),
    ("tool", &["abort", "event", "world", "settings", "task", "team", "session", "prompt", "spawn"]),
    ("input", &["event", "entry", "queue", "definition", "session", "query", "spawn"]),
];

const REPLAY: &[Row] = &[
    ("count", &[]),
    ("error", &[]),
    ("exchange", &[]),
    ("names", &[]),
    ("output", &[]),
    ("packing", &[]),
    ("side_by_side", &[]),
    ("trace", &[]),
    ("transcript", &["exchange", "names"]),
    ("http", &["exchange", "packing"]),
    ("formats", &["count", "error", "exchange", "trace", "transcript", "http"]),
    ("input", &["error", "exchange", "packing", "side_by_side", "trace", "transcript", "formats"]),
    ("calibrate", &["exchange", "transcript", "input"]),
    ("rebuild", &["transcript", "formats"]),
    ("response", &["count", "exchange", "formats"]),
    ("source", &["error", "exchange", "names", "trace", "transcript", "formats", "input", "rebuild"]),
    ("recording", &["exchange", "transcript", "formats", "source", "response"]),
    ("what_if", &["error", "rebuild"]),
    (
        "replay",
        &["exchange", "side_by_side", "trace", "transcript", "input", "calibrate", "rebuild", "source", "what_if"],
    ),
    ("check", &["exchange", "transcript", "input", "source", "replay"]),
];

const REPORTS: &[Row] = &[
    ("forks", &[]),
    ("names", &[]),
    ("check", &["names"]),
    ("comparison", &["names"]),
    ("document", &[]),
    ("answers", &["document"]),
    ("record", &["document"]),
    ("report", &["names", "document"]),
    ("movement", &["report"]),
    ("explained", &["comparison", "report"]),
    ("figures", &["forks", "answers", "document", "report"]),
    ("price_tables", &[]),
    (
        "human",
        &[
            "forks",
            "names",
            "check",
            "comparison",
            "movement",
            "answers",
            "document",
            "record",
            "report",
            "explained",
            "price_tables",
        ],
    ),
    (
        "format",
        &["forks", "names", "check", "comparison", "movement", "document", "record", "report", "explained", "human"],
    ),
    ("folder", &["movement", "report", "figures", "format"]),
    ("rerun", &["report", "format"]),
    ("export", &["document", "report"]),
    ("page", &["check", "movement", "document", "record", "report", "human", "format"]),
];

const SCENARIOS: &[Row] = &[
    ("fanout", &[]),
    ("format", &["fanout"]),
    ("catalog", &["format"]),
    ("load", &["format"]),
    ("run", &["format", "load"]),
    ("capture", &["format", "catalog", "run"]),
    ("expect", &["format", "run"]),
    ("cast", &["format", "load", "run"]),
    ("sweep", &["fanout", "format", "catalog", "run", "expect"]),
];

const ROOMS: &[Room] = &[
    Room { folder: "sim/src/agent", prefix: "crate::agent::", rows: AGENT, known: &[] },
    Room {
        folder: "replay/src",
        prefix: "crate::",
        rows: REPLAY,
        known: &[
            ("trace", "rebuild", 1),
            ("transcript", "formats", 3),
            ("http", "formats", 3),
            ("http", "response", 1),
            ("formats", "response", 5),
        ],
    },
    Room { folder: "reports/src", prefix: "crate::", rows: REPORTS, known: &[("human", "format", 3)] },
    Room { folder: "scenarios/src", prefix: "crate::", rows: SCENARIOS, known: &[("format", "load", 1)] },
];

/// The sub-room that a file belongs to; `None` for the file of the room itself.
fn owner(folder: &Path, file: &Path) -> Option<String> {
    let below = file.strip_prefix(folder).ok()?;
    let first = below.iter().next()?.to_string_lossy().into_owned();
    let name = first.strip_suffix(".rs").unwrap_or(&first);
    (!["mod", "lib", "main"].contains(&name)).then(|| name.to_owned())
}

/// Items that the room re-exports, with the sub-room they come from.
fn passed_on(folder: &Path) -> BTreeMap<String, String> {
    let roots = ["mod.rs", "lib.rs"].map(|name| folder.join(name));
    let text: String = roots.iter().filter(|file| file.is_file()).flat_map(|file| code(file)).collect();
    let mut found = BTreeMap::new();
    for line in text.split("pub use ").skip(1) {
        let Some((room, names)) = line.split(';').next().and_then(|line| line.split_once("::")) else { continue };
        let names = names.strip_prefix('{').map_or_else(|| vec![word(names)], heads_of_group);
        found.extend(names.into_iter().map(|name| (name, room.to_owned())));
    }
    found
}

/// How `file` refers to the room that contains its sub-room: by name, or with `super`.
fn ways(folder: &Path, prefix: &str, file: &Path) -> [String; 2] {
    let below = file.strip_prefix(folder).unwrap();
    let of_folder = usize::from(below.file_name().is_some_and(|name| name == "mod.rs"));
    [prefix.to_owned(), "super::".repeat(below.iter().count() - of_folder)]
}

/// The other sub-rooms that a file uses.
fn named(folder: &Path, prefix: &str, file: &Path, rooms: &BTreeSet<String>) -> BTreeSet<String> {
    let text = code(file).join("\n");
    let passed_on = passed_on(folder);
    let mut found = BTreeSet::new();
    for way in ways(folder, prefix, file) {
        for (at, _) in text.match_indices(&way) {
            let begins = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
            let behind = &text[at + way.len()..];
            let heads = behind.strip_prefix('{').map_or_else(|| vec![word(behind)], heads_of_group);
            let heads = heads.into_iter().map(|head| passed_on.get(&head).cloned().unwrap_or(head));
            found.extend(heads.filter(|head| begins && rooms.contains(head)));
        }
    }
    found
}

/// Every use of one sub-room by another, with its files.
fn uses(folder: &Path, prefix: &str) -> BTreeMap<(String, String), Vec<PathBuf>> {
    let files = rust_files(folder);
    let rooms: BTreeSet<String> = files.iter().filter_map(|file| owner(folder, file)).collect();
    let mut uses: BTreeMap<(String, String), Vec<PathBuf>> = BTreeMap::new();
    for file in files {
        let Some(own) = owner(folder, &file) else { continue };
        for other in named(folder, prefix, &file, &rooms) {
            if other != own {
                uses.entry((own.clone(), other)).or_default().push(file.clone());
            }
        }
    }
    uses
}

/// Violations of a folder's table.
fn trespasses(folder: &Path, room: &Room) -> Vec<String> {
    let rows: BTreeMap<&str, &[&str]> = room.rows.iter().copied().collect();
    let mut found = Vec::new();
    for file in rust_files(folder) {
        let unlisted = owner(folder, &file).filter(|own| !rows.contains_key(own.as_str()));
        found.extend(unlisted.map(|own| format!("{}: no row for `{own}`", file.display())));
    }
    let uses = uses(folder, room.prefix);
    for ((own, other), files) in &uses {
        let allowed = rows.get(own.as_str()).is_some_and(|allowed| allowed.contains(&other.as_str()));
        if !allowed && !room.known.iter().any(|known| (known.0, known.1) == (own, other)) {
            found.push(format!("{}: `{own}` may not use `{other}`", files[0].display()));
        }
    }
    for (own, other, listed) in room.known {
        let files = uses.get(&((*own).to_owned(), (*other).to_owned())).map_or(0, Vec::len);
        if files > *listed {
            found.push(format!("{}: one more file of `{own}` uses `{other}`", room.folder));
        } else if files < *listed {
            found.push(format!("{}: {files} files of `{own}` use `{other}` now: say so in the list", room.folder));
        }
    }
    found
}

#[test]
fn sub_rooms_use_only_those_above_them() {
    for room in ROOMS {
        let found = trespasses(&workspace().join(room.folder), room);
        assert!(found.is_empty(), "{}", found.join("\n"));
    }
}

#[test]
fn tables_of_sub_rooms_have_no_cycles() {
    for room in ROOMS {
        let mut above = BTreeSet::new();
        for (own, allowed) in room.rows {
            let below: Vec<_> = allowed.iter().filter(|other| !above.contains(*other)).collect();
            assert!(below.is_empty(), "{}: `{own}` is listed above {below:?}", room.folder);
            assert!(above.insert(own), "{}: `{own}` is listed twice", room.folder);
        }
        for (own, other, _) in room.known {
            assert!(above.contains(own) && above.contains(other), "{}: no row for {own} or {other}", room.folder);
        }
    }
}

#[test]
fn the_check_of_sub_rooms_finds_a_violation() {
    const ROWS: [Row; 2] = [("store", &[]), ("deed", &["store"])];
    let place = tempdir().unwrap();
    let folder = place.path();
    let planted = |text: &str, known: &'static [Known]| {
        std::fs::create_dir_all(folder.join("store")).unwrap();
        std::fs::write(
            folder.join("mod.rs"),
            "pub mod deed;\npub mod store;\npub use deed::{Deed, done as done_so};\n",
        )
        .unwrap();
        std::fs::write(folder.join("deed.rs"), "use super::store::Store;\n").unwrap();
        std::fs::write(folder.join("store/mod.rs"), "mod shelf;\n").unwrap();
        std::fs::write(folder.join("store/shelf.rs"), text).unwrap();
        let found = trespasses(folder, &Room { folder: "it", prefix: "crate::it::", rows: &ROWS, known });
        std::fs::remove_dir_all(folder).unwrap();
        found.len()
    };
    for fine in ["use super::Store;\n", "// crate::it::deed\n", "use crate::other::deed::Deed;\n", "fn deed() {}\n"] {
        assert_eq!(planted(fine, &[]), 0, "{fine}");
    }
    for wrong in [
        "use crate::it::deed::Deed;\n",
        "use crate::it::{store::Store, deed::Deed};\n",
        "use super::super::deed;\n",
        "use crate::it::Deed;\n",
        "fn f(_: crate::it::deed::Deed) {}\n",
    ] {
        assert_eq!(planted(wrong, &[]), 1, "{wrong}");
        assert_eq!(planted(wrong, &[("store", "deed", 1)]), 0, "{wrong}");
    }
    assert_eq!(planted("", &[("store", "deed", 1)]), 1, "remove fixed entries from the list");
    assert_eq!(planted("use super::super::deed;\n", &[("store", "deed", 0)]), 1, "one more file");
}
