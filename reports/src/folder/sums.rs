//! Sums over the ledger of a folder, as a report of its requests has them.

use forkcast_sim::wire::Usage;

use super::reading::{RecordedLine, RunFolder};
use crate::movement::Sums;

impl RunFolder {
    /// The sums: if some requests have recorded usage, the others enter none; else refused ones do not.
    pub fn sums(&self) -> Sums {
        let is_recorded = self.lines.iter().any(|line| line.recorded.is_some());
        let counts = |line: &&RecordedLine| if is_recorded { line.recorded.is_some() } else { !line.failed() };
        let counted: Vec<&RecordedLine> = self.lines.iter().filter(counts).collect();
        let mut sums = Sums { requests: counted.len() as u64, ..Sums::default() };
        counted.into_iter().for_each(|line| sums.add(line));
        sums.or_nothing()
    }
}

impl Sums {
    fn add(&mut self, line: &RecordedLine) {
        let usage = line.recorded.or(line.predicted).map(Usage::from);
        if let Some(usage) = usage {
            self.usage += usage;
        }
        let perfect = line.perfect_cost_usd.map(|cost| cost.0);
        for (sum, amount) in [(&mut self.cost, line.cost_usd.map(|cost| cost.0)), (&mut self.perfect, perfect)] {
            *sum = match (*sum, amount) {
                (Some(sum), Some(amount)) => Some(sum + amount),
                (sum, amount) => sum.or(amount),
            };
        }
        self.spending += line.spending();
        for part in &line.causes {
            let missed = self.causes.entry(part.cause.clone()).or_default();
            missed.tokens += part.tokens.0;
            if let Some(cost) = part.cost_usd {
                missed.cost += cost.0;
            }
        }
        let has_tokens = usage.is_some_and(|usage| usage.total_input_tokens() + usage.output_tokens > 0);
        self.unpriced += u64::from(line.cost_usd.is_none() && has_tokens);
    }
}
