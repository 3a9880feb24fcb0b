//! The rules from a file and the command line.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use forkcast_sim::cache;
use forkcast_sim::guard::Rules;
use forkcast_sim::pricing::Date;

use crate::args::{RULES, SourceArgs};
use crate::exit::BadInput;

/// The rules of the file, if there is one; options take precedence. Runs have been under the cache rules `of_runs`.
pub fn read(sources: &SourceArgs, of_runs: Option<cache::Rules>) -> anyhow::Result<Rules> {
    let (file, named) = sources.rules_file();
    let base = of_runs.map_or_else(Rules::default, |preset| Rules { preset, ..Rules::default() });
    let mut rules = of_file(file, named, base)?;
    rules.preset = sources.cache.unwrap_or(rules.preset);
    rules.in_tests |= sources.in_tests;
    Ok(rules)
}

/// When the provider's account was created, by the file with rules in the current folder: what some models do with
/// thinking depends on it, whatever verb shows it.
pub fn account_created() -> anyhow::Result<Option<Date>> {
    Ok(of_file(Path::new(RULES), false, Rules::default())?.account_created)
}

fn of_file(file: &Path, named: bool, base: Rules) -> anyhow::Result<Rules> {
    match fs::read_to_string(file) {
        Ok(text) => base.with_toml(&text).map_err(|bad| {
            let file = file.display();
            BadInput::error(format_args!("{file}:{}: found {}, expected {}", bad.line, bad.found, bad.expected))
        }),
        Err(error) if error.kind() == ErrorKind::NotFound && !named => Ok(base),
        Err(error) => Err(BadInput::error(format_args!("--rules {}: {error}", file.display()))),
    }
}
