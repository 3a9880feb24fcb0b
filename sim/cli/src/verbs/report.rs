//! `forkcast report`.

use forkcast_reports::folder::reading::RunFolder;

use crate::args::ReportArgs;
use crate::exit::BadInput;
use crate::verbs::replay;

/// Runs the verb.
pub fn run(args: &ReportArgs) -> anyhow::Result<()> {
    if let Some(other) = args.folders.iter().find(|folder| !RunFolder::is_one(folder)) {
        let name = other.display();
        return Err(BadInput::error(format_args!(
            "{name}: expected a folder that `replay --out` or `run --out` wrote; `replay {name} --html FILE` reads recordings"
        )));
    }
    replay::run(&args.replay())
}
