//! Another model for recordings whose cache is not modelled: the row, what it leaves open, and the advice.

use std::path::Path;

use forkcast_fixtures::{beside, fixture};
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::replay::{Options, Passes};
use forkcast_replay::what_if::WhatIf;
use forkcast_reports::document::terminal::{self, Look};
use forkcast_reports::human;
use forkcast_reports::report::{Report, View, actions};

/// What a replay shows of a file or folder; `asked` are its what-ifs.
struct Shown {
    screen: String,
    advice: Vec<String>,
    rows: Vec<String>,
}

fn shown(path: &Path, asked: &[&str]) -> Shown {
    let inputs = Inputs::read(&[path], InputFormat::Auto).unwrap();
    let what_ifs: Vec<WhatIf> = asked.iter().map(|spec| spec.parse().unwrap()).collect();
    let options = Options { what_if: WhatIf::with_defaults(&what_ifs), ..Options::default() };
    let requests = Passes::new(&inputs, &options, &|| false);
    let report = Report::new(&inputs, &requests, &options, View { what_ifs, ..View::default() });
    let mut screen = Vec::new();
    terminal::write(&human::replay::document(&report), Look { width: 120, colour: false }, &mut screen).unwrap();
    Shown {
        screen: String::from_utf8(screen).unwrap(),
        advice: actions(&report).into_iter().map(|action| action.what).collect(),
        rows: report.tried().map(|(_, tried)| tried.name.clone()).collect(),
    }
}

/// Bill: 0.0396 + 0.01685; with GPT-6.2 Sol 0.0154 + 0.01179.
#[test]
fn a_codex_session_is_advised_the_current_model_of_its_maker() {
    let Shown { screen, advice, rows } = shown(&fixture("codex.jsonl"), &[]);
    assert_eq!(rows, ["model=gpt-6.2-sol"]);
    assert_eq!(
        advice,
        ["Use gpt-6.2-sol for the 2 requests to models of its maker, with the same tokens; answers will differ"]
    );
    assert!(screen.contains("$0.0293"), "{screen}");
}

#[test]
fn another_makers_model_is_a_row_and_no_advice() {
    let Shown { screen, advice, rows } =
        shown(&fixture("codex.jsonl"), &["model=gemini-3.8-flash", "model=gpt-6-luna", "ttl=1h"]);
    assert_eq!(rows, ["model=gpt-6.2-sol", "model=gemini-3.8-flash", "model=gpt-6-luna"]);
    assert_eq!(
        advice,
        ["Use gpt-6-luna for the 2 requests to models of its maker, with the same tokens; answers will differ"]
    );
    let screen = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "No cache of these models is modelled: ttl=1h is left out.",
        "The same tokens at other list prices, since no cache is modelled there: model=gpt-6.2-sol (2 requests)",
        "gpt-6-luna: it charges for writing to its cache, and these requests report no writes; with all plain input written it",
        "its first price, of 2026-09-22, holds for requests before that day too.",
    ] {
        assert!(screen.contains(said), "{said}: {screen}");
    }
}

/// GPT-6.2 Astra is in the table of models and has no price.
#[test]
fn a_model_without_a_price_is_left_out_with_the_reason() {
    let Shown { screen, rows, .. } = shown(&fixture("codex.jsonl"), &["model=gpt-6.2-astra"]);
    assert_eq!(rows, ["model=gpt-6.2-sol"]);
    assert!(screen.contains("There is no price for the model"), "{screen}");
}

/// Recordings of Codex, Gemini CLI and Copilot CLI.
#[test]
fn other_clients_get_an_answer_too() {
    for (folder, advised) in [
        ("codex-agentv", Some("Use gpt-6.2-sol")),
        ("codex-cyspbot", Some("Use gpt-6.2-sol")),
        ("gemini-cli-entireio", None),
        ("copilot-cli-agentv", None),
    ] {
        let Some(path) = beside(folder) else { continue };
        let Shown { screen, advice, rows } = shown(&path, &["model=gpt-5.4", "model=claude-haiku-4-5", "ttl=1h"]);
        eprintln!("{screen}");
        assert!(rows.contains(&"model=gpt-5.4".to_owned()), "{rows:?}");
        assert_eq!(
            advice.iter().any(|what| advised.is_some_and(|advised| what.starts_with(advised))),
            advised.is_some()
        );
    }
}
