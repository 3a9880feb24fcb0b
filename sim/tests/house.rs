//! The structure of the code: allowed imports, size limits, and the top-level files.

#![allow(clippy::disallowed_methods)] // A test may read files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use forkcast_fixtures::{tempdir, workspace};

mod citations;
mod nouns;
mod subrooms;
mod words;

/// Rooms of the core in reading order, each with the rooms it may use.
const ROOMS: [(&str, &[&str]); 14] = [
    ("outside", &[]),
    ("time", &[]),
    ("seed", &["time"]),
    ("wire", &["outside", "time"]),
    ("cache", &["time", "wire"]),
    ("pricing", &["outside", "time", "wire", "cache"]),
    ("diagnosis", &["outside", "time", "wire", "cache", "pricing"]),
    ("ledger", &["time", "wire", "cache", "pricing", "diagnosis"]),
    ("service", &["outside", "time", "wire", "cache", "pricing", "diagnosis", "ledger"]),
    ("guard", &["outside", "time", "wire", "cache", "pricing", "diagnosis", "service"]),
    ("model", &["outside", "time", "seed", "wire"]),
    ("agent", &["outside", "time", "seed", "wire", "model"]),
    (
        "simulation",
        &["outside", "time", "seed", "wire", "cache", "pricing", "diagnosis", "ledger", "service", "model", "agent"],
    ),
    (
        "laws",
        &[
            "outside",
            "time",
            "seed",
            "wire",
            "cache",
            "pricing",
            "diagnosis",
            "ledger",
            "service",
            "model",
            "agent",
            "simulation",
        ],
    ),
];

/// Crates, each with the crates of this workspace that it may use.
const CRATES: [(&str, &[&str]); 9] = [
    ("sim", &[]),
    ("sim/tests/fixtures", &[]),
    ("sim/tokens", &["forkcast-sim"]),
    ("replay", &["forkcast-sim", "forkcast-tokens"]),
    ("scenarios", &["forkcast-sim", "forkcast-tokens", "forkcast-replay"]),
    ("reports", &["forkcast-sim", "forkcast-replay", "forkcast-scenarios"]),
    ("benches", &["forkcast-sim", "forkcast-tokens", "forkcast-replay", "forkcast-scenarios", "forkcast-reports"]),
    (
        "sim/cli",
        &[
            "forkcast-sim",
            "forkcast-tokens",
            "forkcast-replay",
            "forkcast-scenarios",
            "forkcast-reports",
            "forkcast-test",
        ],
    ),
    ("sim/cli/packages/rust", &[]),
];

/// The crate that all tests share.
const FIXTURES: &str = "forkcast-fixtures";

/// Test programs besides `all`. Each is linked separately, so each has a reason.
const PROGRAMS: [(&str, &str, &str); 4] = [
    ("sim", "memory", "its allocator measures all threads"),
    ("scenarios", "catalog", "it has no harness: a test for each file of the catalog"),
    ("reports", "memory", "its allocator measures all threads"),
    ("reports", "mutated", "its allocator measures all threads, and it takes all panics to itself"),
];

/// Allowed top-level files besides dot-files.
const TOP: [&str; 13] = [
    "Cargo.toml",
    "Cargo.lock",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "benches",
    "clippy.toml",
    "replay",
    "reports",
    "rustfmt.toml",
    "scenarios",
    "sim",
    "target",
];

/// Maximum lines of a file and of a function.
const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;

/// Files of the core that hold a hash map, and never iterate it.
const HASHED: [&str; 3] = ["wire/index.rs", "wire/block.rs", "wire/memory.rs"];

/// Sources of nondeterminism in the core, in addition to the bans in `sim/clippy.toml`.
const UNSTEADY: [(&str, &str); 6] = [
    ("HashMap", "its order differs per process: BTreeMap or wire::Index"),
    ("HashSet", "its order differs per process: BTreeSet or wire::Index"),
    ("hashbrown", "may be iterated: wire::Index"),
    ("SystemTime", "the clock of the machine: time::Instant"),
    ("std::time", "the clock of the machine: time::Instant"),
    ("std::thread", "runs are of one thread"),
];

