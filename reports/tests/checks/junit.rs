//! JUnit XML as GitLab and Jenkins read it.

use forkcast_reports::format::check::junit;
use forkcast_sim::guard::Rules;
use roxmltree::{Document, Node};

use super::captures::{CALM, Checked, restless};
use crate::written::text;

fn xml(checked: &Checked) -> String {
    text(|target| junit::write(&checked.check(), target))
}

fn named<'a>(document: &'a Document<'a>, tag: &'static str) -> Vec<Node<'a, 'a>> {
    document.descendants().filter(|node| node.has_tag_name(tag)).collect()
}

fn sum(document: &Document<'_>, tag: &'static str, attribute: &str) -> Vec<usize> {
    named(document, tag).iter().map(|node| node.attribute(attribute).unwrap().parse().unwrap()).collect()
}

#[test]
fn counts_are_those_of_the_tests() {
    let xml = xml(&Checked::of(&restless(), Rules::default()).with_everything());
    let document = Document::parse(&xml).unwrap();
    assert!(document.root_element().has_tag_name("testsuites"));
    for (attribute, tag) in
        [("failures", "failure"), ("errors", "error"), ("skipped", "skipped"), ("tests", "testcase")]
    {
        let found = named(&document, tag).len();
        assert_eq!(sum(&document, "testsuites", attribute), [found], "{attribute}");
        assert_eq!(sum(&document, "testsuite", attribute).iter().sum::<usize>(), found, "{attribute}");
    }
}

/// GitLab shows name, class, file and the failure's text; Jenkins groups by the part before the class's last dot.
#[test]
fn a_test_has_the_fields_that_its_readers_show() {
    let xml = xml(&Checked::of(&restless(), Rules::default()));
    let document = Document::parse(&xml).unwrap();
    let cases = named(&document, "testcase");
    let failing = cases.iter().find(|case| case.attribute("classname") == Some("forkcast.stability")).unwrap();
    assert_eq!(failing.attribute("name"), Some("main"));
    assert!(failing.attribute("file").unwrap().starts_with("bodies/"));
    let failures: Vec<Node<'_, '_>> = failing.children().filter(|node| node.has_tag_name("failure")).collect();
    let [failure] = failures[..] else { panic!("{}", failures.len()) };
    assert!(failure.attribute("message").unwrap().contains("more)"), "{:?}", failure.attribute("message"));
    assert!(!failure.attribute("type").unwrap().is_empty());
    for cause in ["system_changed", "tool_changed", "tools_reordered", "message_edited"] {
        assert!(failure.text().unwrap().contains(cause), "{cause}");
    }
}

#[test]
fn a_chain_that_keeps_its_prefix_passes() {
    let xml = xml(&Checked::of(&[CALM, CALM], Rules::default()));
    let document = Document::parse(&xml).unwrap();
    assert_eq!(named(&document, "failure").len(), 0);
    assert!(named(&document, "testcase").iter().any(|case| case.attribute("name") == Some("main")));
}
