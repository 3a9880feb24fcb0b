//! Estimates of output, if a transcript contains only the count at the start of the stream.
//!
//! Tokens grow with the bytes of text, thinking and tool inputs as written, and with each call. Hidden thinking is
//! estimated from its signature, whose length grows with it (2.06 bytes for one of thinking, 140 more per block; fitted
//! on 4,373 answers with both).
//!
//! The rates are fitted by least squares on answers with a final count (public sessions of 2026): 197 of Opus 4.5, Opus
//! 4.6 and Haiku 4.5, and 2,130 of Sonnet 5, Opus 5 and Fable 5. Measured error of one answer, median and 90th
//! percentile: 7.5 % and 19 % for the older tokenizer, 10 % and 27 % for the newer one; of the sum −0.8 % and −3.9 %.
//! With one source left out of the fit the error of its sum is at most 9 %. On 730 answers of the same versions that
//! need the estimate, but with a final count: 7 % and 21 %, sum −2.1 %.

use forkcast_sim::wire::model::{Model, Tokenizer};
use forkcast_tokens::{Generation, Residual};

use super::message::Lengths;

/// Signature bytes of a block of thinking, in addition to those for its length.
const SIGNATURE_BYTES: u64 = 140;

/// Signature bytes per hundred bytes of thinking.
const SIGNATURE_PERCENT: u64 = 206;

/// Tokens per thousand bytes; for a call, tokens.
struct Rates {
    text: u64,
    thinking: u64,
    input: u64,
    call: u64,
}

const OLDER: Rates = Rates { text: 255, thinking: 295, input: 310, call: 60 };
const NEWER: Rates = Rates { text: 350, thinking: 530, input: 390, call: 50 };

/// The error of estimated outputs, measured on answers whose final count is known, for reports that show an estimate.
/// For the older generation these are the answers of the fit, which are also closest to the versions that need the
/// estimate.
pub const fn output_residual(generation: Generation) -> Residual {
    match generation {
        Generation::Claude => Residual {
            samples: 197,
            sum_error: -0.008,
            p90_error: 0.19,
            source: "answers with a final count (opus-4-5, opus-4-6 and haiku-4-5, public transcripts of 2026-01 to 2026-03)",
        },
        Generation::Claude47 => Residual {
            samples: 1_802,
            sum_error: -0.039,
            p90_error: 0.27,
            source: "answers with a final count (sonnet-5, fable-5 and opus-5, public transcripts of 2026-07 and 2026-08)",
        },
    }
}

/// Tokens of an answer of `model` whose parts have these lengths.
pub(super) fn tokens(model: &str, lengths: &Lengths) -> u32 {
    let rates = match Model::resolve(model).map(|found| found.id.row().tokenizer) {
        Some(Tokenizer::Claude47) => NEWER,
        _ => OLDER,
    };
    let signed = lengths.signature.saturating_sub(lengths.thoughts.saturating_mul(SIGNATURE_BYTES));
    let thinking = lengths.thinking.max(signed.saturating_mul(100) / SIGNATURE_PERCENT);
    let thousandths = [(lengths.text, rates.text), (thinking, rates.thinking), (lengths.input, rates.input)];
    let sum = thousandths.iter().fold(0_u64, |sum, (bytes, rate)| sum.saturating_add(bytes.saturating_mul(*rate)));
    let calls = lengths.calls.saturating_mul(rates.call);
    u32::try_from((sum / 1000).saturating_add(calls)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Lengths, tokens};

    #[test]
    fn every_part_counts_at_its_rate() {
        let text = Lengths { text: 1_000, ..Lengths::default() };
        assert_eq!((tokens("claude-opus-4-5-20251101", &text), tokens("claude-opus-5", &text)), (255, 350));
        let call = Lengths { input: 100, calls: 2, ..Lengths::default() };
        assert_eq!(tokens("claude-opus-4-6", &call), 31 + 120);
    }

    #[test]
    fn hidden_thinking_is_estimated_from_its_signature() {
        let shown = Lengths { thinking: 1_000, signature: 2_200, thoughts: 1, ..Lengths::default() };
        let hidden = Lengths { thinking: 0, ..shown };
        assert_eq!((tokens("claude-opus-4-5", &shown), tokens("claude-opus-4-5", &hidden)), (295, 295));
    }

    #[test]
    fn huge_lengths_do_not_overflow() {
        let endless =
            Lengths { text: u64::MAX, thinking: u64::MAX, signature: u64::MAX, input: u64::MAX, ..Lengths::default() };
        assert_eq!(tokens("unknown", &endless), u32::MAX);
    }
}
