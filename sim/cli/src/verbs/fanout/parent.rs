//! The parent of a fan-out, taken from a recorded session: length and growth of its prompt, its model.

use std::path::{Path, PathBuf};

use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::replay::{Options, replay_until};
use forkcast_reports::document::count;
use forkcast_reports::report::{Recorded, entries};
use forkcast_scenarios::fanout::Cell;
use forkcast_sim::pricing::{ModelKey, PriceBook, Terms};
use forkcast_sim::wire::model::{self, Vendor};
use forkcast_sim::wire::{Ttl, Usage};

use crate::args::FanoutArgs;
use crate::exit::BadInput;
use crate::signals::interrupted;
use crate::verbs::replay::complaints;

/// The facts about a parent in a recorded session.
pub struct Parent {
    request: String,
    prefix: u64,
    model: String,
    ttl: Option<Ttl>,
    /// Median of the tokens that a turn added, and number of turns.
    growth: Option<(u64, usize)>,
}

impl Parent {
    /// Reads `SESSION`, or `SESSION:LINE`.
    pub fn read(named: &Path) -> anyhow::Result<Self> {
        let (path, line) = parted(named);
        let inputs = Inputs::read(&[&path], InputFormat::Auto).map_err(BadInput::error)?;
        if inputs.requests() == 0 {
            let complaints = complaints::of_inputs(&inputs, &[]);
            return Err(complaints::or_nothing_read(complaints).into());
        }
        let options = Options::default();
        let replay = replay_until(&inputs, &options, &interrupted);
        let entries = entries(&inputs, &replay, &options);
        let last = chosen(&entries, line).ok_or_else(|| {
            let place = line.map_or_else(String::new, |line| format!(" in line {line}"));
            BadInput::error(format_args!("--from {}: no request with recorded usage{place}", path.display()))
        })?;
        let own: Vec<Usage> = entries
            .iter()
            .filter(|entry| conversation(entry) == conversation(last) && entry.line.index <= last.line.index)
            .filter_map(|entry| entry.line.recorded)
            .collect();
        let origin = &last.origin;
        let place = if origin.line > 0 { format!(":{}", origin.line) } else { format!("#{}", origin.index) };
        Ok(Self {
            request: format!("{}{place}", origin.file),
            prefix: own.last().map_or(0, Usage::total_input_tokens),
            model: last.line.model.clone(),
            ttl: own.iter().rev().find_map(Usage::billed_ttl),
            growth: growth(&own),
        })
    }

    /// A model without modelled cache and without a price of its own cannot be played; it was not typed, so the message
    /// names the session.
    pub fn check_model(&self, book: &PriceBook) -> anyhow::Result<()> {
        let is_modelled = match model::resolve(&self.model) {
            Some(resolved) => resolved.id.row().vendor == Vendor::Anthropic,
            None => book.rates(&ModelKey::from(&*self.model), &Terms::default()).is_ok(),
        };
        if is_modelled {
            return Ok(());
        }
        Err(BadInput::error(format_args!(
            "--from {}: {}; fan-outs follow the rules of Claude models: name one, such as --model {}, to see what its \
             forks would cost",
            self.request,
            match &*self.model {
                "" => "the session does not name its model".to_owned(),
                model => format!("the session's model is {model}, whose cache is not modelled"),
            },
            Cell::default().model
        )))
    }

    /// A cell with this parent.
    pub fn cell(&self) -> Cell {
        let cell = Cell { prefix: self.prefix, model: self.model.as_str().into(), ..Cell::default() };
        Cell {
            ttl: self.ttl.unwrap_or(cell.ttl),
            growth: self.growth.map_or(cell.growth, |(tokens, _)| tokens),
            ..cell
        }
    }

    /// The values taken, except those set by options.
    pub fn said(&self, args: &FanoutArgs) -> String {
        let ttl = self.ttl.filter(|_| args.ttl.is_empty());
        let growth = self.growth.filter(|_| args.growth.is_none());
        let parts = [
            args.prefix.is_none().then(|| format!("prefix {} tokens", count(self.prefix))),
            args.model.is_empty().then(|| format!("model {}", self.model)),
            ttl.map(|ttl| format!("lifetime {}", ttl.name())),
            growth.map(|(tokens, turns)| {
                let plural = if turns == 1 { "turn" } else { "turns" };
                format!("{} more tokens a turn (median of {turns} {plural})", count(tokens))
            }),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        match parts[..] {
            [] => format!("Nothing is taken from {}: options set all values", self.request),
            _ => format!("Parent as in {}: {}", self.request, parts.join(", ")),
        }
    }
}

/// The path, and the line if one is named.
fn parted(named: &Path) -> (PathBuf, Option<usize>) {
    let text = named.to_string_lossy();
    let parts = text.rsplit_once(':').filter(|_| !named.exists());
    let line = parts.and_then(|(path, line)| Some((PathBuf::from(path), line.parse().ok()?)));
    line.map_or_else(|| (named.to_owned(), None), |(path, line)| (path, Some(line)))
}

/// The request in a line, else the last one of a main agent.
fn chosen<'r, 'a>(entries: &'r [Recorded<'a>], line: Option<usize>) -> Option<&'r Recorded<'a>> {
    let mut known =
        entries.iter().filter(|entry| entry.line.recorded.is_some_and(|usage| usage.total_input_tokens() > 0));
    match line {
        Some(line) => known.find(|entry| entry.origin.line == line),
        None => known.filter(|entry| is_main(entry)).max_by_key(|entry| (entry.line.at, entry.line.index)),
    }
}

fn is_main(entry: &Recorded<'_>) -> bool {
    entry.answered.is_none_or(|answered| answered.agent.parent.is_none())
}

/// Identifies the agent of a request.
fn conversation(entry: &Recorded<'_>) -> (usize, Option<usize>, Option<usize>) {
    (entry.line.session, entry.chain, entry.answer.map(|place| place.agent))
}

/// The median growth of the prompt per turn. Compactions and other cuts do not count.
fn growth(own: &[Usage]) -> Option<(u64, usize)> {
    let added = |pair: &[Usage]| pair[1].total_input_tokens().checked_sub(pair[0].total_input_tokens());
    let mut added: Vec<u64> = own.windows(2).filter_map(added).filter(|tokens| *tokens > 0).collect();
    added.sort_unstable();
    let median = *added.get(added.len() / 2)?;
    Some((median, added.len()))
}
