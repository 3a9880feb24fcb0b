//! Exit codes, and what stands behind them.
//!
//! | code | |
//! |---|---|
//! | 0 | done |
//! | 1 | a check, an expectation or a threshold failed |
//! | 2 | bad input or usage, with file, place and what was found |
//! | 3 | a fault of the program |
//! | 130 | Ctrl-C: a check or a lock that is not whole, or the second time anywhere |

use std::fmt;
use std::io;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use forkcast_reports::folder::FolderError;

use crate::talk;

const FAILED: u8 = 1;
const INPUT: u8 = 2;
const FAULT: u8 = 3;

/// What the user gave cannot be used. One line for each complaint.
#[derive(Debug)]
pub struct BadInput(pub Vec<String>);

impl BadInput {
    /// One complaint as an error.
    pub fn error(complaint: impl fmt::Display) -> anyhow::Error {
        Self(vec![complaint.to_string()]).into()
    }
}

impl fmt::Display for BadInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for BadInput {}

/// Something was found that the user does not allow. One line for each.
#[derive(Debug)]
pub struct Threshold(pub Vec<String>);

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for Threshold {}

/// The user stopped what is worth nothing unless it is whole. Says what was done, and what was not.
#[derive(Debug)]
pub struct Stopped(pub String);

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Stopped {}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The code of a program that the user stopped: 128 and the number of SIGINT.
const STOPPED: u8 = 130;

/// Whether the user pressed Ctrl-C. What was computed is then reported, marked partial.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Lets the first Ctrl-C end the work and the second the program.
pub fn watch_interrupts() {
    let on_interrupt = || {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(STOPPED.into());
        }
    };
    if let Err(error) = ctrlc::set_handler(on_interrupt) {
        talk::say(format_args!("forkcast: Ctrl-C will end the program at once: {error}"));
    }
}

/// Turns panics into exit code 3 with a sentence.
pub fn guard() {
    std::panic::set_hook(Box::new(|panic| {
        talk::say(format_args!("forkcast: a fault of the program, please report it: {panic}"));
        std::process::exit(FAULT.into());
    }));
}

/// Prints help, the version or what is wrong with the arguments.
pub fn usage(error: &clap::Error) -> ExitCode {
    // A closed pipe behind `--help` is no error.
    drop(error.print());
    if error.use_stderr() { INPUT.into() } else { ExitCode::SUCCESS }
}

/// A folder that cannot be used is the user's; a picture that cannot be made is a fault of the program.
pub fn folder_error(error: FolderError) -> anyhow::Error {
    match error {
        FolderError::Picture { .. } => error.into(),
        other => BadInput::error(other),
    }
}

/// The code of a verb's result; complaints go to standard error.
pub fn code(result: anyhow::Result<()>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    if is_closed_pipe(&error) {
        return ExitCode::SUCCESS;
    }
    if let Some(BadInput(complaints)) = error.downcast_ref() {
        return said(complaints, INPUT);
    }
    if let Some(Threshold(failures)) = error.downcast_ref() {
        return said(failures, FAILED);
    }
    if let Some(Stopped(what)) = error.downcast_ref() {
        return said(std::slice::from_ref(what), STOPPED);
    }
    talk::say(format_args!("forkcast: {error:#}"));
    FAULT.into()
}

fn said(lines: &[String], code: u8) -> ExitCode {
    for line in lines {
        talk::say(format_args!("forkcast: {line}"));
    }
    code.into()
}

/// Who reads the output went away (`| head`): nothing is wrong.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
