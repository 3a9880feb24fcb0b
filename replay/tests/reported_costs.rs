//! Bills compared with the costs in the answers: `OpenRouter` and xAI include these in the usage. Skipped with a
//! message if the recordings are absent.

use std::collections::BTreeMap;

use forkcast_fixtures::beside;
use forkcast_replay::exchange::Exchange;
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::replay::{Options, replay};
use forkcast_sim::pricing::{Date, Money};
use forkcast_sim::service::Entry;

/// Bills that differ, with the reason.
#[derive(Default)]
struct Compared {
    equal: usize,
    /// Model, our bill, the reported one.
    different: Vec<(String, Option<String>, String)>,
}

/// All exchanges of some folders of recordings; `None` if they are absent.
fn compare(folders: &[&str], prices_of: Option<Date>) -> Option<Compared> {
    let mut compared = Compared::default();
    for folder in folders {
        let inputs = Inputs::read(&[beside(folder)?], InputFormat::Auto).unwrap();
        let result = replay(&inputs, &Options { prices_of, ..Options::default() });
        let place = |exchange: &Exchange| (exchange.origin.file.clone(), exchange.origin.index);
        let exchanges: BTreeMap<_, _> = inputs.exchanges().map(|exchange| (place(exchange), exchange)).collect();
        for Entry { line, origin, .. } in &result.entries {
            let usage = exchanges[&(origin.file.clone(), origin.index)].usage;
            // Azure passes xAI's field on as zero, which is no cost.
            let reported = usage.and_then(|usage| usage.reported_cost).filter(|reported| *reported > Money::ZERO);
            let Some(reported) = reported else { continue };
            let bill = line.charge.bill.as_ref().map(|bill| bill.total);
            if bill == Some(reported) {
                compared.equal += 1;
            } else {
                let bill = bill.map(|bill| bill.to_string());
                compared.different.push((line.model.clone(), bill, reported.to_string()));
            }
        }
    }
    Some(compared)
}

#[test]
fn bills_equal_the_reported_costs_to_the_last_unit() {
    let folders = ["cassettes-pydantic-ai", "cassettes-ruby-llm", "cassettes-crewai"];
    let Some(compared) = compare(&folders, None) else { return };
    let expected = [
        // A free name that another model answered.
        ("google/gemini-2.0-flash-exp:free", None, "0.00333825"),
        // OpenRouter adds five minutes of storage for written tokens: 2,161 tokens at 1 USD per million and hour (6.3).
        ("google/gemini-2.5-flash", Some("0.00031693"), "0.000497013333"),
    ]
    .map(|(model, bill, reported)| (model.to_owned(), bill.map(str::to_owned), reported.to_owned()));
    assert_eq!(compared.different, expected);
    assert!(compared.equal >= 76, "{}", compared.equal);
}

/// gpt-5.6-sol at its list price, before the promotion began on 2026-08-21.
#[test]
fn a_recording_without_instants_is_priced_at_a_day_that_the_user_names() {
    let Some(compared) = compare(&["cassettes-pydantic-ai"], Some(Date(2026, 7, 15))) else { return };
    assert!(compared.different.iter().all(|(model, _, _)| model != "openai/gpt-5.6-sol"), "{:?}", compared.different);
}
