//! Instants for people, in UTC.

use forkcast_sim::time::{Duration, Instant};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// `2026-11-02 18:30:10`; `None` beyond the calendar.
pub(super) fn moment(at: Instant) -> Option<String> {
    Some(zoned(at)?.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

/// `2026-11-02 18:30:10 UTC`, or `12.4 s into the run` on a simulation's own clock, which stops within a year.
pub(super) fn sent(at: Instant) -> Option<String> {
    if at.0 < YEAR.0 {
        return Some(format!("{}.{} s into the run", at.0 / 1_000_000_000, at.0 / 100_000_000 % 10));
    }
    moment(at).map(|moment| format!("{moment} UTC"))
}

/// `18:30:10`, `11-02 18:30` if there are days between the first and the last instant, `2026-11-02` if there are years.
pub(crate) fn clock(at: Instant, (first, last): (Instant, Instant)) -> Option<String> {
    let form = match last.since(first) {
        span if span > YEAR => "%Y-%m-%d",
        span if span > DAY => "%m-%d %H:%M",
        _ => "%H:%M:%S",
    };
    Some(zoned(at)?.strftime(form).to_string())
}

const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// `2026-11-02 18:30 to 18:41 UTC`, with the second date if it differs.
pub(super) fn span(from: Instant, to: Instant) -> Option<String> {
    let (first, last) = (zoned(from)?, zoned(to)?);
    let end = if first.date() == last.date() { "%H:%M" } else { "%Y-%m-%d %H:%M" };
    Some(format!("{} to {} UTC", first.strftime("%Y-%m-%d %H:%M"), last.strftime(end)))
}

/// `2026-07-10 to 2026-08-01 UTC`; within a day with the time, `2026-11-02 18:30 to 22:41 UTC`.
pub(super) fn days(from: Instant, to: Instant) -> Option<String> {
    let (first, last) = (zoned(from)?, zoned(to)?);
    if first.date() == last.date() {
        return span(from, to);
    }
    Some(format!("{} to {} UTC", first.strftime("%Y-%m-%d"), last.strftime("%Y-%m-%d")))
}

fn zoned(at: Instant) -> Option<jiff::Zoned> {
    let timestamp = Timestamp::from_nanosecond(i128::from(at.0)).ok()?;
    Some(timestamp.to_zoned(TimeZone::UTC))
}

#[cfg(test)]
mod tests {
    use super::{clock, moment, span};
    use forkcast_sim::time::Instant;

    #[test]
    fn a_day_is_named_once() {
        let (start, hour, day) = (1_793_658_610_000, 3_600_000, 86_400_000);
        let at = |ms: u64| Instant::from_millis(start + ms);
        assert_eq!(moment(at(0)).unwrap(), "2026-11-02 22:30:10");
        assert_eq!(clock(at(0), (at(0), at(day))).unwrap(), "22:30:10");
        assert_eq!(clock(at(0), (at(0), at(2 * day))).unwrap(), "11-02 22:30");
        assert_eq!(span(at(0), at(hour)).unwrap(), "2026-11-02 22:30 to 23:30 UTC");
        assert_eq!(span(at(0), at(day)).unwrap(), "2026-11-02 22:30 to 2026-11-03 22:30 UTC");
    }
}
