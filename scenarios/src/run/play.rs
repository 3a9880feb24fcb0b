//! Runs a scenario through the simulation.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use forkcast_sim::laws;
use forkcast_sim::model::Script;
use forkcast_sim::model::scripted::Utterances;
use forkcast_sim::pricing::{Date, Money, PriceBook};
use forkcast_sim::seed::Seed;
use forkcast_sim::simulation::{self, Agent, Cause, Failure, Finished, Lookup, Observer};
use forkcast_sim::time::{Instant, Stopped};

use super::{Run, agent, request};
use crate::format::Scenario;
use crate::format::expect::Ends;
use crate::load;

/// Options for running a scenario, besides its own content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Draws the next ready task with this random seed instead of FIFO.
    pub interleave: Option<u64>,
    /// Fields that were set from outside, such as `session.ttl=1h`.
    pub set: Vec<String>,
    /// Prices other than the built-in ones.
    pub book: Option<Rc<PriceBook>>,
    /// When the provider's account was created; `None` if that is unknown.
    pub account_created: Option<Date>,
    /// Keeps the answers of all calls, for an exchange log.
    pub keeps_answers: bool,
}

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Requests sent so far.
    pub requests: usize,
    /// The instant on the run's virtual clock.
    pub at: Instant,
}

/// Reports progress at each request, and asks whether to continue.
struct Watch<F> {
    goes_on: F,
    /// Set if the caller cancelled.
    interrupted: Rc<Cell<bool>>,
}

impl<F: FnMut(Progress) -> bool> Observer for Watch<F> {
    fn name(&self) -> &'static str {
        "watch"
    }

    fn served(&mut self, seen: &Lookup<'_>) -> Result<(), String> {
        if (self.goes_on)(Progress { requests: seen.line + 1, at: seen.at }) {
            return Ok(());
        }
        self.interrupted.set(true);
        Err("interrupted".to_owned())
    }
}

/// Runs a scenario.
///
/// ```
/// use forkcast_scenarios::format::Scenario;
/// use forkcast_scenarios::run::{Options, play};
///
/// let text = "about: One question.\nscript: {main: [{say: Yes.}]}\nuser: [{at_ms: 0, types: Well?}]\n";
/// let run = play(Scenario::read("question", "question.yaml", text, &[])?, &Options::default());
/// assert_eq!(run.totals().requests, 1);
/// assert!(run.laws_held());
/// # Ok::<(), forkcast_scenarios::format::problem::Problems>(())
/// ```
pub fn play(scenario: Scenario, options: &Options) -> Run {
    play_watched(scenario, options, |_| true)
}

/// Runs a scenario, reports progress to `goes_on`, and cancels the run when that returns `false`; the partial run is
/// kept. `goes_on` cannot affect the run in any other way.
pub fn play_watched(scenario: Scenario, options: &Options, goes_on: impl FnMut(Progress) -> bool + 'static) -> Run {
    let script = load::script(&scenario);
    let utterances = script.utterances();
    let run = play_script(scenario, Voices { script: Box::new(script), utterances }, options, goes_on);
    Run { is_repeatable: true, ..run }
}

/// Answers from elsewhere than a scenario, and the replies that they were.
pub struct Voices {
    /// The answers.
    pub script: Box<dyn Script>,
    /// The replies that it will have given.
    pub utterances: Utterances,
}

impl fmt::Debug for Voices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Voices")
    }
}

/// The same with answers from elsewhere.
pub fn play_script(
    scenario: Scenario,
    Voices { script, utterances }: Voices,
    options: &Options,
    goes_on: impl FnMut(Progress) -> bool + 'static,
) -> Run {
    let mut setup = load::setup(&scenario, options.interleave);
    setup.script = script;
    let interrupted = Rc::<Cell<bool>>::default();
    setup.observers.push(Box::new(Watch { goes_on, interrupted: Rc::clone(&interrupted) }));
    if let Some(book) = &options.book {
        setup.book = Rc::clone(book);
    }
    (setup.keeps_traffic, setup.account_created) = (options.keeps_answers, options.account_created);
    let (rules, book) = (setup.rules, Rc::clone(&setup.book));
    let laws: Vec<&'static str> = laws::all(&rules, &Seed::new(scenario.seed)).iter().map(|law| law.name()).collect();
    let (finished, ends, message) = match simulation::run(setup) {
        Ok(finished) => (finished, Ends::Finished, None),
        Err(failed) if interrupted.get() => {
            (*failed.until, Ends::Interrupted, Some("interrupted before the end".to_owned()))
        }
        Err(failed) => (*failed.until, ends(&failed.why), Some(failed.why.to_string())),
    };
    let Finished { digest, log, agents, entries, drafts, traffic, laws_held, makespan, idle, .. } = finished;
    let agents = agent::tree(&agents, &log);
    Run {
        requests: request::requests(entries, drafts, &agents, &request::sent(&log), &book, scenario.prices),
        laws: laws.into_iter().map(|law| (law, laws_held.contains(&law))).collect(),
        book,
        is_repeatable: false,
        options: options.clone(),
        idle: idle.into_iter().map(|idle| (idle.act, idle.why)).collect::<BTreeMap<_, _>>(),
        events: log,
        traffic,
        utterances: utterances.take(),
        scenario,
        digest,
        ends,
        message,
        makespan,
        agents,
    }
}

/// What a run of a scenario cost, and what its agents did.
pub(super) struct Billed {
    /// The agents in the order in which they began.
    pub agents: Vec<Agent>,
    /// Its bill; `None` if none of its requests has a price.
    pub cost: Option<Money>,
}

/// The bill of a scenario's run, without anything else: no law watches it, no miss is explained, and neither events nor
/// requests are kept. `None` if it does not finish.
pub(super) fn billed(scenario: &Scenario, options: &Options) -> Option<Billed> {
    let mut setup = load::setup(scenario, options.interleave);
    setup.observers.clear();
    (setup.explains, setup.keeps_events, setup.keeps_drafts) = (false, false, false);
    if let Some(book) = &options.book {
        setup.book = Rc::clone(book);
    }
    let Finished { agents, entries, .. } = simulation::run(setup).ok()?;
    let bills = entries.iter().filter_map(|entry| entry.line.charge.bill.as_ref());
    let cost = bills.map(|bill| bill.total).reduce(|sum, bill| sum + bill);
    Some(Billed { agents, cost })
}

const fn ends(why: &Failure) -> Ends {
    match why {
        Failure::Alarm(Cause::Unscripted(_)) => Ends::Unscripted,
        Failure::Alarm(Cause::Turns { .. }) => Ends::Limit,
        Failure::Alarm(Cause::BrokenLaw { .. }) => Ends::LawBroken,
        Failure::Stopped(Stopped::Stalled { .. }) => Ends::Stalled,
        Failure::Stopped(Stopped::Steps { .. } | Stopped::Time { .. }) => Ends::Limit,
    }
}
