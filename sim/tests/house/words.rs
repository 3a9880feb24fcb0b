//! Plain words: limits for habits of an English that readers take at half speed (issue 20), in comments, pages and strings.

use std::fs;
use std::path::{Path, PathBuf};

use forkcast_fixtures::workspace;

use super::rust_files;

/// A habit: its spellings, and the most occurrences in 10,000 words.
const HABITS: [(&[&str], f64); 12] = [
    (&["stand", "stands"], 3.0),
    (&["behind"], 3.0),
    (&["told", "tell", "tells"], 2.0),
    (&["nobody", "nobody's"], 1.0),
    (&["of which"], 1.5),
    (&["in the place of"], 0.0),
    (&["what was", "what has", "what had", "what were"], 2.0),
    (&["where it has", "where it is", "where there is", "where no", "where none", "where nothing", "where they"], 2.5),
    (&["goes on", "went on"], 2.5),
    (&["anew", "afresh", "oftener"], 1.5),
    (&["taken for", "takes for", "in front of"], 1.0),
    (&["so many"], 1.5),
];

/// Occurrences of each habit, in the order of [`HABITS`].
type Counts = [usize; HABITS.len()];

/// Texts for simulated models, and tests that quote them: other words would change the token counts of recorded runs.
const FOR_MODELS: [&str; 13] = [
    "sim/src/agent/definition/built_in.rs",
    "sim/src/agent/fork/report.rs",
    "sim/src/agent/notification.rs",
    "sim/src/agent/prompt",
    "sim/src/agent/query/decide.rs",
    "sim/src/agent/spawn",
    "sim/src/agent/tool",
    "sim/cli/tests/check/bodies.rs",
    "sim/cli/tests/check/words.rs",
    "sim/tests/agent/notification.rs",
    "sim/tests/agent/prompt.rs",
    "sim/tests/agent/world.rs",
    "sim/tests/forks/running.rs",
];

/// Folders without words of our own, or with words that programs wrote.
const NOT_OURS: [&str; 8] = ["target", "golden", "published", "corpus", "__fuzz__", "coverage", "fixtures", "catalog"];

/// Where words are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Comment,
    Page,
    Literal,
}

const KINDS: [Kind; 3] = [Kind::Comment, Kind::Page, Kind::Literal];

/// Words of one kind, without code, and the habits found in them.
#[derive(Default)]
struct Tally {
    words: usize,
    counts: Counts,
}

impl Tally {
    fn add(&mut self, text: &str) {
        let words = plain(text);
        self.words += words.len();
        for (count, (spellings, _)) in self.counts.iter_mut().zip(HABITS) {
            *count += spellings.iter().map(|spelling| occurrences(&words, spelling)).sum::<usize>();
        }
    }
}

/// The words of a text in lower case, without placeholders; code in backticks is one word.
fn plain(text: &str) -> Vec<String> {
    let prose: String = text.split('`').step_by(2).collect::<Vec<_>>().join(" code ");
    let words = prose.split_whitespace().filter(|word| !word.starts_with('{'));
    let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
    words.filter(|word| !word.is_empty()).collect()
}

fn occurrences(words: &[String], spelling: &str) -> usize {
    let parts: Vec<&str> = spelling.split(' ').collect();
    words.windows(parts.len()).filter(|window| window.iter().zip(&parts).all(|(word, part)| word == part)).count()
}

/// Comments and string literals of a source file, consecutive comment lines joined.
fn pieces(source: &str) -> Vec<(Kind, String)> {
    let mut found: Vec<(Kind, String)> = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['/', '"', '\'']) {
        let between = rest[..at].trim();
        let is_raw = rest[..at].ends_with('#') || rest[..at].ends_with('r');
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("//") {
            let end = comment.find('\n').unwrap_or(comment.len());
            let line = comment[..end].trim_start_matches(['/', '!']);
            match found.last_mut() {
                Some((Kind::Comment, text)) if between.is_empty() => *text = format!("{text} {line}"),
                _ => found.push((Kind::Comment, line.to_owned())),
            }
            rest = &comment[end..];
        } else if let Some(literal) = rest.strip_prefix('"') {
            let end = closing(literal, is_raw.then_some(between));
            found.push((Kind::Literal, literal[..end].replace("\\\n", " ")));
            rest = literal.get(end + 1..).unwrap_or_default();
        } else {
            rest = &rest[character(rest)..];
        }
    }
    found.retain(|(kind, text)| *kind == Kind::Comment || is_sentence(text));
    found
}

