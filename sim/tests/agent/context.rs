//! The separate state of sub-agents, and its removal at their end (CTX).

use std::collections::BTreeSet;
use std::rc::Rc;

use forkcast_sim::agent::definition::Skill;
use forkcast_sim::agent::hook::{Hook, HookSays, Hooks, Moment, Word};
use forkcast_sim::agent::permission::Mode;
use forkcast_sim::agent::session::Skills;
use forkcast_sim::agent::session::{Context, Continued, SubAgent};
use forkcast_sim::agent::settings::shared_out;
use forkcast_sim::agent::tool::Pool;
use forkcast_sim::agent::{Event, Session};
use forkcast_sim::model::Question;
use serde_json::{Value, json};

use super::clocked::{
    Played, Stage, blocks, call, calls, main_agent, refused, results, says, spawn, spawn_behind, text, use_tool, wait,
};

/// A sub-agent of `parent`.
fn child(parent: &Rc<Context>, agent_type: &str) -> SubAgent {
    let session = &parent.session;
    let definition = session.definitions.get(agent_type).expect("a kind");
    let agent = session.ids.next("agent");
    SubAgent {
        pool: Pool::named(session, &agent, &definition, false),
        agent,
        definition,
        model: parent.model.clone(),
        mode: Mode::AcceptEdits,
        is_async: false,
        cwd: None,
        continued: None,
        slot: None,
        fork: None,
        helper: None,
        teammate: None,
    }
}

fn texts(question: &Question) -> Vec<String> {
    let texts = blocks(question).into_iter().filter(|block| block["type"] == "text");
    texts.map(|block| block["text"].as_str().unwrap().to_owned()).collect()
}

fn hello(stage: Stage) -> Played<()> {
    stage.play(|session| async move {
        says(&main_agent(&session), "hello").await;
        wait(&session, 1_000).await;
    })
}

#[test]
fn ctx_01_ctx_05_ctx_06_a_child_keeps_the_chain_and_is_one_level_deeper() {
    let stage =
        Stage::new().agent("worker", "effort: low\nmaxTurns: 3").set(|settings| settings.cwd = "/repo/a".into());
    let played = stage.play(|session| async move {
        let parent = main_agent(&session);
        let one = Context::sub_agent(&parent, child(&parent, "worker"));
        let two = Context::sub_agent(&one, child(&one, "worker"));
        assert!(Rc::ptr_eq(&one.session, &parent.session) && one.model == parent.model);
        [parent, one, two].map(|context| (context.agent.to_string(), context.chain.to_string(), context.depth))
    });
    let [main, one, two] = played.value.clone();
    assert_eq!((main.2, one.2, two.2), (0, 1, 2));
    assert!(main.1 == one.1 && one.1 == two.1);
    assert!(one.0.starts_with("agent-") && one.0 != two.0);
    let created = played.find(|event| match event {
        Event::ContextCreated { agent, parent, chain, depth, cwd, max_turns, effort, .. } => {
            assert_eq!((&**chain, &**cwd, *max_turns, effort.as_deref()), (&*main.1, "/repo/a", Some(3), Some("low")));
            Some((agent.to_string(), parent.to_string(), *depth))
        }
        _ => None,
    });
    assert_eq!(created, [(one.0.clone(), "main".to_owned(), 1), (two.0, one.0, 2)]);
}

#[test]
fn ctx_05_every_run_has_a_unique_id() {
    let starts = [spawn("worker", "one"), spawn("worker", "two"), spawn_behind("worker", "three"), text("done")];
    let stage = Stage::new().agent("worker", "").says("main", starts.into()).says("worker", vec![text("done")]);
    let started = hello(stage).find(|event| match event {
        Event::AgentStarted { agent, .. } => Some(agent.to_string()),
        _ => None,
    });
    let ids: BTreeSet<&str> = started.iter().map(String::as_str).chain(["main"]).collect();
    assert_eq!((started.len(), ids.len()), (3, 4), "{started:?}");
}

#[test]
fn ctx_02_read_files_are_cloned_and_never_shared() {
    let stage = Stage::new().agent("worker", "").file("/repo/a", "1").file("/repo/b", "2").file("/repo/c", "3");
    let played = stage.play(|session| async move {
        let parent = main_agent(&session);
        use_tool(&parent, "Read", json!({ "file_path": "/repo/a" })).await.unwrap();
        let child = Context::sub_agent(&parent, child(&parent, "worker"));
        use_tool(&child, "Read", json!({ "file_path": "/repo/b" })).await.unwrap();
        use_tool(&parent, "Read", json!({ "file_path": "/repo/c" })).await.unwrap();
        let known = |context: &Context| context.read_files.borrow().keys().map(ToString::to_string).collect::<Vec<_>>();
        (known(&parent), known(&child))
    });
    assert_eq!(played.value.0, ["/repo/a", "/repo/c"]);
    assert_eq!(played.value.1, ["/repo/a", "/repo/b"]);
    assert_eq!(
        played.find(|event| if let Event::ContextCreated { read_files, .. } = event {
            Some(*read_files)
        } else {
            None
        }),
        [1]
    );
}

