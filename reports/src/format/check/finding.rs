//! One finding as JSON.

use forkcast_sim::guard::Finding;
use serde::Serialize;

use crate::check::Check;
use crate::format::change::{ChangeObject, Shown};
use crate::human::check::words;
use crate::names::Names;

/// A finding.
#[derive(Serialize)]
pub(super) struct FindingObject {
    rule: &'static str,
    verdict: &'static str,
    chain: String,
    request: usize,
    older: Option<usize>,
    file: Option<String>,
    line: Option<usize>,
    #[serde(flatten)]
    change: ChangeObject,
    billed_as: Option<&'static str>,
}

impl FindingObject {
    /// A finding with its names as they are shown.
    pub(super) fn of(check: &Check<'_>, finding: &Finding) -> Self {
        let shown = Shown {
            name: check.names.thing(&finding.name),
            suggestion: words::suggestion(check, finding),
            requests_per_day: check.rules.requests_per_day,
            windows: check.content && check.names == Names::Plain,
        };
        let line = check.origin(finding.request).map(|origin| origin.line);
        Self {
            rule: finding.rule.word(),
            verdict: check.verdict(finding).word(),
            chain: check.names.agent(&finding.chain),
            request: finding.request,
            older: finding.older,
            file: check.file(finding.request),
            line: line.filter(|line| *line > 0),
            change: ChangeObject::of(finding, shown),
            billed_as: finding.loss.map(|loss| loss.billed_as.word()),
        }
    }
}
