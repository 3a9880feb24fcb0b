//! Hours of the week with other prices.

use std::fmt;

use super::date::Date;
use crate::outside::words;
use crate::time::Instant;

const NANOS_PER_MINUTE: u64 = 60_000_000_000;
const MINUTES_PER_DAY: u64 = 1_440;

words! {
    /// A day of the week.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Weekday: word {
        /// Monday.
        Mon = "mon",
        /// Tuesday.
        Tue = "tue",
        /// Wednesday.
        Wed = "wed",
        /// Thursday.
        Thu = "thu",
        /// Friday.
        Fri = "fri",
        /// Saturday.
        Sat = "sat",
        /// Sunday.
        Sun = "sun",
    }
}

impl Weekday {
    /// The UTC day of an instant that counts from the Unix epoch, which was a Thursday.
    pub const fn of(instant: Instant) -> Self {
        let days = instant.0 / NANOS_PER_MINUTE / MINUTES_PER_DAY;
        // In bounds: a remainder of seven.
        Self::ALL[((days + 3) % 7) as usize]
    }
}

/// A span of a day in UTC, in minutes after midnight, without the last minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First minute of the span.
    pub from_minute: u16,
    /// First minute after the span, at most 1,440.
    pub to_minute: u16,
}

impl fmt::Display for Span {
    /// Such as `01:00-04:00`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clock = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
        write!(f, "{}-{}", clock(self.from_minute), clock(self.to_minute))
    }
}

/// Hours of the week, except on certain days.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hours {
    /// Spans of the day in UTC.
    pub spans: Vec<Span>,
    /// Days of the week in UTC.
    pub days: Vec<Weekday>,
    /// Days in UTC that do not count, such as holidays.
    pub except: Vec<Date>,
}

impl Hours {
    /// Whether an instant that counts from the Unix epoch is in these hours.
    pub fn contain(&self, instant: Instant) -> bool {
        let minute = instant.0 / NANOS_PER_MINUTE % MINUTES_PER_DAY;
        let spans = &self.spans;
        let in_span = spans.iter().any(|span| (span.from_minute.into()..span.to_minute.into()).contains(&minute));
        in_span && self.days.contains(&Weekday::of(instant)) && !self.except.contains(&Date::of(instant))
    }
}

impl fmt::Display for Hours {
    /// Such as `01:00-04:00, 06:00-10:00 UTC, mon-fri`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spans: Vec<String> = self.spans.iter().map(Span::to_string).collect();
        write!(f, "{} UTC", spans.join(", "))?;
        match self.days[..] {
            [] => f.write_str(", never")?,
            [first, .., last] if self.days.len() < 7 && last as usize - first as usize + 1 == self.days.len() => {
                write!(f, ", {}-{}", first.word(), last.word())?;
            }
            _ if self.days.len() < 7 => {
                let days: Vec<&str> = self.days.iter().map(|day| day.word()).collect();
                write!(f, ", {}", days.join(" "))?;
            }
            _ => {}
        }
        if self.except.is_empty() { Ok(()) } else { f.write_str(", not on holidays") }
    }
}
