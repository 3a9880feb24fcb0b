//! The requests as bars.

use forkcast_sim::diagnosis::Cause;
use forkcast_sim::pricing::Money;
use forkcast_sim::time::Instant;

use crate::report::{Entry, Report};

/// One bar: a request, or several neighbours where there are more requests than room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bar {
    /// Its first request.
    pub first: usize,
    /// How many requests it stands for; its tokens are their average.
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

/// The bars of all requests with usage, in order of time.
pub(super) fn of(report: &Report<'_>, width: i32) -> Vec<Bar> {
    let counted = report.entries.iter().filter(|entry| report.counted.counts(entry));
    let mut requests: Vec<Bar> = counted.filter_map(bar).collect();
    // The ledger goes session by session; what has no instant comes first.
    requests.sort_by_key(|bar| bar.at);
    let most = usize::try_from(width / WIDTH_MIN).unwrap_or(1).max(1);
    let each = requests.len().div_ceil(most).max(1);
    requests.chunks(each).map(joined).collect()
}

fn bar(entry: &Entry<'_>) -> Option<Bar> {
    let line = entry.line;
    let usage = line.billed()?;
    let dearest = line.charge.causes.iter().max_by_key(|part| (part.cost, part.tokens));
    Some(Bar {
        first: line.index,
        requests: 1,
        read: usage.cache_read_input_tokens,
        written: usage.cache_creation_input_tokens(),
        input: usage.input_tokens,
        missed: line.explanation.as_ref().map_or(0, |explanation| explanation.missed_tokens()),
        cause: dearest.map(|part| (part.cause, part.cost)),
        at: line.at,
    })
}

/// Neighbours as one bar of their average.
fn joined(bars: &[Bar]) -> Bar {
    let [first, ..] = bars else { return Bar::default() };
    let average = |part: fn(&Bar) -> u64| bars.iter().map(part).sum::<u64>() / bars.len() as u64;
    Bar {
        requests: bars.len(),
        read: average(|bar| bar.read),
        written: average(|bar| bar.written),
        input: average(|bar| bar.input),
        missed: average(|bar| bar.missed),
        cause: bars.iter().filter_map(|bar| bar.cause).max_by_key(|(_, cost)| *cost),
        ..*first
    }
}

#[cfg(test)]
mod tests {
    use super::{Bar, joined};

    #[test]
    fn neighbours_are_averaged() {
        let bars = [
            Bar { first: 4, requests: 1, read: 10, ..Bar::default() },
            Bar { first: 5, requests: 1, read: 20, ..Bar::default() },
        ];
        let bar = joined(&bars);
        assert_eq!((bar.first, bar.requests, bar.read), (4, 2, 15));
    }
}
