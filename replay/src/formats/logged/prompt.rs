//! Which parts of a prompt are included in a log's number of prompt tokens.
//!
//! By the conventions the number includes tokens read from the cache and tokens written to it. Not all writers of logs
//! follow this, and no field says so. But a part is never larger than its whole, and the rest of a cached prompt is
//! small: so a count below the sum of its parts cannot include all of them.

/// What a log's count includes if the sum of the parts exceeds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::formats) enum Included {
    /// Read tokens are included, written ones are not (LiteLLM from 2025-04 to the return of writes in 2026).
    Reads,
    /// Neither is included: the provider's own additive counts were recorded unchanged.
    Neither,
}

/// The parts of a prompt; their sum is the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::formats) struct Split {
    /// Neither read nor written.
    pub input: u64,
    /// Read from the cache.
    pub read: u64,
    /// Written to it.
    pub written: u64,
}

impl Split {
    /// Splits `prompt` tokens.
    pub fn new(prompt: u64, read: u64, written: u64, otherwise: Included) -> Self {
        let input = match prompt.checked_sub(read + written) {
            Some(rest) => rest,
            None if otherwise == Included::Reads => prompt.checked_sub(read).unwrap_or(prompt),
            None => prompt,
        };
        Self { input, read, written }
    }
}

#[cfg(test)]
mod tests {
    use super::{Included, Split};

    #[test]
    fn a_whole_is_never_smaller_than_its_parts() {
        for (prompt, read, written, otherwise, input) in [
            (1000, 700, 200, Included::Neither, 100),
            (1000, 700, 200, Included::Reads, 100),
            (900, 700, 200, Included::Neither, 0),
            (10, 11579, 12694, Included::Neither, 10),
            (731, 700, 1253, Included::Reads, 31), // read included, written not
            (31, 0, 1253, Included::Reads, 31),
            (10, 700, 1253, Included::Reads, 10), // neither can be included
        ] {
            let split = Split::new(prompt, read, written, otherwise);
            assert_eq!((split.input, split.read, split.written), (input, read, written), "{prompt}");
        }
    }
}
