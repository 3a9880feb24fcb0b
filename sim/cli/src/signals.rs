//! Signals that stop the program: the first ends the work, the second the program.
//!
//! After the first, the results so far are reported, marked as partial; after the second nothing is.

use std::ffi::c_int;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::talk;

/// The flags that the handlers set; a handler may do nothing else.
#[derive(Debug, Default)]
struct StopRequest {
    to_stop: Arc<AtomicBool>,
    /// The latest signal; 0 before the first.
    signal: Arc<AtomicUsize>,
    /// There are no results yet.
    nothing_to_keep: Arc<AtomicBool>,
}

static STOP_REQUEST: LazyLock<StopRequest> = LazyLock::new(StopRequest::default);

/// The exit code after a signal is this plus the signal's number, as in shells.
const ENDED_BY_SIGNAL: u8 = 128;

/// Lets the first signal end the work and the second the program.
pub fn watch() {
    for signal in heeded() {
        if let Err(error) = register(signal) {
            talk::say(format_args!("forkcast: signal {signal} will end the program immediately: {error}"));
        }
    }
}

fn register(signal: c_int) -> io::Result<()> {
    let number = signal.unsigned_abs() as usize;
    // Handlers run in this order, so that the second signal sees what the first one set.
    for condition in [&STOP_REQUEST.to_stop, &STOP_REQUEST.nothing_to_keep] {
        flag::register_conditional_shutdown(signal, c_int::from(code_of(number)), Arc::clone(condition))?;
    }
    flag::register_usize(signal, Arc::clone(&STOP_REQUEST.signal), number)?;
    flag::register(signal, Arc::clone(&STOP_REQUEST.to_stop))?;
    Ok(())
}

#[cfg(not(unix))]
fn heeded() -> Vec<c_int> {
    vec![SIGINT, SIGTERM]
}

/// SIGHUP too, unless it was ignored when the program was started (`nohup`).
#[cfg(unix)]
fn heeded() -> Vec<c_int> {
    use signal_hook::consts::SIGHUP;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let hangup = (!ignores(&status, SIGHUP)).then_some(SIGHUP);
    [SIGINT, SIGTERM].into_iter().chain(hangup).collect()
}

/// Whether a process with this `/proc/PID/status` ignores a signal. `SigIgn` is a hexadecimal mask whose lowest bit is
/// signal 1 (proc_pid_status(5)). Other systems have no such file: there SIGHUP is handled.
#[cfg(unix)]
fn ignores(status: &str, signal: c_int) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

/// Whether the program was asked to stop. The results so far are then reported, marked as partial.
pub fn interrupted() -> bool {
    STOP_REQUEST.to_stop.load(Ordering::SeqCst)
}

/// Sets whether there are no results yet. Without any, the first signal ends the program: otherwise a program that waits
/// for its standard input would continue to wait.
pub fn nothing_to_keep(is_so: bool) {
    STOP_REQUEST.nothing_to_keep.store(is_so, Ordering::SeqCst);
}

/// Whether all input is read from standard input, which may wait indefinitely.
pub fn waits_for_input(paths: &[impl AsRef<Path>]) -> bool {
    paths.iter().all(|path| path.as_ref() == Path::new("-"))
}

/// The exit code of work that a signal ended.
pub fn code() -> u8 {
    code_of(STOP_REQUEST.signal.load(Ordering::SeqCst))
}

fn code_of(signal: usize) -> u8 {
    debug_assert!(signal < usize::from(ENDED_BY_SIGNAL), "signal numbers are below 128");
    ENDED_BY_SIGNAL + signal as u8
}

#[cfg(all(test, unix))]
mod tests {
    use signal_hook::consts::{SIGHUP, SIGINT};

    #[test]
    fn signals_ignored_by_nohup_are_read_from_the_mask() {
        let status =
            "Name:\tforkcast\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000004002\n";
        assert!(super::ignores(status, SIGHUP));
        assert!(!super::ignores(status, SIGINT));
        assert!(!super::ignores("", SIGHUP));
    }
}
