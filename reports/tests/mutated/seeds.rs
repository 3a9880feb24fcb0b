//! The inputs of mutations: every fixture of every crate, as trees and as text.

use std::fs;
use std::path::{Path, PathBuf};

use forkcast_fixtures::{files, workspace};
use forkcast_scenarios::format::tree::Node;

use super::tree::Tree;

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A value on each line.
    Lines,
    /// One value.
    Whole,
    /// One object, its keys as YAML and its values as JSON, which is YAML too.
    Yaml,
}

/// A file to begin with.
#[derive(Clone, Debug)]
pub struct Fixture {
    pub name: String,
    pub bytes: Vec<u8>,
    /// `None` if it is no tree, such as a text.
    pub tree: Option<(Shape, Tree)>,
}

/// Folders with recordings, below the workspace.
const RECORDINGS: [&str; 3] = ["replay/tests/fixtures", "replay/sample", "reports/tests/mutated/corpus/recordings"];
const SCENARIOS: [&str; 2] = ["scenarios/catalog", "reports/tests/mutated/corpus/scenarios"];

/// A folder with more recordings, such as real ones.
const MORE: &str = "FORKCAST_MUTATED_FROM";

/// Larger files are left out: they make cases slow and show nothing more.
const BYTES_MAX: u64 = 400_000;

pub fn recordings() -> Vec<Fixture> {
    let more = std::env::var_os(MORE).map(PathBuf::from);
    let folders = RECORDINGS.iter().map(|folder| workspace().join(folder)).chain(more);
    let all = folders.flat_map(|folder| files(&folder));
    let small = all.filter(|path| fs::metadata(path).unwrap().len() < BYTES_MAX);
    small.map(|path| Fixture::read(&path)).collect()
}

pub fn scenarios() -> Vec<Fixture> {
    let all = SCENARIOS.iter().flat_map(|folder| files(&workspace().join(folder)));
    all.filter(|path| path.extension().is_some_and(|end| end == "yaml")).map(|path| Fixture::read(&path)).collect()
}

impl Fixture {
    fn read(path: &Path) -> Self {
        let bytes = fs::read(path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let tree = str::from_utf8(&bytes).ok().and_then(|text| tree(&name, text));
        Self { name, bytes, tree }
    }
}

fn tree(name: &str, text: &str) -> Option<(Shape, Tree)> {
    if name.ends_with(".yaml") || name.ends_with(".yml") {
        let json = Node::read(text).ok()?.json();
        return Some((Shape::Yaml, Tree::read(&json.to_string())?));
    }
    if let Some(whole) = Tree::read(text) {
        return Some((Shape::Whole, whole));
    }
    let lines: Option<Vec<Tree>> = text.lines().filter(|line| !line.trim().is_empty()).map(Tree::read).collect();
    Some((Shape::Lines, Tree::List(lines?)))
}

impl Shape {
    /// The text of a tree.
    pub fn text(self, tree: &Tree) -> String {
        match (self, tree) {
            (Self::Lines, Tree::List(lines)) => lines.iter().map(|line| line.text() + "\n").collect(),
            (Self::Yaml, Tree::Object(members)) => {
                members.iter().map(|(key, value)| format!("{key}: {}\n", value.text())).collect()
            }
            _ => tree.text(),
        }
    }
}
