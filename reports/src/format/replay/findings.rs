//! Lists request by request: exceptions and misses; and remarks.

use forkcast_sim::service::Verdict;

use crate::format::words::{cause, volatile};
use crate::record::{Shape, Value};
use crate::report::{Exception, Miss, Place, Report};

/// A thing with its names as a report shows them.
pub(crate) struct InReport<'a, T> {
    pub report: &'a Report<'a>,
    pub of: &'a T,
}

/// A remark, and how many requests have it.
pub(crate) struct Remark(pub (String, u64));

record! {
    Remark, "remark":
    text "remark", "Remarks." => |remark| remark.0.0.clone();
    count "requests", "Requests with this remark." => |remark| remark.0.1, unit("requests");
}

const IN_FILE: &str = "Position in the recording, from 0.";

record! {
    /// The place of a request. JSON has positions in the file; tables also have positions among all requests.
    InReport<'_, Place>, "place":
    ordinal "index", "Position among all requests, from 0." => |place| place.of.index, derived();
    text "session", "Id of its session." =>
        |place| {
            let session = place.report.session(place.of.session);
            session.map(|session| session.id.clone()).unwrap_or_default()
        };
    text "file", "Its file." => |place| place.report.names.file(&place.of.file);
    ordinal "index", IN_FILE => |place| place.of.file_index, no_cell();
    ordinal "file_index", IN_FILE => |place| place.of.file_index, derived();
    ordinal "line", "Line in the file, from 1; 0 if it has none." => |place| place.of.line;
    millis "at_ms", "When it was sent, since 1970." => |place| place.of.at, null("if the recording has no instants");
    text "model", "Its model." => |place| place.report.names.model(&place.of.model).into_owned();
}

/// Words of verdicts.
pub(crate) fn verdicts() -> Shape {
    Shape::words([Verdict::Cold, Verdict::Partial, Verdict::Full].map(Verdict::word))
}

record! {
    InReport<'_, Exception>, "exception":
    flat: InReport<'_, Place>, => |found| InReport { report: found.report, of: &found.of.place }.value();
    field "recorded_verdict", verdicts, "How much of the expected read was read, as recorded." =>
        |found| found.of.compared.recorded.word();
    field "predicted_verdict", verdicts, "The same as predicted." => |found| found.of.compared.predicted.word();
    tokens "recorded_read_tokens", "Tokens read, as recorded." =>
        |found| found.of.compared.recorded_usage.cache_read_input_tokens;
    tokens "predicted_read_tokens", "Tokens read, as predicted." =>
        |found| found.of.compared.predicted_usage.cache_read_input_tokens;
    truth "size_known", "An earlier request had shown the size of the predicted read." =>
        |found| found.of.compared.size_known;
    field "between", || Shape::Pair(Box::new(Shape::Count { least: 0 })),
        "The nearest known prefixes around the predicted read." =>
        |found| <[u64; 2]>::from(found.of.compared.between), unit("tokens");
    field "causes", || Shape::list(cause()), "Why the recorded read fell short." =>
        |found| found.of.causes.iter().map(|cause| cause.word()).collect::<Vec<_>>();
}

record! {
    /// A miss without its cause, as in JSON's list of unexplained misses.
    InReport<'_, Miss>, "miss":
    flat: InReport<'_, Place>, => |miss| InReport { report: miss.report, of: &miss.of.place }.value();
    tokens "tokens", "Tokens that were sent before and not read." => |miss| miss.of.tokens;
    usd "cost_usd", "Their cost." => |miss| miss.of.cost, null("if nothing has a price");
}

/// A miss with its cause, as tables list them.
pub(crate) struct MissRow<'a>(pub InReport<'a, Miss>);

/// When a field is null.
const NO_CHANGE: &str = "if no change of content caused it";

record! {
    MissRow<'_>, "missed":
    flat: InReport<'_, Miss>, => |miss| miss.0.value();
    field "cause", cause, "Why it was not read." => |miss| miss.0.of.cause.word();
    text "path", "Path of the changed content." =>
        |miss| miss.0.of.difference.as_ref().map(|found| Value::text(&found.path)), null(NO_CHANGE);
    text "name", "The changes." =>
        |miss| miss.0.of.difference.as_ref().map(|found| miss.0.report.names.thing(&found.name)), null(NO_CHANGE);
    field "volatile", volatile, "The kind of volatile content that it looks like." =>
        |miss| {
            let volatile = miss.0.of.difference.as_ref().and_then(|found| found.volatile);
            volatile.map(|volatile| volatile.word())
        }, null("if it looks like none");
}
