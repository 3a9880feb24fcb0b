//! Every page at every width, light and dark.

use std::path::PathBuf;

use forkcast_fixtures::workspace;

use super::chromium::Browser;
use super::{demo, is_installed, page};
use crate::program::{folder, forkcast};

/// A page of each verb.
fn pages() -> Vec<(&'static str, PathBuf)> {
    let of = |name: &str, arguments: &[&str]| page(&folder(&format!("looks-{name}")), arguments);
    let mut found = vec![
        ("demo", demo("looks-demo")),
        ("run", of("run", &["run", "--breakpoints", "both", "--launch", "primed"])),
        (
            "fanout",
            of(
                "fanout",
                &[
                    "fanout",
                    "--children",
                    "2,4,8",
                    "--turns",
                    "1,4",
                    "--breakpoints",
                    "both,tail",
                    "--launch",
                    "burst,primed",
                ],
            ),
        ),
    ];
    let sample = workspace().join("replay/sample/sample.exchanges.jsonl").display().to_string();
    let (before, after) = (format!("{sample}#7"), format!("{sample}#8"));
    found.push(("explain", of("explain", &["explain", &sample, "8", "--show-content"])));
    found.push(("diff", of("diff", &["diff", &before, &after, "--show-content"])));
    let place = folder("looks-sweep");
    for line in [
        "sweep plan fanout --set children=2,4,8 --set launch=burst,primed --set breakpoints=both -o plan.json",
        "sweep run plan.json --out parts --quiet",
    ] {
        assert!(forkcast(&place, &line.split(' ').collect::<Vec<_>>()).status.success(), "{line}");
    }
    found.push(("sweep", page(&place, &["sweep", "merge", "plan.json", "--out", "parts"])));
    let place = folder("looks-compare");
    for (name, launch) in [("a", "burst"), ("b", "primed")] {
        let run = ["run", "--quiet", "--breakpoints", "both", "--launch", launch, "--out", name];
        assert!(forkcast(&place, &run).status.success());
    }
    found.push(("compare", page(&place, &["compare", "a", "b"])));
    found.push(("check", of("check", &["check", &sample, "--lock", "none"])));
    found
}

#[test]
fn no_page_has_errors_or_loads_anything_or_is_wider_than_its_screen() {
    if !is_installed() {
        return;
    }
    let mut browser = Browser::start(&folder("looks-profile"));
    for (name, path) in pages() {
        for (width, is_dark) in [(360, false), (800, true), (1_600, false), (1_600, true)] {
            browser.screen(width, is_dark);
            browser.open(&path);
            let found = browser.value("document.documentElement.scrollWidth");
            assert!(found.as_u64() <= Some(width.into()), "{name}: {found} of {width} pixels");
            assert_eq!(browser.problems(), [""; 0], "{name}, {width} pixels");
            let empty = "[...document.querySelectorAll('main > section:not([hidden])')].filter((one) => \
                         !one.innerText.trim().includes('\\n')).map((one) => one.id).join()";
            assert_eq!(browser.says(empty), "", "{name}: chapters without content");
            browser.keep(&format!("{name}-{width}-{}", if is_dark { "dark" } else { "light" }));
        }
    }
}

#[test]
fn paper_and_dark_are_what_they_say() {
    if !is_installed() {
        return;
    }
    let mut browser = Browser::start(&folder("paper-profile"));
    let path = demo("paper");
    let background = "getComputedStyle(document.body).backgroundColor";
    browser.screen(1_000, true);
    browser.open(&path);
    assert_eq!(browser.says(background), "rgb(21, 23, 26)");
    browser.click("document.getElementById('look')");
    assert_eq!(browser.says(background), "rgb(255, 255, 255)");
    browser.screen(1_000, false);
    assert_eq!(browser.says("document.getElementById('look').textContent"), "Dark");
}
