//! Instants for people, in their time zone.

use forkcast_sim::time::Instant;

use crate::report::Zone;

/// `2026-11-02 18:30:10`, or `12.4 s` on a clock that begins with the recording; `None` beyond the calendar.
pub(super) fn moment(at: Instant, zone: &Zone) -> Option<String> {
    if !at.has_day() {
        return Some(format!("{}.{} s", at.0 / 1_000_000_000, at.0 / 100_000_000 % 10));
    }
    zone.text(at, "%Y-%m-%d %H:%M:%S")
}

/// `2026-11-02 18:30:10 UTC`, or `12.4 s into the run` on a clock that begins with it.
pub(super) fn sent(at: Instant, zone: &Zone) -> Option<String> {
    let clock = if at.has_day() { zone.name() } else { "into the run" };
    moment(at, zone).map(|moment| format!("{moment} {clock}"))
}

/// `2026-07-10 to 2026-08-01 UTC`; within a day with the time, `2026-11-02 18:30 to 22:41 UTC`. `None` for instants without
/// a day.
pub(super) fn days(from: Instant, to: Instant, zone: &Zone) -> Option<String> {
    if !from.has_day() {
        return None;
    }
    let (first, last) = (zone.zoned(from)?, zone.zoned(to)?);
    let form = if first.date() == last.date() { "%Y-%m-%d %H:%M" } else { "%Y-%m-%d" };
    let end = if first.date() == last.date() { "%H:%M" } else { "%Y-%m-%d" };
    Some(format!("{} to {} {}", first.strftime(form), last.strftime(end), zone.name()))
}

#[cfg(test)]
mod tests {
    use super::{Zone, days, moment};
    use forkcast_sim::time::Instant;

    #[test]
    fn a_day_is_named_once() {
        let (start, hour, day) = (1_793_658_610_000, 3_600_000, 86_400_000);
        let at = |ms: u64| Instant::from_millis(start + ms);
        let utc = Zone::default();
        assert_eq!(moment(at(0), &utc).unwrap(), "2026-11-02 22:30:10");
        assert_eq!(moment(Instant::from_millis(12_400), &utc).unwrap(), "12.4 s");
        assert_eq!(days(Instant::default(), Instant::from_millis(12_400), &utc), None);
        assert_eq!(days(at(0), at(hour), &utc).unwrap(), "2026-11-02 22:30 to 23:30 UTC");
        assert_eq!(days(at(0), at(day), &utc).unwrap(), "2026-11-02 to 2026-11-03 UTC");
    }
}
