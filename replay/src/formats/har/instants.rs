//! When an entry was sent, answered and finished.

use forkcast_sim::time::Duration;

use crate::formats::calls::When;
use crate::formats::value::Value;
use crate::formats::when;

/// Phases before a request is sent; `ssl` is part of `connect`.
const BEFORE: [&str; 3] = ["blocked", "dns", "connect"];

/// The instants that the entry has.
pub(super) fn of(entry: &Value, is_answered: bool, is_mitmproxy: bool) -> When {
    let Some(started) = entry.text_of("startedDateTime").and_then(when::iso) else {
        return When::Recorded { sent: None, first_byte: None, ended: None };
    };
    let timings = entry.at("timings");
    let phase = |name: &str| timings.get(name).and_then(millis);
    let sum = |names: &[&str]| names.iter().filter_map(|name| phase(name)).fold(Duration(0), plus);
    let before = if is_mitmproxy { Duration(0) } else { sum(&BEFORE) };
    let sent = started + before;
    let answered = sum(&["send", "wait"]);
    let (first_byte, ended) = match (phase("wait"), phase("receive"), entry.get("time").and_then(millis)) {
        _ if !is_answered => (None, None),
        (Some(_), Some(receive), _) => (Some(sent + answered), Some(sent + plus(answered, receive))),
        (_, _, whole) => (None, whole.map(|whole| (started + whole).max(sent))),
    };
    When::Recorded { sent: Some(sent), first_byte, ended }
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
