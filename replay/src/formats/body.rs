//! Checks of every request body before it is used.

use std::cell::RefCell;

use serde_json::value::RawValue;

use super::json::{Broken, DEPTH_LIMIT, Scanner, skip_space, text, unescaped};
use super::text::{glimpse, json_reason};

/// Checks that `bytes` are one JSON object, nested no deeper than later readers can process, and returns its model
/// (empty if there is none; the last one if there are several, as in common JSON readers).
///
/// Lone surrogates (`"\ud83d"`) are accepted: they were sent, and only the code that decodes the string can decide what
/// they mean.
pub(crate) fn check(bytes: &[u8]) -> Result<String, Broken> {
    let start = skip_space(bytes, 0);
    if bytes.get(start) == Some(&b'{') {
        check_whole(bytes)?;
    }
    look(bytes)
}

fn check_whole(bytes: &[u8]) -> Result<(), Broken> {
    serde_json::from_slice::<&RawValue>(bytes).map(drop).map_err(|error| broken(bytes, &error))
}

/// Checks that an object that a scanner consumed is JSON. A body mostly repeats the one before: what it shares with the last
/// body that this thread checked, up to the end of a message, is not parsed again.
pub(crate) fn check_scanned(bytes: &[u8]) -> Result<(), Broken> {
    CHECKED.with_borrow_mut(|checked| {
        if !goes_on_as_json(checked, bytes) {
            check_whole(bytes)?;
        }
        checked.clear();
        if bytes.len() <= CHECKED_BYTES_MAX {
            checked.extend_from_slice(bytes);
        }
        Ok(())
    })
}

