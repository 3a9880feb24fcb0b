//! No output of a scenario's run repeats its texts except names, and no error does.

use std::path::PathBuf;

use forkcast_scenarios::format::Scenario;

use super::content::{PLANT, leaks};
use super::forms::of_run;
use super::planted::each_value;

/// Fields whose values are in reports of a run: ids of calls and the model. The description of the scenario is too; in
/// it a colon makes a field of several words.
fn is_shown(field: &str) -> bool {
    ["id", "model"].contains(&field) || field.contains(' ')
}

fn scenarios() -> Vec<PathBuf> {
    let catalog = forkcast_fixtures::workspace().join("scenarios/catalog");
    let groups = std::fs::read_dir(catalog).unwrap().map(|group| group.unwrap().path()).filter(|path| path.is_dir());
    let mut files: Vec<PathBuf> =
        groups.flat_map(|group| std::fs::read_dir(group).unwrap().map(|entry| entry.unwrap().path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    files
}

#[test]
fn no_run_and_no_error_repeats_texts_of_a_scenario() {
    let (mut played, mut refused) = (0, 0);
    let mut leaking = Vec::new();
    for fixture in scenarios() {
        for planted in each_value(&fixture, PLANT) {
            let text = String::from_utf8(planted.bytes).unwrap();
            match Scenario::read("scenario", "scenario.yaml", &text, &[]) {
                Err(problems) => {
                    refused += 1;
                    if problems.to_string().contains("xyzzy") {
                        leaking.push(format!("{}: {problems}", planted.place));
                    }
                }
                Ok(scenario) => {
                    played += 1;
                    if let Some(form) = leaks(&of_run(scenario)).filter(|_| !is_shown(&planted.field)) {
                        leaking.push(format!("{} {}: {}", planted.place, planted.field, form.name));
                    }
                }
            }
        }
    }
    assert!(played > 100 && refused > 300, "{played} played, {refused} refused");
    let number = leaking.len();
    leaking.truncate(60);
    assert!(leaking.is_empty(), "{number} of {} leak:\n{}", played + refused, leaking.join("\n"));
}
