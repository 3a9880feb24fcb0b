//! Laws of every line, for any recording.

use forkcast_replay::input::Inputs;
use forkcast_replay::replay::{Options, replay};
use forkcast_replay::transcript::What;
use forkcast_sim::service::Entry;
use forkcast_sim::wire::Usage;

use super::{SOURCES, data, inputs};

#[test]
fn every_token_is_read_new_or_missed_and_causes_make_the_difference_of_the_bills() {
    let Some(data) = data() else { return };
    let mut lines = 0;
    for source in SOURCES {
        for line in replay(&inputs(source, &data), &Options::default()).lines() {
            let (Some(why), Some(recorded)) = (&line.explanation, &line.recorded) else { continue };
            let missed: u64 = why.missed.iter().map(|part| part.tokens).sum();
            let sum = why.read_tokens + why.new_tokens + missed;
            assert_eq!(sum, recorded.total_input_tokens(), "{source}, line {}", line.index);
            let (Some(bill), Some(perfect)) = (&line.charge.bill, &line.charge.perfect) else { continue };
            let causes: i128 =
                line.charge.causes.iter().filter_map(|cause| cause.cost).map(|cost| cost.picousd()).sum();
            assert_eq!(causes, bill.total.picousd() - perfect.picousd(), "{source}, line {}", line.index);
            lines += 1;
        }
    }
    assert!(lines > 12_000, "{lines} lines");
}

#[test]
fn the_order_of_files_never_matters() {
    let Some(data) = data() else { return };
    for source in ["cc-oh-my-posh", "cc-marot-spotter", "cc-agentv"] {
        let original = inputs(source, &data);
        let mut turned = original.clone();
        let mut sessions = original.sessions.all().to_vec();
        sessions.reverse();
        sessions.rotate_left(3.min(original.sessions.len() / 2));
        turned.sessions = sessions.into_iter().collect();
        let told = |inputs: &Inputs| {
            let result = replay(inputs, &Options::default());
            let mut told: Vec<_> = result
                .entries
                .iter()
                .map(|Entry { line, origin, evidence, unforeseen, .. }| {
                    let line = (&line.recorded, &line.predicted, &line.charge, &line.explanation, &line.unread_writes);
                    format!("{} {} {line:?} {evidence:?} {unforeseen:?}", origin.file, origin.line)
                })
                .collect();
            told.sort();
            told
        };
        assert!(told(&original) == told(&turned), "{source}: another order, another ledger");
    }
}

/// The same sum and the same lifetime with another split of read and write.
fn redistributed(usage: Usage, share_percent: u64) -> Usage {
    let cached = usage.cache_read_input_tokens + usage.cache_creation_input_tokens();
    // A bill shows its lifetime only if at least one token was written.
    let written = (cached * share_percent / 100).max(u64::from(usage.cache_creation_input_tokens() > 0));
    let one_hour = usage.ephemeral_1h_input_tokens > 0;
    Usage {
        cache_read_input_tokens: cached - written,
        ephemeral_1h_input_tokens: if one_hour { written } else { 0 },
        ephemeral_5m_input_tokens: if one_hour { 0 } else { written },
        ..usage
    }
}

#[test]
fn how_a_requests_own_input_was_split_never_enters_its_prediction() {
    let Some(data) = data() else { return };
    let original = inputs("cc-marot-spotter", &data);
    let expected = replay(&original, &Options::default());
    // Each replay changes one request of each session: what they share is learnt from requests before.
    let most = expected.entries.iter().filter_map(|entry| entry.answer).map(|asked| asked.item).max().unwrap_or(0);
    let (mut checked, stride) = (0, 7);
    for round in (0..=most).step_by(stride) {
        let mut changed = original.clone();
        let mut touched = Vec::new();
        for (at, entry) in expected.entries.iter().enumerate() {
            let (Some(asked), Ok(_)) = (entry.answer, &entry.comparison) else { continue };
            if asked.agent != 0 || asked.session != round % original.sessions.len() || asked.item < round {
                continue;
            }
            if touched.is_empty() {
                let mut sessions = original.sessions.all().to_vec();
                let item = &mut sessions[asked.session].agents[asked.agent].thread.items[asked.item];
                let What::Answer(answer) = &mut item.what else { panic!("an answer") };
                let recorded = answer.usage.as_mut().expect("a request with usage");
                recorded.usage = redistributed(recorded.usage, 30 + round as u64 % 70);
                changed.sessions = sessions.into_iter().collect();
                touched.push(at);
            }
        }
        let got = replay(&changed, &Options::default());
        for at in touched {
            let (was, is) = (&expected.entries[at].comparison, &got.entries[at].comparison);
            let (Ok(was), Ok(is)) = (was, is) else { panic!("comparable before and after") };
            assert_eq!(was.predicted_usage, is.predicted_usage, "request {at}");
            checked += 1;
        }
    }
    println!("{checked} requests with another split, predictions unchanged");
    assert!(checked > 20, "{checked} checked");
}
