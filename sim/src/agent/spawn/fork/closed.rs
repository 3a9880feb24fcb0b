//! Why a call did not fork (contract DIAG-05).

use super::guard;
use crate::agent::event::Event;
use crate::agent::session::{Call, Context};
use crate::agent::settings::Profile;
use crate::agent::settings::forks::TYPE;
use crate::agent::settings::gate::{Closed, Meant, failed, feature, meant};

/// Every condition that prevents a fork; empty if the call forks (DIAG-05).
pub fn explain(context: &Context, subagent_type: Option<&str>) -> Vec<Closed> {
    let session = &context.session;
    let by_type = match (session.settings.forks.profile, subagent_type) {
        (Profile::Documents, None) | (Profile::Client2026, Some(TYPE)) => None,
        (Profile::Client2026, None) => Some(Closed::NoType),
        (_, Some(_)) => Some(Closed::ExplicitType),
    };
    let mut why: Vec<Closed> = failed(&session.settings).collect();
    why.extend(by_type);
    why.extend(guard::trips(context).map(|_| Closed::ForkChild));
    why.extend(context.member().map(|_| Closed::Teammate));
    why
}

/// Reports why a call does not fork if forks are enabled (DIAG-05). Otherwise `agent.route` reports it.
pub fn tell(call: &Call, subagent_type: Option<&str>) {
    let context = &call.context;
    let session = &call.context.session;
    let is_wanted = session.settings.forks.profile == Profile::Client2026 || feature(&session.settings);
    let forks = meant(&session.settings, subagent_type) == Meant::Fork && context.member().is_none();
    if !is_wanted || forks {
        return;
    }
    let failed: Vec<&'static str> = explain(context, subagent_type).into_iter().map(Closed::name).collect();
    if !failed.is_empty() {
        let agent = context.agent.clone();
        let tool_use = call.tool_use.id.clone();
        context.emit(&Event::ForkClosed { agent, tool_use, failed });
    }
}
