//! Limits of the sums, so that a replay can fail a pipeline.

use forkcast_sim::diagnosis::Cause;
use forkcast_sim::outside::quoted;
use forkcast_sim::pricing::Money;

use super::{Counted, Report, unpriced};

/// The allowed values of the sums; `None` without a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Highest bill.
    pub cost_max: Option<Money>,
    /// Lowest hit rate.
    pub hit_rate_min: Option<Share>,
    /// Most tokens missed without a cause.
    pub unexplained_tokens_max: Option<u64>,
}

/// A share in billionths, so that a limit is compared without rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(u32);

const BILLION: u32 = 1_000_000_000;

impl Share {
    /// The share as a number from 0 to 1.
    pub fn part(self) -> f64 {
        f64::from(self.0) / f64::from(BILLION)
    }

    /// Whether `part` of `whole` is at least this share.
    const fn is_reached(self, part: u64, whole: u64) -> bool {
        part as u128 * BILLION as u128 >= self.0 as u128 * whole as u128
    }
}

impl std::str::FromStr for Share {
    type Err = &'static str;

    /// `0.8` or `80%`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "expected a share from 0 to 1 such as 0.8, or a percentage such as 80%";
        let (digits, whole) = match text.strip_suffix('%') {
            Some(digits) => (digits.trim_end(), 100.0),
            None => (text, 1.0),
        };
        let is_plain = digits.starts_with(|first: char| first.is_ascii_digit() || first == '.');
        let number: f64 = digits.parse().map_err(|_| EXPECTED)?;
        let part = number / whole;
        if !is_plain || !(0.0..=1.0).contains(&part) {
            return Err(EXPECTED);
        }
        // In range: at most a billion.
        Ok(Self((part * f64::from(BILLION)).round() as u32))
    }
}

/// The value of a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// Money.
    Cost(Money),
    /// Read tokens over all input.
    HitRate(f64),
    /// Tokens.
    Tokens(u64),
}

/// A limit and the measured value.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// The option that set it, without its dashes.
    pub name: &'static str,
    /// The allowed value.
    pub limit: Measure,
    /// The measured value; `None` if nothing could be measured.
    pub found: Option<Measure>,
    /// Whether the limit was certainly kept.
    pub passed: bool,
    /// Why it is unknown whether the limit was kept: such a limit counts as failed.
    pub undecided: Option<String>,
}

/// Every limit that was set, in the order of [`Limits`].
pub fn gates(report: &Report<'_>) -> Vec<Gate> {
    let limits = report.view.limits;
    let cost = limits.cost_max.map(|limit| cost(report, limit));
    let hit_rate = limits.hit_rate_min.map(|limit| hit_rate(report, limit));
    let unexplained = limits.unexplained_tokens_max.map(|limit| unexplained(report, limit));
    [cost, hit_rate, unexplained].into_iter().flatten().collect()
}

fn cost(report: &Report<'_>, limit: Money) -> Gate {
    let found = report.totals.billed.cost;
    let exceeded = found.is_some_and(|found| found > limit);
    // Missing amounts can only make the bill larger.
    let undecided = if exceeded { None } else { cannot_tell(report).or_else(|| not_billed(report)) };
    Gate {
        name: "max-cost",
        limit: Measure::Cost(limit),
        found: found.map(Measure::Cost),
        passed: !exceeded && undecided.is_none(),
        undecided,
    }
}

fn hit_rate(report: &Report<'_>, limit: Share) -> Gate {
    let usage = report.totals.billed.usage;
    let (read, input) = (usage.cache_read_input_tokens, usage.total_input_tokens());
    let nothing = || (input == 0).then(|| "there are no input tokens".to_owned());
    let undecided = cannot_tell(report).or_else(nothing);
    Gate {
        name: "min-hit-rate",
        limit: Measure::HitRate(limit.part()),
        found: usage.hit_rate().map(Measure::HitRate),
        passed: undecided.is_none() && limit.is_reached(read, input),
        undecided,
    }
}

fn unexplained(report: &Report<'_>, limit: u64) -> Gate {
    let found = report.totals.ledger.causes.get(&Cause::Unexplained).map_or(0, |total| total.tokens);
    let nothing =
        || (!report.tally.explained && report.tally.requests > 0).then(|| "no request has a cache profile".to_owned());
    let undecided = if found > limit { None } else { cannot_tell(report).or_else(nothing) };
    Gate {
        name: "max-unexplained",
        limit: Measure::Tokens(limit),
        found: Some(Measure::Tokens(found)),
        passed: undecided.is_none() && found <= limit,
        undecided,
    }
}

/// Reasons that hold for every limit.
fn cannot_tell(report: &Report<'_>) -> Option<String> {
    if report.is_partial() {
        return Some("the replay was interrupted".to_owned());
    }
    let predicted = report.counted == Counted::Predicted && report.tally.requests > 0;
    predicted.then(|| "no usage was recorded".to_owned())
}

/// Most models listed in a reason.
const MODELS_NAMED: usize = 3;

/// Usage without a price, or requests with unknown usage.
fn not_billed(report: &Report<'_>) -> Option<String> {
    let unpriced: Vec<String> =
        unpriced(report).into_iter().filter(|model| model.tokens > 0).map(|model| quoted(&model.model)).collect();
    if !unpriced.is_empty() {
        let more = unpriced.len().saturating_sub(MODELS_NAMED);
        let named = unpriced[..unpriced.len() - more].join(", ");
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        return Some(format!("no price for {named}{more}"));
    }
    match report.tally.unmetered {
        0 => None,
        1 => Some("1 request has no recorded usage".to_owned()),
        more => Some(format!("{more} requests have no recorded usage")),
    }
}

#[cfg(test)]
mod tests {
    use super::Share;

    #[test]
    fn shares_are_parts_or_percentages() {
        let share = |text: &str| text.parse::<Share>().ok().map(Share::part);
        assert_eq!(share("0.8"), Some(0.8));
        assert_eq!(share("80%"), Some(0.8));
        assert_eq!(share("99.95 %"), Some(0.9995));
        assert_eq!((share("0"), share("1"), share("100%"), share(".5")), (Some(0.0), Some(1.0), Some(1.0), Some(0.5)));
        for text in ["80", "1.01", "-0.1", "101%", "", "%", "nan", "inf", "+1", "0,8"] {
            assert_eq!(share(text), None, "{text}");
        }
    }

    #[test]
    fn a_limit_is_compared_without_rounding() {
        let third: Share = "0.333333333".parse().unwrap();
        assert!(third.is_reached(1, 3));
        assert!(!third.is_reached(333_333_332, 1_000_000_000));
        let all: Share = "1".parse().unwrap();
        assert!(all.is_reached(u64::MAX, u64::MAX) && !all.is_reached(u64::MAX - 1, u64::MAX));
    }
}
