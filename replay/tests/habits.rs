//! The rules of the forecast on small sessions made by hand: the effect of each sign on the read.

use std::fmt::Write as _;

use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::rebuild::profile::{HABITS, RuleName, RuleSet};
use forkcast_replay::replay::{Options, Replay, replay};
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::service::Entry;

/// Tokens of the hidden prefix in all sessions here.
const HEAD: u64 = 20_000;

/// A session of Claude Code, line by line.
struct Transcript {
    version: &'static str,
    model: &'static str,
    lines: String,
    seconds: u64,
    last: String,
    number: u64,
}

impl Transcript {
    fn new(version: &'static str, model: &'static str) -> Self {
        Self { version, model, lines: String::new(), seconds: 0, last: "null".to_owned(), number: 0 }
    }

    fn line(&mut self, kind: &str, rest: &str) -> &mut Self {
        self.number += 1;
        let (number, seconds, version) = (self.number, self.seconds, self.version);
        let instant = format!("2026-07-01T{:02}:{:02}:{:02}.000Z", seconds / 3600, seconds / 60 % 60, seconds % 60);
        writeln!(
            self.lines,
            r#"{{"parentUuid":{},"isSidechain":false,"cwd":"/home/ann/work","sessionId":"s","version":"{version}","type":"{kind}","uuid":"u{number}","timestamp":"{instant}",{rest}}}"#,
            self.last,
        )
        .unwrap();
        self.last = format!("\"u{number}\"");
        self
    }

    fn wait(&mut self, seconds: u64) -> &mut Self {
        self.seconds += seconds;
        self
    }

    /// A prompt that thinks.
    fn prompt(&mut self) -> &mut Self {
        self.queued().line(
            "user",
            r#""message":{"role":"user","content":"go on"},"thinkingMetadata":{"maxThinkingTokens":31999}"#,
        )
    }

