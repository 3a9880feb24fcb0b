//! Read, written and fresh tokens add up to the whole prompt.

use crate::simulation::{Lookup, Observer};

/// read + written + input = tokens of the prompt.
#[derive(Clone, Copy, Debug)]
pub struct UsageSum;

impl Observer for UsageSum {
    fn name(&self) -> &'static str {
        "usage_sum"
    }

    fn served(&mut self, seen: &Lookup<'_>) -> Result<(), String> {
        let outcome = seen.outcome;
        let written = outcome.write_5m_tokens + outcome.write_1h_tokens;
        let sum = outcome.read_tokens + written + outcome.input_tokens;
        let prompt = seen.cumulative.last().copied().unwrap_or(0);
        if sum == prompt {
            return Ok(());
        }
        let read = outcome.read_tokens;
        let input = outcome.input_tokens;
        Err(format!(
            "request {}: {read} read + {written} written + {input} fresh is not the prompt's {prompt}",
            seen.line
        ))
    }
}
