//! `forkcast fanout` from the command line: the default, grids, bad input, folders.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::program::{self, folder, forkcast};

fn fanout(arguments: &[&str]) -> Output {
    forkcast(Path::new("."), &[&["fanout"], arguments].concat())
}

fn said(arguments: &[&str]) -> (i32, String, String) {
    let output = fanout(arguments);
    let (code, stdout, stderr) = program::said(&output);
    (code, stdout.to_owned(), stderr.to_owned())
}

fn json(arguments: &[&str]) -> Value {
    let (code, stdout, stderr) = said(&[arguments, &["--format", "json"]].concat());
    assert_eq!(code, 0, "{stderr}");
    serde_json::from_str(&stdout).unwrap()
}

/// The worked table of the published example: five children, first turns, cold and warm, burst and primed.
#[test]
fn the_worked_table_is_one_command() {
    let lists = ["--breakpoints", "shared,tail,both", "--parent", "cold,warm", "--launch", "burst,primed"];
    // Reads at a tenth of plain input, as in the claim.
    let value = json(&[&lists[..], &["--model", "claude-opus-4-8"]].concat());
    let rows = value["rows"].as_array().unwrap();
    let of = |breakpoints: &str| -> Vec<u64> {
        let rows = rows.iter().filter(|row| row["breakpoints"] == breakpoints);
        rows.map(|row| row["token_equivalents"].as_u64().unwrap()).collect()
    };
    assert_eq!(of("shared"), [304_125, 81_025, 39_625, 28_125]);
    assert_eq!(of("tail"), [304_375, 304_375, 39_875, 39_875]);
    assert_eq!(of("both"), [304_375, 81_275, 39_875, 28_375]);
    assert_eq!(rows.len(), 12);
}

/// A title is the answer.
#[test]
fn the_title_says_what_it_costs_or_what_is_cheapest() {
    for (arguments, title) in [
        (&["--children", "5"][..], "5 forks cost $"),
        (&["--children", "5", "--against", "spawn"], "Forks cost $"),
        (&["--children", "5", "--breakpoints", "both", "--launch", "burst,primed"], "Cheapest of 2: launch primed"),
        (
            &["--children", "5,9", "--breakpoints", "both", "--launch", "burst,primed"],
            "primed is cheapest throughout: $",
        ),
        (
            &["--children", "2,9", "--breakpoints", "both", "--launch", "burst,primed"],
            "burst is cheapest with 2 children, primed from 9 children on: $",
        ),
        (
            &["--children", "2,9", "--prefix", "20k,50k", "--breakpoints", "both", "--launch", "burst,primed"],
            "primed is cheapest throughout (20k of context): $",
        ),
        (
            &["--children", "2,4,6,9", "--prefix", "20k..50k:10k", "--breakpoints", "both", "--launch", "burst,primed"],
            "Cheapest: launch primed in 1",
        ),
        (&["--children", "2,9"], "1.5 times the cost from 2 to 9 children: $0.36"),
        (&["--parent", "warm,cold"], "4.0 times the cost with a cold parent: $"),
        (&["--turns", "1..9", "--against", "spawn"], "fork is cheapest up to 7 turns, spawn from 8 turns on: $"),
        (&["--turns", "1,5", "--ttl", "5m,1h"], "5m is cheapest throughout: $"),
        (&["--children", "5", "--itpm", "10"], "5 forks: none was answered"),
        (&["--answer", "fork-or-spawn"], "Without the parent, forks are cheaper up to 9 turns with 20k of context"),
        (&["--answer", "ttl"], "Without the parent, an hour is cheaper once 8 children wait with 20k of context"),
    ] {
        let (code, shown, _) = said(arguments);
        assert!(code == 0 && shown.starts_with(title), "{arguments:?}: {shown}");
    }
}

