//! Sessions of transcripts in a report: the tree of agents, what-ifs and actions, estimated output, what stays unexplained.
//! All made by hand; money by the list prices of claude-opus-4-6 (5 / 6.25 / 10 / 0.5 / 25 USD per million tokens).

use std::sync::Arc;

use forkcast_replay::exchange::Origin;
use forkcast_replay::formats::Format;
use forkcast_replay::input::Inputs;
use forkcast_replay::replay::{Options, Replay};
use forkcast_replay::transcript::{
    Agent, AgentKind, Answer, Item, OutputCount, Session, Sign, SpawnMode, SpawnResult, Stop, Thread, What,
};
use forkcast_replay::what_if::{Hypothetical, WhatIf};
use forkcast_reports::document::terminal::{self, Look};
use forkcast_reports::format::{self, SCHEMAS};
use forkcast_reports::human;
use forkcast_reports::names::Names;
use forkcast_reports::report::{By, Report, View, actions};
use forkcast_sim::diagnosis::{Cause, Explanation, Missed};
use forkcast_sim::ledger::{Line, PredictedCost, charge};
use forkcast_sim::pricing::{Category, ModelKey, Money, PriceBook, Terms};
use forkcast_sim::service::{AnswerPlace, Entry, NotComparable};
use forkcast_sim::time::Instant;
use forkcast_sim::wire::Usage;
use serde_json::Value;

const MODEL: &str = "claude-opus-4-6";
/// 2026-02-11, by `date -u -d 2026-02-11 +%s`.
const DAY_MS: u64 = 1_770_768_000_000;
const WEEK_MS: u64 = 7 * 86_400_000;

/// One request: session, agent, read and written tokens, missed tokens and the cause.
#[derive(Clone, Copy)]
struct Asks {
    session: usize,
    agent: usize,
    at_ms: u64,
    read: u64,
    written: u64,
    missed: Option<(Cause, u64)>,
    estimated_output: Option<u32>,
}

const PLAIN: Asks =
    Asks { session: 0, agent: 0, at_ms: 0, read: 100_000, written: 1_000, missed: None, estimated_output: None };

fn answer(asks: &Asks) -> Answer {
    let output = asks.estimated_output.map(|estimated_tokens| OutputCount::StreamStart { estimated_tokens });
    Answer {
        version: Some(Arc::from("2.1.39")),
        output: output.unwrap_or_default(),
        stop: Stop::Other,
        ..Answer::of(0, Arc::from(MODEL))
    }
}

fn agent(id: &str, parent: Option<usize>, kind: AgentKind) -> Agent {
    let thread = Thread { session: Some(Arc::from("s")), agent: None, user: None, project: None, items: Vec::new() };
    Agent { id: Arc::from(id), parent, kind, file: Arc::from("s.jsonl"), thread }
}

/// A main agent, a sub-agent for which it waits, and one that this starts in the background.
fn session(id: &str) -> Session {
    let named = |name: &str, mode| AgentKind::Named { name: Some(Arc::from(name)), mode: Some(mode) };
    Session {
        id: Arc::from(id),
        source: format!("p/{id}.jsonl"),
        scope: 0,
        format: Format::ClaudeCode,
        user: None,
        project: Some(Arc::from("/home/u/work")),
        agents: vec![
            agent("main", None, AgentKind::Main),
            agent("a1", Some(0), named("Explore", SpawnMode::Sync)),
            agent("b2", Some(1), named("Plan", SpawnMode::Background)),
        ],
    }
}

