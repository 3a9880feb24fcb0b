//! Sources of prompt sizes.

use clap::{Args as ClapArgs, ValueEnum};
use forkcast_replay::calibrate::calibrate;
use forkcast_replay::input::Inputs;
use forkcast_replay::replay::{SizeSource, Sizing};

/// Sizes and their calibration.
#[derive(Clone, Copy, Debug, ClapArgs)]
pub struct SizeArgs {
    /// Sizes of prefixes: from recorded usage, from a tokenizer, or both for comparison
    #[arg(
        long,
        value_enum,
        default_value_t,
        hide_possible_values = true,
        value_name = "recorded|counted|both",
        help_heading = "Sizes"
    )]
    sizes: Sizes,

    /// Fit the token factors of Claude to the bills of these recordings, show and use them
    #[arg(long, help_heading = "Sizes")]
    calibrate: bool,
}

/// Sources of sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Sizes {
    /// From earlier usage and each request's own total
    #[default]
    Recorded,
    /// Counted by a tokenizer: exact for GPT, an estimate for others
    Counted,
    /// Recorded, with counted sizes and their error for comparison
    Both,
}

impl SizeArgs {
    /// Whether the blocks of transcripts are counted while they are read.
    pub fn counts(self) -> bool {
        self.calibrate || self.sizes != Sizes::Recorded
    }

    /// How to size the requests of `inputs`.
    pub fn sizing(self, inputs: &Inputs) -> Sizing {
        let source = match self.sizes {
            Sizes::Recorded => SizeSource::Recorded,
            Sizes::Counted => SizeSource::Counted,
            Sizes::Both => SizeSource::Both,
        };
        Sizing::new(source, self.calibrate.then(|| calibrate(inputs)))
    }
}
