//! The figures of a page are those of the terminal and of JSON; what is clicked leads to its proof.

use std::fs;

use forkcast_fixtures::workspace;

use super::chromium::Browser;
use super::{demo, is_installed, page};
use crate::program::{folder, forkcast};

/// The text of what a selector finds.
fn text(selector: &str) -> String {
    format!("document.querySelector('{selector}').innerText.replace(/\\s+/g, ' ').trim()")
}

#[test]
fn a_page_says_what_the_terminal_says() {
    if !is_installed() {
        return;
    }
    let place = folder("figures");
    let path = demo("figures-page");
    let terminal = String::from_utf8(forkcast(&place, &["demo", "--details", "--timezone", "UTC"]).stdout).unwrap();
    let mut browser = Browser::start(&folder("figures-profile"));
    browser.screen(1_200, false);
    browser.open(&path);
    let title = terminal.lines().next().unwrap().replace(" · ", " ");
    assert_eq!(browser.says(&text("h1")).replace(" · ", " "), title);
    let amounts = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| c.is_whitespace() || "(),;".contains(c));
        words
            .filter(|word| word.starts_with('$') || word.starts_with("-$"))
            .map(|word| word.trim_end_matches('.').to_owned())
            .collect()
    };
    let spoken = amounts(&terminal);
    for part in ["#bill", "#changes", "#misses", "#what-if"] {
        let shown = amounts(&browser.says(&text(part)));
        assert!(!shown.is_empty(), "{part}");
        for amount in shown {
            assert!(spoken.contains(&amount), "{part}: {amount} is not on the terminal");
        }
    }
}

#[test]
fn from_the_bill_to_a_byte_in_two_clicks() {
    if !is_installed() {
        return;
    }
    let path = demo("clicks");
    let mut browser = Browser::start(&folder("clicks-profile"));
    browser.screen(1_200, false);
    browser.open(&path);
    browser.click("[...document.querySelectorAll('#bill .causes button')].find((one) => one.innerText.includes('system_changed'))");
    assert!(browser.says(&text("#misses")).contains("1 miss, $0.0096"), "{}", browser.says(&text("#misses")));
    browser.click("document.querySelector('#misses tbody tr')");
    let request = browser.says(&text("#request"));
    for word in ["Request 8", "system[1]", "system text, field `text`", "$0.0096", "a varying date"] {
        assert!(request.contains(word), "{word}: {request}");
    }
    assert_eq!(browser.says("location.hash"), "#request=8");
    assert_eq!(browser.problems(), [""; 0]);
}

#[test]
fn a_proof_adds_up_to_what_its_change_saves() {
    if !is_installed() {
        return;
    }
    let path = demo("proof");
    let mut browser = Browser::start(&folder("proof-profile"));
    browser.screen(1_200, false);
    browser.open(&path);
    let change =
        "[...document.querySelectorAll('#changes tbody tr')].find((one) => one.innerText.includes('Move what varies'))";
    let saved = browser.says(&format!("{change}.cells[1].innerText"));
    browser.click(&format!("{change}.querySelector('.proof')"));
    assert_eq!(browser.says(&text("#misses [role=status]")), format!("1 miss, {saved}"));
    assert_eq!(browser.problems(), [""; 0]);
}

/// A week has the cost, the requests and the savings that the terminal groups by week.
#[test]
fn a_week_costs_what_the_terminal_says() {
    if !is_installed() {
        return;
    }
    let mut browser = Browser::start(&folder("week-profile"));
    browser.screen(1_200, false);
    let path = three("week");
    browser.open(&path);
    let place = path.parent().unwrap();
    let terminal = forkcast(place, &["replay", "in", "--by", "week", "--timezone", "UTC", "--quiet"]);
    let terminal = String::from_utf8(terminal.stdout).unwrap();
    let line = terminal.lines().find(|line| line.contains("2026-W40")).unwrap().to_owned();
    let words: Vec<&str> = line.split_whitespace().collect();
    let choose = "(() => { const week = document.querySelector('#days select'); week.value = [...week.options].find((one) => \
                  one.text === '2026-09-28').value; week.dispatchEvent(new Event('change')); })()";
    browser.value(choose);
    let said = browser.says(&text("#days [role=status]"));
    let cost = words.iter().find(|word| word.starts_with('$')).unwrap();
    assert!(said.contains(&format!("{cost} for {} requests: ", words[1])), "{said}: {line}");
    let avoidable = words.iter().filter(|word| word.starts_with('$')).nth(1).unwrap();
    assert!(said.ends_with(&format!("Avoidable: {avoidable}.")), "{said}: {line}");
    assert_eq!(browser.problems(), [""; 0]);
}

