//! Recorded sessions through the runtime.

mod client;

use std::collections::BTreeMap;
use std::path::PathBuf;

use forkcast_fixtures::beside;
use forkcast_replay::input::{Inputs, ReadOptions};
use forkcast_replay::rebuild::profile::RuleName;
use forkcast_replay::replay::{self, SessionReplays, replay};
use forkcast_replay::transcript::Session;
use forkcast_scenarios::cast::comparison::{Comparison, Pair, Side};
use forkcast_scenarios::cast::otherwise::Otherwise;
use forkcast_scenarios::cast::rules::{CastRule, LeftOut};
use forkcast_scenarios::cast::{Cast, Content, cast, cast_foreseen};
use forkcast_scenarios::format::Scenario;
use forkcast_scenarios::format::expect::Ends;
use forkcast_scenarios::run::{Options, Run, play};
use forkcast_sim::pricing::Money;
use forkcast_sim::service::Compared;
use forkcast_sim::wire::Usage;

/// A folder of open recordings, and what must be reached there: sessions that run to their end, those with all main
/// requests and no others, those in which no answer is missing or more than 20 s off,
/// and those with the recorded hit rate and input cost. Measured on 2026-12-01.
struct Floor {
    folder: &'static str,
    sessions: usize,
    finished: usize,
    exact: usize,
    in_time: usize,
    hit: usize,
    cost: usize,
}

const FLOORS: [Floor; 8] = [
    Floor { folder: "cc-oh-my-posh", sessions: 28, finished: 28, exact: 28, in_time: 28, hit: 28, cost: 27 },
    Floor { folder: "cc-entire-skills", sessions: 21, finished: 21, exact: 21, in_time: 21, hit: 19, cost: 18 },
    Floor { folder: "cc-entire-auth-go", sessions: 8, finished: 8, exact: 8, in_time: 8, hit: 7, cost: 7 },
    Floor { folder: "cc-marot-spotter", sessions: 9, finished: 9, exact: 9, in_time: 8, hit: 6, cost: 5 },
    Floor { folder: "cc-entire-git-sync", sessions: 48, finished: 48, exact: 45, in_time: 45, hit: 45, cost: 43 },
    Floor { folder: "cc-entireio-cli", sessions: 91, finished: 91, exact: 91, in_time: 90, hit: 82, cost: 76 },
    Floor {
        folder: "cc-packmind-context-evaluator",
        sessions: 98,
        finished: 98,
        exact: 98,
        in_time: 98,
        hit: 82,
        cost: 78,
    },
    Floor { folder: "cc-agentv", sessions: 2, finished: 2, exact: 2, in_time: 2, hit: 2, cost: 2 },
];

fn inputs(paths: &[PathBuf]) -> Inputs {
    Inputs::read_with(paths, &ReadOptions::default().with_answers(), &|_| true).unwrap()
}

fn sessions(inputs: &Inputs) -> Vec<Session> {
    (0..inputs.sessions.len()).map(|at| inputs.sessions.load(at).unwrap().unwrap()).collect()
}

fn played(cast: &Cast) -> Option<Run> {
    cast.scenario(&[]).ok().map(|scenario| play(scenario, &Options::default()))
}

/// Main requests that were recorded, and those that the run sent.
fn mains(cast: &Cast, run: &Run) -> [usize; 2] {
    let recorded = cast.takes.iter().filter(|take| take.agent == "main").count();
    let own = run.requests.iter().filter(|request| request.agent == 0);
    [recorded, own.filter(|request| request.usage().total_input_tokens() > 0).count()]
}

/// Cost of inputs in picodollars: recorded, simulated minus recorded, and the sum of the absolute differences; the last also of
/// requests whose prompts differ in size.
#[derive(Clone, Copy, Debug, Default)]
struct Difference {
    requests: u64,
    recorded: i128,
    signed: i128,
    absolute: i128,
    of_size: i128,
}

