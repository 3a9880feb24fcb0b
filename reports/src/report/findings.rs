//! Lists of single items: misses, exceptions, models without a price, remarks. A few words are kept for each listed
//! request, so that its line is not needed.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use forkcast_sim::diagnosis::{Cause, Difference};
use forkcast_sim::pricing::Money;
use forkcast_sim::service::Compared;
use forkcast_sim::service::Evidence;
use forkcast_sim::time::{Duration, Instant};

use super::{Counted, Recorded, Report};

/// Where all causes are explained: beside everything that names one.
pub const CAUSES_HINT: &str = "forkcast list causes: the meaning of each cause";

/// Identifies a request.
#[derive(Clone, Debug)]
pub struct Place {
    /// Its number in the ledger.
    pub index: usize,
    /// Session, as ledger lines have it.
    pub session: usize,
    /// It was recorded without its body, in a transcript or a trace.
    pub in_transcript: bool,
    /// The file.
    pub file: Arc<str>,
    /// Position inside the file.
    pub file_index: usize,
    /// Line in the file, or zero.
    pub line: usize,
    /// When it was sent.
    pub at: Option<Instant>,
    /// The model as spelled.
    pub model: Arc<str>,
}

/// The tokens that one request missed for one reason.
#[derive(Clone, Debug)]
pub struct Miss {
    /// The request.
    pub place: Place,
    /// Why.
    pub cause: Cause,
    /// Number of tokens.
    pub tokens: u64,
    /// Their cost over the read price; `None` for a model without a price.
    pub cost: Option<Money>,
    /// The difference at fault, if the cause is one of content.
    pub difference: Option<Box<Difference>>,
    /// The line of a transcript that shows it.
    pub evidence: Option<Evidence>,
    /// The pause of its agent before the request, if known.
    pub pause: Option<Duration>,
}

impl Place {
    /// The place of a request; `shared` finds names that were used before.
    fn of(entry: &Recorded<'_>, shared: &mut dyn FnMut(&str) -> Arc<str>) -> Self {
        Self {
            index: entry.line.index,
            session: entry.line.session,
            in_transcript: entry.exchange.is_none(),
            file: shared(&entry.origin.file),
            file_index: entry.origin.index,
            line: entry.origin.line,
            at: entry.line.at,
            model: shared(&entry.line.model),
        }
    }
}

impl From<&Recorded<'_>> for Place {
    fn from(entry: &Recorded<'_>) -> Self {
        Self::of(entry, &mut |name| Arc::from(name))
    }
}

/// A comparable request with another verdict or read than recorded.
#[derive(Clone, Debug)]
pub struct Exception {
    /// The request.
    pub place: Place,
    /// Prediction and recording compared.
    pub compared: Compared,
    /// Why the recorded read fell short.
    pub causes: Vec<Cause>,
}

/// A model with a known number of tokens and unknown money.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpriced {
    /// The model as spelled.
    pub model: String,
    /// Its requests with usage.
    pub requests: u64,
    /// Its tokens, input and output.
    pub tokens: u64,
}

impl Unpriced {
    /// Why its money is unknown, for machines.
    pub const fn reason(&self) -> &'static str {
        if self.model.is_empty() { "no_model" } else { "no_price" }
    }
}

/// The lists under construction.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub misses: Vec<Miss>,
    pub exceptions: Vec<Exception>,
    /// Names that many requests share.
    names: BTreeSet<Arc<str>>,
}

impl Findings {
    pub fn take(&mut self, entry: &Recorded<'_>, counted: Counted, pause: Option<Duration>) {
        if counted.counts(entry) && !entry.line.charge.causes.is_empty() {
            let place = self.place(entry);
            self.misses.extend(of_entry(entry, &place, pause));
        }
        if let Some(compared) = entry.comparison.as_ref().ok().filter(|compared| !agrees(compared)) {
            let causes = entry.line.charge.causes.iter().map(|part| part.cause).collect();
            let place = self.place(entry);
            self.exceptions.push(Exception { place, compared: **compared, causes });
        }
    }

    /// The misses in order, the dearest first.
    pub fn sort(&mut self) {
        self.names.clear();
        self.misses
            .sort_by_key(|miss| (-miss.cost.unwrap_or_default(), Reverse(miss.tokens), miss.place.index, miss.cause));
    }

    fn place(&mut self, entry: &Recorded<'_>) -> Place {
        Place::of(entry, &mut |name| self.name(name))
    }

    fn name(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        let name: Arc<str> = Arc::from(name);
        self.names.insert(name.clone());
        name
    }
}

fn agrees(compared: &Compared) -> bool {
    compared.recorded == compared.predicted && compared.read_agrees()
}

fn of_entry<'e>(entry: &'e Recorded<'_>, place: &'e Place, pause: Option<Duration>) -> impl Iterator<Item = Miss> + 'e {
    let line = &entry.line;
    line.charge.causes.iter().map(move |part| Miss {
        place: place.clone(),
        cause: part.cause,
        tokens: part.tokens,
        cost: part.cost,
        difference: line
            .explanation
            .as_ref()
            .and_then(|explanation| explanation.differences.iter().find(|found| found.cause == part.cause))
            .map(|found| Box::new(found.clone())),
        evidence: entry.evidence.clone(),
        pause,
    })
}

/// Counted requests to providers without a cache model: usage and bill are known, misses are not.
pub const fn not_modelled(report: &Report<'_>) -> u64 {
    report.tally.not_modelled
}

/// Models without a price, in order of their names.
pub fn unpriced(report: &Report<'_>) -> Vec<Unpriced> {
    let unpriced = report.tally.unpriced.iter();
    unpriced
        .map(|(model, (requests, tokens))| Unpriced {
            model: report.names.model(model).into_owned(),
            requests: *requests,
            tokens: *tokens,
        })
        .collect()
}

/// Remarks of the ledger, each once with the number of its requests, the most frequent first.
pub fn remarks(report: &Report<'_>) -> Vec<(String, u64)> {
    let mut remarks: Vec<(String, u64)> =
        report.tally.remarks.iter().map(|(remark, count)| (report.names.message(remark), *count)).collect();
    remarks.sort_by_key(|(_, count)| Reverse(*count));
    remarks
}
