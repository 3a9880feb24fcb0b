//! A reader: the name of its format, how a file is recognised, and how it is read.

use std::borrow::Cow;
use std::path::Path;

use super::Reading;
use super::json;
use super::text::Text;
use crate::transcript::Measuring;

/// A reader of one format. Formats are detected only by content; file names never matter.
pub struct Reader {
    /// The format's name for `--input-format`.
    pub name: &'static str,
    /// What the format is.
    pub what: &'static str,
    /// How a file of it is recognised.
    pub detected_by: &'static str,
    /// Whether a JSON document, or a record of one, has this format.
    pub(super) probe: fn(&Object<'_>) -> Probe,
    /// The top-level keys that together identify YAML of this format.
    pub(super) yaml_keys: &'static [&'static str],
    /// Whether its records may also be the elements of one JSON list.
    pub(super) reads_lists: bool,
    /// The beginning of the name of the recording beside a folder, if a folder of this name has bodies of that recording
    /// and no recordings.
    pub(super) owner_of_bodies: for<'n> fn(&'n str) -> Option<&'n str>,
    /// Reads a file.
    pub(super) read: fn(&File<'_>) -> Reading,
}

impl Reader {
    /// Of no format.
    pub(super) const BARE: Self = Self {
        name: "",
        what: "",
        detected_by: "",
        probe: |_| Probe::No,
        yaml_keys: &[],
        reads_lists: false,
        owner_of_bodies: |_| None,
        read: |file| file.reading(),
    };
}

/// Whether something has a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    /// It does not.
    No,
    /// It does, unless another format is sure.
    Perhaps,
    /// It does.
    Yes,
}

impl Probe {
    /// [`Self::Yes`] or [`Self::No`].
    pub const fn sure(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }

    /// This, else [`Self::Perhaps`] if `holds`.
    pub const fn or_perhaps(self, holds: bool) -> Self {
        match self {
            Self::No if holds => Self::Perhaps,
            told => told,
        }
    }
}

/// A loaded and decompressed file.
#[derive(Clone, Copy)]
pub(crate) struct File<'a> {
    /// Its name, which is the origin of its exchanges.
    pub name: &'a str,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Its folder, where some recorders put bodies; `None` if it is no file.
    pub folder: Option<&'a Path>,
    /// Counts the blocks of transcripts, if requested.
    pub measuring: Option<&'a Measuring>,
    /// Exchanges keep their answers, and transcripts their texts.
    pub keeps_answers: bool,
}

impl<'a> File<'a> {
    /// Its bytes with their lines.
    pub fn text(&self) -> Text<'a> {
        Text::new(self.bytes)
    }

    /// An empty reading of it.
    pub fn reading(&self) -> Reading {
        Reading { keeps_answers: self.keeps_answers, ..Reading::default() }
    }
}

/// A JSON object whose format is to be detected.
pub(crate) struct Object<'a> {
    /// The bytes from its opening bracket to the end of the text.
    bytes: &'a [u8],
    /// Its keys, as far as they can be read.
    pub keys: Vec<Cow<'a, str>>,
    /// It is the whole file, not one record of several.
    pub is_document: bool,
    /// Where it ends in its text, or what stopped the reading of its keys.
    pub end: Result<usize, json::Broken>,
}

impl<'a> Object<'a> {
    /// A record that begins at `start`.
    pub fn record(bytes: &'a [u8], start: usize) -> Self {
        let json::Keys { keys, end } = json::keys(bytes, start);
        Self { bytes: &bytes[start..], keys, is_document: false, end }
    }

    /// A document that begins at `start`.
    pub fn document(bytes: &'a [u8], start: usize) -> Self {
        Self { is_document: true, ..Self::record(bytes, start) }
    }

    /// Whether it has a key.
    pub fn has(&self, name: &str) -> bool {
        self.keys.iter().any(|key| key == name)
    }

    /// Whether it has all of these.
    pub fn has_all(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.has(name))
    }

    /// Whether it has one of these.
    pub fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.has(name))
    }

    /// The object under a key.
    pub fn inner(&self, key: &str) -> Option<Object<'a>> {
        self.has(key).then(|| json::member(self.bytes, key))?.map(|value| Object::record(value, 0))
    }

    /// The readable part of the object under a key, even if the text ends within it.
    pub fn begun(&self, key: &str) -> Option<Object<'a>> {
        self.start_of(key).map(|start| Object::record(self.bytes, start))
    }

    /// The first element of the list under a key, likewise.
    pub fn first_under(&self, key: &str) -> Option<Object<'a>> {
        let list = self.start_of(key)?;
        Some(Object::record(self.bytes, json::skip_space(self.bytes, list + 1)))
    }

    /// Where the value under a key begins. Most objects lack most keys: these are not scanned again.
    fn start_of(&self, key: &str) -> Option<usize> {
        self.has(key).then(|| json::value_start(self.bytes, key))?
    }

    /// The text under a key.
    pub fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        json::member_text(self.bytes, key)
    }
}
