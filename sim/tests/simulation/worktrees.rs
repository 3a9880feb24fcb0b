//! Worktrees: agents that work in a copy of the repository (WORKTREE, AGENT-09, AGENT-18, AGENT-28, SYNC-23, FORK-54,
//! DIAG-07).

use std::rc::Rc;

use forkcast_sim::agent::Event;
use forkcast_sim::agent::permission::{Mode, Permissions, Rule as Allowed, Rules};
use forkcast_sim::agent::spawn::worktree::{BadSlug, slug};
use forkcast_sim::agent::tool;
use forkcast_sim::agent::world::git::{Command, Done, ENVIRONMENT, Remote, Repository};
use forkcast_sim::agent::world::{Files, Rule as ShellRule, Shell, World};
use forkcast_sim::model::scripted::Rule;
use forkcast_sim::simulation::{Does, Finished, Setup};
use forkcast_sim::time::Duration;
use serde_json::{Value, json};

use super::stage::{asked, at, calls, finished, says, setup, types};

/// A worker in a worktree: the main agent's call, then the worker's replies.
fn isolated(fields: &Value, worker: Vec<Rule>) -> Setup {
    let mut call =
        json!({ "description": "work", "prompt": "Work.", "subagent_type": "worker", "isolation": "worktree" });
    for (name, value) in fields.as_object().unwrap() {
        call[name] = value.clone();
    }
    let main = vec![calls("main", "Agent", call), Rule { times: None, ..says("main", "Fine.") }];
    let mut setup = setup([main, worker].concat(), vec![types(0, "Go")]);
    let files = [
        ("/repo/src/main.rs", "fn main() {}\n"),
        ("/repo/README.md", "# A project\n"),
        ("/repo/node_modules/a/index.js", "a\n"),
    ];
    let shell = vec![ShellRule { takes: Some(Duration::from_millis(200_000)), ..ShellRule::new("slow", "done") }];
    setup.world =
        World::new(Files::new(files.map(|(path, text)| (path.to_owned(), text.to_owned()))), Shell::new(shell));
    let allow = vec![Allowed::parse("Bash").unwrap()];
    setup.permissions = Permissions::new(Mode::Default, false, Rules { allow, ..Rules::default() });
    setup.keeps_drafts = true;
    setup
}

/// The worker reads a file by its relative path, and changes it.
fn edits() -> Vec<Rule> {
    vec![
        calls("worker", "Read", json!({ "file_path": "src/main.rs" })),
        calls("worker", "Edit", json!({ "file_path": "src/main.rs", "old_string": "main", "new_string": "start" })),
        says("worker", "Changed."),
    ]
}

fn ops(finished: &Finished) -> Vec<(&'static str, &'static str)> {
    let op = finished.log.iter().filter_map(|logged| match &logged.event {
        Event::WorktreeOp { op, outcome, .. } => Some((*op, *outcome)),
        _ => None,
    });
    op.collect()
}

fn left(finished: &Finished) -> Vec<(String, &'static str)> {
    let left = finished.log.iter().filter_map(|logged| match &logged.event {
        Event::WorktreeLeft { path, why, .. } => Some((path.to_string(), *why)),
        _ => None,
    });
    left.collect()
}

fn files(finished: &Finished) -> Rc<World> {
    finished.session.as_ref().unwrap().world.clone()
}

fn path(finished: &Finished) -> String {
    format!("/repo/.claude/worktrees/{}", finished.agents[1].id)
}

/// The last request of agents of this type, as one text.
fn last(finished: &Finished, agent_type: &str) -> String {
    asked(finished, agent_type).pop().unwrap()
}

#[test]
fn worktree_04_worktree_05_worktree_06_worktree_07_worktree_08_which_names_are_allowed() {
    for (name, expected) in [
        ("agent-0123abcd", Ok("agent-0123abcd")),
        ("user/feature", Ok("user+feature")),
        ("a.b_c-1/2", Ok("a.b_c-1+2")),
        (&*"x".repeat(64), Ok(&*"x".repeat(64))),
        (&*"x".repeat(65), Err(BadSlug::Long)),
        ("..", Err(BadSlug::Traversal)),
        ("a/../b", Err(BadSlug::Traversal)),
        ("./a", Err(BadSlug::Traversal)),
        ("/etc", Err(BadSlug::Absolute)),
        ("C:\\x", Err(BadSlug::Absolute)),
        ("\\x", Err(BadSlug::Absolute)),
        ("a b", Err(BadSlug::Characters)),
        ("a//b", Err(BadSlug::Characters)),
        ("", Err(BadSlug::Characters)),
        ("a;b", Err(BadSlug::Characters)),
    ] {
        assert_eq!(slug(name).as_deref(), expected.as_ref().copied(), "{name}");
    }
}

