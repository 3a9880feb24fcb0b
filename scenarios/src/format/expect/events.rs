//! Which events there are and what they tell: the list that `events.txt` keeps of the runtime's own events.

use std::sync::LazyLock;

/// Every event by its word, with its fields. A test holds it to the runtime (`tests/events.rs`).
pub static EVENTS: LazyLock<Vec<(&'static str, Vec<&'static str>)>> = LazyLock::new(|| {
    let line = |line: &'static str| {
        let (word, fields) = line.split_once(':')?;
        Some((word, fields.split_whitespace().collect()))
    };
    include_str!("events.txt").lines().filter_map(line).collect()
});

/// The fields of an event.
pub fn fields_of(word: &str) -> Option<&'static [&'static str]> {
    EVENTS.iter().find(|(known, _)| *known == word).map(|(_, fields)| fields.as_slice())
}
