//! The examples in other languages run if their runtimes are installed.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name)
}

/// Runs an example; `None` without its runtime.
fn run(runtime: &[&str], name: &str, arguments: &[&str]) -> Option<Output> {
    let mut command = Command::new(runtime[0]);
    command.args(&runtime[1..]).arg(example(name)).args(arguments);
    command.env("FORKCAST", env!("CARGO_BIN_EXE_forkcast")).output().ok()
}

fn holds(runtime: &[&str], name: &str) {
    let Some(kept) = run(runtime, name, &[]) else { panic!("{runtime:?} went away") };
    let said =
        |output: &Output| String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned();
    assert_eq!(kept.status.code(), Some(0), "{}", said(&kept));
    assert!(said(&kept).contains("the prefix is kept"), "{}", said(&kept));
    let broken = run(runtime, name, &["broken"]).unwrap();
    assert_eq!(broken.status.code(), Some(1), "{}", said(&broken));
    assert!(said(&broken).contains("system_changed at system[0]"), "{}", said(&broken));
}

/// The version of a runtime, as two numbers.
fn version(program: &str) -> Option<(u32, u32)> {
    let output = Command::new(program).arg("--version").output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let number = text.split(|c: char| !c.is_ascii_digit() && c != '.').find(|word| word.contains('.'))?.to_owned();
    let mut parts = number.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

/// Written directly to standard error, because the test harness hides the output of passing tests.
fn skipped(why: &str) {
    drop(writeln!(std::io::stderr(), "SKIPPED: {why}"));
}

#[test]
fn the_python_example_finds_the_moving_byte() {
    match version("python3") {
        Some(version) if version >= (3, 8) => holds(&["python3"], "prefix_check.py"),
        found => skipped(&format!("the Python example needs python3 from 3.8 on; found {found:?}")),
    }
}

#[test]
fn the_typescript_example_finds_the_moving_byte() {
    match (version("node"), version("deno")) {
        (Some(version), _) if version >= (18, 0) => holds(&["node"], "prefix_check.mjs"),
        (_, Some(_)) => holds(&["deno", "run", "-A"], "prefix_check.mjs"),
        (found, None) => skipped(&format!("the TypeScript example needs node from 18 on or deno; found {found:?}")),
    }
}
