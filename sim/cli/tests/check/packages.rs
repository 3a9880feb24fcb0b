//! The packages for other languages: their own tests, if the language is installed, with the program of this build. No
//! test needs a network.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use forkcast_fixtures::workspace;
use forkcast_test::Prefix;

use super::bodies::{body, folder, restless};

const PROGRAM: &str = env!("CARGO_BIN_EXE_forkcast");

fn package(name: &str) -> PathBuf {
    workspace().join("sim/cli/packages").join(name)
}

/// The version of a runtime, as two numbers.
fn version(program: &str, flag: &str) -> Option<(u32, u32)> {
    let output = Command::new(program).arg(flag).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let number = text.split(|c: char| !c.is_ascii_digit() && c != '.').find(|word| word.contains('.'))?.to_owned();
    let mut parts = number.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

/// Written directly to standard error, because the test harness hides the output of passing tests.
fn skipped(why: &str) {
    drop(writeln!(std::io::stderr(), "SKIPPED: {why}"));
}

/// Runs a package's tests; gives what they printed.
fn passes(command: &mut Command, language: &str) -> String {
    command.env("FORKCAST_BIN", PROGRAM).env_remove("FORKCAST_UPDATE");
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{printed}");
    for line in printed.lines().filter(|line| line.contains("not installed")) {
        skipped(&format!("{language}: {}", line.trim()));
    }
    printed
}

/// Python with pytest and the SDKs that `.ci/run` installs below `target`, for this version of Python.
fn python() -> Command {
    let mut command = Command::new("python3");
    let tests = package("python").join("tests");
    let (major, minor) = version("python3", "--version").unwrap_or_default();
    let tools = workspace().join(format!("target/tools/python-{major}.{minor}"));
    let path = std::env::join_paths([package("python"), tests.clone(), tools]).unwrap();
    command.current_dir(tests).env("PYTHONPATH", path).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

#[test]
fn the_python_package_passes_its_tests() {
    match version("python3", "--version") {
        Some(version) if version >= (3, 9) => {
            let printed = passes(python().args(["-m", "unittest", "-v"]), "Python");
            assert!(printed.contains("test_a_moving_byte_is_named"), "{printed}");
        }
        found => skipped(&format!("the Python package needs python3 from 3.9 on; found {found:?}")),
    }
}

#[test]
fn the_pytest_plugin_passes_its_tests() {
    let installed = python().args(["-c", "import pytest"]).output().is_ok_and(|output| output.status.success());
    if !installed {
        return skipped("the plugin for pytest needs python3 with pytest");
    }
    let printed = passes(python().args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "test_plugin.py"]), "pytest");
    assert!(printed.contains("2 passed"), "{printed}");
}

#[test]
fn the_npm_package_passes_its_tests() {
    match version("node", "--version") {
        Some(version) if version >= (20, 0) => {
            let tests = ["checking", "installing", "sdks"].map(|name| format!("tests/{name}.test.mjs"));
            let printed = passes(Command::new("node").arg("--test").args(tests).current_dir(package("npm")), "npm");
            assert!(printed.contains("a moving byte is named"), "{printed}");
            assert!(printed.contains("npm installs the program of this platform alone"), "{printed}");
        }
        found => skipped(&format!("the npm package's tests need node from 20 on; found {found:?}")),
    }
}

#[test]
fn the_go_package_passes_its_tests() {
    if version("go", "version").is_none() {
        return skipped("the Go package needs go");
    }
    let mut go = Command::new("go");
    go.args(["test", "-count=1", "-v", "."])
        .current_dir(package("go"))
        .env("GOFLAGS", "-mod=mod")
        .env("GOPROXY", "off");
    let printed = passes(&mut go, "Go");
    assert!(printed.contains("--- PASS: TestAMovingByteIsNamed"), "{printed}");
}

#[test]
fn the_rust_package_names_the_byte_and_keeps_locks() {
    let place = folder("rust-package");
    let lock = place.join("locks/agent.lock");
    let prefix = || Prefix::default().program(PROGRAM).update(false);
    let broken: Vec<String> = restless().map(body).to_vec();
    let kept = [&broken[0], &broken[0]];
    prefix().check(&kept).unwrap();
    let report = prefix().check(&broken).unwrap_err();
    assert!(report.contains("system_changed"), "{report}");
    assert!(report.contains("first differing byte"), "{report}");
    assert!(prefix().option("--no-such").check(&kept).unwrap_err().starts_with("not checked: "));
    assert!(prefix().lock(&lock).check(&kept).unwrap_err().contains("FORKCAST_UPDATE=1 writes it"));
    prefix().lock(&lock).update(true).check(&kept).unwrap();
    prefix().lock(&lock).check(&kept).unwrap();
    let other = [&broken[2]];
    let report = prefix().lock(&lock).check(&other).unwrap_err();
    assert!(report.contains("against the lock"), "{report}");
}

#[test]
fn the_packages_have_the_version_of_the_program() {
    let version = concat!("\"version\": \"", env!("CARGO_PKG_VERSION"), "\"");
    assert!(fs::read_to_string(package("npm").join("package.json")).unwrap().contains(version));
}