fn line(index: usize, asks: &Asks) -> Line {
    let rates = PriceBook::built_in().rates(&ModelKey::from(MODEL), &Terms::default()).unwrap();
    let usage = Usage {
        cache_read_input_tokens: asks.read,
        ephemeral_5m_input_tokens: asks.written,
        output_tokens: 10,
        ..Usage::default()
    };
    let missed = asks.missed.map(|(cause, tokens)| Missed { cause, billed_as: Category::Write5m, tokens });
    let explanation = Explanation {
        read_tokens: asks.read,
        new_tokens: asks.written - missed.as_ref().map_or(0, |part| part.tokens),
        missed: missed.into_iter().collect(),
        ..Explanation::default()
    };
    Line {
        index,
        session: asks.session,
        chain: None,
        at: Some(Instant::from_millis(DAY_MS + asks.at_ms)),
        first_byte_at: None,
        model: MODEL.to_owned(),
        recorded: Some(usage),
        predicted: Some(usage),
        predicted_cost: Some(PredictedCost::of(&rates.bill(&usage, &[]))),
        charge: charge(Some(&rates), &usage, &[], Some(&explanation)),
        explanation: Some(explanation),
        unread_writes: None,
        remarks: Vec::new(),
    }
}

fn made(sessions: usize, all: &[Asks]) -> (Inputs, Replay) {
    let mut sessions: Vec<Session> = (0..sessions).map(|at| session(&format!("session-{at}"))).collect();
    let mut replay = Replay::default();
    for (index, asks) in all.iter().enumerate() {
        let items = &mut sessions[asks.session].agents[asks.agent].thread.items;
        items.push(Item { line: index as u32 + 1, at: None, what: What::Answer(Box::new(answer(asks))) });
        let origin = Origin { file: format!("p/session-{}.jsonl", asks.session), index, line: index + 1 };
        replay.entries.push(Entry {
            answer: Some(AnswerPlace { session: asks.session, agent: asks.agent, item: items.len() - 1 }),
            chain: Some(asks.session * 3 + asks.agent),
            ..Entry::new(line(index, asks), origin, Err(NotComparable::FirstOfChain))
        });
    }
    (Inputs { sessions: sessions.into_iter().collect(), ..Inputs::default() }, replay)
}

fn usd(text: &str) -> Money {
    text.parse().unwrap()
}

fn json(report: &Report<'_>) -> Value {
    let mut text = Vec::new();
    format::replay::write(report, &mut text).unwrap();
    let value: Value = serde_json::from_slice(&text).unwrap();
    let schema = &SCHEMAS.iter().find(|(name, _)| *name == "forkcast.replay/1").unwrap().1;
    let validator = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let errors: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    value
}

/// 100,000 read at 0.5, 1,000 written at 6.25, 10 of output at 25 USD per million.
const ONE: &str = "0.0565";

#[test]
fn agents_are_a_tree_whose_costs_add_up() {
    let all = [PLAIN, Asks { agent: 1, ..PLAIN }, Asks { agent: 2, ..PLAIN }, Asks { agent: 2, ..PLAIN }];
    let (inputs, replay) = made(1, &all);
    let options = Options::default();
    let report = Report::new(&inputs, &replay, &options, Names::Plain);
    let agents = &report.sessions[0].agents;
    let costs: Vec<Money> = agents.iter().filter_map(|agent| agent.billed.cost).collect();
    assert_eq!(costs, [ONE, ONE, "0.113"].map(usd));
    let whole: Vec<Money> = agents.iter().filter_map(|agent| agent.with_children.cost).collect();
    assert_eq!(whole, ["0.226", "0.1695", "0.113"].map(usd));
    assert_eq!(report.sessions[0].account.billed.cost, Some(usd("0.226")));
    let value = json(&report);
    let agents = value["sessions"][0]["agents"].as_array().unwrap();
    let told: Vec<(&str, Option<&str>, &str, Option<&str>)> = agents
        .iter()
        .map(|agent| {
            let text = |key: &str| agent[key].as_str();
            (text("id").unwrap(), text("parent"), text("kind").unwrap(), text("mode"))
        })
        .collect();
    assert_eq!(
        told,
        [
            ("main", None, "main", None),
            ("a1", Some("main"), "named", Some("sync")),
            ("b2", Some("a1"), "named", Some("background")),
        ]
    );
}

