//! MCP servers: pending, ready, failed; who owns a connection; tools that come and go (MCP, PERM-05, TOOLS-02, TOOLS-07,
//! CTX-03).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_sim::agent::Event;
use forkcast_sim::agent::definition::{Definitions, Ranking, Source, Text};
use forkcast_sim::agent::permission::{Mode, Permissions, Rule as Allowed, Rules};
use forkcast_sim::agent::session::{Server, Tools};
use forkcast_sim::agent::tool::data::{DataResult, DataTool};
use forkcast_sim::model::answer::Said;
use forkcast_sim::model::scripted::{Reply, Rule};
use forkcast_sim::model::{CallError, Fault};
use forkcast_sim::simulation::{Does, Finished, Setup};
use forkcast_sim::time::Duration;
use serde_json::{Value, json};

use super::stage::{asked, at, calls, drafts, finished, log, says, setup, types};

/// A server with these tools, to which the session connects in `ms` milliseconds.
fn server(name: &str, ms: u64, tools: &[&str]) -> Server {
    let tool = |tool: &&str| -> Rc<dyn forkcast_sim::agent::tool::Tool> {
        Rc::new(DataTool {
            name: format!("mcp__{name}__{tool}").into(),
            description: "Looks something up.".into(),
            schema: json!({ "type": "object" }),
            of_call: BTreeMap::new(),
            in_order: RefCell::default(),
            otherwise: DataResult { content: "found".into(), takes: Some(Duration(0)), ..DataResult::default() },
        })
    };
    let tools = tools.iter().map(tool).collect();
    Server { takes: Duration::from_millis(ms), tools, ..Server::new(name, "Ask me.") }
}

fn failing(name: &str, ms: u64) -> Server {
    Server { works: false, ..server(name, ms, &["look"]) }
}

/// A session with these servers and one agent type, `clerk`.
fn served(servers: Vec<Server>, frontmatter: &str, rules: Vec<Rule>) -> Setup {
    let mut setup = setup(rules, vec![types(0, "Go")]);
    let text = format!("---\nname: clerk\ndescription: for tests\n{frontmatter}\n---\nYou are a clerk.\n");
    let path = "/repo/.claude/agents/clerk.md".into();
    setup.definitions =
        Definitions::gather(&[Text { source: Source::Project, path, text: text.into() }], Ranking::default());
    setup.servers = servers;
    setup.keeps_drafts = true;
    setup
}

fn asks_clerk() -> Vec<Rule> {
    let spawn = json!({ "description": "ask", "prompt": "Look.", "subagent_type": "clerk" });
    vec![calls("main", "Agent", spawn), says("clerk", "Seen."), Rule { times: None, ..says("main", "Fine.") }]
}

fn named<'a>(log: &'a [Value], name: &str) -> Vec<&'a Value> {
    log.iter().filter(|event| event["event"] == name).collect()
}

fn at_ms(finished: &Finished, is: impl Fn(&Event) -> bool) -> u64 {
    finished.log.iter().find(|logged| is(&logged.event)).expect("it happened").at.0 / 1_000_000
}

/// The names of the tools of each request of agents of this type.
fn tools(finished: &Finished, agent_type: &str) -> Vec<Vec<String>> {
    let name = |json: &str| serde_json::from_str::<Value>(json).unwrap()["name"].as_str().unwrap().to_owned();
    let drafts = drafts(finished, agent_type);
    drafts.iter().map(|(_, draft)| draft.tools.iter().map(|piece| name(piece.json())).collect()).collect()
}

fn results(finished: &Finished, agent_type: &str) -> String {
    asked(finished, agent_type).pop().unwrap()
}

#[test]
fn mcp_01_mcp_02_perm_05_a_call_waits_for_servers_that_its_agent_requires() {
    let finished =
        finished(served(vec![server("my-tickets", 10_000, &["look"])], "requiredMcpServers: [TICK]", asks_clerk()));
    let called = at_ms(&finished, |event| matches!(event, Event::ToolStart { .. }));
    let started = at_ms(&finished, |event| matches!(event, Event::AgentStarted { .. }));
    assert!(called < 10_000 && started == 10_000, "{called} {started}");
    let log = log(&finished);
    assert_eq!(named(&log, "mcp.wait")[0]["servers"], json!(["TICK"]));
    let states: Vec<_> = named(&log, "mcp.server").into_iter().map(|event| event["state"].clone()).collect();
    assert_eq!(states, ["pending", "ready"]);
    assert!(tools(&finished, "clerk")[0].contains(&"mcp__my-tickets__look".to_owned()), "its pool is built afterwards");
    assert!(results(&finished, "main").contains("Seen."));
}