#[test]
fn worktree_01_worktree_02_worktree_03_worktree_13_agent_09_an_agent_works_in_a_copy_of_the_repository() {
    let finished = finished(isolated(&json!({}), edits()));
    let (world, path) = (files(&finished), path(&finished));
    let read = |path: String| world.files.read(&path).map(|text| text.to_string());
    assert_eq!(read(format!("{path}/src/main.rs")).as_deref(), Some("fn start() {}\n"));
    assert_eq!(read("/repo/src/main.rs".into()).as_deref(), Some("fn main() {}\n"), "the parent's stays");
    assert_eq!(read(format!("{path}/README.md")).as_deref(), Some("# A project\n"));
    let pointer = read(format!("{path}/.git")).unwrap();
    assert!(pointer.starts_with("gitdir: /repo/.git/worktrees/"), "{pointer}");
    let created =
        finished.log.iter().position(|logged| matches!(&logged.event, Event::WorktreeOp { op: "create", .. }));
    let begun = finished.log.iter().position(|logged| matches!(&logged.event, Event::TaskState { .. }));
    assert!(created < begun, "it is made before the task is registered (LIFE-01)");
    let cwd = finished.log.iter().find_map(|logged| match &logged.event {
        Event::ContextCreated { cwd, .. } => Some(cwd.to_string()),
        _ => None,
    });
    assert_eq!(cwd.as_ref(), Some(&path));
}

#[test]
fn worktree_13_two_agents_that_edit_one_file_do_not_meet() {
    let call = |id: &str| forkcast_sim::model::answer::Said::ToolUse {
        id: id.into(),
        name: "Agent".into(),
        input: json!({ "description": id, "prompt": "Work.", "subagent_type": "worker", "isolation": "worktree" }),
    };
    let mut setup = isolated(&json!({}), edits());
    let twice = |rule: Rule| Rule { times: Some(1), ..rule };
    let mut rules = vec![super::stage::rule("main", vec![call("one"), call("two")])];
    for instance in [1, 2] {
        rules.extend(edits().into_iter().map(|rule| Rule { instance: Some(instance), ..twice(rule) }));
    }
    rules.push(Rule { times: None, ..says("main", "Fine.") });
    setup.script = Box::new(forkcast_sim::model::scripted::Scripted::new(rules));
    let finished = finished(setup);
    let world = files(&finished);
    for agent in &finished.agents[1..] {
        let path = format!("/repo/.claude/worktrees/{}/src/main.rs", agent.id);
        assert_eq!(world.files.read(&path).as_deref(), Some("fn start() {}\n"));
    }
    assert_eq!((finished.agents.len(), left(&finished).len()), (3, 2));
}

#[test]
fn worktree_09_worktree_10_listed_folders_are_linked_and_only_other_errors_are_told() {
    let mut setup = isolated(
        &json!({}),
        vec![calls("worker", "Read", json!({ "file_path": "node_modules/a/index.js" })), says("worker", "Read.")],
    );
    setup.settings.worktrees.linked = ["node_modules", "missing", "src", "README.md/x"].map(Rc::from).into();
    let finished = finished(setup);
    let links: Vec<_> = ops(&finished).into_iter().filter(|(op, _)| *op == "link").collect();
    assert_eq!(
        links,
        [("link", "ok"), ("link", "ok")],
        "what is missing is skipped: src is ignored here, so it is linked"
    );
    assert!(last(&finished, "worker").contains("a\\n"));
    assert!(files(&finished).files.exists("/repo/node_modules/a/index.js"), "the link goes, not what it points to");
    let mut odd = isolated(&json!({}), vec![says("worker", "Read.")]);
    let files_with =
        Files::new([("/repo/lib/x/a.js", "a"), ("/repo/docs", "d")].map(|(a, b)| (a.to_owned(), b.to_owned())));
    odd.world = World::new(files_with, Shell::new(Vec::new()));
    odd.settings.worktrees.linked = ["lib/x".into()].into();
    let played = super::stage::finished(odd);
    assert!(ops(&played).contains(&("create", "ok")) && ops(&played).contains(&("link", "ok")));
}

