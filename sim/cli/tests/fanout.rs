//! `forkcast fanout` as its users meet it: the default, grids, nonsense, folders.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may stop at once.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn fanout(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forkcast"));
    command.arg("fanout").args(arguments).env_remove("COLUMNS").output().unwrap()
}

fn said(arguments: &[&str]) -> (i32, String, String) {
    let output = fanout(arguments);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

fn json(arguments: &[&str]) -> Value {
    let (code, stdout, stderr) = said(&[arguments, &["--format", "json"]].concat());
    assert_eq!(code, 0, "{stderr}");
    serde_json::from_str(&stdout).unwrap()
}

/// The worked table of the published example: five children, first turns, cold and warm, burst and primed.
#[test]
fn the_worked_table_is_one_command() {
    let lists = ["--breakpoints", "shared,tail,both", "--parent", "cold,warm", "--launch", "burst,primed"];
    // Reads at a tenth of plain input, as the claim has it.
    let value = json(&[&lists[..], &["--model", "claude-opus-4-8"]].concat());
    let rows = value["rows"].as_array().unwrap();
    let of = |breakpoints: &str| -> Vec<u64> {
        let rows = rows.iter().filter(|row| row["breakpoints"] == breakpoints);
        rows.map(|row| row["token_equivalents"].as_u64().unwrap()).collect()
    };
    assert_eq!(of("shared"), [304_125, 81_025, 39_625, 28_125]);
    assert_eq!(of("tail"), [304_375, 304_375, 39_875, 39_875]);
    assert_eq!(of("both"), [304_375, 81_275, 39_875, 28_375]);
    assert_eq!(rows.len(), 12);
}

#[test]
fn what_makes_no_sense_is_refused_before_any_work_with_exit_code_2() {
    for (arguments, why) in [
        (&["--children", "0"][..], "at least one child"),
        (&["--turns", "0"], "at least one turn"),
        (&["--directive", "0"], "`--directive` must be at least one"),
        (&["--prefix", "0"], "`--prefix` must be at least one"),
        (&["--launch", "stagger=300001"], "longer than entries live"),
        (&["--launch", "stagger=3600001", "--ttl", "1h"], "longer than entries live"),
        (&["--launch", "waves=0"], "waves=N"),
        (&["--children", "1..1000", "--turns", "1..1000", "--prefix", "1k..9k:1k"], "9000000 cells"),
        (&["--children", "1..99999999"], "more than 10,000 numbers"),
        (&["--children", "4000000000"], "1000000 in all"),
        (&["--children", "5000000000"], "more than can be run"),
        (&["--turns", "4000000000"], "1000000 in all"),
        (&["--children", "five"], "no number, list or range"),
        (&["--children", "9..1"], "ends before it begins"),
        (&["--prefix", "18446744073709551615", "--no-window"], "are the most that is played"),
        (&["--growth", "18446744073709551615", "--turns", "2", "--no-window"], "are the most that is played"),
        (&["--output", "18446744073709551615"], "are the most that is played"),
        (&["--output", "3000000000"], "days"),
        (&["--model", "claude-nonsense"], "forkcast list models"),
        (&["--prefix", "2m"], "--no-window"),
        (&["--against", "spawn", "--spawn-brief", "0"], "`--spawn-brief` must be"),
        (&["--spawn-brief", "5"], "--against"),
        (&["--waiting", "6", "--turns", "2"], "6 of 5 children cannot wait"),
        (&["--waiting", "1"], "cannot wait between turns"),
        (&["--answer", "life"], "fork-or-spawn"),
        (&["--answer", "prime", "--model", "claude-3-opus-20240229"], "has no price"),
        (&["--overwrite"], "--out"),
    ] {
        let (code, stdout, stderr) = said(arguments);
        assert_eq!((code, &*stdout), (2, ""), "{arguments:?}: {stderr}");
        assert!(stderr.contains(why), "{arguments:?}: {stderr}");
    }
}

#[test]
fn a_model_without_a_price_keeps_its_tokens_and_says_so() {
    let (code, stdout, stderr) = said(&["--model", "claude-3-opus-20240229", "--format", "csv"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("no price for claude-3-opus"), "{stderr}");
    assert!(stdout.contains("230000"), "{stdout}");
}

/// Beyond the window only who asks for it.
#[test]
fn requests_beyond_the_window_run_where_that_is_asked_for() {
    let value = json(&["--prefix", "2m", "--no-window"]);
    assert_eq!(value["rows"][0]["usage"]["cache_read_input_tokens"], 10_000_000);
}

/// Every question leaves its plot beside the rows; a folder of somebody else is left alone.
#[test]
fn a_folder_holds_rows_answers_and_plots() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fanout");
    drop(fs::remove_dir_all(&place));
    let out = place.to_str().unwrap();
    let small = ["--answer", "all", "--children", "2,3", "--turns", "2,3", "--prefix", "20k", "--out", out];
    for _ in 0..2 {
        let (code, stdout, stderr) = said(&small);
        assert_eq!(code, 0, "{stderr}");
        assert!(stdout.contains("turning point"), "{stdout}");
    }
    for name in
        ["fanout.json", "fanout.csv", "children.svg", "fork-or-spawn.png", "ttl.png", "prime.svg", "look-back.png"]
    {
        assert!(place.join(name).metadata().unwrap().len() > 1_000, "{name}");
    }
    fs::write(place.join("fanout.json"), "{}").unwrap();
    let (code, _, stderr) = said(&small);
    assert_eq!(code, 2, "{stderr}");
}
