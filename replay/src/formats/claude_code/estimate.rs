//! Output by estimate, where a transcript holds only what the stream had come to when it began.

use super::message::Lengths;

/// Tokens of an answer whose parts have these lengths.
pub(super) fn tokens(lengths: &Lengths) -> u32 {
    let bytes = lengths.text + lengths.thinking + lengths.input;
    u32::try_from(bytes * 10 / 36 + lengths.calls * 40).unwrap_or(u32::MAX)
}