/// What a pair's input cost as recorded and as simulated, if both are known.
fn costs(comparison: &Comparison<'_>, pair: &Pair<'_>) -> Option<[Money; 2]> {
    pair.take.filter(|take| !take.copied)?;
    Some([comparison.recorded_cost(pair)?, comparison.simulated_cost(pair)?])
}

/// The forecasts of the runtime and of `replay` over the same requests: verdicts that are the recorded ones, and the sum of the
/// absolute differences of the cost of inputs in picodollars.
#[derive(Clone, Copy, Debug, Default)]
struct Foreseen {
    requests: u64,
    recorded: i128,
    same: [u64; 2],
    absolute: [i128; 2],
}

impl Foreseen {
    fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.recorded += other.recorded;
        for at in 0..2 {
            self.same[at] += other.same[at];
            self.absolute[at] += other.absolute[at];
        }
    }
}

/// What `replay` foresees, by session, agent and item.
type Replayed = BTreeMap<(usize, [usize; 2]), Compared>;

fn replayed(inputs: &Inputs) -> Replayed {
    let entries = replay(inputs, &replay::Options::default()).entries;
    let foreseen = entries.into_iter().filter_map(|entry| {
        let answer = entry.answer?;
        Some(((answer.session, [answer.agent, answer.item]), *entry.comparison.ok()?))
    });
    foreseen.collect()
}

/// Differences by what the client is believed to have done before the request.
#[derive(Debug, Default)]
struct Differences(BTreeMap<&'static str, Difference>, BTreeMap<&'static str, Foreseen>);

impl Differences {
    fn add(&mut self, session: usize, comparison: &Comparison<'_>, replayed: &Replayed) {
        for pair in &comparison.pairs {
            let Some(take) = pair.take else {
                let request = comparison.request(pair).filter(|request| request.agent == 0);
                self.0.entry("(not recorded)").or_default().requests += u64::from(request.is_some());
                continue;
            };
            let Some([recorded, simulated]) = costs(comparison, pair) else {
                let has_usage = take.usage.is_some() && !take.copied;
                self.0.entry("(not asked)").or_default().requests += u64::from(has_usage);
                continue;
            };
            let kind = match (take.rule, &*take.agent) {
                (Some(rule), _) => rule.word(),
                (None, "main") => "first of main",
                (None, _) => "first of an agent",
            };
            let tokens = |usage: Usage| usage.total_input_tokens();
            let sizes = take.usage.map(tokens).zip(comparison.request(pair).map(|request| tokens(request.usage())));
            let [recorded, simulated] = [recorded, simulated].map(|cost| cost.picousd());
            if let Some((compared, request)) = replayed.get(&(session, take.place)).zip(comparison.request(pair)) {
                let by_replay = comparison
                    .input_cost(&take.model, &compared.predicted_usage, take.answer.as_ref())
                    .unwrap()
                    .picousd();
                let verdict = comparison.recorded_verdict(pair);
                let same = [verdict == Some(request.verdict), compared.recorded == compared.predicted].map(u64::from);
                let absolute = [simulated, by_replay].map(|cost| (cost - recorded).abs());
                self.1.entry(kind).or_default().add(&Foreseen { requests: 1, recorded, same, absolute });
            }
            let of = self.0.entry(kind).or_default();
            of.requests += 1;
            of.recorded += recorded;
            of.signed += simulated - recorded;
            of.absolute += (simulated - recorded).abs();
            if sizes.is_some_and(|(one, other)| one.abs_diff(other) > 64) {
                of.of_size += (simulated - recorded).abs();
            }
        }
    }

    fn print(&self) {
        let whole: i128 = self.0.values().map(|of| of.recorded).sum::<i128>().max(1);
        let percent = |part: i128| part as f64 * 100.0 / whole as f64;
        for (kind, of) in &self.0 {
            println!(
                "  {kind}: {} requests, {:.1} % of the cost; {:+.2} %, absolute {:.2} %, sizes alone {:.2} %",
                of.requests,
                percent(of.recorded),
                percent(of.signed),
                percent(of.absolute),
                percent(of.of_size),
            );
        }
        let signed = self.0.values().map(|of| of.signed).sum();
        let absolute = self.0.values().map(|of| of.absolute).sum();
        println!("  together: {:+.2} %, absolute {:.2} %", percent(signed), percent(absolute));
        self.print_forecasts();
    }

