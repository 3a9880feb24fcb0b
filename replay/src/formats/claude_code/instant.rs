//! Instants as Claude Code writes them, `2026-02-06T10:22:39.880Z`, without a general parser, because every line has
//! one.

use forkcast_sim::time::Instant;

use super::super::when;

const MS_PER_DAY: u64 = 86_400_000;

/// The instant of a timestamp.
pub(super) fn read(raw: &[u8]) -> Option<Instant> {
    usual(raw).or_else(|| when::iso(std::str::from_utf8(raw).ok()?))
}

/// The usual spelling in UTC with milliseconds.
fn usual(raw: &[u8]) -> Option<Instant> {
    let raw: &[u8; 24] = raw.try_into().ok()?;
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'.'), (23, b'Z')];
    if marks.iter().any(|(at, mark)| raw[*at] != *mark) {
        return None;
    }
    let (year, month, day) = (number(&raw[..4])?, number(&raw[5..7])?, number(&raw[8..10])?);
    let (hour, minute, second) = (number(&raw[11..13])?, number(&raw[14..16])?, number(&raw[17..19])?);
    let in_range =
        (1970..=2400).contains(&year) && (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
    if !in_range || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let of_day = ((hour * 60 + minute) * 60 + second) * 1000 + number(&raw[20..23])?;
    when::believed(Instant::from_millis(days(year, month, day) * MS_PER_DAY + of_day))
}

fn number(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + u64::from(byte - b'0')))
}

const fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

const fn days_of(year: u64, month: u64) -> u64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since the epoch; months are counted from March so that the leap day is the last of a year.
const fn days(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leaps = year / 4 - year / 100 + year / 400;
    let since_march = (153 * month + 2) / 5 + day - 1;
    // Day number of 1970-01-01 by the same count.
    year * 365 + leaps + since_march - 719_468
}

#[cfg(test)]
mod tests {
    use super::{read, usual};
    use crate::formats::when;

    #[test]
    fn the_fast_parser_and_the_general_parser_agree_on_every_day() {
        for year in [1970, 1972, 1999, 2000, 2024, 2025, 2026, 2100, 2400] {
            for month in 1..=12 {
                for day in 1..=32 {
                    let text = format!("{year}-{month:02}-{day:02}T23:59:58.007Z");
                    assert_eq!(usual(text.as_bytes()), when::iso(&text), "{text}");
                }
            }
        }
    }

    #[test]
    fn other_spellings_use_the_general_parser_and_nonsense_is_refused() {
        assert_eq!(read(b"2026-02-06T11:22:39+01:00"), when::iso("2026-02-06T10:22:39Z"));
        for text in
            ["2026-02-06T24:00:00.000Z", "2026-13-06T10:22:39.880Z", "yesterday", "", "1969-12-31T23:59:59.999Z"]
        {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
    }
}
