//! Every file of the catalog is a test: its expectations hold, and the run matches its golden file. `FORKCAST_UPDATE=1
//! cargo test -p forkcast-scenarios --test catalog` rewrites the golden files; never in CI.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};

use forkcast_scenarios::catalog::{self, CatalogItem};
use forkcast_scenarios::expect;
use forkcast_scenarios::run::{Options, play};
use libtest_mimic::{Arguments, Failed, Trial};

#[path = "catalog/golden.rs"]
mod golden;

fn golden_file(entry: &CatalogItem) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("catalog/{}.golden", entry.name))
}

fn holds(entry: &CatalogItem) -> Result<(), Failed> {
    let scenario = entry.read(&[]).map_err(|problems| problems.to_string())?;
    let run = play(scenario, &Options::default());
    let failures = expect::failures(&run);
    let text = golden::text(&run);
    if !failures.is_empty() {
        let said: Vec<String> = failures.iter().map(ToString::to_string).collect();
        return Err(format!("{}\n\n{text}", said.join("\n")).into());
    }
    if !run.laws_held() {
        return Err(format!("a law is broken: {:?}\n\n{text}", run.laws).into());
    }
    forkcast_fixtures::golden(&golden_file(entry), &text);
    Ok(())
}

/// A golden file without a scenario is an error.
fn nothing_is_left_over() -> Result<(), Failed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("catalog");
    for group in std::fs::read_dir(root)?.flatten() {
        for file in std::fs::read_dir(group.path())?.flatten() {
            let path = file.path();
            let is_scenario = path.extension().is_some_and(|end| end == "yaml");
            let kept = catalog::all().iter().any(|entry| golden_file(entry) == path);
            if !is_scenario && !kept {
                return Err(format!("{}: belongs to no scenario", path.display()).into());
            }
        }
    }
    Ok(())
}

/// Each scenario and variant is found by its whole name, and without its group.
fn names_are_found() -> Result<(), Failed> {
    for entry in catalog::all() {
        let short = entry.name.rsplit('/').next().unwrap_or_default();
        for name in [short, &entry.name] {
            if catalog::find(name).as_ref() != Some(entry) {
                return Err(format!("{name}: found {:?}", catalog::find(name)).into());
            }
        }
    }
    let unknown = ["E15+", "E15+none", "contract", "contract/", ""].map(catalog::find);
    assert!(unknown.iter().all(Option::is_none), "{unknown:?}");
    Ok(())
}

fn main() {
    let trial = |entry: &'static CatalogItem| Trial::test(&*entry.name, move || holds(entry));
    let mut trials: Vec<Trial> = catalog::all().iter().map(trial).collect();
    trials.push(Trial::test("nothing_is_left_over", nothing_is_left_over));
    trials.push(Trial::test("names_are_found", names_are_found));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
