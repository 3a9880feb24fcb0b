//! The rules from a file and the command line.

use std::fs;
use std::io::ErrorKind;

use forkcast_sim::cache;
use forkcast_sim::guard::Rules;

use crate::args::SourceArgs;
use crate::exit::BadInput;

/// The rules of the file, if there is one; options take precedence. Runs have been under the cache rules `of_runs`.
pub fn read(sources: &SourceArgs, of_runs: Option<cache::Rules>) -> anyhow::Result<Rules> {
    let (file, named) = sources.rules_file();
    let base = of_runs.map_or_else(Rules::default, |preset| Rules { preset, ..Rules::default() });
    let mut rules = match fs::read_to_string(file) {
        Ok(text) => base.with_toml(&text).map_err(|bad| {
            BadInput::error(format_args!(
                "{}:{}: found {}, expected {}",
                file.display(),
                bad.line,
                bad.found,
                bad.expected
            ))
        })?,
        Err(error) if error.kind() == ErrorKind::NotFound && !named => base,
        Err(error) => return Err(BadInput::error(format_args!("--rules {}: {error}", file.display()))),
    };
    rules.preset = sources.cache.unwrap_or(rules.preset);
    rules.in_tests |= sources.in_tests;
    Ok(rules)
}
