//! What each rule is worth: requests whose verdict is right only with it, and only without it.

use std::collections::BTreeMap;

use forkcast_replay::input::Inputs;
use forkcast_replay::rebuild::profile::{HABITS, Habit, RuleSet};
use forkcast_replay::replay::{Options, Replay, replay};

use super::{Measure, SOURCES, data, inputs, measure};

/// Requests fixed and broken, and predictions that changed.
#[derive(Clone, Copy, Default)]
struct Worth {
    changed: u64,
    fixed: u64,
    broken: u64,
}

impl Worth {
    fn add(&mut self, other: Self) {
        self.changed += other.changed;
        self.fixed += other.fixed;
        self.broken += other.broken;
    }
}

fn worth(with: &Replay, without: &Replay) -> Worth {
    let mut worth = Worth::default();
    for (with, without) in with.entries.iter().zip(&without.entries) {
        let (Ok(with), Ok(without)) = (&with.comparison, &without.comparison) else { continue };
        let right = |compared: &forkcast_sim::service::Compared| compared.recorded == compared.predicted;
        worth.changed += u64::from(with.predicted_usage != without.predicted_usage);
        worth.fixed += u64::from(right(with) && !right(without));
        worth.broken += u64::from(!right(with) && right(without));
    }
    worth
}

fn without(inputs: &Inputs, habit: &Habit) -> Replay {
    replay(inputs, &Options { left_out: RuleSet::of(habit.rule), ..Options::default() })
}

#[test]
fn no_rule_breaks_more_than_it_fixes_on_sources_it_was_not_written_on() {
    let Some(data) = data() else { return };
    let read: BTreeMap<&str, (Inputs, Replay)> = SOURCES
        .iter()
        .map(|source| {
            let inputs = inputs(source, &data);
            let whole = replay(&inputs, &Options::default());
            (*source, (inputs, whole))
        })
        .collect();
    println!("{:<22} {:>8} {:>6} {:>6}   {:>8} {:>6} {:>6}", "", "all", "fixed", "broken", "unseen", "fixed", "broken");
    for habit in HABITS.iter().filter(|habit| habit.rule.word() != "full") {
        let (mut all, mut unseen) = (Worth::default(), Worth::default());
        let mut sources = Vec::new();
        for (source, (inputs, whole)) in &read {
            let own = worth(whole, &without(inputs, habit));
            all.add(own);
            if !habit.written_on.contains(source) {
                unseen.add(own);
            }
            if own.changed > 0 {
                sources.push(format!("{source} +{} -{}", own.fixed, own.broken));
            }
        }
        println!(
            "{:<22} {:>8} {:>6} {:>6}   {:>8} {:>6} {:>6}   {}",
            habit.rule.word(),
            all.changed,
            all.fixed,
            all.broken,
            unseen.changed,
            unseen.fixed,
            unseen.broken,
            sources.join(", "),
        );
        assert!(
            unseen.broken <= unseen.fixed,
            "{}: breaks more than it fixes on data that it was not written for",
            habit.rule.word()
        );
    }
}

/// Rules that were written on a source are left out there: what remains was found elsewhere.
#[test]
fn rules_found_elsewhere_hold_on_each_source() {
    let Some(data) = data() else { return };
    let mut all = Measure::default();
    for (number, source) in SOURCES.iter().enumerate() {
        let own = HABITS.iter().filter(|habit| habit.written_on == [*source]);
        let left_out = own.fold(RuleSet::default(), |set, habit| set.with(habit.rule));
        let mut result = replay(&inputs(source, &data), &Options { left_out, ..Options::default() });
        let mut held_out = Measure::default();
        measure(&result, &mut held_out);
        held_out.row(&format!("{source}, held out"));
        if number > 0 {
            result.entries.iter_mut().for_each(|entry| entry.line.session += number * 10_000);
            measure(&result, &mut all);
        }
    }
    all.row("all but the first, held out");
    assert!(all.verdict() >= 0.99, "verdict");
}
