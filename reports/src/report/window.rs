//! A stretch of time: requests outside it act on the cache and are in no sum.

use forkcast_sim::time::{Duration, Instant};
use jiff::Timestamp;
use jiff::civil::Date;

use super::{Recorded, Zone};

/// From one instant to the last one before another; open without a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The first instant that counts.
    pub since: Option<Instant>,
    /// The first instant that no longer counts.
    pub until: Option<Instant>,
}

/// Requests that a window left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Sent before or after.
    pub outside: u64,
    /// Requests without an instant.
    pub without_instant: u64,
    /// Of other projects.
    pub other_projects: u64,
    /// Of other sessions.
    pub other_sessions: u64,
    /// The newest instant of those that were sent before or after.
    pub newest: Option<Instant>,
}

impl LeftOut {
    /// All of them.
    pub const fn requests(self) -> u64 {
        self.outside + self.without_instant + self.other_projects + self.other_sessions
    }
}

impl std::ops::AddAssign for LeftOut {
    fn add_assign(&mut self, other: Self) {
        self.outside += other.outside;
        self.without_instant += other.without_instant;
        self.other_projects += other.other_projects;
        self.other_sessions += other.other_sessions;
        self.newest = self.newest.max(other.newest);
    }
}

impl Window {
    /// Whether the window contains everything.
    pub const fn is_open(&self) -> bool {
        self.since.is_none() && self.until.is_none()
    }

    /// Removes requests outside the window from `entries`, and counts them.
    pub(super) fn narrow(self, entries: &mut Vec<Recorded<'_>>) -> LeftOut {
        let mut left_out = LeftOut::default();
        if self.is_open() {
            return left_out;
        }
        entries.retain(|entry| {
            let Some(at) = entry.line.at else {
                left_out.without_instant += 1;
                return false;
            };
            let inside = self.since.is_none_or(|since| at >= since) && self.until.is_none_or(|until| at < until);
            if !inside {
                left_out.outside += 1;
                left_out.newest = left_out.newest.max(Some(at));
            }
            inside
        });
        left_out
    }
}

const EXPECTED: &str = "expected a day as YYYY-MM-DD or an instant as 2026-11-02T18:30:00Z";

/// The first instant of a day, or an instant with its offset from UTC.
///
/// # Errors
/// A sentence for other texts.
pub fn since(text: &str, zone: &Zone) -> Result<Instant, String> {
    match day(text) {
        Some(day) => start(day, zone),
        None => instant(text),
    }
}

/// The end of a day, so that the whole day counts; or an instant, from which on requests do not count.
///
/// # Errors
/// A sentence for other texts.
pub fn until(text: &str, zone: &Zone) -> Result<Instant, String> {
    match day(text) {
        Some(day) => start(day.tomorrow().map_err(|_| out_of_range(text))?, zone),
        None => instant(text),
    }
}

/// A stretch of time: `7d`, `24h`, `2w`; a number alone is days.
///
/// # Errors
/// A sentence for other texts.
pub fn span(text: &str) -> Result<Duration, String> {
    const EXPECTED: &str = "expected days, or a number with h, d or w: 7, 7d, 24h, 2w";
    let (number, hours) = match text.char_indices().last() {
        Some((at, 'h')) => (&text[..at], 1),
        Some((at, 'd')) => (&text[..at], 24),
        Some((at, 'w')) => (&text[..at], 7 * 24),
        _ => (text, 24),
    };
    let number: u64 = number.parse().ok().filter(|number| *number > 0).ok_or(EXPECTED)?;
    let seconds = number.checked_mul(hours * 60 * 60).filter(|seconds| *seconds <= SPAN_MAX.0 / 1_000_000_000);
    Ok(Duration::from_secs(seconds.ok_or(EXPECTED)?))
}

/// A hundred years.
const SPAN_MAX: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Only a date: the calendar would also accept the date in a longer text.
fn day(text: &str) -> Option<Date> {
    const LENGTH: usize = "2026-11-02".len();
    text.parse().ok().filter(|_| text.len() == LENGTH)
}

fn start(day: Date, zone: &Zone) -> Result<Instant, String> {
    zone.start(day).and_then(since_epoch).ok_or_else(|| out_of_range(&day.to_string()))
}

fn instant(text: &str) -> Result<Instant, String> {
    let timestamp: Timestamp = match text.parse() {
        Ok(timestamp) => timestamp,
        // Dates without dashes are read too, as midnight.
        Err(_) if text.contains(':') && text.parse::<jiff::civil::DateTime>().is_ok() => {
            return Err(format!("no offset from UTC: {EXPECTED}"));
        }
        Err(_) => return Err(EXPECTED.to_owned()),
    };
    since_epoch(timestamp).ok_or_else(|| out_of_range(text))
}

fn since_epoch(timestamp: Timestamp) -> Option<Instant> {
    u64::try_from(timestamp.as_nanosecond()).ok().map(Instant)
}

fn out_of_range(text: &str) -> String {
    format!("{text} is before 1970 or too far ahead")
}

#[cfg(test)]
mod tests {
    use super::{Zone, span};
    use forkcast_sim::time::{Duration, Instant};

    fn since(text: &str) -> Result<Instant, String> {
        super::since(text, &Zone::default())
    }

    fn until(text: &str) -> Result<Instant, String> {
        super::until(text, &Zone::default())
    }

    /// 2026-11-02 00:00 UTC, by `date -u -d 2026-11-02 +%s`.
    const DAY: u64 = 1_793_577_600_000;
    const HOUR: u64 = 3_600_000;

    #[test]
    fn a_day_counts_as_a_whole() {
        assert_eq!(since("2026-11-02"), Ok(Instant::from_millis(DAY)));
        assert_eq!(until("2026-11-02"), Ok(Instant::from_millis(DAY + 24 * HOUR)));
        assert_eq!(until("2026-11-01"), since("2026-11-02"));
    }

    #[test]
    fn an_instant_has_an_offset() {
        assert_eq!(since("2026-11-02T18:30:00.25Z"), Ok(Instant::from_millis(DAY + 18 * HOUR + 1_800_250)));
        assert_eq!(until("2026-11-02T02:00:00+02:00"), Ok(Instant::from_millis(DAY)));
        assert!(since("2026-11-02T18:30:00").unwrap_err().contains("offset"));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["yesterday", "7d", "2026-13-01", "2026-11-02 18:30", "", "1969-12-31"] {
            assert!(since(text).is_err() && until(text).is_err() || text == "1969-12-31", "{text}");
        }
        assert!(since("1969-12-31").is_err());
        assert!(until("9999-12-31").is_err());
    }

    #[test]
    fn a_span_is_a_number_of_hours_days_or_weeks() {
        let hours = |text: &str| span(text).map(|span| span.as_millis() / HOUR);
        assert_eq!([hours("7"), hours("7d"), hours("24h"), hours("2w")], [Ok(168), Ok(168), Ok(24), Ok(336)]);
        for text in ["", "0d", "d", "7 d", "-1d", "1y", "99999999999999999999w", "18446744073709551615h"] {
            assert!(span(text).is_err(), "{text}");
        }
        assert!(span("36500d").is_ok_and(|span| span > Duration::default()));
    }
}
