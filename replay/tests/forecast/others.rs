//! What a forecast is for sessions of other clients: the rules of the cache where there is a profile, else a plain rule that the
//! recordings are held against.

use std::collections::BTreeMap;

use forkcast_replay::replay::{Options, replay};
use forkcast_sim::service::{Entry, NotComparable};
use forkcast_sim::wire::Usage;

use super::{Table, data, inputs};

const FOLDERS: [&str; 6] = [
    "codex-agentv",
    "codex-entire-skills",
    "codex-cyspbot",
    "gemini-cli-entireio",
    "pi-mono-fixtures",
    "tracelab-examples",
];

/// Reads of the Codex backend are multiples of this (`providers-2026-11.md` C).
const STEP_TOKENS: u64 = 128;

/// Requests that follow another of their agent with the same model, held against: all of the prompt before is read, in whole
/// steps.
#[derive(Default)]
struct Plain {
    requests: u64,
    exact: u64,
    /// More was read than the prompt before had.
    more: u64,
    nothing: u64,
    recorded: u64,
    predicted: u64,
    errors: u64,
}

impl Plain {
    fn add(&mut self, before: &Usage, recorded: &Usage) {
        let whole = before.total_input_tokens() / STEP_TOKENS * STEP_TOKENS;
        let (read, predicted) = (recorded.cache_read_input_tokens, whole.min(recorded.total_input_tokens()));
        self.requests += 1;
        self.exact += u64::from(read.abs_diff(predicted) <= STEP_TOKENS);
        self.more += u64::from(read > predicted + STEP_TOKENS);
        self.nothing += u64::from(read == 0);
        self.recorded += read;
        self.predicted += predicted;
        self.errors += read.abs_diff(predicted);
    }
}

#[test]
fn other_clients_are_forecast_by_the_rules_of_the_cache_or_not_at_all() {
    let Some(data) = data() else { return };
    Table::heading();
    for folder in FOLDERS {
        let inputs = inputs(folder, &data);
        let result = replay(&inputs, &Options::default());
        let mut table = Table::default();
        table.add(&result, &inputs, 0);
        let (mut plain, mut before) = (Plain::default(), BTreeMap::new());
        let mut without_profile = 0;
        for Entry { line, comparison, .. } in &result.entries {
            without_profile += u64::from(*comparison == Err(NotComparable::NoProfile));
            let Some(recorded) = line.recorded else { continue };
            let chain = (line.session, line.chain.map(|chain| chain.0), line.model.clone());
            if let Some(before) = before.insert(chain, recorded) {
                plain.add(&before, &recorded);
            }
        }
        if table.all[0].sums.requests > 0 {
            table.print(folder);
            assert!(
                table.all[0].sums.verdict() >= table.all[1].sums.verdict(),
                "{folder}: the rules are worse than none"
            );
        }
        let part = |count: u64, of: u64| 100.0 * count as f64 / of as f64;
        println!(
            "{folder}: {} requests, {without_profile} without a profile; of {} that follow another {:.1} % read all of it, {:.1} % \
             more, {:.1} % nothing; predicted reads {:+.1} %, errors {:.1} %",
            result.entries.len(),
            plain.requests,
            part(plain.exact, plain.requests),
            part(plain.more, plain.requests),
            part(plain.nothing, plain.requests),
            part(plain.predicted, plain.recorded) - 100.0,
            part(plain.errors, plain.recorded),
        );
    }
}
