//! What each rule is worth: requests whose verdict is right only with it, and only without it.

use std::collections::BTreeMap;
use std::path::Path;

use forkcast_replay::input::Inputs;
use forkcast_replay::rebuild::profile::{HABITS, Habit, RuleName, RuleSet};
use forkcast_replay::replay::{Options, Replay, replay};

use forkcast_sim::service::{Compared, input_cost};

use super::{Measure, SOURCES, Table, data, inputs};

/// Requests fixed and broken, and predictions that changed.
#[derive(Clone, Copy, Default)]
struct Worth {
    changed: u64,
    fixed: u64,
    broken: u64,
    /// By how much the absolute errors of cost are smaller with the rule.
    saved: i128,
}

impl Worth {
    /// More verdicts are right, or as many and the cost is nearer.
    fn is_good(self) -> bool {
        self.fixed > self.broken || self.fixed == self.broken && self.saved > 0
    }

    fn add(&mut self, other: Self) {
        self.changed += other.changed;
        self.fixed += other.fixed;
        self.broken += other.broken;
        self.saved += other.saved;
    }
}

fn error(compared: &Compared) -> i128 {
    (input_cost(&compared.predicted_usage) - input_cost(&compared.recorded_usage)).abs()
}

fn worth(with: &Replay, without: &Replay) -> Worth {
    let mut worth = Worth::default();
    for (with, without) in with.entries.iter().zip(&without.entries) {
        let (Ok(with), Ok(without)) = (&with.comparison, &without.comparison) else { continue };
        let right = |compared: &Compared| compared.recorded == compared.predicted;
        worth.changed += u64::from(with.predicted_usage != without.predicted_usage);
        worth.fixed += u64::from(right(with) && !right(without));
        worth.broken += u64::from(!right(with) && right(without));
        worth.saved += error(without) - error(with);
    }
    worth
}

fn without(inputs: &Inputs, habit: &Habit) -> Replay {
    replay(inputs, &Options { left_out: RuleSet::of(habit.rule), ..Options::default() })
}

/// A source, its requests as predicted with all rules, and what each rule is worth on it.
struct Source {
    name: &'static str,
    inputs: Inputs,
    worth: BTreeMap<RuleName, Worth>,
}

impl Source {
    fn read(name: &'static str, data: &Path) -> Self {
        let inputs = inputs(name, data);
        let whole = replay(&inputs, &Options::default());
        let judged = HABITS.iter().filter(|habit| habit.rule != RuleName::Full);
        let worth = judged.map(|habit| (habit.rule, worth(&whole, &without(&inputs, habit)))).collect();
        Self { name, inputs, worth }
    }
}

fn sum<'a>(sources: impl Iterator<Item = &'a Source>, rule: RuleName) -> Worth {
    let mut sum = Worth::default();
    sources.filter_map(|source| source.worth.get(&rule)).for_each(|worth| sum.add(*worth));
    sum
}

#[test]
fn each_rule_was_found_on_other_sources_than_those_where_it_counts() {
    let Some(data) = data() else { return };
    let sources = SOURCES.map(|name| Source::read(name, &data));
    println!("{:<22} {:>8} {:>6} {:>6}   {:>8} {:>6} {:>6}", "", "all", "fixed", "broken", "unseen", "fixed", "broken");
    for habit in HABITS.iter().filter(|habit| habit.rule != RuleName::Full) {
        let unseen = sources.iter().filter(|source| !habit.written_on.contains(&source.name));
        worth_row(habit, &sources, sum(unseen, habit.rule));
    }
    Table::heading();
    // A rule is known on a source if a document states it, or if it is good on the others.
    let mut all = Table::default();
    for (number, source) in sources.iter().enumerate() {
        let others = || sources.iter().filter(|other| other.name != source.name);
        let unknown = HABITS.iter().filter(|habit| {
            let elsewhere = sum(others(), habit.rule);
            !habit.documented && !elsewhere.is_good()
        });
        let left_out = unknown.fold(RuleSet::default(), |set, habit| set.with(habit.rule));
        let result = replay(&source.inputs, &Options { left_out, ..Options::default() });
        let mut own = Table::default();
        own.add(&result, &source.inputs, number);
        own.all[0].row(&format!("{}, left out", source.name));
        let [forecast, naive] = own.all.map(|measure| measure.sums.absolute().unwrap());
        assert!(forecast <= naive + 0.005, "{}: the rules are worse than none", source.name);
        all.add(&result, &source.inputs, number);
    }
    all.print("all, each left out");
    let [Measure { sums, .. }, _] = &all.all;
    assert!(sums.verdict_when_ready().unwrap() >= 0.993, "verdict");
    assert!(sums.absolute().unwrap() <= 0.045, "input cost");
    assert!(sums.precision().unwrap() >= 0.9, "foreseen misses that came");
    assert!(sums.recall().unwrap() >= 0.8, "misses that were foreseen");
    assert!(all.all[0].within(0.03) >= 0.78, "sessions within 3 %");
}

/// Prints what a rule is worth, by source, and holds that it fixes more than it breaks.
fn worth_row(habit: &Habit, sources: &[Source], unseen: Worth) {
    let all = sum(sources.iter(), habit.rule);
    let changed = sources.iter().filter_map(|source| {
        let own = source.worth.get(&habit.rule).filter(|own| own.changed > 0)?;
        Some(format!("{} +{} -{}", source.name, own.fixed, own.broken))
    });
    println!(
        "{:<22} {:>8} {:>6} {:>6}   {:>8} {:>6} {:>6}   {}",
        habit.rule.word(),
        all.changed,
        all.fixed,
        all.broken,
        unseen.changed,
        unseen.fixed,
        unseen.broken,
        changed.collect::<Vec<_>>().join(", "),
    );
    let breaks = unseen.broken > unseen.fixed;
    assert!(!breaks, "{}: breaks more than it fixes where it was not written", habit.rule.word());
}
