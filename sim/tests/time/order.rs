//! Scheduling order.

use forkcast_sim::time::{Duration, Instant, Plan, run};
use tokio::sync::{mpsc, oneshot};

use super::{Log, finish, ms};

#[test]
fn time_moves_only_to_the_next_timer() {
    let finished = finish(|handle| async move {
        handle.sleep(ms(1_500)).await;
        let woken = handle.now();
        handle.sleep(Duration(1)).await;
        handle.sleep(Duration(0)).await;
        handle.sleep_until(Instant(3)).await;
        woken
    });
    assert_eq!(finished.value, Instant::from_millis(1_500));
    assert_eq!(finished.at, Instant(1_500_000_001));
    assert_eq!(finished.timer_events, 2);
    assert_eq!(finished.steps, 3);
}

#[test]
fn ready_tasks_run_in_the_order_of_waking() {
    let log = Log::default();
    let seen = log.clone();
    finish(|handle| async move {
        let tasks: Vec<_> = (0..4)
            .map(|task| {
                let (handle, log) = (handle.clone(), log.clone());
                handle.clone().spawn(format!("task {task}"), async move {
                    for turn in 0..2 {
                        log.note(&handle, &format!("task {task} turn {turn}"));
                        handle.yield_now().await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    let expected: Vec<String> =
        (0..2).flat_map(|turn| (0..4).map(move |task| format!("0 task {task} turn {turn}"))).collect();
    assert_eq!(seen.lines(), expected);
}

#[test]
fn timers_of_one_instant_fire_in_the_order_in_which_they_were_set() {
    let log = Log::default();
    let seen = log.clone();
    finish(|handle| async move {
        // The later a task is spawned, the sooner it sets its timer for the common instant.
        let tasks: Vec<_> = (0..5)
            .map(|task| {
                let (handle, log) = (handle.clone(), log.clone());
                handle.clone().spawn("task", async move {
                    handle.sleep(ms(10 * (5 - task))).await;
                    handle.sleep_until(Instant::from_millis(100)).await;
                    log.note(&handle, &format!("task {task}"));
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    assert_eq!(seen.lines(), ["100 task 4", "100 task 3", "100 task 2", "100 task 1", "100 task 0"]);
}

#[test]
fn timers_fire_by_nanoseconds_not_in_the_order_they_were_set() {
    let log = Log::default();
    let seen = log.clone();
    finish(|handle| async move {
        let tasks: Vec<_> = [1_900, 1_100, 1_500, 2_000]
            .into_iter()
            .map(|micros| {
                let (handle, log) = (handle.clone(), log.clone());
                handle.clone().spawn("task", async move {
                    handle.sleep(Duration(micros * 1_000)).await;
                    log.note(&handle, &micros.to_string());
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    assert_eq!(seen.words(), ["1100", "1500", "1900", "2000"]);
}

#[test]
fn a_span_before_an_instant_is_that_much_earlier_and_never_before_the_beginning() {
    let at = Instant::from_millis(1_000);
    assert_eq!(at - Duration::from_millis(400), Instant::from_millis(600));
    assert_eq!(at - Duration::from_secs(2), Instant::default());
}

#[test]
fn all_work_of_an_instant_is_done_before_time_moves_on() {
    let log = Log::default();
    let seen = log.clone();
    finish(|handle| async move {
        let (send, mut receive) = mpsc::unbounded_channel();
        let (forward, mut last) = mpsc::unbounded_channel();
        let (other, noted) = (handle.clone(), log.clone());
        handle.spawn("middle", async move {
            while let Some(number) = receive.recv().await {
                noted.note(&other, &format!("middle {number}"));
                forward.send(number).unwrap();
            }
        });
        let (other, noted) = (handle.clone(), log.clone());
        let clock = handle.spawn("clock", async move {
            other.sleep(Duration(10_000_001)).await;
            noted.note(&other, "one nanosecond later");
        });
        handle.sleep(ms(10)).await;
        send.send(1).unwrap();
        last.recv().await.unwrap();
        log.note(&handle, "arrived");
        clock.await.unwrap();
    });
    assert_eq!(seen.lines(), ["10 middle 1", "10 arrived", "10 one nanosecond later"]);
}

/// The order in which a hundred tasks get their first turn.
fn first_turns(interleave: Option<u64>) -> Vec<usize> {
    let plan = Plan { interleave, ..Plan::default() };
    let finished = run(&plan, |handle| async move {
        let (send, mut receive) = mpsc::unbounded_channel();
        for task in 0..100 {
            let send = send.clone();
            handle.spawn("task", async move { send.send(task).unwrap() });
        }
        drop(send);
        let mut order = Vec::new();
        while let Some(task) = receive.recv().await {
            order.push(task);
        }
        order
    });
    finished.unwrap().value
}

#[test]
fn interleaving_changes_the_order_and_can_be_repeated() {
    let in_order: Vec<usize> = (0..100).collect();
    assert_eq!(first_turns(None), in_order);
    let drawn = first_turns(Some(1));
    assert_ne!(drawn, in_order);
    assert_eq!(drawn, first_turns(Some(1)));
    assert_ne!(drawn, first_turns(Some(2)));
    let mut sorted = drawn.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, in_order, "each task runs once");
    assert_eq!(drawn[..8], [38, 92, 29, 99, 77, 87, 95, 89], "the same on every machine");
}

#[test]
fn select_polls_in_the_order_written() {
    let finished = finish(|handle| async move {
        let mut first = 0;
        for _ in 0..64 {
            let (left, right) = (oneshot::channel(), oneshot::channel());
            left.0.send(()).unwrap();
            right.0.send(()).unwrap();
            first += forkcast_sim::select! {
                _ = left.1 => 1,
                _ = right.1 => 0,
            };
            let sleep = handle.sleep(ms(1));
            forkcast_sim::select! {
                () = sleep => {}
                else => {}
            }
        }
        first
    });
    assert_eq!(finished.value, 64);
}

#[test]
fn cancelled_sleeps_neither_fire_nor_move_the_clock() {
    let finished = finish(|handle| async move {
        for _ in 0..1_000 {
            let (work, limit) = (handle.sleep(ms(1)), handle.sleep(ms(3_600_000)));
            forkcast_sim::select! {
                () = work => {}
                () = limit => panic!("the shorter sleep ends first"),
            }
        }
        handle.now()
    });
    assert_eq!(finished.value, Instant::from_millis(1_000));
    assert_eq!(finished.timer_events, 1_000);
}

#[test]
fn a_sleep_wakes_the_task_that_polled_it_last() {
    let finished = finish(|handle| async move {
        let mut sleep = handle.sleep(ms(10));
        // Polled by the main task first, then moved to another task.
        forkcast_sim::select! {
            () = &mut sleep => panic!("too soon"),
            () = handle.yield_now() => {}
        }
        handle.spawn("other", sleep).await
    });
    assert_eq!((finished.value, finished.at), (Ok(()), Instant::from_millis(10)));
}

#[test]
fn a_million_tasks_sleep_and_end() {
    let finished = finish(|handle| async move {
        let tasks: Vec<_> = (0..1_000_000_u64)
            .map(|task| handle.spawn("sleeper", handle.sleep(Duration(task * 7_919 % 1_000_003))))
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    assert_eq!(finished.timer_events, 999_999, "one of them does not sleep at all");
    assert_eq!(finished.at, Instant(1_000_002));
}

#[test]
fn a_million_tasks_that_wait_for_ever_are_dropped() {
    let finished = finish(|handle| async move {
        for _ in 0..1_000_000 {
            let other = handle.clone();
            handle.spawn("sleeper", async move { other.sleep(ms(1)).await });
        }
        handle.yield_now().await;
    });
    assert_eq!(finished.steps, 1_000_002);
}