#[test]
fn mcp_02_mcp_03_perm_05_an_agent_whose_server_fails_is_late_or_has_no_tools_does_not_start() {
    let denying = |setup: &mut Setup| {
        let deny = vec![Allowed::parse("mcp__tickets__look").unwrap()];
        setup.permissions = Permissions::new(Mode::Default, false, Rules { deny, ..Rules::default() });
    };
    for (server, denied, why, after_ms) in [
        (server("tickets", 60_000, &["look"]), false, "needs longer than 30 seconds", Some(30_000)),
        (failing("tickets", 5_000), false, "could not be connected", None),
        (server("tickets", 0, &[]), false, "offers no tool", None),
        (server("tickets", 0, &["look"]), true, "offers no tool", None),
    ] {
        let mut setup = served(vec![server], "requiredMcpServers: [tickets]", asks_clerk());
        if denied {
            denying(&mut setup);
        }
        let finished = finished(setup);
        assert_eq!(finished.agents.len(), 1, "no other agent takes its place");
        assert!(results(&finished, "main").contains(why), "{why}: {}", results(&finished, "main"));
        let called = at_ms(&finished, |event| matches!(event, Event::ToolStart { .. }));
        let refused = at_ms(&finished, |event| matches!(event, Event::Refused { .. }));
        if let Some(after_ms) = after_ms {
            assert_eq!(refused - called, after_ms);
        }
    }
}

/// As in a recording, which shows tools and results but no servers.
#[test]
fn a_tool_of_a_server_that_the_session_does_not_have_gives_its_result() {
    let rules = vec![calls("main", "mcp__browser__look", json!({})), Rule { times: None, ..says("main", "Fine.") }];
    let mut setup = served(Vec::new(), "", rules);
    let own = setup.tools.all().iter().cloned();
    setup.tools = Tools::new(own.chain(server("browser", 0, &["look"]).tools).collect());
    let said = results(&finished(setup), "main");
    assert!(said.contains("found") && !said.contains("not connected"), "{said}");
}

#[test]
fn mcp_02_esc_ends_the_wait_for_a_server() {
    let mut setup = served(vec![server("tickets", 20_000, &["look"])], "requiredMcpServers: [tickets]", asks_clerk());
    setup.acts.push(at(12_000, Does::Escape));
    let finished = finished(setup);
    assert_eq!(finished.agents.len(), 1);
    let ended = at_ms(&finished, |event| matches!(event, Event::QueryEnded { reason: "aborted", .. }));
    assert_eq!(ended, 12_000);
}

#[test]
fn mcp_04_an_agent_is_listed_while_its_server_may_come_and_hidden_once_it_failed() {
    for (server, is_listed) in [
        (server("tickets", 60_000, &["look"]), true),
        (server("tickets", 0, &["look"]), true),
        (failing("tickets", 0), false),
    ] {
        let setup = served(vec![server], "requiredMcpServers: [tickets]", vec![says("main", "Hello.")]);
        let finished = finished(setup);
        let draft = finished.drafts.draft(0);
        let listed = draft.tools.iter().any(|piece| piece.json().contains("- clerk: for tests"));
        assert_eq!(listed, is_listed);
    }
}

/// A clerk with a reference and a server of its own, which is slow to connect.
fn clerk_with_own(rules: Vec<Rule>) -> Setup {
    let own = Server { is_shared: false, ..server("desk", 2_000, &["query"]) };
    let frontmatter = "tools: [Read, Agent]\nmcpServers: [wiki, {desk: {command: serve}}]";
    served(vec![server("wiki", 0, &["look"]), server("mail", 0, &["send"]), own], frontmatter, rules)
}