#[test]
fn ctx_04_ctx_15_the_resolved_tools_the_effort_and_the_limit_of_turns_reach_the_childs_requests() {
    let glob = || call("Glob", json!({ "pattern": "*" }));
    let stage = Stage::new()
        .agent("worker", "tools: [Glob]\neffort: 5\nmaxTurns: 2")
        .says("main", vec![spawn("worker", "go"), text("done")])
        .says("worker", vec![glob(), glob(), glob(), text("never said")]);
    let played = hello(stage);
    let asked = played.asked_by("worker");
    assert_eq!(asked.len(), 2, "two turns are all it has");
    assert_eq!(asked[0].draft.tools.len(), 1);
    assert!(asked[0].draft.tools[0].json().contains("\"Glob\""));
    assert!(asked[0].draft.parameters.contains(&("output_config".into(), "{\"effort\":5}".into())));
}

#[test]
fn ctx_07_ctx_08_a_child_starts_with_only_its_prompt_under_its_own_system_prompt() {
    let stage = Stage::new().agent("worker", "").says("worker", vec![text("found it")]);
    let played = hello(stage.says("main", vec![spawn("worker", "find the thing"), text("done")]));
    let question = played.asked_by("worker")[0];
    let typed: Vec<String> =
        texts(question).into_iter().filter(|text| !text.starts_with("<system-reminder>")).collect();
    assert_eq!(typed, ["find the thing"]);
    let system: String = question.draft.system.iter().map(|piece| piece.json()).collect();
    assert!(system.contains("You are worker.") && !system.contains("# In this session"));
    let id = &question.agent;
    let order: Vec<usize> = vec![
        played.place(|event| matches!(event, Event::ContextCreated { agent, .. } if agent == id)),
        played.place(|event| matches!(event, Event::PromptRendered { agent, .. } if agent == id)),
        played.place(|event| matches!(event, Event::RequestSent { agent, .. } if agent == id)),
        played.place(|event| matches!(event, Event::QueryEnded { agent, .. } if agent == id)),
        played.place(|event| matches!(event, Event::Cleanup { agent, .. } if agent == id)),
    ];
    assert!(order.is_sorted(), "{order:?}");
    let resolved = played.place(|event| matches!(event, Event::ToolsResolved { agent, .. } if agent == id));
    assert!(resolved < order[1], "tools before the prompt");
}

fn skill(name: &str, instructions: &str) -> Skill {
    Skill {
        name: name.into(),
        description: "a skill".into(),
        instructions: instructions.into(),
        resources: vec![format!("/skills/{name}/table.csv").into()],
        ..Skill::default()
    }
}

/// All state that can belong to an agent.
fn laden() -> Stage {
    let frontmatter = "skills: [plain, near, far, gone]\nmemory: user\ninitialPrompt: Mind the gap.\n\
                       hooks: { SubagentStart: [greet], PreToolUse: [look] }";
    let text_of = |name: &str| format!("---\nname: {name}\ndescription: tests\n{frontmatter}\n---\nYou are {name}.\n");
    let mut stage = Stage::new().file("/home/user/.claude/agent-memory/kit-laden/MEMORY.md", "The door is green.");
    stage.definitions.push(forkcast_sim::agent::definition::Text {
        source: forkcast_sim::agent::definition::Source::Plugin,
        path: "/plugins/kit/agents/laden.md".into(),
        text: text_of("laden").into(),
    });
    stage.skills = Skills::new([
        skill("plain", "Plainly."),
        skill("kit:near", "Nearby."),
        skill("other:near", "Not this."),
        skill("other:far", "Far off."),
    ]);
    let session_hook =
        Hook::new("remark", Moment::SubagentStart, vec![HookSays::at_once(Word::AddText("It rains.".into()))]);
    stage.hooks = Hooks::new(vec![session_hook]);
    stage.hooks.script("greet", vec![HookSays::at_once(Word::AddText("Good morning.".into()))]);
    stage
}

