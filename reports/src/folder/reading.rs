//! Reads back a folder of `--out`: the input, the options, and the lines of its ledger.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use forkcast_replay::exchange::{Exchange, Origin};
use forkcast_replay::formats::Format;
use forkcast_replay::input::{FileInput, InputFormat, Inputs, ScopeInput};
use forkcast_sim::outside::{complaint, found};
use forkcast_sim::pricing::Money;
use forkcast_sim::wire::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;
use thiserror::Error;

use super::manifest::{self, Manifest};
use super::{BODIES, RUN, body_name};
use crate::format::ledger::exchange::Stored;
use crate::format::number::{Count, Usd};
use crate::format::replay::SCHEMA;
use crate::format::run;
use crate::report::Spending;

/// Why a folder cannot be read back.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadingError {
    /// A file of it cannot be opened.
    #[error("{}: {source}", path.display())]
    Io {
        /// File.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// One of its files is invalid.
    #[error("{}:{line}: {reason}", path.display())]
    Broken {
        /// File.
        path: PathBuf,
        /// Line, counted from one.
        line: usize,
        /// The problem.
        reason: String,
    },
}

/// The options of the run: the object `options` of `run.json`.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct RunOptions {
    /// The user's paths, in that order; empty for the embedded sample.
    pub paths: Vec<String>,
    /// `--input-format`.
    pub input_format: String,
    /// `--cache`.
    pub cache: Option<String>,
    /// `--prices`.
    pub prices_of: Option<String>,
    /// `--sizes`; empty in folders written before there was a choice.
    #[serde(default)]
    pub sizes: String,
    /// `--calibrate`.
    #[serde(default)]
    pub calibrated: bool,
    /// Names were replaced by ids, so the recordings cannot be found again.
    pub anonymized: bool,
}

/// Prices other than the built-in ones: the object `price_book` of `run.json`.
#[derive(Debug, Default, Deserialize)]
pub struct RecordedBook {
    /// Files of `--price-book`.
    pub files: Vec<String>,
    /// `--discount`, a JSON number.
    pub discount_percent: Option<Box<RawValue>>,
    /// `--price`, one by one.
    pub overrides: Vec<RecordedPrice>,
}

/// One price.
#[derive(Debug, Deserialize)]
pub struct RecordedPrice {
    /// The model.
    pub model: String,
    /// The word of its category.
    pub category: String,
    /// A JSON number, all digits.
    pub usd_per_mtok: Box<RawValue>,
}

/// The required fields of `run.json`.
#[derive(Deserialize)]
struct RunRecord {
    options: RunOptions,
    price_book: RecordedBook,
}

/// The required fields of `run.json` of a simulated run.
#[derive(Deserialize)]
struct Simulated {
    options: SimulatedOptions,
}

#[derive(Deserialize)]
struct SimulatedOptions {
    cache: String,
    prices_of: String,
    prices: RecordedBook,
}

/// The first fields of `run.json`.
#[derive(Deserialize)]
struct Head {
    schema: String,
}

/// The verb that wrote a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    /// `forkcast replay`: the requests are in the recordings.
    Replay,
    /// `forkcast run`: the requests are only in the folder itself.
    Run,
}

/// The required fields of a line of `ledger.jsonl`.
#[derive(Debug, Deserialize)]
pub struct RecordedLine {
    /// Number of the request.
    pub index: usize,
    /// The place in which it was recorded.
    pub origin: RecordedOrigin,
    /// The model as spelled.
    pub model: String,
    /// Its bill.
    pub cost_usd: Option<Usd>,
    /// The causes of its misses.
    #[serde(default)]
    pub causes: Vec<RecordedCause>,
    /// The usage that was reported.
    #[serde(default)]
    pub(super) recorded: Option<RecordedTokens>,
    /// The predicted usage.
    #[serde(default)]
    pub(super) predicted: Option<RecordedTokens>,
    /// Its bill with every missed token read.
    #[serde(default)]
    pub(super) perfect_cost_usd: Option<Usd>,
    #[serde(default)]
    read_usd: Option<Usd>,
    #[serde(default)]
    write_5m_usd: Option<Usd>,
    #[serde(default)]
    write_1h_usd: Option<Usd>,
    #[serde(default)]
    input_usd: Option<Usd>,
    #[serde(default)]
    output_usd: Option<Usd>,
    #[serde(default)]
    fees_usd: Option<Usd>,
    /// The kind of its agent.
    agent_kind: Option<String>,
    /// The recording itself, without its body.
    exchange: Option<Stored>,
}

