//! Problems of a scenario, for readers who did not write it.

use std::fmt;
use std::rc::Rc;

use super::tree::Place;

/// One problem: its place, the value found, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub file: Rc<str>,
    /// The place.
    pub place: Place,
    /// The field, such as `script.main[2].tools[0]`; empty for the whole file.
    pub path: String,
    /// The value found, shortened if long; `None` for a missing value.
    pub found: Option<String>,
    /// The expectation, and the remedy.
    pub says: String,
}

/// All problems of a scenario, ordered by place. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.line {
            // What the command line says has a name; what every scenario is held to has none.
            0 if self.path.is_empty() => write!(f, "{}: ", self.file)?,
            0 => write!(f, "{} (from the command line): ", self.file)?,
            line => write!(f, "{}:{line}:{}: ", self.file, self.place.column)?,
        }
        if !self.path.is_empty() {
            write!(f, "`{}`: ", self.path)?;
        }
        if let Some(found) = &self.found {
            write!(f, "found {found}; ")?;
        }
        f.write_str(&self.says)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.0.iter().enumerate() {
            if at > 0 {
                writeln!(f)?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

/// Such as `a, b or c`.
pub fn alternatives<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        None => "nothing".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    }
}

/// The word that was probably meant: the nearest one by edit distance, if it is close.
pub fn nearest<'a>(found: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = |word: &&str| distance(found, word) <= (word.chars().count() / 3).max(1);
    words.into_iter().filter(near).min_by_key(|word| distance(found, word))
}

/// Edit distance, including swaps of neighbours (optimal string alignment), ignoring case.
fn distance(one: &str, other: &str) -> usize {
    let [one, other] = [one, other].map(|word| word.to_lowercase().chars().collect::<Vec<char>>());
    let mut rows: Vec<Vec<usize>> = vec![(0..=other.len()).collect()];
    for row in 1..=one.len() {
        let mut next = vec![row];
        for column in 1..=other.len() {
            let same = one[row - 1] == other[column - 1];
            let changed = rows[row - 1][column - 1] + usize::from(!same);
            let mut least = changed.min(rows[row - 1][column] + 1).min(next[column - 1] + 1);
            let swapped =
                row > 1 && column > 1 && one[row - 1] == other[column - 2] && one[row - 2] == other[column - 1];
            if swapped {
                least = least.min(rows[row - 2][column - 2] + 1);
            }
            next.push(least);
        }
        rows.push(next);
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::{alternatives, nearest};

    #[test]
    fn a_near_word_is_suggested() {
        assert_eq!(nearest("max_turn", ["max_tokens", "max_turns"]), Some("max_turns"));
        assert_eq!(nearest("Covers", ["covers"]), Some("covers"));
        assert_eq!(nearest("abuot", ["seed", "about"]), Some("about"));
        assert_eq!(nearest("zebra", ["cwd", "model"]), None);
        assert_eq!(alternatives(["a", "b", "c"]), "`a`, `b` or `c`");
    }
}
