//! Files read in parallel; results arrive in the order of the files.

use std::cell::Cell;
use std::cmp::Reverse;

use super::load::{self, Loaded, Room};
use super::progress::Meter;
use super::walk::Found;
use super::{InputFormat, Inputs, Place, ReadOptions, ScopeInput};
use crate::side_by_side::side_by_side;
use crate::transcript::Sessions;

thread_local! {
    /// The thread's memory for files.
    static ROOM: Cell<Room> = Cell::default();
}

/// Reads `files`, the largest first, and passes the results to `take`, in the order of the files. After `meter` stops, the
/// rest is not read.
///
/// Conversations of a file are stored with those of `sessions` before the next file is read.
pub(super) fn read(
    files: &[Found],
    sessions: &Sessions,
    options: &ReadOptions,
    meter: &Meter<'_>,
    take: &mut dyn FnMut(Inputs),
) {
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|at| (Reverse(files[*at].bytes), *at));
    let read = |at: usize| {
        let found = &files[at];
        let inputs = meter.goes_on().then(|| one(found, sessions, options));
        inputs.inspect(|_| meter.done(found.bytes))
    };
    side_by_side(&order, &read, &mut |inputs: Option<Inputs>| inputs.into_iter().for_each(&mut *take));
    // This thread has read files too, and goes on.
    drop(ROOM.take());
}

/// The content of one file.
pub(super) fn one(found: &Found, sessions: &Sessions, options: &ReadOptions) -> Inputs {
    let mut inputs = empty(sessions);
    let loaded = load::open(&found.path, options.format == InputFormat::Auto, ROOM.take());
    let place = Place { name: &found.name, folder: found.path.parent(), size: found.bytes };
    inputs.stored(&place, &loaded, options);
    ROOM.set(Room::of(loaded));
    inputs
}

/// The content of standard input.
pub(super) fn standard_input(sessions: &Sessions, options: &ReadOptions) -> Inputs {
    let mut inputs = empty(sessions);
    let loaded = load::load(std::io::stdin().lock(), options.format == InputFormat::Auto);
    let size = if let Ok(Loaded::Bytes { bytes, .. }) = &loaded { bytes.len() as u64 } else { 0 };
    inputs.stored(&Place { name: "-", folder: None, size }, &loaded, options);
    inputs
}

fn empty(sessions: &Sessions) -> Inputs {
    Inputs { scopes: vec![ScopeInput::default()], sessions: sessions.beside(), ..Inputs::default() }
}
