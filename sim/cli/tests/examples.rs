//! Every example in the help of every verb runs as it is shown, with the fixtures of this repository as its files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use forkcast_fixtures::{fixture, workspace};

use crate::program::{self, code, folder, stderr};

/// Verbs and steps with their own help. The program itself has no name.
const VERBS: [&[&str]; 19] = [
    &[],
    &["run"],
    &["fanout"],
    &["sweep"],
    &["sweep", "plan"],
    &["sweep", "run"],
    &["sweep", "merge"],
    &["sweep", "status"],
    &["replay"],
    &["demo"],
    &["cast"],
    &["new"],
    &["lock"],
    &["check"],
    &["diff"],
    &["explain"],
    &["list"],
    &["completions"],
    &["man"],
];

/// Examples that show a failed check or limit: they exit with 1.
const FAILS: [&str; 7] = [
    "forkcast lock bodies/ --review",
    "forkcast check bodies/",
    "forkcast check bodies/ --update",
    "forkcast replay recordings/ --max-cost 5 --min-hit-rate 80%",
    "forkcast check bodies/ --requests-per-day 10000",
    "forkcast check bodies/ --format github",
    "forkcast check session.jsonl --lock none",
];

/// The examples of a help, each as one line without its comment.
fn examples(help: &str) -> Vec<String> {
    let (_, examples) = help.split_once("Examples:\n").unwrap();
    let mut found: Vec<String> = Vec::new();
    for line in examples.lines().take_while(|line| !line.is_empty()) {
        match found.last_mut() {
            Some(last) if last.ends_with('\\') => {
                last.pop();
                last.push_str(line.trim());
            }
            _ if line.starts_with("  forkcast") => found.push(line.trim().to_owned()),
            // The comment of the line before.
            _ => {}
        }
    }
    found.iter().map(|example| example.split("  ").next().unwrap().trim().to_owned()).collect()
}

/// A request body of a small agent whose system prompt is `system`.
fn body(system: &str) -> String {
    format!(
        r#"{{"model":"claude-opus-4-8","max_tokens":9,"system":[{{"type":"text","text":"{system} {}","cache_control":{{"type":"ephemeral"}}}}],"messages":[{{"role":"user","content":"Go on."}}]}}"#,
        "Be brief. ".repeat(2000)
    )
}

/// The files that examples name.
fn furnish(place: &Path) {
    let fixtures = fixture("");
    let read = |path: PathBuf| fs::read_to_string(path).unwrap();
    let write = |name: &str, text: &str| {
        let path = place.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let session = read(fixtures.join("claude-code.jsonl")).replace("5e5510a0", "6c0a10a0");
    let log = read(workspace().join("replay/sample/sample.exchanges.jsonl"));
    let cassette = read(fixtures.join("cassette.yaml"));
    for name in ["session.jsonl", "projects/session.jsonl", "home/.claude/projects/shop/session.jsonl"] {
        write(name, &session);
    }
    for name in ["recordings/log.jsonl", "log.jsonl", "b.jsonl"] {
        write(name, &log);
    }
    for name in ["recordings/session.yaml", "a.yaml"] {
        write(name, &cassette);
    }
    for (name, system) in [("yesterday", "Monday."), ("before", "Monday."), ("a", "Monday.")] {
        write(&format!("{name}.json"), &body(system));
        write("bodies/01.json", &body(system));
    }
    for name in ["today", "after", "b"] {
        write(&format!("{name}.json"), &body("Tuesday."));
    }
    write("bodies/02.json", &body("Tuesday."));
    write("mine.toml", "[[price]]\nmodel = \"mine\"\ninput = 1\nread = 0.1\nwrite_5m = 1.25\noutput = 2\n");
    write("contract.toml", "[[price]]\nmodel = \"claude-opus-4-8\"\ninput = 1\nread = 0.5\noutput = 2\n");
    write("data.json", r#"{"claude-opus-5":{"litellm_provider":"anthropic","input_cost_per_token":5e-06}}"#);
    write("tests/.keep", "");
    for folder in [".config/fish/completions", ".config/elvish", ".zfunc", ".local/share/bash-completion/completions"] {
        fs::create_dir_all(place.join("home").join(folder)).unwrap();
    }
}

/// The command in a shell that finds the program by its name.
fn shell(place: &Path, example: &str) -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_forkcast"));
    let mut path = std::ffi::OsString::from(program.parent().unwrap());
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    // The environment of a user without logs other than those in `home`.
    let plain = program::command(place, &[]);
    let mut command = Command::new("sh");
    command.args(["-c", example]).current_dir(place).stdin(Stdio::null());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    // A scheduler's index of the shard.
    command.env("SLURM_ARRAY_TASK_ID", "0");
    command.env("PATH", path).env("HOME", place.join("home")).env("PROFILE", place.join("profile.ps1"));
    command
}

#[test]
fn every_example_of_the_help_runs() {
    let mut complaints = Vec::new();
    let mut failed = BTreeSet::new();
    let mut count = 0;
    for verb in VERBS {
        let help = program::forkcast(Path::new("."), &[verb, &["--help"]].concat());
        let examples = examples(program::fine(&help));
        assert!(!examples.is_empty(), "{verb:?}");
        let place =
            folder(&format!("examples/{}", if verb.is_empty() { "forkcast".to_owned() } else { verb.join("-") }));
        furnish(&place);
        if verb.first() == Some(&"sweep") && verb.len() == 2 {
            let plan = "forkcast sweep plan fanout --set launch=burst,primed -o plan.json";
            let run = "forkcast sweep run plan.json --out parts";
            let steps = [plan, run];
            for before in &steps[..if verb[1] == "run" { 1 } else { 2 }] {
                assert_eq!(code(&shell(&place, before).output().unwrap()), 0, "{before}");
            }
        }
        for example in examples {
            count += 1;
            // A viewer of manual pages may be missing.
            let command = example.split(" | man").next().unwrap();
            let output = shell(&place, command).output().unwrap();
            match code(&output) {
                0 => {}
                1 if FAILS.contains(&&*example) => {
                    failed.insert(example);
                }
                code => complaints.push(format!("{code}: {example}\n   {}", stderr(&output).trim())),
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert_eq!(failed.len(), FAILS.len(), "{failed:?}");
    assert!(count > 80, "only {count} examples were found");
}
