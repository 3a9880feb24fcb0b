//! Recognises volatile content in two differing texts: dates, times, ids, paths, counters, switches.

mod calendar;
mod id;
mod label;

use self::calendar::{holds_time, is_date, is_day, is_epoch};
use self::id::{differ_in_ids, differ_in_suffix, is_git_id, is_hex_id, is_named_id, is_random};
use self::label::{Label, is_status_line, status_grows};
use super::cause::Volatile;
use super::ends::CommonEnds;

/// Bytes examined on each side of the first difference.
const WINDOW_BYTES: usize = 48;

/// Longest stretch, in bytes, that is compared entry by entry.
const ENTRIES_BYTES_MAX: usize = 1 << 16;

/// Longest path, in bytes; what is longer and has slashes is encoded content, such as an image.
const PATH_BYTES_MAX: usize = 512;

/// Units of time, written next to their number.
const UNITS_OF_TIME: [&str; 4] = ["ms", "s", "m", "h"];

/// The kind of volatile content in which the two texts differ at `offset`.
pub fn recognise(old: &[u8], new: &[u8], offset: usize) -> Option<Volatile> {
    if holds_the_same_entries(old, new, offset) {
        return Some(Volatile::MapOrder);
    }
    let of_words = of_words(&[Word::at(old, offset), Word::at(new, offset)]);
    of_words.or_else(|| status_grows(old, new).then_some(Volatile::Git))
}

/// The kind of volatile content in the parameters of the addresses in which two texts differ at `offset`.
pub fn in_address(old: &[u8], new: &[u8], offset: usize) -> Option<Volatile> {
    of_addresses(&[Word::at(old, offset), Word::at(new, offset)])
}

/// The kind of volatile content in any of the words in which two texts differ. A counter beside something else is only a
/// part of it.
pub fn recognise_anywhere(old: &[u8], new: &[u8]) -> Option<Volatile> {
    let words = |text: &[u8]| -> Vec<usize> {
        let begins = |at: &usize| !ends_a_word(text, *at) && (*at == 0 || ends_a_word(text, at - 1));
        (0..text.len().min(ENTRIES_BYTES_MAX)).filter(begins).collect()
    };
    let (in_old, in_new) = (words(old), words(new));
    if in_old.len() != in_new.len() {
        return None;
    }
    let both = in_old.into_iter().zip(in_new).map(|(at, now)| [Word::at(old, at), Word::at(new, now)]);
    let kinds = both.filter(|[old, new]| old.text != new.text).filter_map(|words| of_words(&words));
    kinds.reduce(|first, next| if first == Volatile::Counter { next } else { first })
}

/// The kind of volatile content in which two words differ.
fn of_words(words: &[Word; 2]) -> Option<Volatile> {
    let both = |test: fn(&str) -> bool| words.iter().all(|word| test(&word.text));
    let label = Label::before(&words[1]);
    let is_called = label == Some(Label::Id) && (both(is_hex_id) || both(is_random));
    if differ_in_ids(words) || differ_in_suffix(words) || both(is_named_id) || is_called {
        return Some(Volatile::Uuid);
    }
    if let Some(kind) = of_addresses(words) {
        return Some(kind);
    }
    let is_moment = |word: &Word| is_date(&word.text) && holds_time(word.next());
    if both(holds_time)
        || both(is_epoch)
        || both(is_span)
        || words.iter().all(Word::is_ago)
        || (words.iter().all(is_moment) && words[0].next() != words[1].next())
    {
        return Some(Volatile::Time);
    }
    if both(is_date) || words.iter().all(|word| is_day(&word.text, &word.before, &word.behind)) {
        return Some(Volatile::Date);
    }
    let differ = words[0].text != words[1].text;
    let is_state = match label {
        Some(Label::Status) => true,
        Some(Label::Branch) => differ,
        Some(Label::Commit) => both(is_git_id),
        _ => false,
    };
    let is_file = |word: &Word| is_path(&word.text) || word.text.contains('.');
    if is_state || words.iter().all(|word| is_file(word) && is_status_line(&word.before)) {
        return Some(Volatile::Git);
    }
    if both(is_path) {
        return Some(Volatile::Path);
    }
    if (differ && both(is_flag)) || (label == Some(Label::Switch) && both(is_bit)) {
        return Some(Volatile::Flag);
    }
    let is_address = |word: &Word| word.text.contains("://");
    let is_no_count = |word: &Word| is_address(word) || word.is_of_an_item;
    let counts = both(is_number) && !is_same_number(words) && !words.iter().any(is_no_count);
    counts.then_some(if label == Some(Label::Process) { Volatile::Pid } else { Volatile::Counter })
}

