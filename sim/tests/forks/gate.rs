//! When an `Agent` call forks, and the report otherwise (FORK-01..07, DIAG-05).

use forkcast_sim::agent::Event;
use forkcast_sim::agent::spawn::fork::Profile;
use forkcast_sim::agent::spawn::fork::gate::Closed;
use forkcast_sim::simulation::Setup;
use serde_json::json;

use super::scene::{Played, Scene, agent, fork, system, tools};

type Change = fn(&mut Setup);

fn off(setup: &mut Setup) {
    setup.settings.features.clear();
}

fn coordinator(setup: &mut Setup) {
    setup.settings.variables.insert("CLAUDE_CODE_COORDINATOR_MODE".into(), "1".into());
}

fn headless(setup: &mut Setup) {
    setup.settings.interactive = false;
}

fn one(change: Change) -> Played {
    Scene::new(vec![fork("one")]).with(change).play()
}

fn closed(played: &Played) -> Vec<Vec<&'static str>> {
    played.found(|event| match event {
        Event::ForkClosed { failed, .. } => Some(failed.clone()),
        _ => None,
    })
}

/// The only route: route, type, background, reason.
fn route(played: &Played) -> (&'static str, String, bool, &'static str) {
    let routes = played.routes();
    assert_eq!(routes.len(), 1);
    routes.into_iter().next().unwrap()
}

#[test]
fn fork_01_agent_22_forks_are_off_until_the_feature_or_the_developer_switch_enables_them() {
    assert_eq!(route(&one(off)), ("named", "general-purpose".into(), false, "feature_off"));
    let switched: Change = |setup| {
        off(setup);
        setup.settings.variables.insert("FEATURE_FORK_SUBAGENT".into(), "1".into());
    };
    for change in [switched, |_| {}] {
        assert_eq!(route(&one(change)), ("fork", "fork".into(), true, "gate_open"));
    }
}

#[test]
fn fork_02_coordinators_do_not_fork() {
    assert_eq!(route(&one(coordinator)), ("named", "general-purpose".into(), true, "coordinator"));
}

#[test]
fn fork_03_perm_18_sessions_without_a_terminal_do_not_fork() {
    let played = one(headless);
    assert_eq!(route(&played), ("named", "general-purpose".into(), false, "non_interactive"));
    let asked = played.found(|event| matches!(event, Event::PermissionRequest { route: "bubble", .. }).then_some(()));
    assert!(asked.is_empty(), "no other way of asking takes its place");
}

#[test]
fn fork_04_all_conditions_have_to_hold() {
    for change in [off as Change, coordinator, headless] {
        assert_eq!(one(change).forks().len(), 0);
    }
    let named = Scene::new(vec![agent(json!({ "subagent_type": "explore" }))]).play();
    assert_eq!(named.forks().len(), 0);
    assert_eq!(one(|_| {}).forks().len(), 1);
}

#[test]
fn fork_05_the_first_condition_that_fails_is_named_in_order_feature_coordinator_terminal() {
    let all: Change = |setup| {
        off(setup);
        coordinator(setup);
        headless(setup);
    };
    let two: Change = |setup| {
        coordinator(setup);
        headless(setup);
    };
    assert_eq!(route(&one(all)).3, "feature_off");
    assert_eq!(route(&one(two)).3, "coordinator");
}

#[test]
fn fork_06_a_named_type_never_forks_not_even_the_general_one() {
    for kind in ["general-purpose", "explore"] {
        let played = Scene::new(vec![agent(json!({ "subagent_type": kind }))]).play();
        assert_eq!(route(&played), ("named", kind.into(), true, "subagent_type"));
        assert_eq!(closed(&played), [["explicit_type"]]);
    }
}

#[test]
fn fork_07_a_program_names_types_and_without_one_it_gets_the_general_one() {
    let explicit = Scene::new(vec![agent(json!({ "subagent_type": "explore" }))]).with(headless).play();
    assert_eq!(route(&explicit).1, "explore");
    assert_eq!(route(&one(headless)).1, "general-purpose");
}

#[test]
fn agent_34_async_02_sync_25_fork_50_with_forks_on_all_agents_run_in_the_background() {
    let calls = vec![
        agent(json!({ "subagent_type": "explore", "run_in_background": false })),
        agent(json!({ "run_in_background": false })),
        agent(json!({ "subagent_type": "general-purpose" })),
    ];
    let played = Scene::new(calls.clone()).play();
    assert_eq!(played.routes().iter().map(|route| route.2).collect::<Vec<_>>(), [true, true, true]);
    assert!(played.told().iter().all(|told| told.contains("runs in the background")), "{:?}", played.told());
    let off = Scene::new(calls).with(off).play();
    assert_eq!(off.routes().iter().map(|route| route.2).collect::<Vec<_>>(), [false, false, false]);
}

#[test]
fn prompt_13_prompt_14_fork_guidance_is_only_present_with_forks_and_is_inherited() {
    let words = ["its tool output stays out of your context", "Fork by default"];
    let (on, off) = (one(|_| {}), one(off));
    for words in words {
        assert!(system(on.requests("main")[0]).contains(words), "{words}");
        assert!(system(on.first(0)).contains(words), "{words}");
        assert!(!system(off.requests("main")[0]).contains(words), "{words}");
    }
    assert!(system(on.requests("main")[0]).contains("without `subagent_type`"));
}

#[test]
fn diag_05_every_failed_condition_is_reported_with_what_to_do() {
    let both: Change = |setup| {
        coordinator(setup);
        headless(setup);
    };
    assert_eq!(closed(&one(both)), [["coordinator", "non_interactive"]]);
    assert_eq!(closed(&one(|_| {})), Vec::<Vec<&str>>::new());
    assert_eq!(route(&one(off)).3, "feature_off", "if forks are off, the route says so");
    let named = Scene::new(vec![fork("one")]).says("fork", vec![agent(json!({ "subagent_type": "explore" }))]).play();
    assert_eq!(closed(&named), [["explicit_type", "fork_child"]]);
    let untyped = Scene::of(Profile::Client2026, vec![fork("one")]).play();
    assert_eq!(closed(&untyped), [["no_type"]]);
    for closed in Closed::ALL {
        assert!(closed.explanation().len() > closed.name().len(), "{closed:?}");
    }
}

#[test]
fn in_the_client_of_2026_the_fork_type_works_for_programs_too_and_named_agents_start_before_the_message_ends() {
    let calls = || vec![agent(json!({ "subagent_type": "fork" })), agent(json!({ "subagent_type": "explore" }))];
    let kinds =
        |played: &Played| -> Vec<_> { played.routes().iter().map(|route| (route.1.clone(), route.2)).collect() };
    let both = [("explore".to_owned(), false), ("fork".to_owned(), true)];
    let neither: Change = |_| {};
    for change in [neither, headless, off] {
        assert_eq!(kinds(&Scene::of(Profile::Client2026, calls()).with(change).play()), both);
    }
    let switched: Change = |setup| {
        setup.settings.variables.insert("CLAUDE_CODE_FORK_SUBAGENT".into(), "0".into());
    };
    let played = Scene::of(Profile::Client2026, calls()).with(switched).play();
    assert_eq!(kinds(&played), both[..1]);
    assert!(played.told()[0].contains("there is no fork here"), "{:?}", played.told());
    assert_eq!(closed(&played)[0], ["feature_off"]);
}

#[test]
fn tools_11_cache_17_the_agent_tool_stays_among_a_forks_tools() {
    assert!(tools(one(|_| {}).first(0)).contains(&"Agent".to_owned()));
}
