//! `forkcast list`.

use forkcast_reports::human::list;

use crate::args::{ListArgs, Listed};
use crate::screen;

/// Runs the verb.
pub fn run(args: &ListArgs) -> anyhow::Result<()> {
    let document = match args.what {
        Listed::Models => list::models(),
        Listed::Prices => list::prices(),
        Listed::Profiles => list::profiles(),
        Listed::Formats => list::formats(),
    };
    screen::document(&document, args.format)
}
