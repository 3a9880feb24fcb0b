//! Files one after the other, for callers that must not have all of them in memory.

use std::collections::BTreeSet;
use std::path::Path;

use super::progress::Named;
use super::walk::Found;
use super::{FileInput, Inputs, Progress, ReadOptions, natural, parallel};
use crate::error::Error;
use crate::exchange::Exchange;
use crate::side_by_side::ahead;
use crate::transcript::Sessions;

/// The content of one file.
#[derive(Debug)]
pub struct Piece {
    /// Index of the named path among [`Inputs::scopes`].
    pub scope: usize,
    /// That path, as the user named it.
    pub named: String,
    /// The recording.
    pub file: FileInput,
    /// The file, to read it again; `None` for standard input and pipes.
    pub again: Option<Again>,
}

/// A file that can be read again.
#[derive(Clone, Debug)]
pub struct Again {
    found: Found,
    options: ReadOptions,
}

impl Again {
    /// Reads its exchanges: none if it was removed meanwhile.
    pub fn read(&self) -> Vec<Exchange> {
        let read = parallel::one(&self.found, &Sessions::default(), &self.options);
        read.scopes.into_iter().flat_map(|scope| scope.files).flat_map(|file| file.exchanges).collect()
    }
}

impl Inputs {
    /// Reads like [`Self::read_with`], but passes each recording to `take` and keeps nothing of it except the account of
    /// all files and the sessions of transcripts. Files are in the same order.
    pub fn read_each(
        paths: &[impl AsRef<Path>],
        options: &ReadOptions,
        watch: &(dyn Fn(Progress) -> bool + Sync),
        take: &mut dyn FnMut(Piece),
    ) -> Result<Self, Error> {
        let named = Named::find_all(paths)?;
        Ok(Self::of_named(named, options, watch, &mut |inputs, files, meter| {
            let beside = inputs.sessions.beside();
            let Some(files) = files else {
                inputs.hand_on(parallel::standard_input(&beside, options), None, take);
                return;
            };
            let read = |at: usize| {
                let found: &Found = &files[at];
                let read = meter.goes_on().then(|| parallel::one(found, &beside, options));
                (found, read.inspect(|_| meter.done(found.bytes)))
            };
            // Files are read while those before them are taken.
            ahead(files.iter().map(|found| found.bytes).collect(), &read, &mut |(found, read)| {
                let again = found.rereadable.then(|| Again { found: found.clone(), options: options.clone() });
                read.into_iter().for_each(|read| inputs.hand_on(read, again.as_ref(), take));
            });
        }))
    }

    fn hand_on(&mut self, mut read: Self, again: Option<&Again>, take: &mut dyn FnMut(Piece)) {
        let Some((scope, named)) = self.scopes.iter().enumerate().next_back() else { return };
        for file in std::mem::take(&mut read.scopes).into_iter().flat_map(|scope| scope.files) {
            take(Piece { scope, named: named.name.clone(), file, again: again.cloned() });
        }
        self.absorb(read);
    }
}

/// Sorts files by their names without folders: if one counter numbers the requests of several agents, each with a folder, the
/// numbers are the order. If two folders have files of one name, each folder has its own counter, and they are sorted by path;
/// then [`super::forks`] decides which folder comes first.
pub(super) fn in_order(files: &mut [Found]) {
    let name = |found: &Found| found.name.rsplit_once('/').map_or(0, |(folder, _)| folder.len() + 1);
    let names: BTreeSet<&str> = files.iter().map(|found| &found.name[name(found)..]).collect();
    let numbered_on = names.len() == files.len();
    let from = |found: &Found| if numbered_on { name(found) } else { 0 };
    files.sort_by(|one, other| {
        natural::compare(&one.name[from(one)..], &other.name[from(other)..])
            .then_with(|| natural::compare(&one.name, &other.name))
    });
}