    fn queued(&mut self) -> &mut Self {
        self.line("queue-operation", r#""operation":"enqueue","content":"go on""#)
    }

    fn results(&mut self, count: usize) -> &mut Self {
        for at in 0..count {
            let id = format!("t{}-{at}", self.number);
            self.line(
                "user",
                &format!(r#""message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"done"}}]}}"#),
            );
        }
        self
    }

    fn answer(&mut self, usage: (u64, u64), tool: Option<&str>, more: &str) -> &mut Self {
        let (read, written) = usage;
        let id = self.number;
        let block = match tool {
            Some(name) => format!(r#"{{"type":"tool_use","id":"c{id}","name":"{name}","input":{{}}}}"#),
            None => r#"{"type":"text","text":"done"}"#.to_owned(),
        };
        let model = self.model;
        self.wait(2).line(
            "assistant",
            &format!(
                r#""message":{{"model":"{model}","id":"m{id}","type":"message","role":"assistant","content":[{block}],"stop_reason":null,"usage":{{"input_tokens":3,"cache_creation_input_tokens":{written},"cache_read_input_tokens":{read},"cache_creation":{{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":{written}}},"output_tokens":100}}}}{more}"#
            ),
        )
    }

    /// A session that has read its hidden prefix, and left 30,000 tokens at the end of a turn with one call.
    fn begun(version: &'static str, model: &'static str) -> Self {
        let mut session = Self::new(version, model);
        session.prompt().answer((HEAD, 9_000), Some("Read"), "").results(1).answer((29_000, 1_000), None, "");
        session
    }

    fn replayed(&self) -> Replay {
        self.replayed_without(RuleSet::default())
    }

    fn replayed_without(&self, left_out: RuleSet) -> Replay {
        let inputs = Inputs::from_bytes("s.jsonl", self.lines.as_bytes(), InputFormat::Auto);
        replay(&inputs, &Options { left_out, ..Options::default() })
    }
}

fn predicted(result: &Replay) -> u64 {
    result.lines().last().unwrap().predicted.unwrap().cache_read_input_tokens
}

fn cause(result: &Replay) -> Option<Cause> {
    result.lines().last().unwrap().charge.causes.first().map(|cause| cause.cause)
}

#[test]
fn an_entry_left_by_a_turn_is_read_within_it() {
    let mut session = Transcript::new("2.1.45", "claude-opus-4-6");
    session.prompt().answer((HEAD, 9_000), Some("Read"), "").results(1).answer((29_000, 1_000), None, "");
    let result = session.replayed();
    assert_eq!(predicted(&result), 29_000);
    assert_eq!(cause(&result), None);
}

#[test]
fn switching_thinking_off_falls_back_to_the_hidden_prefix_if_the_version_records_it() {
    let skill = r#""isMeta":true,"message":{"role":"user","content":[{"type":"text","text":"skill"}]}"#;
    for (version, read) in [("2.1.20", HEAD), ("2.1.50", 30_000)] {
        let mut session = Transcript::begun(version, "claude-opus-4-5-20251101");
        session.wait(4).line("user", skill).answer((read, 31_000 - read), None, "");
        let result = session.replayed();
        let missed = version == "2.1.20";
        assert_eq!(predicted(&result) < 29_000, missed, "{version}");
        assert_eq!(cause(&result), missed.then_some(Cause::LevelParameter), "{version}");
        let off = session.replayed_without(RuleSet::of(RuleName::Thinking));
        assert_eq!(predicted(&off), 30_000, "{version}: the rule left out");
    }
}

#[test]
fn a_prefix_expires_fifteen_seconds_after_its_lifetime() {
    for (gap, read) in [(3_600, 30_000), (3_700, 0)] {
        let mut session = Transcript::begun("2.1.45", "claude-opus-4-6");
        session.wait(gap).prompt().answer((read, 31_000 - read), None, "");
        let result = session.replayed();
        assert_eq!(predicted(&result), read, "after {gap} s");
        assert_eq!(cause(&result), (read == 0).then_some(Cause::Expired), "after {gap} s");
    }
}

#[test]
fn a_resumed_session_is_built_anew_up_to_2_1_205_and_not_known_to_be_later() {
    let hook = r#""data":{"type":"hook_progress","hookEvent":"SessionStart","hookName":"SessionStart:resume"}"#;
    for (version, missed) in [("2.1.45", true), ("2.1.143", true), ("2.1.219", false), ("2.1.330", false)] {
        let mut session = Transcript::begun(version, "claude-opus-4-6");
        session.wait(60).line("progress", hook).prompt().answer((30_000, 1_000), None, "");
        assert_eq!(predicted(&session.replayed()) < 29_000, missed, "{version}");
    }
}

/// A client that opens a session writes its modes down again, and no last prompt.
#[test]
fn a_mode_written_more_often_than_the_last_prompt_shows_a_restart() {
    let (mode, last) = (r#""permissionMode":"default""#, r#""lastPrompt":"go on""#);
    for (modes, lasts, missed) in [(1, 1, false), (2, 2, false), (2, 1, true)] {
        let mut session = Transcript::begun("2.1.170", "claude-opus-4-6");
        for _ in 0..lasts {
            session.line("last-prompt", last);
        }
        for _ in 0..modes {
            session.line("permission-mode", mode);
        }
        session.wait(60).prompt().answer((30_000, 1_000), None, "");
        assert_eq!(predicted(&session.replayed()) < 29_000, missed, "{modes} modes, {lasts} last prompts");
    }
}

#[test]
fn a_restart_after_the_lifetime_is_expired() {
    let hook = r#""data":{"type":"hook_progress","hookEvent":"SessionStart","hookName":"SessionStart:resume"}"#;
    for (seconds, expected) in [(60, Cause::SystemChanged), (3_700, Cause::Expired)] {
        let mut session = Transcript::begun("2.1.45", "claude-opus-4-6");
        session.wait(seconds).line("progress", hook).prompt().answer((0, 31_000), None, "");
        assert_eq!(cause(&session.replayed()), Some(expected), "after {seconds} s");
    }
}

#[test]
fn a_summary_for_an_absent_user_uses_the_prefix_within_its_lifetime() {
    for (away, back, read) in [(3_000, 1_800, 30_000), (3_000, 3_700, 0), (3_700, 60, 0)] {
        let mut session = Transcript::begun("2.1.126", "claude-opus-4-6");
        session.wait(away).line("system", r#""subtype":"away_summary","content":"goal""#);
        session.wait(back).prompt().answer((read, 31_000 - read), None, "");
        assert_eq!(predicted(&session.replayed()) >= 30_000, read > 0, "away after {away} s, back {back} s later");
    }
}

#[test]
fn a_prompt_that_passed_no_queue_shows_a_restart_up_to_2_1_219_only() {
    for (version, missed) in [("2.1.45", false), ("2.1.209", true), ("2.1.240", false), ("2.1.330", false)] {
        let mut session = Transcript::begun(version, "claude-opus-4-6");
        session.wait(4).line("user", r#""message":{"role":"user","content":"again"}"#).answer(
            (30_000, 1_000),
            None,
            "",
        );
        assert_eq!(predicted(&session.replayed()) < 29_000, missed, "{version}");
    }
}

#[test]
fn compaction_falls_back_to_the_hidden_prefix_with_its_line_as_evidence() {
    let mut session = Transcript::begun("2.1.45", "claude-opus-4-6");
    session
        .wait(9)
        .line("system", r#""subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":30000}"#);
    let boundary = usize::try_from(session.number).unwrap();
    session.line("user", r#""isCompactSummary":true,"message":{"role":"user","content":"summary"}"#).answer(
        (HEAD - 5_000, 4_000),
        None,
        "",
    );
    let result = session.replayed();
    assert!(predicted(&result) < 29_000);
    if let Some(evidence) = &result.entries.last().unwrap().evidence {
        assert_eq!(evidence.line as usize, boundary);
    }
}

#[test]
fn the_first_tools_that_are_asked_for_break_the_prefix_from_2_1_112_to_2_1_205() {
    for (version, missed) in [("2.1.111", false), ("2.1.112", true), ("2.1.205", true), ("2.1.209", false)] {
        let mut session = Transcript::new(version, "claude-opus-4-6");
        session.prompt().answer((HEAD, 9_000), Some("ToolSearch"), "").results(1).answer((29_000, 500), None, "");
        assert_eq!(predicted(&session.replayed()) < 29_000, missed, "{version}");
        session.answer((29_500, 500), Some("ToolSearch"), "").results(1).answer((30_000, 500), None, "");
        assert_eq!(predicted(&session.replayed()), 30_000, "{version}: a later search");
    }
}

#[test]
fn the_first_tools_leave_what_the_first_request_had_read_or_nothing() {
    for (first, read) in [(HEAD, HEAD + 93), (0, 0)] {
        let mut session = Transcript::new("2.1.150", "claude-opus-4-7");
        session.prompt().answer((first, 29_000 - first), Some("ToolSearch"), "").results(1).answer(
            (read, 30_000 - read),
            None,
            "",
        );
        assert_eq!(predicted(&session.replayed()), read, "the first request read {first}");
    }
}

#[test]
fn text_that_a_hook_added_after_a_tool_moves_when_the_turn_ends_from_2_1_217_to_2_1_219() {
    let added = |event: &str| {
        format!(
            r#""attachment":{{"type":"hook_additional_context","hookEvent":"{event}","content":["a server runs"]}}"#
        )
    };
    let cases = [
        ("2.1.217", "PostToolUse", 29_000),
        ("2.1.217", "UserPromptSubmit", 30_500),
        ("2.1.216", "PostToolUse", 30_500),
        ("2.1.232", "PostToolUse", 30_500),
    ];
    for (version, event, read) in cases {
        let mut session = Transcript::new(version, "claude-opus-4-6");
        session.prompt().answer((HEAD, 9_000), Some("Edit"), "").results(1).line("attachment", &added(event));
        session.answer((29_000, 1_000), Some("Read"), "").results(1).answer((30_000, 500), None, "");
        session.wait(4).prompt().answer((read, 31_000 - read), None, "");
        assert_eq!(predicted(&session.replayed()), read, "{version}, {event}");
    }
}

#[test]
fn a_teammate_misses_in_its_first_seconds_from_2_1_39_to_2_1_42() {
    let team = r#","agentName":"reviewer""#;
    for (version, waits, missed) in [("2.1.42", 4, true), ("2.1.42", 40, false), ("2.1.43", 4, false)] {
        let mut session = Transcript::new(version, "claude-opus-4-6");
        session.prompt().answer((HEAD, 9_000), Some("Read"), team);
        session.wait(waits).results(1).answer((29_000, 1_000), None, team);
        assert_eq!(predicted(&session.replayed()) < 29_000, missed, "{version} after {waits} s");
    }
}

#[test]
fn attachments_after_the_last_result_are_plain_input_of_some_models_up_to_2_1_205() {
    let reminder = format!(r#""attachment":{{"type":"task_reminder","content":"{}"}}"#, "x".repeat(2_600));
    let cases = [
        ("2.1.170", "claude-opus-4-8", true),
        ("2.1.170", "claude-opus-4-7", false),
        ("2.1.209", "claude-opus-4-8", false),
    ];
    for (version, model, uncached) in cases {
        let mut session = Transcript::new(version, model);
        session.prompt().answer((HEAD, 9_000), Some("Edit"), "").results(1).line("attachment", &reminder);
        session.answer((29_000, 3_000), None, "");
        let usage = session.replayed().lines().last().unwrap().predicted.unwrap();
        assert_eq!(usage.cache_read_input_tokens, 29_000);
        assert_eq!(usage.input_tokens > 1_000, uncached, "{version}, {model}: {usage:?}");
    }
}

#[test]
fn more_blocks_than_the_look_back_reaches_are_a_miss_from_2_1_100_on() {
    for (version, results, missed) in [("2.1.45", 30, false), ("2.1.209", 12, false), ("2.1.209", 30, true)] {
        let mut session = Transcript::new(version, "claude-opus-4-6");
        session.prompt().answer((HEAD, 9_000), Some("Read"), "").results(results).answer((29_000, 1_000), None, "");
        assert_eq!(predicted(&session.replayed()) < 29_000, missed, "{version}, {results} results");
    }
}

#[test]
fn a_run_of_results_is_one_position_in_recordings_since_2026_09_22() {
    let mut session = Transcript::new("2.1.330", "claude-opus-4-6");
    session.prompt().answer((HEAD, 9_000), Some("Read"), "").results(30).answer((29_000, 1_000), None, "");
    session.lines = session.lines.replace("2026-07-01", "2026-10-01");
    assert_eq!(predicted(&session.replayed()), 29_000);
}

#[test]
fn another_model_reads_nothing_of_the_first_ones() {
    let mut session = Transcript::begun("2.1.330", "claude-opus-4-6");
    session.model = "claude-sonnet-4-6";
    session.wait(4).prompt().answer((0, 31_000), None, "");
    let result = session.replayed();
    assert!(predicted(&result) < 29_000);
    assert_eq!(cause(&result), Some(Cause::ModelChanged));
}

#[test]
fn effort_that_is_switched_is_a_parameter_of_the_messages() {
    let cases =
        [("2.1.330", "claude-opus-4-6", true), ("2.1.219", "claude-opus-5", true), ("2.1.330", "claude-opus-5", false)];
    for (version, model, missed) in cases {
        let read = if missed { HEAD } else { 29_000 };
        let mut session = Transcript::new(version, model);
        session.prompt().answer((HEAD, 9_000), Some("Read"), r#","effort":"high""#).results(1).answer(
            (read, 29_500 - read),
            None,
            r#","effort":"medium""#,
        );
        let result = session.replayed();
        assert_eq!(predicted(&result) < 29_000, missed, "{version}, {model}");
        assert_eq!(cause(&result), missed.then_some(Cause::LevelParameter), "{version}, {model}");
    }
}

#[test]
fn a_server_that_is_connected_again_changes_the_system_prompt_up_to_2_1_69() {
    let output =
        r#""message":{"role":"user","content":"<local-command-stdout>Reconnected to web.</local-command-stdout>"}"#;
    for (version, missed) in [("2.1.38", true), ("2.1.69", true), ("2.1.70", false)] {
        let mut session = Transcript::begun(version, "claude-opus-4-6");
        session.wait(4).line("user", output).prompt().answer((HEAD, 11_000), None, "");
        let result = session.replayed();
        assert_eq!(predicted(&result) < 29_000, missed, "{version}");
        assert_eq!(cause(&result) == Some(Cause::SystemChanged), missed, "{version}");
    }
}

/// The key of the cache has the header of fast mode, which stays from 2.1.86 on.
#[test]
fn fast_mode_has_a_cache_of_its_own() {
    for (version, back) in [("2.1.85", 30_000), ("2.1.86", 31_000)] {
        let mut session = Transcript::begun(version, "claude-opus-4-6");
        session.wait(4).prompt().answer((0, 31_000), None, "");
        session.lines =
            session.lines.replacen(r#""output_tokens":100}}"#, r#""output_tokens":100,"speed":"standard"}}"#, 2);
        session.lines = session.lines.replace(r#""output_tokens":100}}"#, r#""output_tokens":100,"speed":"fast"}}"#);
        let result = session.replayed();
        assert_eq!((predicted(&result), cause(&result)), (0, Some(Cause::LevelParameter)), "{version}");
        session.wait(4).prompt().answer((back, 32_000 - back), None, "");
        assert_eq!(predicted(&session.replayed()), back, "{version}: back to the usual speed");
        assert_eq!(predicted(&session.replayed_without(RuleSet::of(RuleName::Fast))), 31_000, "{version}");
    }
}

/// Writes that could not be read at once: two in a row; the first can be read when the second cannot yet.
#[test]
fn a_write_that_comes_late_is_in_flight_also_after_another_one() {
    let mut session = Transcript::new("2.1.112", "claude-opus-4-7");
    session.prompt().answer((HEAD, 9_000), Some("Read"), "").results(1).answer((29_000, 500), Some("Read"), "");
    session.results(1).answer((29_000, 1_200), Some("Read"), "");
    session.results(1).answer((29_500, 1_300), None, "");
    session.lines = session.lines.replace("2026-07-01", "2026-04-20");
    let result = session.replayed();
    assert_eq!(cause(&result), Some(Cause::InFlight));
    let late = |entry: &Entry| entry.comparison.as_ref().is_ok_and(|compared| compared.late);
    assert_eq!(result.entries.iter().filter(|entry| late(entry)).count(), 2);
    session.lines = session.lines.replace("2026-04-20", "2026-07-01");
    assert_eq!(cause(&session.replayed()), Some(Cause::Unexplained));
}

#[test]
fn a_shared_head_is_warm_as_the_newest_cold_start_of_any_session_found_it() {
    for first_read in [0, HEAD] {
        let mut other = Transcript::new("2.1.150", "claude-opus-4-7");
        other.prompt().answer((first_read, 29_000), None, "");
        let mut session = Transcript::new("2.1.150", "claude-opus-4-7");
        session.wait(600).prompt().answer((HEAD, 9_000), None, "");
        session.wait(7_200).prompt().answer((first_read, 31_000 - first_read), None, "");
        let mut both = other.lines.replace(r#""sessionId":"s""#, r#""sessionId":"other""#);
        for (own, its) in [(r#"uid":"u"#, r#"uid":"v"#), (r#""id":"m"#, r#""id":"n"#)] {
            both = both.replace(own, its);
        }
        both += &session.lines;
        let inputs = Inputs::from_bytes("both.jsonl", both.as_bytes(), InputFormat::Auto);
        assert_eq!(inputs.sessions.len(), 2);
        assert_eq!(predicted(&replay(&inputs, &Options::default())) > 0, first_read > 0, "{first_read}");
    }
}

#[test]
fn every_habit_is_listed_once_with_its_reasons() {
    for habit in &HABITS {
        assert_eq!(HABITS.iter().filter(|other| other.rule == habit.rule).count(), 1, "{}", habit.rule.word());
        assert!(!habit.rationale.is_empty() && !habit.evidence.is_empty(), "{}", habit.rule.word());
        if let (Some(from), Some(until)) = (habit.from, habit.until) {
            assert!(from <= until, "{}", habit.rule.word());
        }
    }
}

/// Sessions that are rebuilt with each request: the work for one must not grow with the length of the session.
#[test]
fn a_request_costs_the_same_in_a_session_that_misses_each_time() {
    const REQUESTS: u64 = 8_000;
    let models = ["claude-opus-4-6", "claude-sonnet-4-6"];
    let usage = |name: &str, tokens: u64| match name {
        "falls to the hidden prefix" => (HEAD, tokens - HEAD),
        "falls anywhere" => (tokens / 2, tokens - tokens / 2),
        _ => (tokens, 10),
    };
    for name in ["falls to the hidden prefix", "falls anywhere", "shrinks"] {
        for switches in [false, true] {
            let mut session = Transcript::new("2.1.45", models[0]);
            session.prompt();
            for number in 0..REQUESTS {
                session.model = models[usize::from(switches && number % 2 == 1)];
                let tokens = if name == "shrinks" { 900_000 - 100 * number } else { 30_000 + 100 * number };
                session.answer(usage(name, tokens), Some("Read"), "").results(1);
            }
            let inputs = Inputs::from_bytes("s.jsonl", session.lines.as_bytes(), InputFormat::Auto);
            let begun = std::time::Instant::now();
            let result = replay(&inputs, &Options::default());
            let took = begun.elapsed();
            assert_eq!(result.entries.len(), REQUESTS as usize);
            println!("{name}, switching models {switches}: {took:?} for {REQUESTS} requests");
            assert!(took.as_secs() < 20, "{name}, switching models {switches}: {took:?}");
        }
    }
}
