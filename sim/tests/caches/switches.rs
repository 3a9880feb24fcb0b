//! The presets and their words.

use forkcast_sim::cache::{LifetimeClock, LookBack, MarkedCache, PRESETS, PositionCount, Refresh, Rules, VisibleFrom};
use forkcast_sim::time::Duration;
use forkcast_sim::wire::NormalForms;

#[test]
fn presets_are_found_by_name_and_the_newest_documents_are_the_default() {
    for rules in PRESETS {
        assert_eq!(Rules::preset(rules.name), Some(rules));
    }
    assert_eq!(Rules::preset("docs"), None);
    assert_eq!(Rules::default(), PRESETS[0]);
    assert_eq!(PRESETS.map(|rules| rules.name), ["docs-2026-09", "docs-2026-08", "observed-2026-08"]);
}

#[test]
fn each_preset_names_a_source_of_its_own() {
    let days = ["2026-09-22", "2026-08-21", "2026-01 to 2026-08"];
    for (rules, day) in PRESETS.into_iter().zip(days) {
        assert!(rules.source.contains(day), "{}: {}", rules.name, rules.source);
    }
}

#[test]
fn presets_differ_only_in_look_back_and_slack() {
    let look_backs =
        [(PositionCount::Runs, 20), (PositionCount::Blocks, 20), (PositionCount::BlocksWithoutThinking, 22)];
    for (rules, (count, reach)) in PRESETS.into_iter().zip(look_backs) {
        assert_eq!(rules.look_back, LookBack { count, reach }, "{}", rules.name);
        let slack = if rules.name == "observed-2026-08" { Duration::from_secs(15) } else { Duration(0) };
        assert_eq!(rules.slack, slack, "{}", rules.name);
        let Rules { name, source, look_back, slack, .. } = rules;
        assert_eq!(rules, Rules { name, source, look_back, slack, ..PRESETS[0] });
    }
}

#[test]
fn the_default_follows_the_documents() {
    let rules = Rules::default();
    assert!(rules.reads_any_ttl && !rules.read_lifts_ttl && rules.failed_write_stands);
    assert_eq!((rules.refresh, rules.visible_from), (Refresh::Chain, VisibleFrom::FirstByte));
    assert_eq!((rules.lifetime_clock, rules.loss_per_million), (LifetimeClock::RequestStart, 0));
    assert_eq!((rules.breakpoints_max, rules.forms), (4, NormalForms::default()));
}

#[test]
fn recordings_before_the_new_page_are_replayed_under_the_observed_rules() {
    // 2026-09-22 is 20,718 days after 1970-01-01.
    let days = [(Some(20_454), 2), (Some(20_717), 2), (Some(20_718), 0), (Some(20_719), 0), (None, 0)];
    for (day, preset) in days {
        assert_eq!(Rules::for_recording(day), PRESETS[preset], "{day:?}");
    }
}

#[test]
fn counts_have_words() {
    let words =
        [PositionCount::Blocks, PositionCount::Runs, PositionCount::BlocksWithoutThinking].map(PositionCount::name);
    assert_eq!(words, ["blocks", "runs", "blocks without thinking"]);
}

#[test]
fn a_cache_returns_its_rules() {
    assert_eq!(*MarkedCache::new(PRESETS[1], 0).rules(), PRESETS[1]);
}
