//! The action and the hook call the program with existing verbs and options.

use std::fs;
use std::path::Path;
use std::process::Command;

use forkcast_fixtures::workspace;

use super::bodies::{CALM, folder, forkcast, restless, stdout, write};

/// The script of the action's step with this name.
fn script(step: &str) -> String {
    let action = fs::read_to_string(workspace().join(".github/actions/prefix-check/action.yml")).unwrap();
    let (_, step) = action.split_once(&format!("- name: {step}\n")).unwrap();
    let (_, script) = step.split_once("run: |\n").unwrap();
    let lines = script.lines().map_while(|line| line.strip_prefix("        "));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(unix)]
fn act(place: &Path, inputs: &[(&str, &str)]) -> (i32, String) {
    let mut command = Command::new("bash");
    command.arg("-c").arg(script("Check")).current_dir(place);
    for name in ["LOCK", "RULES", "REQUESTS_PER_DAY", "OPTIONS", "SARIF"] {
        command.env(name, "");
    }
    command.env("PROGRAM", env!("CARGO_BIN_EXE_forkcast")).env("BUILT", "/nowhere");
    command.env("GITHUB_OUTPUT", place.join("output")).env("GITHUB_STEP_SUMMARY", place.join("summary"));
    let output = command.envs(inputs.iter().copied()).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

#[cfg(unix)]
#[test]
fn the_action_annotates_and_fails() {
    let place = folder("action");
    write(&place.join("bodies"), &restless());
    let inputs = [
        ("PATHS", "bodies"),
        ("LOCK", "none"),
        ("SARIF", "found.sarif"),
        ("REQUESTS_PER_DAY", "500"),
        ("OPTIONS", "--discount 10"),
    ];
    let (code, told) = act(&place, &inputs);
    assert_eq!(code, 1, "{told}");
    assert!(told.contains("::error file=bodies/002.json"), "{told}");
    assert!(told.contains("per day with 500 such requests"), "{told}");
    assert_eq!(fs::read_to_string(place.join("output")).unwrap(), "passed=false\n");
    assert!(fs::read_to_string(place.join("found.sarif")).unwrap().contains("2.1.0"));
    assert!(fs::read_to_string(place.join("summary")).unwrap().contains("system_changed"));
}

#[cfg(unix)]
#[test]
fn the_action_passes_and_inputs_are_not_executed() {
    let place = folder("action-calm");
    write(&place.join("bodies"), &[CALM; 3]);
    let (code, told) = act(&place, &[("PATHS", "bodies"), ("LOCK", "none")]);
    assert_eq!(code, 0, "{told}");
    assert_eq!(fs::read_to_string(place.join("output")).unwrap(), "passed=true\n");
    let (code, _) = act(&place, &[("PATHS", "$(touch planted) `touch planted` ;touch planted"), ("LOCK", "none")]);
    assert_eq!(code, 2);
    assert!(!place.join("planted").exists());
}

/// The program that the action finds, with `PATH` and `node_modules` of this folder.
#[cfg(unix)]
fn installed(place: &Path, named: &str) -> String {
    let output = place.join("installed");
    drop(fs::remove_file(&output));
    let mut command = Command::new("/bin/bash");
    command.args(["-e", "-c"]).arg(script("An installed program")).current_dir(place);
    command.env("PATH", place.join("bin")).env("PROGRAM", named).env("GITHUB_OUTPUT", &output);
    assert!(command.status().unwrap().success());
    fs::read_to_string(output).unwrap()
}

#[cfg(unix)]
#[test]
fn the_action_takes_an_installed_program() {
    let place = folder("action-installed");
    let program = |folder: &str| {
        fs::create_dir_all(place.join(folder)).unwrap();
        let file = place.join(folder).join("forkcast");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_forkcast"), &file).unwrap();
        format!("program={}\n", file.display())
    };
    assert_eq!(installed(&place, ""), "program=\n");
    let module = program("node_modules/.bin");
    assert_eq!(installed(&place, ""), module);
    let wheel = program("bin");
    assert_eq!(installed(&place, ""), wheel);
    assert_eq!(installed(&place, "mine"), "program=mine\n");
}

#[test]
fn the_hook_uses_an_existing_verb_and_options() {
    let hook = fs::read_to_string(workspace().join(".pre-commit-hooks.yaml")).unwrap();
    let entry = hook.lines().find_map(|line| line.trim().strip_prefix("entry: forkcast ")).unwrap();
    let arguments: Vec<&str> = entry.split(' ').collect();
    let help = forkcast(&folder("hook"), &[arguments[0], "--help"]);
    for option in &arguments[1..] {
        assert!(stdout(&help).contains(option), "{option}");
    }
}
