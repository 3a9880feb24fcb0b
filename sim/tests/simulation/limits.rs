//! Rate limits: a bucket against a slow twin, and the effect of refusals on a run.

use forkcast_sim::agent::Event;
use forkcast_sim::agent::settings::PartSizes;
use forkcast_sim::simulation::limits::{Bucket, RateLimits};
use forkcast_sim::simulation::{Finished, Setup, Sizing, run};
use forkcast_sim::time::{Duration, Instant};
use proptest::prelude::*;

use super::stage::{calls, finished, says, setup, types};
use serde_json::json;

const MINUTE: u128 = 60_000_000_000;

/// Keeps no level: it adds up the amounts taken since every earlier instant and compares that with the refill since then.
/// The bucket's contents are the minimum over these.
struct Twin {
    per_minute: u64,
    taken: Vec<(u64, u64)>,
}

impl Twin {
    /// The contents left, times the nanoseconds of a minute.
    fn left(&self, at: u64) -> i128 {
        let whole = i128::from(self.per_minute) * MINUTE.cast_signed();
        let since = |first: usize| {
            let (began, _) = self.taken[first];
            let taken: i128 =
                self.taken[first..].iter().map(|(_, amount)| i128::from(*amount) * MINUTE.cast_signed()).sum();
            whole + i128::from(at - began) * i128::from(self.per_minute) - taken
        };
        (0..self.taken.len()).map(since).fold(whole, i128::min)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_bucket_holds_as_much_as_its_slow_twin(
        per_minute in prop_oneof![1_u64..100, 1_u64..5_000_000],
        asked in prop::collection::vec((prop_oneof![Just(0_u64), 1_u64..90_000_000_000], 0_u64..130), 1..40),
    ) {
        let mut twin = Twin { per_minute, taken: Vec::new() };
        let mut bucket = Bucket::full(per_minute, Instant(0));
        let mut at = 0;
        for (wait, percent) in asked {
            at += wait;
            let amount = (u128::from(per_minute) * u128::from(percent) / 100) as u64;
            let (left, wanted) = (twin.left(at), i128::from(amount) * MINUTE.cast_signed());
            match bucket.holds(amount, Instant(at)) {
                Ok(()) => {
                    prop_assert!(wanted <= left);
                    bucket.take(amount, Instant(at));
                    twin.taken.push((at, amount));
                }
                Err(short) => {
                    prop_assert!(wanted > left);
                    prop_assert_eq!(short.enough_after.is_none(), amount > per_minute);
                    if let Some(Duration(after)) = short.enough_after {
                        prop_assert!(twin.left(at + after) >= wanted, "there is enough then");
                        prop_assert!(twin.left(at + after - 1) < wanted, "and not before");
                    }
                }
            }
        }
    }
}

/// A main agent that sends three requests: two reads, then a word.
fn three_requests(limits: RateLimits) -> Setup {
    let read = || calls("main", "Read", json!({ "file_path": "/repo/README.md" }));
    let mut setup = setup(vec![read(), read(), says("main", "Read.")], vec![types(0, "Read it twice")]);
    setup.rate_limits = limits;
    setup
}

fn began(finished: &Finished) -> Vec<u64> {
    finished.entries.iter().map(|entry| entry.line.at.unwrap().0 / 1_000_000).collect()
}

#[test]
fn a_request_over_the_limit_is_retried_at_the_given_time_and_gets_its_reply() {
    let limits = RateLimits { requests_per_minute: Some(2), ..RateLimits::default() };
    let (free, limited) = (finished(three_requests(RateLimits::default())), finished(three_requests(limits)));
    assert_eq!((limited.entries.len(), limited.over_limits, free.over_limits), (3, 1, 0));
    assert_eq!(began(&limited)[..2], began(&free)[..2]);
    // At two per minute one is refilled in 30 s, counted from the first request; the refusal itself takes 0.3 s, the
    // wait is whole seconds.
    let third = began(&limited)[2];
    assert!((30_000..31_300).contains(&third), "{third}");
    let waits = limited.log.iter().filter_map(|logged| match &logged.event {
        Event::Retry { wait_ms, .. } => Some(*wait_ms),
        _ => None,
    });
    assert!(waits.clone().count() == 1 && waits.clone().all(|wait_ms| wait_ms % 1_000 == 0), "whole seconds");
    let usage = |run: &Finished| run.entries.iter().map(|entry| entry.line.predicted.unwrap()).collect::<Vec<_>>();
    assert_eq!(usage(&limited), usage(&free), "a refused request reads and writes nothing");
}

#[test]
fn reads_do_not_count_and_a_request_larger_than_the_bucket_is_never_accepted() {
    let free = finished(three_requests(RateLimits::default()));
    let first = free.entries[0].line.predicted.unwrap();
    let fresh = |at: usize| {
        let usage = free.entries[at].line.predicted.unwrap();
        usage.input_tokens + usage.cache_creation_input_tokens()
    };
    let all = (0..3).map(fresh).sum::<u64>();
    assert!(all < 2 * first.total_input_tokens(), "later requests read most of what they send");
    let with = |tokens| RateLimits { input_tokens_per_minute: Some(tokens), ..RateLimits::default() };
    assert_eq!(finished(three_requests(with(all))).over_limits, 0);
    let never = finished(three_requests(with(fresh(0) - 1)));
    assert_eq!((never.entries.len(), never.over_limits), (0, 11), "clients.md 1: 11 tries");
}

#[test]
fn requests_before_the_limits_begin_do_not_count() {
    let second = Instant(free_second());
    let limits = RateLimits { requests_per_minute: Some(2), from: second, ..RateLimits::default() };
    assert_eq!(run(three_requests(limits)).unwrap().over_limits, 0);
}

fn free_second() -> u64 {
    finished(three_requests(RateLimits::default())).entries[1].line.at.unwrap().0
}

#[test]
fn reads_count_for_haiku_3_5() {
    let over = |model: &str, tokens| {
        let limits = RateLimits { input_tokens_per_minute: Some(tokens), ..RateLimits::default() };
        let mut setup = three_requests(limits);
        setup.settings.model = model.into();
        // Long enough for both caches.
        setup.sizing = Sizing::Declared;
        setup.settings.sizes = Some(PartSizes { system: Some(5_000), tools: Some(5_000), ..PartSizes::default() });
        finished(setup)
    };
    let of = |model: &str| {
        let free = over(model, u64::MAX);
        let sum =
            free.entries.iter().map(|entry| entry.line.predicted.unwrap()).fold((0, 0), |(fresh, read), usage| {
                (fresh + usage.input_tokens + usage.cache_creation_input_tokens(), read + usage.cache_read_input_tokens)
            });
        assert!(sum.1 > 0, "{model} reads");
        (over(model, sum.0).over_limits, over(model, sum.0 + sum.1).over_limits)
    };
    assert_eq!(of("claude-haiku-4-5"), (0, 0));
    let (fresh_alone, all) = of("claude-3-5-haiku");
    assert!(fresh_alone > 0 && all == 0);
}
