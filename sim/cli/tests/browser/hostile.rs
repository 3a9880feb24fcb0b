//! Names in a recording stay text, whatever they are.

use std::fs;

use forkcast_fixtures::workspace;

use super::chromium::Browser;
use super::{is_installed, page};
use crate::program::folder;

/// Malicious names: markup, a change of direction, an escape sequence, a formula, a very long one.
fn names() -> Vec<String> {
    vec![
        "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>".to_owned(),
        "\u{202e}\u{2066}evil\u{1b}[31m\u{9b}2J".to_owned(),
        "=cmd|' /C calc'!A0\"><svg onload=window.hacked=1>".to_owned(),
        "x".repeat(10_000),
    ]
}

#[test]
fn names_never_become_markup() {
    let place = folder("hostile-page");
    let sample = fs::read_to_string(workspace().join("replay/sample/sample.exchanges.jsonl")).unwrap();
    let quoted = |name: &str| serde_json::to_string(name).unwrap().trim_matches('"').to_owned();
    for (at, name) in names().iter().enumerate() {
        let text = sample
            .replace("\"main\"", &format!("\"{}\"", quoted(name)))
            .replace("claude-opus-4-8", &quoted(name))
            .replace("pressure_at", &quoted(&format!("tool {name}")))
            .replace("review-1", &quoted(name));
        fs::write(place.join(format!("{at} '<b>&amp;'.jsonl")), text).unwrap();
    }
    let path = page(&place, &["replay", "."]);
    let html = fs::read_to_string(&path).unwrap();
    assert_eq!(html.matches("<script").count(), html.matches("</script>").count());
    assert!(
        !html.contains("<img")
            && !html.contains("<svg onload")
            && !html.contains('\u{202e}')
            && !html.contains('\u{1b}')
    );
    if !is_installed() {
        return;
    }
    let mut browser = Browser::start(&folder("hostile-profile"));
    for width in [360, 1_600] {
        browser.screen(width, false);
        browser.open(&path);
        for session in 0..names().len() {
            browser.click(&format!("document.querySelectorAll('#sessions tbody tr')[{session}]"));
            browser.click("document.querySelector('#session tbody tr')");
        }
        assert!(browser.value("window.hacked === undefined && document.querySelectorAll('img, iframe, object, embed').length === 0").as_bool().unwrap());
        let is_visible = "/[\\u202a-\\u202e\\u2066-\\u2069\\u001b\\u009b]/.test(document.body.innerText)";
        assert_eq!(browser.value(is_visible), false);
        let found = browser.value("document.documentElement.scrollWidth");
        assert!(found.as_u64() <= Some(width.into()), "{found} of {width} pixels");
        assert_eq!(browser.problems(), [""; 0]);
    }
}
