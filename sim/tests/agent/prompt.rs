//! The text that a model gets before the conversation (PROMPT). Tests look for topics, not wording.

use forkcast_sim::agent::Event;
use forkcast_sim::agent::definition::Skill;
use forkcast_sim::agent::permission::Rule;
use forkcast_sim::agent::prompt::{DIVIDER, agent_tool};
use forkcast_sim::agent::session::{Server, Skills};
use forkcast_sim::agent::settings::{Fragment, PartSizes};
use forkcast_sim::agent::spawn::fork::Profile;
use forkcast_sim::model::Question;
use serde_json::Value;

use super::clocked::{Played, Reply, Stage, call, main_agent, says, spawn, text};

/// Two turns of the main agent.
fn turns() -> Vec<Reply> {
    vec![call("Glob", serde_json::json!({ "pattern": "*" })), text("done")]
}

fn hello(stage: Stage) -> Played<()> {
    stage.play(|session| async move {
        says(&main_agent(&session), "hello").await;
    })
}

/// The text of the system block at `index`.
fn system(question: &Question, index: usize) -> String {
    let block: Value = serde_json::from_str(question.draft.system[index].json()).unwrap();
    block["text"].as_str().unwrap().to_owned()
}

/// The main part of the main prompt.
fn main_prompt(stage: Stage) -> String {
    system(hello(stage.says("main", turns())).asked_by("main")[0], 1)
}

/// The description of the Agent tool as sent.
fn description(stage: Stage) -> String {
    let played = hello(stage.says("main", turns()));
    let tools = played.asked_by("main")[0].draft.tools.iter();
    let mut tools = tools.map(|piece| serde_json::from_str::<Value>(piece.json()).unwrap());
    let tool = tools.find(|tool| tool["name"] == "Agent").expect("the Agent tool");
    tool["description"].as_str().unwrap().to_owned()
}

/// Every group of words occurs in at least one line of `text`.
#[track_caller]
fn has_topics(text: &str, topics: &[&[&str]]) {
    for words in topics {
        let found = text.lines().any(|line| {
            let line = line.to_lowercase();
            words.iter().all(|word| line.contains(&word.to_lowercase()))
        });
        assert!(found, "{words:?} in\n{text}");
    }
}

#[test]
fn prompt_01_prompt_02_parts_are_in_order_and_stable_ones_precede_the_divider() {
    let played = hello(Stage::new().says("main", turns()));
    let sections = played.find(|event| match event {
        Event::PromptRendered { sections, .. } => Some(sections.join(" ")),
        _ => None,
    });
    let expected = "identity safety urls system conduct care tools output tone divider environment guidance closing";
    assert_eq!(sections[0], expected);
    let question = played.asked_by("main")[0];
    assert_eq!(question.draft.system.len(), 2, "the client of 2026 marks both");
    assert!(system(question, 0).contains("coding agent"));
    let elsewhere = Stage::new().set(|settings| {
        settings.cwd = "/other".into();
        settings.model = "claude-sonnet-5".into();
        settings.environment.git = false;
    });
    let (here, there) = (main_prompt(Stage::new()), main_prompt(elsewhere));
    let stable = |prompt: &str| prompt.split_once(DIVIDER).expect("a divider").0.to_owned();
    assert_eq!(stable(&here), stable(&there));
    assert_ne!(here, there);
    assert!(here.ends_with("need of them."), "the note on results of tools comes last");
    let marks: Vec<_> =
        question.draft.marks.iter().filter(|mark| mark.level == forkcast_sim::wire::Level::System).collect();
    assert_eq!(marks.len(), 2);
}

#[test]
fn prompt_03_the_environment_is_described() {
    let prompt = main_prompt(Stage::new());
    let behind = prompt.split_once(DIVIDER).unwrap().1;
    has_topics(
        behind,
        &[
            &["working directory", "/repo"],
            &["git repository", "yes"],
            &["platform", "linux"],
            &["shell", "bash"],
            &["os version", "Linux 6.1"],
            &["model", "claude-opus-5-5"],
            &["knowledge cutoff", "2026-01"],
            &["terminal", "desktop", "web"],
            &["fast", "same model", "faster output", "/fast"],
        ],
    );
}

