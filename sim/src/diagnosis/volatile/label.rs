//! The name of a varying value: the words before it.

use super::Word;
use crate::diagnosis::CommonEnds;

/// What the nearest known word before a value calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    /// State of a repository, in any form.
    Status,
    /// A branch.
    Branch,
    /// An id of a commit.
    Commit,
    /// An id of anything else.
    Id,
    /// A process.
    Process,
    /// A value that is on or off.
    Switch,
    /// Anything else.
    Other,
}

/// Words of each label, in small letters.
const NAMES: [(Label, &[&str]); 7] = [
    (Label::Status, &["git status", "gitstatus", "working tree"]),
    (Label::Branch, &["branch"]),
    (Label::Commit, &["commit", "commits", "git", "head", "sha", "rev"]),
    (Label::Id, &["id", "session", "request", "trace", "nonce"]),
    (Label::Process, &["pid", "process", "process id"]),
    (Label::Switch, &["verbose", "debug", "quiet", "enabled", "disabled", "dry_run", "sandbox", "strict"]),
    (Label::Other, &["turn", "step", "tokens", "attempt", "messages", "count", "cwd", "directory", "folder", "path"]),
];

/// How many bytes before a number are searched for the name of a process or a switch.
const NEAR_BYTES: usize = 20;

/// Letters that git puts before a path, one for the index and one for the work tree.
const STATUS_LETTERS: &str = " MADRCTU?!";

impl Label {
    /// The label of `word` in its sentence: the nearest known word decides, unless another key is nearer.
    pub(super) fn before(word: &Word) -> Option<Self> {
        let own = word.text.rfind(['=', ':', '#']).map_or("", |at| &word.text[..=at]);
        let before = format!("{}{own}", word.before).to_lowercase();
        let said = before.rfind(". ").map_or(before.as_str(), |at| &before[at + 2..]);
        let all = NAMES.iter().flat_map(|(label, names)| names.iter().map(move |name| (*label, *name)));
        let ends = all.filter_map(|(label, name)| Some((last_end(said, name)?, name.len(), label)));
        // If two known words end together, the longer one decides: a process id is a process.
        let (end, _, label) = ends.max_by_key(|(end, len, _)| (*end, *len))?;
        let has_other_key = said[end..].trim_start_matches([' ', '"', '\'', ':', '=']).contains([':', '=']);
        let is_far = match label {
            Self::Process | Self::Switch => said.len() - end > NEAR_BYTES,
            Self::Branch => {
                let between = &said[end..];
                let words = between.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
                let mut said =
                    between.split_whitespace().map(|word| word.trim_matches([',', ':'])).chain([word.text.as_str()]);
                between.contains('\n') || words > 2 || (words > 0 && !said.any(is_ref))
            }
            _ => false,
        };
        Some(if has_other_key || is_far { Self::Other } else { label })
    }
}

/// Whether a word looks like the name of a branch, also behind other words.
fn is_ref(word: &str) -> bool {
    let is_plain = word.chars().all(|c| !c.is_uppercase());
    is_plain
        && (word.contains(['/', '-', '_']) || matches!(word, "main" | "master" | "next" | "dev" | "develop" | "trunk"))
}

/// Where `name` ends for the last time in `text`, as a word of its own or after an underscore. What goes on or is called is
/// another name: `branch_parser(`, `branch.len()`.
fn last_end(text: &str, name: &str) -> Option<usize> {
    let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let goes_on = |rest: &str| {
        let mut next = rest.chars();
        match next.next() {
            Some('_' | '(') => true,
            Some('.') => letter(next.next()),
            first => letter(first),
        }
    };
    let stands = |at: &usize| !letter(text[..*at].chars().next_back()) && !goes_on(&text[at + name.len()..]);
    text.rmatch_indices(name).map(|(at, _)| at).find(stands).map(|at| at + name.len())
}

/// Whether the text before a path on its line is what git's short status puts there.
pub(super) fn is_status_line(before: &str) -> bool {
    let line = before.rfind(['\n', '"']).and_then(|at| before[at + 1..].strip_suffix(' '));
    line.is_some_and(is_state)
}

fn is_state(state: &str) -> bool {
    matches!(state.len(), 1 | 2) && state != " " && state.chars().all(|c| STATUS_LETTERS.contains(c))
}

/// How many lines before those that came are searched for the name of the list.
const HEADER_LINES: usize = 32;

/// One text is the other with more lines in a list of git's short status.
pub(super) fn status_grows(old: &[u8], new: &[u8]) -> bool {
    if CommonEnds::of(old, new).len() < old.len().min(new.len()) {
        return false;
    }
    let lines = |text: &'_ [u8]| {
        let text = String::from_utf8_lossy(text).replace("\\n", "\n");
        text.split(['\n', '"']).map(str::to_owned).collect::<Vec<_>>()
    };
    let (old, new) = (lines(old), lines(new));
    let (shorter, longer) = if old.len() < new.len() { (old, new) } else { (new, old) };
    let start = shorter.iter().zip(&longer).take_while(|(short, long)| short == long).count();
    let end = shorter[start..].iter().rev().zip(longer.iter().rev()).take_while(|(short, long)| short == long).count();
    let came = &longer[start..longer.len() - end];
    let mut before = longer[..start].iter().rev().take(HEADER_LINES);
    let is_listed = before.any(|line| ["git", "status"].iter().any(|name| line.to_lowercase().contains(name)));
    start + end == shorter.len() && !came.is_empty() && is_listed && came.iter().all(|line| is_entry(line))
}

/// A line of git's short status: one letter or two, and a path.
fn is_entry(line: &str) -> bool {
    [1, 2].iter().any(|letters| {
        let parts = line.split_at_checked(*letters).filter(|(state, _)| is_state(state));
        let path = parts.and_then(|(_, rest)| rest.strip_prefix(' '));
        path.is_some_and(|path| path.contains(['.', '/']) && !path.starts_with(' '))
    })
}
