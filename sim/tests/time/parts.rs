//! Parts of a task that are woken separately: events and times are the same as when everything is polled each time.

use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use forkcast_sim::time::{Finished, Handle, Part, Plan, Stopped, Turns, run};
use proptest::prelude::*;
use tokio::sync::Notify;

use super::{Log, finish, ms};

/// What an agent does before it yields a value. Each value rings a bell, in turn.
#[derive(Clone, Copy, Debug)]
enum Pause {
    /// Sleeps for this many milliseconds.
    Sleep(u64),
    /// Lets other tasks run first.
    Yield,
    /// Waits for this bell.
    Bell(usize),
}

const BELLS: usize = 2;

/// An agent and its own agents, which work concurrently.
#[derive(Clone, Debug)]
struct Script {
    pauses: Vec<Pause>,
    agents: Vec<Script>,
}

impl Script {
    /// Each pause ends with a value, and each value is passed on by all agents above.
    fn values(&self) -> usize {
        self.pauses.len() + self.agents.iter().map(Self::values).sum::<usize>()
    }
}

fn scripts() -> impl Strategy<Value = Script> {
    let pause = || prop_oneof![(0..4_u64).prop_map(Pause::Sleep), Just(Pause::Yield), (0..BELLS).prop_map(Pause::Bell)];
    let pauses = move || prop::collection::vec(pause(), 0..4);
    let agent = pauses().prop_map(|pauses| Script { pauses, agents: Vec::new() });
    agent.prop_recursive(4, 24, 3, move |inner| {
        (pauses(), prop::collection::vec(inner, 0..3)).prop_map(|(pauses, agents)| Script { pauses, agents })
    })
}

/// Values by name; `Plain` is polled each time its consumer polls.
enum Source {
    Part(Part<Rc<str>>),
    Plain(Agent),
}

