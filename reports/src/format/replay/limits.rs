//! Limits of the sums: a time window, limits; recommended actions; limits of the numbers.

use forkcast_sim::pricing::Money;

use super::InReport;
use crate::record::{Shape, Value};
use crate::report::{Action, Gate, LeftOut, Measure, Unpriced, Unseen, Window};

/// When a field is null.
const OPEN: &str = "if it is open on this side";

record! {
    InReport<'_, (Window, LeftOut)>, "window":
    millis "since_ms", "Its start, since 1970." => |window| window.of.0.since, null(OPEN);
    millis "until_ms", "Its end, since 1970." => |window| window.of.0.until, null(OPEN);
    record: LeftOut, "left_out", "Requests that were replayed and are in no sum." => |window| window.of.1.value();
}

record! {
    LeftOut, "left_out_requests":
    count "outside", "Requests outside it." => |left_out| left_out.outside, unit("requests");
    count "without_instant", "Requests that may be outside it." => |left_out| left_out.without_instant, unit("requests");
    count "other_projects", "Requests of other projects." => |left_out| left_out.other_projects, unit("requests");
    count "other_sessions", "Requests of other sessions." => |left_out| left_out.other_sessions, unit("requests");
}

impl From<Measure> for Value {
    fn from(measure: Measure) -> Self {
        match measure {
            Measure::Cost(cost) => Self::Usd(cost),
            Measure::HitRate(part) => Self::Number(part),
            Measure::Tokens(tokens) => Self::Count(tokens),
        }
    }
}

const UNIT: &str = "USD, part of 1, or tokens";

record! {
    Gate, "gate":
    field "name", || Shape::words(["max-cost", "min-hit-rate", "max-unexplained"]), "Its option." => |gate| gate.name;
    field "limit", || Shape::Positive, "The allowed value." => |gate| gate.limit, unit(UNIT);
    number "found", "The measured value." => |gate| gate.found, unit(UNIT), null("if nothing could be found");
    truth "passed", "It was kept, and that is certain." => |gate| gate.passed;
    text "undecided", "Why that is unknown; the limit then counts as failed." =>
        |gate| gate.undecided.clone(), null("if it is known");
}

record! {
    InReport<'_, Action>, "action":
    text "code", "Stable word for it." => |action| action.of.code;
    text "what", "What to change, and the reason for the cost." => |action| action.of.what.clone();
    texts "sessions", "Ids of the sessions that it helps, the one with most money first." =>
        |action| {
            let sessions = action.of.sessions.iter().filter_map(|at| action.report.sessions.get(*at));
            Value::texts(sessions.map(|session| &session.id))
        };
    usd "saved_usd", "The saving over the time of the recording." => |action| action.of.saved;
    share "saved_share", "The same as a share of the bill." =>
        |action| {
            let bill = action.report.totals.billed.cost.filter(|bill| *bill > Money::ZERO);
            bill.map(|bill| action.of.saved.picousd() as f64 / bill.picousd() as f64)
        }, null("if nothing has a price");
    text "what_if", "The what-if that proves it." =>
        |action| action.of.what_if.and_then(|at| action.report.what_ifs.get(at)).map(|tried| tried.name.clone()),
        null("if the money of causes proves it");
}

record! {
    Unseen, "unseen":
    count "hidden_requests", "Requests which show that another request, missing in the input, changed the cache." =>
        |unseen| unseen.hidden, unit("requests");
    count "compaction_requests", "Compactions whose own request is in no file." => |unseen| unseen.compactions, unit("requests");
    count "absent_agents", "Started sub-agents without a file." => |unseen| unseen.absent_agents, unit("agents");
    tokens "absent_agent_tokens", "Their tokens, if the client reports them." => |unseen| unseen.absent_tokens;
    count "first_requests_given", "First requests of the chains of transcripts: taken as given." =>
        |unseen| unseen.first_requests, unit("requests");
    count "not_modelled_requests", "Requests to providers without a cache profile." => |unseen| unseen.not_modelled, unit("requests");
    count "requests_without_usage", "Requests that enter no sum." => |unseen| unseen.without_usage, unit("requests");
}

record! {
    Unpriced, "unpriced":
    text "model", "The model, as spelled." => |model| model.model.clone();
    count "requests", "Its requests with usage." => |model| model.requests, unit("requests");
    tokens "tokens", "Its tokens, input and output." => |model| model.tokens;
    field "reason", || Shape::words(["no_price", "no_model"]), "Why its money is unknown." => |model| model.reason();
}
