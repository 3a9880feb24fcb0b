//! Signals in the middle of work: the first ends the work and keeps its results, the second ends the program.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use super::{FIRST, command, folder, heeds};

/// The number of files of a folder that takes long to read, and of lines in each.
const FILES: usize = 100;
const LINES: usize = 60;

/// A recording in many files, 60 MB. Requests are independent, so the work does not grow.
fn long_recording(place: &Path) {
    let request = FIRST.replace("Go on.", &"Go on with all that was said. ".repeat(350));
    let usage = r#"{"usage":{"input_tokens":9000,"output_tokens":4}}"#;
    let line = format!("{{\"v\":1,\"request\":{request},\"response\":{usage}}}\n");
    fs::create_dir(place.join("logs")).unwrap();
    for file in 0..FILES {
        fs::write(place.join(format!("logs/{file:03}.jsonl")), line.repeat(LINES)).unwrap();
    }
}

fn send(signal: &str, child: &Child) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

/// Runs the program and sends it a signal as soon as it reports that it works; returns the exit code, standard output
/// and standard error.
fn stopped(place: &Path, signal: &str, arguments: &[&str]) -> (i32, String, String) {
    let mut command = command(place, arguments);
    command.args(["--progress", "plain"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut listened = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    while !(first.contains("reading") || first.contains("running")) {
        first.clear();
        assert!(listened.read_line(&mut first).unwrap() > 0);
    }
    send(signal, &child);
    let mut printed = child.stdout.take().unwrap();
    let reader = thread::spawn(move || {
        let mut text = String::new();
        printed.read_to_string(&mut text).unwrap();
        text
    });
    let mut said = String::new();
    listened.read_to_string(&mut said).unwrap();
    (child.wait().unwrap().code().unwrap(), reader.join().unwrap(), said)
}

#[test]
fn computed_results_are_kept_after_every_signal() {
    let place = folder("signals");
    long_recording(&place);
    for signal in ["-INT", "-TERM", "-HUP"].into_iter().filter(|signal| heeds(signal)) {
        let (code, printed, said) = stopped(&place, signal, &["replay", "logs"]);
        assert_eq!(code, 0, "{signal}: {said}");
        assert!(printed.starts_with("Partial, interrupted before the end"), "{signal}: {printed}");
        assert!(said.contains("interrupted, so the result is partial"), "{signal}: {said}");
    }
    let (code, printed, said) = stopped(&place, "-TERM", &["replay", "logs", "--max-cost", "1000", "--format", "json"]);
    assert_eq!(code, 1, "a limit that cannot be checked counts as failed: {said}");
    assert!(said.contains("the replay was interrupted"), "{said}");
    assert!(printed.contains("\"partial\": true"), "{printed}");
    let (code, _, said) = stopped(&place, "-TERM", &["replay", "logs", "--strict"]);
    assert_eq!(code, 2, "{said}");
    fs::remove_dir_all(place.join("logs")).unwrap();
}

#[test]
fn interrupted_runs_fail_their_expectations() {
    let place = folder("signals-run");
    let named = vec!["day/working-day"; 200];
    let (code, _, said) = stopped(&place, "-TERM", &[&["run", "--format", "csv"], &named[..]].concat());
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("interrupted, so its expectations cannot be checked"), "{said}");
}

/// A grid has no limit but `--strict`; its missing rows are a doubt.
#[test]
fn an_interrupted_grid_is_shown_as_partial() {
    let place = folder("signals-grid");
    for (strict, expected) in [(None, 0), (Some("--strict"), 2)] {
        let grid = ["fanout", "--children", "1..100", "--turns", "1..20", "--format", "json"];
        let mut command = command(&place, &grid);
        command.args(strict).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        thread::sleep(SHORT);
        send("-TERM", &child);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(expected), "{said}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("\"is_partial\": true"));
        assert_eq!(said.contains("interrupted, so the result is partial (--strict)"), strict.is_some(), "{said}");
    }
}

/// A program that waits for more standard input until it is closed.
fn waiting(place: &Path, arguments: &[&str]) -> Child {
    let mut command = command(place, arguments);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    thread::sleep(UNTIL_IT_WAITS);
    child
}

const SHORT: Duration = Duration::from_millis(300);

/// Starting takes milliseconds, but several times longer beside other tests on a busy machine.
const UNTIL_IT_WAITS: Duration = Duration::from_millis(1_200);

#[test]
fn the_second_signal_ends_the_program() {
    let place = folder("signals-twice");
    fs::write(place.join("one.json"), FIRST).unwrap();
    let pairs = [("-INT", "-INT", 130), ("-TERM", "-TERM", 143), ("-INT", "-TERM", 143), ("-TERM", "-HUP", 129)];
    for (first, second, code) in pairs.into_iter().filter(|(_, second, _)| heeds(second)) {
        let mut child = waiting(&place, &["replay", "one.json", "-"]);
        send(first, &child);
        thread::sleep(SHORT);
        assert_eq!(child.try_wait().unwrap(), None, "{first}: it should keep what it has read");
        send(second, &child);
        assert_eq!(child.wait().unwrap().code(), Some(code), "{first} {second}");
    }
}

#[test]
fn a_signal_before_any_input_ends_the_program() {
    let place = folder("signals-waiting");
    for arguments in [["replay", "-"], ["check", "-"], ["lock", "-"]] {
        let signals = [("-INT", 130), ("-TERM", 143), ("-HUP", 129)];
        for (signal, code) in signals.into_iter().filter(|(signal, _)| heeds(signal)) {
            let mut child = waiting(&place, &arguments);
            send(signal, &child);
            assert_eq!(child.wait().unwrap().code(), Some(code), "{arguments:?} {signal}");
        }
    }
}