#[test]
fn worktree_10_a_link_that_cannot_be_made_is_a_warning_and_the_worktree_is_made() {
    let files = Files::new([("/repo/lib", "a file"), ("/other/x", "x")].map(|(a, b)| (a.to_owned(), b.to_owned())));
    assert_eq!(files.link("/gone", "/repo/y"), Err(forkcast_sim::agent::world::files::LinkError::NotFound));
    assert_eq!(files.link("/other/x", "/repo/lib/x"), Err(forkcast_sim::agent::world::files::LinkError::NotFolder));
    let mut setup = isolated(&json!({}), vec![says("worker", "Done.")]);
    // In HEAD `lib` is a file; in the parent's working copy it has become a folder.
    let text = json!({ "file_path": "/repo/README.md/x/a.js", "content": "a" });
    setup.acts = vec![types(0, "Go")];
    setup.settings.worktrees.linked = ["README.md/x".into()].into();
    let mut rules = vec![calls("main", "Write", text)];
    rules.extend([
        calls(
            "main",
            "Agent",
            json!({
                "description": "work", "prompt": "Work.", "subagent_type": "worker", "isolation": "worktree",
            }),
        ),
        says("worker", "Done."),
        Rule { times: None, ..says("main", "Fine.") },
    ]);
    setup.script = Box::new(forkcast_sim::model::scripted::Scripted::new(rules));
    let allow = vec![Allowed::parse("Write").unwrap()];
    setup.permissions = Permissions::new(Mode::Default, false, Rules { allow, ..Rules::default() });
    let finished = finished(setup);
    assert!(ops(&finished).contains(&("link", "warning")), "{:?}", ops(&finished));
    assert_eq!(finished.agents.len(), 2);
}

#[test]
fn worktree_11_msg_09_an_agent_that_goes_on_finds_its_worktree_without_a_fetch() {
    let mut worker = edits();
    worker.push(says("worker", "Still there."));
    let mut setup = isolated(&json!({}), worker);
    setup.tools = tool::offered(false, true, false);
    let message = json!({ "to": "${agent:first}", "message": "Go on.", "summary": "go on" });
    let mut call =
        json!({ "description": "work", "prompt": "Work.", "subagent_type": "worker", "isolation": "worktree" });
    call["run_in_background"] = json!(true);
    let first = forkcast_sim::model::answer::Said::ToolUse { id: "first".into(), name: "Agent".into(), input: call };
    let mut rules = vec![super::stage::rule("main", vec![first])];
    rules.push(says("main", "Wait."));
    rules.push(Rule { last_user: Some("Changed.".into()), ..calls("main", "SendMessage", message) });
    rules.extend(edits());
    rules.push(says("worker", "Still there."));
    rules.push(Rule { times: None, ..says("main", "Fine.") });
    setup.script = Box::new(forkcast_sim::model::scripted::Scripted::new(rules));
    let finished = finished(setup);
    let names: Vec<_> = ops(&finished).into_iter().map(|(op, _)| op).collect();
    assert_eq!(
        names,
        ["fetch", "create", "link", "status", "reuse", "status"],
        "the second run neither fetches nor makes"
    );
    assert_eq!(left(&finished).len(), 2);
}

#[test]
fn worktree_12_git_never_waits_for_a_password() {
    assert!(ENVIRONMENT.contains(&("GIT_TERMINAL_PROMPT", "0")) && ENVIRONMENT.contains(&("GIT_ASKPASS", "")));
    let world = Files::new([("/repo/a".to_owned(), "a".to_owned())]);
    let repository = Repository::new(&world, "/repo", &[], Remote::Private);
    let fetch = |environment| repository.run(&world, Command { cwd: "/repo", args: &["fetch", "origin"], environment });
    assert_eq!(fetch(&[]), Done::AsksPassword);
    assert!(matches!(fetch(&ENVIRONMENT), Done::Exit { code: 128, .. }));
    let mut setup = isolated(&json!({}), edits());
    setup.settings.worktrees.remote = Remote::Private;
    let finished = finished(setup);
    assert_eq!(ops(&finished)[..2], [("fetch", "failed"), ("create", "ok")], "what is here is used");
}