#[test]
fn prompt_04_servers_skills_and_instruction_files_change_the_prompt() {
    let skill = Skill {
        name: "lint:style".into(),
        description: "How we write.".into(),
        instructions: "Short.".into(),
        ..Skill::default()
    };
    let mut stage = Stage::new().file("/repo/CLAUDE.md", "Use tabs.").file("/home/user/.claude/CLAUDE.md", "Be kind.");
    stage.skills = Skills::new([skill]);
    stage.servers = vec![Server::new("tickets", "Ask me for tickets.")];
    let played = hello(stage.says("main", turns()));
    let question = played.asked_by("main")[0];
    has_topics(&system(question, 1), &[&["tickets"], &["Ask me for tickets."], &["lint:style", "How we write."]]);
    let first = question.draft.messages[0].content[0].json();
    let (kind, tabs) = (first.find("Be kind.").unwrap(), first.find("Use tabs.").unwrap());
    assert!(kind < tabs, "the user's own instructions come first");
    assert!(!main_prompt(Stage::new()).contains("# Skills"));
}

fn warmed_by(flag: &str) -> Stage {
    let fragment = |before_divider, text: &str| Fragment { flag: flag.into(), before_divider, text: text.into() };
    Stage::new().set(|settings| settings.fragments = vec![fragment(true, "Above."), fragment(false, "Below.")])
}

#[test]
fn prompt_04_prompt_05_a_flag_that_warms_between_two_renderings_changes_bytes() {
    let [first, second] = <[Reply; 2]>::try_from(turns()).unwrap();
    let played = warmed_by("tips").says("main", vec![first.after(10), second]).play(|session| async move {
        let context = main_agent(&session);
        let flip = session.clone();
        let running = session.handle.spawn("flip", async move {
            // The first request was sent, the second is not rendered yet.
            flip.set_flag("tips", true);
        });
        says(&context, "hello").await;
        let _ = running.await;
        session.set_flag("tips", true);
        session.set_flag("tips", false);
        forkcast_sim::agent::prompt::render_system(&context);
    });
    let renderings = played.find(|event| match event {
        Event::PromptRendered { changed, warm_flags, sections, bytes, .. } => {
            Some((*changed, warm_flags.len(), sections.len(), *bytes))
        }
        _ => None,
    });
    assert_eq!(renderings.len(), 3, "one each request, and one more");
    assert_eq!(renderings.last().map(|(_, warm, sections, _)| (*warm, *sections)), Some((0, 13)));
    let flips = played.find(|event| match event {
        Event::FlagFlipped { flag, value } => Some((flag.to_string(), *value)),
        _ => None,
    });
    assert_eq!(
        flips,
        [("tips".to_owned(), true), ("tips".to_owned(), false)],
        "a flip without a change is not reported"
    );
    let prompts: Vec<String> = played.asked_by("main").iter().map(|question| system(question, 1)).collect();
    let warm: Vec<bool> = prompts.iter().map(|prompt| prompt.contains("Above.") && prompt.contains("Below.")).collect();
    assert_eq!(warm, [false, true], "cold in the first request, warm in the second");
    assert!(
        prompts[1].find("Above.") < prompts[1].find(DIVIDER) && prompts[1].find(DIVIDER) < prompts[1].find("Below.")
    );
}

#[test]
fn prompt_05_unchanged_blocks_stay_the_same_pieces() {
    let played = warmed_by("tips").says("main", vec![text("a"), text("b"), text("c")]).play(|session| async move {
        let context = main_agent(&session);
        says(&context, "hello").await;
        session.set_flag("unheard-of", true);
        says(&context, "hello").await;
        session.set_flag("tips", true);
        says(&context, "hello").await;
    });
    let changed = played.find(|event| match event {
        Event::PromptRendered { changed, .. } => Some(*changed),
        _ => None,
    });
    assert_eq!(changed, [false, false, true]);
    let same = |first: usize, second: usize, block: usize| {
        let piece = |request: usize| &played.asked[request].draft.system[block];
        piece(first).same(piece(second))
    };
    assert!(same(0, 1, 0) && same(0, 1, 1), "a flag of nothing changes nothing");
    assert!(same(1, 2, 0) && !same(1, 2, 1), "the identity stays, the rest is new");
    assert!(played.asked[0].draft.messages[0].content[0].same(&played.asked[2].draft.messages[0].content[0]));
}

#[test]
fn prompt_06_system_topics() {
    has_topics(
        &main_prompt(Stage::new()),
        &[
            &["outside of tools", "shown to the user"],
            &["permission mode", "user chose"],
            &["refused", "do not repeat", "identical"],
            &["<system-reminder>", "tags", "information from the system"],
            &["tool result", "suspect", "injection", "report", "user"],
            &["hook", "<user-prompt-submit-hook>", "coming from the user"],
            &["older messages", "compressed automatically"],
        ],
    );
}

