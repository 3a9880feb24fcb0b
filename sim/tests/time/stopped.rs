//! Runs that do not end by themselves, and their messages.

use forkcast_sim::time::{Finished, Instant, Limits, Plan, Stopped, run};
use tokio::sync::oneshot;

use super::ms;

#[test]
fn a_stall_reports_which_task_waits_for_what() {
    let stopped = run(&Plan::default(), |handle| async move {
        handle.sleep(ms(250)).await;
        let (_kept, receive) = oneshot::channel::<()>();
        let clock = handle.clone();
        let child = handle.spawn("child", async move {
            let _over = clock.waiting_for("what came long ago");
            drop(_over);
            let _waiting = clock.waiting_for("the reply to request 7");
            let _besides = clock.waiting_for("permission for `Bash`");
            receive.await
        });
        handle.spawn("silent", std::future::pending::<()>());
        let _ = child.await;
    })
    .unwrap_err();
    let waits = |name: &str, what: Option<&str>| (name.to_owned(), what.map(str::to_owned));
    let Stopped::Stalled { at, waiting } = &stopped else { panic!("{stopped}") };
    assert_eq!(*at, Instant::from_millis(250));
    assert_eq!(
        waiting,
        &[
            waits("main", Some("the end of `child`")),
            waits("child", Some("the reply to request 7 and permission for `Bash`")),
            waits("silent", None),
        ]
    );
    assert_eq!(
        stopped.to_string(),
        "stalled at 0.25s: every task waits and no timer is set. \
         `main` waits for the end of `child`. \
         `child` waits for the reply to request 7 and permission for `Bash`. \
         `silent` waits and does not say what for. \
         Look for a message, reply or signal that is never sent, or a lock that is held across a wait"
    );
}

#[test]
fn a_cancelled_sleep_does_not_hide_a_stall() {
    let stopped = run(&Plan::default(), |handle| async move {
        {
            let mut sleep = handle.sleep(ms(1_000));
            forkcast_sim::select! {
                () = &mut sleep => {}
                () = handle.yield_now() => {}
            }
        }
        std::future::pending::<()>().await;
    });
    let Err(Stopped::Stalled { at, .. }) = stopped else { panic!("{stopped:?}") };
    assert_eq!(at, Instant(0));
}

#[test]
fn a_long_report_is_cut_and_counted() {
    let stopped = run(&Plan::default(), |handle| async move {
        for _ in 0..30 {
            handle.spawn("one of many", std::future::pending::<()>());
        }
        std::future::pending::<()>().await;
    });
    let text = stopped.unwrap_err().to_string();
    assert!(text.contains("So do 11 more tasks."), "{text}");
    assert!(text.len() < 1_500, "{text}");
}

#[test]
fn a_loop_without_waits_reaches_the_step_limit() {
    let plan = Plan { limits: Limits { steps: 1_000, ..Limits::default() }, ..Plan::default() };
    let stopped = run(&plan, |handle| async move {
        handle.sleep(ms(1_500)).await;
        let other = handle.clone();
        let looping = handle.spawn("looping", async move {
            loop {
                other.yield_now().await;
            }
        });
        let _: Result<(), _> = looping.await;
    });
    let running = "looping".to_owned();
    assert_eq!(stopped, Err(Stopped::Steps { limit: 1_000, at: Instant::from_millis(1_500), running }));
    let text = stopped.unwrap_err().to_string();
    assert!(text.starts_with("stopped at 1.5s after 1000 steps; `looping` had the last one. "), "{text}");
}

#[test]
fn a_run_may_use_all_of_its_steps_and_all_of_its_time() {
    let plan = Plan { limits: Limits { steps: 2, until: Instant::from_millis(5) }, ..Plan::default() };
    let finished = run(&plan, |handle| async move { handle.sleep(ms(5)).await }).unwrap();
    assert_eq!((finished.steps, finished.at), (2, Instant::from_millis(5)));
    let plan = Plan { limits: Limits { steps: 1, ..plan.limits }, ..plan };
    let stopped = run(&plan, |handle| async move { handle.sleep(ms(5)).await });
    assert!(matches!(stopped, Err(Stopped::Steps { limit: 1, .. })), "{stopped:?}");
}

#[test]
fn a_wait_that_is_too_long_reaches_the_time_limit() {
    let until = Instant::from_millis(60_000);
    let plan = Plan { limits: Limits { until, ..Limits::default() }, ..Plan::default() };
    let stopped = run(&plan, |handle| async move {
        let _waiting = handle.waiting_for("the night to end");
        loop {
            handle.sleep(ms(7_000)).await;
        }
    });
    let waiting = vec![("main".to_owned(), Some("the night to end".to_owned()))];
    let stopped = stopped.map(|finished: Finished<()>| finished).unwrap_err();
    assert_eq!(stopped, Stopped::Time { until, next: Instant::from_millis(63_000), waiting });
    let text = stopped.to_string();
    let start = "stopped at the limit of time, 60s: the next timer is set for 63s. `main` waits for the night to end. ";
    assert!(text.starts_with(start), "{text}");
}
