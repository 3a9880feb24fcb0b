//! Files read side by side; what they gave arrives in their order.

use std::cell::Cell;
use std::cmp::Reverse;

use super::load::{self, Room};
use super::progress::Meter;
use super::walk::Found;
use super::{InputFormat, Inputs, ReadOptions, ScopeInput};
use crate::side_by_side::side_by_side;
use crate::transcript::Sessions;

thread_local! {
    /// What the thread reads files into.
    static ROOM: Cell<Room> = Cell::default();
}

/// Reads `files`, the largest first, and hands each one's result to `take`, in the order of the files. Where `meter` says
/// that it ends, the rest gives nothing.
///
/// Conversations are put where those of `sessions` are before the next file is read.
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
}

/// What one file gave.
pub(super) fn one(found: &Found, sessions: &Sessions, options: &ReadOptions) -> Inputs {
    let scopes = vec![ScopeInput::default()];
    let mut inputs = Inputs { scopes, sessions: sessions.beside(), ..Inputs::default() };
    let loaded = load::open(&found.path, options.format == InputFormat::Auto, ROOM.take());
    inputs.stored(&found.name, found.bytes, &loaded, options);
    ROOM.set(Room::of(loaded));
    inputs
}
