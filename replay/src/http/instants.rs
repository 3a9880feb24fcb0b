//! When requests were sent, if only headers of the answers show it.

use forkcast_sim::time::{Duration, Instant};

use super::Headers;
use crate::exchange::Exchange;
use crate::formats::when;

/// The `date` header counts whole seconds.
const DATE_STEP: Duration = Duration::from_secs(1);

/// Finds the instants of one recording, exchange by exchange.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    last_end: Option<Instant>,
}

impl Clock {
    /// The answer ended at `recorded_at` if the recorder noted it, else at its `date` header. The request was sent
    /// earlier by the provider's own latency if a header has it, else at the `date` header. An overlap with the previous
    /// exchange that is no longer than the header's step counts as rounding.
    pub fn stamp(&mut self, exchange: &mut Exchange, answer: &Headers<'_>, recorded_at: Option<Instant>) {
        let date = answer.get("date").and_then(when::http_date);
        let Some(end) = recorded_at.or(date) else { return };
        let sent = match latency(answer) {
            Some(latency) => end - latency,
            None => date.unwrap_or(end).min(end),
        };
        let rounded = self.last_end.filter(|last| sent < *last && *last <= end && last.since(sent) <= DATE_STEP);
        exchange.sent_at = Some(rounded.unwrap_or(sent));
        exchange.ended_at = Some(end);
        self.last_end = Some(end);
    }
}

/// The provider's own latency.
///
/// `x-amz-date` of the request is not used: recorders that replay a session keep it from the first time.
fn latency(answer: &Headers<'_>) -> Option<Duration> {
    const HEADERS: &[&str] =
        &["x-amzn-bedrock-invocation-latency", "x-envoy-upstream-service-time", "openai-processing-ms"];
    let millis = HEADERS.iter().find_map(|name| answer.get(name)?.trim().parse().ok())?;
    Some(Duration::from_millis(millis))
}