/// The kind of volatile content in the parameters of one address, such as the instant and the signature of a signed one.
fn of_addresses(words: &[Word; 2]) -> Option<Volatile> {
    let [(old, older), (new, newer)] = [words[0].text.split_once('?')?, words[1].text.split_once('?')?];
    if old != new || !old.contains("://") {
        return None;
    }
    let differ = || older.split('&').zip(newer.split('&')).filter(|(old, new)| old != new);
    let is_time = |part: &str| holds_time(part) || is_epoch(part) || is_date(part);
    // The last part of a token is its signature.
    let is_id = |part: &str| {
        let value = part.rsplit(['=', '.']).next().unwrap_or(part);
        [part, value].iter().any(|text| is_hex_id(text) || is_random(text))
    };
    match () {
        () if differ().any(|(old, new)| is_time(old) && is_time(new)) => Some(Volatile::Time),
        () if differ().any(|(old, new)| is_id(old) && is_id(new)) => Some(Volatile::Uuid),
        () => None,
    }
}

/// The word at a place and the text on both sides of it.
struct Word {
    text: String,
    before: String,
    behind: String,
    /// It numbers an item of a list: a number and a full stop at the beginning of a line.
    is_of_an_item: bool,
}

impl Word {
    /// Everything up to a blank, a quote, a comma, a bracket or an escaped line break.
    fn at(text: &[u8], offset: usize) -> Self {
        let offset = offset.min(text.len());
        let start = (0..offset).rev().find(|at| ends_a_word(text, *at)).map_or(0, |at| at + 1);
        let end = (offset..text.len()).find(|at| ends_a_word(text, *at) || is_escape(text, *at)).unwrap_or(text.len());
        let said =
            |from: usize, to: usize| String::from_utf8_lossy(text.get(from..to).unwrap_or_default()).into_owned();
        let before = unescaped(&said(start.saturating_sub(WINDOW_BYTES), start));
        let raw = said(start, end);
        Self {
            is_of_an_item: raw.ends_with('.') && before.trim_end_matches(' ').ends_with('\n'),
            text: raw.trim_end_matches(['.', ';', ':', '\\']).to_owned(),
            before,
            behind: unescaped(&said(end, (end + WINDOW_BYTES).min(text.len()))),
        }
    }

    /// The word after it.
    fn next(&self) -> &str {
        let behind = self.behind.trim_start_matches([' ', ',']);
        behind.split([' ', '"', ',', ';', '\\', '<', ')']).next().unwrap_or_default()
    }
}

impl Word {
    /// A number of minutes or the like that lie back: `4` of `4 min ago`.
    fn is_ago(&self) -> bool {
        let mut behind = self.behind.split_whitespace();
        is_number(&self.text) && behind.next().is_some() && behind.next().is_some_and(|word| word.starts_with("ago"))
    }
}

/// Replaces escaped line breaks and quotes of JSON text, so that their letters do not count as part of a word.
fn unescaped(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r").replace("\\\"", "\"")
}

/// The byte at `at` belongs to no word.
fn ends_a_word(text: &[u8], at: usize) -> bool {
    let byte = text[at];
    byte.is_ascii_whitespace() || b"\"',()<>{}[]`".contains(&byte) || (at > 0 && is_escape(text, at - 1))
}

/// A line break or tab of JSON text begins at `at`: a backslash that is not escaped itself, and a letter.
fn is_escape(text: &[u8], at: usize) -> bool {
    let backslashes = text[..=at].iter().rev().take_while(|byte| **byte == b'\\').count();
    backslashes % 2 == 1 && text.get(at + 1).is_some_and(|letter| b"nrt".contains(letter))
}

