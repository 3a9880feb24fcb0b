//! When an entry was sent, answered and finished.

use forkcast_sim::time::Duration;

use crate::exchange::Exchange;
use crate::formats::value::Value;
use crate::formats::when;

/// Phases before a request is sent; `ssl` is part of `connect`.
const BEFORE: [&str; 3] = ["blocked", "dns", "connect"];

/// Sets the instants that the entry has.
pub(super) fn stamp(exchange: &mut Exchange, entry: &Value, is_mitmproxy: bool) {
    let Some(started) = entry.text_of("startedDateTime").and_then(when::iso) else { return };
    let timings = entry.at("timings");
    let phase = |name: &str| timings.get(name).and_then(millis);
    let sum = |names: &[&str]| names.iter().filter_map(|name| phase(name)).fold(Duration(0), plus);
    let before = if is_mitmproxy { Duration(0) } else { sum(&BEFORE) };
    let sent = started + before;
    exchange.sent_at = Some(sent);
    let answered = sum(&["send", "wait"]);
    if let (Some(_), Some(receive)) = (phase("wait"), phase("receive")) {
        exchange.first_byte_at = Some(sent + answered);
        exchange.ended_at = Some(sent + plus(answered, receive));
    } else if let Some(whole) = entry.get("time").and_then(millis) {
        exchange.ended_at = Some((started + whole).max(sent));
    }
}

fn plus(a: Duration, b: Duration) -> Duration {
    Duration(a.0.saturating_add(b.0))
}

/// Milliseconds with decimals; `-1`, null and impossible values count as absent.
fn millis(value: &Value) -> Option<Duration> {
    /// About 30 years.
    const LONGEST_MS: f64 = 1e12;
    let Value::Number(digits) = value else { return None };
    let millis: f64 = digits.parse().ok()?;
    (0.0..=LONGEST_MS).contains(&millis).then(|| Duration((millis * 1e6).round() as u64))
}
