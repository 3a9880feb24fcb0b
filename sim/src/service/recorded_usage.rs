//! The usage that an answer reports.

use serde::{Deserialize, Serialize};

use crate::pricing::{Money, ServiceTier};
use crate::wire::Usage;

/// The recorded usage of the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedUsage {
    /// Token counts in the additive convention, whichever convention the provider uses.
    pub usage: Usage,
    /// The provider reported the written tokens by lifetime; otherwise they count as five-minute writes.
    pub split_by_ttl: bool,
    /// The answer held server-side tool passes (`server_tool_use` blocks or several `iterations`), so the counts are sums.
    pub server_passes: bool,
    /// The output count is the running count of a stream, not the final one.
    pub output_is_start_value: bool,
    /// How many context edits the provider applied to the prompt before caching it
    /// (`context_management.applied_edits`).
    pub applied_edits: u32,
    /// Searches of the web by the provider's own tool, which are charged by the piece: `server_tool_use` of Anthropic,
    /// `web_search_call` items that searched (not those that opened a page) of `OpenAI`, queries of Gemini's grounding
    /// (whose models before 3 charge by the request instead), `web_search_calls` of xAI.
    pub web_search_requests: u64,
    /// Pages fetched by the provider's own tool.
    pub web_fetch_requests: u64,
    /// Runs of code by the provider's own tool.
    pub code_execution_requests: u64,
    /// Output tokens of reasoning that the answer need not show. Always included in the output count.
    pub reasoning_tokens: u64,
    /// Input tokens of audio, which some providers price differently from text. Included in the input count.
    pub input_audio_tokens: u64,
    /// Output tokens of audio. Included in the output count.
    pub output_audio_tokens: u64,
    /// The service tier that the answer reports; `None` if it reports no known one.
    pub tier: Option<ServiceTier>,
    /// Whether the answer was served in fast mode (`usage.speed`); `None` if it does not say.
    pub fast: Option<bool>,
    /// Whether the answer was served in the United States alone (`usage.inference_geo`); `None` if it does not say.
    pub geo_us: Option<bool>,
    /// The cost that the answer itself reports (`OpenRouter` and xAI do).
    pub reported_cost: Option<Money>,
    /// Charged tokens if they are fewer than the counted ones (Cohere leaves its own frames out).
    pub billed_units: Option<BilledUnits>,
}

impl RecordedUsage {
    /// The usage that was billed.
    pub fn charged(&self) -> Usage {
        let Some(BilledUnits { input_tokens, output_tokens }) = self.billed_units else { return self.usage };
        Usage { input_tokens, output_tokens, ..Usage::default() }
    }
}

/// Charged tokens, as reported by the provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BilledUnits {
    /// Of the prompt.
    pub input_tokens: u64,
    /// Of the answer.
    pub output_tokens: u64,
}