#[test]
fn an_agent_without_requests_stays_if_it_started_others() {
    let (inputs, replay) = made(1, &[PLAIN, Asks { agent: 2, ..PLAIN }]);
    let options = Options::default();
    let report = Report::new(&inputs, &replay, &options, Names::Anonymous);
    let session = &report.sessions[0];
    assert_eq!(session.agents.iter().map(|agent| agent.requests).collect::<Vec<_>>(), [1, 0, 1]);
    assert_eq!(session.chains, 2);
    let text = json(&report).to_string();
    for name in ["session-0", "\"a1\"", "Explore", "/home/u/work"] {
        assert!(!text.contains(name), "{name}");
    }
}

#[test]
fn agents_of_two_sessions_are_apart_and_share_project_and_version() {
    let (inputs, replay) = made(2, &[PLAIN, Asks { session: 1, ..PLAIN }]);
    let options = Options::default();
    let keys = |by| {
        let report = Report::new(&inputs, &replay, &options, View { by: Some(by), ..View::default() });
        report.groups.iter().map(|group| group.key.clone()).collect::<Vec<_>>()
    };
    assert_eq!(keys(By::Agent), ["session-0/main", "session-1/main"]);
    assert_eq!(keys(By::Project), ["/home/u/work"]);
    assert_eq!(keys(By::Version), ["claude-code/2.1.39"]);
}

/// 1,000 tokens by estimate, 10 recorded: 990 at 25 USD per million in addition to the bill.
#[test]
fn estimated_output_is_shown_next_to_the_bill() {
    let (inputs, replay) = made(1, &[Asks { estimated_output: Some(1_000), ..PLAIN }, PLAIN]);
    let options = Options::default();
    let report = Report::new(&inputs, &replay, &options, Names::Plain);
    let found = report.totals.output_estimated;
    assert_eq!((found.requests, found.recorded_tokens, found.tokens), (1, 10, 1_000));
    assert_eq!(found.extra, Some(usd("0.02475")));
    assert_eq!(report.totals.billed.cost, Some(usd("0.113")));
    let mut screen = Vec::new();
    terminal::write(&human::replay::document(&report), Look { width: 100, colour: false }, &mut screen).unwrap();
    let screen = String::from_utf8(screen).unwrap();
    assert!(screen.contains("only the beginnings of 1 answer: about $0.0248 more than in the bill"), "{screen}");
}

#[test]
fn actions_rest_on_causes_and_what_ifs() {
    let miss = Asks { written: 100_000, missed: Some((Cause::LevelParameter, 100_000)), ..PLAIN };
    let all: Vec<Asks> = (0..3).map(|week| Asks { at_ms: week * WEEK_MS, ..miss }).collect();
    let (mut inputs, mut replay) = made(1, &all);
    let result = SpawnResult { call: 0, agent: Arc::from("gone"), mode: SpawnMode::Sync, total_tokens: Some(777) };
    let spawned = Item { line: 9, at: None, what: What::Sign(Sign::Spawned(Box::new(result))) };
    let mut sessions = inputs.sessions.all().to_vec();
    sessions[0].agents[0].thread.items.push(spawned);
    inputs.sessions = sessions.into_iter().collect();
    let half = Hypothetical { cost: Some(usd("0.3")), ..Hypothetical::default() };
    replay.entries.iter_mut().for_each(|entry| entry.hypotheticals = vec![half]);
    let what_if: WhatIf = "ttl=1h".parse().unwrap();
    let options = Options { what_if: vec![what_if], ..Options::default() };
    let report = Report::new(&inputs, &replay, &options, Names::Plain);
    let found = actions(&report);
    // Each request: 0.05 read, 0.625 written, 0.00025 of output; 0.575 of it because nothing was read.
    let proofs: Vec<(Option<usize>, Money)> = found.iter().map(|action| (action.what_if, action.saved)).collect();
    assert_eq!(proofs, [(None, usd("1.725")), (Some(0), usd("1.12575"))]);
    assert_eq!((found[0].code, found[1].code), ("setting_changed", "ttl_1h"));
    let value = json(&report);
    assert_eq!(value["actions"][0]["saved_usd"].to_string(), "1.725");
    assert_eq!(value["actions"][1]["what_if"], "ttl=1h");
    assert_eq!(value["actions"][0]["what_if"], Value::Null);
    assert_eq!(value["totals"]["what_if"][0]["delta_usd"].to_string(), "-1.12575");
    let unseen = report.unseen;
    assert_eq!((unseen.absent_agents, unseen.absent_tokens, unseen.first_requests), (1, 777, 3));
}

