//! Which lane and which bar a request belongs to.

use std::collections::{BTreeMap, BTreeSet};

use forkcast_sim::time::Instant;

use super::axis::{self, DAY, Scale, Tick};
use super::{Area, Bar};
use crate::document::count;
use crate::report::{Recorded, Report, Zone};

/// Requests up to which each has a bar of its own.
const EACH_MAX: u64 = 48;

/// Lanes and bars of a lane, at most.
const LANES_MAX: u64 = 31;
const BARS_MAX: u64 = 100;

/// Bars across a lane at least, in a picture of a few requests.
const BARS_MIN: u64 = 10;

/// About this many labels are under a lane.
const LABELS: u64 = 8;

/// Room of such a label, in pixels.
const LABEL_ROOM: i32 = 116;

/// The lane of all sessions without one of their own.
const OTHERS: u64 = u64::MAX;

const NANOS: u64 = 1_000_000_000;

/// Where bars lie.
#[derive(Debug)]
pub(super) enum Plan {
    /// One lane in order of time, or in the order of the ledger if no request has an instant; bars of this many requests.
    Order(u64),
    /// A lane for each stretch of time.
    Stretches(Clock),
    /// A lane for each of the dearest sessions, and one for the others.
    Sessions {
        /// Sessions with a lane.
        kept: BTreeSet<usize>,
        /// The number of the others.
        others: usize,
        clock: Clock,
    },
}

/// Stretches of equal length, in seconds since 1970 on a clock of the report's time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    from: u64,
    length: u64,
    /// Seconds of a bar.
    bar: u64,
}

/// A request, as far as its place depends on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    at: Option<Instant>,
    session: usize,
    index: usize,
}

impl Spot {
    pub fn of(entry: &Recorded<'_>) -> Self {
        Self { at: entry.line.at, session: entry.line.session, index: entry.line.index }
    }
}

/// The position of a bar in its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// When the request was sent, if it has a bar of its own.
    pub at: Option<Instant>,
    /// Its index, or that of the bar.
    pub number: u64,
}

impl Clock {
    fn new(from: u64, length: u64) -> Self {
        Self { from, length, bar: axis::time_step(length.div_ceil(BARS_MAX).max(1)) }
    }

    /// Days, or as many weeks as needed, from the first instant's on.
    fn stretches(first: u64, last: u64) -> Self {
        let day = first / DAY;
        let days = last / DAY - day + 1;
        if days <= LANES_MAX {
            return Self::new(day * DAY, DAY);
        }
        // 1970-01-01 was a Thursday; weeks begin on Mondays.
        let monday = day.saturating_sub((day + 3) % 7);
        let weeks = (last / DAY - monday + 1).div_ceil(7);
        Self::new(monday * DAY, weeks.div_ceil(LANES_MAX) * 7 * DAY)
    }

    /// One stretch from a round instant on.
    fn whole(first: u64, last: u64) -> Self {
        let step = axis::time_step((last - first).div_ceil(LABELS).max(1));
        let from = first / step * step;
        Self::new(from, (last - from + 1).div_ceil(step) * step)
    }

    const fn lane(&self, second: u64) -> u64 {
        second.saturating_sub(self.from) / self.length
    }

    const fn bar(&self, second: u64) -> u64 {
        second.saturating_sub(self.from) % self.length / self.bar
    }
}

impl Plan {
    pub fn of(report: &Report<'_>) -> Self {
        let requests = report.tally.counted;
        let span = report.span().filter(|_| requests > EACH_MAX);
        let zone = &report.view.zone;
        let span = span.and_then(|(first, last)| Some((zone.wall_seconds(first)?, zone.wall_seconds(last)?)));
        let Some((first, last)) = span.map(|(first, last)| (first.min(last), last)) else {
            return Self::Order(requests.div_ceil(BARS_MAX).max(1));
        };
        if last - first >= DAY {
            return Self::Stretches(Clock::stretches(first, last));
        }
        let mut dearest: Vec<_> = report.sessions.iter().collect();
        dearest.sort_by_key(|session| (std::cmp::Reverse(session.account.billed.cost), session.index));
        let own = if dearest.len() as u64 > LANES_MAX { LANES_MAX - 1 } else { LANES_MAX } as usize;
        Self::Sessions {
            kept: dearest.iter().take(own).map(|session| session.index).collect(),
            others: dearest.len().saturating_sub(own),
            clock: Clock::whole(first, last),
        }
    }

