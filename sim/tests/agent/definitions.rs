//! Where agent types are defined, which definition of a name wins, and the errors of the others (ADEF).

use std::rc::Rc;

use forkcast_sim::agent::Event;
use forkcast_sim::agent::definition::{
    AgentDefinition, CONTRACT, Definitions, Isolation, McpServer, MemoryScope, Outcome, PUBLIC, Ranking, Source, Text,
};
use forkcast_sim::agent::hook::Moment;
use forkcast_sim::agent::permission::{Mode, Rule};
use forkcast_sim::agent::session::Server;
use forkcast_sim::agent::spawn::input::full_schema;
use serde_json::json;

use super::clocked::{Stage, main_agent, says, spawn, text};

fn at(source: Source, path: &str, text: &str) -> Text {
    Text { source, path: path.into(), text: text.into() }
}

fn project(text: &str) -> Text {
    at(Source::Project, "/repo/.claude/agents/one.md", text)
}

fn gather(texts: &[Text]) -> Definitions {
    Definitions::gather(texts, Ranking::Public)
}

/// The definition `one` from a markdown text with these frontmatter lines.
fn one(frontmatter: &str) -> Result<Rc<AgentDefinition>, String> {
    let text = format!("---\nname: one\ndescription: does one thing\n{frontmatter}---\n\nYou do one thing.\n");
    let definitions = gather(&[project(&text)]);
    definitions.get("one").ok_or_else(|| definitions.invalid()[0].to_string())
}

/// The errors of a text, without its path.
fn wrong(text: &str) -> String {
    let definitions = gather(&[project(text)]);
    let told = definitions.invalid().first().expect("an invalid definition").to_string();
    told.strip_prefix("/repo/.claude/agents/one.md:").expect("its path").to_owned()
}

const EVERY_FIELD: &str = "\
tools: Read, Grep, Bash(git log:*)
disallowedTools: [Write]
model: haiku
effort: high
permissionMode: plan
background: true
isolation: worktree
maxTurns: 7
color: cyan
memory: local
requiredMcpServers: [tickets]
mcpServers: [wiki, {own-db: {command: serve}}]
hooks:
  SubagentStart: [hello]
  PreToolUse:
    - matcher: Bash
      hooks: [{type: command, command: check}]
skills: [style, review]
initialPrompt: Read the guide first.
";

#[test]
fn adef_01_adef_02_adef_13_a_markdown_file_and_a_json_object_become_the_same_definition() {
    let markdown = one(EVERY_FIELD).unwrap();
    let json = json!({ "one": {
        "description": "does one thing", "prompt": "You do one thing.",
        "tools": ["Read", "Grep", "Bash(git log:*)"], "disallowedTools": "Write", "model": "haiku", "effort": "high",
        "permissionMode": "plan", "background": true, "isolation": "worktree", "maxTurns": 7, "color": "cyan",
        "memory": "local", "requiredMcpServers": ["tickets"], "mcpServers": ["wiki", { "own-db": {} }],
        "hooks": {
            "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "command": "check" }] }],
            "SubagentStart": ["hello"],
        },
        "skills": ["style", "review"], "initialPrompt": "Read the guide first.",
    }});
    let texts = [at(Source::Project, "/repo/agents.json", &json.to_string())];
    assert_eq!(gather(&texts).get("one").unwrap(), markdown);
    assert_eq!((&*markdown.agent_type, &*markdown.when_to_use), ("one", "does one thing"));
    assert_eq!(&*markdown.prompt, "You do one thing.");
}

#[test]
fn adef_03_adef_04_adef_05_adef_06_adef_07_adef_08_every_option_is_read() {
    let definition = one(EVERY_FIELD).unwrap();
    let tools: Vec<&str> = definition.tools.as_ref().unwrap().iter().map(|tool| &**tool).collect();
    assert_eq!(tools, ["Read", "Grep", "Bash(git log:*)"]);
    assert_eq!(definition.disallowed_tools, ["Write".into()]);
    assert_eq!((definition.model.as_deref(), definition.effort.as_deref()), (Some("haiku"), Some("high")));
    assert_eq!(definition.permission_mode, Some(Mode::Plan));
    assert!(definition.background);
    assert_eq!(definition.isolation, Some(Isolation::Worktree));
    assert_eq!(one("effort: 3\n").unwrap().effort.as_deref(), Some("3"));
    assert_eq!(one("isolation: remote\n").unwrap().isolation, Some(Isolation::Remote));
    let plain = one("").unwrap();
    assert!(plain.tools.is_none() && plain.means_all_tools(), "G26: nothing said means all");
    assert!(one("tools: '*'\n").unwrap().means_all_tools());
    assert!(!plain.background && plain.permission_mode.is_none() && plain.isolation.is_none());
}

