//! The target of an act of the user, and its effect.

use forkcast_sim::agent::Event;
use forkcast_sim::agent::permission::{Mode, Permissions, Rule as Allowed, Rules};
use forkcast_sim::agent::queue::Item;
use forkcast_sim::agent::world::{Rule as ShellRule, Shell};
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::model::answer::Said;
use forkcast_sim::model::scripted::Rule;
use forkcast_sim::simulation::{Does, Finished, Setup};
use forkcast_sim::time::Duration;
use serde_json::json;

use super::stage::{at, calls, finished, rule, says, setup, types};

/// Two agents launched by one message, with descriptions `a looker` and `a worker`; each builds for a minute. The user
/// acts after ten seconds.
fn two(background: bool, does: Does) -> Setup {
    let spawn = |kind: &str| Said::ToolUse {
        id: "".into(),
        name: "Agent".into(),
        input: json!({
            "description": format!("a {kind}"), "prompt": "build it", "subagent_type": kind,
            "run_in_background": background,
        }),
    };
    let make = || json!({ "command": "make", "description": "Build" });
    let rules = vec![
        rule("main", vec![spawn("looker"), spawn("worker")]),
        Rule { times: None, ..says("main", "Noted.") },
        calls("looker", "Bash", make()),
        says("looker", "Looked."),
        calls("worker", "Bash", make()),
        says("worker", "Worked."),
    ];
    let mut setup = setup(rules, vec![types(0, "Look and work."), at(10_000, does)]);
    let allow = vec![Allowed::parse("Bash").unwrap()];
    setup.permissions = Permissions::new(Mode::Default, false, Rules { allow, ..Rules::default() });
    let takes = Some(Duration::from_secs(60));
    setup.world.shell = Shell::new(vec![ShellRule { takes, ..ShellRule::new("make", "built") }]).into();
    setup
}

/// Type and state of the agents below the main one, by type.
fn states(finished: &Finished) -> Vec<(&str, &'static str)> {
    let mut states: Vec<_> = finished.agents[1..].iter().map(|agent| (&*agent.agent_type, agent.state)).collect();
    states.sort_unstable();
    states
}

#[test]
fn only_tasks_matching_a_type_or_description_are_stopped() {
    for which in ["worker", "a worker"] {
        let finished = finished(two(true, Does::Kills(which.into())));
        assert_eq!(states(&finished), [("looker", "completed"), ("worker", "killed")], "{which}");
        assert!(finished.idle.is_empty(), "{:?}", finished.idle);
    }
    let finished = finished(two(true, Does::Kills("a".into())));
    assert_eq!(states(&finished), [("looker", "completed"), ("worker", "completed")]);
    assert_eq!(finished.idle[0].why, "a running task called `a`");
}

#[test]
fn only_foreground_agents_matching_a_type_or_description_are_moved_to_the_background() {
    let taken_over = |finished: &Finished| {
        let agents = finished.log.iter().filter_map(|logged| match &logged.event {
            Event::Takeover { agent, .. } => finished.agents.iter().find(|one| one.id == *agent),
            _ => None,
        });
        let mut types: Vec<_> = agents.map(|agent| agent.agent_type.to_string()).collect();
        types.sort();
        types
    };
    for (which, expected) in
        [(Some("looker"), &["looker"][..]), (Some("a looker"), &["looker"]), (None, &["looker", "worker"])]
    {
        let finished = finished(two(false, Does::Background(which.map(Into::into))));
        assert_eq!(taken_over(&finished), expected, "{which:?}");
        assert!(finished.idle.is_empty(), "{:?}", finished.idle);
    }
}

#[test]
fn async_12_all_tasks_are_stopped_together() {
    let finished = finished(two(true, Does::KillsAll));
    assert_eq!(states(&finished), [("looker", "killed"), ("worker", "killed")]);
    assert!(finished.idle.is_empty(), "{:?}", finished.idle);
}

#[test]
fn an_item_for_an_agent_reaches_that_agent() {
    for which in ["worker", "a worker"] {
        let news = Item::notification(Some(which.into()), "News.", "agent");
        let finished = finished(two(true, Does::Arrives(news)));
        assert!(finished.idle.is_empty(), "{:?}", finished.idle);
        let receivers = finished.log.iter().filter_map(|logged| match &logged.event {
            Event::Enqueued { agent: Some(receiver), .. } => Some(receiver),
            _ => None,
        });
        let types = receivers.filter_map(|id| finished.agents.iter().find(|agent| agent.id == *id));
        assert_eq!(types.map(|agent| &*agent.agent_type).collect::<Vec<_>>(), ["worker"], "{which}");
    }
}

#[test]
fn tools_08_tools_removed_in_the_background_break_the_prefix_and_are_named() {
    let finished = finished(two(false, Does::Background(Some("worker".into()))));
    let of = |agent_type: &str| {
        let agent = finished.agents.iter().find(|agent| &*agent.agent_type == agent_type).unwrap();
        let own = finished.entries.iter().filter(|entry| entry.agent.as_deref() == Some(&*agent.id));
        let explained = own.filter_map(|entry| entry.line.explanation.as_ref());
        let causes = explained.map(|explained| explained.missed.iter().map(|missed| missed.cause).collect::<Vec<_>>());
        causes.collect::<Vec<_>>()
    };
    assert_eq!(of("worker").last().unwrap(), &[Cause::ToolsRemoved], "taken over between its two requests");
    assert!(of("looker").last().unwrap().is_empty(), "the parent waits for it to its end");
}
