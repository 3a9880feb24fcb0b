//! Days, for dated prices.

use std::fmt;

use crate::time::Instant;

/// A day: year, month from 1, day from 1. Ordered by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(pub i32, pub u8, pub u8);

const NANOS_PER_DAY: u64 = 86_400_000_000_000;

impl Date {
    /// The UTC day of an instant that counts from the Unix epoch, as in recordings. Providers do not say in which time
    /// zone their prices change.
    pub const fn of(instant: Instant) -> Self {
        let mut days = instant.0 / NANOS_PER_DAY;
        let mut year = 1970;
        while days >= days_of_year(year) {
            days -= days_of_year(year);
            year += 1;
        }
        let mut month = 1;
        while days >= days_of_month(year, month) {
            days -= days_of_month(year, month);
            month += 1;
        }
        Self(year, month, days as u8 + 1)
    }

    /// The day in a text such as `2026-10-07`.
    pub fn parse(text: &str) -> Option<Self> {
        let is_digits = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
        let parts: Vec<&str> = text.split('-').filter(is_digits).collect();
        let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
        let [year, month, day] = parts.as_slice() else { return None };
        let date = Self(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?);
        let fits = (1..=12).contains(&date.1) && (1..=days_of_month(date.0, date.1)).contains(&u64::from(date.2));
        (fits && lengths == [4, 2, 2] && text.len() == "2026-10-07".len()).then_some(date)
    }

    /// Days since the first of January 1970; 0 before.
    pub(super) const fn days(self) -> u64 {
        let Self(until, last, day) = self;
        let mut days = (day as u64).saturating_sub(1);
        let mut year = 1970;
        while year < until {
            days += days_of_year(year);
            year += 1;
        }
        let mut month = 1;
        while month < last {
            days += days_of_month(until, month);
            month += 1;
        }
        days
    }
}

const fn is_leap(year: i32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

const fn days_of_year(year: i32) -> u64 {
    if is_leap(year) { 366 } else { 365 }
}

pub(super) const fn days_of_month(year: i32, month: u8) -> u64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl fmt::Display for Date {
    /// Such as `2026-10-07`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(year, month, day) = self;
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}
