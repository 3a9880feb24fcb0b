//! Files one after the other, for whoever must not hold all of them at once.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::load::Loaded;
use super::progress::{Meter, Named};
use super::walk::Found;
use super::{FileInput, InputFormat, Inputs, Progress, ReadOptions, ScopeInput, load, natural, parallel};
use crate::error::Error;
use crate::exchange::Exchange;
use crate::transcript::Sessions;

/// What one file gave.
#[derive(Debug)]
pub struct Piece {
    /// Index of the named path among [`Inputs::scopes`].
    pub scope: usize,
    /// That path, as the user named it.
    pub named: String,
    /// The recording.
    pub file: FileInput,
    /// How to read it once more; `None` for standard input and pipes.
    pub again: Option<Again>,
}

/// A file that can be read once more.
#[derive(Clone, Debug)]
pub struct Again {
    name: String,
    path: PathBuf,
    bytes: u64,
    options: ReadOptions,
}

impl Again {
    /// Reads its exchanges: none where it is gone meanwhile.
    pub fn read(&self) -> Vec<Exchange> {
        let found = Found {
            name: self.name.clone(),
            path: self.path.clone(),
            real: self.path.clone(),
            bytes: self.bytes,
            rereadable: true,
        };
        let read = parallel::one(&found, &Sessions::default(), &self.options);
        read.scopes.into_iter().flat_map(|scope| scope.files).flat_map(|file| file.exchanges).collect()
    }
}

impl Inputs {
    /// Reads like [`Self::read_with`], but hands each recording to `take` as it comes and keeps nothing of it: what stays
    /// is the account of all files, and the sessions of transcripts. Files of a folder come in the order of their names,
    /// and so do files that were named one by one, with numbers counted as numbers.
    ///
    /// # Errors
    /// Only when a path cannot be opened at all.
    pub fn read_each(
        paths: &[impl AsRef<Path>],
        options: &ReadOptions,
        watch: &(dyn Fn(Progress) -> bool + Sync),
        take: &mut dyn FnMut(Piece),
    ) -> Result<Self, Error> {
        let mut named = Named::find_all(paths)?;
        if paths.iter().all(|path| path.as_ref().is_file()) {
            named.sort_by(|one, other| natural::compare(&one.name, &other.name));
        }
        let meter = Meter::new(named.iter().flat_map(Named::files), watch);
        let sessions = Sessions::within(options.memory_bytes_max);
        let mut inputs = Self { read_as: options.format, sessions, ..Self::default() };
        for named in named {
            inputs.each(named, options, &meter, take);
        }
        inputs.unread_files = meter.unread();
        inputs.sessions.join();
        Ok(inputs)
    }

    fn each(
        &mut self,
        Named { name, walk }: Named,
        options: &ReadOptions,
        meter: &Meter<'_>,
        take: &mut dyn FnMut(Piece),
    ) {
        self.scopes.push(ScopeInput { name: name.clone(), files: Vec::new() });
        let Some(mut walk) = walk else {
            let scopes = vec![ScopeInput::default()];
            let mut read = Self { scopes, sessions: self.sessions.beside(), ..Self::default() };
            let loaded = load::load(std::io::stdin().lock(), options.format == InputFormat::Auto);
            let size = loaded.as_ref().map_or(0, Loaded::size);
            read.stored(&name, size, &loaded, options);
            self.hand_on(read, None, take);
            return;
        };
        in_order(&mut walk.files);
        for found in walk.files {
            if meter.goes_on() {
                let read = parallel::one(&found, &self.sessions.beside(), options);
                meter.done(found.bytes);
                let Found { name, path, bytes, rereadable, .. } = found;
                let again = rereadable.then(|| Again { name, path, bytes, options: options.clone() });
                self.hand_on(read, again.as_ref(), take);
            }
        }
        self.files += walk.skipped.len() + walk.unreadable.len();
        self.skipped.extend(walk.skipped);
        self.unreadable.extend(walk.unreadable);
    }

    fn hand_on(&mut self, mut read: Self, again: Option<&Again>, take: &mut dyn FnMut(Piece)) {
        let scope = self.scopes.len().saturating_sub(1);
        let named = self.scopes.last().map(|scope| scope.name.clone()).unwrap_or_default();
        for file in std::mem::take(&mut read.scopes).into_iter().flat_map(|scope| scope.files) {
            take(Piece { scope, named: named.clone(), file, again: again.cloned() });
        }
        self.absorb(read);
    }
}

/// In the order of their names: who numbers all requests of several agents on, each agent in a folder of its own, means the
/// order of the numbers. Where two folders have files of one name, each numbers its own, and they stand folder by folder.
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
