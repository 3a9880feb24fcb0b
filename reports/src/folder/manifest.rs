//! `manifest.json` (`forkcast.manifest/1`): the list of files in a folder that the program wrote. Files that it does not list are
//! the user's and are neither replaced nor removed.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::ops::RangeInclusive;
use std::path::Path;

use forkcast_scenarios::fanout::breakeven::{Quantity, Question};

use crate::format::manifest::{ManifestFile, SCHEMA};

use super::{BODIES, EXCHANGES, FANOUT, LEDGER, REQUESTS, RUN, body_name};

/// The file name.
pub(super) const MANIFEST: &str = "manifest.json";

/// Record files. A folder without its record is incomplete: the record is removed first and placed last.
pub(super) const RECORDS: [&str; 2] = [RUN, FANOUT];

/// Other files of a replay or a run.
const OF_RUN: [&str; 7] = [LEDGER, REQUESTS, EXCHANGES, "timeline.svg", "timeline.png", "ribbon.svg", "ribbon.png"];

/// All file names that can accompany a record, without bodies.
fn names_of(record: &str) -> Vec<String> {
    let mut names: Vec<String> = match record {
        FANOUT => vec![FANOUT.to_owned(), "fanout.csv".to_owned()],
        _ => [RUN].iter().chain(&OF_RUN).map(|name| (*name).to_owned()).collect(),
    };
    if record == FANOUT {
        let questions = Question::ALL.into_iter().chain(Quantity::ALL.map(Quantity::question));
        names.extend(questions.flat_map(|of| ["svg", "png"].map(|form| format!("{}.{form}", of.word()))));
    }
    names
}

/// All file names that the program writes into such folders. Other names in a manifest are ignored, so that a forged manifest
/// cannot delete the user's files.
pub(super) fn known_names() -> BTreeSet<String> {
    RECORDS.iter().flat_map(|record| names_of(record)).chain([MANIFEST.to_owned()]).collect()
}

/// The files in a folder that are ours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    /// File names, including the manifest.
    pub files: BTreeSet<String>,
    /// Indices of bodies, as sorted ranges.
    bodies: Vec<RangeInclusive<usize>>,
}

impl Manifest {
    /// A manifest of these files and itself.
    pub fn of_names(names: &[&str]) -> Self {
        let files = names.iter().chain(&[MANIFEST]).map(|name| (*name).to_owned()).collect();
        Self { files, bodies: Vec::new() }
    }

