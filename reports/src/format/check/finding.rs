//! One finding as JSON.

use forkcast_sim::guard::Finding;
use serde::Serialize;

use crate::check::Check;
use crate::document::Marked;
use crate::format::change::{ChangeObject, Loss, Where, WindowObject};
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
    billed_as: &'static str,
}

impl FindingObject {
    /// A finding with its names as they are shown.
    pub(super) fn of(check: &Check<'_>, finding: &Finding) -> Self {
        let line = check.origin(finding.request).map(|origin| origin.line);
        Self {
            rule: finding.rule.word(),
            verdict: check.verdict(finding).word(),
            chain: check.names.agent(&finding.chain),
            request: finding.request,
            older: finding.older,
            file: check.file(finding.request),
            line: line.filter(|line| *line > 0),
            change: change(check, finding),
            billed_as: finding.billed_as.word(),
        }
    }
}

fn change(check: &Check<'_>, finding: &Finding) -> ChangeObject {
    let day = check.rules.requests_per_day.and_then(|requests| finding.cost_per_day(requests));
    let place = Where {
        level: finding.level,
        path: finding.path.clone(),
        name: check.names.thing(&finding.name),
        offset_in_block: finding.offset_in_block,
        offset_in_prefix: finding.offset_in_prefix,
        offset_range: finding.offset_range,
    };
    let loss = Loss {
        breaks_prefix: finding.breaks_prefix,
        tokens: finding.tokens_lost,
        is_upper_bound: finding.is_upper_bound,
        cost: finding.cost,
        cost_per_day: day,
    };
    let windows = finding.windows.clone().filter(|_| check.content && check.names == Names::Plain);
    let window = windows.map(|windows| WindowObject::from(&windows.map(Marked::from)));
    ChangeObject::new(place, (finding.cause, finding.volatile), finding.provider, loss)
        .with(words::suggestion(check, finding), window)
}
