//! Each noun has one type, related values have a type, and errors are not replaced by defaults.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use forkcast_fixtures::workspace;

use super::{CRATES, rust_files};

/// Nouns of `sim/docs/glossary.md` that only one type has in all crates, with that type's file.
const NOUNS: [(&str, &str); 6] = [
    ("Finding", "sim/src/guard/finding.rs"),
    ("Line", "sim/src/ledger/line.rs"),
    ("Placement", "sim/src/agent/settings/placement.rs"),
    ("Prompt", "sim/src/cache/mod.rs"),
    ("Run", "scenarios/src/run/mod.rs"),
    ("World", "sim/src/agent/world/mod.rs"),
];

/// Words that are no nouns, so that no type has them as its name.
const NO_NOUNS: [&str; 11] =
    ["Asked", "Case", "Held", "Retold", "Seen", "Sent", "Served", "Spelled", "Taken", "Told", "Undone"];

/// Places that still break this: word and file.
const TO_MEND: &[(&str, &str)] = &[("Sent", "sim/src/guard/sent.rs")];

/// Files that still have tuples as parameters.
const TUPLES_TO_MEND: &[&str] = &[];

/// How often a crate silently falls back to a default. Each of these means "absent means none"; cases that only a bug
/// can reach are asserted, and cases that input can reach are errors or counted repairs. The numbers may only fall.
const DEFAULTS_MAX: [(&str, usize); 6] =
    [("sim", 99), ("sim/tokens", 8), ("sim/cli", 7), ("replay", 137), ("reports", 94), ("scenarios", 35)];

/// Silent defaults.
const DEFAULTS: [&str; 7] = [
    "unwrap_or_default()",
    "unwrap_or(0)",
    "unwrap_or(u32::MAX)",
    "unwrap_or(u64::MAX)",
    "unwrap_or(usize::MAX)",
    "unwrap_or(i64::MAX)",
    "unwrap_or(i128::MAX)",
];

/// The source files of all crates with their text, without tests and comments.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (name, _) in CRATES.iter().filter(|(name, _)| *name != "benches") {
        for path in rust_files(&workspace().join(name).join("src")) {
            let name = path.strip_prefix(workspace()).unwrap_or(Path::new("")).to_string_lossy().replace('\\', "/");
            found.push((name, code(&fs::read_to_string(&path).expect("UTF-8"))));
        }
    }
    found
}

/// The code before the tests of a file, without comments.
fn code(text: &str) -> String {
    let text = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or(text);
    let text = text.split("\n#[cfg(all(test").next().unwrap_or(text);
    let lines = text.lines().map(|line| if line.trim_start().starts_with("//") { "" } else { line });
    lines.collect::<Vec<_>>().join("\n")
}

/// Names of the types that a file defines.
fn types(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in code.lines() {
        let visible = line.trim_start().strip_prefix("pub").map_or(line.trim_start(), |rest| {
            let rest = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(rest, |(_, rest)| rest);
            rest.trim_start()
        });
        // Types within an implementation are another's nouns.
        let kinds = if line.starts_with(' ') { &KINDS[1..] } else { &KINDS[..] };
        let Some(named) = kinds.iter().find_map(|kind| visible.strip_prefix(kind)) else { continue };
        let end = named.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(named.len());
        found.push(&named[..end]);
    }
    found
}

const KINDS: [&str; 5] = ["type ", "struct ", "enum ", "union ", "trait "];

#[test]
fn each_noun_is_one_type() {
    let mut found: BTreeMap<(String, String), usize> = BTreeMap::new();
    for (file, code) in sources() {
        for name in types(&code) {
            *found.entry((name.to_owned(), file.clone())).or_default() += 1;
        }
    }
    let mut wrong = Vec::new();
    for (name, file) in found.keys() {
        let known = NOUNS.iter().find(|(noun, _)| noun == name);
        let is_another = known.is_some_and(|(_, home)| home != file);
        let is_none = NO_NOUNS.contains(&name.as_str());
        if (is_another || is_none) && !TO_MEND.contains(&(name.as_str(), file.as_str())) {
            wrong.push(format!("{file}: `{name}`"));
        }
    }
    assert!(wrong.is_empty(), "these names are taken, or are no nouns:\n{}", wrong.join("\n"));
    for (name, file) in NOUNS {
        assert_eq!(found.get(&(name.to_owned(), file.to_owned())), Some(&1), "{name} is defined in {file}");
    }
}