#[test]
fn mcp_05_mcp_06_mcp_07_mcp_08_mcp_09_tools_02_tools_07_ctx_03_an_agent_closes_only_what_it_opened() {
    let spawn = |kind: &str| json!({ "description": "ask", "prompt": "Look.", "subagent_type": kind });
    let refused = CallError::Refused {
        status: 400,
        kind: "invalid_request_error".into(),
        message: "no".into(),
        retry_after: None,
    };
    let broken = Reply { fault: Some(Fault::Refusal(refused)), ..Reply::default() };
    let long = Reply {
        said: vec![Said::Text("Looking.".into())],
        streaming: Some(Duration::from_millis(60_000)),
        ..Reply::default()
    };
    let rule = |reply| Rule { agent: Some("clerk".into()), times: Some(1), reply, ..Rule::default() };
    let query = calls("clerk", "mcp__desk__query", json!({}));
    for (state, clerk) in [
        ("completed", vec![query.clone(), calls("clerk", "Agent", spawn("explore")), says("clerk", "Seen.")]),
        ("failed", vec![query.clone(), rule(broken)]),
        ("killed", vec![query, rule(long)]),
    ] {
        let mut call = spawn("clerk");
        call["run_in_background"] = json!(true);
        let main = vec![calls("main", "Agent", call), Rule { times: None, ..says("main", "Fine.") }];
        let mut setup = clerk_with_own([main, clerk, vec![says("explore", "All quiet.")]].concat());
        if state == "killed" {
            setup.acts.push(at(30_000, Does::KillsAll));
        }
        let finished = finished(setup);
        let id = &finished.agents[1].id;
        assert_eq!(finished.agents[1].state, state);
        let log = log(&finished);
        let opened = named(&log, "mcp.open");
        let closed = named(&log, "mcp.close");
        assert_eq!((opened.len(), closed.len()), (1, 1), "{state}: the shared connections stay");
        assert_eq!((&opened[0]["server"], &opened[0]["agent"]), (&json!("desk"), &json!(id)));
        assert_eq!(closed[0]["connection"], opened[0]["connection"]);
        let clients = named(&log, "mcp.clients")[0]["clients"].clone();
        let names: Vec<_> = clients.as_array().unwrap().iter().map(|client| client[0].clone()).collect();
        assert_eq!(names, ["desk", "mail", "wiki"], "the parent's and its own");
        let shared = named(&log, "mcp.server").into_iter().find(|event| event["server"] == "wiki").unwrap();
        assert_eq!(clients[2][1], shared["connection"], "the same connection as the session's");
        assert_eq!(clients[0][1], opened[0]["connection"]);
        assert_eq!(tools(&finished, "clerk")[0], ["Read", "Agent", "mcp__wiki__look", "mcp__desk__query"]);
        assert!(tools(&finished, "main").iter().all(|tools| !tools.contains(&"mcp__desk__query".into())));
        assert!(tools(&finished, "main")[0].ends_with(&["mcp__mail__send".into(), "mcp__wiki__look".into()]));
        let is_end =
            |event: &Event| matches!(event, Event::TaskState { task, state, .. } if task == id && *state != "running");
        let ended = at_ms(&finished, is_end);
        assert_eq!(at_ms(&finished, |event| matches!(event, Event::McpClosed { .. })), ended, "{state}");
        if state == "completed" {
            assert!(results(&finished, "clerk").contains("found"));
            let explore = &tools(&finished, "explore")[0];
            assert!(!explore.contains(&"mcp__desk__query".into()), "its parent's own server is none of the session's");
        }
    }
}

#[test]
fn mcp_06_an_agent_whose_own_server_fails_starts_without_its_tools() {
    let own = Server { is_shared: false, ..failing("desk", 2_000) };
    let finished = finished(served(vec![own], "mcpServers: [{desk: {}}]", asks_clerk()));
    let log = log(&finished);
    assert_eq!(named(&log, "mcp.open")[0]["is_open"], json!(false));
    assert!(named(&log, "mcp.close").is_empty() && tools(&finished, "clerk").len() == 1);
}

#[test]
fn mcp_09_tools_02_tools_come_and_go_with_their_server_and_the_prefix_changes_with_them() {
    let look = |agent: &str| calls(agent, "mcp__wiki__look", json!({}));
    let spawn = json!({ "description": "ask", "prompt": "Look.", "subagent_type": "clerk", "run_in_background": true });
    let slow = Reply {
        said: vec![Said::ToolUse { id: "".into(), name: "mcp__wiki__look".into(), input: json!({}) }],
        streaming: Some(Duration::from_secs(60)),
        ..Reply::default()
    };
    let rules = vec![
        says("main", "Not yet."),
        look("main"),
        calls("main", "Agent", spawn),
        says("main", "Asked."),
        Rule { agent: Some("clerk".into()), times: Some(1), reply: slow, ..Rule::default() },
        says("clerk", "Nothing."),
        look("main"),
        Rule { times: None, ..says("main", "Gone.") },
    ];
    let mut setup = served(vec![server("wiki", 30_000, &["look"])], "", rules);
    setup.acts.extend([types(40_000, "And now?"), at(70_000, Does::Links { server: "wiki".into(), connects: false })]);
    setup.acts.push(types(71_000, "And now?"));
    let finished = finished(setup);
    assert!(finished.idle.is_empty());
    let has: Vec<bool> =
        tools(&finished, "main").iter().map(|tools| tools.contains(&"mcp__wiki__look".to_owned())).collect();
    assert_eq!(has[..6], [false, true, true, true, false, false], "{has:?}");
    let causes: Vec<_> = finished
        .entries
        .iter()
        .filter(|entry| entry.agent.as_deref() == Some("main"))
        .flat_map(|entry| &entry.line.explanation.as_ref().unwrap().missed)
        .map(|missed| missed.cause.word())
        .filter(|cause| cause.starts_with("tools"))
        .collect();
    assert_eq!(causes, ["tools_added", "tools_removed"]);
    assert!(results(&finished, "clerk").contains("is not connected any more"));
    let log = log(&finished);
    let absent = named(&log, "tool.absent");
    assert_eq!((absent.len(), &absent[0]["why"]), (1, &json!("server_not_connected")));
}
