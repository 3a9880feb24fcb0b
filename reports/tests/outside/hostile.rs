//! No output format lets a name move a cursor, turn the line, calculate, link, show a picture or begin a
//! heading.

use std::fs;

use comrak::{Options, markdown_to_html};
use forkcast_fixtures::{files, fixture, tempdir};
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_reports::document::{Document, Marked, Part};
use forkcast_reports::names::Names;
use forkcast_scenarios::format::Scenario;
use forkcast_sim::outside::is_hidden;
use serde_json::Value;

use super::forms::{Form, of_check, of_document, of_replay, of_run};
use super::planted::{MODELS, NAMES, Planted, each_value, yaml_text};

/// Malicious names.
const HOSTILE: [&str; 6] = [
    "=HYPERLINK(\"http://evil\")\u{1b}]0;title\u{7}\u{9b}31m\u{202e}\u{2066}\0\u{7f}\r\n# head\n::error::x",
    "a` ![i](http://evil/p.png) <img src=x> [l](http://evil) ``` http://evil.org www.evil.org m@evil.org `` | `\n\n# h\n---",
    "-2+3+cmd|' /C calc'!A0",
    "::stop-commands::x\\\\|![i](http://evil/i.png)|<script>alert(1)</script>]]>--><a href=\"http://evil\">&lt;b&gt;</a>",
    "##[add-mask]x\n##[stop-commands]y ##[error]z [here\\](http://evil) [there](1)",
    "# <b>x</b>\n===\n- [ ] x[^1]\n\n[^1]: http://evil.org\n> $\\href{http://evil}{x}$ ~~x~~ @SUM(1)",
];

/// A name like any other.
const HARMLESS: &str = "harmless";

fn html(markdown: &str) -> String {
    let mut options = Options::default();
    options.extension.autolink = true;
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    markdown_to_html(markdown, &options)
}

/// The structure of a markdown text, which no name may change: headings, tables, rows, cells, paragraphs.
fn shape(html: &str) -> Vec<usize> {
    ["<h1>", "<h2>", "<h3>", "<table>", "<tr>", "<th", "<td", "<p>", "<li>", "<blockquote>", "<hr", "<pre>"]
        .iter()
        .map(|tag| html.matches(tag).count())
        .collect()
}

/// Every cell of a file of comma-separated values.
fn cells(text: &str) -> Vec<String> {
    let (mut cells, mut field, mut quoted) = (Vec::new(), String::new(), false);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' | '\n' if !quoted => cells.push(std::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    assert!(!quoted && field.is_empty(), "the last line is a line");
    cells
}

fn is_formula(cell: &str) -> bool {
    cell.trim_start().starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err()
}

/// The fault of a form.
fn fault(form: &Form) -> Option<String> {
    if let Some(c) = form.text.chars().find(|c| *c != '\n' && is_hidden(*c)) {
        return Some(format!("{c:?} reaches the terminal"));
    }
    match form.name {
        "human" => {
            let is_command = |line: &&str| line.trim_start().starts_with("::") || line.contains("##[");
            form.text.lines().find(is_command).map(|line| format!("a command: {line}"))
        }
        "markdown" => {
            let html = html(&form.text);
            let found = ["<a ", "<img", "raw HTML omitted", "<del>", "<input", "<sup"]
                .into_iter()
                .find(|tag| html.contains(tag));
            found.map(|tag| format!("`{tag}` in {}", form.text))
        }
        "csv" | "requests.csv" | "tables" => cells(&form.text).into_iter().find(|cell| is_formula(cell)),
        "sarif" => linking(&serde_json::from_str(&form.text).unwrap()),
        "json" | "check.json" | "ledger.jsonl" => {
            let values = serde_json::Deserializer::from_str(&form.text).into_iter::<Value>();
            values.filter_map(Result::err).map(|error| error.to_string()).next()
        }
        "svg" | "junit" => match roxmltree::Document::parse(&form.text) {
            Err(error) => Some(error.to_string()),
            Ok(document) => {
                let tag = |node: roxmltree::Node<'_, '_>| {
                    ["script", "a", "image", "img", "b"].contains(&node.tag_name().name())
                };
                document.descendants().any(tag).then(|| "an element of a name".to_owned())
            }
        },
        "github" => {
            let is_ours =
                |line: &str| ["::error ", "::warning ", "::notice "].iter().any(|ours| line.starts_with(ours));
            form.text.lines().find(|line| !is_ours(line) || line.contains("##[")).map(str::to_owned)
        }
        other => panic!("a form without a test: {other}"),
    }
}