    /// Both forecasts: requests, recorded verdicts, absolute errors of the cost of input.
    fn print_forecasts(&self) {
        let whole = self.forecasts();
        let percent = |part: i128| part as f64 * 100.0 / whole.recorded.max(1) as f64;
        println!("  foreseen, requests: verdicts by runtime, by replay; absolute errors by runtime, by replay");
        for (kind, of) in self.1.iter().map(|(kind, of)| (*kind, of)).chain([("together", &whole)]) {
            let ([runtime, replay], [one, other]) = (of.same, of.absolute.map(percent));
            println!("    {kind}, {}: {runtime}, {replay}; {one:.2} %, {other:.2} %", of.requests);
        }
    }

    fn forecasts(&self) -> Foreseen {
        let mut whole = Foreseen::default();
        self.1.values().for_each(|of| whole.add(of));
        whole
    }
}

fn print_session(session: &Session, cast: &Cast, comparison: &Comparison<'_>) {
    let (recorded, simulated) = (comparison.recorded(), comparison.simulated());
    let cost = |side: &Side| side.input_cost.map_or(0.0, |cost| cost.picousd() as f64 / 1e12);
    let rate = |side: &Side| side.usage.hit_rate().unwrap_or(0.0) * 100.0;
    let [recorded_main, own] = mains(cast, comparison.run);
    println!(
        "{} {:?} {}: main {recorded_main} {own}, agents {}; hit {:.2} {:+.2}; cost {:.4} {:+.1} %; {:?}",
        session.id,
        comparison.run.ends,
        comparison.run.message.as_deref().unwrap_or_default(),
        session.agents.len() - 1,
        rate(&recorded),
        rate(&simulated) - rate(&recorded),
        cost(&recorded),
        (cost(&simulated) / cost(&recorded).max(1e-9) - 1.0) * 100.0,
        comparison.departure(20.0).map(|(departure, pair)| {
            let place = pair.take.map(|take| (&*take.agent, take.line, take.sent_at.0 / 1_000_000_000));
            (departure, place, comparison.delay_secs(pair))
        }),
    );
    for pair in &comparison.pairs {
        let Some([recorded, simulated]) = costs(comparison, pair) else { continue };
        let (one, other) = (recorded.picousd() as f64 / 1e12, simulated.picousd() as f64 / 1e12);
        if (one - other).abs() > cost(&comparison.recorded()) / 200.0 {
            let (take, request) = (pair.take.unwrap(), comparison.request(pair).unwrap());
            let figures = |usage: Usage| {
                (
                    usage.input_tokens,
                    usage.cache_read_input_tokens,
                    usage.ephemeral_5m_input_tokens,
                    usage.ephemeral_1h_input_tokens,
                )
            };
            let rule = take.rule.map(RuleName::word);
            let late = comparison.delay_secs(pair);
            println!(
                "   {} line {} {:.0} s {rule:?} {} {:?} {:?} late {late:?} {:+.4}",
                take.agent,
                take.line,
                take.sent_at.0 as f64 / 1e9,
                take.model,
                figures(take.usage.unwrap()),
                figures(request.usage()),
                other - one,
            );
        }
    }
}