#[test]
fn prompt_07_conduct_topics() {
    has_topics(
        &main_prompt(Stage::new()),
        &[
            &["read", "before you change"],
            &["create no files", "does not need"],
            &["no time estimates"],
            &["diagnose", "before you switch"],
            &["no security vulnerabilities"],
            &["no extra features"],
            &["no error handling", "no validation", "cannot happen", "trust", "internal"],
            &["no compatibility hacks"],
            &["too big", "user's decision", "defer"],
            &["/help", "/feedback"],
        ],
    );
}

#[test]
fn prompt_08_care_topics() {
    has_topics(
        &main_prompt(Stage::new()),
        &[
            &["confirm with the user before", "destructive", "hard to reverse", "visible to others"],
            &["destruction", "never a shortcut", "obstacle"],
        ],
    );
}

#[test]
fn prompt_09_prompt_10_each_tool_has_its_purpose_and_independent_calls_go_together() {
    has_topics(
        &main_prompt(Stage::new()),
        &[
            &["read a file use Read", "change one Edit", "create one Write", "find files Glob", "content Grep"],
            &["bash", "only for system commands", "shell"],
            &["taskcreate", "done", "promptly"],
            &["independent", "in parallel", "one response"],
            &["depend on one another", "in sequence"],
        ],
    );
}

#[test]
fn prompt_11_output_and_tone_topics() {
    has_topics(
        &main_prompt(Stage::new()),
        &[
            &["be brief", "answer first"],
            &["emoji", "only on request"],
            &["file_path:line_number", "owner/repo#123"],
            &["no colon before a tool call"],
        ],
    );
}

#[test]
fn prompt_12_guidance_for_the_session() {
    let prompt = main_prompt(Stage::new());
    let guidance = prompt.split_once(DIVIDER).unwrap().1;
    has_topics(
        guidance,
        &[
            &["denied", "AskUserQuestion"],
            &["interactive", "`!`"],
            &["Glob or Grep", "simple search", "`explore`", "more than 3 queries"],
            &["Skill tool", "only", "listed"],
        ],
    );
    assert!(!guidance.to_lowercase().contains("fork"), "the gate is off");
}

#[test]
fn prompt_15_the_agent_tool_says_when_not_to_use_it() {
    has_topics(
        &description(Stage::new()),
        &[
            &["know the file's path", "Read"],
            &["definition", "class", "Glob or Grep"],
            &["code inside one file", "Read"],
            &["nothing to do with the agents"],
        ],
    );
}

#[test]
fn prompt_16_the_description_has_fork_guidance_only_with_an_open_gate() {
    let played = Stage::new().play(|session| async move {
        (agent_tool::describe(&session, None), agent_tool::describe(&session, Some(Profile::Documents)))
    });
    let (off, on) = played.value;
    let guidance = off.to_lowercase().replace("runforkedagent", "");
    assert!(!guidance.contains("fork"), "{off}");
    has_topics(
        &on,
        &[
            &["intermediate output again", "not how big"],
            &["research", "open questions", "forks in parallel", "one message"],
            &["implementation", "couple of edits", "fork"],
            &["forks are cheap", "share", "prompt cache"],
        ],
    );
}

#[test]
fn prompt_17_prompt_18_mcp_04_the_list_shows_agents_that_are_neither_denied_nor_lack_a_server() {
    let mut stage = Stage::new()
        .agent("every", "")
        .agent("some", "tools: [Read, Edit]\ndisallowedTools: [Edit]")
        .agent("most", "disallowedTools: [Edit, Write]")
        .agent("none", "tools: []")
        .agent("denied", "")
        .agent("lacking", "requiredMcpServers: [tickets]");
    stage.rules.deny = vec![Rule::parse("Agent(denied)").unwrap()];
    let description = description(stage);
    let lines: Vec<&str> = description.lines().filter(|line| line.contains(": tests (Tools: ")).collect();
    assert_eq!(
        lines,
        [
            "- every: tests (Tools: *)",
            "- most: tests (Tools: All tools except Edit, Write)",
            "- none: tests (Tools: None)",
            "- some: tests (Tools: Read)",
        ]
    );
    assert!(!description.contains("- fork"), "a fork is no kind of agent");
}

