//! Memory of forks and guards, in a separate program because the allocator measures all threads.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may panic.

use std::sync::Mutex;

use peak_alloc::PeakAlloc;

#[cfg(feature = "runtime")]
mod forks;
mod guard;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// One test at a time, because allocations of others would count too.
static ALONE: Mutex<()> = Mutex::new(());
