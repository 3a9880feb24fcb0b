//! Nested loops: which agent starts which, and how results come back (contract LOOP-19..24).

use serde_json::{Value, json};

use super::reply::{Asked, Reply};
use super::theatre::{Played, Theatre};

fn agent<'a>(id: &'a str, kind: &str) -> (&'a str, &'static str, Value) {
    (id, "Agent", json!({ "description": "a part", "prompt": format!("work, {kind}"), "subagent_type": kind }))
}

fn said_to(played: &Played, kind: &str) -> Vec<String> {
    let asked = played.asked.iter().filter(|asked| &*asked.question.agent_type == kind);
    asked.map(Asked::said).collect()
}

#[test]
fn loop_19_loop_20_loop_21_delegation_goes_down_and_comes_back_level_by_level() {
    let theatre = Theatre::new(vec![Reply::calls(&[agent("t1", "upper")]), Reply::says("main is done")]);
    let played = theatre
        .kinds(&[("upper", ""), ("lower", "")])
        .reply("upper", Reply::calls(&[agent("t2", "lower")]))
        .reply("upper", Reply::says("upper reports"))
        .reply("lower", Reply::calls(&[("t3", "Probe", json!({ "takes_ms": 1_000 }))]))
        .reply("lower", Reply::says("lower reports"))
        .types(0, "go")
        .play();
    let kinds: Vec<String> = played.asked.iter().map(|asked| asked.question.agent_type.to_string()).collect();
    assert_eq!(kinds, ["main", "upper", "lower", "lower", "upper", "main"]);
    assert_eq!(played.words("query.end", "reason"), ["completed"; 3]);
    assert_eq!(played.events("exit.check").iter().filter(|check| check["check"] == "completed").count(), 3);
    let (main, upper) = (said_to(&played, "main"), said_to(&played, "upper"));
    assert!(upper[1].contains("lower reports") && main[1].contains("upper reports"));
    assert!(!main[1].contains("lower reports"), "no level is skipped");
    assert_eq!(played.at(&[("event", "tool.end"), ("tool_use", "t1")]), Some(1_000));
}

#[test]
fn loop_22_the_users_text_starts_no_agent_by_itself() {
    let played = Theatre::new(vec![Reply::says("I do it myself.")])
        .kinds(&[("reviewer", "")])
        .types(0, "Use the reviewer agent, spawn sub-agents, delegate!")
        .play();
    assert!(played.events("agent.route").is_empty() && played.events("agent.start").is_empty());
    assert_eq!(played.asked.len(), 1);
}

#[test]
fn loop_23_calls_of_one_message_start_in_its_order_and_run_at_once() {
    let calls = [agent("t1", "slow"), ("t2", "Probe", json!({})), agent("t3", "fast")];
    let theatre = Theatre::new(vec![Reply::calls(&calls), Reply::says("done")]).kinds(&[("slow", ""), ("fast", "")]);
    let played = theatre
        .reply("slow", Reply::says("slow reports").first_byte(9_000))
        .reply("fast", Reply::says("fast reports").first_byte(2_000))
        .types(0, "go")
        .play();
    assert_eq!(played.words("agent.route", "agent_type"), ["slow", "fast"]);
    let at: Vec<u64> = played.asked.iter().map(|asked| asked.at_ms).collect();
    assert_eq!(at, [0, 0, 0, 9_000], "both children ask before either has answered");
    let last = played.asked[3].messages().last().unwrap()["content"].clone();
    let ids: Vec<&str> = last.as_array().unwrap().iter().map(|block| block["tool_use_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["t1", "t2", "t3"]);
}

#[test]
fn loop_23_without_early_tools_children_wait_for_one_another() {
    let mut theatre =
        Theatre::new(vec![Reply::calls(&[agent("t1", "slow"), agent("t2", "fast")]), Reply::says("done")])
            .kinds(&[("slow", ""), ("fast", "")])
            .reply("slow", Reply::says("slow reports").first_byte(9_000))
            .reply("fast", Reply::says("fast reports").first_byte(2_000))
            .types(0, "go");
    theatre.settings.streaming_tools = false;
    let at: Vec<u64> = theatre.play().asked.iter().map(|asked| asked.at_ms).collect();
    assert_eq!(at, [0, 0, 9_000, 11_000]);
}

#[test]
fn loop_24_scheduling_depends_only_on_constraints_cost_hints_and_feedback() {
    let played = Theatre::new(vec![Reply::says("x")]).types(0, "go").play();
    let tools = played.asked[0].body()["tools"].clone();
    let agent = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "Agent").unwrap();
    let words = agent["description"].as_str().unwrap().to_lowercase();
    for topic in ["when not to use it", "pays for", "notification", "kinds of agents"] {
        assert!(words.contains(topic), "{topic}");
    }
    assert_eq!(tools.as_array().unwrap().len(), played.main.pool().tools.len(), "the tools are the constraint");
}

#[test]
fn queue_15_queue_16_a_childs_background_child_notifies_the_child_not_the_main_thread() {
    let mut helper = agent("t2", "helper");
    helper.2["run_in_background"] = json!(true);
    let theatre = Theatre::new(vec![Reply::calls(&[agent("t1", "worker")]), Reply::says("done")]);
    let played = theatre
        .kinds(&[("worker", ""), ("helper", "")])
        .reply("worker", Reply::calls(&[helper, ("p1", "Probe", json!({ "takes_ms": 10_000 }))]))
        .reply("worker", Reply::says("worker reports"))
        .reply("helper", Reply::says("helper reports").first_byte(5_000))
        .types(0, "go")
        .play();
    assert!(said_to(&played, "worker")[1].contains("helper reports"));
    assert!(said_to(&played, "main").iter().all(|said| !said.contains("helper reports")));
    assert_eq!(played.words("queue.dequeue", "consumer"), ["repl", "sub-agent"]);
    assert_eq!(played.at(&[("event", "queue.dequeue"), ("consumer", "sub-agent")]), Some(10_000));
}