/// The advice for a pause names the one-hour lifetime, so its what-if decides what it saves.
#[test]
fn advice_that_names_a_what_if_saves_what_this_saves() {
    let miss = Asks { written: 100_000, missed: Some((Cause::Expired, 100_000)), ..PLAIN };
    let codes = |cost: Option<&str>| {
        let (inputs, mut replay) = made(1, &[miss]);
        let tried = cost.map(|cost| Hypothetical { cost: Some(usd(cost)), ..Hypothetical::default() });
        replay.entries.iter_mut().for_each(|entry| entry.hypotheticals = tried.into_iter().collect());
        let what_if = if tried.is_some() { vec!["ttl=1h".parse().unwrap()] } else { Vec::new() };
        let options = Options { what_if, ..Options::default() };
        let report = Report::new(&inputs, &replay, &options, Names::Plain);
        actions(&report).iter().map(|action| action.code).collect::<Vec<_>>()
    };
    assert_eq!(codes(None), ["pause"]);
    assert_eq!(codes(Some("9")), [""; 0]);
    assert_eq!(codes(Some("0.3")), ["ttl_1h"]);
}

/// A session that was resumed in another file repeats the line that started an agent; the agent's file belongs to the first.
#[test]
fn a_resumed_copy_misses_no_agent_of_its_original() {
    let absent = |is_recorded: bool| {
        let (mut inputs, replay) = made(2, &[PLAIN, Asks { session: 1, ..PLAIN }]);
        let mut sessions = inputs.sessions.all().to_vec();
        for session in &mut sessions {
            let result =
                SpawnResult { call: 0, agent: Arc::from("c3"), mode: SpawnMode::Sync, total_tokens: Some(777) };
            let what = What::Sign(Sign::Spawned(Box::new(result)));
            session.agents[0].thread.items.push(Item { line: 9, at: None, what });
        }
        if is_recorded {
            sessions[0].agents.push(agent("c3", Some(0), AgentKind::SUB_AGENT));
        }
        inputs.sessions = sessions.into_iter().collect();
        let options = Options::default();
        let unseen = Report::new(&inputs, &replay, &options, Names::Plain).unseen;
        (unseen.absent_agents, unseen.absent_tokens)
    };
    assert_eq!((absent(true), absent(false)), ((0, 0), (1, 777)));
}

/// 50,000 requests in 500 sessions: the report and its text. The bound is for slow machines; the time is printed.
#[test]
fn a_report_of_fifty_thousand_requests_is_made_at_once() {
    let miss = |at: usize| at.is_multiple_of(40).then_some((Cause::Expired, 500));
    let asks =
        |at: usize| Asks { session: at / 100, agent: at % 3, at_ms: at as u64 * 60_000, missed: miss(at), ..PLAIN };
    let all: Vec<Asks> = (0..50_000).map(asks).collect();
    let (inputs, mut replay) = made(500, &all);
    let each = Hypothetical { cost: Some(usd("0.01")), ..Hypothetical::default() };
    replay.entries.iter_mut().for_each(|entry| entry.hypotheticals = vec![each; 4]);
    let options = Options { what_if: WhatIf::defaults(), ..Options::default() };
    let start = std::time::Instant::now();
    let report = Report::new(&inputs, &replay, &options, Names::Plain);
    let summed = start.elapsed();
    let document = human::replay::document(&report);
    eprintln!("summed in {summed:?}, shown in {:?}", start.elapsed() - summed);
    assert_eq!(report.sessions.len(), 500);
    assert!(!document.parts.is_empty());
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}
