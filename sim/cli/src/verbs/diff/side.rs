//! One of two requests: a body in a file of its own, or one of a recording.

use std::path::Path;

use forkcast_replay::exchange::{Exchange, RecordedUsage};
use forkcast_replay::input::{Inputs, ReadOptions};
use forkcast_replay::source::exchange::{Spelling, Unread, price, spelling};
use forkcast_replay::source::order::streams;
use forkcast_sim::cache::Rules;
use forkcast_sim::diagnosis::{Circumstances, Subject};
use forkcast_sim::guard::Breakpoints;
use forkcast_sim::pricing::{Date, PriceBook, Rates, ServiceTier};
use forkcast_sim::service::Tariff;
use forkcast_sim::wire::{Maker, Pins, Request, Usage, Wire};

use crate::exit::BadInput;
use crate::verbs::replay::complaints;
use crate::verbs::run_folder;

/// A request named by the user.
pub struct Side {
    /// The name.
    pub title: String,
    /// The request.
    pub exchange: Exchange,
    /// Its position in its recording, if the user gave one.
    pub position: Option<usize>,
    /// Known breakpoints other than those in its body.
    breakpoints: Breakpoints,
    /// The provider with the rules that it follows.
    maker: Maker,
}

/// Both requests are in one scope, because otherwise nothing could be shared.
const SCOPE: &str = "diff";

impl Side {
    /// Finds the request called `name`.
    pub fn find(name: &str) -> anyhow::Result<Self> {
        let (file, spot) = split(name)?;
        let inputs = run_folder::sort(&[file])?.read(&ReadOptions::default(), &|_| true)?;
        let requests = numbered(&inputs);
        let count = requests.len();
        if count == 0 && inputs.requests() > 0 {
            return Err(BadInput::error(format_args!(
                "{file}: its format has no request bodies, expected a body or a recording with bodies; forkcast explain \
                 {file} shows what changed between its requests"
            )));
        }
        if count == 0 {
            let complaints = complaints::of_inputs(&inputs, &[]);
            return Err(complaints::or_nothing_read(complaints).into());
        }
        let range = || format!("{file}#0 to {file}#{}", count - 1);
        let found = match spot {
            Some(Spot::Index(index)) => Some(index).filter(|index| *index < count),
            Some(Spot::Line(line)) => requests.iter().position(|exchange| exchange.origin.line == line),
            None if count > 1 => {
                return Err(BadInput::error(format!("{file}: contains {count} requests; name one of {}", range())));
            }
            None => Some(0),
        };
        let missing = || format!("{name}: there are {count} requests, expected one of {}", range());
        let index = found.ok_or_else(|| BadInput::error(missing()))?;
        let mut exchange = requests[index].clone();
        let refused = |why: Unread| BadInput::error(format_args!("{name}: cannot be compared: {}", why.reason()));
        let Spelling { body, addresses, breakpoints, maker } = spelling(&exchange).map_err(refused)?;
        (exchange.body, exchange.addresses) = (body.into_owned(), addresses);
        Ok(Self { title: name.to_owned(), exchange, position: spot.map(|_| index), breakpoints, maker })
    }

    /// Reads the request's body.
    pub fn read(&self, wire: &mut Wire) -> anyhow::Result<Request> {
        let read = wire.read_by(self.maker, &self.exchange.body, SCOPE, &self.exchange.model);
        let mut request = read.map_err(|error| BadInput::error(format_args!("{}: {error}", self.title)))?;
        request.addresses = self.exchange.addresses.clone();
        self.breakpoints.apply(&mut request);
        Ok(request)
    }