#[test]
fn bad_input_is_refused_before_any_work_with_exit_code_2() {
    for (arguments, why) in [
        (&["--children", "0"][..], "at least one child"),
        (&["--turns", "0"], "at least one turn"),
        (&["--directive", "0"], "`--directive` must be at least one"),
        (&["--prefix", "0"], "`--prefix` must be at least one"),
        (&["--launch", "stagger=300001"], "longer than the TTL"),
        (&["--launch", "stagger=3600001", "--ttl", "1h"], "longer than the TTL"),
        (&["--launch", "waves=0"], "waves=N"),
        (&["--children", "1..1000", "--turns", "1..1000", "--prefix", "1k..9k:1k"], "9000000 cells"),
        (&["--children", "1..99999999"], "more than 10,000 numbers"),
        (&["--children", "4000000000"], "the limit of 1000000 requests"),
        (&["--children", "5000000000"], "too large to run"),
        (&["--turns", "4000000000"], "the limit of 1000000 requests"),
        (&["--children", "five"], "not a number, list or range"),
        (&["--children", "9..1"], "ends before it begins"),
        (&["--prefix", "18446744073709551615", "--no-window"], "the largest number allowed"),
        (&["--growth", "18446744073709551615", "--turns", "2", "--no-window"], "the largest number allowed"),
        (&["--output", "18446744073709551615"], "the largest number allowed"),
        (&["--output", "3000000000"], "days"),
        (&["--model", "claude-nonsense"], "forkcast list models"),
        (&["--prefix", "2m"], "--no-window"),
        (&["--against", "spawn", "--spawn-brief", "0"], "`--spawn-brief` must be"),
        (&["--spawn-brief", "5"], "--against"),
        (&["--waiting", "6", "--turns", "2"], "expected at most the 5 children"),
        (&["--waiting", "1"], "2 turns or more to wait between"),
        (&["--answer", "life"], "fork-or-spawn"),
        (&["--answer", "ttl", "--ttl", "1h"], "--answer ttl cannot be used with --ttl"),
        (&["--answer", "all", "--waiting", "1", "--turns", "2"], "cannot be used with --waiting"),
        (&["--answer", "prime", "--model", "claude-3-opus-20240229"], "has no price"),
        (&["--overwrite"], "--out"),
        (&["--children", "-1"], "`-1` is not a number"),
        (&["--children", ""], "not a number, list or range"),
        (&["--children", "1..1000000"], "more than 10,000 numbers"),
        (&["--children", "5,1..5"], "5 is listed twice"),
        (&["--launch", ""], "there is no launch policy"),
        (&["--launch", "stagger=-1"], "there is no launch policy"),
        (&["--launch", "burst,burst"], "`burst` is listed twice"),
        (&["--ttl", "2h"], "5m, 1h"),
        (&["--breakpoints", "end"], "tail+previous"),
        (&["--breakpoints", ""], "tail+previous"),
        (&["--model", ""], "unknown model"),
        (&["--cache", "docs-1999"], "docs-2026-09"),
        (&["--rpm", "0"], "`--rpm` must be"),
        (&["--itpm", "1,2"], "one number"),
        (&["--price-book", "no-such.toml"], "no-such.toml"),
        (&["--price", "mine:read=1"], "all five categories"),
    ] {
        let (code, stdout, stderr) = said(arguments);
        assert_eq!((code, &*stdout), (2, ""), "{arguments:?}: {stderr}");
        assert!(stderr.contains(why), "{arguments:?}: {stderr}");
    }
}

