//! Instants in the spellings of recordings.

use forkcast_sim::time::Instant;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

/// The latest valid instant: 2262-04-11, half of the range of nanoseconds in 64 bits, so that additions to an instant
/// do not overflow.
const LATEST: Instant = Instant(u64::MAX / 2);

/// The instant, unless it is later than the latest valid one.
pub(crate) fn believed(instant: Instant) -> Option<Instant> {
    Some(instant).filter(|instant| *instant <= LATEST)
}

/// An HTTP `date` header: `Thu, 12 Feb 2026 19:30:44 GMT`. Its resolution is one second.
pub(crate) fn http_date(text: &str) -> Option<Instant> {
    static PARSER: DateTimeParser = DateTimeParser::new();
    instant(PARSER.parse_timestamp(text.trim()).ok()?)
}

/// An ISO date with zone: `2000-01-01T00:00:02.167Z`.
pub(crate) fn iso(text: &str) -> Option<Instant> {
    instant(text.trim().parse().ok()?)
}

fn instant(timestamp: Timestamp) -> Option<Instant> {
    u64::try_from(timestamp.as_nanosecond()).ok().map(Instant).and_then(believed)
}

/// Milliseconds as a JSON number with up to six decimals, exactly, without a float in between.
pub(crate) fn millis(text: &str) -> Option<Instant> {
    decimal(text, 6)
}

/// Seconds as a JSON number with up to nine decimals, exactly.
pub(crate) fn seconds(text: &str) -> Option<Instant> {
    decimal(text, 9)
}

/// A number with up to `places` decimals, in nanoseconds if its last decimal place is one.
fn decimal(text: &str, places: usize) -> Option<Instant> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if decimals.len() > places || !is_digits(decimals) || !is_digits(whole) {
        return None;
    }
    let nanos: u64 = format!("{decimals:0<places$}").parse().ok()?;
    let unit = 10_u64.checked_pow(u32::try_from(places).ok()?)?;
    believed(Instant(whole.parse::<u64>().ok()?.checked_mul(unit)?.checked_add(nanos)?))
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
