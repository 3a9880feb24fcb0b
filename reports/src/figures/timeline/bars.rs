//! The requests as bars.

use forkcast_sim::diagnosis::Cause;
use forkcast_sim::pricing::Money;
use forkcast_sim::time::Instant;

use crate::report::{Recorded, Report};

/// One bar: a request, or several neighbours if there are more requests than room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bar {
    /// Its first request.
    pub first: usize,
    /// The number of requests in it; its tokens are their average.
    pub requests: usize,
    pub read: u64,
    pub written: u64,
    pub input: u64,
    pub missed: u64,
    /// The dearest miss.
    pub cause: Option<(Cause, Option<Money>)>,
    /// When the first request was sent.
    pub at: Option<Instant>,
}

impl Bar {
    /// All input tokens.
    pub const fn tokens(&self) -> u64 {
        self.read + self.written + self.input
    }
}

/// Bars are at least so wide, in pixels.
const WIDTH_MIN: i32 = 2;

/// The requests with usage: of each what its bar needs, 64 bytes.
#[derive(Debug, Default)]
pub struct Requests(Vec<Point>);

/// The data of a request for a bar. Larger counts are drawn as four thousand million.
#[derive(Clone, Copy, Debug)]
struct Point {
    at: Option<Instant>,
    first: u32,
    read: u32,
    written: u32,
    input: u32,
    missed: u32,
    cause: Option<Dearest>,
}

/// The dearest miss: its cost in 10⁻¹² USD, at most nine million USD.
#[derive(Clone, Copy, Debug)]
struct Dearest {
    cause: Cause,
    picousd: Option<i64>,
}

impl Requests {
    /// Adds a request.
    pub fn add(&mut self, report: &Report<'_>, entry: &Recorded<'_>) {
        self.0.extend(Some(entry).filter(|entry| report.counted.counts(entry)).and_then(point));
    }

    /// The bars, in order of time.
    pub(super) fn bars(mut self, width: i32) -> Vec<Bar> {
        // The ledger is in order of sessions; requests without an instant come first.
        self.0.sort_unstable_by_key(|point| (point.at, point.first));
        let most = usize::try_from(width / WIDTH_MIN).unwrap_or(1).max(1);
        let each = self.0.len().div_ceil(most).max(1);
        self.0.chunks(each).map(joined).collect()
    }
}

fn point(entry: &Recorded<'_>) -> Option<Point> {
    let line = &entry.line;
    let usage = line.billed()?;
    let dearest = line.charge.causes.iter().max_by_key(|part| (part.cost, part.tokens));
    let clamped = |tokens: u64| u32::try_from(tokens).unwrap_or(u32::MAX);
    let picousd = |cost: Money| i64::try_from(cost.picousd()).unwrap_or(i64::MAX);
    Some(Point {
        at: line.at,
        first: u32::try_from(line.index).unwrap_or(u32::MAX),
        read: clamped(usage.cache_read_input_tokens),
        written: clamped(usage.cache_creation_input_tokens()),
        input: clamped(usage.input_tokens),
        missed: clamped(line.explanation.as_ref().map_or(0, |explanation| explanation.missed_tokens())),
        cause: dearest.map(|part| Dearest { cause: part.cause, picousd: part.cost.map(picousd) }),
    })
}

/// Neighbours as one bar of their average.
fn joined(points: &[Point]) -> Bar {
    let [first, ..] = points else { return Bar::default() };
    let average =
        |part: fn(&Point) -> u32| points.iter().map(|point| u64::from(part(point))).sum::<u64>() / points.len() as u64;
    let dearest = points.iter().filter_map(|point| point.cause).max_by_key(|dearest| dearest.picousd);
    Bar {
        first: first.first as usize,
        requests: points.len(),
        read: average(|point| point.read),
        written: average(|point| point.written),
        input: average(|point| point.input),
        missed: average(|point| point.missed),
        cause: dearest.map(|dearest| (dearest.cause, dearest.picousd.map(|cost| Money::from_picousd(cost.into())))),
        at: first.at,
    }
}

#[cfg(test)]
mod tests {
    use super::{Point, joined};

    #[test]
    fn neighbours_are_averaged() {
        let point = |first, read| Point { at: None, first, read, written: 0, input: 0, missed: 0, cause: None };
        let bar = joined(&[point(4, 10), point(5, 20)]);
        assert_eq!((bar.first, bar.requests, bar.read), (4, 2, 15));
        assert!(size_of::<Point>() <= 64);
    }
}
