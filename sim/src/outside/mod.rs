//! Text from outside. It is shown so that it moves no cursor, starts no command and makes no link; quoted so that it
//! cannot break out of its quotation; and reported in errors without its content.
//!
//! Prompts, answers and names belong to other people. An error gives the kind of the value, its place and its length.
//! Only a [word] is repeated, and only from files that a person writes: rules, price books, locks, scenarios.

pub mod complaint;
mod inert;
mod visible;
mod words;

pub use inert::{inert_line, inert_message};
pub use visible::{is_hidden, quoted, quoted_part, toml_string, visible};
pub(crate) use words::words;

/// Length in characters of the longest word that an error repeats.
const WORD_MAX: usize = 40;

/// The text if it is one short word: letters, digits and the punctuation of names, numbers and paths.
pub fn word(text: &str) -> Option<&str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-.:/+,=@%[]".contains(c);
    (!text.is_empty() && text.len() <= WORD_MAX && text.chars().all(fits)).then_some(text)
}

/// The text for an error: a [word] in backticks, otherwise its length.
pub fn found(text: &str) -> String {
    match word(text) {
        Some(word) => format!("`{word}`"),
        None => text_of(text.chars().count()),
    }
}

/// A text described only by its length.
fn text_of(characters: usize) -> String {
    let s = if characters == 1 { "" } else { "s" };
    format!("a text of {characters} character{s}")
}

/// A JSON value for an error: a number or a [word] itself, otherwise its kind and length.
pub fn found_value(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) if word(text).is_some() => value.to_string(),
        serde_json::Value::String(text) => found(text),
        serde_json::Value::Array(items) => format!("a list of {}", items.len()),
        serde_json::Value::Object(fields) => format!("an object of {} fields", fields.len()),
        plain => plain.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::found;

    #[test]
    fn only_a_word_is_repeated() {
        assert_eq!(found("01:00-04:00"), "`01:00-04:00`");
        assert_eq!(found("a secret"), "a text of 8 characters");
        assert_eq!(found(""), "a text of 0 characters");
        assert_eq!(found(&"x".repeat(41)), "a text of 41 characters");
    }
}
