//! Sources of prompt sizes.

use clap::Args as ClapArgs;
use forkcast_replay::calibrate::calibrate;
use forkcast_replay::input::Inputs;
use forkcast_replay::replay::{SizeSource, Sizing};

use super::values::words;

/// Sizes and their calibration.
#[derive(Clone, Copy, Debug, ClapArgs)]
pub struct SizeArgs {
    /// Sizes of prefixes: from recorded usage, from a tokenizer, or both for comparison
    #[arg(
        long,
        value_parser = words(SizeSource::WORDS.to_vec()),
        default_value = "recorded",
        hide_possible_values = true,
        value_name = "recorded|counted|both",
        help_heading = "Sizes"
    )]
    sizes: SizeSource,

    /// Fit the token factors of Claude to the bills of these recordings, show and use them
    #[arg(long, help_heading = "Sizes")]
    calibrate: bool,
}

impl SizeArgs {
    /// Whether the blocks of transcripts are counted while they are read.
    pub fn counts(self) -> bool {
        self.calibrate || self.sizes != SizeSource::Recorded
    }

    /// How to size the requests of `inputs`.
    pub fn sizing(self, inputs: &Inputs) -> Sizing {
        Sizing::new(self.sizes, self.calibrate.then(|| calibrate(inputs)))
    }
}