/// The parameters of each declared function, except closures.
fn parameters(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let is_word = !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let name_end = code[at + 3..].find(|c: char| !c.is_alphanumeric() && c != '_').map(|end| at + 3 + end);
        let Some(start) = name_end.filter(|end| is_word && *end > at + 3).and_then(|end| open(code, end)) else {
            continue;
        };
        found.extend(split(&code[start..]));
    }
    found
}

/// Where the list of parameters begins, after a list of generics if there is one.
fn open(code: &str, from: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, c) in code[from..].char_indices() {
        match c {
            '<' => depth += 1,
            '>' if before != '-' => depth = depth.checked_sub(1)?,
            '(' if depth == 0 => return Some(from + at + 1),
            _ => {}
        }
        before = c;
    }
    None
}

/// The parts of a list up to its closing bracket.
fn split(list: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut depth = 0_usize;
    let mut start = 0;
    let mut before = ' ';
    for (at, c) in list.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' if depth == 0 => {
                parts.push(list[start..at].trim());
                return parts;
            }
            ')' | ']' | '}' => depth -= 1,
            '>' if before != '-' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
        before = c;
    }
    parts
}

#[test]
fn no_parameter_is_a_tuple() {
    let mut wrong = Vec::new();
    for (file, code) in sources().into_iter().filter(|(file, _)| !TUPLES_TO_MEND.contains(&file.as_str())) {
        let tuples = parameters(&code).into_iter().filter(|parameter| parameter.starts_with(['(', '&']));
        let tuples = tuples.filter(|parameter| parameter.trim_start_matches('&').starts_with('('));
        wrong.extend(tuples.map(|parameter| format!("{file}: `{parameter}`")));
    }
    assert!(wrong.is_empty(), "use a type for values that belong together, else two parameters:\n{}", wrong.join("\n"));
}

#[test]
fn silent_defaults_only_decrease() {
    for (name, most) in DEFAULTS_MAX {
        let folder = format!("{name}/src/");
        let own = sources().into_iter().filter(|(file, _)| file.starts_with(&folder));
        let count = |code: &str| DEFAULTS.iter().map(|default| code.matches(default).count()).sum::<usize>();
        let found: usize = own.map(|(_, code)| count(&code)).sum();
        assert!(found <= most, "{name} has {found} silent defaults, {most} are the most: assert, or give an error");
    }
}

#[test]
fn the_rules_find_planted_violations() {
    let text = "/// fn doc((a, b): (A, B))\npub(super) struct Seen<'a> {\n    type Line = u8;\nfn plain(a: A, b: &[(C, D)]);\nfn \
                both<T: Fn(A) -> B>(&self, (a, b): (A, B), c: C) {}\nlet f = |(a, b)| a;\n#[cfg(test)]\nmod tests { struct Told; }";
    let code = code(text);
    assert_eq!(types(&code), ["Seen"]);
    let taken: Vec<&str> = parameters(&code).into_iter().filter(|parameter| parameter.starts_with('(')).collect();
    assert_eq!(taken, ["(a, b): (A, B)"]);
}

/// The names in the last column of the glossary's tables.
fn names_of(glossary: &str) -> Vec<String> {
    let rows = glossary.lines().filter(|line| line.starts_with("| **"));
    let cells = rows.filter_map(|row| row.trim_end_matches([' ', '|']).rsplit_once(" | ").map(|(_, cell)| cell));
    let names = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    names.map(str::to_owned).collect()
}

#[test]
fn every_name_in_the_glossary_is_in_the_code() {
    let glossary = fs::read_to_string(workspace().join("sim/docs/glossary.md")).expect("the glossary");
    let sources = sources();
    let is_there = |word: &str| {
        sources.iter().any(|(_, code)| {
            code.match_indices(word).any(|(at, _)| {
                let is_part = |c: char| c.is_alphanumeric() || c == '_';
                !code[..at].ends_with(is_part) && !code[at + word.len()..].starts_with(is_part)
            })
        })
    };
    let names = names_of(&glossary);
    assert!(names.len() > 40, "{names:?}");
    let missing: Vec<&String> = names.iter().filter(|name| !name.split("::").all(is_there)).collect();
    assert!(missing.is_empty(), "no such thing in the code: {missing:?}");
}