/// Meaningless names.
const EMPTY_NAMES: [&str; 6] = ["utils", "util", "common", "manager", "helper", "helpers"];

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            let name = entry.file_name().unwrap().to_string_lossy().into_owned();
            if entry.is_dir() && name != "target" && !name.starts_with('.') && !name.starts_with("mutants.out") {
                folders.push(entry);
            } else if name.ends_with(".rs") {
                found.push(entry);
            }
        }
    }
    found.sort();
    found
}

/// Code lines of a file, without comments.
fn code(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("UTF-8");
    text.lines().map(str::trim).filter(|line| !line.starts_with("//")).map(str::to_owned).collect()
}

/// The rooms that a file uses, by `crate::room` or in a group `crate::{…}`.
fn rooms_named(path: &Path) -> Vec<String> {
    let text = code(path).join("\n");
    let mut found = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        let behind = &text[at + "crate::".len()..];
        let own = at == 0 || !text[..at].ends_with(['_', ':']) && !text[..at].ends_with(char::is_alphanumeric);
        if !own {
            continue;
        }
        match behind.strip_prefix('{') {
            Some(group) => found.extend(heads_of_group(group)),
            None => found.push(word(behind)),
        }
    }
    found
}

/// The first word of every entry of a `use` group.
fn heads_of_group(group: &str) -> Vec<String> {
    let (mut depth, mut heads, mut start) = (0, Vec::new(), 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                heads.push(word(group[start..at].trim()));
                return heads;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                heads.push(word(group[start..at].trim()));
                start = at + 1;
            }
            _ => {}
        }
    }
    heads
}

fn word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// Whether a room of the table exists yet.
fn stands(room: &str) -> bool {
    let sources = workspace().join("sim/src");
    sources.join(room).is_dir() || sources.join(format!("{room}.rs")).is_file()
}

#[test]
fn rooms_import_upwards_only() {
    let sources = workspace().join("sim/src");
    for (room, allowed) in ROOMS.into_iter().filter(|(room, _)| stands(room)) {
        let folder = sources.join(room);
        let files = if folder.is_dir() { rust_files(&folder) } else { vec![sources.join(format!("{room}.rs"))] };
        for file in files {
            for named in rooms_named(&file) {
                let fine = named == room || named.is_empty() || named == "select" || allowed.contains(&named.as_str());
                assert!(fine, "{}: `{room}` may not use `{named}`", file.display());
            }
            let climbs = code(&file).iter().any(|line| line.contains("super::super"));
            assert!(!climbs, "{}: names a room by climbing; write `crate::`", file.display());
        }
    }
}

#[test]
fn the_map_lists_the_rooms_in_reading_order() {
    let listed: Vec<String> = code(&workspace().join("sim/src/lib.rs"))
        .iter()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';').map(str::to_owned))
        .collect();
    let standing: Vec<&str> = ROOMS.map(|(room, _)| room).into_iter().filter(|room| stands(room)).collect();
    assert_eq!(listed, standing);
}

#[test]
fn the_import_check_finds_a_violation() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("house.rs");
    fs::write(
        &path,
        "// crate::commented\nuse crate::{time::Instant, ledger::{Line, Totals}};\nfn f(_: crate::cache::Rules) {}\n",
    )
    .unwrap();
    assert_eq!(rooms_named(&path), ["time", "ledger", "cache"]);
}

#[test]
fn crates_use_only_allowed_crates() {
    for (folder, allowed) in CRATES {
        let manifest = workspace().join(folder).join("Cargo.toml");
        if folder == "scenarios" && !manifest.is_file() {
            continue; // Only a folder of files until its crate exists.
        }
        let manifest = fs::read_to_string(manifest).expect("a manifest");
        let own: Vec<&str> = manifest.lines().filter(|line| line.starts_with("forkcast-")).collect();
        for line in own {
            let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
            assert!(allowed.contains(&name) || name == FIXTURES, "{folder} may not use {name}");
        }
        let normal = manifest.split("[dev-dependencies]").next().unwrap_or_default();
        assert!(!normal.contains(&format!("\n{FIXTURES} ")), "{folder}: {FIXTURES} is for tests alone");
    }
}

