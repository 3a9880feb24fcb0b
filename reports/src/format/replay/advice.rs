//! What to do, and what the numbers cannot show.

use serde::Serialize;

use crate::format::number::Usd;
use crate::report::{self, Action, Report, Unseen};

/// Something to do.
#[derive(Serialize)]
pub(super) struct ActionObject {
    what: String,
    sessions: Vec<String>,
    saved_usd_per_week: Usd,
    what_if: Option<String>,
}

pub(super) fn actions(report: &Report<'_>) -> Vec<ActionObject> {
    let object = |action: Action| ActionObject {
        what: action.what,
        sessions: action.sessions.iter().filter_map(|at| Some(report.sessions.get(*at)?.id.clone())).collect(),
        saved_usd_per_week: Usd(action.saved_per_week),
        what_if: action.what_if.and_then(|at| report.what_ifs.get(at)).cloned(),
    };
    report::actions(report).into_iter().map(object).collect()
}

/// Counts of what lies outside the numbers.
#[derive(Serialize)]
pub(super) struct UnseenObject {
    hidden_requests: u64,
    compaction_requests: u64,
    absent_agents: u64,
    absent_agent_tokens: u64,
    first_requests_given: u64,
    not_modelled_requests: u64,
    requests_without_usage: u64,
}

impl From<Unseen> for UnseenObject {
    fn from(unseen: Unseen) -> Self {
        Self {
            hidden_requests: unseen.hidden,
            compaction_requests: unseen.compactions,
            absent_agents: unseen.absent_agents,
            absent_agent_tokens: unseen.absent_tokens,
            first_requests_given: unseen.first_requests,
            not_modelled_requests: unseen.not_modelled,
            requests_without_usage: unseen.without_usage,
        }
    }
}
