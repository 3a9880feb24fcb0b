//! The one `select!` of this project.

/// Waits for the first of several futures, as `tokio::select!` does, and asks them in the order in which they are
/// written: without that, tokio draws the order per process, and no run could be repeated.
///
/// ```
/// use forkcast_sim::time::{Duration, Instant, Plan, run};
///
/// let finished = run(&Plan::default(), |handle| async move {
///     forkcast_sim::select! {
///         () = handle.sleep(Duration::from_secs(2)) => "slow",
///         () = handle.sleep(Duration::from_secs(1)) => "fast",
///     }
/// })?;
/// assert_eq!((finished.value, finished.at), ("fast", Instant::from_millis(1_000)));
/// # Ok::<(), forkcast_sim::time::Stopped>(())
/// ```
#[macro_export]
macro_rules! select {
    ($($branches:tt)*) => {
        $crate::time::tokio::select! { biased; $($branches)* }
    };
}
