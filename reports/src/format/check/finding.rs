//! One finding as JSON.

use forkcast_sim::diagnosis::Window;
use forkcast_sim::guard::Finding;
use serde::Serialize;

use crate::check::Check;
use crate::document::Marked;
use crate::format::number::Usd;
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
    level: &'static str,
    path: String,
    name: String,
    offset_in_block: Option<u64>,
    offset_in_prefix: Option<u64>,
    cause: &'static str,
    volatile: Option<&'static str>,
    breaks_prefix: bool,
    offset_range: Option<[u64; 2]>,
    tokens_lost: u64,
    billed_as: &'static str,
    cost_usd: Option<Usd>,
    cost_usd_per_day: Option<Usd>,
    provider_reason: Option<&'static str>,
    suggestion: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<WindowObject>,
}

#[derive(Serialize)]
struct WindowObject {
    older: String,
    newer: String,
}

impl FindingObject {
    /// A finding with its names as they are shown.
    pub(super) fn of(check: &Check<'_>, finding: &Finding) -> Self {
        let names = check.names;
        let day = check.rules.requests_per_day.and_then(|requests| finding.cost_per_day(requests));
        let windows = finding.windows.as_ref().filter(|_| check.content && names == Names::Plain);
        let line = check.origin(finding.request).map(|origin| origin.line);
        Self {
            rule: finding.rule.word(),
            verdict: check.verdict(finding).word(),
            chain: names.agent(&finding.chain),
            request: finding.request,
            older: finding.older,
            file: check.file(finding.request),
            line: line.filter(|line| *line > 0),
            level: finding.level.name(),
            path: finding.path.clone(),
            name: names.thing(&finding.name),
            offset_in_block: finding.offset_in_block,
            offset_in_prefix: finding.offset_in_prefix,
            cause: finding.cause.word(),
            volatile: finding.volatile.map(|volatile| volatile.word()),
            breaks_prefix: finding.breaks_prefix,
            offset_range: finding.offset_range,
            tokens_lost: finding.tokens_lost,
            billed_as: finding.billed_as.word(),
            cost_usd: finding.cost.map(Usd),
            cost_usd_per_day: day.map(Usd),
            provider_reason: finding.provider_reason(),
            suggestion: words::suggestion(check, finding),
            window: windows.map(|[older, newer]| WindowObject { older: whole(older), newer: whole(newer) }),
        }
    }
}

fn whole(window: &Window) -> String {
    Marked::from(window.clone()).whole()
}