/// Where a literal ends; `raw` is the code before a raw one.
fn closing(literal: &str, raw: Option<&str>) -> usize {
    if let Some(before) = raw {
        let hashes = before.len() - before.trim_end_matches('#').len();
        let end = format!("\"{}", "#".repeat(hashes));
        return literal.find(&end).unwrap_or(literal.len());
    }
    let mut escaped = false;
    let mut ends = literal.char_indices().filter(|(_, c)| {
        let is_end = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        is_end
    });
    ends.next().map_or(literal.len(), |(at, _)| at)
}

/// Bytes of a character literal at the start of a text, or of the one sign that is none (a lifetime, a division).
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    let is_escape = chars.next().is_some_and(|(_, c)| c == '\\');
    let ends = if is_escape {
        text[2..].find('\'').map(|at| at + 3)
    } else {
        chars.next().filter(|(_, c)| *c == '\'').map(|(at, _)| at + 1)
    };
    ends.filter(|_| text.starts_with('\'')).unwrap_or(1)
}

/// Whether a literal is a sentence for people: three words, and not JSON.
fn is_sentence(text: &str) -> bool {
    let is_json = ["\":", "{\"", "[\"", "\\\":"].iter().any(|mark| text.contains(mark));
    let words = text.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count();
    !is_json && words >= 3
}

/// A page without its code blocks.
fn page(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            let name = entry.file_name().unwrap().to_string_lossy().into_owned();
            if entry.is_dir() && !name.starts_with('.') && name != "target" {
                folders.push(entry);
            } else if name.ends_with(".md") {
                found.push(entry);
            }
        }
    }
    found
}

/// Every text of the workspace: its kind and its words.
fn texts() -> Vec<(Kind, String)> {
    let mut found = Vec::new();
    for path in rust_files(&workspace()).into_iter().chain(pages(&workspace())) {
        let name = path.strip_prefix(workspace()).unwrap().to_string_lossy().replace('\\', "/");
        if name.split('/').any(|part| NOT_OURS.contains(&part)) || name == "sim/tests/house/words.rs" {
            continue;
        }
        let text = fs::read_to_string(&path).expect("UTF-8");
        if name.ends_with(".md") {
            found.push((Kind::Page, page(&text)));
            continue;
        }
        let is_for_models = FOR_MODELS.iter().any(|folder| name.starts_with(folder));
        let own = pieces(&text).into_iter().filter(|(kind, _)| !is_for_models || *kind == Kind::Comment);
        found.extend(own);
    }
    found
}

#[test]
fn habits_are_rare_in_comments_pages_and_strings() {
    let mut tallies: Vec<(Kind, Tally)> = KINDS.map(|kind| (kind, Tally::default())).into();
    for (kind, text) in texts() {
        tallies.iter_mut().filter(|(known, _)| *known == kind).for_each(|(_, tally)| tally.add(&text));
    }
    let mut wrong = Vec::new();
    for (kind, tally) in &tallies {
        for (count, (spellings, most)) in tally.counts.iter().zip(HABITS) {
            let rate = *count as f64 * 1e4 / tally.words.max(1) as f64;
            if rate > most {
                wrong.push(format!(
                    "{kind:?}: `{}` {rate:.1} times in 10,000 words, {most} are the limit",
                    spellings[0]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "say it plainly:\n{}", wrong.join("\n"));
}

#[test]
fn comments_strings_and_pages_are_read_without_code() {
    let source = "//! It stands\n//! here.\nfn a<'b>(c: char) { d('\"', '\\'', \"told of it\", r#\"no \"json\" at all\"#); } // Nobody knows.\n";
    let found = pieces(source);
    let kinds: Vec<Kind> = found.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [Kind::Comment, Kind::Literal, Kind::Literal, Kind::Comment], "{found:?}");
    assert_eq!(found[0].1.trim(), "It stands  here.");
    let mut tally = Tally::default();
    found.iter().for_each(|(_, text)| tally.add(text));
    tally.add(&page("In the\nplace of `behind`.\n```\nstands\n```\nOf which?"));
    assert_eq!(tally.counts, [1, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0]);
}