#[test]
fn prompt_19_prompt_20_what_to_do_while_an_agent_works_in_the_background() {
    has_topics(
        &description(Stage::new()),
        &[
            &["async_launched", "do not claim to know the outcome"],
            &["send it a message", "read its output", "stop its task"],
            &["prefer `Read(output_file)` to `TaskOutput`"],
        ],
    );
}

#[test]
fn prompt_21_prompt_22_prompt_23_fork_55_how_to_delegate_work() {
    let played = Stage::new().play(|session| async move { agent_tool::describe(&session, Some(Profile::Documents)) });
    has_topics(
        &played.value,
        &[
            &["specialised role", "limited context", "named agent"],
            &["long work", "background"],
            &["several workers", "whole conversation", "forks"],
            &["skill", "slash command"],
            &["light branch", "runForkedAgent()"],
            &["edits", "isolation: \"worktree\""],
            &["precise task", "clean context", "fresh agent"],
            &["need not keep"],
            &["role that lives long", "never a fork"],
            &["research", "several forks"],
            &["couple of edits", "fork it"],
        ],
    );
}

#[test]
fn loop_24_prompts_constrain_and_price_but_nothing_spawns_by_itself() {
    let description = description(Stage::new());
    has_topics(&description, &[&["new agent", "pays for all"], &["notification will tell"]]);
    let described =
        Stage::new().play(|session| async move { agent_tool::describe(&session, Some(Profile::Documents)) });
    has_topics(&described.value, &[&["forks are cheap"]]);
    let played = hello(Stage::new().says("main", turns()));
    assert_eq!(played.find(|event| matches!(event, Event::AgentStarted { .. }).then_some(())).len(), 0);
}

#[test]
fn loop_04_the_user_context_precedes_the_conversation_in_every_request_and_never_changes() {
    let edit = serde_json::json!({ "file_path": "/repo/CLAUDE.md", "content": "Use spaces." });
    let read = serde_json::json!({ "file_path": "/repo/CLAUDE.md" });
    let replies = vec![call("Read", read), call("Write", edit), spawn("worker", "go"), text("done")];
    let stage =
        Stage::new().file("/repo/CLAUDE.md", "Use tabs.").agent("worker", "").says("worker", vec![text("done")]);
    let stage = stage.set(|settings| settings.environment.git_status = Some("M src/main.rs".into()));
    let played = hello(stage.says("main", replies));
    assert_eq!(played.session.world.files.read("/repo/CLAUDE.md").as_deref(), Some("Use spaces."));
    let firsts: Vec<_> = played.asked.iter().map(|question| &question.draft.messages[0].content).collect();
    assert_eq!(firsts.len(), 5);
    for first in &firsts {
        assert!(first[0].same(&firsts[0][0]), "one piece for all agents of the directory");
        assert!(first[0].json().contains("Use tabs.") && first[0].json().contains("<system-reminder>"));
        assert!(first[1].json().contains("2026-09-30") && first[2].json().contains("M src/main.rs"));
    }
    let off = hello(Stage::new().set(|settings| settings.without_user_context = true).says("main", turns()));
    assert!(off.asked[0].draft.messages[0].content[0].json().contains("hello"));
}

#[test]
fn prompt_01_own_blocks_and_declared_sizes_replace_the_runtimes() {
    let own = Stage::new().set(|settings| settings.system = Some(vec!["Own.".into(), "Words.".into()]));
    let played = hello(own.says("main", turns()));
    assert_eq!((0..2).map(|index| system(played.asked_by("main")[0], index)).collect::<Vec<_>>(), ["Own.", "Words."]);
    let sized = Stage::new().set(|settings| {
        settings.sizes = Some(PartSizes { system: Some(4000), ..PartSizes::default() });
    });
    let stage =
        sized.agent("worker", "").says("main", vec![spawn("worker", "go"), text("a")]).says("worker", vec![text("b")]);
    let played = hello(stage);
    let declared = |agent_type: &str| -> Vec<Option<u64>> {
        played.asked_by(agent_type)[0].draft.system.iter().map(|piece| piece.declared_tokens()).collect()
    };
    let main: Vec<u64> = declared("main").into_iter().flatten().collect();
    assert_eq!((main.len(), main.iter().sum::<u64>()), (2, 4000));
    assert!(main[0] < main[1]);
    assert_eq!(declared("worker"), [None, None], "what is declared is the main agent's");
}
