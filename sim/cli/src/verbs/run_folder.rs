//! A run folder as an input: the requests of `run --out` or `replay --out`, with their agents and instants.

use std::path::Path;

use forkcast_replay::input::{InputFormat, Inputs, ReadOptions};
use forkcast_reports::folder::reading::{Maker, RunFolder, RunOptions};
use forkcast_sim::cache::Rules;

use crate::args::{self, PriceArgs};
use crate::exit::BadInput;

/// A run folder and its requests.
pub struct OpenFolder {
    /// The folder.
    pub folder: RunFolder,
    /// Its requests: those in the folder, else the recordings that it lists.
    pub inputs: Inputs,
}

impl OpenFolder {
    /// The cache rules of the run.
    pub fn rules(&self) -> Option<Rules> {
        Rules::preset(self.folder.options.cache.as_deref()?)
    }
}

/// The named paths that are run folders, opened, and the other ones.
pub struct NamedPaths<'a, P> {
    /// Run folders.
    pub folders: Vec<OpenFolder>,
    /// Everything else.
    pub others: Vec<&'a P>,
}

/// Opens the run folders among `paths`.
///
/// # Errors
/// When one is damaged, or contains no requests.
pub fn sort<P: AsRef<Path>>(paths: &[P]) -> anyhow::Result<NamedPaths<'_, P>> {
    let mut sorted = NamedPaths { folders: Vec::new(), others: Vec::new() };
    for path in paths {
        if RunFolder::is_one(path.as_ref()) {
            sorted.folders.push(open(path.as_ref())?);
        } else {
            sorted.others.push(path);
        }
    }
    Ok(sorted)
}

/// Opens the run folder at `path`.
///
/// # Errors
/// When it is damaged, or contains no requests and lists no recordings that can be found.
pub fn open(path: &Path) -> anyhow::Result<OpenFolder> {
    let folder = RunFolder::read(path).map_err(BadInput::error)?;
    let run = path.display().to_string();
    let inputs = match folder.bodies().map_err(BadInput::error)? {
        Some(inputs) => inputs,
        None if folder.maker == Maker::Run => return Err(without_bodies(&run)),
        None => recorded(&run, &folder.options)?,
    };
    Ok(OpenFolder { folder, inputs })
}

/// The prices of the run in the folder `run`.
///
/// # Errors
/// When its description of them is damaged.
pub fn prices(folder: &RunFolder, run: &str) -> anyhow::Result<PriceArgs> {
    let run_json = Path::new(run).join("run.json");
    let broken = |field: &str, why: &str| BadInput::error(format_args!("{}: `{field}`: {why}", run_json.display()));
    let day = folder.options.prices_of.as_deref().map(args::date).transpose();
    let day = day.map_err(|why| broken("prices_of", &why))?;
    PriceArgs::of_run(day, &folder.book).map_err(|why| broken("price_book", &why))
}

fn without_bodies(run: &str) -> anyhow::Error {
    BadInput::error(format_args!(
        "{run}: a run of a scenario without its requests; run it again with --out {run} --bodies to keep them"
    ))
}

/// The recordings of a run folder, if it does not contain their bodies.
fn recorded(run: &str, options: &RunOptions) -> anyhow::Result<Inputs> {
    if options.anonymized {
        return Err(BadInput::error(format_args!(
            "{run}: written with --anonymize, so its recordings cannot be found; name the recordings instead, or replay them with --bodies"
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
    let format: InputFormat = options.input_format.parse().map_err(BadInput::error)?;
    let reading = ReadOptions::from(format);
    let reading = if options.calibrated { reading.counted() } else { reading };
    Inputs::read_with(&options.paths, &reading, &|_| true).map_err(|error| {
        BadInput::error(format_args!(
            "{error}\n  (named in {run}/run.json, from the folder in which `forkcast replay` ran; with --bodies the run no longer needs it)"
        ))
    })
}
