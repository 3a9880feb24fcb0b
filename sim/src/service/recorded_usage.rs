//! The usage that an answer reports.

use serde::{Deserialize, Serialize};

use crate::diagnosis::AnsweredThinking;
use crate::outside::words;
use crate::pricing::{FeeLine, Money, Rates, ServiceTier};
use crate::wire::Usage;
use crate::wire::model::ModelId;

/// The maximum number of other models that one answer may have used.
pub const OTHER_MODELS_MAX: usize = 3;

/// The recorded usage of the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedUsage {
    /// Token counts in the additive convention, whichever convention the provider uses.
    pub usage: Usage,
    /// The provider reported the written tokens by lifetime; otherwise they count as five-minute writes.
    pub split_by_ttl: bool,
    /// The answer held server-side tool passes (`server_tool_use` blocks or several `iterations`), so the counts are sums.
    pub server_passes: bool,
    /// The first and the last pass of the model that answered, if the answer lists several; `usage` is the sum of all.
    pub passes: Option<Passes>,
    /// What other models used for this answer, a model each. It is in no count of `usage`.
    pub others: [Option<OtherPasses>; OTHER_MODELS_MAX],
    /// The output count is the running count of a stream, not the final one.
    pub output_is_start_value: bool,
    /// How many context edits the provider applied to the prompt before caching it
    /// (`context_management.applied_edits`).
    pub applied_edits: u32,
    /// What the provider did with the thinking in the prompt; `None` if the answer does not say.
    pub thinking: Option<AnsweredThinking>,
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
    /// The prompt as it was sent: what the first pass used.
    pub fn first_pass(&self) -> Usage {
        self.passes.map_or(self.usage, |passes| passes.first)
    }

    /// The prompt as it was left for the next request: what the last pass used.
    pub fn last_pass(&self) -> Usage {
        self.passes.map_or(self.usage, |passes| passes.last)
    }

    /// The passes of the answer as a list: those of its own model (the first, the sum of those between, the last), then
    /// a sum of each other model. Empty for one pass alone.
    pub fn listed_passes(&self) -> Vec<OtherPasses> {
        let own = |usage: Usage| OtherPasses {
            kind: PassKind::Message,
            model: None,
            passes: 1,
            usage,
            longest_prompt_tokens: usage.total_input_tokens(),
        };
        let others = self.others.iter().flatten().copied();
        match self.passes {
            Some(passes) => {
                let between = Some(passes.between(&self.usage)).filter(|usage| *usage != Usage::default());
                let all = [Some(passes.first), between, Some(passes.last)].into_iter().flatten();
                all.map(own).chain(others).collect()
            }
            None if self.others[0].is_some() => std::iter::once(own(self.usage)).chain(others).collect(),
            None => Vec::new(),
        }
    }

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

/// Two passes of one answer (`usage.iterations`, `providers.md` 1.9; `observed.md` 6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passes {
    /// The first: it read what earlier requests had left.
    pub first: Usage,
    /// The last: it left what later requests can read.
    pub last: Usage,
}

impl Passes {
    /// What the passes between the two used, if all used `whole`.
    fn between(&self, whole: &Usage) -> Usage {
        let rest = |count: fn(&Usage) -> u64| count(whole).saturating_sub(count(&self.first) + count(&self.last));
        Usage {
            input_tokens: rest(|usage| usage.input_tokens),
            cache_read_input_tokens: rest(|usage| usage.cache_read_input_tokens),
            ephemeral_5m_input_tokens: rest(|usage| usage.ephemeral_5m_input_tokens),
            ephemeral_1h_input_tokens: rest(|usage| usage.ephemeral_1h_input_tokens),
            output_tokens: rest(|usage| usage.output_tokens),
        }
    }
}

words! {
    /// The word of `usage.iterations` for a pass.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum PassKind {
        /// Of the model that was asked.
        Message = "message",
        /// A summary of the context.
        Compaction = "compaction",
        /// A model that the answering one asked for advice.
        Advisor = "advisor_message",
        /// A model that answered instead of the one that was asked.
        Fallback = "fallback_message",
        /// Any other word.
        Other = "other_message",
    }
}

/// Passes of one answer by one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherPasses {
    /// What they were for.
    pub kind: PassKind,
    /// Their model; `None` if it is not in the table or not named, or the one that answered.
    pub model: Option<ModelId>,
    /// How many they were.
    pub passes: u32,
    /// Their tokens.
    pub usage: Usage,
    /// Tokens of the longest of their prompts, which decides the price of some models.
    pub longest_prompt_tokens: u64,
}

impl OtherPasses {
    /// Their bill as one line.
    pub fn line(&self, model: ModelId, rates: &Rates) -> FeeLine {
        FeeLine {
            name: format!("{} {model}", self.kind.name()),
            unit: "token".to_owned(),
            count: self.usage.total_input_tokens() + self.usage.output_tokens,
            cost: rates.bill(&self.usage, &[]).total,
        }
    }
}
