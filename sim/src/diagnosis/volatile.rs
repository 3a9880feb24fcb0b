//! Recognises what varies by itself in two texts that differ: dates, times, ids, paths, counters, switches.

use super::cause::Volatile;

/// Bytes looked at on each side of the first difference.
const WINDOW_BYTES: usize = 48;

/// What the two texts differ by at `offset`, where it is of a kind that varies by itself.
pub fn recognise(old: &[u8], new: &[u8], offset: usize) -> Option<Volatile> {
    let (old_word, new_word) = (word(old, offset), word(new, offset));
    let before =
        String::from_utf8_lossy(&new[offset.saturating_sub(WINDOW_BYTES).min(new.len())..offset.min(new.len())])
            .to_lowercase();
    let both = |test: fn(&str) -> bool| test(&old_word) && test(&new_word);
    if both(is_uuid) {
        return Some(Volatile::Uuid);
    }
    if both(holds_time) {
        return Some(Volatile::Time);
    }
    if both(is_date) || (both(is_date_word) && names_a_date(&before)) {
        return Some(Volatile::Date);
    }
    if both(is_git_id) && (before.contains("commit") || before.contains("git") || before.contains("head")) {
        return Some(Volatile::Git);
    }
    if both(is_path) {
        return Some(Volatile::Path);
    }
    if both(is_flag) {
        return Some(Volatile::Flag);
    }
    if both(is_number) {
        let pid = ["pid", "process"].iter().any(|name| before.contains(name));
        return Some(if pid { Volatile::Pid } else { Volatile::Counter });
    }
    ["branch", "git status", "working tree"].iter().any(|name| before.contains(name)).then_some(Volatile::Git)
}

/// The word around `offset`: everything up to a blank, a quote, a comma, a bracket or an escaped line break.
fn word(text: &[u8], offset: usize) -> String {
    let offset = offset.min(text.len());
    let start = (0..offset).rev().find(|at| ends_a_word(text, *at)).map_or(0, |at| at + 1);
    let end = (offset..text.len()).find(|at| ends_a_word(text, *at) || is_escape(text, *at)).unwrap_or(text.len());
    let word = String::from_utf8_lossy(text.get(start..end).unwrap_or_default()).into_owned();
    word.trim_end_matches(['.', ';', ':', '\\']).to_owned()
}

/// No word holds the byte at `at`.
fn ends_a_word(text: &[u8], at: usize) -> bool {
    let byte = text[at];
    byte.is_ascii_whitespace() || b"\"',()<>{}[]`".contains(&byte) || (at > 0 && is_escape(text, at - 1))
}

/// A line break or tab of JSON text begins at `at`: a backslash that no other one escapes, and a letter.
fn is_escape(text: &[u8], at: usize) -> bool {
    let backslashes = text[..=at].iter().rev().take_while(|byte| **byte == b'\\').count();
    backslashes % 2 == 1 && text.get(at + 1).is_some_and(|letter| b"nrt".contains(letter))
}

fn is_uuid(word: &str) -> bool {
    let word = word.rsplit(['=', ':', '/', '_']).next().unwrap_or(word);
    word.len() == 36
        && word.char_indices().all(|(at, c)| match at {
            8 | 13 | 18 | 23 => c == '-',
            _ => c.is_ascii_hexdigit(),
        })
}

/// `2026-11-21` or `2026/11/21`, alone or at the start of a longer word.
fn is_date(word: &str) -> bool {
    let head: Vec<char> = word.chars().take(10).collect();
    head.len() == 10
        && head.iter().enumerate().all(|(at, c)| match at {
            4 | 7 => matches!(c, '-' | '/'),
            _ => c.is_ascii_digit(),
        })
}

/// A month, a week day, a day of the month or a year, which is a date only in its company.
fn is_date_word(word: &str) -> bool {
    const NAMES: [&str; 19] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "mon", "tue", "wed", "thu",
        "fri", "sat", "sun",
    ];
    let lower = word.to_lowercase();
    let ordinal = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    NAMES.iter().any(|name| lower.starts_with(name)) || (is_number(ordinal) && ordinal.len() <= 4)
}

fn names_a_date(before: &str) -> bool {
    ["date", "today", "day"].iter().any(|name| before.contains(name))
}

/// `12:34` or `12:34:56`, also behind a date.
fn holds_time(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.windows(5).any(|window| window[2] == b':' && [0, 1, 3, 4].iter().all(|at| window[*at].is_ascii_digit()))
}

fn is_git_id(word: &str) -> bool {
    (7..=40).contains(&word.len())
        && word.chars().all(|c| c.is_ascii_hexdigit() && !c.is_ascii_uppercase())
        && word.chars().any(|c| c.is_ascii_digit())
}

fn is_path(word: &str) -> bool {
    let rooted = word.starts_with('/') || word.starts_with("~/") || word.starts_with("./") || word.contains(":\\");
    rooted && word.len() > 2
}

fn is_flag(word: &str) -> bool {
    let word = word.rsplit(['=', ':']).next().unwrap_or(word);
    matches!(word, "true" | "false" | "on" | "off" | "yes" | "no" | "enabled" | "disabled")
}

fn is_number(word: &str) -> bool {
    let word = word.rsplit(['=', ':', '#']).next().unwrap_or(word);
    !word.is_empty() && word.chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{Volatile, recognise};

    /// The two texts, what they differ by.
    const PAIRS: [(&str, &str, Option<Volatile>); 20] = [
        ("Today is 2026-11-20.", "Today is 2026-11-21.", Some(Volatile::Date)),
        ("Today's date: 2026/11/20", "Today's date: 2027/01/01", Some(Volatile::Date)),
        ("today is Friday the 20th", "today is Saturday the 21st", Some(Volatile::Date)),
        ("date: Nov 20", "date: Nov 21", Some(Volatile::Date)),
        ("at 2026-11-20T10:00:00Z", "at 2026-11-20T10:00:01Z", Some(Volatile::Time)),
        ("now 10:15", "now 10:16", Some(Volatile::Time)),
        ("id 123e4567-e89b-12d3-a456-426614174000", "id 123e4567-e89b-12d3-a456-426614174001", Some(Volatile::Uuid)),
        ("cwd /home/a/x", "cwd /home/b/x", Some(Volatile::Path)),
        ("HEAD at commit 0a1b2c3", "HEAD at commit 0a1b2c4", Some(Volatile::Git)),
        ("current branch main", "current branch next", Some(Volatile::Git)),
        ("verbose: true", "verbose: false", Some(Volatile::Flag)),
        ("pid 4711", "pid 4712", Some(Volatile::Pid)),
        ("turn 3 of many", "turn 4 of many", Some(Volatile::Counter)),
        (r"Today is 2026-11-20.\nBe kind.", r"Today is 2026-11-21.\nBe kind.", Some(Volatile::Date)),
        (r"It is late.\n2026-11-20 it is.", r"It is late.\n2026-11-21 it is.", Some(Volatile::Date)),
        (r"cwd C:\\news\ta", r"cwd C:\\nods\ta", Some(Volatile::Path)),
        (r"on\nthe", r"off\nthe", Some(Volatile::Flag)),
        ("Be kind.", "Be curt.", None),
        ("", "Be curt.", None),
        ("number 12", "number twelve", None),
    ];

    #[test]
    fn the_varying_thing_is_named() {
        for (old, new, expected) in PAIRS {
            let offset = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
            assert_eq!(recognise(old.as_bytes(), new.as_bytes(), offset), expected, "{old} -> {new}");
        }
    }
}
