//! One finding as JSON.

use forkcast_sim::guard::{Finding, Rule};

use crate::check::{Check, Verdict};
use crate::format::change::{Change, Visible};
use crate::format::words::categories;
use crate::human::check::words;
use crate::names::Names;
use crate::record::Shape;

/// A finding with its names as they are shown.
pub(super) struct FindingOf<'a> {
    pub check: &'a Check<'a>,
    pub finding: &'a Finding,
}

impl<'a> FindingOf<'a> {
    fn change(&self) -> Change<'a> {
        let Self { check, finding } = *self;
        Change(Some(Visible {
            finding,
            name: check.names.thing(&finding.name),
            suggestion: words::suggestion(check, finding),
            requests_per_day: check.rules.requests_per_day,
            windows: check.content && check.names == Names::Plain,
        }))
    }
}

/// The rules of findings.
pub(super) fn rules() -> Shape {
    Shape::named("rule", Rule::ALL.map(Rule::word))
}

record! {
    FindingOf<'_>, "finding":
    field "rule", rules, "The rule that it breaks." => |it| it.finding.rule.word();
    field "verdict", || Shape::words(Verdict::ALL.map(Verdict::word)),
        "`fails`: the check fails because of it. `noted`: the rules do not make it fail. `allowed`: the rules allow it \
         by name. `harmless`: it breaks nothing." =>
        |it| it.check.verdict(it.finding).word();
    text "chain", "Its chain." => |it| it.check.names.agent(&it.finding.chain);
    ordinal "request", "Position among all requests that were checked, from 0." => |it| it.finding.request;
    ordinal "older", "The request that it is compared with." => |it| it.finding.older, null("for the lock's");
    truth "with_sibling",
        "That request is a sibling's: what sharing would save is no damage of a change, and in no sum." =>
        |it| it.finding.with_sibling;
    text "file", "The file of the request." => |it| it.check.file(it.finding.request), null("if it is in none");
    ordinal "line", "Its line, from 1." =>
        |it| it.check.origin(it.finding.request).map(|origin| origin.line).filter(|line| *line > 0),
        null("if the file does not have one for each request");
    flat: Change<'_>, => |it| it.change().value();
    field "billed_as", categories, "How lost tokens are billed instead of reads." =>
        |it| it.finding.loss.map(|loss| loss.billed_as.word()), null("if no cache of its provider is modelled");
}