#[test]
fn a_model_without_a_price_shows_its_tokens_and_is_reported() {
    let (code, stdout, stderr) = said(&["--model", "claude-3-opus-20240229", "--format", "csv"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("no price for claude-3-opus"), "{stderr}");
    assert!(stdout.contains("230000"), "{stdout}");
}

/// Requests larger than the window run only on request.
#[test]
fn requests_larger_than_the_window_run_on_request() {
    let value = json(&["--prefix", "2m", "--no-window"]);
    assert_eq!(value["rows"][0]["usage"]["cache_read_input_tokens"], 10_000_000);
}

/// Every question writes its plot next to the rows; another program's folder is not touched.
#[test]
fn a_folder_contains_rows_answers_and_plots() {
    let place = folder("fanout").join("out");
    let out = place.to_str().unwrap();
    let small = ["--answer", "all", "--children", "2,3", "--turns", "2,3", "--prefix", "20k", "--out", out];
    for _ in 0..2 {
        let (code, stdout, stderr) = said(&small);
        assert_eq!(code, 0, "{stderr}");
        assert!(stdout.contains("turning point"), "{stdout}");
    }
    for name in
        ["fanout.json", "fanout.csv", "children.svg", "fork-or-spawn.png", "ttl.png", "prime.svg", "look-back.png"]
    {
        assert!(place.join(name).metadata().unwrap().len() > 1_000, "{name}");
    }
    fs::write(place.join("fanout.json"), "{}").unwrap();
    let (code, _, stderr) = said(&small);
    assert_eq!(code, 2, "{stderr}");
}

/// The user's price book; without a price, money is null, the model is listed, and `--strict` makes it an error.
#[test]
fn own_prices_apply_and_models_without_one_are_listed() {
    let place = folder("fanout-prices");
    let book = place.join("mine.toml");
    fs::write(&book, "[[price]]\nmodel = \"claude-3-opus\"\ninput = 1\nread = 0.5\noutput = 2\n").unwrap();
    let model = ["--model", "claude-3-opus-20240229"];
    let value = json(&model);
    assert_eq!(
        (&value["rows"][0]["cost_usd"], &value["unpriced"][0]),
        (&Value::Null, &"claude-3-opus-20240229".into())
    );
    assert_eq!(value["best_cost"], Value::Array(Vec::new()), "nothing is cheapest if nothing has a price");
    let (code, stdout, stderr) = said(&[&model[..], &["--strict"]].concat());
    assert_eq!(code, 2, "{stderr}");
    assert!(stdout.contains("No price for claude-3-opus") && stderr.contains("(--strict)"), "{stdout} {stderr}");
    let own = ["--price-book", book.to_str().unwrap(), "--strict"];
    let value = json(&[&model[..], &own].concat());
    // 230,000 read, 13,500 written, 500 answered: 115,000 + 13,500 + 1,000 per million.
    assert_eq!(value["rows"][0]["cost_usd"].to_string(), "0.1295");
    assert!(value["price_book"].as_str().unwrap().contains("mine.toml"), "{}", value["price_book"]);
    let mine = ["input", "write_5m", "write_1h", "read", "output"].map(|category| format!("mine:{category}=1"));
    let prices: Vec<&str> = mine.iter().flat_map(|price| ["--price", price]).collect();
    let value = json(&[&["--model", "mine"], &prices[..]].concat());
    assert_eq!(value["rows"][0]["cost_usd"].to_string(), "0.244");
}

/// A cell with fewer answers costs less, but is not a bargain.
#[test]
fn a_cell_without_all_answers_is_never_best_and_is_reported() {
    let limited = ["--children", "40", "--rpm", "1", "--launch", "burst,stagger=7000", "--breakpoints", "both"];
    let value = json(&limited);
    let rows = value["rows"].as_array().unwrap();
    let lacks = |row: &Value| row["unanswered_requests"].as_u64().unwrap() > 0;
    assert!(rows.iter().any(lacks), "{rows:?}");
    for best in ["best_cost", "best_makespan"] {
        let best = value[best].as_array().unwrap();
        assert!(best.iter().all(|at| !lacks(&rows[at.as_u64().unwrap() as usize])), "{best:?}");
    }
    let (_, stdout, _) = said(&limited);
    assert!(stdout.contains("unanswered") && stdout.contains("never best"), "{stdout}");
    let (code, _, stderr) = said(&["--answer", "prime", "--rpm", "1", "--children", "40"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("never answered") && stderr.contains("--rpm"), "{stderr}");
}

/// Pictures, pages and text rank by one cost, the total with the parent.
#[test]
fn a_picture_names_the_same_cheapest_as_the_text() {
    let place = folder("fanout-one-ranking").join("out");
    for (arguments, plot) in [
        (
            &["--children", "2,4,8", "--parent", "warm,cold", "--breakpoints", "both", "--launch", "burst,primed"][..],
            "children",
        ),
        (&["--turns", "1..20", "--against", "spawn"], "turns"),
        (&["--answer", "children", "--children", "1..4"], "children"),
    ] {
        let (code, shown, stderr) = said(&[arguments, &["--overwrite", "--out", place.to_str().unwrap()]].concat());
        assert_eq!(code, 0, "{arguments:?}: {stderr}");
        let svg = fs::read_to_string(place.join(format!("{plot}.svg"))).unwrap();
        let (_, rest) = svg.split_once("<title>").unwrap();
        let (title, _) = rest.split_once("</title>").unwrap();
        let text = shown.split("\n\n").next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text, title, "{arguments:?}");
        assert!(svg.contains("cost of the children and of their parent, USD"), "{svg}");
        assert!(!svg.contains("00000000"), "{svg}");
    }
}

/// Nobody typed `--model`: the message is about the session.
#[test]
fn a_session_of_a_model_without_modelled_cache_says_what_to_do() {
    let session = forkcast_fixtures::fixture("codex.jsonl");
    let session = session.to_str().unwrap();
    let (code, stdout, stderr) = said(&["--from", session]);
    assert_eq!((code, &*stdout), (2, ""), "{stderr}");
    assert!(stderr.contains("the session's model is") && stderr.contains("--model claude-"), "{stderr}");
    assert!(!stderr.contains("unknown model"), "{stderr}");
    let (code, _, stderr) = said(&["--from", session, "--model", "claude-opus-4-8"]);
    assert_eq!(code, 0, "{stderr}");
}

/// Launch policies concern forks: named agents have one row for all launches.
#[test]
fn named_agents_start_like_forks() {
    let value = json(&["--against", "spawn", "--launch", "primed,burst,waves=2", "--breakpoints", "tail,both"]);
    let rows = value["rows"].as_array().unwrap();
    let spawned = rows.iter().filter(|row| !row["spawn"].is_null()).count();
    assert_eq!((rows.len(), spawned), (12, 6));
    // Under `both` the second of two primed agents reads what the first one wrote; at once each writes its own.
    let read = |launch: &str| {
        let row =
            rows.iter().find(|row| row["kind"] == "spawn" && row["breakpoints"] == "both" && row["launch"] == launch);
        row.unwrap()["usage"]["cache_read_input_tokens"].as_u64().unwrap()
    };
    assert_eq!((read("burst"), read("primed")), (0, 4 * 10_000));
}

/// A grid's growth is 1,000 tokens, but the question about TTLs has its own: the user's value applies.
#[test]
fn a_growth_that_was_given_applies_even_if_it_is_the_default() {
    let small = ["--answer", "ttl", "--children", "2", "--turns", "2", "--prefix", "20k"];
    let growth = |more: &[&str]| json(&[&small[..], more].concat())["rows"][0]["growth_tokens"].as_u64();
    assert_eq!((growth(&["--growth", "1000"]), growth(&[])), (Some(1_000), Some(5_500)));
}

/// A grid draws the plots that suit it, or reports what would be drawn.
#[test]
fn a_folder_of_a_grid_contains_the_plots_that_suit_it() {
    let place = folder("fanout-plots").join("out");
    let out = place.to_str().unwrap();
    let both = ["--children", "2,4", "--launch", "burst,primed", "--parent", "warm,cold", "--out", out];
    let (code, _, stderr) = said(&both);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("children.svg, children.png, prime.svg, prime.png"), "{stderr}");
    assert!(place.join("children.png").metadata().unwrap().len() > 1_000);
    let (code, _, stderr) = said(&["--out", out]);
    assert_eq!(code, 0);
    assert!(stderr.contains("no plot fits these cells") && stderr.contains("--answer"), "{stderr}");
}