#[test]
fn ctx_09_ctx_11_ctx_13_the_first_message_has_skills_initial_prompt_hook_texts_and_the_prompt() {
    let stage = laden().says("kit:laden", vec![text("done")]);
    let played = hello(stage.says("main", vec![spawn("kit:laden", "open the door"), text("done")]));
    let question = played.asked_by("kit:laden")[0];
    let own: Vec<String> = texts(question).into_iter().filter(|text| !text.contains("# Date")).collect();
    let holds = |at: usize, words: &[&str]| {
        assert!(words.iter().all(|word| own[at].contains(word)), "{words:?} in {:?}", own[at]);
    };
    assert_eq!(own.len(), 7, "{own:#?}");
    holds(0, &["Plainly.", "/skills/plain/table.csv"]);
    holds(1, &["Nearby."]);
    holds(2, &["Far off."]);
    assert_eq!(own[3], "Mind the gap.");
    holds(4, &["It rains."]);
    holds(5, &["Good morning."]);
    assert_eq!(own[6], "open the door");
    let found = played.find(|event| match event {
        Event::Skill { skill, matched, .. } => Some(format!("{skill} {matched}")),
        _ => None,
    });
    assert_eq!(found, ["plain name", "kit:near namespace", "other:far suffix", "gone none"]);
    let ran =
        played.place(|event| matches!(event, Event::Hook { hook, outcome: "add_text", .. } if &**hook == "greet"));
    let sent = played.place(|event| matches!(event, Event::RequestSent { agent, .. } if *agent == question.agent));
    assert!(ran < sent, "before the child's loop");
}

#[test]
fn ctx_12_memory_follows_the_agents_own_prompt_and_its_directory_depends_on_the_scope() {
    let stage = laden().says("kit:laden", vec![text("done")]);
    let played = hello(stage.says("main", vec![spawn("kit:laden", "open the door"), text("done")]));
    let system = played.asked_by("kit:laden")[0].draft.system[1].json().to_owned();
    assert!(system.find("You are laden.") < system.find("The door is green."));
    assert!(system.contains("/home/user/.claude/agent-memory/kit-laden"));
    for (scope, directory) in [
        ("user", "/home/user/.claude/agent-memory/worker"),
        ("project", "/repo/.claude/agent-memory/worker"),
        ("local", "/repo/.claude/agent-memory-local/worker"),
    ] {
        let stage = Stage::new().agent("worker", &format!("memory: {scope}"));
        let index = format!("{directory}/MEMORY.md");
        let played = stage.file(&index, "Noted.").play(|session| async move {
            let parent = main_agent(&session);
            let memory = Context::sub_agent(&parent, child(&parent, "worker")).memory.clone().expect("a memory");
            (memory.scope.name(), memory.directory, memory.index)
        });
        assert_eq!(played.value, (scope, directory.into(), Some("Noted.".into())));
    }
    let without = Stage::new().agent("worker", "").play(|session| async move {
        let parent = main_agent(&session);
        Context::sub_agent(&parent, child(&parent, "worker")).memory.is_none()
    });
    assert!(without.value);
}

#[test]
fn ctx_12_an_agent_writes_its_own_memory_without_asking_but_no_other() {
    let written = |scope: &str, path: &str| {
        let write = call("Write", json!({ "file_path": path, "content": "Noted." }));
        let mut stage = Stage::new()
            .agent("worker", &format!("memory: {scope}"))
            .says("worker", vec![write, text("done")])
            .says("main", vec![spawn("worker", "go"), text("done")])
            .set(|settings| settings.interactive = false);
        (stage.mode, stage.bypass_allowed) = (Mode::Default, false);
        hello(stage).session.world.files.exists(path)
    };
    let (user, local) = ("/home/user/.claude/agent-memory", "/repo/.claude/agent-memory-local");
    assert!(written("user", &format!("{user}/worker/doors.md")));
    assert!(written("local", &format!("{local}/worker/doors.md")));
    assert!(!written("user", &format!("{user}/other/doors.md")), "another agent's");
    assert!(!written("user", &format!("{local}/worker/doors.md")), "another scope's");
}