/// Three recordings, so that there is something to filter.
fn three(name: &str) -> std::path::PathBuf {
    let place = folder(name);
    let sample = fs::read_to_string(workspace().join("replay/sample/sample.exchanges.jsonl")).unwrap();
    fs::create_dir(place.join("in")).unwrap();
    fs::write(place.join("in/one.jsonl"), &sample).unwrap();
    fs::write(place.join("in/two.jsonl"), sample.replace("claude-opus-4-8", "claude-haiku-4-5")).unwrap();
    // Thirty days earlier.
    fs::write(place.join("in/three.jsonl"), sample.replace("17936", "17910")).unwrap();
    page(&place, &["replay", "in/one.jsonl", "in/two.jsonl", "in/three.jsonl"])
}

#[test]
fn filters_and_switches_change_sums_and_nothing_else() {
    if !is_installed() {
        return;
    }
    let mut browser = Browser::start(&folder("filters-profile"));
    browser.screen(1_200, false);
    browser.open(&three("filters"));
    let summary = text("#sessions [role=status]");
    let all = browser.says(&summary);
    assert!(all.starts_with("3 sessions, 42 requests, $"), "{all}");
    let title = browser.says(&text("h1 .amount"));
    assert!(all.ends_with(&title), "the rows add up to {all}, the report says {title}");
    browser.value("(() => { const search = document.querySelector('#sessions input'); search.value = 'two'; search.dispatchEvent(new Event('input')); })()");
    assert!(browser.says(&summary).starts_with("1 session, 14 requests"), "{}", browser.says(&summary));
    browser.value("(() => { const search = document.querySelector('#sessions input'); search.value = ''; search.dispatchEvent(new Event('input')); })()");
    browser.value("(() => { const model = document.querySelector('#sessions select[aria-label=Model]'); model.value = '1'; model.dispatchEvent(new Event('change')); })()");
    assert!(browser.says(&summary).starts_with("1 session, 14 requests"), "{}", browser.says(&summary));
    browser.click("document.querySelector('#sessions .chip')");
    assert_eq!(browser.says(&summary), all);
    // A what-if has its own column, and the report's sum stays.
    browser.click("document.querySelector('#what-if input[value=\"1\"]')");
    assert!(browser.says(&text("#sessions thead")).contains("What if"));
    assert_eq!(browser.says(&text("h1 .amount")), title);
    assert_eq!(browser.problems(), [""; 0]);
}

#[test]
fn an_explanation_shows_both_sides_at_the_first_byte_if_asked() {
    if !is_installed() {
        return;
    }
    let sample = workspace().join("replay/sample/sample.exchanges.jsonl").display().to_string();
    let mut browser = Browser::start(&folder("sides-profile"));
    browser.screen(1_200, false);
    let shown = page(&folder("sides"), &["explain", &sample, "8", "--show-content"]);
    browser.open(&shown);
    let marks = "[...document.querySelectorAll('#shown .sides mark')].map((one) => one.innerText).join()";
    assert_eq!(browser.says(marks), "2,3", "the day of the date");
    let rows = "[...document.querySelectorAll('#shown svg text')].map((one) => one.textContent).join('|')";
    let rows = browser.says(rows);
    for word in ["tools|system|messages", "read 1,282", "sent before, not read 1,662", "2,941, readable"] {
        assert!(rows.contains(word), "{word}: {rows}");
    }
    assert_eq!(browser.problems(), [""; 0]);
    // Without it no byte of a prompt is in the file.
    let hidden = page(&folder("sides-hidden"), &["explain", &sample, "8"]);
    browser.open(&hidden);
    assert_eq!(browser.says(marks), "");
    assert!(!browser.says(&text("main")).contains("Today is 2026"));
    assert!(browser.says(&text("#shown")).contains("With --show-content"));
}

#[test]
fn a_moment_is_moved_over_the_lanes() {
    if !is_installed() {
        return;
    }
    let mut browser = Browser::start(&folder("moment-profile"));
    browser.screen(1_200, false);
    browser.open(&page(&folder("moment"), &["run"]));
    browser.value("document.getElementById('session').scrollIntoView(); new Promise((done) => setTimeout(done, 200))");
    let said = text("#session .scrubber output");
    assert_eq!(browser.says(&said), "Move to see the bill at any moment.");
    let moved = |value: &str| {
        format!(
            "(() => {{ const range = document.querySelector('#session .scrubber input'); range.value = {value}; \
             range.dispatchEvent(new Event('input')); }})()"
        )
    };
    browser.value(&moved("0"));
    let first = browser.says(&said);
    assert!(first.starts_with("+0 ms: $0.1160 of $0.6331, 1 of 36 requests; waiting for an answer: main"), "{first}");
    browser.value(&moved("range.max / 2"));
    let half = browser.says(&said);
    assert!(half.contains(" of $0.6331, ") && half.contains("waiting for an answer: fork"), "{half}");
    assert_eq!(browser.problems(), [""; 0]);
}