/// Prints its table: `cargo test -p forkcast-scenarios --test all -- cast::recorded --nocapture`; `FOLDERS=cc-a,cc-b` adds
/// others, without floors.
#[test]
fn recorded_sessions_run_to_their_end_at_their_pace() {
    let Some(recordings) = beside("") else { return };
    // `WITHOUT=queued,dropped` leaves rules out, and expects nothing.
    let left_out = std::env::var("WITHOUT").unwrap_or_default();
    let left_out: LeftOut = left_out.split(',').filter_map(CastRule::named).collect();
    let is_held = left_out.is_empty();
    let without = Otherwise { left_out, ..Otherwise::default() };
    let more = std::env::var("FOLDERS").unwrap_or_default();
    let more = more.split(',').filter(|folder| !folder.is_empty()).map(|folder| (folder, None));
    println!("folder, sessions: ran, main exact, in time; hit rate within 0.7 points, input cost within 3 %");
    for (folder, floor) in FLOORS.iter().map(|floor| (floor.folder, Some(floor))).chain(more) {
        if std::env::var("ONLY").is_ok_and(|only| !only.split(',').any(|only| only == folder)) {
            continue;
        }
        let [mut finished, mut exact, mut in_time, mut hit, mut cost] = [0; 5];
        let inputs = inputs(&[recordings.join(folder)]);
        let (sessions, replayed) = (sessions(&inputs), replayed(&inputs));
        let replays = SessionReplays::new(&inputs, replay::Options::default());
        let mut differences = Differences::default();
        for (number, session) in sessions.iter().enumerate() {
            let cast = cast_foreseen(session, Content::Full, &without, replays.foresee(number, session));
            let Some(run) = played(&cast) else { continue };
            let comparison = Comparison::new(&cast, &run);
            let [recorded, own] = mains(&cast, &run);
            finished += usize::from(run.ends == Ends::Finished);
            exact += usize::from(recorded == own);
            in_time += usize::from(comparison.departure(20.0).is_none());
            differences.add(number, &comparison, &replayed);
            if std::env::var_os("EACH").is_some() {
                print_session(session, &cast, &comparison);
            }
            let (recorded, simulated) = (comparison.recorded(), comparison.simulated());
            let rates = recorded.usage.hit_rate().zip(simulated.usage.hit_rate());
            hit += usize::from(rates.is_some_and(|(one, other)| (one - other).abs() <= 0.007));
            let costs = recorded.input_cost.zip(simulated.input_cost);
            cost += usize::from(costs.is_some_and(|(one, other)| {
                (other.picousd() - one.picousd()).unsigned_abs() * 100 <= one.picousd().unsigned_abs() * 3
            }));
        }
        println!("{folder}, {}: {finished}, {exact}, {in_time}; {hit}, {cost}", sessions.len());
        differences.print();
        if let Some(floor) = floor.filter(|_| is_held) {
            assert_eq!(sessions.len(), floor.sessions, "{folder}");
            assert!(finished >= floor.finished, "{folder}: {finished} finished");
            assert!(exact >= floor.exact, "{folder}: {exact} exact");
            assert!(in_time >= floor.in_time, "{folder}: {in_time} in time");
            assert!(hit >= floor.hit, "{folder}: {hit} with the recorded hit rate");
            assert!(cost >= floor.cost, "{folder}: {cost} with the recorded input cost");
        }
    }
}

/// The sessions of a file with these lines.
fn written(name: &str, lines: &[String]) -> Vec<Session> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(format!("{name}.jsonl"));
    std::fs::write(&file, lines.join("\n") + "\n").unwrap();
    sessions(&inputs(&[file]))
}