/// A message with a link.
fn linking(value: &Value) -> Option<String> {
    match value {
        Value::Array(items) => items.iter().find_map(linking),
        Value::Object(fields) => {
            let text = fields.get("text").and_then(Value::as_str).filter(|text| has_link(text));
            text.map(str::to_owned).or_else(|| fields.values().find_map(linking))
        }
        _ => None,
    }
}

/// Whether brackets that no backslash escapes are in a message, followed by a target.
fn has_link(text: &str) -> bool {
    text.match_indices("](").any(|(at, _)| {
        let backslashes = text[..at].bytes().rev().take_while(|byte| *byte == b'\\').count();
        backslashes % 2 == 0
    })
}

/// The faults of all formats, and places in which markdown has another structure than with a harmless name.
fn faults(hostile: &[Form], harmless: &[Form]) -> Vec<String> {
    let mut found: Vec<String> =
        hostile.iter().filter_map(|form| fault(form).map(|fault| format!("{}: {fault}", form.name))).collect();
    let shapes = |forms: &[Form]| -> Vec<Vec<usize>> {
        forms.iter().filter(|form| form.name == "markdown").map(|form| shape(&html(&form.text))).collect()
    };
    if shapes(hostile) != shapes(harmless) {
        let text = hostile.iter().find(|form| form.name == "markdown").map_or("", |form| &form.text);
        found.push(format!("markdown has another shape: {text}"));
    }
    found
}

fn forms(bytes: &[u8], name: &str, folder: &std::path::Path) -> Vec<Form> {
    let file: String = name.chars().filter(|c| !['/', '\0'].contains(c)).collect();
    let path = folder.join(file);
    fs::write(&path, bytes).unwrap();
    let inputs = Inputs::from_bytes(name, bytes, InputFormat::Auto);
    let mut forms = of_replay(&inputs, Names::Plain);
    forms.extend(of_check(&path, Names::Plain));
    forms
}

/// The fixture with `name` in each place of a name, one at a time.
fn names(fixture: &std::path::Path, name: &str) -> Vec<Planted> {
    let mut planted = each_value(fixture, name);
    planted.retain(|planted| [&NAMES[..], &MODELS[..]].iter().any(|known| known.contains(&planted.field.as_str())));
    planted
}

#[test]
fn names_in_recordings_are_only_names() {
    let place = tempdir().unwrap();
    let folder = place.path();
    let (mut tried, mut found) = (0, Vec::new());
    for fixture in files(&fixture("")) {
        let bytes = fs::read(&fixture).unwrap();
        let whole = forms(&bytes, HARMLESS, folder);
        let harmless: Vec<Vec<Form>> =
            names(&fixture, HARMLESS).iter().map(|planted| forms(&planted.bytes, HARMLESS, folder)).collect();
        for hostile in HOSTILE {
            for (planted, harmless) in names(&fixture, hostile).iter().zip(&harmless) {
                tried += 1;
                let faults = faults(&forms(&planted.bytes, HARMLESS, folder), harmless);
                found.extend(faults.first().map(|fault| format!("{}: {fault}", planted.place)));
            }
            let faults = faults(&forms(&bytes, hostile, folder), &whole);
            found.extend(faults.first().map(|fault| format!("the name of {}: {fault}", fixture.display())));
        }
    }
    assert!(tried > 300, "{tried} names");
    let shown: Vec<String> = found.iter().take(20).map(|fault| fault.chars().take(3_000).collect()).collect();
    assert!(found.is_empty(), "{} of {tried}:\n{}", found.len(), shown.join("\n"));
}

/// A run in which everything that has a name has this one.
fn scenario(name: &str) -> Scenario {
    let name = yaml_text(name);
    let text = format!(
        "about: {name}\nsession: {{model: claude-opus-4-8}}\nscript:\n  main:\n    - tools:\n        - {{tool: {name}, input: {{{name}: 1}}, missing: true}}\n    - say: Done.\nuser:\n  - {{at_ms: 0, types: {name}}}\n"
    );
    Scenario::read(HARMLESS, HARMLESS, &text, &[]).unwrap()
}

#[test]
fn names_in_runs_are_only_names() {
    let harmless = of_run(scenario(HARMLESS));
    for hostile in HOSTILE {
        let found = faults(&of_run(scenario(hostile)), &harmless);
        assert!(found.is_empty(), "{hostile:?}: {}", found.join("\n"));
    }
}

#[test]
fn no_window_is_a_command() {
    for [before, mark, after] in [["a ##", "[add-mask]", "x"], ["", "::error::x", ""], ["#", "#", "[group]"]] {
        let [before, mark, after] = [before, mark, after].map(str::to_owned);
        let lines = vec![Marked { before, mark, after }];
        let found = of_document(&Document { parts: vec![Part::Verbatim(lines)] }).iter().find_map(fault);
        assert_eq!(found, None);
    }
}
