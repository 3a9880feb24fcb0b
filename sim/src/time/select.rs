//! The `select!` macro of this project.

/// Waits for the first of several futures like `tokio::select!`, but polls them in the order in which they are written:
/// otherwise tokio draws a random order per process, and runs could not be repeated.
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
