//! Predictions compared with recordings next to the repository; visibly skipped if they are absent.

use std::path::PathBuf;

use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::replay::{Options, Replay, replay};
use forkcast_sim::cache::Rules;
use forkcast_sim::pricing::Money;
use forkcast_sim::service::{Agreement, Compared, NotComparable};

use crate::places::data;

/// Folders and whole captures that hold exchanges with Claude models.
const RECORDINGS: [&str; 7] = [
    "cassettes-crewai",
    "cassettes-dd-trace-py",
    "cassettes-openinference",
    "cassettes-openllmetry",
    "cassettes-pydantic-ai",
    "wire-cache-fix/harvested/pinned-s-86a4ec44206b-69-71.json.gz",
    "wire-cache-fix/harvested/pinned-s-4b6a435234bf-26-28.full.json.gz",
];

fn recordings() -> Option<Inputs> {
    let data = data()?;
    let paths: Vec<PathBuf> = RECORDINGS.iter().map(|name| data.join(name)).collect();
    Some(Inputs::read(&paths, InputFormat::Auto).expect("the recordings open"))
}

fn agreement(replayed: &Replay) -> Agreement {
    let mut agreement = Agreement::default();
    for entry in &replayed.entries {
        match &entry.comparison {
            Ok(compared) => agreement.compare(compared),
            Err(why) => agreement.pass(*why),
        }
    }
    agreement
}

fn disagrees(compared: &Compared) -> bool {
    compared.recorded != compared.predicted || !compared.read_agrees()
}

fn exceptions(replayed: &Replay) -> Vec<String> {
    let rows = replayed.entries.iter();
    rows.filter_map(|entry| Some((entry.comparison.as_ref().ok()?, &entry.origin)))
        .filter(|(compared, _)| disagrees(compared))
        .map(|(compared, origin)| format!("{}#{}: {compared:?}", origin.file, origin.index))
        .collect()
}

#[test]
fn every_verdict_and_read_is_as_recorded_under_the_fitting_preset() {
    let Some(inputs) = recordings() else { return };
    let replayed = replay(&inputs, &Options::default());
    let agreement = agreement(&replayed);
    println!("{agreement:#?}");
    assert_eq!(exceptions(&replayed), Vec::<String>::new());
    assert!(agreement.comparable >= 145, "{agreement:?}");
    assert_eq!(agreement.same_verdict, agreement.comparable);
    assert_eq!(agreement.reads_agree, agreement.comparable);
    assert!(agreement.sizes_known >= 142, "{agreement:?}");
    assert!(agreement.not_comparable[NotComparable::ServerTools as usize] >= 8, "{agreement:?}");
}

#[test]
fn each_preset_of_the_documents_has_at_most_one_exception_more() {
    let Some(inputs) = recordings() else { return };
    for name in ["docs-2026-09", "docs-2026-08"] {
        let options = Options { rules: Rules::preset(name), ..Options::default() };
        let found = exceptions(&replay(&inputs, &options));
        println!("{name}: {found:#?}");
        assert!(found.len() <= 1, "{name}: {found:#?}");
    }
}

#[test]
fn causes_add_up_to_the_bill_over_the_perfect_bill() {
    let recorded = recordings().into_iter().chain([Inputs::sample()]);
    for inputs in recorded {
        for line in replay(&inputs, &Options::default()).lines() {
            let causes: Money = line.charge.causes.iter().filter_map(|cause| cause.cost).sum();
            if let (Some(bill), Some(perfect)) = (&line.charge.bill, line.charge.perfect) {
                assert_eq!(bill.total - perfect, causes, "request {}", line.index);
            }
            if let Some((explanation, usage)) = line.explanation.as_ref().zip(line.billed()) {
                let parts = explanation.read_tokens + explanation.new_tokens + explanation.missed_tokens();
                assert_eq!(parts, usage.total_input_tokens(), "request {}", line.index);
            }
        }
    }
}

#[test]
fn the_sample_agrees_with_its_prediction() {
    let replayed = replay(&Inputs::sample(), &Options::default());
    assert_eq!(exceptions(&replayed), Vec::<String>::new());
    let agreement = agreement(&replayed);
    assert!(agreement.comparable >= 9, "{agreement:?}");
}

/// Folders whose recordings often begin with caches that earlier runs had filled, and how many of their requests can be
/// compared at least.
const FURTHER: [(&str, u64); 5] = [
    ("cassettes-braintrust-java", 5),
    ("cassettes-braintrust-js", 115),
    ("cassettes-dd-trace-js", 10),
    ("cassettes-fantasy", 4),
    ("cassettes-rig", 70),
];

/// Requests of these folders that disagree: file, request and why. The prefix of the first two (one tool and a line of
/// the system prompt) is estimated at 4,384 and 4,480 tokens, above the minimum of 4,096; from the growth of the second
/// system block between two runs it has about 2,200, and was never cached.
const DISAGREEING: [(&str, &str); 3] = [
    ("b288b95a/claude-agent-sdk-v0.2.79#9", "no usage shows the size of a prefix near the minimum"),
    ("claude-agent-sdk-v0.2.81#9", "no usage shows the size of a prefix near the minimum"),
    ("ai-sdk-v6-latest#12", "the same recording is in two commits, so both seem to be sent at once"),
];

#[test]
fn further_folders_agree_but_for_named_requests() {
    let Some(data) = data() else { return };
    let mut disagreeing = Vec::new();
    println!("| folder | comparable | verdict | read | size known | prewarmed |");
    for (name, at_least) in FURTHER {
        let inputs = Inputs::read(&[data.join(name)], InputFormat::Auto).expect("the recordings open");
        let replayed = replay(&inputs, &Options::default());
        let agreement = agreement(&replayed);
        println!(
            "| {name} | {} | {} | {} | {} | {} |",
            agreement.comparable,
            agreement.same_verdict,
            agreement.reads_agree,
            agreement.sizes_known,
            agreement.not_comparable[NotComparable::Prewarmed as usize]
        );
        assert!(agreement.comparable >= at_least, "{name}: {agreement:?}");
        disagreeing.extend(exceptions(&replayed));
    }
    let is_named = |found: &&String| {
        DISAGREEING.iter().any(|(request, _)| {
            let (folder, file) = request.split_once('/').unwrap_or(("", request));
            let (file, index) = file.split_once('#').expect("a request");
            found.contains(&format!("{folder}/e2e")) && found.contains(&format!("/{file}.cassette.json.gz#{index}:"))
        })
    };
    let unnamed: Vec<_> = disagreeing.iter().filter(|found| !is_named(found)).collect();
    assert_eq!(unnamed, Vec::<&String>::new());
    assert_eq!(disagreeing.len(), DISAGREEING.len(), "{disagreeing:#?}");
}
