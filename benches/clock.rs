//! Processor time and memory of measured work.

use std::fs;
use std::time::{Duration, Instant};

/// Processor time of `work` on this thread, which is less affected by other load; wall-clock time if the system does
/// not report it (Linux does).
pub fn processor_time<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let (start, began) = (on_processor(), Instant::now());
    let done = work();
    let taken = on_processor().zip(start).map(|(end, start)| end.saturating_sub(start));
    (done, taken.unwrap_or_else(|| began.elapsed()))
}

fn on_processor() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// The peak memory of this process in megabytes; zero if the system does not report it.
pub fn peak_mb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1_000
}
