//! Writing files at paths that the user names: atomically, and never over a file that the program did not write.
//!
//! * [`disk`]: a trait with every operation that changes the disk, so that tests can make any of them fail.
//! * [`mod@file`]: writes one file; an existing file is replaced only if its first bytes show that it is ours.
//!
//! Folders with several files and a manifest are written by `forkcast_reports::folder`, which knows the file names.

pub mod disk;
pub mod file;
