//! Citations in the code resolve: pages of `sim/docs` with their sections, lines of the contract, and relative links.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use forkcast_fixtures::workspace;

/// Endings of files with citations.
const CITING: [&str; 4] = ["rs", "md", "yaml", "toml"];

/// The citable parts of a page.
#[derive(Default)]
struct Page {
    /// Numbers of headings: `1`, `1.3`, `A.1`.
    sections: BTreeSet<String>,
    /// Rows and items by section, such as `8.10`, and named rows, such as `G14`.
    rows: BTreeSet<String>,
}

impl Page {
    fn read(text: &str) -> Page {
        let mut page = Page::default();
        let mut section = String::new();
        for line in text.lines() {
            if let Some(heading) = line.strip_prefix("##") {
                let number = heading.trim_start_matches('#').split_whitespace().next().unwrap_or_default();
                let number = number.trim_end_matches('.');
                if is_section(number) {
                    number.clone_into(&mut section);
                    page.sections.insert(section.clone());
                }
            } else if let Some(row) = first_cell(line) {
                let named = row.starts_with(|c: char| c.is_ascii_uppercase());
                page.rows.insert(if named { row } else { format!("{section}.{row}") });
            }
        }
        page
    }

    fn has(&self, place: &str) -> bool {
        self.sections.contains(place) || self.rows.contains(place)
    }
}

/// A row's first cell, or an item's number.
fn first_cell(line: &str) -> Option<String> {
    if let Some(row) = line.strip_prefix("| ") {
        return row.split_whitespace().next().map(str::to_owned);
    }
    let number: String = line.chars().take_while(char::is_ascii_digit).collect();
    line[number.len()..].starts_with(". ").then_some(number).filter(|number| !number.is_empty())
}

/// `1`, `1.3`, `A`, `A.1`, `G14`.
fn is_section(text: &str) -> bool {
    let mut parts = text.split('.');
    let first = parts.next().unwrap_or_default();
    let digits = first.strip_prefix(|c: char| c.is_ascii_uppercase()).unwrap_or(first);
    let plain = |part: &str| part.len() <= 2 && part.chars().all(|c| c.is_ascii_digit());
    let second = parts.next();
    !first.is_empty()
        && plain(digits)
        && second.is_none_or(|part| !part.is_empty() && plain(part))
        && parts.next().is_none()
}

/// All files below `folder` with these endings, except generated ones and version control.
fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && name != ".git" && !name.starts_with("mutants.out") {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| endings.iter().any(|known| *known == ending)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The text as one line, without comment marks, because a citation may span two lines.
fn joined(text: &str) -> String {
    let bare = |line: &str| line.trim_start().trim_start_matches(['/', '!', '#']).trim().to_owned();
    text.lines().map(bare).collect::<Vec<_>>().join(" ")
}

/// A page's name and the cited places, as in "`providers.md` 1.3 and 1.6".
#[derive(Debug, PartialEq)]
struct Citation {
    page: String,
    places: Vec<String>,
}

fn citations(text: &str) -> Vec<Citation> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(".md") {
        let name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let start = text[..at].rfind(|c| !name(c)).map_or(0, |before| before + 1);
        let before = text[..start].chars().next_back().unwrap_or(' ');
        if start == at || before.is_alphanumeric() || before == '_' {
            continue;
        }
        let rest = &text[at + ".md".len()..];
        let rest = rest.strip_prefix('`').unwrap_or(rest);
        let places = places(rest.strip_prefix(' ').unwrap_or_default());
        if !places.is_empty() {
            found.push(Citation { page: format!("{}.md", &text[start..at]), places });
        }
    }
    found
}

/// The places at the start of a text. After a comma or a semicolon only a number with two parts counts, because figures
/// may follow too.
fn places(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut both_parts = false;
    loop {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len());
        let place = rest[..end].trim_end_matches('.');
        let numbered = place.contains(|c: char| c.is_ascii_digit());
        if !numbered || !is_section(place) || both_parts && !place.contains('.') {
            return found;
        }
        found.push(place.to_owned());
        let after = &rest[place.len()..];
        let joint = [(" and ", false), (" to ", false), (", ", true), ("; ", true)];
        let Some((joint, strict)) = joint.into_iter().find(|(joint, _)| after.starts_with(joint)) else { return found };
        rest = &after[joint.len()..];
        both_parts = strict;
    }
}

fn pages() -> BTreeMap<String, Page> {
    let read = |path: PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, Page::read(&fs::read_to_string(path).unwrap()))
    };
    files(&workspace().join("sim/docs"), &["md"]).into_iter().map(read).collect()
}

#[test]
fn every_cited_section_exists() {
    let pages = pages();
    let mut cited = 0;
    for file in files(&workspace(), &CITING).into_iter().filter(|file| !file.ends_with("house/citations.rs")) {
        for citation in citations(&joined(&fs::read_to_string(&file).unwrap())) {
            let page = pages.get(&citation.page);
            for place in &citation.places {
                let there = page.is_some_and(|page| page.has(place));
                assert!(there, "{}: `{}` {place} is not in sim/docs", file.display(), citation.page);
                cited += 1;
            }
        }
    }
    assert!(cited > 250, "{cited} citations: are they still found?");
}