#[test]
fn worktree_14_worktree_15_worktree_16_worktree_17_fork_54_a_fork_is_told_where_it_works_after_what_siblings_share() {
    let fork = |id: &str, isolation: Option<&str>| {
        let mut input = json!({ "description": id, "prompt": "Look." });
        if let Some(isolation) = isolation {
            input["isolation"] = json!(isolation);
        }
        forkcast_sim::model::answer::Said::ToolUse { id: id.into(), name: "Agent".into(), input }
    };
    let mut setup = isolated(&json!({}), Vec::new());
    let mut rules = vec![super::stage::rule("main", vec![fork("plain", None), fork("apart", Some("worktree"))])];
    rules.extend([
        Rule { times: None, ..says("fork", "Scope: look\nResult: done") },
        Rule { times: None, ..says("main", "Fine.") },
    ]);
    setup.script = Box::new(forkcast_sim::model::scripted::Scripted::new(rules));
    setup.settings.features = ["FORK_SUBAGENT".to_owned()].into();
    let finished = finished(setup);
    let drafts: Vec<_> = (0..finished.entries.len())
        .filter(|line| {
            finished.agents[1..].iter().any(|agent| finished.entries[*line].agent.as_deref() == Some(&*agent.id))
        })
        .map(|line| finished.drafts.draft(line))
        .collect();
    let blocks = |at: usize| -> Vec<String> {
        let draft = &drafts[at];
        let messages = draft.messages.iter().flat_map(|message| &message.content);
        draft.tools.iter().chain(draft.system.iter()).chain(messages).map(|piece| piece.json().to_owned()).collect()
    };
    let (plain, apart) = (blocks(0), blocks(1));
    assert_eq!(plain, apart[..plain.len()], "the notice comes after the shared prefix and the directive");
    let notice = apart[plain.len()..].concat();
    let path = format!("/repo/.claude/worktrees/{}", finished.agents[2].id);
    for topic in [&*path, "your parent works in /repo", "same repository with the same layout", "separate copy"] {
        assert!(notice.contains(topic), "{topic}: {notice}");
    }
    assert!(notice.contains("refer to your parent's directory: translate them"));
    assert!(notice.contains("Read files again before you edit them"));
    assert_eq!(left(&finished), [], "it changed nothing");
}

#[test]
fn worktree_18_sync_23_without_changes_it_is_removed() {
    let finished = finished(isolated(&json!({}), vec![says("worker", "Nothing to do.")]));
    let names: Vec<_> = ops(&finished).into_iter().map(|(op, _)| op).collect();
    assert_eq!(names, ["fetch", "create", "link", "status", "remove", "branch"]);
    assert!(!files(&finished).files.is_folder(&path(&finished)) && left(&finished).is_empty());
    assert!(!last(&finished, "main").contains("stays, for you"));
    let steps = finished.log.iter().filter(|logged| matches!(&logged.event, Event::Cleanup { step: "worktree", .. }));
    assert_eq!(steps.count(), 1);
    assert!(finished.laws_held.contains(&"leftovers"));
}

#[test]
fn worktree_19_worktree_22_diag_07_with_changes_it_is_kept_and_the_model_is_told_where() {
    for (background, what) in [(false, "stays, for you to merge, review or discard"), (true, "<worktree>")] {
        let finished = finished(isolated(&json!({ "run_in_background": background }), edits()));
        let path = path(&finished);
        assert_eq!(left(&finished), [(path.clone(), "changes")]);
        let said = last(&finished, "main");
        assert!(said.contains(what) && said.contains(&path), "{said}");
        let world = files(&finished);
        assert!(world.files.read(&format!("{path}/src/main.rs")).is_some_and(|text| text.contains("start")));
        assert!(world.files.read("/repo/src/main.rs").is_some_and(|text| text.contains("main")), "nothing is merged");
        assert!(!ops(&finished).iter().any(|(op, _)| *op == "remove"));
    }
    let mut new = isolated(
        &json!({}),
        vec![calls("worker", "Write", json!({ "file_path": "new.txt", "content": "n" })), says("worker", "Written.")],
    );
    new.settings.worktrees.linked = Vec::new();
    assert_eq!(left(&finished(new)).len(), 1, "a new file is a change");
}