    /// The request with its sizes: as declared, or in the recorded total, with those that the other one showed; else estimated.
    pub fn sized(&self, pins: &mut Pins, wire: &Wire, request: Request, rules: &Rules) -> Subject {
        let usage = self.usage();
        let total_tokens = usage.map(|usage| usage.total_input_tokens());
        let cumulative = pins.sizes(&request, wire, self.exchange.sizes.as_deref(), total_tokens);
        let sized = Subject::new(0, request, cumulative, rules);
        if let Some(usage) = usage {
            pins.show(&sized.request, wire, &sized.cumulative);
            pins.learn(&sized.request, &wire.prefixes, &sized.effective(), None, &usage);
        }
        sized
    }

    /// The recorded usage; sums over the passes of a server-side tool are not about one prompt.
    fn usage(&self) -> Option<Usage> {
        self.exchange.usage.filter(|recorded| !recorded.server_passes).map(|recorded| recorded.usage)
    }

    /// Whether its sizes are recorded or declared.
    pub fn is_measured(&self) -> bool {
        self.usage().is_some() || self.exchange.sizes.is_some()
    }

    /// The day on which it was sent.
    pub fn day(&self) -> Option<Date> {
        self.exchange.sent_at.filter(|at| at.has_day()).map(Date::of)
    }

    /// What decides the outcome of its thinking besides its body.
    pub fn circumstances(&self, account_created: Option<Date>) -> Circumstances {
        let batch = self.exchange.tier == ServiceTier::Batch;
        Circumstances { account_created, batch, ..Circumstances::default() }.at(self.exchange.sent_at)
    }

    /// The prices of the request on this day, else on its own.
    pub fn rates(&self, day: Option<Date>, book: &PriceBook, sized: &Subject) -> Option<Rates> {
        let unknown = RecordedUsage::default();
        let answer = self.exchange.usage.as_ref().unwrap_or(&unknown);
        let price = price(&self.exchange, answer, self.exchange.sent_at).asked_by(&sized.request);
        let usage = Usage { input_tokens: sized.total_tokens(), ..Usage::default() };
        Tariff { book, date: day }.quote(&price, &usage).rates
    }
}

/// The requests in the order of their numbers: those of a file as they are in it, those of several files as `check`, `explain`
/// and `replay` number them.
fn numbered(inputs: &Inputs) -> Vec<&Exchange> {
    if inputs.scopes.iter().map(|scope| scope.files.len()).sum::<usize>() < 2 {
        return inputs.exchanges().collect();
    }
    let requests = streams(inputs).into_iter().flat_map(|stream| stream.requests);
    requests.map(|arrival| arrival.exchange).collect()
}

/// Where a request is in its recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spot {
    /// Its number, from 0.
    Index(usize),
    /// The line on which it begins, as `check` names it.
    Line(usize),
}

/// The file and the spot of `FILE#N` or `FILE:LINE`; a file with such a name takes precedence.
fn split(name: &str) -> anyhow::Result<(&str, Option<Spot>)> {
    if Path::new(name).exists() {
        return Ok((name, None));
    }
    let in_line = name.rsplit_once(':').filter(|(file, _)| Path::new(file).exists());
    if let Some((file, line)) = in_line.and_then(|(file, line)| Some((file, line.parse().ok()?))) {
        return Ok((file, Some(Spot::Line(line))));
    }
    let Some((file, position)) = name.rsplit_once('#') else { return Ok((name, None)) };
    match position.parse() {
        Ok(position) => Ok((file, Some(Spot::Index(position)))),
        Err(_) => {
            Err(BadInput::error(format_args!("{name}: found `{position}` after the #, expected a number from 0")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Spot, split};

    #[test]
    fn a_number_after_the_last_hash_is_a_position() {
        assert_eq!(split("no-such-file.json#3").ok(), Some(("no-such-file.json", Some(Spot::Index(3)))));
        assert_eq!(split("no-such-file.json").ok(), Some(("no-such-file.json", None)));
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        assert_eq!(split(&format!("{manifest}:3")).ok(), Some((manifest, Some(Spot::Line(3)))));
        assert!(split("no-such-file.json#three").is_err());
    }
}
