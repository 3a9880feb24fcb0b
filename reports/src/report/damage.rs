//! Places of the input that were not read as they are: one list for all forms of output.

use forkcast_sim::words;

use forkcast_replay::input::{Inputs, Unreadable};

/// A place of the input.
#[derive(Clone, Copy, Debug)]
pub struct Damage<'a> {
    /// What became of it.
    pub fate: Fate,
    /// The file.
    pub file: &'a str,
    /// Its line, from 1; 0 for the whole file.
    pub line: usize,
    /// The reason, or the repair.
    pub reason: &'a str,
}

words! {
    /// What became of a place; the worst first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Fate: word {
        /// It could not be read.
        Unreadable = "unreadable",
        /// It was mended without guessing.
        Repaired = "repaired",
        /// It changes no number.
        Noted = "noted",
        /// It is no recording, which is no damage.
        PassedOver = "passed over",
    }
}

impl<'a> Damage<'a> {
    /// All places of an input; `unreplayed` are requests that were read and could not be replayed.
    pub fn all(inputs: &'a Inputs, unreplayed: &'a [Unreadable]) -> impl Iterator<Item = Self> {
        let place = |fate, file, line, reason| Self { fate, file, line, reason };
        let unreadable = inputs.unreadable.iter().chain(unreplayed);
        let unreadable = unreadable.map(move |it| place(Fate::Unreadable, &*it.file, it.line, &*it.reason));
        let repaired = inputs.repaired.iter().map(move |it| place(Fate::Repaired, &*it.file, it.line, &*it.what));
        let files = inputs.scopes.iter().flat_map(|scope| &scope.files);
        let noted =
            files.flat_map(move |file| file.notes.iter().map(move |note| place(Fate::Noted, &*file.file, 0, &**note)));
        let skipped = inputs.skipped.iter().map(move |it| place(Fate::PassedOver, &*it.file, 0, &*it.reason));
        unreadable.chain(repaired).chain(noted).chain(skipped)
    }
}