    /// The lane of a request; `None` without an instant where others have one.
    pub fn lane(&self, spot: &Spot, zone: &Zone) -> Option<u64> {
        let second = spot.at.and_then(|at| zone.wall_seconds(at));
        match self {
            Self::Order(_) => Some(0),
            Self::Stretches(clock) => second.map(|second| clock.lane(second)),
            Self::Sessions { kept, .. } if kept.contains(&spot.session) => second.map(|_| spot.session as u64),
            Self::Sessions { .. } => second.map(|_| OTHERS),
        }
    }

    /// The bar of a request in its lane, which already has this many requests.
    pub fn place(&self, spot: &Spot, requests: u64, zone: &Zone) -> Place {
        let second = spot.at.and_then(|at| zone.wall_seconds(at)).unwrap_or(0);
        match self {
            Self::Order(1) => Place { at: spot.at, number: spot.index as u64 },
            Self::Order(each) => Place { at: None, number: requests / each },
            Self::Stretches(clock) | Self::Sessions { clock, .. } => Place { at: None, number: clock.bar(second) },
        }
    }

    pub const fn has_names(&self) -> bool {
        !matches!(self, Self::Order(_))
    }

    /// The name of a lane.
    pub fn name(&self, lane: u64, report: &Report<'_>) -> String {
        match self {
            Self::Order(_) => String::new(),
            Self::Stretches(clock) => text(clock.from + lane * clock.length, "%a %Y-%m-%d"),
            Self::Sessions { others, .. } if lane == OTHERS => format!("{} others", count(*others as u64)),
            Self::Sessions { .. } => {
                let session = usize::try_from(lane).ok().and_then(|index| report.session(index));
                session.map(|session| report.brief(session)).unwrap_or_default()
            }
        }
    }

    /// The number of bars across a lane that has this many; a few do not fill it.
    pub fn across(&self, bars: usize) -> u64 {
        match self {
            Self::Order(_) => (bars as u64).max(BARS_MIN),
            Self::Stretches(clock) | Self::Sessions { clock, .. } => clock.length.div_ceil(clock.bar),
        }
    }

    /// Labels under the lanes.
    pub fn ticks(&self, bars: &BTreeMap<Place, Bar>, plot: Area, zone: &Zone) -> Vec<Tick> {
        match self {
            Self::Order(each) => self.numbers(*each, bars, plot, zone),
            Self::Stretches(clock) | Self::Sessions { clock, .. } => {
                let step = axis::time_step(clock.length.div_ceil(LABELS).max(1));
                let scale = Scale { from: 0.0, to: clock.length as f64, start: plot.left, end: plot.right };
                scale.ticks(step as f64, |second| self.instant(clock, second as u64, step))
            }
        }
    }

    /// The label of an instant of a lane.
    fn instant(&self, clock: &Clock, second: u64, step: u64) -> String {
        match self {
            Self::Stretches(_) if clock.length == DAY => format!("{:02}:00", second / 3_600),
            Self::Stretches(_) if clock.length == 7 * DAY => text(clock.from + second, "%a"),
            Self::Stretches(_) => format!("day {}", second / DAY + 1),
            _ => text(clock.from + second, if step < 60 { "%H:%M:%S" } else { "%H:%M" }),
        }
    }

    /// Number and time of the first request of every n-th bar, so that each label has room.
    fn numbers(&self, each: u64, bars: &BTreeMap<Place, Bar>, plot: Area, zone: &Zone) -> Vec<Tick> {
        let across = self.across(bars.len());
        let pitch = slot(1, across, plot).left - slot(0, across, plot).left;
        let every = usize::try_from(LABEL_ROOM / pitch.max(1)).unwrap_or(usize::MAX).saturating_add(1);
        let label = |place: &Place| match place.at {
            Some(at) => format!("{} · {}", place.number, zone.clock(at, "%H:%M:%S").unwrap_or_default()),
            None => count(place.number * each),
        };
        let places = (0..).zip(bars.keys()).step_by(every);
        let ticks = places.map(|(at, place)| {
            let area = slot(at, across, plot);
            Tick { at: i32::midpoint(area.left, area.right), label: label(place) }
        });
        ticks.collect()
    }

