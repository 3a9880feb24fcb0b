//! Server-side tools: one call, several passes.
//!
//! While a server-side tool runs, the provider calls the model again with the tool's result appended. If the request
//! has any breakpoint, the provider sets a five-minute breakpoint after each result, and the counters of the call are
//! sums over its passes. Source: tool-use-with-prompt-caching page (2026-09); recorded calls of 2026-07 agree.

use forkcast_sim::cache::{Outcome, Prompt, PromptCache};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::{Marker, NodeId, Place, Prefixes, Sizes, Ttl};

/// A pass after the first: the prompt with one more server-tool result at its end.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// The prompt of this pass.
    pub end: NodeId,
    /// Place of the result in the conversation.
    pub place: Place,
    /// When the pass began.
    pub at: Instant,
}

/// Serves a call and its passes one after the other; returns the sums that the provider reports.
pub fn serve(
    cache: &mut dyn PromptCache,
    first: &Prompt<'_>,
    at: Instant,
    passes: &[Pass],
    prefixes: &Prefixes,
    sizes: &dyn Sizes,
) -> Outcome {
    let mut sum = cache.serve_at_once(first, at);
    for pass in passes {
        let mut markers = first.markers.to_vec();
        if !markers.is_empty() {
            markers.push(Marker { node: pass.end, ttl: Ttl::FiveMinutes, place: pass.place, automatic: true });
        }
        let prompt = Prompt {
            prefixes,
            markers: &markers,
            sizes,
            total_tokens: sizes.tokens_at(pass.end),
            minimum_tokens: first.minimum_tokens,
        };
        sum = add(sum, cache.serve_at_once(&prompt, pass.at));
    }
    sum
}

/// Adds up the tokens; the hit and the last breakpoint are those of the last pass.
fn add(sum: Outcome, pass: Outcome) -> Outcome {
    Outcome {
        read_tokens: sum.read_tokens + pass.read_tokens,
        write_5m_tokens: sum.write_5m_tokens + pass.write_5m_tokens,
        write_1h_tokens: sum.write_1h_tokens + pass.write_1h_tokens,
        input_tokens: sum.input_tokens + pass.input_tokens,
        ..pass
    }
}