#[test]
fn adef_03_tools_are_a_list_or_a_line_with_commas_outside_brackets() {
    let tools = |line: &str| one(&format!("tools: {line}\n")).map(|one| one.tools.clone().unwrap());
    let expected: Vec<Rc<str>> = ["Agent(a, b)", "Read", "Bash(ls:*)", "Grep"].map(Into::into).to_vec();
    assert_eq!(tools("Agent(a, b), Read, Bash(ls:*), Grep"), Ok(expected.clone()));
    assert_eq!(tools("['Agent(a, b)', Read, 'Bash(ls:*)', Grep]"), Ok(expected));
    for wrong in ["[Read, '']", "[Read, 3]", "{Read: true}", "7"] {
        let told = tools(wrong).unwrap_err();
        assert!(told.contains("expected a list of names"), "{wrong}: {told}");
    }
}

#[test]
fn prompt_17_a_star_with_exceptions_is_all_tools_but_these() {
    let words = |lines: &str| one(lines).unwrap().tools_in_words();
    assert_eq!(words("tools: '*'\n"), "*");
    assert_eq!(words("tools: '*, Read'\n"), "*");
    assert_eq!(words("tools: '*'\ndisallowedTools: Write\n"), "All tools except Write");
    assert_eq!(words("tools: Read, Write\ndisallowedTools: Write\n"), "Read");
}

#[test]
fn adef_11_servers_may_be_one_object() {
    let servers = |line: &str| one(&format!("mcpServers: {line}\n")).map(|one| one.mcp_servers.clone());
    let own = ["db", "mail"].map(|name| McpServer::Own(name.into())).to_vec();
    assert_eq!(servers("{db: {command: serve}, mail: {command: post}}"), Ok(own));
    assert!(servers("[3]").unwrap_err().contains("a server's name, or an object"));
}

#[test]
fn adef_05_an_effort_is_a_level_or_a_positive_whole_number() {
    for value in ["0", "-3", "2.5", "utmost", "''", "[high]"] {
        let told = one(&format!("effort: {value}\n")).unwrap_err();
        assert!(told.contains(":4: effort: found "), "{value}: {told}");
        assert!(told.contains("or a positive whole number"), "{value}: {told}");
    }
}

#[test]
fn adef_09_turns_are_a_positive_whole_number() {
    assert_eq!(one("maxTurns: 1\n").unwrap().max_turns, Some(1));
    for value in ["0", "-3", "2.5", "ten", "'4'", "4294967296"] {
        let told = one(&format!("maxTurns: {value}\n")).unwrap_err();
        assert!(told.contains(":4: maxTurns: found "), "{value}: {told}");
        assert!(told.contains("expected a whole number from 1 to 4294967295"), "{value}: {told}");
    }
}

#[test]
fn adef_10_adef_11_adef_12_colour_memory_servers_hooks_skills_and_initial_prompt_are_read() {
    let definition = one(EVERY_FIELD).unwrap();
    assert_eq!((definition.color.as_deref(), definition.memory), (Some("cyan"), Some(MemoryScope::Local)));
    assert_eq!(one("memory: user\n").unwrap().memory, Some(MemoryScope::User));
    assert_eq!(one("memory: project\n").unwrap().memory, Some(MemoryScope::Project));
    assert!(one("memory: mine\n").unwrap_err().contains("expected one of `user`, `project`, `local`"));
    assert_eq!(definition.required_mcp_servers, ["tickets".into()]);
    assert_eq!(definition.mcp_servers, [McpServer::Reference("wiki".into()), McpServer::Own("own-db".into())]);
    let hooks: Vec<_> =
        definition.hooks.iter().map(|hook| (&*hook.name, hook.moment, hook.matcher.as_deref())).collect();
    assert_eq!(hooks, [("check", Moment::PreToolUse, Some("Bash")), ("hello", Moment::SubagentStart, None)]);
    assert_eq!(definition.skills, ["style".into(), "review".into()]);
    assert_eq!(definition.initial_prompt.as_deref(), Some("Read the guide first."));
}

#[test]
fn adef_12_a_call_has_no_fields_that_only_definitions_have() {
    Stage::new().play(|session| async move {
        let schema = full_schema(&session.settings);
        let fields: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        for field in ["requiredMcpServers", "mcpServers", "hooks", "skills", "initialPrompt"] {
            assert!(!fields.iter().any(|name| *name == field), "{field} in {fields:?}");
        }
    });
}