#[test]
fn worktree_20_diag_07_a_worktree_of_a_hook_is_always_kept() {
    let mut setup = isolated(&json!({}), vec![says("worker", "Nothing to do.")]);
    setup.settings.worktrees.by_hook = true;
    let finished = finished(setup);
    assert_eq!(left(&finished), [(path(&finished), "hook")]);
    assert!(last(&finished, "main").contains("stays, for you"));
}

#[test]
fn worktree_21_sync_23_diag_07_the_foreground_does_not_clean_up_after_a_child_that_went_on_in_the_background() {
    let worker =
        vec![calls("worker", "Bash", json!({ "command": "slow", "timeout": 600_000 })), says("worker", "Nothing.")];
    let mut setup = isolated(&json!({}), worker);
    setup.acts.push(at(30_000, Does::Background(None)));
    let finished = finished(setup);
    let position = |is: &dyn Fn(&Event) -> bool| finished.log.iter().position(|logged| is(&logged.event)).unwrap();
    let taken_over = position(&|event| matches!(event, Event::Takeover { .. }));
    let stays = position(&|event| matches!(event, Event::WorktreeLeft { why: "background", .. }));
    let ended = position(&|event| matches!(event, Event::TaskState { state: "completed", .. }));
    let told = position(&|event| matches!(event, Event::Notified { .. }));
    let removed = position(&|event| matches!(event, Event::WorktreeOp { op: "remove", .. }));
    let order = [taken_over, stays, ended, told, removed];
    assert!(order.is_sorted(), "it goes after the notification (C29): {order:?}");
    let steps = finished.log.iter().filter(|logged| matches!(&logged.event, Event::Cleanup { step: "worktree", .. }));
    assert_eq!(steps.count(), 0);
}

#[test]
fn agent_18_the_calls_isolation_is_worktree_and_so_can_be_the_definitions() {
    let run = |definition: &str, call: Value| {
        let mut setup = isolated(&call, vec![says("worker", "Done.")]);
        let text = format!("---\nname: worker\ndescription: tests\n{definition}\n---\nYou work.\n");
        let text = forkcast_sim::agent::definition::Text {
            source: forkcast_sim::agent::definition::Source::Project,
            path: "/repo/.claude/agents/worker.md".into(),
            text: text.into(),
        };
        setup.definitions = forkcast_sim::agent::definition::Definitions::gather(&[text], Default::default());
        ops(&finished(setup)).iter().filter(|(op, _)| *op == "create").count()
    };
    assert_eq!(run("isolation: worktree", json!({ "isolation": null })), 1, "the definition asks for it");
    assert_eq!(run("", json!({ "isolation": null })), 0);
    assert_eq!(run("isolation: remote", json!({})), 1, "the call decides");
}

#[test]
fn agent_28_with_a_directory_too_the_agent_works_there_and_the_worktree_is_made_all_the_same() {
    let finished = finished(isolated(&json!({ "cwd": "/repo/src" }), vec![says("worker", "Done.")]));
    let cwd = finished.log.iter().find_map(|logged| match &logged.event {
        Event::ContextCreated { cwd, .. } => Some(cwd.to_string()),
        _ => None,
    });
    assert_eq!(cwd.as_deref(), Some("/repo/src"));
    assert!(ops(&finished).contains(&("create", "ok")));
    let offered = |are_offered: bool| {
        let mut setup = isolated(&json!({}), vec![says("worker", "Done.")]);
        setup.settings.worktrees.are_offered = are_offered;
        let finished = super::stage::finished(setup);
        let tools = finished.drafts.draft(0).tools;
        tools.iter().any(|piece| piece.json().contains("\"isolation\""))
    };
    assert!(offered(true) && !offered(false));
}
