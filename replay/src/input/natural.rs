//! The natural order of names: 2 before 10.

use std::cmp::Ordering;

/// Compares two paths part by part, and runs of digits as numbers.
pub(super) fn compare(one: &str, other: &str) -> Ordering {
    let parts = |path: &'_ str| path.split(['/', '\\']).map(str::to_owned).collect::<Vec<_>>();
    let (ones, others) = (parts(one), parts(other));
    let different = ones.iter().zip(&others).map(|(one, other)| part(one, other)).find(|order| order.is_ne());
    // Equal numbers may have two spellings.
    different.unwrap_or_else(|| ones.len().cmp(&others.len())).then_with(|| one.cmp(other))
}

fn part(mut one: &str, mut other: &str) -> Ordering {
    while !one.is_empty() && !other.is_empty() {
        let (a, b) = (run(one), run(other));
        let (first, second) = (&one[..a], &other[..b]);
        let digits = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        let order = if digits(first) && digits(second) { number(first, second) } else { first.cmp(second) };
        if order.is_ne() {
            return order;
        }
        (one, other) = (&one[a..], &other[b..]);
    }
    one.len().cmp(&other.len())
}

/// The number of leading bytes of `text` that are digits if its first character is one, else that are none.
fn run(text: &str) -> usize {
    let first = text.starts_with(|c: char| c.is_ascii_digit());
    text.find(|c: char| c.is_ascii_digit() != first).unwrap_or(text.len())
}

/// Numbers of any length.
fn number(one: &str, other: &str) -> Ordering {
    let (one, other) = (one.trim_start_matches('0'), other.trim_start_matches('0'));
    one.len().cmp(&other.len()).then_with(|| one.cmp(other))
}

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn numbers_count_as_numbers() {
        let mut names = ["r10.json", "r2.json", "r1.json", "R3.json", "r02.json", "r2/1.json", "r", "é9", "é10", ""];
        names.sort_by(|one, other| compare(one, other));
        assert_eq!(names, ["", "R3.json", "r", "r1.json", "r2/1.json", "r02.json", "r2.json", "r10.json", "é9", "é10"]);
        let long = ["9".repeat(40), "1".repeat(41)];
        assert!(compare(&long[0], &long[1]).is_lt());
    }
}