/// Between their common beginning and ending, both texts are lists of the same entries in different order.
fn holds_the_same_entries(old: &[u8], new: &[u8], offset: usize) -> bool {
    let start = (0..offset.min(old.len())).rev().find(|at| ends_a_word(old, *at)).map_or(0, |at| at + 1);
    let mut end = CommonEnds::behind(start, old, new).end;
    // A word with a common ending is compared whole.
    while end > 0 && !ends_a_word(old, old.len() - end) {
        end -= 1;
    }
    let stretch = |text: &[u8]| text.get(start..text.len() - end).map(<[u8]>::to_vec).unwrap_or_default();
    let (old, new) = (stretch(old), stretch(new));
    let is_list =
        |text: &[u8]| text.iter().any(|byte| b",;}>".contains(byte)) || text.windows(2).any(|two| two == b"\\n");
    if old.len() != new.len() || old.len() > ENTRIES_BYTES_MAX || !is_list(&old) {
        return false;
    }
    let entries = |text: &[u8]| {
        let text = String::from_utf8_lossy(text).replace("\\n", "\n");
        let mut words: Vec<String> = text
            .split(|c: char| c.is_whitespace() || ",;{}()[]<>\"'\\".contains(c))
            .map(|word| word.trim_matches(['.', ':']).to_owned())
            .filter(|word| !word.is_empty())
            .collect();
        words.sort_unstable();
        words
    };
    let words = entries(&old);
    words.len() > 1 && words == entries(&new)
}

/// Rooted, with a file extension, or made of several folders.
fn is_path(word: &str) -> bool {
    let word = word.rsplit(['=']).next().unwrap_or(word);
    let word = word.strip_prefix("file://").unwrap_or(word);
    let rooted = ["/", "~/", "./", "../"].iter().any(|root| word.starts_with(root)) || word.contains(":\\");
    let of_folders = word.matches('/').count() > 1 && !word.contains("://");
    let is_file = word.rsplit_once('/').is_some_and(|(_, file)| file.contains('.')) && !word.contains("://");
    (rooted || of_folders || is_file) && (3..=PATH_BYTES_MAX).contains(&word.len())
}

/// A span of time: `4m`, `12.5s`, `300ms`.
fn is_span(word: &str) -> bool {
    let word = word.rsplit(['=', ':']).next().unwrap_or(word);
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    word.starts_with(|c: char| c.is_ascii_digit()) && UNITS_OF_TIME.contains(&unit)
}

fn is_flag(word: &str) -> bool {
    let word = word.rsplit(['=', ':']).next().unwrap_or(word).to_lowercase();
    matches!(word.as_str(), "true" | "false" | "on" | "off" | "yes" | "no" | "enabled" | "disabled")
}

fn is_bit(word: &str) -> bool {
    matches!(word.rsplit(['=', ':']).next(), Some("0" | "1"))
}

/// Relative difference of a number that was read with fewer digits: `0.1` and `0.10000000149011612`.
const SPELLING_TOLERANCE: f64 = 1e-7;

/// One amount in two spellings.
fn is_same_number(words: &[Word; 2]) -> bool {
    let [old, new] =
        [0, 1].map(|at| words[at].text.rsplit(['=', ':']).next().and_then(|word| word.parse::<f64>().ok()));
    let tolerance = if words.iter().any(|word| word.text.contains('.')) { SPELLING_TOLERANCE } else { 0.0 };
    old.zip(new).is_some_and(|(old, new)| (old - new).abs() <= old.abs() * tolerance)
}

/// An amount, with or without its unit, or one of another: `1200/200000`.
fn is_number(word: &str) -> bool {
    let word = word.rsplit(['=', ':', '#']).next().unwrap_or(word).trim_matches(['$', '%', '€', '~']);
    let is_amount = |word: &str| {
        let whole = word.trim_end_matches(['k', 'K', 'M']).replacen('.', "", 1);
        !whole.is_empty() && whole.chars().all(|c| c.is_ascii_digit())
    };
    let (part, whole) = word.split_once('/').map_or((word, None), |(part, whole)| (part, Some(whole)));
    is_amount(part) && whole.is_none_or(is_amount)
}

#[cfg(test)]
mod tests {
    use super::{Volatile, recognise};

