//! The bound against a twin that looks at every block by itself.

use std::collections::BTreeMap;

use forkcast_replay::what_if::BoundPings;
use forkcast_sim::cache::{PRESETS, Rules};
use forkcast_sim::pricing::Category;
use forkcast_sim::wire::Ttl;
use proptest::prelude::*;

use super::properties::sessions;
use super::stage::{Ask, Stage, bound, picousd, what_if};

/// Everything that might be done with a block at its uses, tried out.
struct Twin<'a> {
    uses: Vec<(u64, Option<[i128; 4]>)>,
    rules: &'a Rules,
    pings: bool,
    /// Seconds for which a block is in the cache once it was read, at least.
    after_read: u64,
    known: BTreeMap<(usize, u64), i128>,
}

impl Twin<'_> {
    /// The cost of a token from use `at` on; `alive` is the lifetime of its entry in seconds if there is one at that
    /// instant.
    fn cost(&mut self, at: usize, alive: u64) -> i128 {
        let Some((_, prices)) = self.uses.get(at).copied() else { return 0 };
        if let Some(known) = self.known.get(&(at, alive)) {
            return *known;
        }
        let [input, write_5m, write_1h, read] = prices.unwrap_or_default();
        let mut ways = vec![input + self.later(at, alive, read)];
        if alive > 0 {
            ways.push(read + self.later(at, alive.max(self.after_read), read));
        }
        ways.push(write_5m + self.later(at, 300, read));
        ways.push(write_1h + self.later(at, 3_600, read));
        let best = ways.into_iter().min().unwrap();
        self.known.insert((at, alive), best);
        best
    }

    fn later(&mut self, at: usize, lifetime: u64, read: i128) -> i128 {
        let Some((next, _)) = self.uses.get(at + 1).copied() else { return 0 };
        let gap = next - self.uses[at].0;
        let lost = self.cost(at + 1, 0);
        if lifetime == 0 {
            return lost;
        }
        let reach = lifetime + self.rules.slack.as_millis() / 1_000;
        let mut pings = 0;
        let mut covered = reach;
        while covered < gap {
            pings += 1;
            covered += reach;
        }
        let kept = self.cost(at + 1, lifetime) + pings * read;
        if pings == 0 {
            kept
        } else if self.pings {
            kept.min(lost)
        } else {
            lost
        }
    }
}

fn twin(rules: &Rules, pings: bool, after_read: u64, asks: &[Ask]) -> i128 {
    let mut stage = Stage::default();
    let mut uses: BTreeMap<usize, (u64, Vec<_>)> = BTreeMap::new();
    for ask in asks {
        let rates = stage.rates(ask).filter(|_| !ask.hidden);
        let categories = [Category::Input, Category::Write5m, Category::Write1h, Category::Read];
        let prices = rates.map(|rates| categories.map(|category| rates.per_token(category).numerator));
        let path = stage.path(ask);
        for (node, (_, tokens)) in path[1..].iter().zip(&ask.blocks) {
            uses.entry(node.index()).or_insert((*tokens, Vec::new())).1.push((ask.at_secs, prices));
        }
    }
    let cost = |(tokens, uses): (u64, Vec<_>)| {
        i128::from(tokens) * Twin { uses, rules, pings, after_read, known: BTreeMap::new() }.cost(0, 0)
    };
    uses.into_values().map(cost).sum()
}

/// Whether all breakpoints have one lifetime under this what-if. If not, a breakpoint below the end of the read makes an
/// entry for nothing, and so do a few tokens written for an hour after a prefix that was written for five minutes: such
/// an entry outlives the paid one. Providers do not say whether these live.
fn has_one_lifetime(spec: &str, asks: &[Ask]) -> bool {
    let asks_for = |ttl: Ttl| asks.iter().flat_map(|ask| &ask.markers).any(|(_, asked)| *asked == ttl);
    let is_own = !spec.contains("ttl=");
    !(spec.contains("head-1h") || is_own && asks_for(Ttl::FiveMinutes) && asks_for(Ttl::OneHour))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(400)))]

    #[test]
    fn the_bound_is_the_sum_over_all_blocks(asks in sessions(), preset in 0_usize..3) {
        let rules = &PRESETS[preset];
        for (pings, allowed) in [(BoundPings::None, false), (BoundPings::Allowed, true)] {
            let rows = bound(pings, rules, &asks);
            prop_assert_eq!(picousd(&rows), twin(rules, allowed, 0, &asks));
        }
    }

    #[test]
    fn shares_of_the_bound_are_whole_prompts(asks in sessions()) {
        let rows = bound(BoundPings::None, &Rules::default(), &asks);
        for (row, ask) in rows.iter().zip(asks.iter().filter(|ask| !ask.hidden)) {
            prop_assert_eq!(row.usage.total_input_tokens(), super::stage::total(ask));
        }
    }

    #[test]
    fn nothing_without_pings_is_cheaper_than_the_bound(asks in sessions(), preset in 0_usize..3) {
        let rules = &PRESETS[preset];
        let least = picousd(&bound(BoundPings::None, rules, &asks));
        let least_with_free_entries = twin(rules, false, 3_600, &asks);
        let lifetimes = ["ttl=5m", "ttl=1h", "ttl=head-1h", "ttl=best"];
        let breakpoints = ["none", "system", "shared", "tail", "both", "tail+previous", "before-results", "client-2026"];
        let mut specs: Vec<String> = vec![String::new(), "no-cache".to_owned()];
        specs.extend(lifetimes.map(str::to_owned));
        for placement in breakpoints {
            specs.push(format!("breakpoints={placement}"));
            specs.extend(lifetimes.map(|ttl| format!("{ttl},breakpoints={placement}")));
        }
        let specs: Vec<&str> = specs.iter().map(String::as_str).collect();
        let rows = what_if(&specs, rules, &asks);
        for (at, spec) in specs.iter().enumerate() {
            let cost = picousd(&rows.iter().map(|row| row[at]).collect::<Vec<_>>());
            let least = if has_one_lifetime(spec, &asks) { least } else { least_with_free_entries };
            prop_assert!(cost >= least, "{} costs {}, less than {}", spec, cost, least);
        }
    }

    #[test]
    fn no_pings_are_cheaper_than_the_bound_with_pings(asks in sessions(), count in 1_u32..5, seconds in 1_u32..20) {
        let seconds = seconds * 60;
        let spec = format!("keepalive={count}@{seconds}");
        let rows = what_if(&[&spec], &Rules::default(), &asks);
        let cost = picousd(&rows.iter().map(|row| row[0]).collect::<Vec<_>>());
        let least = picousd(&bound(BoundPings::Allowed, &Rules::default(), &asks));
        prop_assert!(cost >= least, "{} costs {}, less than {}", spec, cost, least);
    }
}
