//! Measures of a prediction in which errors cannot cancel out.

use std::ops::AddAssign;

use super::agreement::Compared;
use crate::outside::words;
use crate::wire::Usage;

words! {
    /// What a request of a session follows.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Step: word {
        /// Results of tools that the main agent had called.
        ToolLoop = "tool_loop",
        /// An answer of the main agent that called no tool, or an interruption.
        TurnEnd = "turn_end",
        /// Any request of a sub-agent.
        Agent = "agent",
    }
}

/// One way of predicting some requests, compared with what was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fidelity {
    /// Requests compared.
    pub requests: u64,
    /// Those whose verdict is predicted.
    pub same_verdict: u64,
    /// Those that read exactly what the request before had read, although it wrote more.
    pub late: u64,
    /// Those of them whose verdict is predicted.
    pub late_same_verdict: u64,
    /// Recorded tokens.
    pub recorded: Usage,
    /// Predicted tokens.
    pub predicted: Usage,
    /// Recorded cost of the input, in hundredths of a token of plain input.
    pub recorded_cost: i128,
    /// Predicted cost of the input.
    pub predicted_cost: i128,
    /// Sum of the absolute errors of the requests' costs.
    pub absolute_error: i128,
    /// Predicted misses of over 3,000 tokens.
    pub foreseen: u64,
    /// Recorded ones.
    pub came: u64,
    /// Requests with both.
    pub foreseen_and_came: u64,
}

impl Fidelity {
    /// Adds a request for which `predicted` was predicted.
    pub fn add(&mut self, compared: &Compared, predicted: &Usage) {
        let (came, foreseen) = (compared.missed(), compared.falls_short(predicted));
        let [recorded_cost, predicted_cost] = [&compared.recorded_usage, predicted].map(input_cost);
        self.requests += 1;
        let same_verdict = compared.recorded == compared.verdict_on(predicted);
        self.same_verdict += u64::from(same_verdict);
        self.late += u64::from(compared.late);
        self.late_same_verdict += u64::from(compared.late && same_verdict);
        self.recorded += compared.recorded_usage;
        self.predicted += *predicted;
        self.recorded_cost += recorded_cost;
        self.predicted_cost += predicted_cost;
        self.absolute_error += (recorded_cost - predicted_cost).abs();
        self.foreseen += u64::from(foreseen);
        self.came += u64::from(came);
        self.foreseen_and_came += u64::from(foreseen && came);
    }

    /// The part of the verdicts that are predicted.
    pub fn verdict(&self) -> Option<f64> {
        part(self.same_verdict, self.requests)
    }

    /// The same without late requests.
    pub fn verdict_when_ready(&self) -> Option<f64> {
        part(self.same_verdict - self.late_same_verdict, self.requests - self.late)
    }

    /// Predicted less recorded hit rate, in points.
    pub fn hit_rate_points(&self) -> Option<f64> {
        Some(100.0 * (self.predicted.hit_rate()? - self.recorded.hit_rate()?))
    }

    /// Predicted ÷ recorded cost − 1.
    pub fn cost_error(&self) -> Option<f64> {
        (self.recorded_cost != 0).then(|| self.predicted_cost as f64 / self.recorded_cost as f64 - 1.0)
    }

    /// Sum of the absolute errors ÷ recorded cost.
    pub fn absolute(&self) -> Option<f64> {
        (self.recorded_cost != 0).then(|| self.absolute_error as f64 / self.recorded_cost as f64)
    }

    /// The part of foreseen misses that came.
    pub fn precision(&self) -> Option<f64> {
        part(self.foreseen_and_came, self.foreseen)
    }

    /// The part of misses that were foreseen.
    pub fn recall(&self) -> Option<f64> {
        part(self.foreseen_and_came, self.came)
    }
}

impl AddAssign for Fidelity {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.same_verdict += other.same_verdict;
        self.late += other.late;
        self.late_same_verdict += other.late_same_verdict;
        self.recorded += other.recorded;
        self.predicted += other.predicted;
        self.recorded_cost += other.recorded_cost;
        self.predicted_cost += other.predicted_cost;
        self.absolute_error += other.absolute_error;
        self.foreseen += other.foreseen;
        self.came += other.came;
        self.foreseen_and_came += other.foreseen_and_came;
    }
}

fn part(count: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| count as f64 / of as f64)
}

/// Cost of the input in hundredths of a token of plain input: the same for all Claude models up to Opus 5
/// (`observed.md` 4).
pub fn input_cost(usage: &Usage) -> i128 {
    let parts = [
        (10, usage.cache_read_input_tokens),
        (100, usage.input_tokens),
        (125, usage.ephemeral_5m_input_tokens),
        (200, usage.ephemeral_1h_input_tokens),
    ];
    parts.into_iter().map(|(weight, tokens)| weight * i128::from(tokens)).sum()
}
