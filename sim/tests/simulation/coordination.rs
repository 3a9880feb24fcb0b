//! A coordinator and its workers (COORD, ASYNC-13, AGENT-15, FORK-02).

mod review;

use forkcast_sim::agent::Event;
use forkcast_sim::agent::prompt::sections::coordinator::{ADVICE, Choice};
use forkcast_sim::agent::tool;
use forkcast_sim::model::answer::Said;
use forkcast_sim::model::scripted::Rule;
use forkcast_sim::simulation::{Finished, Setup};
use serde_json::{Value, json};

use self::review::{Fault, Phase, review};
use super::stage::{calls, finished, rule, says, setup, slow, types};

fn coordinated(rules: Vec<Rule>) -> Setup {
    let mut setup = setup(rules, vec![types(0, "Mend the build.")]);
    setup.settings.features = ["COORDINATOR".to_owned()].into();
    setup.tools = tool::offered(false, true, false);
    setup.keeps_drafts = true;
    setup
}

fn used(id: &str, name: &str, input: Value) -> Said {
    Said::ToolUse { id: id.into(), name: name.into(), input }
}

/// The main agent starts a worker.
fn spawns(id: &str, kind: &str, prompt: &str) -> Said {
    used(id, "Agent", json!({ "description": id, "prompt": prompt, "subagent_type": kind, "model": "haiku" }))
}

/// An agent reads a file, changes it, and reports; each step takes a second.
fn works(agent: &str, path: &str, old: &str, new: &str) -> Vec<Rule> {
    let edit = json!({ "file_path": path, "old_string": old, "new_string": new });
    vec![calls(agent, "Read", json!({ "file_path": path })), calls(agent, "Edit", edit), slow(agent, "Changed.", 1_000)]
}

/// The main agent says this once something brings `words`.
fn once(words: &str, said: Vec<Said>) -> Rule {
    Rule { last_user: Some(words.into()), ..rule("main", said) }
}

/// For agent `number` of its type alone.
fn of(number: u32, rule: Rule) -> Rule {
    Rule { instance: Some(number), ..rule }
}

fn idle() -> Rule {
    Rule { times: None, ..says("main", "I wait.") }
}

fn main_system(finished: &Finished) -> String {
    finished.drafts.draft(0).system.iter().map(|piece| piece.json().to_owned()).collect()
}

fn faults(setup: Setup) -> Vec<Fault> {
    review(&finished(setup)).1.into_iter().map(|(fault, _)| fault).collect()
}

const PRECISE: &str = "In /repo/src/main.rs line 2 the greeting is wrong: write `goodbye`.";
const PROBING: &str = "Verify /repo/src/main.rs. Run the tests, and probe concurrency and boundaries.";

#[test]
fn coord_01_coord_19_the_prompt_is_replaced_and_forks_are_off() {
    let ours = main_system(&finished(coordinated(vec![says("main", "Hello.")])));
    let mut plain = coordinated(vec![says("main", "Hello.")]);
    plain.settings.features.clear();
    let theirs = main_system(&finished(plain));
    assert!(ours.contains("You coordinate.") && !theirs.contains("You coordinate."));
    for gone in ["# Working on a task", "# In this session"] {
        assert!(!ours.contains(gone) && theirs.contains(gone), "{gone}");
    }
    assert!(ours.contains("# Environment") && ours.contains("may be cleared"));
    let fork = json!({ "description": "fork", "prompt": "Fork." });
    let mut setup = coordinated(vec![calls("main", "Agent", fork), says("general-purpose", "Done."), idle()]);
    setup.settings.features.insert("FORK_SUBAGENT".into());
    let finished = finished(setup);
    let routes: Vec<_> = finished
        .log
        .iter()
        .filter_map(|logged| match &logged.event {
            Event::Routed { route, why, .. } => Some((*route, *why)),
            _ => None,
        })
        .collect();
    assert_eq!(routes, [("named", "coordinator")]);
}