/// The id of the line at an instant; the first one follows nothing.
fn parent(at_secs: Option<u32>) -> String {
    at_secs.map_or_else(|| "null".to_owned(), |at_secs| format!(r#""l{at_secs}""#))
}

fn user(after: Option<u32>, at_secs: u32, content: &str) -> String {
    let parent = parent(after);
    format!(
        r#"{{"type":"user","sessionId":"s","uuid":"l{at_secs}","parentUuid":{parent},"timestamp":"2026-07-01T10:00:{at_secs:02}.000Z","cwd":"/home/me/p","version":"2.1.150","message":{{"role":"user","content":{content}}}}}"#
    )
}

fn answer(after: u32, at_secs: u32, content: &str, written: u32, read: u32) -> String {
    let parent = parent(Some(after));
    format!(
        r#"{{"type":"assistant","sessionId":"s","uuid":"l{at_secs}","parentUuid":{parent},"timestamp":"2026-07-01T10:00:{at_secs:02}.000Z","cwd":"/home/me/p","version":"2.1.150","requestId":"r{at_secs}","message":{{"id":"m{at_secs}","model":"claude-opus-4-8","role":"assistant","type":"message","stop_reason":"end_turn","content":[{content}],"usage":{{"input_tokens":3,"cache_creation_input_tokens":{written},"cache_read_input_tokens":{read},"output_tokens":40}}}}}}"#
    )
}

/// A line, a call of three seconds, its result, and the last words.
fn with_a_call() -> Vec<String> {
    let call = r#"{"type":"tool_use","id":"toolu_1","name":"WebFetch","input":{"url":"a"}}"#;
    let result = r#"[{"type":"tool_result","tool_use_id":"toolu_1","content":"the page"}]"#;
    let said = r#"{"type":"text","text":"It says nothing."}"#;
    vec![
        user(None, 0, r#""What does it say?""#),
        answer(0, 4, call, 15_000, 0),
        user(Some(4), 7, result),
        answer(7, 12, said, 500, 15_000),
    ]
}

#[test]
fn results_come_after_their_recorded_time_and_sizes_are_the_recorded_ones() {
    let session = written("call", &with_a_call()).remove(0);
    let cast = cast(&session, Content::Full);
    let run = played(&cast).unwrap();
    assert_eq!((run.ends, cast.gaps.len()), (Ends::Finished, 0));
    let comparison = Comparison::new(&cast, &run);
    assert!(comparison.departure(0.001).is_none(), "each answer ends at its instant");
    let inputs: Vec<u64> = run.requests.iter().map(|request| request.usage().total_input_tokens()).collect();
    assert_eq!(inputs, [15_003, 15_503]);
    assert_eq!(run.requests[1].usage().cache_read_input_tokens, 15_003);
}

#[test]
fn a_line_that_adds_no_tokens_is_a_prefix_of_its_own() {
    let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let lines = [
        user(None, 0, r#""Begin.""#),
        answer(0, 4, &text("Begun."), 15_000, 0),
        user(Some(4), 10, r#""Go on.""#),
        answer(10, 14, &text("Gone on."), 0, 15_000),
        user(Some(14), 20, r#""End.""#),
        answer(20, 24, &text("Ended."), 100, 15_000),
    ];
    let session = written("no-tokens", &lines).remove(0);
    let run = played(&cast(&session, Content::Full)).unwrap();
    let inputs: Vec<u64> = run.requests.iter().map(|request| request.usage().total_input_tokens()).collect();
    assert_eq!((run.ends, inputs), (Ends::Finished, vec![15_003, 15_003, 15_103]), "{:?}", run.message);
}

#[test]
fn the_written_scenario_is_the_played_one_and_holds_text_only_if_asked() {
    let session = written("yaml", &with_a_call()).remove(0);
    let whole = cast(&session, Content::Full);
    let read = Scenario::read("s", "s.yaml", &whole.yaml(), &[]).unwrap();
    let of_yaml = play(read, &Options::default());
    assert_eq!(of_yaml.digest, played(&whole).unwrap().digest);
    for (content, holds) in [(Content::Full, true), (Content::Sizes, false), (Content::None, false)] {
        let text = cast(&session, content).yaml();
        assert_eq!(text.contains("the page") && text.contains("What does it say?"), holds, "{content:?}");
        assert!(holds || !(text.contains("the page") || text.contains("nothing")), "{content:?}");
    }
}

/// A session in which something is missing.
struct Damaged {
    name: &'static str,
    lines: Vec<String>,
    /// Requests that are played.
    requests: usize,
    /// A gap: its line, and how its description begins.
    gap: Option<(u32, &'static str)>,
}

fn damaged() -> Vec<Damaged> {
    let whole = with_a_call();
    let with = |at: usize, from: &str, to: &str| {
        let mut lines = whole.clone();
        lines[at] = lines[at].replace(from, to);
        lines
    };
    let mut torn = whole.clone();
    torn[3].truncate(80);
    let mut lost = whole.clone();
    lost.remove(2);
    lost[2] = lost[2].replace(r#""parentUuid":"l7""#, r#""parentUuid":"l4""#);
    let headless = whole[1..].to_vec();
    let empty = vec![user(None, 0, r#""""#), answer(0, 4, r#"{"type":"text","text":"Yes?"}"#, 15_000, 0)];
    let agent = r#"{"type":"tool_use","id":"toolu_1","name":"Agent","input":{"description":"d","prompt":"Look."}}"#;
    let mut missing = with(1, "x", "x");
    missing[1] = answer(0, 4, agent, 15_000, 0);
    missing[2] = missing[2].replace(
        r#""message":"#,
        r#""toolUseResult":{"status":"completed","agentId":"a1","prompt":"Look."},"message":"#,
    );
    vec![
        Damaged { name: "backwards", lines: with(2, "10:00:07", "09:00:07"), requests: 2, gap: None },
        Damaged { name: "years ahead", lines: with(2, "2026-07-01", "2029-07-01"), requests: 2, gap: None },
        Damaged { name: "torn", lines: torn, requests: 2, gap: None },
        Damaged { name: "empty", lines: empty, requests: 1, gap: None },
        Damaged { name: "open", lines: whole[..2].to_vec(), requests: 1, gap: None },
        Damaged {
            name: "lost result",
            lines: lost,
            requests: 2,
            gap: Some((3, "the result of a call is not recorded")),
        },
        Damaged {
            name: "answer without request",
            lines: headless,
            requests: 2,
            gap: Some((1, "what asked for this answer is not recorded")),
        },
        Damaged {
            name: "no file of the agent",
            lines: missing,
            requests: 3,
            gap: Some((0, "1 agent has no conversation here")),
        },
    ]
}

#[test]
fn damaged_sessions_are_played_as_far_as_they_go_and_gaps_are_located() {
    for Damaged { name, lines, requests, gap: expected } in damaged() {
        let session = written("damaged", &lines).remove(0);
        let cast = cast(&session, Content::Full);
        let run = played(&cast).unwrap_or_else(|| panic!("{name}: {:?}", cast.scenario(&[]).err()));
        assert_eq!((run.ends, run.requests.len()), (Ends::Finished, requests), "{name}: {:?}", run.message);
        assert_eq!(cast.gaps.len(), usize::from(expected.is_some()), "{name}: {:?}", cast.gaps);
        for (gap, (line, says)) in cast.gaps.iter().zip(expected) {
            assert!(gap.line == line && gap.says.starts_with(says), "{name}: {gap:?}");
        }
    }
}

#[test]
fn a_model_that_is_switched_has_its_own_cache_and_prices() {
    let mut lines = with_a_call();
    lines[3] = lines[3].replace("claude-opus-4-8", "claude-haiku-4-5");
    let session = written("switched", &lines).remove(0);
    let cast = cast(&session, Content::Full);
    let run = played(&cast).unwrap();
    let models: Vec<&str> = run.requests.iter().map(|request| request.line.model.as_str()).collect();
    assert_eq!(models, ["claude-opus-4-8", "claude-haiku-4-5"]);
    assert!(cast.gaps.is_empty(), "{:?}", cast.gaps);
}

#[test]
fn what_is_not_played_is_located() {
    let mut lines = with_a_call();
    lines.push(
        r#"{"type":"system","subtype":"microcompact_boundary","sessionId":"s","uuid":"l20","parentUuid":"l12","timestamp":"2026-07-01T10:00:20.000Z","version":"2.1.150","microcompactMetadata":{"trigger":"auto","preTokens":15543,"tokensSaved":900,"compactedToolIds":["toolu_1"]}}"#
            .to_owned(),
    );
    let session = written("gaps", &lines).remove(0);
    let gaps: Vec<(u32, String)> =
        cast(&session, Content::Full).gaps.into_iter().map(|gap| (gap.line, gap.says)).collect();
    assert_eq!(gaps.len(), 1, "{gaps:?}");
    assert!(gaps[0].0 == 5 && gaps[0].1.contains("old results were cleared"), "{gaps:?}");
}
