//! The subset convention: the prompt count includes the tokens read from the cache and written to it.
//!
//! Sources: `OpenAI` prompt-caching guide (autumn 2026); Gemini API reference, `UsageMetadata` (2026-10); `DeepSeek` and
//! Moonshot API references (2026-10). The counts of Anthropic and Bedrock are additive instead.

use crate::count::PromptCounts;

impl PromptCounts {
    /// If a request wrote tokens and read the same ones, they count as read, with a message.
    ///
    /// Gemini models on `OpenRouter` do so: the explicit cache is made, then used by the same request. A recorded answer
    /// costs the reading of 2,161 tokens and, for writing the same ones, five minutes of storage (2026-03-08).
    pub fn without_overlap(self) -> (Self, Option<String>) {
        let Self { tokens, read, written, .. } = self;
        if written == 0 || written != read || read > tokens || tokens - read >= written {
            return (self, None);
        }
        let what =
            format!("the same {written} tokens were written and read: counted as read, their storage is not billed");
        (Self { written: 0, ..self }, Some(what))
    }

    /// If more was read than the prompt has, and the total is the sum of prompt and output, the prompt counts and the read
    /// count is ignored, with a message.
    ///
    /// Grok models on Azure do so: their read count includes some 160 tokens of the provider's own that the prompt count
    /// does not (29 of 38 recorded answers read more than the prompt; the others may be affected too).
    pub fn without_hidden_reads(self, completion: u64, total: Option<u64>) -> (Self, Option<String>) {
        let Self { name, tokens, read, written } = self;
        if written > 0 || read <= tokens || total != tokens.checked_add(completion) {
            return (self, None);
        }
        let what = format!(
            "{read} tokens are said to be read of the {tokens} of `{name}`: the total bears the {tokens} out, which are \
             taken as plain input"
        );
        (Self { read: 0, ..self }, Some(what))
    }
}

/// The whole output and, if no convention gives the total, a message.
///
/// `OpenAI` includes reasoning in the completion, xAI's chat completions do not (xAI documentation, usage, 2026-02; seen in
/// recorded batches); the total decides.
pub(super) fn output(
    prompt: PromptCounts,
    completion: u64,
    reasoning: u64,
    total: Option<u64>,
) -> Result<(u64, Option<String>), String> {
    let within = prompt.tokens + completion;
    let beside = within + reasoning;
    let (cached, name) = (prompt.read + prompt.written, prompt.name);
    match total {
        Some(total) if total == within => Ok((completion, None)),
        Some(total) if total == beside => Ok((completion + reasoning, None)),
        Some(total) if cached > 0 && (total == within + cached || total == beside + cached) => Err(format!(
            "the total is {total}, as if the {cached} read or written tokens stood beside the {} of `{name}`, \
             expected them to be part of it",
            prompt.tokens
        )),
        Some(total) => {
            let odd =
                format!("the total is {total}, expected the sum of prompt and output, {within}; the parts are taken");
            Ok((if reasoning > completion { completion + reasoning } else { completion }, Some(odd)))
        }
        None if reasoning > completion => Ok((completion + reasoning, None)),
        None => Ok((completion, None)),
    }
}
