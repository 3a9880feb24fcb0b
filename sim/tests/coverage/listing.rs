//! Which tests cover which behaviours of the contract (`sim/docs/contract.md`): from the names of tests, the scenarios'
//! `covers:` and the list of behaviours that nothing covers (`sim/coverage/deferred.txt`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use forkcast_fixtures::workspace;

/// One behaviour.
#[derive(Debug, Default)]
pub struct Behaviour {
    /// Its sentence in the contract.
    pub says: String,
    /// Tests and scenarios that cover it.
    pub held_by: BTreeSet<String>,
    /// Why nothing covers it.
    pub deferred: Option<String>,
}

/// All behaviours by id, `LOOP-07`.
pub fn all() -> BTreeMap<String, Behaviour> {
    let root = workspace();
    let contract = fs::read_to_string(root.join("sim/docs/contract.md")).expect("the contract");
    let mut all = BTreeMap::new();
    for (id, says) in sentences(&contract) {
        let behaviour = Behaviour { says, ..Behaviour::default() };
        assert!(all.insert(id.clone(), behaviour).is_none(), "the contract has {id} twice");
    }
    for folder in ["sim/tests", "sim/src", "scenarios/tests", "replay/tests", "reports/tests"] {
        for file in files(&root.join(folder), "rs") {
            tests(&fs::read_to_string(&file).expect("UTF-8"), &stem(&root, &file), &mut all);
        }
    }
    for file in files(&root.join("scenarios/catalog"), "yaml") {
        scenario(&fs::read_to_string(&file).expect("UTF-8"), &stem(&root, &file), &mut all);
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

/// The lines of a contract, with their ids: `- **LOOP-07** sentence`.
pub fn sentences(contract: &str) -> Vec<(String, String)> {
    let lines = contract.lines().filter_map(|line| line.strip_prefix("- **")?.split_once("** "));
    lines.map(|(id, says)| (id.to_owned(), says.to_owned())).filter(|(id, _)| is_id(id)).collect()
}

fn is_id(id: &str) -> bool {
    let parts = id.split_once('-');
    parts.is_some_and(|(group, number)| {
        group.bytes().all(|byte| byte.is_ascii_uppercase()) && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// `LOOP-07 part: why`, or `LOOP-07..09 part: why` for three of them; lines that begin with `#` are remarks.
fn deferred(text: &str, all: &mut BTreeMap<String, Behaviour>) {
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (ids, why) = line.split_once(' ').unwrap_or_else(|| panic!("deferred.txt: `{line}` gives no reason"));
        for id in range(ids) {
            let behaviour = all.get_mut(&id).unwrap_or_else(|| panic!("deferred.txt: the contract has no {id}"));
            assert!(behaviour.deferred.is_none(), "deferred.txt: {id} is listed twice");
            behaviour.deferred = Some(why.to_owned());
        }
    }
}

fn range(ids: &str) -> Vec<String> {
    let Some((first, last)) = ids.split_once("..") else { return vec![ids.to_owned()] };
    let (group, first) = first.split_once('-').expect("an id has a group");
    let number = |text: &str| text.parse::<u32>().expect("ids are numbered");
    (number(first)..=number(last)).map(|number| format!("{group}-{number:02}")).collect()
}