impl RecordedLine {
    /// The parts of its bill.
    pub(super) fn spending(&self) -> Spending {
        let usd = |amount: Option<Usd>| amount.map_or(Money::ZERO, |amount| amount.0);
        Spending {
            read: usd(self.read_usd),
            write_5m: usd(self.write_5m_usd),
            write_1h: usd(self.write_1h_usd),
            input: usd(self.input_usd),
            output: usd(self.output_usd),
            fees: usd(self.fees_usd),
        }
    }

    /// Whether the provider refused it.
    pub(super) fn failed(&self) -> bool {
        self.exchange.as_ref().and_then(|exchange| exchange.status).is_some_and(|status| status >= 400)
    }
}

/// A cause of a line.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RecordedCause {
    /// Its word.
    pub cause: String,
    /// Tokens that were missed for it.
    pub tokens: Count,
    /// Their cost above the read price.
    #[serde(default)]
    pub(super) cost_usd: Option<Usd>,
}

/// Tokens of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct RecordedTokens {
    input_tokens: Count,
    cache_read_input_tokens: Count,
    cache_creation: RecordedWrites,
    output_tokens: Count,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
struct RecordedWrites {
    ephemeral_5m_input_tokens: Count,
    ephemeral_1h_input_tokens: Count,
}

impl From<RecordedTokens> for Usage {
    fn from(tokens: RecordedTokens) -> Self {
        Self {
            input_tokens: tokens.input_tokens.0,
            cache_read_input_tokens: tokens.cache_read_input_tokens.0,
            ephemeral_5m_input_tokens: tokens.cache_creation.ephemeral_5m_input_tokens.0,
            ephemeral_1h_input_tokens: tokens.cache_creation.ephemeral_1h_input_tokens.0,
            output_tokens: tokens.output_tokens.0,
        }
    }
}

/// The place in which a request was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RecordedOrigin {
    /// The file.
    pub file: String,
    /// Position inside it.
    pub index: usize,
    /// Line, or zero.
    pub line: usize,
}

/// A folder read back.
#[derive(Debug)]
pub struct RunFolder {
    /// The folder.
    pub path: PathBuf,
    /// The verb that wrote it.
    pub maker: Maker,
    /// The options of the run.
    pub options: RunOptions,
    /// The price book of the run.
    pub book: RecordedBook,
    /// Its ledger.
    pub lines: Vec<RecordedLine>,
}

impl RunFolder {
    /// Whether a path is a folder that `replay --out` or `run --out` wrote.
    pub fn is_one(path: &Path) -> bool {
        let head = manifest::head(&path.join(RUN)).unwrap_or_default();
        let is_of = |schema| head.contains(&format!("\"schema\": \"{schema}\""));
        is_of(SCHEMA) || is_of(run::SCHEMA)
    }

    /// Reads the record and the ledger.
    ///
    /// # Errors
    /// When one is missing or damaged.
    pub fn read(path: &Path) -> Result<Self, ReadingError> {
        let run_path = path.join(RUN);
        let (maker, run) = record(&run_path)?;
        let ledger_path = path.join(super::LEDGER);
        let lines = text(&ledger_path)?
            .lines()
            .enumerate()
            .map(|(at, line)| {
                serde_json::from_str(line).map_err(|error| broken(&ledger_path, at + 1, &complaint::json(&error)))
            })
            .collect::<Result<Vec<RecordedLine>, _>>()?;
        Ok(Self { path: path.to_owned(), maker, options: run.options, book: run.price_book, lines })
    }