/// Ids of the contract's lines, such as `FORK-23`, and of its conflicts, gaps and scenarios.
fn contract() -> BTreeSet<String> {
    let text = fs::read_to_string(workspace().join("sim/docs/contract.md")).unwrap();
    let id = |line: &str| {
        let rest = line.strip_prefix("- **").or(line.strip_prefix("| ")).or(line.strip_prefix("**"))?;
        rest.split(['*', ' ']).next().map(str::to_owned)
    };
    text.lines().filter_map(id).collect()
}

/// Words of a text that look like ids of the contract.
fn ids<'a>(text: &'a str, groups: &'a BTreeSet<String>) -> impl Iterator<Item = &'a str> {
    let word = |c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_';
    text.split(word).filter(move |word| {
        let numbered = word.len() == 3 && word[1..].bytes().all(|c| c.is_ascii_digit());
        let line = word.split_once('-').is_some_and(|(group, number)| {
            groups.contains(group) && number.len() == 2 && number.bytes().all(|c| c.is_ascii_digit())
        });
        line || numbered && word.starts_with(['C', 'G', 'E'])
    })
}

#[test]
fn every_cited_line_of_the_contract_exists() {
    let contract = contract();
    let groups: BTreeSet<String> = contract.iter().filter_map(|id| Some(id.split_once('-')?.0.to_owned())).collect();
    assert_eq!(groups.len(), 30, "{groups:?}");
    for file in files(&workspace(), &["rs"]).into_iter().filter(|file| !file.ends_with("house/citations.rs")) {
        let text = fs::read_to_string(&file).unwrap();
        for line in text.lines().map(str::trim).filter(|line| line.starts_with("//")) {
            for id in ids(line, &groups).filter(|id| !line.contains(&format!(".md` {id}"))) {
                assert!(contract.contains(id), "{}: `{id}` is not in sim/docs/contract.md", file.display());
            }
        }
    }
}

/// Targets of links to files in a Markdown text, except in code.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            code = !code;
            continue;
        }
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for part in prose.split("](").skip(1).filter(|_| !code) {
            let target = part.split([')', ' ']).next().unwrap_or_default();
            if !target.contains("://") && !target.starts_with("mailto:") {
                found.push(target.to_owned());
            }
        }
    }
    found
}

/// The anchor of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn every_relative_link_resolves() {
    for file in files(&workspace(), &["md"]) {
        for link in links(&fs::read_to_string(&file).unwrap()) {
            let (path, place) = link.split_once('#').unwrap_or((&link, ""));
            let target = if path.is_empty() { file.clone() } else { file.parent().unwrap().join(path) };
            assert!(target.exists(), "{}: {link} leads nowhere", file.display());
            if !place.is_empty() && target.extension().is_some_and(|ending| ending == "md") {
                let text = fs::read_to_string(&target).unwrap();
                let headings =
                    text.lines().filter_map(|line| Some(line.strip_prefix('#')?.trim_start_matches('#').trim()));
                assert!(headings.map(anchor).any(|name| name == place), "{}: {link}: no such heading", file.display());
            }
        }
    }
}

#[test]
fn the_citation_check_finds_citations() {
    let found = |text: &str| -> Vec<String> {
        citations(text)
            .into_iter()
            .flat_map(|found| found.places.into_iter().map(move |at| format!("{} {at}", found.page)))
            .collect()
    };
    assert_eq!(found("(`providers.md` 1.3 and 1.6, 100 %)"), ["providers.md 1.3", "providers.md 1.6"]);
    assert_eq!(found("providers.md 8.10; 1.3, irrespective"), ["providers.md 8.10", "providers.md 1.3"]);
    assert_eq!(found("`clients.md` 1, 2026-11; economics.md G14."), ["clients.md 1", "economics.md G14"]);
    assert_eq!(found(&joined("//! a (`economics.md`\n//! 3.7)")), ["economics.md 3.7"]);
    assert_eq!(found("CLAUDE.md 1.45, my_notes.md 1.2, [x](providers.md), a page.md of ours"), [""; 0]);

    let page =
        Page::read("## 8. Decisions\n| # | what |\n| 10 | spelling |\n### 8.1 More\n1. item\n## A. x\n| G14 | y |\n");
    for place in ["8", "8.10", "8.1", "8.1.1", "A", "G14"] {
        assert!(page.has(place), "{place}");
    }
    for place in ["10", "8.11", "1", "B", "G15"] {
        assert!(!page.has(place), "{place}");
    }
    assert_eq!(links("[a](b.md#c) `[x](y)` [d](https://e)\n```\n[f](g)\n```"), ["b.md#c"]);
    assert_eq!(anchor("One run, step by step"), "one-run-step-by-step");
}
