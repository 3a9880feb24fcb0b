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
    let path = golden_file(entry);
    if std::env::var_os("FORKCAST_UPDATE").is_some() {
        assert!(std::env::var_os("CI").is_none(), "golden files are never written in CI");
        std::fs::write(&path, &text)?;
    }
    let kept = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    if kept != text {
        return Err(format!("{} keeps another run:\n{}", path.display(), differing(&kept, &text)).into());
    }
    Ok(())
}

/// The first differing line, from both.
fn differing(kept: &str, found: &str) -> String {
    let mut found = found.lines();
    for (number, kept) in kept.lines().enumerate() {
        let found = found.next().unwrap_or("(end)");
        if kept != found {
            return format!("line {}\n  kept:  {kept}\n  found: {found}", number + 1);
        }
    }
    format!("the run continues with: {}", found.next().unwrap_or("nothing"))
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
