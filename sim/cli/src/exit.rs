//! Exit codes and their causes.
//!
//! | code | |
//! |---|---|
//! | 0 | done |
//! | 1 | a check, an expectation or a threshold failed |
//! | 2 | bad input or usage, with file, place and finding; output that cannot be written |
//! | 3 | a fault of the program |
//! | 130, 143, 129 | SIGINT (Ctrl-C), SIGTERM or SIGHUP: an incomplete check or lock, or the second signal anywhere |
//!
//! If several apply, 3 takes precedence over 2 and 2 over 1. A closed output changes no code.

use std::fmt;
use std::process::ExitCode;

use forkcast_reports::document::line_width;
use forkcast_reports::folder::FolderError;
use forkcast_sim::outside::is_hidden;

use crate::{screen, signals, talk};

const FAILED: u8 = 1;
const INPUT: u8 = 2;
const FAULT: u8 = 3;

/// Unusable input from the user. One line for each error.
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

/// The user stopped work that is useless unless complete. The text names the finished and the missing work.
#[derive(Debug)]
pub struct Stopped(pub String);

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Stopped {}

/// Errors by severity. A verb collects them while it continues, so that a report is printed in spite of errors, and
/// errors count even if the report is not read.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The program is wrong.
    pub faults: Vec<String>,
    /// Unusable input, or output that cannot be written.
    pub mistakes: Vec<String>,
    /// Something was found that the user does not allow.
    pub failures: Vec<String>,
}

impl Outcome {
    /// Takes the result of printing. A standard output that cannot be written is one more error; a fault ends the verb.
    pub fn printed(&mut self, printed: anyhow::Result<()>) -> anyhow::Result<()> {
        match printed.map_err(anyhow::Error::downcast::<BadInput>) {
            Ok(()) => Ok(()),
            Err(Ok(BadInput(complaints))) => {
                self.mistakes.extend(complaints);
                Ok(())
            }
            Err(Err(fault)) => Err(fault),
        }
    }

    /// Records that a folder could not be written; the report is printed anyway.
    pub fn written(&mut self, written: Result<(), FolderError>) {
        match written {
            Ok(()) => {}
            Err(fault @ FolderError::Picture { .. }) => self.faults.push(fault.to_string()),
            Err(refused) => self.mistakes.push(refused.to_string()),
        }
    }

    /// The result of the verb. Bad input takes precedence over a broken limit, because it may be the reason for that.
    pub fn done(self) -> anyhow::Result<()> {
        let Self { faults, mistakes, failures } = self;
        if !faults.is_empty() {
            return Err(anyhow::anyhow!(faults.join("\nforkcast: ")));
        }
        if !mistakes.is_empty() {
            return Err(BadInput([failures, mistakes].concat()).into());
        }
        if failures.is_empty() { Ok(()) } else { Err(Threshold(failures).into()) }
    }
}

/// Turns panics into exit code 3 with a sentence.
pub fn guard() {
    std::panic::set_hook(Box::new(|panic| {
        talk::say(format_args!("forkcast: a fault of the program, please report it: {panic}"));
        std::process::exit(FAULT.into());
    }));
}

/// Prints help, the version or the error in the arguments.
pub fn usage(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        let width = screen::width_of(&std::io::stderr()).map_or(usize::MAX, usize::from);
        let text = error.render().to_string();
        let is_wide = |line: &str| line_width(line) > width;
        match text.lines().any(is_wide) || std::env::args_os().any(|arg| arg.to_string_lossy().contains(is_hidden)) {
            // A name among the arguments could move the cursor: without colours all hidden characters can be written out,
            // and lines be broken, among them the indented list of possible values.
            true => {
                let lines = text.lines().map(|line| if is_wide(line) { line.trim_start() } else { line });
                talk::say(format_args!("{}", lines.collect::<Vec<_>>().join("\n")));
            }
            // A closed standard error cannot be reported.
            false => drop(error.print()),
        }
        return INPUT.into();
    }
    code(screen::printed(error.print()))
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
    if let Some(BadInput(complaints)) = error.downcast_ref() {
        return said(complaints, INPUT);
    }
    if let Some(Threshold(failures)) = error.downcast_ref() {
        return said(failures, FAILED);
    }
    if let Some(Stopped(what)) = error.downcast_ref() {
        return said(std::slice::from_ref(what), signals::code());
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
