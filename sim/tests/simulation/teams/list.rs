//! The list that a team shares (SWARM-10..12).

use std::rc::Rc;

use forkcast_sim::agent::Event;
use forkcast_sim::laws::Claims;
use forkcast_sim::model::answer::Said;
use forkcast_sim::model::scripted::Rule;
use forkcast_sim::simulation::Observer;
use forkcast_sim::time::{Duration, Instant};
use serde_json::json;

use super::super::stage::{finished, rule, says, slow, types};
use super::{events, field, id, idle, joins, team, tells, used, when};

fn claims(entry: &str) -> Said {
    used("", "ClaimTask", json!({ "task_id": entry }))
}

fn updates(entry: &str, status: &str) -> Said {
    used("", "UpdateTask", json!({ "task_id": entry, "status": status }))
}

/// The same after two seconds.
fn later(mut rule: Rule) -> Rule {
    rule.reply.streaming = Some(Duration::from_millis(2_000));
    rule
}

#[test]
fn swarm_10_swarm_11_swarm_12_the_leader_assigns_and_one_teammate_claims() {
    let rules = vec![
        rule(
            "main",
            vec![used("", "CreateTaskList", json!({ "tasks": ["tests", "docs"] })), joins("ina"), joins("lou")],
        ),
        rule("main", vec![used("", "AssignTask", json!({ "task_id": "2", "teammate": "ina" }))]),
        idle(),
        later(rule("ina", vec![claims("1"), claims("2"), claims("7")])),
        rule("ina", vec![updates("1", "completed"), updates("2", "pending")]),
        says("ina", "Done."),
        slow("lou", "I wait.", 1_000),
        rule("lou", vec![claims("1"), claims("2"), updates("1", "pending")]),
        says("lou", "Both taken."),
    ];
    let acts = vec![types(0, "Begin."), types(9_000, "Ask lou.")];
    let mut rules = rules;
    rules.insert(0, when("Ask lou", vec![tells("lou", "Take one.")]));
    let finished = finished(team(rules, acts));
    let (ina, lou) = (id(&finished, "ina"), id(&finished, "lou"));
    let told: Vec<_> = events(&finished, "list.entry")
        .iter()
        .map(|event| ["entry", "does", "by", "status"].map(|name| event[name].as_str().unwrap().to_owned()).join(" "))
        .collect();
    assert_eq!(
        told,
        [
            "1 created main pending".to_owned(),
            "2 created main pending".to_owned(),
            "2 assigned main pending".to_owned(),
            format!("1 claimed {ina} in_progress"),
            format!("2 claimed {ina} in_progress"),
            format!("1 updated {ina} completed"),
            format!("2 updated {ina} pending"),
            format!("2 claimed {lou} in_progress"),
        ]
    );
    let refused: Vec<_> = events(&finished, "list.refused")
        .iter()
        .map(|event| (event["by"].as_str().unwrap().to_owned(), event["why"].as_str().unwrap().to_owned()))
        .collect();
    let of = |by: &Rc<str>, why: &str| (by.to_string(), why.to_owned());
    assert_eq!(refused, [of(&ina, "unknown"), of(&lou, "begun"), of(&lou, "owned")]);
}

#[test]
fn swarm_12_what_is_assigned_to_one_teammate_is_not_claimed_by_another() {
    let rules = vec![
        rule("main", vec![used("", "CreateTaskList", json!({ "tasks": ["tests"] })), joins("ina"), joins("lou")]),
        rule("main", vec![used("", "AssignTask", json!({ "task_id": "1", "teammate": "ina" }))]),
        idle(),
        slow("ina", "Here.", 9_000),
        slow("lou", "Here.", 1_000),
        rule("lou", vec![claims("1")]),
        says("lou", "It is hers."),
        when("Ask lou", vec![tells("lou", "Take it.")]),
    ];
    let mut rules = rules;
    rules.rotate_right(1);
    let finished = finished(team(rules, vec![types(0, "Begin."), types(3_000, "Ask lou.")]));
    assert_eq!(field(&finished, "list.refused", "why"), ["owned"]);
    assert!(!field(&finished, "list.entry", "does").contains(&"claimed".to_owned()));
}

#[test]
fn the_law_of_claims_finds_a_second_claim() {
    let mut law = Claims::default();
    let mut told = |does: &'static str, by: &str, status: &'static str| {
        let event = Event::ListEntry { entry: "1".into(), by: by.into(), does, owner: None, status };
        law.event(Instant::default(), &event)
    };
    told("created", "main", "pending").unwrap();
    told("claimed", "ina", "in_progress").unwrap();
    assert!(told("claimed", "lou", "in_progress").is_err());
    assert!(told("claimed", "ina", "in_progress").is_err());
    assert!(told("assigned", "main", "pending").is_err());
    assert!(told("updated", "lou", "completed").is_err());
    told("updated", "ina", "pending").unwrap();
    told("claimed", "lou", "in_progress").unwrap();
}