#[test]
fn adef_02_errors_have_a_line_the_value_found_and_what_was_expected() {
    let source = "(definition from source `project`)";
    let cases = [
        ("", format!("1: frontmatter: found nothing, expected a first line `---` {source}")),
        ("name: one\n", format!("1: frontmatter: found a text of 9 characters, expected a first line `---` {source}")),
        (
            "---\nname: one\n",
            format!("2: frontmatter: found the end of the file, expected a line `---` that ends it {source}"),
        ),
        ("---\ndescription: a\n---\nb", format!("1: name: found nothing, expected a text {source}")),
        ("---\nname: one\n---\nb", format!("1: description: found nothing, expected a text {source}")),
        (
            "---\nname: one two\ndescription: a\n---\nb",
            format!("2: name: found a text of 7 characters, expected letters, digits, `-`, `_` and `.` {source}"),
        ),
        (
            "---\nname: one\ndescription: a\n---\n\n",
            format!("5: prompt: found an empty text, expected a text {source}"),
        ),
        (
            "---\nname: one\ndescription: a\n\nhooks:\n  Later: [x]\n---\nb",
            format!(
                "6: hooks: found `Later`, expected one of `UserPromptSubmit`, `SubagentStart`, `PreToolUse`, \
                 `PostToolUse`, `Stop` {source}"
            ),
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(wrong(text), expected, "{text:?}");
    }
    let told = wrong("---\nname: one\ndescription: use it when: always\n---\nb");
    assert!(told.starts_with("3: frontmatter: found ") && told.contains("quote values that contain `: `"), "{told}");
}

#[test]
fn adef_02_json_needs_a_prompt_and_a_description_too() {
    let text = "{\n  \"mute\": { \"description\": \"a\" },\n  \"vague\": { \"prompt\": \"b\" }\n}";
    let definitions = gather(&[at(Source::Flag, "--agents", text)]);
    assert!(definitions.get("mute").is_none() && definitions.get("vague").is_none());
    let told: Vec<String> = definitions.invalid().iter().map(ToString::to_string).collect();
    assert!(told[0].starts_with("--agents:2: mute.prompt: found nothing, expected a system prompt"), "{told:?}");
    assert!(told[1].starts_with("--agents:3: vague.description: found nothing, expected a text"), "{told:?}");
}

#[test]
fn adef_15_an_invalid_definition_in_json_does_not_affect_the_others() {
    let text = "{\n  \"good\": { \"description\": \"a\", \"prompt\": \"b\" },\n  \"bad\": {\n    \"description\": \"a\",\n    \
                \"prompt\": \"b\",\n    \"maxTurns\": 0\n  },\n  \"odd\": 3\n}";
    let definitions = gather(&[at(Source::Flag, "--agents", text)]);
    assert_eq!(definitions.get("good").unwrap().source, Source::Flag);
    let told: Vec<String> = definitions.invalid().iter().map(ToString::to_string).collect();
    assert_eq!(told[0].split(", expected").next().unwrap(), "--agents:6: bad.maxTurns: found 0");
    assert_eq!(told[1].split(", expected").next().unwrap(), "--agents:8: odd: found 3");
    let broken = gather(&[at(Source::Flag, "--agents", "{\n  \"a\": \n}")]);
    assert!(broken.invalid()[0].to_string().starts_with("--agents:3: definitions: found "), "{:?}", broken.invalid());
}

#[test]
fn adef_14_a_plugins_agent_has_its_namespace() {
    let text = "---\nname: one\ndescription: a\n---\nb";
    let definitions = gather(&[at(Source::Plugin, "/home/user/.claude/plugins/lint/agents/one.md", text)]);
    assert!(definitions.get("one").is_none());
    assert_eq!(&*definitions.get("lint:one").unwrap().agent_type, "lint:one");
    let played =
        Stage::new().agent("one", "").says("main", vec![spawn("two", "go"), text_reply()]).play(|session| async move {
            says(&main_agent(&session), "hello").await;
        });
    assert_eq!(played.asked_by("two").len(), 0, "a name that matches nothing starts nothing");
}

fn text_reply() -> super::clocked::Reply {
    text("done")
}

#[test]
fn adef_15_the_source_of_a_file_follows_from_its_folder() {
    let of = |path| Source::of_path(path, "/home/user");
    assert_eq!(of("/home/user/.claude/agents/a.md"), Some(Source::User));
    assert_eq!(of("/repo/.claude/agents/deep/a.md"), Some(Source::Project));
    assert_eq!(of("/home/user/.claude/plugins/lint/agents/a.md"), Some(Source::Plugin));
    assert_eq!(of("/repo/.claude/agents/a.txt"), None);
    assert_eq!(of("/repo/agents/a.md"), None);
}

const SOURCES: [Source; 5] = [Source::Plugin, Source::User, Source::Project, Source::Policy, Source::Flag];

/// The type `plan` from every source that can define it. The plugin's file is outside a plugin folder, so that it has
/// no namespace. The command line's is JSON.
fn everywhere() -> Vec<Text> {
    let markdown = |source: Source| {
        let text = format!("---\nname: plan\ndescription: of {}\n---\nb", source.name());
        at(source, &format!("/{}/plan.md", source.name()), &text)
    };
    let json = |source: Source| {
        let text = json!({ "plan": { "description": format!("of {}", source.name()), "prompt": "b" } });
        at(source, "--agents", &text.to_string())
    };
    SOURCES.map(|source| if source == Source::Flag { json(source) } else { markdown(source) }).into()
}

#[test]
fn adef_15_adef_16_adef_17_the_highest_source_wins_in_both_rankings() {
    for (ranking, order) in [(Ranking::Public, PUBLIC), (Ranking::Contract, CONTRACT)] {
        let mut texts = everywhere();
        for (rank, winner) in order.into_iter().enumerate() {
            let definitions = Definitions::gather(&texts, ranking);
            // The built-in definition cannot be left out, so no source below it ever wins.
            let built_in_is_higher = order[..rank].contains(&Source::BuiltIn);
            let expected = if built_in_is_higher { Source::BuiltIn } else { winner };
            assert_eq!(definitions.get("plan").unwrap().source, expected, "{ranking:?} {rank}");
            let count = |outcome| {
                definitions.fates().iter().filter(|fate| &*fate.agent_type == "plan" && fate.outcome == outcome).count()
            };
            assert_eq!((count(Outcome::Kept), count(Outcome::Shadowed)), (1, texts.len()));
            texts.retain(|text| text.source != winner);
        }
    }
    let names = |order: [Source; 6]| order.map(Source::name).join(" ");
    assert_eq!(names(PUBLIC), "policy flag project user plugin built-in");
    assert_eq!(names(CONTRACT), "built-in plugin user project policy flag");
}

#[test]
fn adef_17_the_first_definition_of_a_source_wins() {
    let text = |what| format!("---\nname: one\ndescription: {what}\n---\nb");
    let definitions = gather(&[project(&text("first")), project(&text("second"))]);
    assert_eq!(&*definitions.get("one").unwrap().when_to_use, "first");
}

#[test]
fn adef_23_no_definition_is_called_fork() {
    assert!(Definitions::default().get("fork").is_none());
    let told = wrong("---\nname: fork\ndescription: a\n---\nb");
    assert!(told.starts_with("2: name: found `fork`, expected a name that the runtime does not reserve"), "{told}");
}

#[test]
fn adef_24_kept_shadowed_denied_blocked_and_invalid_are_distinguished() {
    let mut stage = Stage::new()
        .agent("explore", "")
        .agent("denied", "")
        .agent("blocked", "requiredMcpServers: [Tick, wiki]")
        .agent("served", "requiredMcpServers: [TICK]\nmcpServers: [{own: {}}]\nflavour: sweet")
        .agent("named", "mcpServers: [wiki]")
        .agent("invalid", "maxTurns: 0");
    stage.servers = vec![Server::new("my-tickets", "Tickets.")];
    stage.rules.deny = vec![Rule::parse("Agent(denied)").unwrap()];
    let played = stage.play(|_| async {});
    let told = played.find(|event| match event {
        Event::Definition { agent_type, source, outcome, why } => {
            Some(format!("{agent_type} {source} {outcome} {why}"))
        }
        _ => None,
    });
    for expected in [
        "explore project kept ",
        "explore built-in shadowed by a definition from source project",
        "denied project denied by a rule",
        "blocked project blocked no server: wiki",
        "named project blocked no server: wiki",
        "served project kept unknown fields: flavour",
        "plan built-in kept ",
    ] {
        assert!(told.iter().any(|line| line == expected), "{expected:?} in {told:#?}");
    }
    let invalid =
        "/repo/.claude/agents/invalid.md project invalid /repo/.claude/agents/invalid.md:4: maxTurns: found 0";
    assert!(told.iter().any(|line| line.starts_with(invalid)), "{told:#?}");
}