#[test]
fn an_icicle_has_the_bill_by_what_it_was_about() {
    if !is_installed() {
        return;
    }
    let mut browser = Browser::start(&folder("icicle-profile"));
    browser.screen(1_200, false);
    browser.open(&demo("icicle"));
    browser.value("document.getElementById('session').scrollIntoView(); new Promise((done) => setTimeout(done, 200))");
    let cells = |browser: &mut Browser| {
        let said = "[...document.querySelectorAll('#session svg[aria-label^=\"Dollars\"] text')].map((one) => \
                    one.textContent).join('|')";
        browser.says(said)
    };
    let about = cells(&mut browser);
    for word in ["sample", "Tools", "System", "Results", "New answers", "read_file"] {
        assert!(about.contains(word), "{word}: {about}");
    }
    // Its parts add up to the bill: each is as wide as its share.
    let wide = "(() => { const svg = document.querySelector('#session svg[aria-label^=\"Dollars\"]'); \
                const rows = [...svg.querySelectorAll('rect')].filter((one) => one.getAttribute('y') === '28'); \
                return rows.reduce((sum, one) => sum + Number(one.getAttribute('width')), 0) / svg.width.baseVal.value; })()";
    let share = browser.value(wide).as_f64().unwrap();
    assert!((share - 1.0).abs() < 0.01, "{share}");
    browser.click("[...document.querySelectorAll('#session button')].find((one) => one.innerText === 'By agent')");
    browser.value("new Promise((done) => setTimeout(done, 100))");
    assert!(cells(&mut browser).contains("review-1"));
    assert_eq!(browser.problems(), [""; 0]);
}

#[test]
fn a_finding_shows_the_blocks_of_its_request_and_the_changed_one() {
    if !is_installed() {
        return;
    }
    let sample = workspace().join("replay/sample/sample.exchanges.jsonl").display().to_string();
    let shown = page(&folder("blocks"), &["check", &sample, "--lock", "none"]);
    let mut browser = Browser::start(&folder("blocks-profile"));
    browser.screen(1_200, false);
    browser.open(&shown);
    let parts = "[...document.querySelectorAll('#strip .blocks > *')].map((one) => one.className).join(' ')";
    let parts = browser.says(parts);
    let (before, after) = parts.split_once("missed").unwrap_or_else(|| panic!("no block stands out: {parts}"));
    assert!(before.split_whitespace().all(|look| look == "read"), "{parts}");
    assert!(!after.trim().is_empty() && after.split_whitespace().all(|look| look == "written"), "{parts}");
    assert!(browser.says(&text("#strip")).contains("Its blocks by tokens: tools "));
    assert_eq!(browser.problems(), [""; 0]);
}

/// Otherwise the plot shows another turning point than the title.
#[test]
fn forks_and_agents_are_drawn_with_their_parent() {
    if !is_installed() {
        return;
    }
    let place = folder("started");
    let asked = ["fanout", "--turns", "1..3", "--against", "spawn"];
    let output = forkcast(&place, &[&asked[..], &["--format", "json"]].concat());
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let costs: Vec<f64> =
        report["rows"].as_array().unwrap().iter().map(|row| row["total_cost_usd"].as_f64().unwrap()).collect();
    let most = costs.iter().copied().fold(0.0, f64::max);
    let mut browser = Browser::start(&folder("started-profile"));
    browser.screen(1_200, false);
    browser.open(&page(&place, &asked));
    let heights = "[...document.querySelectorAll('#cells svg')[0].querySelectorAll('circle')].map((one) => 210 - one.getAttribute('cy')).join()";
    let mut heights: Vec<f64> = browser.says(heights).split(',').map(|height| height.parse().unwrap()).collect();
    let highest = heights.iter().copied().fold(0.0, f64::max);
    let mut costs = costs;
    costs.sort_by(f64::total_cmp);
    heights.sort_by(f64::total_cmp);
    assert_eq!(costs.len(), heights.len());
    for (cost, height) in costs.iter().zip(&heights) {
        assert!((cost / most - height / highest).abs() < 0.005, "{costs:?} are drawn as {heights:?}");
    }
}
