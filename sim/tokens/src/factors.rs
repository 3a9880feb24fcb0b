//! The calibrated estimate for Claude, whose vocabularies are unpublished: factors on o200k tokens.
//!
//! All numbers are integers: a factor of 1.16 is 1,160 thousandths.

use forkcast_sim::wire::model::Tokenizer;
use forkcast_sim::wire::{Frame, FrameTokens};

use crate::class::Class;
use crate::content::Makeup;
use crate::tools;

/// A generation of Claude's tokenizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Generation {
    /// Up to Opus 4.6, Sonnet 4.6 and Haiku 4.5.
    Claude,
    /// Opus 4.7 and later.
    Claude47,
}

impl Generation {
    /// Both, older first.
    pub const ALL: [Self; 2] = [Self::Claude, Self::Claude47];

    /// The generation of a tokenizer, if it is Claude's.
    pub const fn of(tokenizer: Tokenizer) -> Option<Self> {
        match tokenizer {
            Tokenizer::Claude => Some(Self::Claude),
            Tokenizer::Claude47 => Some(Self::Claude47),
            Tokenizer::O200k | Tokenizer::Cl100k | Tokenizer::Other => None,
        }
    }

    /// The tokenizer.
    pub const fn tokenizer(self) -> Tokenizer {
        match self {
            Self::Claude => Tokenizer::Claude,
            Self::Claude47 => Tokenizer::Claude47,
        }
    }
}

/// How well an estimate matched the billed tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residual {
    /// Number of recorded requests or turns.
    pub samples: u64,
    /// Estimated ÷ recorded − 1, over the sum of all samples.
    pub sum_error: f64,
    /// Error that nine of ten samples do not exceed, in either direction.
    pub p90_error: f64,
    /// The measured samples.
    pub source: &'static str,
}

/// Claude tokens per o200k token, in thousandths, by generation and [`Class`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factors {
    /// In the order of [`Generation::ALL`] and [`Class::ALL`].
    pub thousandths: [[u64; Class::ALL.len()]; Generation::ALL.len()],
}

/// The built-in factors.
///
/// Prose, code and JSON: least squares over the growth of recorded prompts from one turn to the next, only tool calls
/// and results, without thinking (`replay/tests/growth.rs`; public transcripts: 547 turns of sonnet-5, fable-5 and
/// opus-5, 2026-07 to 2026-08, and 80 of opus-4-5 and opus-4-6, 2026-01 to 2026-03). Tools: few recordings, treated as
/// JSON. Other scripts: third-party measurements of 2026-04 (the same in both generations, about one and a half tokens
/// per character); not covered by recordings.
pub const BUILT_IN: Factors =
    Factors { thousandths: [[1_160, 1_220, 1_220, 1_500, 1_200], [1_520, 1_550, 1_540, 1_500, 1_540]] };

/// The error of the built-in factors on the recordings they were fitted to, over whole turns with framing, as measured
/// by `replay/tests/growth.rs` (2026-11-22). On whole requests of cassettes, most of them one repeated phrase, the sum
/// is off by −2.2 % (79 requests, older generation) and +4.3 % (6, newer): `replay/tests/calibration.rs`.
pub const fn built_in_residual(generation: Generation) -> Residual {
    match generation {
        Generation::Claude => Residual {
            samples: 80,
            sum_error: -0.0074,
            p90_error: 0.3,
            source: "recorded turns (opus-4-5 and opus-4-6, public transcripts of 2026-01 to 2026-03)",
        },
        Generation::Claude47 => Residual {
            samples: 547,
            sum_error: -0.0046,
            p90_error: 0.1307,
            source: "recorded turns (sonnet-5, fable-5 and opus-5, public transcripts of 2026-07 and 2026-08)",
        },
    }
}

/// Undocumented framing tokens, from the same recordings: per call and per result (28 from turns, 24 and 25 in requests
/// of Sonnet 4.5 and 4.6), per definition, per document (Sonnet 4.5, 2025-12).
const CALL_TOKENS: u64 = 28;
const DEFINITION_TOKENS: u64 = 10;
const DOCUMENT_TOKENS: u64 = 37;

/// Per message, and after the last one: a request with one short message costs 7 more than its text (Sonnet 4.6,
/// recordings of 2026; also the provider's counting page, 14 tokens for a system prompt of 4 and a message of 3).
const MESSAGE_TOKENS: u64 = 4;
const TAIL_TOKENS: u64 = 3;

/// The provider's own text when thinking is enabled (Sonnet 4.5: six requests, recordings of 2026-02). In Claude Code's
/// requests the two states differ by 15 to 17, because there is such a text in both.
const THINKING_TOKENS: u64 = 28;

impl Factors {
    /// The factor of a class, in thousandths.
    pub const fn of(&self, generation: Generation, class: Class) -> u64 {
        self.thousandths[generation as usize][class as usize]
    }

    /// Tokens of a make-up whose text was counted with o200k.
    pub fn tokens(&self, generation: Generation, makeup: &Makeup) -> u64 {
        let text: u64 = Class::ALL.iter().map(|class| makeup.text[*class as usize] * self.of(generation, *class)).sum();
        (text + 500) / 1_000 + unscaled(makeup)
    }
}

/// Tokens of a make-up to which no factor applies.
pub fn unscaled(makeup: &Makeup) -> u64 {
    makeup.fixed
        + makeup.calls * CALL_TOKENS
        + makeup.definitions * DEFINITION_TOKENS
        + makeup.documents * DOCUMENT_TOKENS
}

/// The tokens of a request to a Claude model besides its blocks.
pub fn frame(frame: &Frame) -> FrameTokens {
    let instructions = tools::instructions(frame.model, frame.tools).map_or(0, |instructions| instructions.tokens);
    let thinking = if frame.thinking { THINKING_TOKENS } else { 0 };
    FrameTokens { head: instructions + thinking, message: MESSAGE_TOKENS, tail: TAIL_TOKENS }
}
