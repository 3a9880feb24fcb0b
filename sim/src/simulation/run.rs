//! A whole run: session, model, user and observers together, from the first act until nothing is left to do.

use std::cell::{OnceCell, RefCell};
use std::fmt;
use std::rc::Rc;

use super::alarm::{Alarm, Cause};
use super::drafts::Drafts;
use super::log::{Log, Logged};
use super::provider::Provider;
use super::roster::Agent;
use super::service::Service;
use super::setup::Setup;
use super::sizes::Sizing;
use super::traffic::{Passage, Traffic};
use super::user::{Doing, Idle, act_out};
use crate::agent::input::{headless, repl};
use crate::agent::session::Opening;
use crate::agent::spawn::callers;
use crate::agent::tool::Pool;
use crate::agent::{Context, Session};
use crate::seed::Seed;
use crate::service::Entry;
use crate::time::{self, Handle, Instant, Stopped};

/// The result of a run, or of the part that was run.
pub struct Finished {
    /// Random seed.
    pub seed: u64,
    /// Digest over (instant, event), in order; if none was computed, that of no events.
    pub digest: u128,
    /// Number of events.
    pub events: u64,
    /// The events, if they were kept.
    pub log: Vec<Logged>,
    /// The agents in the order in which they began; the main agent first.
    pub agents: Vec<Agent>,
    /// The ledger: an entry for each request that the provider accepted; empty if the setup takes them.
    pub entries: Vec<Entry>,
    /// The requests themselves, by line, if they were kept.
    pub drafts: Drafts,
    /// All calls with their answers, if they were kept.
    pub traffic: Vec<Passage>,
    /// Calls refused by a rate limit. They have no line.
    pub over_limits: u64,
    /// Laws that held. A broken law ends the run, so the others were checked up to that point.
    pub laws_held: Vec<&'static str>,
    /// Its duration on its own clock.
    pub makespan: Instant,
    /// Turns of tasks.
    pub steps: u64,
    /// Timers that fired.
    pub timer_events: u64,
    /// Acts of the user that had no target.
    pub idle: Vec<Idle>,
    /// The session in its final state; its clock is stopped.
    pub session: Option<Rc<Session>>,
}

impl fmt::Debug for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest = format_args!("{:032x}", self.digest);
        let requests = self.entries.len();
        let mut shown = f.debug_struct("Finished");
        shown.field("seed", &self.seed).field("digest", &digest);
        shown.field("events", &self.events).field("requests", &requests).finish_non_exhaustive()
    }
}

/// Why a run did not finish.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// A question without an answer, a broken law, too many turns.
    #[error(transparent)]
    Alarm(Cause),
    /// Nothing could happen any more, or a limit was reached.
    #[error(transparent)]
    Stopped(Stopped),
}

/// A run that did not finish. Its partial result is kept.
#[derive(Debug, thiserror::Error)]
#[error("{why} (seed {})", .until.seed)]
pub struct Failed {
    /// Why.
    pub why: Failure,
    /// The partial result.
    pub until: Box<Finished>,
}

/// Stack for a run: about a thousand nested agents. It is allocated once, and costs only the pages that are touched;
/// deeper agents get more in each of their turns.
const STACK_BYTES: usize = 64 << 20;

/// Runs a setup on the executor of [`crate::time`].
///
/// # Errors
/// When it cannot continue, at a limit, or when a law does not hold.
pub fn run(setup: Setup) -> Result<Finished, Failed> {
    let plan = setup.plan.clone();
    let (play, record) = prepare(setup);
    let played = stacker::maybe_grow(STACK_BYTES, STACK_BYTES, || time::run(&plan, |handle| play.on(handle)));
    record.finish(played)
}

/// A setup as a play, and its record. [`run`] does both; on another executor ([`Handle::on`]) the caller drives it.
pub fn prepare(setup: Setup) -> (Play, Record) {
    let seed = Seed::new(setup.seed);
    let cache_seed = seed.child("cache").draws().below(u64::MAX);
    let mut service = Service::new(
        setup.rules,
        setup.sizing.clone(),
        setup.book.clone(),
        setup.prices_of,
        &setup.settings.session,
        cache_seed,
    );
    service.drafts = setup.keeps_drafts.then(Drafts::default);
    (service.explains, service.account_created) = (setup.explains, setup.account_created);
    service.resumes = setup.tools.get("SendMessage").is_some();
    let mut setup = setup;
    service.observers = std::mem::take(&mut setup.observers);
    service.takes_entries = setup.takes_entries.take();
    let is_counted = matches!(setup.sizing, Sizing::Counted(_) | Sizing::DeclaredOrCounted(_));
    if !service.explains && service.observers.is_empty() && !is_counted {
        service.wire.blocks = std::mem::take(&mut service.wire.blocks).unread();
    }
    let alarm = service.alarm.clone();
    let service = Rc::new(RefCell::new(service));
    let log = Rc::new(Log::new(service.clone(), setup.keeps_events, setup.digests));
    let doing = Rc::<Doing>::default();
    let session = Rc::<OnceCell<Rc<Session>>>::default();
    let traffic = if setup.keeps_traffic { Traffic::kept() } else { Traffic::default() };
    let record = Record { seed: setup.seed, service, log, alarm, doing, traffic, session };
    (Play { setup, seed, record: record.clone() }, record)
}

