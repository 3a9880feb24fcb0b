//! Tables of comma-separated values: every row has the columns of its head, and the sums are those of the other formats.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use forkcast_fixtures::{files, fixture};
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::replay::{Options, Passes, replay};
use forkcast_reports::figures::timeline::Timeline;
use forkcast_reports::folder::{Contents, Folder};
use forkcast_reports::format::{ledger, replay as json, requests, tables};
use forkcast_reports::report::{Account, By, Counted, Limits, Report, Side, View};
use forkcast_sim::pricing::Money;
use serde_json::Value;

/// A file of comma-separated values as RFC 4180 reads it.
pub fn parsed(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut chars) = (false, text.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => field.extend(chars.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            c => field.push(c),
        }
    }
    assert!(!quoted && row.is_empty() && field.is_empty(), "the last line is a line");
    rows
}

fn with_report(inputs: &Inputs, check: impl Fn(&Report<'_>)) {
    let options = Options::default();
    let replay = replay(inputs, &options);
    let limits = Limits { cost_max: "1".parse().ok(), ..Limits::default() };
    check(&Report::new(inputs, &replay, &options, View { by: Some(By::Day), limits, ..View::default() }));
}

fn table(report: &Report<'_>, name: &str) -> Vec<Vec<String>> {
    let mut text = Vec::new();
    tables::write(report, name, &mut text).unwrap();
    parsed(std::str::from_utf8(&text).unwrap())
}

/// Names that need quotes, a model without a price, a request without usage, broken lines.
const TROUBLE: &str = r#"{"v":1,"chain":"a \"quoted\", name","request":{"model":"claude, \"9\"","messages":[{"role":"user","content":"a"}]},"response":{"usage":{"input_tokens":9,"output_tokens":3}}}
{"v":1,"request":{"model":"claude-opus-4-8","messages":[{"role":"user","content":"b"}]}}
{"v":1,"request":{"model":"claude-opus-4-8","messages":7},"response":{"usage":{"input_tokens":9,"output_tokens":3}}}
{"v":1,"request":
"#;

#[test]
fn every_row_has_the_columns_of_its_head() {
    let trouble = Inputs::from_bytes("a,\n\"b\".jsonl", TROUBLE.as_bytes(), InputFormat::Auto);
    for inputs in [Inputs::sample(), trouble] {
        with_report(&inputs, |report| {
            let mut all = Vec::new();
            tables::write_all(report, &mut all).unwrap();
            let all = parsed(std::str::from_utf8(&all).unwrap());
            let mut parts = all.split(|row| row == &[""]);
            for (name, _) in tables::names() {
                let alone = table(report, name);
                assert!(alone.iter().all(|row| row.len() == alone[0].len()), "{name}: {alone:?}");
                let together: Vec<Vec<String>> = parts.next().unwrap().iter().map(|row| row[1..].to_vec()).collect();
                assert_eq!(together, alone, "{name}");
            }
            assert!(parts.next().is_none());
        });
    }
}

/// A table as rows by the names of their columns.
fn named(rows: &[Vec<String>]) -> Vec<BTreeMap<&str, &str>> {
    let (head, rows) = rows.split_first().unwrap();
    rows.iter().map(|row| head.iter().map(String::as_str).zip(row.iter().map(String::as_str)).collect()).collect()
}

#[test]
fn sums_are_those_of_the_json() {
    with_report(&Inputs::sample(), |report| {
        let mut text = Vec::new();
        json::write(report, &mut text).unwrap();
        let json: Value = serde_json::from_slice(&text).unwrap();
        for (name, wholes) in [
            ("totals", vec![&json["totals"]]),
            ("groups", json["groups"].as_array().unwrap().iter().collect()),
            ("sessions", json["sessions"].as_array().unwrap().iter().collect()),
        ] {
            let rows = table(report, name);
            let rows = named(&rows);
            assert_eq!(rows.len(), wholes.len(), "{name}");
            for (row, whole) in rows.iter().zip(wholes) {
                for (column, value) in [
                    ("requests", &whole["requests"]),
                    ("recorded_cost_usd", &whole["recorded"]["cost_usd"]),
                    ("recorded_cache_read_input_tokens", &whole["recorded"]["cache_read_input_tokens"]),
                    ("predicted_output_tokens", &whole["predicted"]["output_tokens"]),
                    ("perfect_cost_usd", &whole["perfect_cost_usd"]),
                    ("missed_tokens", &whole["missed_tokens"]),
                    ("dearest_cause", &whole["causes"][0]["cause"]),
                    ("same_verdict", &whole["agreement"]["same_verdict"]),
                ] {
                    assert_eq!(row[column], value.to_string().trim_matches('"'), "{name}, {column}");
                }
            }
        }
        let mut file = Vec::new();
        requests::begin(&mut file).unwrap();
        report.each(&mut |entry| requests::write(report, entry, &mut file).unwrap());
        assert_eq!(parsed(std::str::from_utf8(&file).unwrap()), table(report, "requests"));
    });
}

/// Usage without recorded counts and requests without a prediction are known only after the last request.
#[test]
fn rows_written_while_requests_pass_are_those_of_the_complete_report() {
    let place = tempfile::tempdir().unwrap();
    let mut made_again = 0;
    for (at, inputs) in fixtures().iter().enumerate() {
        let (options, out) = (Options::default(), place.path().join(at.to_string()));
        let requests = Passes::new(inputs, &options, &|| false);
        let mut folder = Folder::open(&out, Contents::Replay, false, &[]).unwrap();
        let mut rows = folder.rows(false).unwrap();
        let report = Report::watched(inputs, &requests, &options, View::default(), &mut |senders, entries| {
            folder.take(&mut rows, senders, entries);
        });
        let (mut lines, mut table) = (Vec::new(), Vec::new());
        let mut timeline = Timeline::of(&report);
        requests::begin(&mut table).unwrap();
        report.each(&mut |entry| {
            timeline.add(&report, entry);
            ledger::write(&report, entry, &mut lines).unwrap();
            requests::write(&report, entry, &mut table).unwrap();
        });
        made_again += usize::from(report.counted == Counted::Predicted || report.totals.predicted.is_none());
        folder.finish(&report, rows).unwrap();
        let written = |name: &str| fs::read_to_string(out.join(name)).unwrap();
        assert_eq!(written("ledger.jsonl"), String::from_utf8(lines).unwrap(), "{at}");
        assert_eq!(written("requests.csv"), String::from_utf8(table).unwrap(), "{at}");
        assert_eq!(written("timeline.svg"), timeline.svg(&report), "{at}");
    }
    assert!(made_again > 3, "{made_again}");
}

#[test]
fn an_unknown_table_writes_nothing() {
    with_report(&Inputs::sample(), |report| assert!(table(report, "bills").is_empty()));
}

/// Every fixture of the readers alone, and all of them together.
fn fixtures() -> Vec<Inputs> {
    let paths = files(&fixture(""));
    let mut all: Vec<Vec<PathBuf>> = paths.iter().map(|path| vec![path.clone()]).collect();
    all.push(paths);
    all.iter().map(|paths| Inputs::read(paths, InputFormat::Auto).unwrap()).collect()
}

/// The sum of a column, as millionths of millionths.
fn column(rows: &[BTreeMap<&str, &str>], name: &str) -> i128 {
    let cells = rows.iter().map(|row| row[name]).filter(|cell| !cell.is_empty());
    cells.map(|cell| cell.parse::<Money>().unwrap().picousd()).sum()
}

/// The sums of a row's columns, and figures without a column; tokens also as millionths of millionths.
fn figures(account: &Account) -> Vec<(&'static str, i128)> {
    let usage = |side: Option<&Side>, names: [&'static str; 5]| {
        let usage = side.map(|side| side.usage).unwrap_or_default();
        let counts = [
            usage.input_tokens,
            usage.cache_read_input_tokens,
            usage.ephemeral_5m_input_tokens,
            usage.ephemeral_1h_input_tokens,
            usage.output_tokens,
        ];
        names.into_iter().zip(counts.map(|count| i128::from(count) * 1_000_000_000_000))
    };
    let recorded = [
        "recorded_input_tokens",
        "recorded_cache_read_input_tokens",
        "recorded_ephemeral_5m_input_tokens",
        "recorded_ephemeral_1h_input_tokens",
        "recorded_output_tokens",
    ];
    let predicted = [
        "predicted_input_tokens",
        "predicted_cache_read_input_tokens",
        "predicted_ephemeral_5m_input_tokens",
        "predicted_ephemeral_1h_input_tokens",
        "predicted_output_tokens",
    ];
    let money = |amount: Option<Money>| amount.unwrap_or_default().picousd();
    let tokens = |count: u64| i128::from(count) * 1_000_000_000_000;
    let ledger = &account.ledger;
    let others = [
        ("cost_usd", money(account.billed.cost)),
        ("predicted_cost_usd", money(account.predicted.and_then(|side| side.cost))),
        ("perfect_cost_usd", money(account.perfect)),
        ("unread_writes_usd", money(account.unread_writes)),
        ("read_tokens", tokens(ledger.read_tokens)),
        ("new_tokens", tokens(ledger.new_tokens)),
        ("missed_tokens", tokens(ledger.missed_tokens)),
    ];
    let sides = usage(Some(&account.recorded), recorded).chain(usage(account.predicted.as_ref(), predicted));
    sides.chain(others).collect()
}

#[test]
fn the_parts_of_every_recording_add_up_to_the_whole() {
    for inputs in fixtures() {
        let about = inputs.scopes.iter().map(|scope| scope.name.as_str()).collect::<Vec<_>>().join(" ");
        let options = Options::default();
        let requests = Passes::new(&inputs, &options, &|| false);
        let report = Report::new(&inputs, &requests, &options, View { by: Some(By::Model), ..View::default() });
        let whole = figures(&report.totals);
        let sessions: Vec<_> = report.sessions.iter().map(|session| figures(&session.account)).collect();
        let groups: Vec<_> = report.groups.iter().map(|group| figures(&group.account)).collect();
        let table = table(&report, "requests");
        let rows = named(&table);
        for (at, (name, figure)) in whole.into_iter().enumerate() {
            assert_eq!(column(&rows, name), figure, "{about}: the column {name}");
            for parts in [&sessions, &groups] {
                assert_eq!(parts.iter().map(|part| part[at].1).sum::<i128>(), figure, "{about}: {name}");
            }
        }
        let ledger = &report.totals.ledger;
        let parts = ledger.read_tokens + ledger.new_tokens + ledger.missed_tokens + ledger.unknown_tokens;
        assert_eq!(parts, report.totals.billed.usage.total_input_tokens(), "{about}");
    }
}
