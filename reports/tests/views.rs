//! Groups, windows and limits: parts add up to the whole, and requests that are left out still fill the cache.
//!
//! The recordings of `../shared/data` are used if present.

use std::collections::BTreeMap;
use std::path::PathBuf;

use forkcast_fixtures::beside;
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::replay::{Options, Replay, replay};
use forkcast_reports::document::terminal::{self, Look};
use forkcast_reports::human;
use forkcast_reports::names::Names;
use forkcast_reports::report::{
    Account, By, Counted, Gate, Limits, Measure, Report, UNKNOWN, View, Window, Zone, gates, since, until,
};
use forkcast_sim::ledger::Charge;
use forkcast_sim::pricing::Money;
use forkcast_sim::service::NotComparable;
use forkcast_sim::wire::Usage;

const KEYS: [By; 7] = [By::Day, By::Week, By::Month, By::Project, By::Model, By::Agent, By::Version];

/// The sample and every folder of recordings.
fn recordings() -> Vec<(String, Inputs)> {
    let mut found = vec![("the sample".to_owned(), Inputs::sample())];
    let Some(data) = beside("") else { return found };
    let mut folders: Vec<PathBuf> = std::fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.retain(|folder| folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("cassettes-")));
    folders.sort();
    for folder in folders {
        let inputs = Inputs::read(&[&folder], InputFormat::Auto).unwrap();
        found.push((folder.display().to_string(), inputs));
    }
    found
}

/// Every sum of an account. Requests without a prediction enter predictions as recorded.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sums {
    requests: u64,
    recorded: Usage,
    recorded_cost: Money,
    predicted: Usage,
    predicted_cost: Money,
    perfect: Money,
    unread_writes: Money,
    parts: [u64; 3],
    causes: BTreeMap<&'static str, (u64, u64, Money)>,
    compared: [u64; 5],
    not_comparable: [u64; NotComparable::ALL.len()],
    output_estimated: (u64, u64),
    fees: BTreeMap<String, (u64, Money)>,
}

impl Sums {
    fn add(&mut self, account: &Account) {
        let predicted = account.predicted.unwrap_or(account.recorded);
        self.requests += account.ledger.requests;
        self.recorded += account.recorded.usage;
        self.recorded_cost += account.recorded.cost.unwrap_or_default();
        self.predicted += predicted.usage;
        self.predicted_cost += predicted.cost.unwrap_or_default();
        self.perfect += account.perfect.unwrap_or_default();
        self.unread_writes += account.unread_writes.unwrap_or_default();
        let parts = [account.ledger.read_tokens, account.ledger.new_tokens, account.ledger.missed_tokens];
        self.parts.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
        for (cause, total) in account.causes() {
            let sum = self.causes.entry(cause.word()).or_default();
            *sum = (sum.0 + total.requests, sum.1 + total.tokens, sum.2 + total.cost);
        }
        let sums = &account.agreement.sums;
        let compared = [
            sums.comparable,
            sums.same_verdict,
            sums.read_tokens_recorded,
            sums.read_tokens_abs_error,
            account.agreement.reads_exact,
        ];
        self.compared.iter_mut().zip(compared).for_each(|(sum, part)| *sum += part);
        self.not_comparable.iter_mut().zip(sums.not_comparable).for_each(|(sum, part)| *sum += part);
        for (name, (number, cost)) in &account.fees {
            let sum = self.fees.entry(name.clone()).or_default();
            *sum = (sum.0 + number, sum.1 + *cost);
        }
        let estimated = account.output_estimated;
        self.output_estimated =
            (self.output_estimated.0 + estimated.tokens, self.output_estimated.1 + estimated.requests);
    }

    fn of<'a>(accounts: impl IntoIterator<Item = &'a Account>) -> Self {
        let mut sums = Self::default();
        accounts.into_iter().for_each(|account| sums.add(account));
        sums
    }
}

#[test]
fn groups_and_sessions_add_up_to_the_totals() {
    for (name, inputs) in recordings() {
        let options = Options::default();
        let replay = replay(&inputs, &options);
        for by in KEYS {
            let report = Report::new(&inputs, &replay, &options, View { by: Some(by), ..View::default() });
            let totals = Sums::of([&report.totals]);
            assert_eq!(totals.requests, replay.entries.len() as u64, "{name}");
            assert_eq!(Sums::of(report.groups.iter().map(|group| &group.account)), totals, "{name} by {by:?}");
            assert_eq!(Sums::of(report.sessions.iter().map(|session| &session.account)), totals, "{name}");
            let unknown = report.groups.iter().position(|group| group.key == UNKNOWN);
            assert!(unknown.is_none_or(|at| at + 1 == report.groups.len()), "{name} by {by:?}");
        }
    }
}