/// A run that has not begun.
pub struct Play {
    setup: Setup,
    seed: Seed,
    record: Record,
}

/// The record of a run, written while it runs.
#[derive(Clone)]
pub struct Record {
    seed: u64,
    service: Rc<RefCell<Service>>,
    log: Rc<Log>,
    alarm: Rc<Alarm>,
    doing: Rc<Doing>,
    traffic: Traffic,
    session: Rc<OnceCell<Rc<Session>>>,
}

impl Play {
    /// Plays it on this clock, until the user has done everything and nothing is left to do, or an alarm rings.
    pub async fn on(self, handle: Handle) {
        let Self { setup, seed, record } = self;
        let Record { service, log, alarm, doing, .. } = &record;
        let provider = Provider::new(handle.clone(), setup.pace, setup.script, service.clone(), alarm.clone())
            .with_limit(setup.turns_max)
            .with_outages(setup.outages)
            .with_traffic(record.traffic.clone())
            .with_rate_limits(setup.rate_limits);
        let opening = Opening {
            settings: setup.settings,
            seed,
            model: Rc::new(provider),
            sink: log.clone(),
            flags: setup.flags,
            permissions: setup.permissions,
            definitions: setup.definitions,
            skills: setup.skills,
            servers: setup.servers,
            tools: setup.tools,
            hooks: setup.hooks,
            world: setup.world,
        };
        let session = opening.open(handle.clone());
        session.helpers.set_summariser(callers::summary);
        for (name, command) in setup.commands {
            session.front.register(&name, command);
        }
        let main = Context::main(&session, Pool::main(&session));
        main.entries.borrow_mut().extend(setup.history);
        let set = record.session.set(session.clone());
        debug_assert!(set.is_ok(), "a play is used up, so a record has one session");
        drop(handle.spawn("user", act_out(session.clone(), log.clone(), setup.acts, doing.clone())));
        crate::select! {
            _ = alarm.rung() => {}
            () = serve(main, doing) => record.close(&session),
        }
    }
}

/// Serves the session until its user has left, or its program has no more input for it.
async fn serve(main: Rc<Context>, doing: &Doing) {
    if main.session.settings.interactive {
        repl(main.clone()).await;
        return main.session.dismiss().await;
    }
    loop {
        headless(main.clone()).await;
        if doing.is_done() && main.session.queue.is_empty() {
            return main.session.dismiss().await;
        }
        let _waiting = main.session.handle.waiting_for("the next line of input, or its end");
        crate::select! {
            () = main.session.queue.changed() => {}
            () = doing.changed() => {}
        }
    }
}

impl Record {
    /// Shows the session to the observers, in the state in which its consumer leaves it.
    fn close(&self, session: &Session) {
        let at = session.now();
        let service = &mut *self.service.borrow_mut();
        for observer in &mut service.observers {
            if let Err(why) = observer.closed(session) {
                service.alarm.ring(Cause::BrokenLaw { law: observer.name(), at, why });
            }
        }
    }

    /// The end of a run: final checks of the observers, and accounting of unread writes.
    ///
    /// # Errors
    /// When the run did not finish, or a law does not hold.
    pub fn finish(self, played: Result<time::Finished<()>, Stopped>) -> Result<Finished, Failed> {
        let (makespan, steps, timer_events) = match &played {
            Ok(played) => (played.at, played.steps, played.timer_events),
            Err(Stopped::Stalled { at, .. }) => (*at, 0, 0),
            Err(Stopped::Steps { at, limit, .. }) => (*at, *limit, 0),
            Err(Stopped::Time { until, .. }) => (*until, 0, 0),
        };
        let mut service = self.service.borrow_mut();
        if played.is_ok() && self.alarm.cause().is_none() {
            service.end(makespan);
        }
        let finished = Finished {
            seed: self.seed,
            digest: self.log.digest(),
            events: self.log.events(),
            log: self.log.take(),
            agents: self.log.take_agents(),
            entries: service.take_entries(),
            drafts: service.drafts.take().unwrap_or_default(),
            traffic: self.traffic.take(),
            over_limits: service.over_limits,
            laws_held: laws_held(&service, self.alarm.cause().as_ref()),
            makespan,
            steps,
            timer_events,
            idle: self.doing.idle(),
            session: self.session.get().cloned(),
        };
        let why = match (self.alarm.cause(), played) {
            (None, Ok(_)) => return Ok(finished),
            (Some(cause), _) => Failure::Alarm(cause),
            (None, Err(stopped)) => Failure::Stopped(stopped),
        };
        Err(Failed { why, until: Box::new(finished) })
    }
}

fn laws_held(service: &Service, cause: Option<&Cause>) -> Vec<&'static str> {
    let is_broken = |name: &str| matches!(cause, Some(Cause::BrokenLaw { law, .. }) if *law == name);
    service.observers.iter().map(|observer| observer.name()).filter(|name| !is_broken(name)).collect()
}