#[test]
fn coord_02_coord_03_coord_04_coord_05_coord_06_coord_07_coord_08_coord_15_coord_16_coord_17_coord_18_coord_20_what_is_told()
 {
    let prompt = main_system(&finished(coordinated(vec![says("main", "Hello.")])));
    let lines: Vec<&str> = prompt.split("\\n").collect();
    for (id, topics) in [
        ("COORD-02", &["direct workers for research, implementation and verification", "talk to the user"][..]),
        ("COORD-02", &["Answer directly", "needs no tools"]),
        ("COORD-03", &["1. Research", "in parallel", "conclude nothing"]),
        ("COORD-04", &["2. Synthesis", "all findings yourself", "Never hand the synthesis to a worker"]),
        ("COORD-05", &["3. Implementation", "file paths, line numbers", "approach"]),
        ("COORD-06", &["two workers never edit one file"]),
        ("COORD-07", &["4. Verification", "cannot change code", "concurrency, boundaries, idempotence"]),
        ("COORD-08", &["Never delegate vaguely", "based on your findings"]),
        ("COORD-08", &["location, the finding and the fix"]),
        ("COORD-15", &["Research is highly parallel"]),
        ("COORD-16", &["Implementation is split by sets of files"]),
        ("COORD-17", &["Verification may overlap the implementation of another area"]),
        ("COORD-18", &["Background tasks may overlap"]),
        ("COORD-20", &["Keep a plan", "track their progress"]),
    ] {
        let found = lines.iter().any(|line| topics.iter().all(|topic| line.contains(topic)));
        assert!(found, "{id}: {topics:?} in {lines:#?}");
    }
}

#[test]
fn coord_09_coord_10_coord_11_coord_12_coord_13_coord_14_coord_22_when_to_continue_and_when_to_spawn() {
    let prompt = main_system(&finished(coordinated(vec![says("main", "Hello.")])));
    let expected = [
        ("COORD-09", "found the files", Choice::Continue),
        ("COORD-10", "no particular file", Choice::Spawn),
        ("COORD-11", "error of its own", Choice::Continue),
        ("COORD-12", "somebody else's code", Choice::Spawn),
        ("COORD-13", "wrong direction", Choice::Spawn),
        ("COORD-14", "nothing to do with the last", Choice::Spawn),
    ];
    assert_eq!(ADVICE.len(), expected.len());
    for (case, (id, words, choice)) in ADVICE.iter().zip(expected) {
        assert_eq!((case.id, case.choice), (id, choice));
        assert!(case.when.contains(words), "{id}");
        assert!(prompt.contains(&format!("- If {}: {} (", case.when, choice.name())), "{id}");
    }
    assert!(prompt.contains("Continue a worker with SendMessage") && prompt.contains("with a new Agent call"));
}

#[test]
fn coord_21_async_13_agent_15_workers_never_block_and_their_model_is_not_chosen() {
    let call = json!({ "description": "look", "prompt": "Look.", "subagent_type": "looker", "model": "haiku",
        "run_in_background": false });
    let finished = finished(coordinated(vec![calls("main", "Agent", call), says("looker", "Seen."), idle()]));
    let looker = finished.agents.iter().find(|agent| &*agent.agent_type == "looker").unwrap();
    assert!(looker.background);
    let models: Vec<String> = finished.entries.iter().map(|entry| entry.line.model.clone()).collect();
    assert!(models.iter().all(|model| *model == models[0]), "{models:?}");
    let draft = finished.drafts.draft(0);
    let agent = draft.tools.iter().find(|piece| piece.json().contains("\"name\":\"Agent\"")).unwrap();
    let schema: Value = serde_json::from_str(agent.json()).unwrap();
    let fields = schema["input_schema"]["properties"].as_object().unwrap();
    assert!(!fields.contains_key("model") && !fields.contains_key("run_in_background"));
}