    /// Our files in a folder; `None` if the folder is not ours. Earlier versions wrote no manifest: if only a record exists, all
    /// fixed file names count as ours, but no bodies.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn of(folder: &Path) -> io::Result<Option<Self>> {
        if let Some(mut manifest) = Self::written(folder)? {
            // A listed record without our schema was replaced by the user.
            for record in RECORDS.iter().filter(|record| folder.join(record).exists()) {
                if !is_record(&folder.join(record))? {
                    manifest.files.remove(*record);
                }
            }
            return Ok(Some(manifest));
        }
        let mut files = BTreeSet::new();
        for record in RECORDS {
            if is_record(&folder.join(record))? {
                files.extend(names_of(record));
            }
        }
        Ok(if files.is_empty() { None } else { Some(Self { files, bodies: Vec::new() }) })
    }

    /// The manifest in a folder, if there is a valid one.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn written(folder: &Path) -> io::Result<Option<Self>> {
        let path = folder.join(MANIFEST);
        let is_file = fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file());
        if !is_file {
            return Ok(None);
        }
        let Ok(object) = serde_json::from_slice::<ManifestFile>(&fs::read(path)?) else { return Ok(None) };
        Ok((object.schema == SCHEMA).then(|| Self::from_object(object)))
    }

    fn from_object(object: ManifestFile) -> Self {
        let known = known_names();
        let files = object.files.into_iter().filter(|name| known.contains(name)).chain([MANIFEST.to_owned()]);
        let bodies = object.bodies.into_iter().filter(|[first, last]| first <= last);
        let mut manifest = Self { files: files.collect(), bodies: bodies.map(|[first, last]| first..=last).collect() };
        manifest.join_ranges();
        manifest
    }

    /// The content of the file.
    pub fn text(&self) -> String {
        let bodies = self.bodies.iter().map(|range| [*range.start(), *range.end()]);
        ManifestFile::new(self.files.clone(), bodies.collect()).text()
    }

    /// Whether the body of a request is listed.
    pub fn has_body(&self, index: usize) -> bool {
        let after = self.bodies.partition_point(|range| *range.start() <= index);
        after > 0 && self.bodies[after - 1].contains(&index)
    }

    /// Whether a file name in the folder of bodies is listed.
    pub fn has_body_named(&self, name: &str) -> bool {
        body_index(name).is_some_and(|index| self.has_body(index))
    }

    /// Whether any body is listed.
    pub fn has_bodies(&self) -> bool {
        !self.bodies.is_empty()
    }

    /// Adds the body of a request.
    pub fn add_body(&mut self, index: usize) {
        match self.bodies.last_mut() {
            Some(last) if index == last.end().saturating_add(1) => *last = *last.start()..=index,
            Some(last) if index <= *last.end() => {
                self.bodies.push(index..=index);
                self.join_ranges();
            }
            _ => self.bodies.push(index..=index),
        }
    }

    /// The files of both manifests.
    pub fn union(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.files.extend(other.files.iter().cloned());
        both.bodies.extend(other.bodies.iter().cloned());
        both.join_ranges();
        both
    }

    /// Sorts the ranges and joins those that touch.
    fn join_ranges(&mut self) {
        self.bodies.sort_by_key(|range| *range.start());
        let mut joined: Vec<RangeInclusive<usize>> = Vec::new();
        for range in self.bodies.drain(..) {
            match joined.last_mut() {
                Some(last) if *range.start() <= last.end().saturating_add(1) => {
                    *last = *last.start()..=*last.end().max(range.end());
                }
                _ => joined.push(range),
            }
        }
        self.bodies = joined;
    }

    /// Everything in a temporary folder of ours that has a name which the program writes.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn by_name(folder: &Path) -> io::Result<Self> {
        let mut bodies = Vec::new();
        match fs::read_dir(folder.join(BODIES)) {
            Ok(entries) => {
                for entry in entries {
                    bodies.extend(entry?.file_name().to_str().and_then(body_index));
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let files = known_names();
        let mut found = Self { files, bodies: bodies.into_iter().map(|index| index..=index).collect() };
        found.join_ranges();
        Ok(found)
    }
}

/// The index of the body with this file name.
fn body_index(name: &str) -> Option<usize> {
    let index = name.strip_suffix(".json")?.parse().ok()?;
    (body_name(index) == name).then_some(index)
}

/// Whether a file is a record, judged by its first bytes.
fn is_record(path: &Path) -> io::Result<bool> {
    let is_file = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file());
    Ok(is_file && head(path)?.contains("\"schema\": \"forkcast."))
}

/// The first bytes of a file as text.
pub(super) fn head(path: &Path) -> io::Result<String> {
    const HEAD_BYTES: u64 = 64;
    let mut head = Vec::new();
    File::open(path)?.take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok(String::from_utf8_lossy(&head).into_owned())
}

#[cfg(test)]
mod tests {
    use super::{Manifest, SCHEMA};
    use crate::format::SCHEMAS;

    #[test]
    fn bodies_are_ranges() {
        let mut manifest = Manifest::default();
        [0, 1, 2, 7, 8, 4, 3].into_iter().for_each(|index| manifest.add_body(index));
        assert_eq!(manifest.bodies, [0..=4, 7..=8]);
        let held: Vec<usize> = (0..12).filter(|index| manifest.has_body(*index)).collect();
        assert_eq!(held, [0, 1, 2, 3, 4, 7, 8]);
        assert!(manifest.has_body_named("00003.json") && !manifest.has_body_named("3.json"));
        assert!(!manifest.has_body_named("00005.json") && !manifest.has_body_named("notes.txt"));
    }

    #[test]
    fn a_manifest_follows_its_schema_and_is_read_back() {
        let mut manifest = Manifest::of_names(&["run.json", "ledger.jsonl"]);
        [0, 1, 5].into_iter().for_each(|index| manifest.add_body(index));
        let (_, schema) = SCHEMAS.iter().find(|(name, _)| *name == SCHEMA).unwrap();
        let validator = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
        assert!(validator.is_valid(&serde_json::from_str(&manifest.text()).unwrap()), "{}", manifest.text());
        assert_eq!(Manifest::from_object(serde_json::from_str(&manifest.text()).unwrap()), manifest);
    }

    #[test]
    fn names_that_the_program_never_writes_are_ignored() {
        let forged =
            r#"{"schema":"forkcast.manifest/1","files":["package.json","../run.json","run.json"],"bodies":[[9,3]]}"#;
        let manifest = Manifest::from_object(serde_json::from_str(forged).unwrap());
        assert_eq!(manifest.files.iter().collect::<Vec<_>>(), ["manifest.json", "run.json"]);
        assert!(!manifest.has_bodies());
    }
}
