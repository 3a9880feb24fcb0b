//! Ctrl-C in the middle of a check or of a lock.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::bodies::{CALM, Turn, body, code, folder, forkcast, stderr};
use crate::program::heeds;

/// Requests of one recording, 60 MB: more than is read before a signal arrives.
const REQUESTS: usize = 3_000;

/// Interrupted work ends within this time.
const PROMPT: Duration = Duration::from_secs(20);

/// A recording that takes long. Requests are independent, so the work does not grow.
fn long_log(place: &Path) {
    let line = format!("{{\"v\":1,\"request\":{}}}\n", body(Turn { steps: 1, ..CALM }));
    fs::write(place.join("log.jsonl"), line.repeat(REQUESTS)).unwrap();
}

/// Runs the program and sends it a signal once it checks the recording; returns its exit code and standard error.
fn interrupted(place: &Path, signal: &str, arguments: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forkcast"));
    command.args(arguments).args(["--progress", "plain"]).current_dir(place);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    said.read_line(&mut first).unwrap();
    assert!(first.contains("checking"), "{first}");
    let start = Instant::now();
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    let status = child.wait().unwrap();
    assert!(start.elapsed() < PROMPT, "{:?}", start.elapsed());
    (status.code().unwrap(), rest)
}

/// All files in a folder except the recording.
fn left(place: &Path) -> Vec<String> {
    let names = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name != "log.jsonl").collect()
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_lock_and_a_check_with_its_code_and_writes_nothing() {
    let place = folder("interrupted");
    long_log(&place);
    let (code_of_lock, said) = interrupted(&place, "-INT", &["lock", "log.jsonl"]);
    assert_eq!(code_of_lock, 130, "{said}");
    assert!(said.contains("interrupted"), "{said}");
    assert_eq!(left(&place), Vec::<String>::new());
    for (signal, expected) in [("-TERM", 143), ("-HUP", 129)].into_iter().filter(|(signal, _)| heeds(signal)) {
        let (code, said) = interrupted(&place, signal, &["lock", "log.jsonl"]);
        assert_eq!(code, expected, "{said}");
        assert_eq!(left(&place), Vec::<String>::new());
    }
    fs::write(place.join("forkcast.lock"), "# Prompt prefixes that were sent, as digests.\nwhat was there\n").unwrap();
    let (code_of_update, said) = interrupted(&place, "-INT", &["check", "log.jsonl", "--update"]);
    assert_eq!(code_of_update, 130, "{said}");
    assert!(said.contains("interrupted"), "{said}");
    assert_eq!(left(&place), ["forkcast.lock"]);
    assert_eq!(
        fs::read_to_string(place.join("forkcast.lock")).unwrap(),
        "# Prompt prefixes that were sent, as digests.\nwhat was there\n"
    );
    fs::remove_file(place.join("log.jsonl")).unwrap();
}

#[test]
fn a_lock_replaces_the_previous_one_and_leaves_no_other_files() {
    let place = folder("replaced");
    fs::write(place.join("one.json"), body(CALM)).unwrap();
    fs::write(
        place.join("forkcast.lock"),
        format!("# Prompt prefixes that were sent, as digests.\n{}", "older\n".repeat(10_000)),
    )
    .unwrap();
    assert_eq!(code(&forkcast(&place, &["lock", "one.json", "-q"])), 0);
    assert!(!fs::read_to_string(place.join("forkcast.lock")).unwrap().contains("older"));
    let mut left = left(&place);
    left.sort();
    assert_eq!(left, ["forkcast.lock", "one.json"]);
    let output = forkcast(&place, &["lock", "one.json", "-o", "absent/my.lock"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("my.lock"), "{}", stderr(&output));
}

#[cfg(unix)]
#[test]
fn a_lock_is_not_written_through_a_link_but_to_a_device() {
    let place = folder("linked");
    fs::write(place.join("one.json"), body(CALM)).unwrap();
    fs::create_dir(place.join("kept")).unwrap();
    let older = "# Prompt prefixes that were sent, as digests.\nolder";
    fs::write(place.join("kept/real.lock"), older).unwrap();
    std::os::unix::fs::symlink("kept/real.lock", place.join("forkcast.lock")).unwrap();
    for arguments in [&["lock", "one.json", "-q"][..], &["check", "one.json", "--update", "-q"]] {
        let output = forkcast(&place, arguments);
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains("forkcast.lock: is a symbolic link"), "{}", stderr(&output));
    }
    assert!(fs::symlink_metadata(place.join("forkcast.lock")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(place.join("kept/real.lock")).unwrap(), older);
    let output = forkcast(&place, &["lock", "one.json", "-o", "/dev/null", "-q"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
}
