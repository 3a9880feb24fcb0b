//! Where an explanation takes its requests from: a run folder, or recordings.

use std::path::Path;

use forkcast_replay::calibrate::calibrate;
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::replay::{Options, SizeSource, Sizing};
use forkcast_reports::folder::reading::{RecordedLine, RunFolder, RunOptions};
use forkcast_reports::report::Entry;
use forkcast_sim::cache::Rules;
use forkcast_sim::pricing::PriceBook;

use crate::args::{self, ExplainArgs};
use crate::exit::BadInput;
use crate::verbs::replay::complaints;

/// Requests with their bodies, and how they were replayed.
pub struct Source {
    /// The recordings.
    pub inputs: Inputs,
    /// How to replay them.
    pub options: Options,
    /// The ledger of the run folder; empty for recordings.
    ledger: Vec<RecordedLine>,
    run: String,
}

impl Source {
    /// What the user named as RUN.
    pub fn find(args: &ExplainArgs) -> anyhow::Result<Self> {
        if RunFolder::is_one(&args.run) { Self::folder(args) } else { Self::recordings(args) }
    }

    fn recordings(args: &ExplainArgs) -> anyhow::Result<Self> {
        let inputs = Inputs::read(&[&args.run], InputFormat::Auto).map_err(BadInput::error)?;
        if inputs.exchanges().next().is_none() {
            let complaints = complaints::of_inputs(&inputs, &forkcast_replay::replay::Replay::default());
            return Err(complaints::or_nothing_read(complaints).into());
        }
        let options = Options { rules: args.cache, ..Options::default() };
        Ok(Self { inputs, options, ledger: Vec::new(), run: args.run.display().to_string() })
    }

    fn folder(args: &ExplainArgs) -> anyhow::Result<Self> {
        let folder = RunFolder::read(&args.run).map_err(BadInput::error)?;
        let run = args.run.display().to_string();
        let inputs = match folder.bodies().map_err(BadInput::error)? {
            Some(inputs) => inputs,
            None => recorded(&run, &folder.options)?,
        };
        let mut options = options(&run, &folder.options, &inputs)?;
        options.rules = args.cache.or(options.rules);
        Ok(Self { inputs, options, ledger: folder.lines, run })
    }

    /// The request must be the one that the run's ledger has under its number.
    pub fn check(&self, entry: &Entry<'_>) -> anyhow::Result<()> {
        if self.ledger.is_empty() {
            return Ok(());
        }
        let index = entry.line.index;
        let same = |line: &RecordedLine| {
            (&line.origin.file, line.origin.index, &line.model)
                == (&entry.origin.file, entry.origin.index, &entry.line.model)
        };
        let found = self.ledger.iter().find(|line| line.index == index);
        if found.is_some_and(same) {
            return Ok(());
        }
        if found.is_none() {
            return Err(BadInput::error(format_args!(
                "{}: request {index} is not in the ledger: the run was made with --since or --until, or the recordings have changed",
                self.run
            )));
        }
        let file = &entry.origin.file;
        Err(BadInput::error(format_args!(
            "{}: request {index} is another than when the run was made: {file} has changed; replay it again, and with --bodies keep the requests",
            self.run
        )))
    }
}

/// The recordings that a run folder names, where it does not hold their bodies.
fn recorded(run: &str, options: &RunOptions) -> anyhow::Result<Inputs> {
    if options.anonymized {
        return Err(BadInput::error(format_args!(
            "{run}: written with --anonymize, so its recordings cannot be found; name them in its place, or replay them with --bodies"
        )));
    }
    if options.paths.is_empty() {
        return Ok(Inputs::sample());
    }
    if options.paths.iter().any(|path| path == "-") {
        return Err(BadInput::error(format_args!(
            "{run}: its recording came from standard input; replay it again with --bodies to keep the requests"
        )));
    }
    let format = options.input_format.parse().map_err(BadInput::error)?;
    Inputs::read(&options.paths, format).map_err(|error| {
        BadInput::error(format_args!(
            "{error}\n  (named in {run}/run.json, from the folder in which `forkcast replay` ran; with --bodies the run needs it no more)"
        ))
    })
}

fn options(run: &str, options: &RunOptions, inputs: &Inputs) -> anyhow::Result<Options> {
    let run_json = Path::new(run).join("run.json");
    let rules = match &options.cache {
        None => None,
        Some(name) => Some(Rules::preset(name).ok_or_else(|| {
            BadInput::error(format_args!("{}: no such preset of cache rules: `{name}`", run_json.display()))
        })?),
    };
    let day = options.prices_of.as_deref().map(args::date).transpose();
    let prices_of = day.map_err(|why| BadInput::error(format_args!("{}: `prices_of`: {why}", run_json.display())))?;
    Ok(Options { rules, book: PriceBook::built_in(), prices_of, sizing: sizing(options, inputs) })
}

/// The sizes of the run, so that its request is explained by the same numbers; a fit is made again.
fn sizing(options: &RunOptions, inputs: &Inputs) -> Sizing {
    let source = SizeSource::ALL.into_iter().find(|source| source.word() == options.sizes).unwrap_or_default();
    Sizing::new(source, options.calibrated.then(|| calibrate(inputs)))
}
