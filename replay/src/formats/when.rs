//! Instants in the spellings that recordings use.

use forkcast_sim::time::Instant;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

/// An HTTP `date` header: `Thu, 12 Feb 2026 19:30:44 GMT`. One second is all it resolves.
pub(crate) fn http_date(text: &str) -> Option<Instant> {
    static PARSER: DateTimeParser = DateTimeParser::new();
    instant(PARSER.parse_timestamp(text.trim()).ok()?)
}

/// An ISO date with zone: `2000-01-01T00:00:02.167Z`.
pub(crate) fn iso(text: &str) -> Option<Instant> {
    instant(text.trim().parse().ok()?)
}

fn instant(timestamp: Timestamp) -> Option<Instant> {
    u64::try_from(timestamp.as_nanosecond()).ok().map(Instant)
}

/// Milliseconds as a JSON number with up to six decimals, exactly: no float lies between text and nanoseconds.
pub(crate) fn millis(text: &str) -> Option<Instant> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    if decimals.is_empty() || decimals.len() > 6 || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let whole: u64 = if whole.bytes().all(|byte| byte.is_ascii_digit()) { whole.parse().ok()? } else { return None };
    let nanos: u64 = format!("{decimals:0<6}").parse().ok()?;
    Some(Instant(whole.checked_mul(1_000_000)?.checked_add(nanos)?))
}

/// The text that [`millis`] reads back, with no more decimals than needed.
pub(crate) fn to_millis(instant: Instant) -> String {
    let (whole, nanos) = (instant.0 / 1_000_000, instant.0 % 1_000_000);
    if nanos == 0 {
        return whole.to_string();
    }
    let decimals = format!("{nanos:06}");
    format!("{whole}.{}", decimals.trim_end_matches('0'))
}