/// Research by two workers, then one that knows the file continues, then a verifier that overlaps other work.
fn four_phases(implementation: &str, verification: &str) -> Setup {
    let mut rules = vec![
        rule(
            "main",
            vec![
                spawns("look_one", "looker", "Find where the greeting is."),
                spawns("look_two", "looker", "Find what the README says."),
            ],
        ),
        of(1, slow("looker", "It is in src/main.rs.", 2_000)),
        of(2, slow("looker", "It says nothing.", 4_000)),
        once(
            "It says nothing",
            vec![
                used(
                    "go_on",
                    "SendMessage",
                    json!({
                        "to": "${agent:look_one}", "message": implementation, "summary": "mend it",
                    }),
                ),
                spawns("words", "worker", "In /repo/README.md line 1 the title is wrong: write `# Project`."),
            ],
        ),
    ];
    rules.extend(works("looker", "/repo/src/main.rs", "hello", "goodbye").into_iter().map(|rule| of(1, rule)));
    let mut other = works("worker", "/repo/README.md", "# A project", "# Project");
    other.pop();
    rules.extend(other);
    rules.push(slow("worker", "Changed.", 30_000));
    rules.push(once("Changed", vec![spawns("verify", "verification", verification)]));
    rules.extend([says("verification", "It holds."), idle()]);
    coordinated(rules)
}

#[test]
fn coord_03_coord_04_coord_06_coord_07_coord_17_coord_22_four_phases_without_a_fault() {
    let finished = finished(four_phases(PRECISE, PROBING));
    let (assignments, faults) = review(&finished);
    let phases: Vec<_> = assignments.iter().map(|one| (&*one.tool_use, one.phase)).collect();
    assert_eq!(
        phases,
        [
            ("look_one", Phase::Research),
            ("look_two", Phase::Research),
            ("go_on", Phase::Implementation),
            ("words", Phase::Implementation),
            ("verify", Phase::Verification),
        ]
    );
    assert_eq!(faults, []);
    assert_eq!(assignments[0].agent, assignments[2].agent, "the same worker continues (COORD-09)");
    assert!(assignments[0].ran.end > assignments[1].ran.start, "research is parallel (COORD-15)");
    assert!(assignments[4].ran.start < assignments[3].ran.end, "it overlaps work on another file (COORD-17)");
    let session = finished.session.as_ref().unwrap();
    assert!(session.world.files.read("/repo/src/main.rs").unwrap().contains("goodbye"));
    let verifier = finished.entries.iter().position(|entry| entry.agent.as_deref() == Some(&*assignments[4].agent));
    let tools = finished.drafts.draft(verifier.unwrap()).tools;
    assert!(!tools.iter().any(|piece| piece.json().contains("\"name\":\"Edit\"")), "a verifier cannot edit");
}

#[test]
fn coord_05_coord_07_coord_08_vague_prompts_and_tame_verifiers_are_found() {
    assert_eq!(faults(four_phases("Mend it, based on your findings.", PROBING)), [Fault::Vague]);
    assert_eq!(faults(four_phases("Mend src/main.rs.", PROBING)), [Fault::Vague], "without a line");
    assert_eq!(faults(four_phases(PRECISE, "Verify it.")), [Fault::NoProbes]);
}

#[test]
fn coord_04_coord_06_coord_12_coord_16_early_starts_shared_files_and_own_work_are_found() {
    let two = |first: &str, second: &str| {
        let mut rules = vec![rule("main", vec![spawns("one", "worker", first), spawns("two", "looker", second)])];
        rules.extend(works("worker", "/repo/src/main.rs", "hello", "goodbye"));
        rules.extend(works("looker", "/repo/src/main.rs", "main", "start"));
        rules.push(idle());
        coordinated(rules)
    };
    let other = "In /repo/src/main.rs line 1 the name is wrong.";
    assert_eq!(faults(two(PRECISE, other)), [Fault::SharedFile]);
    let mut early = vec![rule("main", vec![spawns("look", "looker", "Look."), spawns("mend", "worker", PRECISE)])];
    early.extend(works("worker", "/repo/src/main.rs", "hello", "goodbye"));
    early.extend([slow("looker", "Seen.", 20_000), idle()]);
    assert_eq!(faults(coordinated(early)), [Fault::EarlyStart]);
    let mut own = vec![rule("main", vec![spawns("mend", "worker", PRECISE)])];
    own.extend(works("worker", "/repo/src/main.rs", "hello", "goodbye"));
    let message = json!({ "to": "${agent:mend}", "message": PROBING, "summary": "verify it" });
    own.push(once("Changed", vec![used("check", "SendMessage", message)]));
    own.extend([says("worker", "It holds."), idle()]);
    assert_eq!(faults(coordinated(own)), [Fault::OwnWork]);
}