/// A separate program per file took most of the build time. A file that is not declared as a module would silently be
/// left out.
#[test]
fn tests_of_a_crate_are_one_program() {
    for (folder, _) in CRATES.into_iter().filter(|(folder, _)| workspace().join(folder).join("tests").is_dir()) {
        let folder = workspace().join(folder);
        let own = PROGRAMS.iter().filter(|(of, ..)| folder == workspace().join(of)).map(|(_, name, _)| *name);
        let programs: Vec<&str> = ["all"].into_iter().chain(own).collect();
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let entries = manifest.split("[[test]]\nname = \"").skip(1).filter_map(|entry| entry.split('"').next());
        assert_eq!(entries.collect::<Vec<_>>(), programs, "{}: name it in tests/main.rs", folder.display());
        assert!(manifest.contains("\nautotests = false\n"), "{}: finds programs by itself", folder.display());
        let named = code(&folder.join("tests/main.rs"));
        for file in fs::read_dir(folder.join("tests")).unwrap().map(|entry| entry.unwrap().path()) {
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            let runs = name == "main" || programs.contains(&&*name) || named.contains(&format!("mod {name};"));
            assert!(runs || file.extension().is_none_or(|ending| ending != "rs"), "{}: runs nowhere", file.display());
        }
    }
}

#[test]
fn every_room_has_a_page() {
    for room in ["", "sim", "sim/tokens", "sim/cli", "replay", "reports", "scenarios", "benches"] {
        let page = workspace().join(room).join("README.md");
        let text = fs::read_to_string(&page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        if !room.is_empty() {
            assert!(text.contains("here does my change go"), "{}: where does my change go?", page.display());
        }
    }
}

#[test]
fn the_top_level_has_only_allowed_files() {
    for entry in fs::read_dir(workspace()).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        let fine = name.starts_with('.') || TOP.contains(&name.as_str()) || name.starts_with("mutants.out");
        assert!(fine, "{name} does not belong at the top");
    }
}

#[test]
fn files_and_functions_stay_small() {
    for file in rust_files(&workspace()) {
        let text = fs::read_to_string(&file).unwrap();
        // Flat tables say so in their first lines.
        let flat = text.lines().take(12).any(|line| line.starts_with("//!") && line.contains("flat table"));
        let lines = text.lines().count();
        assert!(flat || lines <= FILE_LINES_MAX, "{}: {lines} lines", file.display());
        for (name, length) in functions(&text) {
            assert!(length <= FUNCTION_LINES_MAX, "{}: `{name}` has {length} lines", file.display());
        }
    }
}

/// Every function of a formatted text with its number of lines.
fn functions(text: &str) -> BTreeMap<String, usize> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = BTreeMap::new();
    for (at, line) in lines.iter().enumerate() {
        let bare = line.trim_start();
        let Some(name) = bare.split("fn ").nth(1).filter(|_| opens_function(bare)) else { continue };
        let indent = &line[..line.len() - bare.len()];
        let closing = format!("{indent}}}");
        let ends = |line: &&str| **line == closing || line.ends_with(';') && !line.starts_with(&format!("{indent} "));
        let length = match lines[at..].iter().position(ends) {
            _ if line.ends_with('}') || line.ends_with(';') => 1,
            Some(step) => step + 1,
            None => 1,
        };
        found.insert(format!("{}:{}", word(name), at + 1), length);
    }
    found
}

fn opens_function(line: &str) -> bool {
    let words = ["pub ", "pub(crate) ", "pub(super) ", "const ", "async "];
    let mut rest = line;
    while let Some(shorter) = words.iter().find_map(|word| rest.strip_prefix(word)) {
        rest = shorter;
    }
    rest.starts_with("fn ")
}

#[test]
fn the_size_check_finds_a_long_function() {
    let body = "    let x = 1;\n".repeat(80);
    let text = format!("fn short() {{}}\n\npub fn long(\n    a: u8,\n) {{\n{body}}}\n");
    let found = functions(&text);
    assert_eq!(found.get("short:1"), Some(&1));
    assert_eq!(found.get("long:3"), Some(&84));
}

