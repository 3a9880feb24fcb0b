//! The input of a check: recordings, transcripts, bodies and scenarios, one request after the other.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use forkcast_replay::check::{Check, Checking, Outcome};
use forkcast_replay::error::Error;
use forkcast_replay::exchange::Origin;
use forkcast_replay::input::{Inputs, ReadOptions, Repaired, Skipped, Unreadable};
use forkcast_replay::source::{Fed, Sink, feed, feed_inputs};
use forkcast_replay::transcript::Session;
use forkcast_reports::check::Graded;
use forkcast_reports::document::{count, several};
use forkcast_reports::names::Names;
use forkcast_scenarios::capture::{self, Recorder};
use forkcast_scenarios::format::Scenario;
use forkcast_scenarios::run::{Options, play};
use forkcast_sim::cache;
use forkcast_sim::guard::{Facts, Sent};
use forkcast_sim::wire::{BodyError, Request, Wire};

use crate::args::{Doubt, SourceArgs, TalkArgs};
use crate::exit::{BadInput, Stopped};
use crate::signals::{self, interrupted};
use crate::verbs::replay;
use crate::verbs::replay::complaints::located;
use crate::verbs::run_folder::{self, NamedPaths};

/// The inspected requests.
pub struct Inspection {
    /// The findings.
    pub outcome: Outcome,
    /// The results of the conformance suite; empty unless requested.
    pub card: Vec<Graded>,
    /// The input.
    pub inputs: Inputs,
    /// The user stopped it.
    pub partial: bool,
    /// Errors for named paths without requests.
    pub complaints: Vec<String>,
    /// Doubts about the result, besides unreadable input.
    pub doubts: Vec<Doubt>,
}

impl Inspection {
    /// All errors in the input: the input must then not be treated as checked completely.
    pub fn mistakes(&self, names: Names) -> Vec<String> {
        let unread = self.inputs.unreadable.iter().take(LISTED_MAX);
        let unread = unread.map(|it| located(&names.file(&it.file), it.line, &names.message(&it.reason)));
        // A named path may be the damaged file itself.
        let unread: Vec<String> = unread.filter(|told| !self.complaints.contains(told)).collect();
        let more = self.inputs.unreadable.len().saturating_sub(LISTED_MAX);
        let more = (more > 0).then(|| format!("… and {} more places that cannot be read", count(more as u64)));
        self.complaints.iter().cloned().chain(unread).chain(more).collect()
    }
}

/// Most damaged places listed on standard error; the report lists all.
const LISTED_MAX: usize = 10;

/// The named paths, by what they are.
pub struct Sources<'a> {
    scenarios: Vec<Scenario>,
    /// Run folders, and recordings.
    pub recorded: NamedPaths<'a, PathBuf>,
}

impl<'a> Sources<'a> {
    /// Reads scenarios, and opens run folders.
    pub fn open(sources: &'a SourceArgs) -> anyhow::Result<Self> {
        let mut scenarios = Vec::new();
        let mut recorded = Vec::new();
        for path in &sources.paths {
            match capture::scenario(path) {
                Some(scenario) => scenarios.push(scenario.map_err(BadInput::error)?),
                None => recorded.push(path),
            }
        }
        Ok(Self { scenarios, recorded: run_folder::sort(recorded)?.are_in(sources.input_format)? })
    }

    /// The rules of the runs, unless scenarios are checked as well.
    pub fn rules(&self) -> anyhow::Result<Option<cache::Rules>> {
        if self.scenarios.is_empty() { self.recorded.rules() } else { Ok(None) }
    }
}

/// Inspects all named paths.
pub fn inspect(
    named: Sources<'_>,
    sources: &SourceArgs,
    checking: Checking,
    talk: &TalkArgs,
) -> anyhow::Result<Inspection> {
    let Sources { scenarios, recorded: NamedPaths { folders, others: recorded } } = named;
    let mut check = Stoppable(Check::new(checking));
    let mut fed = if recorded.is_empty() { Fed::default() } else { read(&recorded, sources, talk, &mut check)? };
    for opened in folders {
        fed.add(feed_inputs(opened.inputs, &|| !interrupted(), &mut check));
    }
    for scenario in scenarios.into_iter().take_while(|_| !interrupted()) {
        fed.add(feed_inputs(played(scenario), &|| !interrupted(), &mut check));
    }
    let mut outcome = check.0.finish();
    let card = Graded::of(&outcome.cards);
    outcome.report.warnings.extend(fed.remarks.told());
    let complaints = complaints(&recorded, &fed, &outcome.origins);
    let doubts = doubts(&fed, &outcome);
    if outcome.origins.is_empty() {
        return Err(nothing(complaints));
    }
    let partial = fed.partial || interrupted();
    Ok(Inspection { outcome, card, inputs: account(fed), partial, complaints, doubts })
}

/// Why there was no request.
fn nothing(complaints: Vec<String>) -> anyhow::Error {
    if interrupted() {
        return Stopped("interrupted before the first request".to_owned()).into();
    }
    BadInput(if complaints.is_empty() { vec!["no request to check".to_owned()] } else { complaints }).into()
}

