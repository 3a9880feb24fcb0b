//! The results of a run, and its failures.

use forkcast_sim::simulation::{Cause, Does, Failure, run};
use serde_json::json;

use super::stage::{at, calls, finished, says, setup, spawns, types};

#[test]
fn a_question_is_answered_cached_and_billed() {
    let rules = vec![
        calls("main", "Read", json!({ "file_path": "/repo/src/main.rs" })),
        says("main", "It prints hello."),
        says("main", "You are welcome."),
    ];
    let finished = finished(setup(rules, vec![types(0, "What does it do?"), types(60_000, "Thanks")]));
    assert_eq!(finished.entries.len(), 3);
    let usage: Vec<_> = finished.entries.iter().map(|entry| entry.line.predicted.unwrap()).collect();
    assert_eq!(usage[0].cache_read_input_tokens, 0);
    assert!(usage[0].ephemeral_5m_input_tokens > 0);
    assert!(
        usage[1].cache_read_input_tokens > 0 && usage[2].cache_read_input_tokens > usage[1].cache_read_input_tokens
    );
    assert!(
        finished
            .entries
            .iter()
            .map(|entry| &entry.line)
            .all(|line| line.charge.bill.is_some() && line.first_byte_at > line.at)
    );
    let main = &finished.agents[0];
    assert_eq!((&*main.id, main.turns, main.state, main.reason), ("main", 3, "completed", Some("completed")));
    let told: u64 = usage.iter().map(|usage| usage.output_tokens).sum();
    assert_eq!(main.reported.output_tokens, told, "an agent learns from replies what the ledger has");
    assert!(finished.makespan.0 > 60_000_000_000 && finished.idle.is_empty());
    assert_eq!(
        finished.laws_held.len(),
        forkcast_sim::laws::all(&forkcast_sim::cache::Rules::default(), &forkcast_sim::seed::Seed::new(1)).len()
    );
}

/// The user would stop what still runs a minute and two days later.
#[test]
fn a_run_ends_when_nothing_is_left_to_be_stopped() {
    let escapes = |at_ms| at(at_ms, Does::Escape);
    let quick = || vec![says("main", "It prints hello.")];
    let alone = finished(setup(quick(), vec![types(0, "What does it do?")]));
    let watched = finished(setup(quick(), vec![types(0, "What does it do?"), escapes(60_000), escapes(172_800_000)]));
    assert_eq!(watched.makespan, alone.makespan);
    let slow = vec![
        spawns("main", "worker", "do the work", true),
        says("main", "It is on its way."),
        says("main", "The work is done."),
        calls("worker", "Bash", json!({ "command": "sleep 90", "description": "Wait" })),
        says("worker", "Done."),
    ];
    // Agents in the background count, and what is typed later is waited for.
    let answers = at(0, Does::Answers { allow: true, tool: None });
    let late = finished(setup(slow, vec![types(0, "Work."), answers, escapes(172_800_000)]));
    assert_eq!(late.agents[1].state, "completed");
    assert!(late.makespan.0 < 172_800_000_000_000);
}

#[test]
fn sub_agents_in_foreground_and_background_take_part() {
    let rules = vec![
        spawns("main", "looker", "look around", false),
        spawns("main", "worker", "do the work", true),
        says("main", "Both are on their way."),
        says("main", "The work is done."),
        says("looker", "Nothing to see."),
        calls("worker", "Bash", json!({ "command": "cargo check", "description": "Check" })),
        says("worker", "Done."),
    ];
    let finished =
        finished(setup(rules, vec![types(0, "Look, then work."), at(0, Does::Answers { allow: true, tool: None })]));
    let took_part: Vec<_> =
        finished.agents.iter().map(|agent| (&*agent.agent_type, agent.background, agent.state, agent.turns)).collect();
    assert_eq!(
        took_part,
        [("main", false, "completed", 4), ("looker", false, "completed", 1), ("worker", true, "completed", 2)]
    );
    assert_eq!(finished.agents[1].parent.as_deref(), Some("main"));
}

#[test]
fn an_unscripted_question_ends_the_run_and_says_what_to_add() {
    let failed = run(setup(vec![spawns("main", "looker", "look around", false)], vec![types(0, "Look.")])).unwrap_err();
    let text = failed.to_string();
    assert!(matches!(failed.why, Failure::Alarm(Cause::Unscripted(_))), "{text}");
    for part in ["`looker`", "answer 0", "Its last user text has", "Add a reply for `looker`", "seed 7"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(failed.until.entries.len(), 1, "the bill up to then is kept");
}

#[test]
fn a_run_with_too_many_answers_is_stopped() {
    let rules = (0..50).map(|_| calls("main", "Read", json!({ "file_path": "/repo/README.md" }))).collect();
    let mut setup = setup(rules, vec![types(0, "Read it for ever.")]);
    setup.turns_max = Some(20);
    let failed = run(setup).unwrap_err();
    assert!(failed.to_string().contains("after 20 answers"), "{failed}");
    assert_eq!(failed.until.entries.len(), 20);
}

#[test]
fn an_answer_without_a_question_stalls_the_run() {
    let acts = vec![types(0, "Hello"), at(1_000, Does::Answers { allow: true, tool: Some("Bash".into()) })];
    let failed = run(setup(vec![says("main", "Hello.")], acts)).unwrap_err();
    assert!(failed.to_string().contains("`user's answer` waits for a permission request of `Bash`"), "{failed}");
}

#[test]
fn acts_without_a_target_are_reported() {
    let acts = vec![
        types(0, "Hello"),
        at(100, Does::Background(None)),
        at(100, Does::Kills("worker".into())),
        at(100, Does::KillsAll),
    ];
    let finished = finished(setup(vec![says("main", "Hello.")], acts));
    let idle: Vec<_> = finished.idle.iter().map(|idle| (idle.act, idle.why.as_str())).collect();
    assert_eq!(
        idle,
        [(1, "a sub-agent in the foreground"), (2, "a running task called `worker`"), (3, "a running background task")]
    );
}

#[test]
fn a_headless_session_takes_input_as_it_comes_and_ends() {
    let rules = vec![says("main", "Hello."), says("main", "Good bye.")];
    let last = at(100_010, Does::Flips([("a-flag".to_owned(), true)].into()));
    let mut setup = setup(rules, vec![types(0, "Hello"), types(100_000, "Bye"), last]);
    setup.settings.interactive = false;
    let finished = finished(setup);
    assert_eq!((finished.entries.len(), finished.agents[0].turns), (2, 2));
}
