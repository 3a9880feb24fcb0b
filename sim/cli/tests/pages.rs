//! The program's own documentation: help, completions, manual pages, schemas.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::program::{self, folder};

const VERBS: [&str; 16] = [
    "cast",
    "run",
    "fanout",
    "replay",
    "demo",
    "new",
    "lock",
    "check",
    "diff",
    "compare",
    "report",
    "explain",
    "sweep",
    "list",
    "completions",
    "man",
];

fn forkcast(arguments: &[&str]) -> Output {
    program::forkcast(Path::new("."), arguments)
}

/// The standard output of a successful run.
fn said(arguments: &[&str]) -> String {
    let output = forkcast(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Long options of a verb, as its help lists them.
fn flags(verb: &str) -> Vec<String> {
    let help = said(&[verb, "--help"]);
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with("--") || line.starts_with("-q, --"));
    let flags = lines.filter_map(|line| line.split([' ', ',', '=']).find(|word| word.starts_with("--")));
    flags.map(str::to_owned).collect()
}

#[test]
fn every_verb_has_help_with_examples_that_fits_a_screen() {
    let verbs = said(&["--help"]);
    assert_eq!(said(&["help"]), verbs);
    assert_eq!(said(&["help", "run"]), said(&["run", "--help"]));
    for verb in VERBS {
        assert!(verbs.lines().any(|line| line.trim_start().starts_with(verb)), "{verb}");
        let help = said(&[verb, "--help"]);
        assert!(help.contains("Examples:\n  forkcast"), "{verb}");
        assert!(!flags(verb).is_empty() || ["completions", "sweep"].contains(&verb), "{verb}");
        let (_, examples) = help.split_once("Examples:\n").unwrap();
        for line in examples.lines().take_while(|line| !line.is_empty()) {
            // A comment or the rest of a long command is indented.
            let is_example = line.starts_with("  forkcast ") || line == "  forkcast" || line.starts_with("      ");
            assert!(is_example, "{verb}: an example is broken into lines: {line}");
        }
        for line in help.lines() {
            assert!(line.chars().count() <= 120, "{verb}: {line}");
        }
    }
}

/// Lines of the short help of a verb on a terminal of 80 columns.
const SHORT_LINES_MAX: usize = 25;

#[test]
fn the_short_help_fits_a_small_screen_and_the_long_one_is_whole() {
    let steps = ["plan", "run", "merge", "status"].map(|step| vec!["sweep", step]);
    for verb in VERBS.map(|verb| vec![verb]).into_iter().chain([vec![]]).chain(steps) {
        let help = |flag: &str| {
            let arguments = [&verb[..], &[flag]].concat();
            let output = program::command(Path::new("."), &arguments).env("COLUMNS", "80").output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let [short, long] = ["-h", "--help"].map(help);
        let lines = short.lines().count();
        assert!((5..=SHORT_LINES_MAX).contains(&lines), "{verb:?}: {lines} lines\n{short}");
        assert!(short.lines().all(|line| line.chars().count() <= 80), "{verb:?}: {short}");
        assert!(long.lines().all(|line| line.chars().count() <= 80), "{verb:?}: {long}");
        let (_, examples) = long.split_once("Examples:\n").unwrap();
        let is_broken = |line: &&str| !line.starts_with("  forkcast") && !line.starts_with("      ");
        let broken = examples.lines().take_while(|line| !line.is_empty()).find(is_broken);
        assert_eq!(broken, None, "{verb:?}: an example is broken into lines");
        assert!(long.contains("Examples:") && !short.contains("Examples:"), "{verb:?}: {short}");
    }
    let [short, long] = ["-h", "--help"].map(|flag| said(&["replay", flag]));
    assert!(!short.contains("--price-book") && long.contains("--price-book"), "{short}");
}

/// Values that completions offer.
const VALUES: [&str; 5] = ["markdown", "docs-2026-09", "exchange-log", "project", "schemas"];

#[test]
fn completions_of_every_shell_contain_every_verb_and_option() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = said(&["completions", shell]);
        for verb in VERBS {
            assert!(script.contains(verb), "{shell}: {verb}");
            for flag in flags(verb) {
                assert!(script.contains(flag.trim_start_matches('-')), "{shell}: {verb} {flag}");
            }
        }
        // The generator writes values of options only for these three.
        let values = if ["bash", "zsh", "fish"].contains(&shell) { &VALUES[..] } else { &[] };
        for value in values {
            assert!(script.contains(value), "{shell}: {value}");
        }
    }
}

/// A script that a shell cannot parse would break every new terminal.
#[test]
fn completions_are_valid_scripts() {
    let place = folder("completions");
    for (shell, arguments) in [("bash", ["-n"]), ("zsh", ["-n"]), ("fish", ["--no-execute"])] {
        let script = place.join(shell);
        fs::write(&script, said(&["completions", shell])).unwrap();
        match Command::new(shell).args(arguments).arg(&script).output() {
            Ok(checked) => assert!(checked.status.success(), "{shell}: {}", String::from_utf8_lossy(&checked.stderr)),
            Err(error) => eprintln!("skipped: {shell} cannot be started: {error}"),
        }
    }
}

#[test]
fn manual_pages_contain_every_verb_and_option() {
    let place = folder("man").join("pages");
    let output = forkcast(&["man", "--out", place.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let program = fs::read_to_string(place.join("forkcast.1")).unwrap();
    assert_eq!(program, said(&["man"]));
    assert!(program.contains(".SH EXIT STATUS"));
    for verb in VERBS {
        assert!(program.contains(verb), "{verb}");
        let page = fs::read_to_string(place.join(format!("forkcast-{verb}.1"))).unwrap();
        assert_eq!(page, said(&["man", verb]));
        assert!(page.starts_with(".ie") && page.contains(".SH EXAMPLES"), "{verb}");
        let plain = page.replace("\\-", "-");
        for flag in flags(verb) {
            assert!(plain.contains(&flag), "{verb} {flag}");
        }
    }
    let output = forkcast(&["man", "predict"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("expected one of: "));
}

#[test]
fn schemas_are_written_and_other_files_are_not_touched() {
    let place = folder("schemas").join("all");
    let path = place.to_str().unwrap();
    for _ in 0..2 {
        assert!(said(&["list", "schemas", "--out", path]).contains("forkcast.replay"));
    }
    let schema: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(place.join("replay-1.json")).unwrap()).unwrap();
    assert_eq!(schema["title"], "forkcast.replay/1");
    fs::write(place.join("diff-1.json"), "{}").unwrap();
    let output = forkcast(&["list", "schemas", "--out", path]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("diff-1.json"));
    assert_eq!(fs::read_to_string(place.join("diff-1.json")).unwrap(), "{}");
    let output = forkcast(&["list", "models", "--out", path]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("models cannot be written as files"));
}
