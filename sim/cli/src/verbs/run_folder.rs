//! A run folder as an input: the requests of `run --out` or `replay --out`, with their agents and instants.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use forkcast_replay::error::Error;
use forkcast_replay::input::{InputFormat, Inputs, Progress, ReadOptions};
use forkcast_reports::folder::reading::{Maker, RunFolder, RunOptions};
use forkcast_sim::cache::Rules;

use crate::args::{self, PriceArgs};
use crate::exit::BadInput;

/// Is called with the progress of reading, and returns whether to continue.
type Watch<'a> = &'a (dyn Fn(Progress) -> bool + Sync);

/// A run folder and its requests.
pub struct OpenFolder {
    /// The folder.
    pub folder: RunFolder,
    /// Its requests: those in the folder, else the recordings that it lists.
    pub inputs: Inputs,
}

impl OpenFolder {
    /// The cache rules of the run; `None` if they depended on the day of each recording.
    ///
    /// # Errors
    /// When no rules have their name.
    pub fn rules(&self) -> anyhow::Result<Option<Rules>> {
        let named = self.folder.options.cache.as_deref().map(|name| {
            Rules::preset(name).ok_or_else(|| self.broken(&format_args!("unknown preset of cache rules: `{name}`")))
        });
        named.transpose()
    }

    /// The prices of the run.
    ///
    /// # Errors
    /// When its description of them is damaged.
    pub fn prices(&self) -> anyhow::Result<PriceArgs> {
        let day = self.folder.options.prices_of.as_deref().map(args::date).transpose();
        let day = day.map_err(|why| self.broken(&format_args!("`prices_of`: {why}")))?;
        PriceArgs::of_run(day, &self.folder.book).map_err(|why| self.broken(&format_args!("`price_book`: {why}")))
    }

    /// An error in its `run.json`.
    pub fn broken(&self, why: &dyn Display) -> anyhow::Error {
        BadInput::error(format_args!("{}: {why}", self.folder.path.join("run.json").display()))
    }
}

/// The named paths that are run folders, opened, and the other ones.
pub struct NamedPaths<'a, P> {
    /// Run folders.
    pub folders: Vec<OpenFolder>,
    /// Everything else.
    pub others: Vec<&'a P>,
}

impl<P: AsRef<Path>> NamedPaths<'_, P> {
    /// Refuses a format for run folders, which have their own.
    ///
    /// # Errors
    /// When one is named and `format` is no choice by content.
    pub fn are_in(self, format: InputFormat) -> anyhow::Result<Self> {
        match self.folders.first().filter(|_| format != InputFormat::Auto) {
            None => Ok(self),
            Some(opened) => Err(BadInput::error(format_args!(
                "{}: a run folder, which has a format of its own; leave out --input-format",
                opened.folder.path.display()
            ))),
        }
    }

    /// The requests of all paths, those of run folders last. Transcripts that run folders list are read again, together: what
    /// sessions share, and which answers are copies, shows in all of them.
    ///
    /// # Errors
    /// When a path cannot be opened, or a folder among several paths was made from transcripts of a named format.
    pub fn read(mut self, options: &ReadOptions, watch: Watch<'_>) -> anyhow::Result<Inputs> {
        if self.others.is_empty() && self.folders.len() == 1 {
            return Ok(self.folders.remove(0).inputs);
        }
        let has_transcripts = |opened: &OpenFolder| !opened.inputs.sessions.is_empty();
        let (listing, mut folders): (Vec<_>, Vec<_>) = self.folders.into_iter().partition(has_transcripts);
        let mut paths: Vec<PathBuf> = self.others.iter().map(|path| path.as_ref().to_owned()).collect();
        for opened in listing {
            let RunOptions { paths: listed, input_format, .. } = &opened.folder.options;
            let format: InputFormat = input_format.parse().map_err(BadInput::error)?;
            if format != InputFormat::Auto {
                let path = opened.folder.path.display();
                return Err(BadInput::error(format_args!(
                    "{path}: was made with --input-format {input_format}; replay it alone, or name the transcripts instead"
                )));
            }
            let found = sort_by(listed, self::listed)?;
            folders.extend(found.folders);
            paths.extend(found.others.into_iter().map(PathBuf::from));
        }
        let inputs = Inputs::read_with(&paths, options, watch);
        let mut inputs = inputs.map_err(|error| match error {
            Error::Open { .. } => BadInput::error(error),
            other => other.into(),
        })?;
        folders.into_iter().for_each(|opened| inputs.add(opened.inputs));
        Ok(inputs)
    }

    /// The rules of the runs, if all named paths are run folders with the same rules.
    ///
    /// # Errors
    /// When the rules of a run are unknown.
    pub fn rules(&self) -> anyhow::Result<Option<Rules>> {
        let rules = self.folders.iter().map(OpenFolder::rules).collect::<anyhow::Result<Vec<_>>>()?;
        let first = rules.first().copied().flatten().filter(|_| self.others.is_empty());
        Ok(first.filter(|first| rules.iter().all(|rules| rules.is_some_and(|rules| rules.name == first.name))))
    }

    /// The prices of the run, if its folder is the only path and no others were `given`.
    ///
    /// # Errors
    /// When the folder's description of them is damaged.
    pub fn prices(&self, given: &PriceArgs) -> anyhow::Result<Option<PriceArgs>> {
        match &self.folders[..] {
            [open] if self.others.is_empty() && !given.is_given() => open.prices().map(Some),
            _ => Ok(None),
        }
    }
}

/// Opens the run folders among `paths`.
///
/// # Errors
/// When one is damaged, or contains no requests.
pub fn sort<'a, P: AsRef<Path>>(paths: impl IntoIterator<Item = &'a P>) -> anyhow::Result<NamedPaths<'a, P>> {
    sort_by(paths, open)
}

fn sort_by<'a, P: AsRef<Path>>(
    paths: impl IntoIterator<Item = &'a P>,
    open: impl Fn(&Path) -> anyhow::Result<OpenFolder>,
) -> anyhow::Result<NamedPaths<'a, P>> {
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
    let inputs = match folder.bodies().map_err(BadInput::error)? {
        Some(inputs) => inputs,
        None if folder.maker == Maker::Run => return Err(without_bodies(path)),
        None => recorded(&path.display().to_string(), &folder.options)?,
    };
    Ok(OpenFolder { folder, inputs })
}

/// Opens a run folder that another one lists: it has the requests itself.
fn listed(path: &Path) -> anyhow::Result<OpenFolder> {
    let folder = RunFolder::read(path).map_err(BadInput::error)?;
    let inputs = folder.bodies().map_err(BadInput::error)?.ok_or_else(|| without_bodies(path))?;
    Ok(OpenFolder { folder, inputs })
}

fn without_bodies(path: &Path) -> anyhow::Error {
    let run = path.display();
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
    let read = sort_by(&options.paths, listed).and_then(|sorted| sorted.read(&reading, &|_| true));
    read.map_err(|error| {
        BadInput::error(format_args!(
            "{error}\n  (named in {run}/run.json, from the folder in which `forkcast replay` ran; with --bodies the run no longer needs it)"
        ))
    })
}
