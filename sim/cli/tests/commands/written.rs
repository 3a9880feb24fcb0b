//! Output files: no file of the user is lost, and every output is complete or absent.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use super::{FIRST, SECOND, code, command, folder, forkcast, stderr, stdout};
use crate::program::files;

/// A log with this many requests.
fn log(place: &Path, name: &str, requests: usize) {
    let lines: String = (0..requests)
        .map(|index| {
            let body = if index % 2 == 0 { FIRST } else { SECOND };
            format!("{}\n", body.replace("Go on.", &format!("Go on with {name} {index}.")))
        })
        .collect();
    fs::create_dir_all(place).unwrap();
    fs::write(place.join(format!("{name}.jsonl")), lines).unwrap();
}

#[test]
fn inputs_and_other_files_in_the_output_folder_stay() {
    let place = folder("written-among");
    fs::create_dir_all(place.join("bodies")).unwrap();
    let own =
        [("bodies/01.json", FIRST), ("bodies/02.json", SECOND), ("bodies/precious.txt", "precious"), ("a.txt", "a")];
    own.iter().for_each(|(name, text)| fs::write(place.join(name), text).unwrap());
    let output = forkcast(&place, &["replay", "bodies", "--out", ".", "--overwrite", "--bodies", "-q"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let found = files(&place);
    for (name, text) in own {
        assert_eq!(found.get(name).map(Vec::as_slice), Some(text.as_bytes()), "{name}");
    }
    assert!(found.contains_key("bodies/00001.json") && found.contains_key("run.json"), "{:?}", found.keys());
    // The bodies written there are now part of the input and would be replaced.
    let output = forkcast(&place, &["replay", "bodies", "--out", ".", "--overwrite", "--bodies", "-q"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("bodies: this input is part of the older result"), "{}", stderr(&output));
    assert_eq!(files(&place), found);
    // Without --overwrite, in our own folder: our stale bodies are removed, other files are not.
    let output = forkcast(&place, &["replay", "bodies/01.json", "--out", ".", "--bodies", "-q"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let found = files(&place);
    assert!(own.iter().all(|(name, _)| found.contains_key(*name)), "{:?}", found.keys());
    assert!(found.contains_key("bodies/00000.json") && !found.contains_key("bodies/00001.json"), "{:?}", found.keys());
}

/// Earlier versions wrote no manifest.
#[test]
fn a_folder_of_an_earlier_version_is_ours_except_its_bodies() {
    let place = folder("written-earlier");
    assert_eq!(code(&forkcast(&place, &["run", "--out", "old", "--bodies", "-q"])), 0);
    fs::remove_file(place.join("old/manifest.json")).unwrap();
    let before = files(&place);
    let output = forkcast(&place, &["run", "--out", "old", "--bodies", "-q"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains(".json: exists and is not listed as ours"), "{}", stderr(&output));
    assert_eq!(files(&place), before);
    assert_eq!(code(&forkcast(&place, &["replay", "--out", "old", "-q"])), 0);
    let found = files(&place);
    assert!(found.contains_key("old/bodies/00000.json") && !found.contains_key("old/ribbon.svg"), "{:?}", found.keys());
}

#[test]
fn no_output_option_replaces_a_file_that_is_not_ours() {
    let place = folder("written-over");
    fs::write(place.join("one.json"), FIRST).unwrap();
    let names = ["package.json", "prices.toml", "forkcast-replay.1", "replay-1.json", "sweep.json", "sweep.csv"];
    names.iter().for_each(|name| fs::write(place.join(name), "{\"name\": \"mine\"}\n").unwrap());
    assert_eq!(code(&forkcast(&place, &["sweep", "plan", "fanout", "--set", "children=1,2", "-o", "plan", "-q"])), 0);
    assert_eq!(code(&forkcast(&place, &["sweep", "run", "plan", "--out", ".", "-q"])), 0);
    let cases: [(&[&str], &str); 7] = [
        (&["lock", "one.json", "-o", "package.json"], "package.json: exists and is no lock of forkcast"),
        (&["check", "one.json", "--lock", "package.json", "--update"], "package.json: exists and is no lock"),
        (
            &["sweep", "plan", "fanout", "--set", "children=1", "-o", "package.json"],
            "package.json: exists and is no plan",
        ),
        (&["sweep", "merge", "plan", "--out", "."], "sweep.json: exists and is no sweep"),
        (&["list", "prices", "--out", "."], "prices.toml: exists and is no price book"),
        (&["list", "schemas", "--out", "."], "replay-1.json: exists and is no schema"),
        (&["man", "--out", "."], "forkcast-replay.1: exists and is no manual page"),
    ];
    for (arguments, says) in cases {
        let output = forkcast(&place, arguments);
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(stderr(&output).contains(says), "{arguments:?}: {}", stderr(&output));
    }
    for name in names {
        assert_eq!(fs::read_to_string(place.join(name)).unwrap(), "{\"name\": \"mine\"}\n", "{name}");
    }
    // Our own files and empty files are replaced.
    fs::write(place.join("mine.lock"), "").unwrap();
    for arguments in [
        &["lock", "one.json", "-o", "mine.lock"][..],
        &["lock", "one.json", "-o", "mine.lock"],
        &["check", "one.json", "--lock", "mine.lock", "--update"],
        &["sweep", "plan", "fanout", "--set", "children=1", "-o", "plan"],
        &["man", "--out", "pages"],
        &["man", "--out", "pages"],
    ] {
        let output = forkcast(&place, arguments);
        assert_eq!(code(&output), 0, "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn a_missing_folder_of_an_output_is_named_before_the_work() {
    let place = folder("written-nowhere");
    fs::write(place.join("one.json"), FIRST).unwrap();
    for arguments in [
        &["lock", "one.json", "-o", "tests/agent.lock"][..],
        &["new", "tests/day"],
        &["demo", "--html", "tests/page.html"],
        &["sweep", "plan", "fanout", "--set", "children=1", "-o", "tests/plan"],
    ] {
        let output = forkcast(&place, arguments);
        assert_eq!((code(&output), output.stdout.as_slice()), (2, &b""[..]), "{arguments:?}");
        assert!(stderr(&output).contains(": its folder `tests` does not exist"), "{arguments:?}: {}", stderr(&output));
    }
}

/// Runs the program from a shell, after a command of the shell.
#[cfg(unix)]
fn shell(place: &Path, before: &str, line: &str) -> Output {
    let script = format!("{before}; exec \"$0\" {line}");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_forkcast")]).current_dir(place).stdin(Stdio::null());
    command.output().unwrap()
}

/// A limit on file sizes simulates a full disk; standard output is a pipe and has no limit.
#[cfg(unix)]
#[test]
fn a_full_disk_is_bad_input_and_the_report_is_printed() {
    let place = folder("written-full");
    log(&place, "log", 40);
    let full = "trap '' XFSZ; ulimit -f 4";
    for (verb, wanted) in [
        ("replay log.jsonl", "requests · 1 recording"),
        ("run", "forks/fan-out"),
        ("fanout --children 2,4,8", "children"),
    ] {
        let out = verb.split(' ').next().unwrap();
        assert_eq!(code(&forkcast(&place, &["run", "E15", "--out", out, "-q"])), 0);
        let before = files(&place);
        let output = shell(&place, full, &format!("{verb} --out {out} -q"));
        assert_eq!(code(&output), 2, "{verb}: {}", stderr(&output));
        assert!(stdout(&output).contains(wanted), "{verb}: {}", stdout(&output));
        assert!(
            stderr(&output).contains(&format!("{out}/")) && !stderr(&output).contains(".forkcast"),
            "{}",
            stderr(&output)
        );
        assert_eq!(files(&place), before, "{verb}: the folder is unchanged");
    }
}

#[cfg(unix)]
#[test]
fn files_and_folders_follow_the_umask() {
    use std::os::unix::fs::PermissionsExt;
    let place = folder("written-modes");
    fs::write(place.join("one.json"), FIRST).unwrap();
    for line in [
        "lock one.json -q",
        "replay one.json --out out --bodies -q",
        "sweep plan fanout --set children=1,2 -o plan.json -q",
        "sweep run plan.json --out parts -q",
        "sweep merge plan.json --out parts -q",
        "list schemas --out schemas -q",
    ] {
        let output = shell(&place, "umask 027", line);
        assert_eq!(code(&output), 0, "{line}: {}", stderr(&output));
    }
    let mode = |name: &str| fs::metadata(place.join(name)).unwrap().permissions().mode() & 0o777;
    for name in files(&place).keys().filter(|name| *name != "one.json") {
        assert_eq!(mode(name), 0o640, "{name}");
    }
    for name in ["out", "out/bodies", "parts", "schemas"] {
        assert_eq!(mode(name), 0o750, "{name}");
    }
}

/// Kills the real program at various moments, and runs several at once.
#[test]
fn killed_or_concurrent_runs_leave_one_complete_result() {
    let place = folder("written-killed");
    let arguments = |name: &'static str| ["replay", name, "--out", "out", "--bodies", "-q"];
    let whole = |name: &'static str| {
        assert_eq!(code(&forkcast(&place, &arguments(name))), 0);
        files(&place.join("out"))
    };
    log(&place, "one", 30);
    log(&place, "two", 20);
    let results = [whole("two.jsonl"), whole("one.jsonl")];
    for round in 0..24 {
        let mut child =
            command(&place, &arguments(["two.jsonl", "one.jsonl"][round % 2])).stdout(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(round as u64 * 12));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(results.contains(&files(&place.join("out"))), "round {round}");
    }
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let mut command = command(&place, &arguments(["two.jsonl", "one.jsonl"][writer % 2]));
            command.stdout(Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    assert!(results.contains(&files(&place.join("out"))));
    assert_eq!(whole("two.jsonl"), results[0]);
    let left: Vec<_> = fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");
}
