//! What forks and guards hold, in a program of its own: the allocator measures all threads.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may stop at once.

use std::sync::Mutex;

use peak_alloc::PeakAlloc;

#[cfg(feature = "runtime")]
mod forks;
mod guard;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// One test at a time: what another one allocates meanwhile would count too.
static ALONE: Mutex<()> = Mutex::new(());
