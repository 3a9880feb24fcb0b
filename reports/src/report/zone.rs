//! The time zone in which people read days and times. Machine formats are in UTC.

use std::str::FromStr;

use forkcast_sim::time::Instant;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// A time zone; UTC by default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Default for Zone {
    fn default() -> Self {
        Self(TimeZone::UTC)
    }
}

impl Zone {
    /// The zone of this machine; UTC without one.
    pub fn local() -> Self {
        Self(TimeZone::try_system().unwrap_or(TimeZone::UTC))
    }

    /// The default zone: that of this machine for people, UTC for programs.
    pub fn default_for(is_for_people: bool) -> Self {
        if is_for_people { Self::local() } else { Self::default() }
    }

    /// Its name: `UTC`, `Europe/Berlin`.
    pub fn name(&self) -> &str {
        match self.0.iana_name() {
            Some("Etc/UTC" | "Etc/UCT" | "Etc/Unknown") => "UTC",
            Some(name) => name,
            None => "local time",
        }
    }

    /// An instant in this zone for people; `None` if it has no day, or is beyond the calendar.
    pub fn text(&self, at: Instant, form: &str) -> Option<String> {
        self.clock(at, form).filter(|_| at.has_day())
    }

    /// The same for a clock that may begin with the recording.
    pub(crate) fn clock(&self, at: Instant, form: &str) -> Option<String> {
        Some(self.zoned(at)?.strftime(form).to_string())
    }

    /// Seconds since 1970 on a clock of this zone, as if it were one of UTC: every day then begins at a whole one.
    pub(crate) fn wall_seconds(&self, at: Instant) -> Option<u64> {
        let zoned = self.zoned(at)?;
        let offset = i64::from(zoned.offset().seconds());
        u64::try_from(zoned.timestamp().as_second().saturating_add(offset)).ok()
    }

    pub(crate) fn zoned(&self, at: Instant) -> Option<Zoned> {
        let timestamp = Timestamp::from_nanosecond(i128::from(at.0)).ok()?;
        Some(timestamp.to_zoned(self.0.clone()))
    }

    /// The first instant of a day.
    pub(super) fn start(&self, day: jiff::civil::Date) -> Option<Timestamp> {
        Some(day.to_zoned(self.0.clone()).ok()?.timestamp())
    }
}

impl FromStr for Zone {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if name.eq_ignore_ascii_case("local") {
            return Ok(Self::local());
        }
        let zone = TimeZone::get(name);
        zone.map(Self).map_err(|_| "expected UTC, local, or an IANA name such as Europe/Berlin".to_owned())
    }
}
