//! Tasks: results, aborts, and the order of drops.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use forkcast_sim::time::{Aborted, Handle, Instant, Plan, run};
use tokio::sync::{Mutex, oneshot};

use super::{Log, finish, ms};

/// Notes its end.
struct Ends(Handle, Log, String);

impl Drop for Ends {
    fn drop(&mut self) {
        self.1.note(&self.0, &format!("{} ends", self.2));
    }
}

#[test]
fn a_task_gives_its_result_to_its_waiter() {
    let finished = finish(|handle| async move {
        let clock = handle.clone();
        let task = handle.spawn("adder", async move {
            clock.sleep(ms(5)).await;
            2 + 3
        });
        assert_eq!(task.name(), "adder");
        assert!(!task.is_finished());
        handle.sleep(ms(6)).await;
        assert!(task.is_finished());
        task.abort();
        task.await
    });
    assert_eq!(finished.value, Ok(5));
}

#[test]
fn a_task_with_a_dropped_handle_continues() {
    let finished = finish(|handle| async move {
        let (send, receive) = oneshot::channel();
        let clock = handle.clone();
        drop(handle.spawn("detached", async move {
            clock.sleep(ms(5)).await;
            send.send(clock.now()).unwrap();
        }));
        receive.await.unwrap()
    });
    assert_eq!(finished.value, Instant::from_millis(5));
}

#[test]
fn an_aborted_task_is_dropped_at_its_next_turn() {
    let log = Log::default();
    let seen = log.clone();
    finish(|handle| async move {
        let lock = Rc::new(Mutex::new(()));
        let (held, ends, clock) =
            (Rc::clone(&lock), Ends(handle.clone(), log.clone(), "task".to_owned()), handle.clone());
        let task = handle.spawn("task", async move {
            let _ends = ends;
            let _held = held.lock().await;
            clock.sleep(ms(1_000)).await;
        });
        handle.sleep(ms(10)).await;
        assert!(lock.try_lock().is_err());
        task.abort();
        assert!(!task.is_finished());
        drop(lock.lock().await);
        log.note(&handle, "lock free");
        assert!(task.is_finished());
        assert_eq!(task.await, Err(Aborted));
        log.note(&handle, "joined");
    });
    assert_eq!(seen.lines(), ["10 task ends", "10 lock free", "10 joined"]);
}

#[test]
fn a_task_aborted_before_its_first_turn_never_runs() {
    let finished = finish(|handle| async move {
        let task = handle.spawn("task", async { panic!("must not run") });
        task.abort();
        let (sender, receiver) = oneshot::channel::<()>();
        let suicide = handle.spawn("waits", async move { receiver.await.is_ok() });
        handle.yield_now().await;
        suicide.abort();
        drop(sender);
        (task.await.is_err(), suicide.await)
    });
    assert_eq!(finished.value, (true, Err(Aborted)));
}

#[test]
fn remaining_tasks_are_dropped_in_spawning_order_when_main_ends() {
    let log = Log::default();
    let seen = log.clone();
    let finished = finish(|handle| async move {
        // Slots of ended tasks are reused, last first; the order is still the spawning order.
        let short = [handle.spawn("short", async {}), handle.spawn("short", async {})];
        for task in short {
            task.await.unwrap();
        }
        let mut kept = Vec::new();
        for name in ["a", "b", "c", "d"] {
            let ends = Ends(handle.clone(), log.clone(), name.to_owned());
            let (clock, log) = (handle.clone(), log.clone());
            kept.push(handle.spawn(name, async move {
                let ends = ends;
                if name == "a" {
                    return;
                }
                clock.sleep(ms(1_000)).await;
                log.note(&ends.0, "never");
            }));
            handle.yield_now().await;
        }
        handle.sleep(ms(3)).await;
        let late = Ends(handle.clone(), log.clone(), "late".to_owned());
        kept.push(handle.spawn("late", async move { drop(late) }));
        kept
    });
    assert_eq!(seen.lines(), ["0 a ends", "3 b ends", "3 c ends", "3 d ends", "3 late ends"]);
    assert!(finished.value.iter().all(forkcast_sim::time::Task::is_finished));
    assert_eq!(finished.at, Instant::from_millis(3));
}

#[test]
fn destructors_may_use_their_handle_when_a_run_ends() {
    struct Spawns(Handle, Log);
    impl Drop for Spawns {
        fn drop(&mut self) {
            let late = Spawns(self.0.clone(), self.1.clone());
            self.1.note(&self.0, "dropped");
            if self.1.lines().len() < 3 {
                let task = self.0.spawn("late", async move { drop(late) });
                assert!(task.is_finished(), "a run that is over takes no tasks");
            } else {
                std::mem::forget(late);
            }
        }
    }
    let log = Log::default();
    let seen = log.clone();
    finish(|handle| async move {
        let spawns = Spawns(handle.clone(), log);
        let clock = handle.clone();
        handle.spawn("task", async move {
            clock.sleep(ms(1)).await;
            drop(spawns);
        });
        handle.yield_now().await;
    });
    assert_eq!(seen.lines(), ["0 dropped", "0 dropped", "0 dropped"]);
}

#[test]
fn a_waker_kept_beyond_its_task_wakes_nothing() {
    let finished = finish(|handle| async move {
        let (send, receive) = oneshot::channel();
        let kept = handle.spawn("old", async move {
            let waker = std::future::poll_fn(|cx| std::task::Poll::Ready(cx.waker().clone())).await;
            send.send(waker).unwrap();
        });
        kept.await.unwrap();
        let waker = receive.await.unwrap();
        let clock = handle.clone();
        let new = handle.spawn("new", async move { clock.sleep(ms(50)).await });
        handle.sleep(ms(10)).await;
        waker.wake();
        new.await.unwrap();
    });
    // Main: start, join, sleep, join, end; old: one; new: start and end.
    assert_eq!(finished.steps, 7);
}

#[test]
fn a_panic_of_a_task_propagates_and_drops_the_rest() {
    let log = Log::default();
    let seen = log.clone();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        run(&Plan::default(), |handle| async move {
            let ends = Ends(handle.clone(), log.clone(), "bystander".to_owned());
            handle.spawn("bystander", async move {
                std::future::pending::<()>().await;
                drop(ends);
            });
            handle.spawn("child", async { panic!("on purpose") });
            handle.sleep(ms(1)).await;
        })
    }));
    assert_eq!(panicked.unwrap_err().downcast_ref::<&str>(), Some(&"on purpose"));
    assert_eq!(seen.lines(), ["0 bystander ends"]);
}