    /// The two texts and the kind of their difference.
    const PAIRS: [(&str, &str, Option<Volatile>); 107] = [
        ("the branch office Bonn is", "the branch office Oslo is", None),
        (r"of the branch\n\nRead it", r"of the branch\n\nSee it", None),
        ("the branch is now feature/a", "the branch is now feature/b", Some(Volatile::Git)),
        (
            "see https://x.io/a.pdf?token=eyJhbGciOiJIUzI1NiJ9.5feceb66ffc86f38d952786c6d696c79",
            "see https://x.io/a.pdf?token=eyJhbGciOiJIUzI1NiJ9.6b86b273ff34fce19d6b804eff5a3f57",
            Some(Volatile::Uuid),
        ),
        (r"Facts:\n13. Likes tea.", r"Facts:\n3. Likes tea.", None),
        (r"It is turn\n13 of 20.", r"It is turn\n14 of 20.", Some(Volatile::Counter)),
        ("You are planning-agent-ec6ef2.", "You are planning-agent-1d665b.", Some(Volatile::Uuid)),
        ("see build-1a2b3c4 there", "see build-9f8e7d6 there", Some(Volatile::Uuid)),
        ("the plan-decade here", "the plan-facade here", None),
        ("take step-12a first", "take step-13b first", None),
        ("the color_aa11bb there", "the color_cc22dd there", None),
        (r"gitStatus:\n M a.rs\n\nRecent:", r"gitStatus:\n M a.rs\n?? b/\n\nRecent:", Some(Volatile::Git)),
        (r"git status:\n M a.rs\n M b.rs\nEnd", r"git status:\n M a.rs\nEnd", Some(Volatile::Git)),
        (r"Status:\nEnd", r"Status:\n M a.rs\n M b.rs\nEnd", Some(Volatile::Git)),
        (r"Files:\n M a.rs\nEnd", r"Files:\n M a.rs\n M b.rs\nEnd", None),
        (r"Status:\nA word\nEnd", r"Status:\nA word\nA second\nEnd", None),
        ("Heute ist Montag, der 30. November", "Heute ist Dienstag, der 1. Dezember", Some(Volatile::Date)),
        ("le 2 décembre", "le 3 décembre", Some(Volatile::Date)),
        ("今天是2026年11月30日", "今天是2026年12月1日", Some(Volatile::Date)),
        ("現在時刻: 2026年11月30日14時05分", "現在時刻: 2026年11月30日14時06分", Some(Volatile::Time)),
        ("at 20261130T140506Z", "at 20261130T140601Z", Some(Volatile::Time)),
        ("ses_2f1cAbC9xQ", "ses_9kLmN0pQ7z", Some(Volatile::Uuid)),
        ("run_the_2nd", "run_the_3rd", None),
        (r"Status:\n M src/main.rs", r"Status:\n M Cargo.toml", Some(Volatile::Git)),
        ("server at http://127.0.0.1:53421", "server at http://127.0.0.1:53987", None),
        ("Context: 38k/200k tokens", "Context: 49k/200k tokens", Some(Volatile::Counter)),
        ("in=37k out=5k cost=$1.23", "in=48k out=6k cost=$1.64", Some(Volatile::Counter)),
        ("<a>1</a><b>2</b>", "<b>2</b><a>1</a>", Some(Volatile::MapOrder)),
        (
            "see https://x.io/f?X-Date=20261130T140506Z&X-Sig=ab",
            "see https://x.io/f?X-Date=20261130T140601Z&X-Sig=cd",
            Some(Volatile::Time),
        ),
        ("see https://x.io/f?page=one", "see https://x.io/f?page=two", None),
        ("elapsed: 4m 47s", "elapsed: 5m 02s", Some(Volatile::Time)),
        ("modified 4 min ago", "modified 6 min ago", Some(Volatile::Time)),
        ("temperature 0.1 is low", "temperature 0.10000000149011612 is low", None),
        ("timeout of 30 seconds", "timeout of 60 seconds", Some(Volatile::Counter)),
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
        ("at 9:59 AM", "at 10:02 AM", Some(Volatile::Time)),
        ("t=1763719200", "t=1763719262", Some(Volatile::Time)),
        ("2026-11-20 10:00", "2026-11-21 09:30", Some(Volatile::Time)),
        ("due 21.11.2026", "due 22.11.2026", Some(Volatile::Date)),
        ("on 21 November", "on 22 November", Some(Volatile::Date)),
        ("session 4bf92f3577b34da6", "session 00f067aa0ba942b7", Some(Volatile::Uuid)),
        ("reads src/a.rs", "reads src/b.rs", Some(Volatile::Path)),
        ("rapid 3", "rapid 4", Some(Volatile::Counter)),
        (r"so.\npid 3", r"so.\npid 4", Some(Volatile::Pid)),
        ("is 41% full", "is 43% full", Some(Volatile::Counter)),
        (r"- a\n- b", r"- b\n- a", Some(Volatile::MapOrder)),
        (r#"{\"a\":1,\"b\":2}"#, r#"{\"b\":2,\"a\":1}"#, Some(Volatile::MapOrder)),
        ("Never push to the branch. pid 482", "Never push to the branch. pid 489", Some(Volatile::Pid)),
        ("Use one branch. Turn 17 of 40.", "Use one branch. Turn 18 of 40.", Some(Volatile::Counter)),
        ("Ask before a commit. cwd: /tmp/a81f/x", "Ask before a commit. cwd: /tmp/c93e/x", Some(Volatile::Path)),
        ("one branch, cwd: /tmp/a81f/x", "one branch, cwd: /tmp/c93e/x", Some(Volatile::Path)),
        ("keep the branch, debug: true", "keep the branch, debug: false", Some(Volatile::Flag)),
        ("one branch; Remaining tokens: 183002", "one branch; Remaining tokens: 181744", Some(Volatile::Counter)),
        ("on branch x, width: 3", "on branch x, width: 4", Some(Volatile::Counter)),
        ("on branch feature/a", "on branch feature/b", Some(Volatile::Git)),
        ("request from commit 0a1b2c3d", "request from commit 0a1b2c3e", Some(Volatile::Git)),
        ("commit of session 0a1b2c3d", "commit of session 0a1b2c3e", Some(Volatile::Uuid)),
        ("x=9f8e7d6c5b4a39281706f5e4d3c2b1a0", "x=00112233445566778899aabbccddeeff", Some(Volatile::Uuid)),
        ("trace 01J9ZQK3V8T5M2N7P4R6S0W1XY", "trace 01J9ZQM4A9B8C7D6E5F4G3H2J1", Some(Volatile::Uuid)),
        ("Week 2026-W47", "Week 2026-W48", Some(Volatile::Date)),
        ("is 2026-W47-1", "is 2026-W47-2", Some(Volatile::Date)),
        ("verbose=0", "verbose=1", Some(Volatile::Flag)),
        (r#"{\"dry_run\":0}"#, r#"{\"dry_run\":1}"#, Some(Volatile::Flag)),
        ("step=0", "step=1", Some(Volatile::Counter)),
        ("verbose turn=0", "verbose turn=1", Some(Volatile::Counter)),
        (r"Status:\nM src/a.rs", r"Status:\nM src/b.rs", Some(Volatile::Git)),
        (r"Status:\n M src/a.rs\n?? new/b.rs", r"Status:\n M src/a.rs\n?? new/c.rs", Some(Volatile::Git)),
        (r"See\nI read src/a.rs", r"See\nI read src/b.rs", Some(Volatile::Path)),
        (r#"{"timeout":120000,"a":1}"#, r#"{"timeout":120000.0,"a":1}"#, None),
        (r#"{"timeout":120000,"a":1}"#, r#"{"timeout":180000,"a":1}"#, Some(Volatile::Counter)),
        ("year 2026", "year 2027", Some(Volatile::Counter)),
        ("go on now", "go on then", None),
        ("say the branch", "say the branch more", None),
        ("call branch_parser(x) main", "call branch_parser(x) next", None),
        ("call branch.len() main", "call branch.len() next", None),
        ("a branch is where one file is kept", "a branch is where one page is kept", None),
        ("be kind not curt", "be curt not kind", None),
        ("Be kind.", "Be curt.", None),
        ("", "Be curt.", None),
        ("number 12", "number twelve", None),
        ("[21/Nov/2026:10:01:33 +0000]", "[21/Nov/2026:10:01:34 +0000]", Some(Volatile::Time)),
        ("at 1795255200.101", "at 1795255260.377", Some(Volatile::Time)),
        ("see req_011CSHoEeqs5C35K2UUqR7Fy", "see req_011CSHpAcXq7D46L3VVrS8Gz", Some(Volatile::Uuid)),
        ("session: V1StGXR8_Z5jdHi6B-myT", "session: aB3dEfGh1jKlMn0pQrS7t", Some(Volatile::Uuid)),
        ("session: continuation", "session: conversations", None),
        ("request: the_2nd_page_of_it", "request: the_3rd_page_of_it", None),
        ("line main.rs:12:14", "line main.rs:12:15", Some(Volatile::Counter)),
        ("ratio 0.25", "ratio 0.26", Some(Volatile::Counter)),
        ("used: 1200/200000", "used: 1931/200000", Some(Volatile::Counter)),
        ("You are subagent_5d8a1b2c.", "You are subagent_c03f77e9.", Some(Volatile::Uuid)),
        ("You are subagent_one.", "You are subagent_two.", None),
    ];

    #[test]
    fn the_varying_thing_is_named() {
        for (old, new, expected) in PAIRS {
            let offset = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
            assert_eq!(recognise(old.as_bytes(), new.as_bytes(), offset), expected, "{old} -> {new}");
        }
    }
}
