//! Edits of bytes, drawn: what damage makes of a recording.

use proptest::prelude::*;

#[derive(Clone, Debug)]
pub enum Edit {
    Flip(prop::sample::Index, u8),
    Remove(prop::sample::Index, usize),
    Insert(prop::sample::Index, &'static [u8]),
    Splice(prop::sample::Index, prop::sample::Index, usize),
}

/// Pieces that mean something to one reader or another.
const PIECES: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\\",
    b",",
    b":",
    b"\n",
    b"\r\n",
    b"\n- ",
    b"null",
    b"-1",
    b"1e999",
    b"\\ud83d",
    b"\xff",
    b"\0",
    b"18446744073709551615",
    b"18446744073709551616",
    b"&a *a",
    b"!!binary ",
    b"data: ",
    b"\"encoding\":\"base64\",",
    b"{\"bytes\":\"",
];

/// Most bytes that a splice repeats.
const SPLICED_MAX: usize = 400;

pub fn edit() -> impl Strategy<Value = Edit> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Edit::Flip(at, byte)),
        (at(), 1..64_usize).prop_map(|(at, length)| Edit::Remove(at, length)),
        (at(), prop::sample::select(PIECES)).prop_map(|(at, piece)| Edit::Insert(at, piece)),
        (at(), at(), 1..SPLICED_MAX).prop_map(|(from, to, length)| Edit::Splice(from, to, length)),
    ]
}

pub fn apply(bytes: &mut Vec<u8>, edit: &Edit) {
    let length = bytes.len();
    if length == 0 {
        return;
    }
    match edit {
        Edit::Flip(at, byte) => bytes[at.index(length)] = *byte,
        Edit::Remove(at, count) => {
            let at = at.index(length);
            bytes.drain(at..(at + count).min(length));
        }
        Edit::Insert(at, piece) => {
            let at = at.index(length);
            bytes.splice(at..at, piece.iter().copied());
        }
        Edit::Splice(from, to, count) => {
            let from = from.index(length);
            let piece = bytes[from..(from + count).min(length)].to_vec();
            let to = to.index(length);
            bytes.splice(to..to, piece);
        }
    }
}
