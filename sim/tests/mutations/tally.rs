//! Counts findings, and prints them as a table.

use std::collections::BTreeMap;
use std::fmt;

use super::kinds::{KINDS, Kind};

/// The results for one kind of change.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    pub planted: u64,
    pub found: u64,
    pub path: u64,
    pub offset: u64,
    pub offset_of: u64,
    pub cause: u64,
    pub volatile: u64,
    pub volatile_of: u64,
    /// Findings that were not planted.
    pub more: u64,
}

impl Count {
    fn add(&mut self, other: &Self) {
        self.planted += other.planted;
        self.found += other.found;
        self.path += other.path;
        self.offset += other.offset;
        self.offset_of += other.offset_of;
        self.cause += other.cause;
        self.volatile += other.volatile;
        self.volatile_of += other.volatile_of;
        self.more += other.more;
    }
}

/// All counts, by kind.
#[derive(Debug, Default)]
pub struct Tally {
    pub counts: BTreeMap<&'static str, Count>,
    /// The first errors.
    pub wrong: Vec<String>,
}

impl Tally {
    pub fn sum(&self) -> Count {
        let mut sum = Count::default();
        self.counts.values().for_each(|count| sum.add(count));
        sum
    }

    /// Per mille of the planted changes with the correct cause.
    pub fn cause_per_mille(count: &Count) -> u64 {
        count.cause * 1000 / count.planted.max(1)
    }
}

fn row(f: &mut fmt::Formatter<'_>, word: &str, count: &Count) -> fmt::Result {
    let share = |part: u64, whole: u64| match whole {
        0 => "      ".to_owned(),
        _ => format!("{:>5.1}%", part as f64 * 100.0 / whole as f64),
    };
    writeln!(
        f,
        "{word:<24}{:>8} {} {} {} {} {} {:>6}  {}",
        count.planted,
        share(count.found, count.planted),
        share(count.path, count.planted),
        share(count.offset, count.offset_of),
        share(count.cause, count.planted),
        share(count.volatile, count.volatile_of),
        count.more,
        KINDS.iter().find(|kind| kind.word == word).map(Kind::expectation).unwrap_or_default()
    )
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<24}{:>8}  found  block offset  cause varies   more  expected", "planted", "times")?;
        for (word, count) in &self.counts {
            row(f, word, count)?;
        }
        row(f, "all", &self.sum())
    }
}
