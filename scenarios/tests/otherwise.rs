//! Recorded sessions whose agents are built otherwise: three agents of one message, with figures computed by hand.

use std::fmt::Write as _;

use forkcast_replay::input::{Inputs, ReadOptions};
use forkcast_replay::transcript::Session;
use forkcast_scenarios::cast::comparison::{Comparison, Side, Variant};
use forkcast_scenarios::cast::otherwise::{Alteration, Otherwise, Started, Which};
use forkcast_scenarios::cast::{Cast, Content, cast_otherwise};
use forkcast_scenarios::format::expect::Ends;
use forkcast_scenarios::run::{Options, Run, play};
use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::LaunchPolicy;
use forkcast_sim::wire::Ttl;

/// A line of a transcript: its id, the one that it follows, its second, the agent if it is no line of the main one.
struct Line<'a> {
    id: &'a str,
    after: &'a str,
    at_secs: u32,
    agent: Option<&'a str>,
}

impl Line<'_> {
    fn head(&self, kind: &str) -> String {
        let Self { id, after, at_secs, agent } = self;
        let (minutes, secs) = (at_secs / 60, at_secs % 60);
        let parent = if after.is_empty() { "null".to_owned() } else { format!(r#""{after}""#) };
        let agent = agent.map_or_else(String::new, |agent| format!(r#""isSidechain":true,"agentId":"{agent}","#));
        format!(
            r#""type":"{kind}",{agent}"sessionId":"s","uuid":"{id}","parentUuid":{parent},"timestamp":"2026-07-01T10:{minutes:02}:{secs:02}.000Z","cwd":"/home/me/p","version":"2.1.150""#
        )
    }

    fn user(&self, content: &str, more: &str) -> String {
        format!(r#"{{{},{more}"message":{{"role":"user","content":{content}}}}}"#, self.head("user"))
    }

    /// An answer: tokens written and read, and three of plain input.
    fn answer(&self, content: &str, [written, read]: [u32; 2]) -> String {
        let id = self.id;
        format!(
            r#"{{{},"requestId":"r{id}","message":{{"id":"m{id}","model":"claude-opus-4-8","role":"assistant","type":"message","stop_reason":"end_turn","content":[{content}],"usage":{{"input_tokens":3,"cache_creation_input_tokens":{written},"cache_read_input_tokens":{read},"output_tokens":100}}}}}}"#,
            self.head("assistant")
        )
    }
}

fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":"{text}"}}"#)
}

/// A line of the main agent.
fn main<'a>(id: &'a str, after: &'a str, at_secs: u32) -> Line<'a> {
    Line { id, after, at_secs, agent: None }
}

const AGENTS: [&str; 3] = ["a1", "a2", "a3"];

/// The main agent starts three agents at 4 s, each of which answers once after 6 s; it sums up at 15 s, and the user asks again
/// at 400 s, after five minutes. Every agent writes 10,000 tokens and reads none.
fn three_agents(in_background: bool) -> Session {
    let call = |n: usize| {
        let agent = AGENTS[n];
        format!(
            r#"{{"type":"tool_use","id":"toolu_{agent}","name":"Agent","input":{{"description":"part {n}","prompt":"Look at part {n}.","subagent_type":"Explore","run_in_background":{in_background}}}}}"#
        )
    };
    let mut lines = vec![
        main("u0", "", 0).user(r#""Look at three parts.""#, ""),
        main("c0", "u0", 4).answer(&[call(0), call(1), call(2)].join(","), [20_000, 0]),
    ];
    let mut last = "c0".to_owned();
    let mut files = Vec::new();
    for (n, agent) in AGENTS.iter().enumerate() {
        let (id, first, said) = (format!("t{n}"), format!("f{n}"), format!("s{n}"));
        let (status, at_secs) = if in_background { ("async_launched", 5) } else { ("completed", 10) };
        let more = format!(
            r#""toolUseResult":{{"isAsync":{in_background},"status":"{status}","agentId":"{agent}","prompt":"Look at part {n}."}},"#
        );
        let result =
            format!(r#"[{{"type":"tool_result","tool_use_id":"toolu_{agent}","content":"Part {n} is sound."}}]"#);
        lines.push(main(&id, &last, at_secs).user(&result, &more));
        last = id;
        let brief = format!(r#""Look at part {n}.""#);
        let own = [
            Line { id: &first, after: "", at_secs: 4, agent: Some(agent) }.user(&brief, ""),
            Line { id: &said, after: &first, at_secs: 10, agent: Some(agent) }
                .answer(&text(&format!("Part {n} is sound.")), [10_000, 0]),
        ];
        files.push((format!("s/subagents/agent-{agent}.jsonl"), own.join("\n") + "\n"));
    }
    if in_background {
        lines.push(main("w", &last, 8).answer(&text("I wait."), [900, 20_003]));
        last = "w".to_owned();
        for (n, agent) in AGENTS.iter().enumerate() {
            let id = format!("n{n}");
            let notice = format!(
                r#""<task-notification>\n<task-id>{agent}</task-id>\n<tool-use-id>toolu_{agent}</tool-use-id>\n<status>completed</status>\n<result>Part {n} is sound.</result>\n</task-notification>""#
            );
            lines.push(main(&id, &last, 10).user(&notice, ""));
            last = id;
        }
        lines.push(main("sum", &last, 15).answer(&text("All three are sound."), [600, 20_903]));
    } else {
        lines.push(main("sum", &last, 15).answer(&text("All three are sound."), [1_500, 20_003]));
    }
    lines.push(main("u1", "sum", 400).user(r#""Thank you.""#, ""));
    lines.push(main("bye", "u1", 404).answer(&text("You are welcome."), [22_000, 0]));
    files.push(("s.jsonl".to_owned(), lines.join("\n") + "\n"));
    written(&files)
}

fn written(files: &[(String, String)]) -> Session {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let inputs = Inputs::read_with(&[folder.path()], &ReadOptions::default().with_answers(), &|_| true).unwrap();
    assert_eq!(inputs.sessions.len(), 1);
    inputs.sessions.load(0).unwrap().unwrap()
}

fn played(session: &Session, alterations: &[Alteration]) -> (Cast, Run) {
    let otherwise = Otherwise::compared(alterations.to_vec());
    let cast = cast_otherwise(session, Content::Full, &otherwise);
    let scenario = cast.scenario(&otherwise.changes()).unwrap();
    let run = play(scenario, &Options::default());
    assert_eq!(run.ends, Ends::Finished, "{alterations:?}: {:?}", run.message);
    assert!(run.laws_held(), "{alterations:?}");
    (cast, run)
}

fn side(session: &Session, alterations: &[Alteration]) -> Side {
    let (cast, run) = played(session, alterations);
    Comparison::new(&cast, &run).simulated()
}

/// The tokens that all three agents have in common, as the cast declares them.
fn shared_tokens(session: &Session) -> u64 {
    let yaml = cast_otherwise(session, Content::Full, &Otherwise::compared(Vec::new())).yaml();
    let types = yaml.split_once("Explore:").unwrap().1;
    types.split_once("system: ").unwrap().1.lines().next().unwrap().trim().parse().unwrap()
}

/// In millionths of a dollar, from list prices of Opus 4.8: 5, 25 for output, 6.25 and 10 for writes, 0.5 for reads, per million.
fn micros(side: &Side) -> f64 {
    let usage = side.usage;
    usage.input_tokens as f64 * 5.0
        + usage.ephemeral_5m_input_tokens as f64 * 6.25
        + usage.ephemeral_1h_input_tokens as f64 * 10.0
        + usage.cache_read_input_tokens as f64 * 0.5
        + usage.output_tokens as f64 * 25.0
}

fn cost(side: &Side) -> f64 {
    side.cost.unwrap().picousd() as f64 / 1e6
}

#[test]
fn a_session_as_played_costs_what_it_recorded() {
    let session = three_agents(false);
    let (cast, run) = played(&session, &[]);
    let comparison = Comparison::new(&cast, &run);
    let (recorded, simulated) = (comparison.recorded(), comparison.simulated());
    assert_eq!(recorded.requests, 6);
    // By hand: 20,000 + 3 × 10,000 + 1,500 + 22,000 written, 20,003 read, 6 × 3 plain, 6 × 100 output.
    let by_hand = 73_500.0 * 6.25 + 20_003.0 * 0.5 + 18.0 * 5.0 + 600.0 * 25.0;
    assert_eq!((micros(&recorded), cost(&recorded)), (by_hand, by_hand));
    assert_eq!(simulated.requests, 6);
    assert!((cost(&simulated) / by_hand - 1.0).abs() < 0.001, "{} {by_hand}", cost(&simulated));
    assert_eq!(recorded.ended_at.0, 404_000_000_000);
    assert_eq!(simulated.ended_at, recorded.ended_at);
}

#[test]
fn one_agent_first_lets_the_others_read_what_they_share() {
    let session = three_agents(false);
    let shared = shared_tokens(&session);
    assert!((9_900..10_003).contains(&shared), "{shared}");
    let base = side(&session, &[]);
    let primed = side(&session, &[Alteration::Launch(LaunchPolicy::Primed)]);
    // Two agents read the shared part that all three wrote.
    assert_eq!(primed.usage.cache_read_input_tokens, base.usage.cache_read_input_tokens + 2 * shared);
    let saved = 2.0 * shared as f64 * (6.25 - 0.5);
    assert!((cost(&base) - cost(&primed) - saved).abs() < 0.01, "{} {} {saved}", cost(&base), cost(&primed));
    // The others start at the first byte of the first one, and the user waits for them.
    assert!(primed.ended_at > base.ended_at);
}

#[test]
fn agents_one_after_another_take_their_times_together() {
    let session = three_agents(false);
    let base = side(&session, &[]);
    let serial = side(&session, &[Alteration::Launch(LaunchPolicy::Serial)]);
    // Each answers after 6 s: two of them begin 6 and 12 s later, and all that follows is 12 s later.
    assert_eq!(serial.ended_at.0 - base.ended_at.0, 12_000_000_000);
    let primed = side(&session, &[Alteration::Launch(LaunchPolicy::Primed)]);
    assert_eq!(serial.usage, primed.usage);
}

#[test]
fn an_hour_keeps_the_cache_over_the_users_pause_at_twice_the_price_of_input() {
    let session = three_agents(false);
    let (base, hour) = (side(&session, &[]), side(&session, &[Alteration::Ttl(Ttl::OneHour)]));
    // The last request reads what the one before it left: 20,003 + 1,500 tokens, and up to three after its breakpoint.
    let kept = hour.usage.cache_read_input_tokens - base.usage.cache_read_input_tokens;
    assert!((21_503..=21_506).contains(&kept), "{kept}");
    assert_eq!(hour.usage.total_input_tokens(), base.usage.total_input_tokens());
    let by_hand = cost(&base) - base.usage.ephemeral_5m_input_tokens as f64 * 6.25 - kept as f64 * 10.0
        + kept as f64 * 0.5
        + base.usage.ephemeral_5m_input_tokens as f64 * 10.0;
    assert!((cost(&hour) - by_hand).abs() < 0.01, "{} {by_hand}", cost(&hour));
    assert_eq!(hour.ended_at, base.ended_at);
}

#[test]
fn without_breakpoints_everything_is_plain_input() {
    let session = three_agents(false);
    let base = side(&session, &[]);
    let none = side(&session, &[Alteration::Breakpoints(Placement::None)]);
    assert_eq!(none.usage.input_tokens, base.usage.total_input_tokens());
    assert_eq!(none.usage.total_input_tokens(), none.usage.input_tokens);
}

#[test]
fn forks_begin_with_their_parents_prompt_and_run_in_the_background() {
    let session = three_agents(false);
    let (cast, run) = played(&session, &[Alteration::With(Started::Forks)]);
    assert_eq!(run.agents.iter().filter(|agent| agent.kind() == "fork").count(), 3, "{:?}", run.agents);
    let firsts: Vec<_> = run.requests.iter().filter(|request| request.agent != 0).collect();
    assert_eq!(firsts.len(), 3);
    for first in firsts {
        // The parent's first request had 20,003 tokens; its breakpoint leaves up to three of them.
        let read = first.usage().cache_read_input_tokens;
        assert!((20_000..=20_003).contains(&read), "{read}");
    }
    let variant = Variant::new(Otherwise::default(), &cast, &cast, &run);
    assert_eq!(variant.left_out, 0, "every recorded answer is played");
    // The parent answers the launch, and the notifications that come before the last one.
    assert!(variant.unknown >= 1, "{variant:?}");
}

#[test]
fn agents_in_the_background_report_by_notifications() {
    let session = three_agents(false);
    let (cast, run) = played(&session, &[Alteration::Background(Which::All)]);
    let variant = Variant::new(Otherwise::default(), &cast, &cast, &run);
    assert_eq!(variant.left_out, 0);
    assert!(variant.unknown >= 1);
    assert!(run.agents.iter().skip(1).all(|agent| agent.background), "{:?}", run.agents);
}

#[test]
fn agents_that_are_waited_for_leave_out_what_was_said_meanwhile() {
    let session = three_agents(true);
    let (base_cast, base_run) = played(&session, &[]);
    let base = Comparison::new(&base_cast, &base_run).simulated();
    assert_eq!(base.requests, 7);
    let (cast, run) = played(&session, &[Alteration::Background(Which::None)]);
    let variant = Variant::new(Otherwise::default(), &base_cast, &cast, &run);
    assert_eq!((variant.left_out, variant.unknown), (1, 0), "`I wait.` is not said");
    assert_eq!(variant.side.requests, 6);
    assert!(run.agents.iter().skip(1).all(|agent| !agent.background), "{:?}", run.agents);
}

#[test]
fn another_model_has_its_own_prices_and_tokens() {
    let session = three_agents(false);
    let model = |agent: &str, model: &str| Alteration::model(&format!("{agent}={model}")).unwrap();
    let (base, all) = (side(&session, &[]), side(&session, &[model("all", "claude-opus-4-6")]));
    // Opus 4.6 has another tokenizer, at the same prices.
    assert_ne!(all.usage.total_input_tokens(), base.usage.total_input_tokens());
    let (cast, run) = played(&session, &[model("Explore", "claude-haiku-4-5")]);
    let models: Vec<&str> = run.requests.iter().map(|request| request.line.model.as_str()).collect();
    assert_eq!(models.iter().filter(|model| **model == "claude-haiku-4-5").count(), 3, "{models:?}");
    assert_eq!(cast.agents, ["main", "Explore"]);
    let otherwise = Otherwise::compared(vec![model("Plan", "claude-haiku-4-5")]);
    assert_eq!(otherwise.unknown_agent(&cast.agents).as_deref(), Some("Plan"));
    assert!(Alteration::model("claude-haiku-4-5").is_err());
}

#[test]
fn names_are_those_of_the_options_and_only_some_keep_the_answers() {
    let all = [
        (Alteration::Launch(LaunchPolicy::Waves(2)), "launch=waves=2", true),
        (Alteration::Breakpoints(Placement::Both), "breakpoints=both", true),
        (Alteration::Ttl(Ttl::OneHour), "ttl=1h", true),
        (Alteration::ToolsSorted, "tools-sorted", true),
        (Alteration::With(Started::Agents), "with=agents", false),
        (Alteration::Background(Which::None), "background=none", false),
        (Alteration::model("main=opus").unwrap(), "model:main=opus", false),
    ];
    let mut names = String::new();
    for (alteration, name, keeps) in &all {
        assert_eq!((alteration.to_string().as_str(), alteration.keeps_answers()), (*name, *keeps));
        write!(names, "{}{name}", if names.is_empty() { "" } else { "," }).unwrap();
    }
    let alterations = all.into_iter().map(|(alteration, _, _)| alteration).collect();
    let together = Otherwise::compared(alterations);
    assert_eq!((together.name(), together.keeps_answers()), (names, false));
}
