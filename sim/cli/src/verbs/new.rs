//! `forkcast new`.

use forkcast_replay::output::file::{self, Kind};
use forkcast_scenarios::catalog::STARTER;

use crate::args::NewArgs;
use crate::exit::BadInput;

/// Runs the verb.
pub fn run(args: &NewArgs) -> anyhow::Result<()> {
    let mut path = args.name.clone();
    if path.extension().is_none() {
        path.set_extension("yaml");
    }
    let name = path.display();
    if path.symlink_metadata().is_ok() {
        return Err(BadInput::error(format_args!("{name}: already exists and is not replaced; use another name")));
    }
    let kind = Kind { name: "scenario", is_ours: |_| false };
    let text = STARTER.replace("my.yaml", &name.to_string());
    file::write(&path, kind, text.as_bytes()).map_err(BadInput::error)?;
    args.talk.note(format_args!("forkcast: wrote {name}; forkcast run {name} runs it"));
    Ok(())
}
