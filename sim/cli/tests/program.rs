//! The program under test, run in its own folders.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use forkcast_fixtures::{emptied, workspace};
use serde_json::Value;

/// Variables that move the logs of clients.
const PLACES: [&str; 7] = [
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "PI_CODING_AGENT_DIR",
    "GEMINI_CLI_HOME",
    "COPILOT_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// 2026-11-24: a day on which the built-in prices are not old.
const FRESH: &str = "1795478400";

/// The program for a user without logs: this machine may have some.
pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forkcast"));
    command.args(arguments).current_dir(folder).env_remove("NO_COLOR").env_remove("COLUMNS").env("TZ", "UTC");
    for place in PLACES {
        command.env_remove(place);
    }
    command.env("HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/no-logs-here"));
    command.env("SOURCE_DATE_EPOCH", FRESH);
    command
}

pub fn forkcast(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).stdin(Stdio::null()).output().unwrap()
}

/// An empty folder that no other test uses.
pub fn folder(name: &str) -> PathBuf {
    emptied(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name))
}

/// All files below a folder with their content.
pub fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let name = |path: &Path| path.strip_prefix(folder).unwrap().display().to_string();
    forkcast_fixtures::files(folder).iter().map(|path| (name(path), fs::read(path).unwrap())).collect()
}

/// Whether the program heeds a signal, `-TERM`: under `nohup` it ignores SIGHUP, as these tests then do.
pub fn heeds(signal: &str) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap());
    // Signal 1 is SIGHUP.
    let heeds = signal != "-HUP" || ignored & 1 == 0;
    if !heeds {
        eprintln!("skipped: SIGHUP is ignored here, as under `nohup`");
    }
    heeds
}

pub fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

pub fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

pub fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// Exit code, standard output, standard error.
pub fn said(output: &Output) -> (i32, &str, &str) {
    (code(output), stdout(output), stderr(output))
}

/// The standard output of a successful run.
pub fn fine(output: &Output) -> &str {
    assert_eq!(code(output), 0, "{}", stderr(output));
    stdout(output)
}

pub fn json(output: &Output) -> Value {
    serde_json::from_str(fine(output)).unwrap()
}

/// Compares with the golden file of that name, or writes it.
pub fn golden(name: &str, found: &str) {
    forkcast_fixtures::golden(&workspace().join("sim/cli/tests/golden").join(name), found);
}
