//! Which tests cover which behaviours: from the names of tests, the scenarios' `covers:` and the deferred list.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Groups of implemented behaviours, with the number of their lines.
pub const GROUPS: [(&str, u32); 21] = [
    ("INPUT", 9),
    ("LOOP", 25),
    ("STREAM", 17),
    ("STOP", 10),
    ("PROMPT", 23),
    ("PERM", 18),
    ("TOOLS", 14),
    ("AGENT", 35),
    ("ADEF", 24),
    ("CTX", 18),
    ("SYNC", 25),
    ("ASYNC", 15),
    ("LIFE", 9),
    ("NOTIFY", 14),
    ("QUEUE", 17),
    ("TASK", 10),
    ("RESULT", 13),
    ("TRANSCRIPT", 10),
    ("FORK", 56),
    ("CACHE", 33),
    ("DIAG", 8),
];

/// One behaviour.
#[derive(Debug, Default)]
pub struct Behaviour {
    /// Its sentence.
    pub says: Option<String>,
    /// Tests and scenarios that cover it.
    pub held_by: BTreeSet<String>,
    /// The part that will bring it, if it is not implemented yet.
    pub deferred: Option<String>,
}

/// All behaviours by id, `LOOP-07`.
pub fn all() -> BTreeMap<String, Behaviour> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("sim lies in the workspace").to_owned();
    let ids = GROUPS.iter().flat_map(|(group, count)| (1..=*count).map(move |number| format!("{group}-{number:02}")));
    let mut all: BTreeMap<String, Behaviour> = ids.map(|id| (id, Behaviour::default())).collect();
    for folder in ["sim/tests", "sim/src", "scenarios/tests"] {
        for file in files(&root.join(folder), "rs") {
            tests(&fs::read_to_string(&file).expect("UTF-8"), &stem(&root, &file), &mut all);
        }
    }
    for file in files(&root.join("scenarios/catalog"), "yaml") {
        scenario(&fs::read_to_string(&file).expect("UTF-8"), &stem(&root, &file), &mut all);
    }
    for file in files(&root.join("sim/coverage/behaviours"), "md") {
        sentences(&fs::read_to_string(&file).expect("UTF-8"), &file, &mut all);
    }
    deferred(&fs::read_to_string(root.join("sim/coverage/deferred.txt")).unwrap_or_default(), &mut all);
    all
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn stem(root: &Path, file: &Path) -> String {
    file.strip_prefix(root).unwrap_or(file).display().to_string()
}

/// Names of tests: `loop_07_sync_08_what_holds` names two ids.
fn tests(text: &str, file: &str, all: &mut BTreeMap<String, Behaviour>) {
    let mut is_test = false;
    for line in text.lines().map(str::trim_start) {
        is_test |= line.starts_with("#[test]");
        let Some(name) = line.strip_prefix("fn ").filter(|_| is_test) else { continue };
        is_test = false;
        let name = name.split('(').next().unwrap_or_default();
        for id in ids(name) {
            if let Some(behaviour) = all.get_mut(&id) {
                behaviour.held_by.insert(format!("{file}: {name}"));
            }
        }
    }
}

fn ids(name: &str) -> Vec<String> {
    let words: Vec<&str> = name.split('_').collect();
    let two_digits = |word: &str| word.len() == 2 && word.bytes().all(|byte| byte.is_ascii_digit());
    let pairs = words.windows(2).filter(|pair| two_digits(pair[1]));
    pairs.map(|pair| format!("{}-{}", pair[0].to_ascii_uppercase(), pair[1])).collect()
}

/// `covers: [LOOP-07, SYNC-08]`, on one line or on several; a variant has its own.
fn scenario(text: &str, file: &str, all: &mut BTreeMap<String, Behaviour>) {
    for after in text.split("covers:").skip(1) {
        let list = after.split_once(']').map_or(after, |(list, _)| list);
        for word in list.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')) {
            if let Some(behaviour) = all.get_mut(word) {
                behaviour.held_by.insert(file.to_owned());
            }
        }
    }
}

/// `* LOOP-07: sentence`.
fn sentences(text: &str, file: &Path, all: &mut BTreeMap<String, Behaviour>) {
    for line in text.lines().filter_map(|line| line.strip_prefix("* ")) {
        let (id, says) = line.split_once(": ").unwrap_or_else(|| panic!("{}: `{line}` has no id", file.display()));
        let behaviour = all.get_mut(id).unwrap_or_else(|| panic!("{}: no behaviour is called {id}", file.display()));
        assert!(behaviour.says.is_none(), "{}: {id} is said twice", file.display());
        behaviour.says = Some(says.to_owned());
    }
}

/// `LOOP-07 part: why`; lines that begin with `#` are remarks.
fn deferred(text: &str, all: &mut BTreeMap<String, Behaviour>) {
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (id, why) = line.split_once(' ').unwrap_or_else(|| panic!("deferred.txt: `{line}` names no part"));
        let behaviour = all.get_mut(id).unwrap_or_else(|| panic!("deferred.txt: no behaviour is called {id}"));
        assert!(behaviour.deferred.is_none(), "deferred.txt: {id} is listed twice");
        behaviour.deferred = Some(why.to_owned());
    }
}
