//! Breaks behaviours and runs the scenarios that claim them: `cargo run -p forkcast-sim --example claims [ID …]`.
//!
//! Each edit of `sim/coverage/breaks.toml` is made in the source and undone after its run. A scenario that passes although
//! a behaviour of its `covers:` is broken claims too much. `FORKCAST_CARGO` names another program than `cargo`.

#![allow(clippy::expect_used, clippy::panic, clippy::disallowed_methods)] // For developers: it may stop, and edits files.

#[path = "../tests/coverage/breaks.rs"]
mod breaks;
#[path = "../tests/coverage/listing.rs"]
#[allow(dead_code)] // It is used for other lists too.
mod listing;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use breaks::Break;

/// Undoes an edit, whatever happens.
struct Edited {
    file: PathBuf,
    before: String,
}

impl Edited {
    fn of(edit: &Break) -> Self {
        let file = breaks::root().join(&edit.file);
        let before = std::fs::read_to_string(&file).expect("a source file");
        std::fs::write(&file, before.replacen(&edit.old, &edit.new, 1)).expect("a source file");
        Self { file, before }
    }
}

impl Drop for Edited {
    fn drop(&mut self) {
        std::fs::write(&self.file, &self.before).expect("a source file");
    }
}

/// Runs the catalog's files with this name; returns whether all pass, or that nothing compiles.
fn passes(scenario: &str) -> Result<bool, String> {
    let cargo = std::env::var("FORKCAST_CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(cargo);
    command.args(["test", "-p", "forkcast-scenarios", "--test", "catalog", "--", scenario]);
    let output = command.current_dir(breaks::root()).output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("could not compile") {
        Err("the edit does not compile".to_owned())
    } else {
        Ok(output.status.success())
    }
}

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let all = listing::all();
    let mut untrue = 0;
    for edit in breaks::all() {
        if !wanted.is_empty() && !edit.ids.iter().any(|id| wanted.contains(id)) {
            continue;
        }
        let held_by = edit.ids.iter().filter_map(|id| all.get(id)).flat_map(|behaviour| &behaviour.held_by);
        let scenarios: BTreeSet<&str> =
            held_by.filter_map(|by| by.strip_prefix("scenarios/catalog/")?.strip_suffix(".yaml")).collect();
        let _edited = Edited::of(&edit);
        for scenario in scenarios {
            let found = match passes(scenario) {
                Ok(false) => "fails",
                Ok(true) => "PASSES",
                Err(why) => panic!("{}: {why}", edit.file),
            };
            untrue += u32::from(found == "PASSES");
            println!("{}: {scenario} {found}", edit.ids.join(", "));
        }
    }
    println!("{untrue} claims that do not fail");
    ExitCode::from(u8::from(untrue > 0))
}