/// The counts are read off the sample's file by another program.
#[test]
fn the_sample_by_day_and_week() {
    let groups = |by| {
        let (inputs, options) = (Inputs::sample(), Options::default());
        let replay = replay(&inputs, &options);
        let report = Report::new(&inputs, &replay, &options, View { by: Some(by), ..View::default() });
        report.groups.iter().map(|group| (group.key.clone(), group.account.ledger.requests)).collect::<Vec<_>>()
    };
    let keys = |list: &[(&str, u64)]| list.iter().map(|(key, number)| ((*key).to_owned(), *number)).collect::<Vec<_>>();
    assert_eq!(groups(By::Day), keys(&[("2026-11-02", 8), ("2026-11-03", 6)]));
    assert_eq!(groups(By::Week), keys(&[("2026-W45", 14)]));
    assert_eq!(groups(By::Month), keys(&[("2026-11", 14)]));
    assert_eq!(groups(By::Model), keys(&[("claude-opus-4-8", 14)]));
    assert_eq!(groups(By::Version), keys(&[(UNKNOWN, 14)]));
    assert_eq!(groups(By::Project), keys(&[("sample.exchanges.jsonl", 14)]));
}

fn windowed<'a>(inputs: &'a Inputs, replay: &'a Replay, options: &'a Options, window: Window) -> Report<'a> {
    Report::new(inputs, replay, options, View { window, ..View::default() })
}

/// A line does not depend on whether its neighbours count; two adjacent windows are the whole.
#[test]
fn a_window_leaves_out_and_changes_nothing_else() {
    let options = Options::default();
    for (name, inputs) in recordings() {
        let replay = replay(&inputs, &options);
        let whole = windowed(&inputs, &replay, &options, Window::default());
        let of_whole = charges(&whole);
        let timed = of_whole.values().filter(|(at, _)| at.is_some()).count() as u64;
        let Some((from, to)) = whole.span() else {
            let window = Window { since: since("2000-01-01", &Zone::default()).ok(), until: None };
            let report = windowed(&inputs, &replay, &options, window);
            assert_eq!(report.left_out.without_instant, replay.entries.len() as u64, "{name}");
            assert_eq!((report.totals.ledger.requests, report.sessions.len()), (0, 0), "{name}");
            continue;
        };
        let middle = Some(forkcast_sim::time::Instant(from.0 + (to.0 - from.0) / 2 + 1));
        let before = windowed(&inputs, &replay, &options, Window { since: None, until: middle });
        let after = windowed(&inputs, &replay, &options, Window { since: middle, until: None });
        for report in [&before, &after] {
            assert_eq!(report.left_out.without_instant, replay.entries.len() as u64 - timed, "{name}");
            assert_eq!(report.left_out.requests() + report.tally.requests, replay.entries.len() as u64);
        }
        assert_eq!(before.tally.requests + after.tally.requests, timed, "{name}");
        let mut of_halves = charges(&before);
        of_halves.append(&mut charges(&after));
        let of_whole: Charges = of_whole.into_iter().filter(|(_, (at, _))| at.is_some()).collect();
        assert_eq!(of_halves, of_whole, "{name}");
    }
}

/// Instant and money of each request that counts.
type Charges = BTreeMap<usize, (Option<forkcast_sim::time::Instant>, Charge)>;

fn charges(report: &Report<'_>) -> Charges {
    let mut found = Charges::new();
    report.each(&mut |entry| drop(found.insert(entry.line.index, (entry.line.at, entry.line.charge.clone()))));
    found
}

/// The last day of the sample alone: its first request still reads what the evening before wrote.
#[test]
fn requests_left_out_still_fill_the_cache() {
    let (inputs, options) = (Inputs::sample(), Options::default());
    let replay = replay(&inputs, &options);
    let window =
        Window { since: since("2026-11-03", &Zone::default()).ok(), until: until("2026-11-03", &Zone::default()).ok() };
    let report = windowed(&inputs, &replay, &options, window);
    assert_eq!((report.left_out.outside, report.tally.requests), (8, 6));
    let [recorded, predicted] = [report.totals.recorded.usage, report.totals.predicted.unwrap().usage];
    assert!(recorded.cache_read_input_tokens > 0 && predicted.cache_read_input_tokens > 0);
}

