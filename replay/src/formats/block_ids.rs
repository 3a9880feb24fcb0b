//! Limits for block ids in serving traces: each takes about sixty bytes while prompts are compared, and two in a file.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

/// Maximum blocks of one prompt: 16 million tokens at the smallest size in use, 16 tokens a block.
const PROMPT_MAX: usize = 1 << 20;

/// Maximum blocks of all prompts of a file; they take about 2 GB. Published traces of a day have up to seven million.
const FILE_MAX: usize = 1 << 25;

/// The blocks of one prompt.
#[derive(Debug, Default)]
pub(super) struct BlockIds(pub Vec<u64>);

impl<'de> Deserialize<'de> for BlockIds {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_seq(Ids)
    }
}

struct Ids;

impl<'de> Visitor<'de> for Ids {
    type Value = BlockIds;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of numbers")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<BlockIds, S::Error> {
        let mut ids = Vec::new();
        while let Some(id) = list.next_element()? {
            if ids.len() == PROMPT_MAX {
                return Err(Error::custom(format!("found more than {PROMPT_MAX} blocks of one prompt")));
            }
            ids.push(id);
        }
        Ok(BlockIds(ids))
    }
}

/// Blocks of a file that may still be read.
#[derive(Debug)]
pub(super) struct BlocksLeft(usize);

impl Default for BlocksLeft {
    fn default() -> Self {
        Self(FILE_MAX)
    }
}

impl BlocksLeft {
    /// Subtracts the blocks of one prompt.
    ///
    /// # Errors
    /// When the file has more than are read.
    pub fn take(&mut self, ids: &BlockIds) -> Result<(), String> {
        let left = self.0.checked_sub(ids.0.len());
        self.0 = left.ok_or_else(|| format!("found more than {FILE_MAX} blocks in the requests of this file"))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{BlockIds, BlocksLeft, FILE_MAX, PROMPT_MAX};

    #[test]
    fn a_prompt_with_too_many_blocks_is_refused() {
        let list = |blocks: usize| format!("[{}1]", "1,".repeat(blocks - 1));
        let read = |blocks| serde_json::from_str::<BlockIds>(&list(blocks));
        assert_eq!(read(PROMPT_MAX).unwrap().0.len(), PROMPT_MAX);
        assert!(read(PROMPT_MAX + 1).unwrap_err().to_string().starts_with("found more than 1048576 blocks"));
    }

    #[test]
    fn a_file_with_too_many_blocks_is_refused() {
        let mut left = BlocksLeft::default();
        let prompt = BlockIds(vec![1; PROMPT_MAX]);
        assert!((0..FILE_MAX / PROMPT_MAX).all(|_| left.take(&prompt).is_ok()));
        assert!(left.take(&prompt).is_err() && left.take(&BlockIds::default()).is_ok());
    }
}