/// Runs a scenario; its requests are the input.
fn played(scenario: Scenario) -> Inputs {
    Recorder::new(&play(scenario, &Options::default())).inputs()
}

fn read(paths: &[&PathBuf], sources: &SourceArgs, talk: &TalkArgs, sink: &mut dyn Sink) -> anyhow::Result<Fed> {
    let mut steps = talk.steps();
    steps.begin(format_args!("checking"));
    let options = ReadOptions::from(sources.input_format);
    let fed = replay::watched(&mut steps, paths, |watch| feed(paths, &options, watch, sink));
    fed.map_err(|error| match error {
        Error::Open { .. } => BadInput::error(error),
        other => other.into(),
    })
}

/// The account of all files; requests that no cache could see are skipped parts of theirs. A check needs no answer, so what one
/// lacks is a note, such as the usage of a stream.
fn account(fed: Fed) -> Inputs {
    let mut inputs = fed.inputs;
    let unchecked = fed.unchecked.iter();
    let unchecked =
        unchecked.map(|foreign| Skipped { file: foreign.file.clone(), reason: foreign.told(), is_entry: true });
    inputs.skipped.splice(0..0, unchecked);
    let (answers, requests) = inputs.unreadable.into_iter().partition::<Vec<_>, _>(|damage| damage.of_answer);
    inputs.unreadable = requests;
    let left_out = |damage: Unreadable| Repaired { file: damage.file, line: damage.line, what: damage.reason };
    inputs.repaired.extend(answers.into_iter().map(left_out));
    inputs
}

/// Skipped parts, missing prices, and estimates without a basis.
fn doubts(fed: &Fed, outcome: &Outcome) -> Vec<Doubt> {
    let chains = outcome.lock.iter().flat_map(|lock| &lock.chains);
    let unpriced = chains.flat_map(|chain| &chain.requests).filter(|request| request.cost.is_none());
    let models: BTreeSet<&str> = unpriced.map(|request| request.model.as_str()).collect();
    let hidden = fed.unchecked.iter().filter(|foreign| foreign.hides_a_prompt);
    let hidden = hidden.map(|foreign| located(&foreign.file, 0, &foreign.told()));
    let empty = fed.inputs.skipped.iter().filter(|skipped| skipped.is_damage());
    let empty = empty.map(|skipped| located(&skipped.file, 0, &skipped.reason));
    let unmeasured = fed.remarks.unmeasured;
    let estimated = (unmeasured > 0).then(|| {
        Doubt::Estimated(format!(
            "{} without recorded usage: sizes are estimated from the transcript",
            several(unmeasured as u64, "request")
        ))
    });
    Doubt::unpriced(models).into_iter().chain(hidden.chain(empty).map(Doubt::LeftOut)).chain(estimated).collect()
}

/// An error for each of the user's paths from which nothing was checked.
fn complaints(paths: &[&PathBuf], fed: &Fed, origins: &[Origin]) -> Vec<String> {
    if fed.partial {
        return Vec::new();
    }
    let lies_in = |file: &str, path: &Path| Path::new(file).starts_with(path) || path == Path::new("-");
    let empty = paths.iter().filter(|path| !origins.iter().any(|origin| lies_in(&origin.file, path)));
    // A reason that mentions a request is the most informative.
    let unchecked = fed.unchecked.iter().map(|foreign| (&foreign.file, located(&foreign.file, 0, &foreign.told())));
    let unreadable = fed.inputs.unreadable.iter();
    let unreadable = unreadable.map(|it| (&it.file, located(&it.file, it.line, &it.reason)));
    let skipped = fed.inputs.skipped.iter().map(|it| (&it.file, located(&it.file, 0, &it.reason)));
    let reasons: Vec<(&String, String)> = unchecked.chain(unreadable).chain(skipped).collect();
    let complaint = |path: &&PathBuf| {
        let found = reasons.iter().find(|(file, _)| lies_in(file, path));
        found.map_or_else(|| format!("{}: no request to check", path.display()), |(_, reason)| reason.clone())
    };
    empty.map(complaint).collect()
}

/// The check. After its first request a signal ends the work, not the program.
struct Stoppable(Check);

impl Sink for Stoppable {
    fn body(&mut self, origin: &Origin, sent: &Sent<'_>) -> Result<(), BodyError> {
        signals::nothing_to_keep(false);
        self.0.body(origin, sent)
    }

    fn refused(&mut self, origin: &Origin, chain: Option<&str>, message: &str) {
        self.0.refused(origin, chain, message);
    }

    fn begin(&mut self) {
        self.0.begin();
    }

    fn session(&mut self, inputs: &Inputs, at: usize, session: &Session) {
        self.0.session(inputs, at, session);
    }

    fn rebuilt(&mut self, origin: &Origin, wire: &Wire, request: Request, cumulative: Vec<u64>, facts: &Facts<'_>) {
        signals::nothing_to_keep(false);
        self.0.rebuilt(origin, wire, request, cumulative, facts);
    }
}