#[test]
fn ctx_10_hooks_of_an_agent_act_only_in_it_and_are_removed_at_its_end() {
    let look = || call("Glob", json!({ "pattern": "*" }));
    let mut stage = laden()
        .agent("other", "")
        .says("main", vec![spawn("kit:laden", "go"), spawn("other", "go"), look(), text("done")])
        .says("kit:laden", vec![look(), text("done")])
        .says("other", vec![look(), text("done")]);
    stage.hooks.script("look", vec![HookSays::at_once(Word::BlockTool("Not here.".into()))]);
    let played = hello(stage);
    let refused = |agent_type: &str| {
        let last = *played.asked_by(agent_type).last().unwrap();
        results(last).iter().filter(|result| result.to_string().contains("Not here.")).count()
    };
    assert_eq!((refused("kit:laden"), refused("other"), refused("main")), (1, 0, 0));
    let laden = &played.asked_by("kit:laden")[0].agent;
    let told = played.find(|event| match event {
        Event::Hook { agent, hook, outcome: outcome @ ("registered" | "removed"), .. } if agent == laden => {
            Some(format!("{hook} {outcome}"))
        }
        _ => None,
    });
    assert_eq!(told, ["look registered", "greet registered", "look removed", "greet removed"]);
    assert_eq!(played.session.hooks.of_agents(), 0);
}

#[test]
fn ctx_10_hooks_of_an_agent_do_not_act_in_another_one_that_runs_meanwhile() {
    let look = || call("Glob", json!({ "pattern": "*" }));
    let mut stage = laden()
        .agent("other", "")
        .says("main", vec![spawn_behind("kit:laden", "go"), spawn("other", "go"), look(), text("done")])
        .says("kit:laden", vec![look().after(500), text("done").after(400)])
        .says("other", vec![look().after(200), text("done")]);
    stage.hooks.script("look", vec![HookSays::at_once(Word::BlockTool("Not here.".into()))]);
    let played = hello(stage);
    let refused = |agent_type: &str| {
        let last = *played.asked_by(agent_type).last().unwrap();
        results(last).iter().filter(|result| result.to_string().contains("Not here.")).count()
    };
    assert_eq!((refused("kit:laden"), refused("other"), refused("main")), (1, 0, 0));
}

#[test]
fn ctx_14_the_sidechain_transcript_is_written_while_the_loop_runs() {
    let look = || call("Glob", json!({ "pattern": "*" }));
    let stage = Stage::new().agent("worker", "").says("worker", vec![look(), text("done")]);
    let played = hello(stage.says("main", vec![spawn("worker", "go"), text("done")]));
    let id = &played.asked_by("worker")[0].agent;
    let first = played.place(|event| matches!(event, Event::TranscriptAppend { agent, .. } if agent == id));
    let sent = played.place(|event| matches!(event, Event::RequestSent { agent, turn: 1, .. } if agent == id));
    let ended = played.place(|event| matches!(event, Event::QueryEnded { agent, .. } if agent == id));
    let count =
        played.find(|event| matches!(event, Event::TranscriptAppend { agent, .. } if agent == id).then_some(())).len();
    assert_eq!(count, 4, "prompt, call, result, answer");
    assert!(first < sent && sent < ended);
}

/// Remaining state of ended agents.
fn left(session: &Session) -> (usize, usize) {
    (session.hooks.of_agents(), session.scoped.left().len())
}

#[test]
fn ctx_16_no_state_of_an_agent_is_left_however_it_ended() {
    let ways: [(&str, Vec<super::clocked::Reply>); 3] = [
        ("an answer", vec![text("done")]),
        ("an error", vec![refused(400)]),
        ("a limit", vec![call("Glob", json!({ "pattern": "*" })); 3]),
    ];
    for (way, replies) in ways {
        for spawned in [spawn("kit:laden", "go"), spawn_behind("kit:laden", "go")] {
            let mut stage = laden().says("kit:laden", replies.clone()).says("main", vec![spawned, text("done")]);
            let limited = stage.definitions[0].text.replace("memory: user", "memory: user\nmaxTurns: 2");
            stage.definitions[0].text = limited.into();
            let played = hello(stage);
            assert_eq!(left(&played.session), (0, 0), "{way}");
            let id = &played.asked_by("kit:laden")[0].agent;
            let steps = played.find(|event| match event {
                Event::Cleanup { agent, step } if agent == id => Some(*step),
                _ => None,
            });
            for step in ["remove_hooks", "clear_invoked_skills", "clear_dump_state", "clear_read_files"] {
                assert_eq!(steps.iter().filter(|made| **made == step).count(), 1, "{way}: {step} in {steps:?}");
            }
            let ended = played.place(|event| {
                matches!(event, Event::TaskState { task, state: "completed" | "failed" | "killed", .. } if task == id)
            });
            let tidied =
                played.place(|event| matches!(event, Event::Cleanup { agent, step: "remove_hooks" } if agent == id));
            assert!(ended < tidied, "{way}: the terminal state comes first");
        }
    }
}