fn judged(text: &str, limits: Limits) -> Vec<Gate> {
    let inputs = Inputs::from_bytes("log.jsonl", text.as_bytes(), InputFormat::Auto);
    let options = Options::default();
    let replay = replay(&inputs, &options);
    gates(&Report::new(&inputs, &replay, &options, View { limits, ..View::default() }))
}

fn limits(usd: &str, share: &str, tokens: u64) -> Limits {
    Limits { cost_max: usd.parse().ok(), hit_rate_min: share.parse().ok(), unexplained_tokens_max: Some(tokens) }
}

/// 1,000 tokens read, 3,000 written for five minutes and 100 answered by Opus 4.8 at $0.50, $6.25 and $25 a million:
/// $0.0005 + $0.01875 + $0.0025 = $0.02175; a quarter of the input was read.
const ONE: &str = r#"{"v":1,"request":{"model":"claude-opus-4-8","messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}]},"response":{"usage":{"input_tokens":0,"cache_read_input_tokens":1000,"cache_creation_input_tokens":3000,"output_tokens":100}}}
"#;

#[test]
fn limits_are_kept_or_not() {
    let passed = |limits| judged(ONE, limits).iter().map(|gate| gate.passed).collect::<Vec<_>>();
    assert_eq!(passed(limits("0.02175", "25%", 0)), [true, true, true]);
    assert_eq!(passed(limits("0.021749999999", "25.0000001%", 0)), [false, false, true]);
    let found = judged(ONE, limits("0.01", "1", 0));
    assert_eq!(found[0].found, Some(Measure::Cost("0.02175".parse().unwrap())));
    assert_eq!(found[1].found, Some(Measure::HitRate(0.25)));
    assert!(judged(ONE, Limits::default()).is_empty());
}

/// A limit that cannot be checked counts as failed, with a reason; an exceeded one needs none.
#[test]
fn limits_that_cannot_be_checked_have_failed() {
    let unpriced = ONE.replace("claude-opus-4-8", "claude-opus-9");
    let gates = judged(&format!("{ONE}{unpriced}"), limits("1", "0", 0));
    assert_eq!(gates.iter().map(|gate| gate.passed).collect::<Vec<_>>(), [false, true, true]);
    assert!(gates[0].undecided.as_deref().unwrap().contains("no price for `claude-opus-9`"), "{gates:?}");
    let gates = judged(&format!("{ONE}{unpriced}"), limits("0.01", "0", 0));
    assert_eq!((gates[0].passed, &gates[0].undecided), (false, &None));

    let silent = format!("{}}}\n", ONE.split_once(",\"response\"").unwrap().0);
    let gates = judged(&silent, limits("1", "0", 0));
    assert!(gates.iter().all(|gate| !gate.passed && gate.undecided.as_deref() == Some("no usage was recorded")));
    let gates = judged(&format!("{ONE}{silent}"), limits("1", "0", 0));
    assert_eq!(gates[0].undecided.as_deref(), Some("1 request has no recorded usage"));
    let refused = silent.replace("{\"v\":1", "{\"v\":1,\"status\":529");
    assert!(judged(&format!("{ONE}{refused}"), limits("1", "0", 0)).iter().all(|gate| gate.passed));
}

#[test]
fn names_of_groups_can_be_hidden() {
    let log = format!("{}{ONE}", ONE.replace("{\"v\":1", "{\"v\":1,\"chain\":\"billing-bot\""));
    let inputs = Inputs::from_bytes("secret.jsonl", log.as_bytes(), InputFormat::Auto);
    let options = Options::default();
    let replay = replay(&inputs, &options);
    for by in [By::Agent, By::Project] {
        let view = View { by: Some(by), names: Names::Anonymous, ..View::default() };
        let report = Report::new(&inputs, &replay, &options, view);
        assert_eq!(report.counted, Counted::Recorded);
        let keys: Vec<&str> = report.groups.iter().map(|group| group.key.as_str()).collect();
        assert!(keys.iter().all(|key| !key.contains("billing") && !key.contains("secret")), "{keys:?}");
    }
}

