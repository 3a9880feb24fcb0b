//! A scenario goes through the simulation: session, provider, laws, user, until the user has left and nothing runs.

use std::cell::RefCell;
use std::rc::Rc;

use forkcast_sim::agent::Context;
use forkcast_sim::agent::queue::{headless, repl};
use forkcast_sim::agent::session::{Opening, Session};
use forkcast_sim::agent::tool::{Pool, Tools};
use forkcast_sim::cache::PRESETS;
use forkcast_sim::laws;
use forkcast_sim::pricing::PriceBook;
use forkcast_sim::seed::Seed;
use forkcast_sim::simulation::{Alarm, Cause, Log, Provider, Service, Sizing};
use forkcast_sim::time::{self, Handle, Instant, Stopped};

use super::asked::Keeper;
use super::limited::Limited;
use super::{Run, agent, request, user};
use crate::format::Scenario;
use crate::format::expect::Ends;
use crate::load;

/// How a scenario is run, beside what it says itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Tasks that are ready are drawn with this seed in the place of first come, first served.
    pub interleave: Option<u64>,
    /// Fields that were set from outside, as `session.ttl=1h`.
    pub set: Vec<String>,
}

/// What a run is made of, shared by who takes part and who looks on.
struct Stage {
    scenario: Scenario,
    service: Rc<RefCell<Service>>,
    log: Rc<Log>,
    alarm: Rc<Alarm>,
    keeper: Keeper,
    ended: Rc<RefCell<Instant>>,
}

/// Runs a scenario.
pub fn play(scenario: Scenario, options: &Options) -> Run {
    let book = Rc::new(PriceBook::built_in());
    let rules = scenario.cache.unwrap_or(PRESETS[0]);
    let sizing = if scenario.prompt.sizes.is_some() { Sizing::Declared } else { Sizing::Estimated };
    let scope = load::settings(&scenario).session;
    let mut service = Service::new(rules, sizing, book.clone(), scenario.prices, &scope, scenario.seed);
    let keeper = Keeper::default();
    service.observers = laws::all(&rules, &Seed::new(scenario.seed));
    let names: Vec<&'static str> = service.observers.iter().map(|law| law.name()).collect();
    service.observers.push(Box::new(keeper.clone()));
    let alarm = service.alarm.clone();
    let service = Rc::new(RefCell::new(service));
    let log = Rc::new(Log::new(service.clone(), true));
    let stage = Stage { scenario, service, log, alarm, keeper, ended: Rc::default() };
    let outcome = stage.perform(options);
    stage.report(outcome, names, &book, options)
}

impl Stage {
    /// Runs it to its end; the error is why it did not finish.
    fn perform(&self, options: &Options) -> Result<Instant, (Ends, String)> {
        let plan = load::plan(&self.scenario, options.interleave);
        let opening = self.opening();
        let (scenario, alarm, ended) = (self.scenario.clone(), self.alarm.clone(), self.ended.clone());
        let keeper = self.keeper.clone();
        let finished = time::run(&plan, |handle| async move {
            let session = opening(handle.clone()).open(handle.clone());
            let played = session_to_its_end(session, scenario, keeper);
            let rung = forkcast_sim::select! {
                cause = alarm.rung() => Some(cause),
                () = played => None,
            };
            *ended.borrow_mut() = handle.now();
            rung
        });
        match finished {
            Ok(finished) => match finished.value.or_else(|| self.alarm.cause()) {
                None => Ok(finished.at),
                Some(Cause::Unscripted(why)) if Limited::is_limit(&why) => Err((Ends::Limit, why.to_string())),
                Some(Cause::Unscripted(why)) => Err((Ends::Unscripted, why.to_string())),
                Some(broken) => Err((Ends::LawBroken, format!("{broken} (seed {})", self.scenario.seed))),
            },
            Err(stopped) => Err((ends(&stopped), stopped.to_string())),
        }
    }

    /// What the session begins with, once there is a clock.
    fn opening(&self) -> impl FnOnce(Handle) -> Opening + 'static {
        let (scenario, log) = (self.scenario.clone(), self.log.clone());
        let (service, alarm) = (self.service.clone(), self.alarm.clone());
        move |handle| {
            let script = Box::new(Limited::new(load::script(&scenario), scenario.limits.turns));
            let provider = Provider::new(handle, load::pace(&scenario.pace), script, service, alarm);
            Opening {
                settings: load::settings(&scenario),
                seed: Seed::new(scenario.seed),
                model: Rc::new(provider),
                sink: log,
                flags: scenario.flags.clone(),
                permissions: load::permissions(&scenario),
                definitions: scenario.kinds(),
                skills: load::skills(&scenario.world),
                tools: Tools::every(),
                hooks: load::hooks(&scenario.world),
                world: load::world(&scenario.world),
            }
        }
    }

    fn report(
        self,
        outcome: Result<Instant, (Ends, String)>,
        laws: Vec<&'static str>,
        book: &PriceBook,
        options: &Options,
    ) -> Run {
        let (ends, message, makespan) = match outcome {
            Ok(at) => (Ends::Finished, None, at),
            Err((ends, why)) => (ends, Some(why), *self.ended.borrow()),
        };
        let mut service = self.service.borrow_mut();
        service.settle_unread();
        let lines = std::mem::take(&mut service.lines);
        let mut observers = std::mem::take(&mut service.observers);
        drop(service);
        let mut broken: Vec<(&'static str, String)> = Vec::new();
        if ends == Ends::Finished {
            broken.extend(observers.iter_mut().filter_map(|law| Some((law.name(), law.end(makespan, &lines).err()?))));
        }
        if let Some(Cause::BrokenLaw { law, why, .. }) = self.alarm.cause() {
            broken.push((law, why));
        }
        let events = self.log.take();
        let agents = agent::agents(&events);
        let prices_of = self.scenario.prices;
        Run {
            digest: self.log.digest(),
            requests: request::requests(lines, self.keeper.take(), &agents, (book, prices_of)),
            laws: laws.into_iter().map(|law| (law, !broken.iter().any(|(name, _)| *name == law))).collect(),
            price_book: format!("list prices of {}", book.version()),
            options: options.clone(),
            ends: if broken.is_empty() { ends } else { Ends::LawBroken },
            message: message
                .or_else(|| broken.first().map(|(law, why)| format!("law `{law}` is broken at the end: {why}"))),
            makespan: makespan.max(events.last().map_or(makespan, |last| last.at)),
            scenario: self.scenario,
            agents,
            events,
        }
    }
}

const fn ends(stopped: &Stopped) -> Ends {
    match stopped {
        Stopped::Stalled { .. } => Ends::Stalled,
        Stopped::Steps { .. } | Stopped::Time { .. } => Ends::Limit,
    }
}

/// Until the user has left and nothing runs; without a terminal until nothing is left when the last act is over.
async fn session_to_its_end(session: Rc<Session>, scenario: Scenario, keeper: Keeper) {
    for (name, command) in &scenario.world.commands {
        session.front.register(name, Rc::new(command.clone()));
    }
    let main = Context::main(&session, Pool::main(&session));
    let interactive = session.settings.interactive;
    let acts = session.handle.spawn("user", user::acts(session.clone(), scenario.user, keeper));
    if interactive {
        repl(main).await;
    } else {
        // Acts of the first instant are there before the session looks; later ones find it waiting, or over.
        let _ = acts.await;
        headless(main).await;
    }
}
