//! The events and their fields, from `events.txt`, which lists the runtime's events.

use std::sync::LazyLock;

/// All events by name, with their fields. A test compares them with the runtime (`tests/events.rs`).
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