thread_local! {
    /// JSON.
    static CHECKED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Longer bodies are not kept.
const CHECKED_BYTES_MAX: usize = 4 << 20;

/// The beginning of a message. In valid JSON it is never within a string: its quote would end the string, and no letter can
/// follow.
const MESSAGE: &[u8] = b"{\"role";

/// What precedes a list in an object, with an element in place of all that are shared.
const OBJECT_WITH_LIST: &[u8] = b"{\"messages\":[0";

/// Whether `bytes`, which have as many brackets that close as brackets that open, are JSON, judged by what follows the messages
/// that they share with `checked`, which is JSON. `false` says nothing: the text may be broken, or what they share may end
/// elsewhere than in a list of the outermost object.
fn goes_on_as_json(checked: &[u8], bytes: &[u8]) -> bool {
    let shared = &bytes[..common_len(checked, bytes)];
    let Some(message) = memchr::memmem::rfind(shared, MESSAGE) else { return false };
    let before = shared[..message].trim_ascii_end().len();
    let Some(comma) = before.checked_sub(1).filter(|at| shared[*at] == b',') else { return false };
    // As many brackets close as were open, so if an object and a list close, nothing else was open.
    let rest = [OBJECT_WITH_LIST, &bytes[comma..]].concat();
    serde_json::from_slice::<&RawValue>(&rest).is_ok()
}

/// How many bytes the two have in common at their beginning.
fn common_len(one: &[u8], other: &[u8]) -> usize {
    const STEP: usize = 1 << 12;
    let steps = one.chunks(STEP).zip(other.chunks(STEP)).take_while(|(one, other)| one == other).count();
    let from = (steps * STEP).min(one.len()).min(other.len());
    from + one[from..].iter().zip(&other[from..]).take_while(|(one, other)| one == other).count()
}

/// Checks that no member of the object at `start` is nested too deep; `depth` is that of the first deep one, or of any.
pub(crate) fn check_depth(start: usize, depth: usize) -> Result<(), Broken> {
    if depth < DEPTH_LIMIT {
        return Ok(());
    }
    let what = format!("found a body nested {} deep, expected at most {DEPTH_LIMIT}", depth + 1);
    Err(Broken { at: start, what })
}

/// [`check`] for bytes that are known to be JSON.
pub(crate) fn look(bytes: &[u8]) -> Result<String, Broken> {
    let start = skip_space(bytes, 0);
    if bytes.get(start) != Some(&b'{') {
        let found = glimpse(&bytes[start..]);
        return Err(Broken { at: start, what: format!("found {found}, expected a request body (a JSON object)") });
    }
    let mut model = String::new();
    let mut scanner = Scanner::at(bytes, start);
    let broken = |error| Broken::of(bytes, error);
    scanner.enter(b'{').map_err(broken)?;
    while let Some(key) = scanner.key().map_err(broken)? {
        let value = scanner.value().map_err(broken)?;
        check_depth(start, scanner.depth())?;
        if unescaped(key) == "model" {
            model = text(value).unwrap_or_default().into_owned();
        }
    }
    Ok(model)
}

/// serde_json returns line and column; everything here uses offsets.
fn broken(bytes: &[u8], error: &serde_json::Error) -> Broken {
    let lines = memchr::memchr_iter(b'\n', bytes).map(|newline| newline + 1);
    let start = std::iter::once(0).chain(lines).nth(error.line().saturating_sub(1)).unwrap_or(0);
    let at = start.saturating_add(error.column().saturating_sub(1)).min(bytes.len());
    Broken { at, what: json_reason(error) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngSeed, TestRunner};
    use serde_json::value::RawValue;

    use super::super::json::Scanner;
    use super::{check_scanned, goes_on_as_json};

    /// Parts of bodies, whole and broken. The first ones are bodies that share messages if one follows the other.
    const PARTS: [&str; 16] = [
        r#"{"model":"m","messages":["#,
        r#"{"role":"user","content":"Hi"}"#,
        r#"{"role":"user","content":[{"role":"x"},{"role":"y"}]}"#,
        r#"{"role":"a \"},{\"role","content":"},{"}"#,
        ",",
        ", ",
        "]}",
        "]",
        "}",
        "[",
        "{\"role",
        "\"",
        "\\",
        "\u{e9}",
        "0",
        "],\"x\":[",
    ];

    #[test]
    fn a_body_that_repeats_the_last_one_is_judged_as_a_whole_text_is() {
        let seed = RngSeed::Fixed(20_261_130);
        let mut runner =
            TestRunner::new(Config { cases: 20_000, rng_seed: seed, failure_persistence: None, ..Config::default() });
        let parts = || proptest::collection::vec(0..PARTS.len(), 0..5);
        let text = |parts: &[usize]| parts.iter().map(|part| PARTS[*part]).collect::<String>();
        let is_scanned = |text: &str| Scanner::new(text.as_bytes()).value() == Ok(text.as_bytes());
        let judged = runner.run(&(parts(), parts(), parts()), |(shared, first, second)| {
            // A whole body, then one that shares its beginning.
            let start = format!("{}{}", PARTS[0], text(&shared));
            for one in [format!("{start}{}", text(&first)), format!("{start}{}]}}", PARTS[1])] {
                let _ = check_scanned(one.as_bytes());
                for other in [format!("{start}{}", text(&second)), format!("{start}{},{}]}}", PARTS[1], text(&second))]
                {
                    if !is_scanned(&other) {
                        continue;
                    }
                    let is_json = serde_json::from_slice::<&RawValue>(other.as_bytes()).is_ok();
                    prop_assert_eq!(check_scanned(other.as_bytes()).is_ok(), is_json, "{} after {}", other, one);
                }
            }
            Ok(())
        });
        assert_eq!(Ok(()), judged);
    }

    #[test]
    fn what_follows_the_shared_messages_decides() {
        let [hi, nested] = [PARTS[1], PARTS[2]];
        let body = |messages: &str| format!(r#"{{"messages":[{messages}]}}"#);
        let checked = body(&format!("{hi}, {hi},{hi}"));
        let goes_on = |messages: &str| goes_on_as_json(checked.as_bytes(), body(messages).as_bytes());
        assert!(goes_on(&format!("{hi}, {hi},{nested},{hi}")), "another message in place of the last");
        assert!(!goes_on(&format!("{hi}, {hi},{{\"role\":}}")), "a broken message");
        let inner = body(nested);
        assert!(!goes_on_as_json(inner.as_bytes(), inner.as_bytes()), "what they share ends within a message");
    }
}