/// Each pair of keys is a part of its first key.
#[test]
fn groups_of_two_keys_add_up_to_groups_of_the_first() {
    for (name, inputs) in recordings() {
        let options = Options::default();
        let replay = replay(&inputs, &options);
        let view = |then_by| View { by: Some(By::Day), then_by, ..View::default() };
        let days = Report::new(&inputs, &replay, &options, view(None));
        let pairs = Report::new(&inputs, &replay, &options, view(Some(By::Model)));
        for day in &days.groups {
            let parts = pairs.groups.iter().filter(|pair| pair.key == day.key);
            let sum = Sums::of(parts.map(|pair| &pair.account));
            assert_eq!(sum, Sums::of([&day.account]), "{name}, {}", day.key);
        }
        assert!(pairs.groups.is_sorted_by_key(|pair| &pair.key), "{name}");
    }
}

/// The sample's requests are around midnight in UTC: 8 before, 6 after. In Tokyo it is morning.
#[test]
fn days_are_those_of_the_time_zone() {
    let (inputs, options) = (Inputs::sample(), Options::default());
    let replay = replay(&inputs, &options);
    let Ok(zone) = "Asia/Tokyo".parse::<Zone>() else {
        eprintln!("SKIPPED: this machine has no time zones");
        return;
    };
    let view = View { by: Some(By::Day), zone, ..View::default() };
    let report = Report::new(&inputs, &replay, &options, view);
    let keys: Vec<&str> = report.groups.iter().map(|group| group.key.as_str()).collect();
    assert_eq!(keys, ["2026-11-03"]);
}

/// The sample costs $0.1220 from 23:50 to 00:01, all of it in the block of 23:00.
#[test]
fn the_open_block_says_what_is_left_of_it() {
    let (inputs, options) = (Inputs::sample(), Options::default());
    let replay = replay(&inputs, &options);
    let said = |by: By, now: &str| {
        let now = since(now, &Zone::default()).ok();
        let view = View { by: Some(by), then_by: Some(By::Model), now, ..View::default() };
        let report = Report::new(&inputs, &replay, &options, view);
        let mut text = Vec::new();
        terminal::write(&human::replay::document(&report), Look { width: 100, colour: false }, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        text.lines().find(|line| line.contains("The block of")).map(|line| line.trim().to_owned())
    };
    let two_hours = "The block of 23:00 has 3 h 0 min left: $0.1220 so far, $0.3050 at its end at this pace.";
    assert_eq!(said(By::Block, "2026-11-03T01:00:00Z").as_deref(), Some(two_hours));
    let soon = "The block of 23:00 has 4 h 50 min left: $0.1220 so far.";
    assert_eq!(said(By::Block, "2026-11-02T23:10:00Z").as_deref(), Some(soon));
    assert_eq!(said(By::Block, "2026-11-03T04:00:00Z"), None);
    assert_eq!(said(By::Day, "2026-11-03T01:00:00Z"), None);
}

#[test]
fn requests_of_other_projects_do_not_count_and_are_counted() {
    let (inputs, options) = (Inputs::sample(), Options::default());
    let replay = replay(&inputs, &options);
    for (project, counted) in [("SAMPLE", 14), ("elsewhere", 0)] {
        let view = View { project: Some(project.to_owned()), ..View::default() };
        let report = Report::new(&inputs, &replay, &options, view);
        assert_eq!((report.tally.requests, report.left_out.other_projects), (counted, 14 - counted));
    }
}

/// A chain's name is an id, not a kind; one with a parent is a sub-agent.
#[test]
fn chains_of_exchanges_are_grouped_by_kind() {
    let named = |words: &str| ONE.replace("{\"v\":1", &format!("{{\"v\":1,{words}"));
    let lead = named("\"chain\":\"lead\"");
    let log = format!("{lead}{}{ONE}", named("\"chain\":\"scout\",\"parent\":\"lead\""));
    let inputs = Inputs::from_bytes("log.jsonl", log.as_bytes(), InputFormat::Auto);
    let options = Options::default();
    let replay = replay(&inputs, &options);
    let view = View { by: Some(By::Kind), ..View::default() };
    let report = Report::new(&inputs, &replay, &options, view);
    let kinds: BTreeMap<&str, u64> =
        report.groups.iter().map(|group| (&*group.key, group.account.ledger.requests)).collect();
    assert_eq!(kinds, BTreeMap::from([("main", 2), ("named", 1)]));
}
