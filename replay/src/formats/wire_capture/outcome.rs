//! What a proxy logged about an answer.

use forkcast_sim::time::{Duration, Instant};
use forkcast_sim::wire::Usage;
use serde_json::value::RawValue;

use crate::exchange::{Exchange, RecordedUsage};
use crate::response;

/// One outcome.
pub(super) struct Outcome {
    model: String,
    started_at: Instant,
    ended_at: Instant,
    usage: RecordedUsage,
}

impl Outcome {
    /// Reads the fields of an outcome record.
    pub fn new(
        ended_at: Instant,
        model: Option<&str>,
        ms: Option<f64>,
        usage: Option<&RawValue>,
    ) -> Result<Self, String> {
        let ms = ms.ok_or("outcome without `ms`")?;
        if !(0.0..=1e12).contains(&ms) {
            return Err(format!("`ms` is {ms}, expected a duration"));
        }
        let usage = usage.ok_or("outcome without `usage`")?;
        Ok(Self {
            model: model.ok_or("outcome without `model`")?.to_owned(),
            started_at: ended_at - Duration::from_millis(ms.round() as u64),
            ended_at,
            usage: recorded(usage.get().as_bytes())?,
        })
    }

    /// Adds the answer to an exchange.
    pub fn attach(&self, exchange: &mut Exchange) {
        exchange.ended_at = Some(self.ended_at);
        exchange.usage = Some(self.usage);
    }
}

/// Candidates per outcome; real captures have at most a handful within a few milliseconds.
const NEAR: usize = 64;

/// All pairs of an outcome and a request of the same model that start within `within`: (distance, outcome, request).
pub(super) fn candidates(
    requests: &[Exchange],
    outcomes: &[Outcome],
    within: Duration,
) -> Vec<(Duration, usize, usize)> {
    let mut by_start: Vec<(Instant, usize)> =
        requests.iter().enumerate().filter_map(|(i, request)| Some((request.sent_at?, i))).collect();
    by_start.sort_unstable();
    let mut pairs = Vec::new();
    for (number, outcome) in outcomes.iter().enumerate() {
        let first = by_start.partition_point(|(sent, _)| *sent + within < outcome.started_at);
        let near = by_start[first..].iter().take_while(|(sent, _)| sent.since(outcome.started_at) <= within).take(NEAR);
        let same_model = near.filter(|(_, request)| requests[*request].model == outcome.model);
        pairs.extend(same_model.map(|(sent, request)| (distance(*sent, outcome.started_at), number, *request)));
    }
    pairs
}

fn distance(a: Instant, b: Instant) -> Duration {
    Duration(a.0.abs_diff(b.0))
}

fn recorded(raw: &[u8]) -> Result<RecordedUsage, String> {
    let counts = response::Counts::new(raw)?;
    let written = counts.get_or_zero("cacheCreation")?;
    let (short, long) = (counts.get_or_zero("ephemeral5m")?, counts.get_or_zero("ephemeral1h")?);
    let split_by_ttl = short + long == written;
    let (short, long) = if split_by_ttl { (short, long) } else { (written, 0) };
    Ok(RecordedUsage {
        usage: Usage {
            input_tokens: counts.get("inputTokens")?.ok_or("usage has no `inputTokens`")?,
            cache_read_input_tokens: counts.get_or_zero("cacheRead")?,
            ephemeral_5m_input_tokens: short,
            ephemeral_1h_input_tokens: long,
            output_tokens: counts.get_or_zero("outputTokens")?,
        },
        split_by_ttl,
        output_is_start_value: true,
        ..RecordedUsage::default()
    })
}