impl Source {
    fn begin(script: &Script, name: String, stage: &Stage) -> Self {
        let mut agent = Agent::new(script, name, stage);
        match stage.in_parts {
            true => Self::Part(stage.handle.part(move |context| agent.poll(context))),
            false => Self::Plain(agent),
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Rc<str>> {
        match self {
            Self::Part(part) => pin!(part.next()).poll(context),
            Self::Plain(agent) => agent.poll(context),
        }
    }
}

#[derive(Clone)]
struct Stage {
    handle: Handle,
    log: Log,
    bells: Rc<[Notify; BELLS]>,
    in_parts: bool,
}

impl Stage {
    fn begin(&self, pause: Pause) -> Turns {
        match pause {
            Pause::Sleep(span_ms) => Box::pin(self.handle.sleep(ms(span_ms))),
            Pause::Yield => Box::pin(self.handle.yield_now()),
            Pause::Bell(bell) => {
                let bells = Rc::clone(&self.bells);
                Box::pin(async move { bells[bell].notified().await })
            }
        }
    }
}

struct Agent {
    name: String,
    pauses: std::vec::IntoIter<Pause>,
    pause: Option<Turns>,
    agents: Vec<Source>,
    stage: Stage,
}

impl Agent {
    fn new(script: &Script, name: String, stage: &Stage) -> Self {
        let begin = |(at, script)| Source::begin(script, format!("{name}.{at}"), stage);
        let agents = script.agents.iter().enumerate().map(begin).collect();
        Self { pauses: script.pauses.clone().into_iter(), pause: None, agents, stage: stage.clone(), name }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Rc<str>> {
        for agent in &mut self.agents {
            if let Poll::Ready(value) = agent.poll(context) {
                self.stage.log.note(&self.stage.handle, &format!("{} hears {value}", self.name));
                return Poll::Ready(value);
            }
        }
        if self.pause.is_none() {
            self.pause = self.pauses.next().map(|pause| self.stage.begin(pause));
        }
        let Some(pause) = &mut self.pause else { return Poll::Pending };
        ready!(pause.as_mut().poll(context));
        self.pause = None;
        self.stage.bells[self.pauses.len() % BELLS].notify_one();
        self.stage.log.note(&self.stage.handle, &format!("{} goes on", self.name));
        Poll::Ready(self.name.as_str().into())
    }
}

/// Two concurrent tasks, each an agent with nested agents. If all wait for bells, the run stalls.
fn play(scripts: &[Script; 2], in_parts: bool, interleave: Option<u64>) -> (Log, Result<Finished<()>, Stopped>) {
    let log = Log::default();
    let (noted, scripts) = (log.clone(), scripts.clone());
    let plan = Plan { interleave, ..Plan::default() };
    let finished = run(&plan, |handle| async move {
        let stage = Stage { handle, log: noted, bells: Rc::default(), in_parts };
        let mut tasks = Vec::new();
        for (at, script) in scripts.iter().enumerate() {
            let (script, inner) = (script.clone(), stage.clone());
            tasks.push(stage.handle.spawn(format!("task {at}"), async move {
                let mut source = Source::begin(&script, at.to_string(), &inner);
                for _ in 0..script.values() {
                    std::future::poll_fn(|context| source.poll(context)).await;
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
    });
    (log, finished)
}

proptest! {
    #[test]
    fn parts_do_what_polling_everything_does(
        scripts in [scripts(), scripts()],
        interleave in prop::option::of(any::<u64>()),
    ) {
        let (ours, theirs) = (play(&scripts, true, interleave), play(&scripts, false, interleave));
        prop_assert_eq!(ours.0.lines(), theirs.0.lines());
        prop_assert_eq!(ours.1, theirs.1);
    }
}

/// How often the agents of a chain are polled if only the innermost has work.
#[test]
fn an_event_polls_only_its_agent_and_none_that_waits_for_it() {
    const DEPTH: u64 = 200;
    const EVENTS: u64 = 50;
    fn chain(handle: &Handle, depth: u64, polls: &Log) -> Part<()> {
        let (own, polls) = (handle.clone(), polls.clone());
        let mut below = (depth > 0).then(|| chain(handle, depth - 1, &polls));
        let (mut sleep, mut left) = (own.sleep(ms(1)), EVENTS);
        handle.part(move |context| {
            polls.note(&own, "polled");
            if let Some(below) = &mut below {
                return pin!(below.next()).poll(context);
            }
            while left > 0 && Pin::new(&mut sleep).poll(context).is_ready() {
                left -= 1;
                sleep = own.sleep(ms(1));
            }
            if left > 0 { Poll::Pending } else { Poll::Ready(()) }
        })
    }
    let polls = Log::default();
    let noted = polls.clone();
    finish(|handle| async move { chain(&handle, DEPTH, &noted).next().await });
    let polled = u64::try_from(polls.lines().len()).unwrap();
    // Once at the start, once for the end, and once per event.
    assert!(polled <= 2 * (DEPTH + 1) + EVENTS, "{polled} polls");
}

/// A part that is moved to another task belongs to that task.
#[test]
fn a_part_may_move_to_another_task() {
    let finished = finish(|handle| async move {
        let (clock, mut left) = (handle.clone(), 2);
        let mut sleep = clock.sleep(ms(5));
        let mut part = handle.part(move |context| {
            if Pin::new(&mut sleep).poll(context).is_pending() {
                return Poll::Pending;
            }
            left -= 1;
            sleep = clock.sleep(ms(5));
            Poll::Ready(left)
        });
        // Polled here, but not until it yields a value.
        forkcast_sim::select! {
            _ = part.next() => panic!("it sleeps longer"),
            () = handle.sleep(ms(2)) => {}
        }
        let moved = handle.spawn("another", async move { (part.next().await, part.next().await) });
        moved.await.unwrap()
    });
    assert_eq!(finished.value, (1, 0));
    assert_eq!(finished.at, forkcast_sim::time::Instant::from_millis(10));
}

/// A task may end without taking its part's value. This does not affect other tasks.
#[test]
fn a_value_that_is_never_taken_does_not_block_other_parts() {
    let finished = finish(|handle| async move {
        let bell = Rc::new(Notify::new());
        let (mut sleep, ringing) = (handle.sleep(ms(5)), Rc::clone(&bell));
        let mut untaken = handle.part(move |context| {
            ready!(Pin::new(&mut sleep).poll(context));
            ringing.notify_one();
            Poll::Ready(())
        });
        let first = handle.spawn("first", async move {
            forkcast_sim::select! {
                () = bell.notified() => {}
                () = untaken.next() => panic!("the bell comes first"),
            }
        });
        let mut given = handle.part(|_| Poll::Ready(()));
        let clock = handle.clone();
        let second = handle.spawn("second", async move {
            clock.sleep(ms(5)).await;
            given.next().await;
        });
        first.await.unwrap();
        second.await.unwrap();
    });
    assert_eq!(finished.at, forkcast_sim::time::Instant::from_millis(5));
}