    /// The recordings in the folder itself: with `--bodies` all of them, otherwise none. Transcripts have no bodies, so
    /// a run with some needs its recordings.
    ///
    /// # Errors
    /// When a body is missing.
    pub fn bodies(&self) -> Result<Option<Inputs>, ReadingError> {
        let folder = self.path.join(BODIES);
        // Bodies that are not in the manifest belong to an older run or to the user.
        let written = Manifest::written(&self.path);
        let written =
            written.map_err(|source| ReadingError::Io { path: self.path.join(manifest::MANIFEST), source })?;
        let are_ours = written.is_none_or(|manifest| manifest.has_bodies());
        if !are_ours || !folder.is_dir() || self.lines.iter().any(|line| line.exchange.is_none()) {
            return Ok(None);
        }
        let mut files: BTreeMap<usize, (&Stored, FileInput)> = BTreeMap::new();
        let mut before = Vec::new();
        let mut bytes: u64 = 0;
        for line in &self.lines {
            let Some(stored) = &line.exchange else { continue };
            let path = folder.join(body_name(line.index));
            let origin = self.origin(line, &path);
            let body = fs::read(&path).map_err(|source| ReadingError::Io { path, source })?;
            bytes += body.len() as u64;
            let sizes = stored.sizes.as_ref().and_then(|sizes| sizes.cumulative(&before));
            // A block has at least one byte: a longer list of sizes belongs to another body.
            let sizes = sizes.filter(|sizes| sizes.len() <= body.len());
            before = sizes.clone().unwrap_or_default();
            let agent_kind = line.agent_kind.clone();
            let exchange = Exchange { sizes, agent_kind, ..stored.exchange(origin, line.model.clone(), body) };
            let file = files.entry(stored.session).or_insert_with(|| (stored, self.input(line, stored)));
            file.1.exchanges.push(exchange);
        }
        let inputs = inputs(files);
        Ok(Some(match self.maker {
            Maker::Replay => Inputs { bytes, ..inputs },
            Maker::Run => self.named(Inputs { bytes, files: self.lines.len(), ..inputs }),
        }))
    }

    /// Where a request was recorded: those of a simulated run are only in the folder.
    fn origin(&self, line: &RecordedLine, body: &Path) -> Origin {
        let RecordedOrigin { file, index, line } = line.origin.clone();
        match self.maker {
            Maker::Replay => Origin { file, index, line },
            Maker::Run => Origin { file: body.display().to_string(), index, line },
        }
    }

    /// The recording of a line, without its requests.
    fn input(&self, line: &RecordedLine, stored: &Stored) -> FileInput {
        let format = match stored.format.parse() {
            Ok(InputFormat::As(format)) => format,
            _ => Format::Bodies,
        };
        let file = match self.maker {
            Maker::Replay => line.origin.file.clone(),
            Maker::Run => self.path.display().to_string(),
        };
        FileInput { file, format, exchanges: Vec::new(), traces: Vec::new(), notes: Vec::new() }
    }

    /// The same, named after the folder.
    fn named(&self, mut inputs: Inputs) -> Inputs {
        inputs.scopes.iter_mut().for_each(|scope| scope.name = self.path.display().to_string());
        inputs
    }
}

/// `run.json`, by the verb that wrote it.
fn record(path: &Path) -> Result<(Maker, RunRecord), ReadingError> {
    let text = text(path)?;
    let failed = |error: serde_json::Error| broken(path, error.line(), &complaint::json(&error));
    let Head { schema } = serde_json::from_str(&text).map_err(failed)?;
    if schema == SCHEMA {
        return Ok((Maker::Replay, serde_json::from_str(&text).map_err(failed)?));
    }
    if schema != run::SCHEMA {
        return Err(broken(path, 1, &format!("found {}, expected {SCHEMA} or {}", found(&schema), run::SCHEMA)));
    }
    let Simulated { options } = serde_json::from_str(&text).map_err(failed)?;
    let replayed =
        RunOptions { cache: Some(options.cache), prices_of: Some(options.prices_of), ..RunOptions::default() };
    Ok((Maker::Run, RunRecord { options: replayed, price_book: options.prices }))
}

/// Files in the order of the run, those of one path together.
fn inputs(files: BTreeMap<usize, (&Stored, FileInput)>) -> Inputs {
    let mut inputs = Inputs { files: files.len(), ..Inputs::default() };
    let mut last = None;
    for (stored, mut file) in files.into_values() {
        file.exchanges.sort_by_key(|exchange: &Exchange| exchange.origin.index);
        Exchange::mark_unanswered(&mut file.exchanges);
        match inputs.scopes.last_mut().filter(|_| last == Some(stored.scope)) {
            Some(scope) => scope.files.push(file),
            None => inputs.scopes.push(ScopeInput { name: stored.path.clone(), files: vec![file] }),
        }
        last = Some(stored.scope);
    }
    inputs
}

fn text(path: &Path) -> Result<String, ReadingError> {
    fs::read_to_string(path).map_err(|source| ReadingError::Io { path: path.to_owned(), source })
}

fn broken(path: &Path, line: usize, reason: &dyn std::fmt::Display) -> ReadingError {
    ReadingError::Broken { path: path.to_owned(), line, reason: reason.to_string() }
}