    /// What lies to the right.
    pub fn to_the_right(&self, zone: &Zone) -> String {
        let what = match self {
            Self::Order(1) => "request and the time of its sending",
            Self::Order(_) => return "requests in their order; their times are unknown".to_owned(),
            Self::Stretches(clock) if clock.length == DAY => "time of day",
            Self::Stretches(clock) if clock.length == 7 * DAY => "day of the week",
            Self::Stretches(_) => "days since the lane began",
            Self::Sessions { .. } => "time",
        };
        format!("{what} ({})", zone.name())
    }

    /// What a bar sums up.
    pub fn of_a_bar(&self) -> String {
        match self {
            Self::Order(1) => "a request".to_owned(),
            Self::Order(each) => format!("in {} requests", count(*each)),
            Self::Stretches(clock) | Self::Sessions { clock, .. } => format!("in {}", stretch(clock.bar)),
        }
    }

    /// What a lane is.
    pub fn of_a_lane(&self) -> Option<String> {
        match self {
            Self::Order(_) => None,
            Self::Stretches(clock) => Some(format!("a lane is {}", stretch(clock.length))),
            Self::Sessions { .. } => Some("a lane is a session".to_owned()),
        }
    }
}

/// The part of a plot that a bar has, with a gap beside it where there is room.
pub(super) fn slot(at: u64, across: u64, plot: Area) -> Area {
    let edge = |at: u64| {
        let offset = u64::from(plot.width().unsigned_abs()) * at.min(across) / across;
        plot.left.saturating_add_unsigned(u32::try_from(offset).unwrap_or(u32::MAX))
    };
    let (left, right) = (edge(at), edge(at + 1));
    let gap = (right - left) / 4;
    Area { left: left + gap / 2, right: right - (gap - gap / 2), ..plot }
}

/// `20 minutes`, `an hour`, `a day`, `2 weeks`.
fn stretch(seconds: u64) -> String {
    const UNITS: [(u64, &str, &str); 5] = [
        (7 * DAY, "a week", "weeks"),
        (DAY, "a day", "days"),
        (3_600, "an hour", "hours"),
        (60, "a minute", "minutes"),
        (1, "a second", "seconds"),
    ];
    let unit = UNITS.into_iter().find(|(unit, ..)| seconds.is_multiple_of(*unit));
    match unit {
        Some((unit, one, _)) if unit == seconds => one.to_owned(),
        Some((unit, _, many)) => format!("{} {many}", seconds / unit),
        None => String::new(),
    }
}

fn text(second: u64, form: &str) -> String {
    Zone::default().clock(Instant(second.saturating_mul(NANOS)), form).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{BARS_MAX, Clock, DAY, LANES_MAX};

    #[test]
    fn lanes_are_days_then_weeks_and_never_too_many() {
        let first = 20_000 * DAY + 3_600;
        assert_eq!(Clock::stretches(first, first + 30 * DAY).length, DAY);
        assert_eq!(Clock::stretches(first, first + 31 * DAY).length, 7 * DAY);
        for days in [1, 30, 31, 217, 218, 400, 4_000, 200_000] {
            let clock = Clock::stretches(first, first + days * DAY);
            assert!(clock.lane(first + days * DAY) < LANES_MAX, "{days} days: {clock:?}");
            assert!(clock.length.div_ceil(clock.bar) <= BARS_MAX, "{days} days: {clock:?}");
        }
        // 1970-01-05 was the first Monday.
        assert_eq!(Clock::stretches(first, first + 40 * DAY).from % (7 * DAY), 4 * DAY);
    }

    #[test]
    fn a_stretch_begins_at_a_round_instant() {
        let clock = Clock::whole(1_000_003, 1_000_683);
        assert_eq!((clock.from % 120, clock.bar), (0, 10));
        assert!(clock.bar(1_000_683) < BARS_MAX);
    }
}
