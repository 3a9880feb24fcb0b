//! The same agents on our executor, on tokio's paused clock and on tokio in real time.

#![allow(clippy::disallowed_methods)] // Tokio's own clock and tasks are the comparison.

use std::pin::Pin;
use std::rc::Rc;

use forkcast_sim::time::{Handle, Instant, Plan, Runtime, Turns, run};
use tokio::sync::{Notify, Semaphore, mpsc, oneshot};
use tokio::task::LocalSet;

use super::{Log, ms};

/// Tokio's `LocalSet` as the runtime of our handle.
struct Local(tokio::time::Instant);

impl Runtime for Local {
    fn now(&self) -> Instant {
        Instant(u64::try_from(self.0.elapsed().as_nanos()).unwrap())
    }

    fn sleep_until(&self, at: Instant) -> Turns {
        Box::pin(tokio::time::sleep_until(self.0 + std::time::Duration::from_nanos(at.0)))
    }

    fn spawn(&self, _: &str, task: Turns) {
        tokio::task::spawn_local(task);
    }
}

type Body = fn(Handle, Log) -> Pin<Box<dyn Future<Output = ()>>>;

fn on_ours(body: Body) -> Log {
    let log = Log::default();
    let noted = log.clone();
    run(&Plan::default(), |handle| body(handle, noted)).unwrap();
    log
}

fn on_tokio(body: Body, paused: bool) -> Log {
    let log = Log::default();
    let noted = log.clone();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(paused).build().unwrap();
    LocalSet::new().block_on(&runtime, async move {
        let handle = Handle::on(Rc::new(Local(tokio::time::Instant::now())));
        let _nothing = handle.waiting_for("nothing: tokio has no report");
        handle.spawn("main", body(handle.clone(), noted)).await.unwrap();
    });
    log
}

/// Agents with all the kinds of waiting that the runtime of `agent` uses.
async fn session(handle: Handle, log: Log) {
    let slots = Rc::new(Semaphore::new(2));
    let (report, mut reports) = mpsc::channel(1);
    let stop = Rc::new(Notify::new());
    for agent in 0..6_u64 {
        let (handle, log, slots, report) = (handle.clone(), log.clone(), Rc::clone(&slots), report.clone());
        handle.clone().spawn(format!("agent {agent}"), async move {
            let _slot = slots.acquire().await.unwrap();
            log.note(&handle, &format!("agent {agent} starts"));
            for turn in 0..3 {
                handle.sleep(ms(10 + agent * 5 % 7 + turn)).await;
                log.note(&handle, &format!("agent {agent} turn {turn}"));
            }
            report.send(agent).await.unwrap();
            log.note(&handle, &format!("agent {agent} reported"));
        });
    }
    drop(report);
    let background = background(&handle, &log, &stop);
    let (ask, asked) = oneshot::channel::<u64>();
    handle.spawn("user", typing(handle.clone(), ask));
    let mut asked = Some(asked);
    loop {
        forkcast_sim::select! {
            question = async { asked.as_mut().unwrap().await }, if asked.is_some() => {
                asked = None;
                log.note(&handle, &format!("asked {question:?}"));
                stop.notify_one();
            }
            reported = reports.recv() => match reported {
                Some(agent) => log.note(&handle, &format!("heard of agent {agent}")),
                None => break,
            },
            () = handle.sleep(ms(9)) => log.note(&handle, "nothing for 9 ms"),
        }
    }
    background.abort();
    log.note(&handle, &format!("background {:?}", background.await));
}

fn background(handle: &Handle, log: &Log, stop: &Rc<Notify>) -> forkcast_sim::time::Task<u32> {
    let (clock, log, stop) = (handle.clone(), log.clone(), Rc::clone(stop));
    handle.spawn("background", async move {
        let mut beats = 0;
        loop {
            forkcast_sim::select! {
                () = stop.notified() => log.note(&clock, "ignores the stop signal"),
                () = clock.sleep(ms(8)) => {
                    beats += 1;
                    log.note(&clock, &format!("beat {beats}"));
                }
            }
            clock.yield_now().await;
        }
    })
}

async fn typing(handle: Handle, ask: oneshot::Sender<u64>) {
    handle.sleep(ms(24)).await;
    ask.send(7).unwrap();
}

#[test]
fn the_same_agents_produce_the_same_log_on_a_paused_tokio() {
    let body: Body = |handle, log| Box::pin(session(handle, log));
    let (ours, tokio) = (on_ours(body).lines(), on_tokio(body, true).lines());
    assert!(ours.len() > 40, "{ours:#?}");
    assert!(ours.last().unwrap().ends_with("background Err(Aborted)"));
    assert_eq!(ours, tokio);
}

/// Steps far enough apart that even a busy machine keeps their order.
async fn slow(handle: Handle, log: Log) {
    let (send, mut receive) = mpsc::unbounded_channel();
    for agent in [3_u64, 1, 2] {
        let (clock, log, send) = (handle.clone(), log.clone(), send.clone());
        handle.spawn(format!("agent {agent}"), async move {
            clock.sleep(ms(agent * 60)).await;
            log.note(&clock, &format!("agent {agent} reports"));
            send.send(agent).unwrap();
        });
    }
    drop(send);
    while let Some(agent) = receive.recv().await {
        log.note(&handle, &format!("heard of agent {agent}"));
    }
}

#[test]
fn the_same_agents_behave_the_same_in_real_time() {
    let body: Body = |handle, log| Box::pin(slow(handle, log));
    assert_eq!(on_ours(body).words(), on_tokio(body, false).words());
}
