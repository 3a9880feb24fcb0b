//! `forkcast cast`.

use std::path::Path;

use forkcast_replay::output::file::{self, Kind};
use forkcast_scenarios::cast::Cast;
use forkcast_scenarios::cast::otherwise::Otherwise;

use crate::args::CastArgs;
use crate::exit::BadInput;
use crate::screen;
use crate::verbs::recording::{RecordedCast, Recordings};

/// Runs the verb.
pub fn run(args: &CastArgs) -> anyhow::Result<()> {
    let recordings = Recordings::read(&args.path)?;
    let casts = recordings.casts(args.session.as_deref(), args.content, &Otherwise::default(), &args.talk)?;
    let [RecordedCast { cast, .. }] = &casts[..] else {
        let ids: Vec<&str> = casts.iter().map(|recorded| &*recorded.cast.name).take(10).collect();
        let count = casts.len();
        let path = args.path.display();
        return Err(BadInput::error(format_args!("{path}: has {count} sessions; add --session: {}", ids.join(", "))));
    };
    let text = cast.yaml();
    match &args.out {
        None => screen::print(|target| target.write_all(text.as_bytes())),
        Some(out) => write(args, cast, out, &text),
    }
}

fn write(args: &CastArgs, cast: &Cast, out: &Path, text: &str) -> anyhow::Result<()> {
    let kind = Kind { name: "scenario", is_ours: |_| false };
    let name = out.display();
    if out.symlink_metadata().is_ok() {
        return Err(BadInput::error(format_args!("{name}: already exists and is not replaced; use another name")));
    }
    file::write(out, kind, text.as_bytes()).map_err(BadInput::error)?;
    let answers = cast.takes.len();
    args.talk.note(format_args!("forkcast: wrote {name}, {answers} recorded answers; forkcast run {name} runs it"));
    Ok(())
}