#[test]
fn names_are_meaningful() {
    for file in rust_files(&workspace()) {
        let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
        let folder = file.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        for name in [&stem, &folder] {
            assert!(!EMPTY_NAMES.contains(&name.as_str()), "{}: `{name}` says nothing", file.display());
        }
        let repeats = stem.starts_with(&format!("{folder}_")) || stem.ends_with(&format!("_{folder}"));
        assert!(!repeats, "{}: repeats its folder", file.display());
    }
}

/// Nondeterminism in a line of the core.
fn unsteady(line: &str) -> Vec<&'static str> {
    UNSTEADY.iter().filter(|(word, _)| line.contains(word)).map(|(_, why)| *why).collect()
}

/// Whether a line uses another `select!` than ours, which polls its branches in the order written.
fn draws_branches(line: &str) -> bool {
    let ours = |before: &str| before.ends_with("crate::") || before.ends_with("forkcast_sim::");
    let foreign = line.match_indices("select!").any(|(at, _)| !ours(&line[..at]));
    let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
    foreign || line.contains("tokio::") && words.into_iter().any(|word| word == "select")
}

#[test]
fn the_core_is_deterministic() {
    let sources = workspace().join("sim/src");
    for file in rust_files(&sources) {
        if HASHED.iter().any(|hashed| file.ends_with(hashed)) {
            continue;
        }
        for line in code(&file) {
            let found = unsteady(&line);
            assert!(found.is_empty(), "{}: `{line}`: {found:?}", file.display());
        }
    }
}

#[test]
fn branches_are_polled_in_the_order_written() {
    for file in rust_files(&workspace()) {
        if file.ends_with("time/select.rs") || file.ends_with("tests/house.rs") {
            continue;
        }
        for line in code(&file) {
            assert!(!draws_branches(&line), "{}: `{line}`: write forkcast_sim::select!", file.display());
        }
    }
}

#[test]
fn planted_nondeterminism_is_found() {
    let planted = [
        "for (name, tool) in std::collections::HashMap::from([(1, 2)]) {",
        "use std::collections::{BTreeMap, HashSet};",
        "let names: hashbrown::HashMap<u8, u8> = read();",
        "let now = std::time::SystemTime::now();",
        "use std::time::Instant;",
    ];
    for line in planted {
        assert!(!unsteady(line).is_empty(), "{line}");
    }
    for line in
        ["tokio::select! {", "select! { biased;", "use tokio::{select, sync::mpsc};", "use tokio::select as pick;"]
    {
        assert!(draws_branches(line), "{line}");
    }
    for line in ["forkcast_sim::select! {", "let first = crate::select! {", "use tokio::sync::mpsc;", "// a map"] {
        assert!(!draws_branches(line) && unsteady(line).is_empty(), "{line}");
    }
}

/// Files of the readers that convert errors of the system or of base64 to text, which quote no input, and how often.
const ERRORS_SHOWN: [(&str, usize); 8] = [
    ("replay/src/formats/beside.rs", 1),
    ("replay/src/formats/calls/message.rs", 1),
    ("replay/src/formats/exchange_log/write.rs", 1),
    ("replay/src/formats/yaml/scalar.rs", 1),
    ("replay/src/input.rs", 1),
    ("replay/src/input/load.rs", 2),
    ("replay/src/input/walk.rs", 1),
    ("replay/src/response/eventstream.rs", 1),
];

/// A parser's error may quote its input, so only `outside::complaint` converts it to text.
#[test]
fn readers_do_not_convert_a_parsers_error_to_text() {
    let mut found = BTreeMap::new();
    for folder in ["replay/src/formats", "replay/src/http", "replay/src/input", "replay/src/response"] {
        for file in rust_files(&workspace().join(folder)).into_iter().chain([workspace().join("replay/src/input.rs")]) {
            let shows = |line: &&String| {
                ["{error", "{source}", "error.to_string()", "error.message()"].iter().any(|text| line.contains(text))
            };
            let count = code(&file).iter().filter(shows).count();
            if count > 0 {
                found.insert(file.strip_prefix(workspace()).unwrap().display().to_string(), count);
            }
        }
    }
    let listed: BTreeMap<String, usize> =
        ERRORS_SHOWN.into_iter().map(|(file, count)| (file.to_owned(), count)).collect();
    assert_eq!(found, listed, "use outside::complaint for parsers; list a file here if the error quotes nothing");
}