/// A folder of somebody else ends the command before any work.
#[test]
fn wide_fan_outs_say_how_much_memory_they_take() {
    let place = folder("fanout-memory");
    fs::write(place.join("foreign.txt"), "theirs").unwrap();
    for (children, expected) in [("100000", true), ("40000", false)] {
        let (code, _, stderr) = said(&["--children", children, "--out", place.to_str().unwrap()]);
        assert_eq!((code, stderr.contains("of 100000 children takes about 1.1 GB")), (2, expected), "{stderr}");
    }
}

/// Dashes of slanted lines leave remainders that no addition uses up: these plots once never ended.
#[test]
fn plots_of_slanted_lines_end() {
    let place = folder("fanout-slanted").join("out");
    for (arguments, plot) in [
        (&["--children", "1,2,4,8,16", "--launch", "burst,primed"][..], "children.svg"),
        (&["--children", "2,8,20", "--launch", "burst,primed"], "children.svg"),
        (&["--answer", "children", "--children", "1..1000:x10"], "children.svg"),
        (&["--answer", "fork-or-spawn", "--turns", "1,2,4,8"], "fork-or-spawn.svg"),
        (&["--answer", "fork-or-spawn", "--turns", "1,5,11"], "fork-or-spawn.svg"),
    ] {
        let (code, _, stderr) = said(&[arguments, &["--overwrite", "--out", place.to_str().unwrap()]].concat());
        assert_eq!(code, 0, "{arguments:?}: {stderr}");
        let svg = fs::read_to_string(place.join(plot)).unwrap();
        let dashes = svg.matches("<polyline").count();
        assert!((10..5_000).contains(&dashes), "{arguments:?}: {dashes} dashes");
    }
}

#[test]
fn help_and_list_show_every_policy_in_a_line() {
    let (_, help, _) = said(&["--help"]);
    let listed = forkcast(Path::new("."), &["list", "policies"]);
    let listed = program::stdout(&listed);
    for word in ["burst", "primed", "stagger=MS", "waves=N", "tail+previous", "before-results", "client-2026", "shared"]
    {
        assert!(help.contains(&format!("- {word}:")), "{word}: {help}");
        assert!(listed.contains(&format!(" {word} ")), "{word}: {listed}");
    }
}
