//! Parses lists and ranges of numbers: `5`, `1,2,8`, `1..10`, `0..100k:25k`, `1..1000:x10`.

use std::ops::RangeInclusive;

use forkcast_sim::pricing::parse_number;
use forkcast_sim::wire::TOKENS_MAX;

/// Why a list is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` {expected}")]
pub struct BadRange {
    /// The part that cannot be read.
    pub found: String,
    /// The expectation.
    pub expected: &'static str,
}

/// Maximum count of numbers in a list; more is probably a typing error.
const NUMBERS_MAX: usize = 10_000;

const FORMS: &str = "is not a number, list or range: expected as `5`, `1,2,8`, `1..10`, `0..100k:25k` (a step) or `1..1000:x10` (a factor)";
const TOO_MANY: &str = "has more than 10,000 numbers; take a larger step, or a factor as in `1..1000000:x10`";
const TOO_LARGE: &str = "is more than 10,000,000,000, the largest number allowed";
const BACKWARDS: &str = "ends before it begins";
const STANDS_STILL: &str = "has a step without effect; expected a step from 1 or a factor from x2";

/// Parses a list. Numbers may end in `k` (a thousand) or `m` (a million); ends of ranges are included.
///
/// # Errors
/// The part that cannot be read, and the expectation.
pub fn numbers(text: &str) -> Result<Vec<u64>, BadRange> {
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim) {
        match part.split_once("..") {
            None => all.push(number(part)?),
            Some((from, rest)) => {
                let (to, step) = rest.split_once(':').unwrap_or((rest, "1"));
                span(part, number(from)?..=number(to)?, step, &mut all)?;
            }
        }
        if all.len() > NUMBERS_MAX {
            return Err(bad(part, TOO_MANY));
        }
    }
    Ok(all)
}

fn span(part: &str, range: RangeInclusive<u64>, step: &str, all: &mut Vec<u64>) -> Result<(), BadRange> {
    if range.is_empty() {
        return Err(bad(part, BACKWARDS));
    }
    let next: Box<dyn Fn(u64) -> Option<u64>> = match step.strip_prefix('x') {
        Some(factor) => match number(factor)? {
            0 | 1 => return Err(bad(part, STANDS_STILL)),
            factor => Box::new(move |at: u64| at.max(1).checked_mul(factor)),
        },
        None => match number(step)? {
            0 => return Err(bad(part, STANDS_STILL)),
            step => Box::new(move |at: u64| at.checked_add(step)),
        },
    };
    let mut at = Some(*range.start());
    while let Some(number) = at.filter(|at| range.contains(at)) {
        if all.len() > NUMBERS_MAX {
            return Err(bad(part, TOO_MANY));
        }
        all.push(number);
        at = next(number);
    }
    Ok(())
}

fn number(text: &str) -> Result<u64, BadRange> {
    let text = text.trim();
    let number = parse_number(text).ok_or_else(|| bad(text, FORMS))?;
    if number <= TOKENS_MAX { Ok(number) } else { Err(bad(text, TOO_LARGE)) }
}

fn bad(found: &str, expected: &'static str) -> BadRange {
    BadRange { found: found.to_owned(), expected }
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn lists_ranges_steps_factors_and_thousands() {
        for (text, expected) in [
            ("5", &[5][..]),
            ("1, 2,8", &[1, 2, 8]),
            ("1..4", &[1, 2, 3, 4]),
            ("0..100k:50k", &[0, 50_000, 100_000]),
            ("1..1000:x10", &[1, 10, 100, 1_000]),
            ("0..4:x2", &[0, 2, 4]),
            ("1m", &[1_000_000]),
        ] {
            assert_eq!(numbers(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn unreadable_parts_are_reported_with_the_expected_form() {
        for text in [
            "",
            "five",
            "9..1",
            "1..9:0",
            "1..9:x1",
            "1..99999999",
            "18446744073709551615k",
            "10001m",
            "-1",
            "1..",
            "é",
        ] {
            assert!(numbers(text).is_err(), "{text}");
        }
    }
}
