//! A request's own usage of reads and writes never enters its own prediction.

use forkcast_fixtures::beside;
use forkcast_replay::exchange::Exchange;
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::replay::{Options, replay};
use forkcast_sim::pricing::Money;
use forkcast_sim::service::Entry;
use forkcast_sim::wire::Usage;

fn inputs() -> Vec<Inputs> {
    let capture = beside("wire-cache-fix/harvested/pinned-s-4b6a435234bf-26-28.full.json.gz");
    let read = |capture| Inputs::read(&[capture], InputFormat::Auto).expect("the capture opens");
    [Inputs::sample()].into_iter().chain(capture.map(read)).collect()
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

fn exchange(inputs: &mut Inputs, wanted: usize) -> Option<&mut Exchange> {
    inputs.scopes.iter_mut().flat_map(|scope| &mut scope.files).flat_map(|file| &mut file.exchanges).nth(wanted)
}

#[test]
fn redistributing_read_and_write_leaves_the_requests_own_prediction() {
    for original in inputs() {
        let expected = replay(&original, &Options::default());
        for (at, entry) in expected.entries.iter().enumerate() {
            let Some(usage) = entry.line.recorded.filter(|_| entry.comparison.is_ok()) else { continue };
            for share_percent in [0, 30, 100] {
                let mut changed = original.clone();
                let wanted = position(&original, &entry.origin);
                let recorded = exchange(&mut changed, wanted).and_then(|exchange| exchange.usage.as_mut());
                recorded.expect("a request with usage").usage = redistributed(usage, share_percent);
                let got = replay(&changed, &Options::default());
                // Reading a prefix that was never sent makes a request incomparable; the state of the cache remains the
                // same.
                if got.entries[at].comparison.is_ok() {
                    let predicted = got.entries[at].line.predicted;
                    assert_eq!(predicted, entry.line.predicted, "request {at}, {share_percent} % written");
                }
            }
        }
    }
}

fn position(inputs: &Inputs, origin: &forkcast_replay::exchange::Origin) -> usize {
    let all = inputs.scopes.iter().flat_map(|scope| &scope.files).flat_map(|file| &file.exchanges);
    all.into_iter().position(|exchange| exchange.origin == *origin).expect("every line has its exchange")
}

#[test]
fn a_refused_request_costs_nothing_and_has_a_reason() {
    let block = |text: &str| format!(r#"{{"type":"text","text":"{text}","cache_control":{{"type":"ephemeral"}}}}"#);
    let blocks: Vec<String> = (0..5).map(|at| block(&format!("{at} {}", "word ".repeat(900)))).collect();
    let content = blocks.join(",");
    let body = format!(r#"{{"model":"claude-opus-4-8","messages":[{{"role":"user","content":[{content}]}}]}}"#);
    let inputs = Inputs::from_bytes("five.json", body.as_bytes(), InputFormat::Auto);
    let replayed = replay(&inputs, &Options::default());
    let [Entry { line, .. }] = replayed.entries.as_slice() else { panic!("one request") };
    assert_eq!(line.predicted, Some(Usage::default()));
    assert_eq!(line.charge.bill.as_ref().map(|bill| bill.total), Some(Money::default()));
    assert_eq!(line.remarks, ["HTTP 400: A maximum of 4 blocks with cache_control may be provided. Found 5."],);
}