#[test]
fn ctx_16_an_agent_with_a_dropped_loop_leaves_no_state_either() {
    let played = laden().play(|session| async move {
        let parent = main_agent(&session);
        let start = child(&parent, "kit:laden");
        let context = Context::sub_agent(&parent, start);
        let scope = context.begin("go").await;
        let during = (left(&session), session.scoped.skills_of(&context.agent).len());
        let entries = context.entries.borrow().to_vec();
        let continued = Continued { entries, ..Continued::of(&context) };
        context.read_files.borrow_mut().insert("/repo/a".into(), "1".into());
        drop(scope);
        assert!(context.read_files.borrow().is_empty());
        let after = left(&session);
        // A run that takes over starts with the history and adds nothing.
        let start =
            SubAgent { continued: Some(continued), agent: context.agent.clone(), ..child(&parent, "kit:laden") };
        let again = Context::sub_agent(&parent, start);
        let resumed = again.resume();
        let (entries, hooks) = (again.entries.borrow().len(), session.hooks.of_agents());
        drop(resumed);
        (during, after, entries, hooks, left(&session))
    });
    assert_eq!(played.value, (((2, 1), 3), (0, 0), 1, 2, (0, 0)));
}

#[test]
fn ctx_17_a_childs_directory_is_visible_only_to_that_child() {
    let reads = |path: &str| vec![call("Read", json!({ "file_path": path })), text("done")];
    let spawn_in = |cwd: &str| {
        (
            "Agent",
            json!({ "description": "a", "prompt": "go", "subagent_type": "worker", "cwd": cwd, "run_in_background": true }),
        )
    };
    let stage = Stage::new()
        .agent("worker", "")
        .file("/repo/name", "parent")
        .file("/one/name", "first")
        .file("/two/name", "second")
        .says("worker", reads("name"))
        .says(
            "main",
            vec![
                calls(vec![spawn_in("/one"), spawn_in("/two")]),
                call("Read", json!({ "file_path": "name" })),
                text("done"),
            ],
        );
    let played = hello(stage);
    let seen: Vec<Value> = played.asked_by("worker").into_iter().flat_map(results).collect();
    assert_eq!(seen.len(), 2);
    assert!(seen[0].to_string().contains("first") && seen[1].to_string().contains("second"));
    let main = played.results();
    assert!(main.last().unwrap().to_string().contains("parent"), "{main:?}");
    let systems: Vec<String> =
        played.asked_by("worker").iter().map(|question| question.draft.system[1].json().to_owned()).collect();
    assert!(systems.iter().any(|system| system.contains("directory: /one")));
    assert!(systems.iter().any(|system| system.contains("directory: /two")));
}

#[test]
fn ctx_18_interleaved_agents_keep_their_own_id_directory_and_abort_signal() {
    let played = Stage::new().agent("worker", "").play(|session| async move {
        let parent = main_agent(&session);
        let with = |cwd: &str, is_async| SubAgent { cwd: Some(cwd.into()), is_async, ..child(&parent, "worker") };
        let contexts = [with("/one", false), with("/two", false), with("/three", true)];
        let [one, two, behind] = contexts.map(|start| Context::sub_agent(&parent, start));
        let mut running = Vec::new();
        for context in [&one, &two] {
            let context = context.clone();
            let handle = session.handle.clone();
            running.push(session.handle.spawn("worker", async move {
                let mut seen = Vec::new();
                for _ in 0..3 {
                    seen.push(format!("{} {}", context.agent, context.cwd.borrow()));
                    handle.yield_now().await;
                }
                seen
            }));
        }
        for task in running {
            let seen = task.await.unwrap();
            assert!(seen.windows(2).all(|pair| pair[0] == pair[1]), "{seen:?}");
        }
        one.abort.give();
        assert!(one.abort.is_given() && !two.abort.is_given() && !behind.abort.is_given());
        parent.abort.give();
        (two.abort.is_given(), behind.abort.is_given())
    });
    assert_eq!(played.value, (true, false), "a waited-for agent stops with the parent, others continue");
}

#[test]
fn declared_sizes_are_shared_out_by_largest_remainder() {
    assert_eq!(shared_out(10, &[1, 1, 1]), [4, 3, 3]);
    assert_eq!(shared_out(10, &[1, 2, 4]), [1, 3, 6]);
    assert_eq!(shared_out(7, &[0, 0]), [4, 3]);
    assert_eq!(shared_out(5, &[]), Vec::<u64>::new());
    assert_eq!(shared_out(u64::MAX, &[u64::MAX, 1]).iter().sum::<u64>(), u64::MAX);
}
