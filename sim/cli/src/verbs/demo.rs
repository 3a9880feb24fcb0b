//! `forkcast demo`.

use crate::args::DemoArgs;
use crate::exit::BadInput;
use crate::verbs::replay;

/// Runs the verb.
pub fn run(args: &DemoArgs) -> anyhow::Result<()> {
    match args.replay.paths.first() {
        Some(path) => {
            let path = path.display();
            Err(BadInput::error(format_args!(
                "{path}: demo shows the embedded sample; forkcast replay {path} reads this"
            )))
        }
        None => replay::run(&args.replay),
    }
}
