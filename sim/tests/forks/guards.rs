//! A fork does not fork (FORK-43..48).

use forkcast_sim::agent::Event;
use forkcast_sim::agent::entry::{Entry, NamedCall, Nature};
use forkcast_sim::agent::spawn::fork::text::TAG_OPEN;
use forkcast_sim::agent::spawn::fork::{Ablation, Profile};
use forkcast_sim::wire::{Piece, Role};
use serde_json::json;

use super::scene::{Played, Scene, agent, fork, text};

/// The guards that refused, in order.
fn refused(played: &Played) -> Vec<&'static str> {
    played.found(|event| match event {
        Event::ForkRefused { by, .. } => Some(*by),
        _ => None,
    })
}

fn forking_twice() -> Scene {
    Scene::new(vec![fork("one")]).says("fork", vec![fork("deeper")])
}

#[test]
fn fork_43_fork_44_fork_47_perm_07_a_fork_is_detected_by_the_origin_of_its_requests() {
    let played = forking_twice().play();
    assert_eq!(refused(&played), ["query_source"]);
    assert_eq!(played.forks().len(), 1, "nothing was built");
}

#[test]
fn fork_45_fork_47_if_the_origin_is_lost_the_scan_detects_the_fork() {
    let played = forking_twice().without(Ablation::LoseQuerySource).play();
    assert_eq!(refused(&played), ["scan"]);
    assert_eq!(played.forks().len(), 1);
    let client = Scene::of(Profile::Client2026, vec![agent(json!({ "subagent_type": "fork" }))])
        .says("fork", vec![agent(json!({ "subagent_type": "fork" }))]);
    assert_eq!(refused(&client.without(Ablation::LoseQuerySource).play()), ["scan"]);
}

#[test]
fn fork_44_a_rewritten_history_does_not_affect_the_first_guard() {
    // The strip ablation represents a compaction: the tag may be gone, but the origin is not.
    let played = forking_twice().without(Ablation::StripHistory).play();
    assert_eq!(refused(&played), ["query_source"]);
}

#[test]
fn fork_46_quotes_of_the_tag_elsewhere_do_not_trip() {
    let quote = format!("It says {TAG_OPEN} somewhere.");
    let user = |nature| Entry::user("h-1".into(), &quote, nature);
    let said = Entry::of("h-2".into(), Role::Assistant, vec![Piece::text(&quote)], &quote, Nature::Said);
    let result = Entry::results("h-3".into(), vec![("toolu_h".into(), Piece::tool_result("toolu_h", &quote, false))]);
    let call = Piece::tool_use("toolu_h", "Read", &json!({ "file_path": "/repo/a.rs" }));
    let called = Entry {
        tool_uses: vec![NamedCall { id: "toolu_h".into(), name: "Read".into() }].into(),
        ..Entry::clone(&Entry::of("h-4".into(), Role::Assistant, vec![call], "", Nature::Said))
    };
    let harmless = vec![user(Nature::Typed), said.clone(), user(Nature::Typed), called.into(), result, said.clone()];
    let played = Scene::new(vec![fork("one")]).with(|setup| setup.history = harmless).play();
    assert_eq!((refused(&played), played.forks().len()), (vec![], 1));
    let harmful = vec![user(Nature::Inserted), said];
    let played = Scene::new(vec![fork("one")]).with(|setup| setup.history = harmful).play();
    assert_eq!((refused(&played), played.forks().len()), (vec!["scan"], 0));
}

#[test]
fn fork_48_a_refusal_is_an_error_and_no_agent_replaces_the_fork() {
    let played = forking_twice().play();
    let agents: Vec<&str> = played.0.agents.iter().map(|agent| &*agent.agent_type).collect();
    assert_eq!(agents, ["main", "fork"]);
    let last = *played.requests("fork").last().unwrap();
    let result = super::scene::blocks(last, 0).remove(0);
    assert_eq!(result["is_error"], true);
    assert!(result["content"].as_str().unwrap().contains("forks do not fork"), "{result}");
}

#[test]
fn fork_04_named_agents_of_a_fork_run_and_are_reported_as_violations() {
    let played = Scene::new(vec![fork("one")])
        .says("fork", vec![agent(json!({ "subagent_type": "explore" }))])
        .says("explore", vec![text("So.")])
        .play();
    let told = played.found(|event| {
        matches!(event, Event::ForkViolation { agent_type, .. } if &**agent_type == "explore").then_some(())
    });
    assert_eq!((told.len(), played.requests("explore").len()), (1, 1));
}
