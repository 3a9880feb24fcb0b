//! The fields of a recording, as they are written.

use forkcast_sim::pricing::ServiceTier;
use forkcast_sim::service::{OtherPasses, PassKind, RecordedUsage};
use forkcast_sim::wire::Usage;

use super::{Stored, StoredSizes};
use crate::format::number::Count;
use crate::record::{Record, Shape, Value};

impl From<Count> for Value {
    fn from(count: Count) -> Self {
        count.0.into()
    }
}

/// Instants of a recording, to be read back.
const NANOS: &str = "ns since 1970";
const UNKNOWN: &str = "if that is unknown";

record! {
    Stored, "exchange":
    ordinal "scope", "Position among the paths that the user named." => |it| it.scope;
    text "path", "That path." => |it| Value::text(&it.path);
    ordinal "session", "Position of the file among all files." => |it| it.session;
    text "format", "How the file was read." => |it| Value::text(&it.format);
    text "provider", "Who answered." => |it| Value::text(&it.provider);
    text "dialect", "How the request was spelled." => |it| it.dialect.name();
    count "status", "HTTP status." => |it| it.status, null(UNKNOWN), unit("HTTP status");
    count "sent_ns", "When it was sent." => |it| it.sent_ns, unit(NANOS), null(UNKNOWN);
    count "first_byte_ns", "When the first byte of the answer came." =>
        |it| it.first_byte_ns, unit(NANOS), null(UNKNOWN);
    count "ended_ns", "When the answer ended." => |it| it.ended_ns, unit(NANOS), null(UNKNOWN);
    text "chain", "The input's own id of the chain." => |it| it.chain.clone(), null("without one");
    text "parent", "The chain that started it." => |it| it.parent.clone(), null("without one");
    text "own_scope", "The input's own cache scope." => |it| it.own_scope.clone(), null("without one");
    truth "given_up", "It was cancelled before the first byte of its answer." => |it| it.given_up;
    truth "altered", "The body was altered in transit." => |it| it.altered;
    field "tier", || Shape::words(ServiceTier::ALL.map(ServiceTier::word)), "The service tier." =>
        |it| it.tier.word();
    text "region", "The region of the host." => |it| it.region.clone(), null(UNKNOWN);
    record: RecordedUsage, "usage", "The recorded usage of the answer." =>
        |it| it.usage.as_ref().map(Record::value), null("if it says nothing");
    ordinal "continues", "The request of another agent that it continues, by its line." =>
        |it| it.continues.map_or(Value::Absent, Value::from), absent("if no simulated run declares it");
    record: StoredSizes, "sizes", "Tokens of the prompt's blocks." =>
        |it| it.sizes.as_ref().map_or(Value::Absent, Record::value),
        absent("if no simulated run declares them beside its bodies");
}

record! {
    StoredSizes, "stored_sizes":
    count "same_blocks", "Number of leading blocks with the same sizes as in the previous line." =>
        |sizes| sizes.same_blocks, unit("blocks");
    field "own_tokens", || Shape::list(Shape::Count { least: 0 }), "Tokens of each block after them." =>
        |sizes| sizes.own_tokens.clone(), unit("tokens");
}

record! {
    RecordedUsage, "stored_usage":
    flat: Tokens, => |it| Tokens(it.usage).value();
    truth "split_by_ttl", "Written tokens are split by lifetime." => |it| it.split_by_ttl;
    truth "server_passes", "It is a sum over several prompts." => |it| it.server_passes;
    truth "output_is_start_value", "The output is the start value of a stream." => |it| it.output_is_start_value;
    count "applied_edits", "Edits of the context by the provider." => |it| it.applied_edits, unit("edits");
    count "web_search_requests", "Searches of the web." => |it| it.web_search_requests, unit("requests");
    count "web_fetch_requests", "Pages that were fetched." => |it| it.web_fetch_requests, unit("requests");
    count "code_execution_requests", "Runs of code." => |it| it.code_execution_requests, unit("runs");
    tokens "reasoning_tokens", "Output that is reasoning." => |it| it.reasoning_tokens;
    tokens "input_audio_tokens", "Input that is audio." => |it| it.input_audio_tokens;
    tokens "output_audio_tokens", "Output that is audio." => |it| it.output_audio_tokens;
    truth "fast", "It was answered in the fast mode." => |it| it.fast, null(UNKNOWN);
    truth "geo_us", "It was answered in the United States." => |it| it.geo_us, null(UNKNOWN);
    field "billed_units", || Shape::Pair(Box::new(Shape::Count { least: 0 })),
        "Input and output as the provider charges them." =>
        |it| it.billed_units.map(|units| [units.input_tokens, units.output_tokens]),
        null("if they are the counted tokens"), unit("tokens");
    records: OtherPasses, "passes", "Its passes, if it lists several or other models had a part in it." =>
        |it| Value::List(it.listed_passes().iter().map(Record::value).collect());
}

record! {
    OtherPasses, "stored_pass":
    field "kind", || Shape::words(PassKind::ALL.map(PassKind::name)), "What it was for." => |it| it.kind.name();
    text "model", "Its model." =>
        |it| it.model.map(|model| model.to_string()), null("if it is the one that answered, or unknown");
    count "passes", "How many passes these are." => |it| it.passes, unit("passes");
    tokens "longest_prompt_tokens", "The longest of their prompts." => |it| it.longest_prompt_tokens;
    flat: Tokens, => |it| Tokens(it.usage).value();
}

/// Tokens of an answer or a pass, side by side.
struct Tokens(Usage);

record! {
    Tokens, "stored_tokens":
    tokens "input_tokens", "Input that was neither read nor written." => |it| it.0.input_tokens;
    tokens "cache_read_input_tokens", "Read." => |it| it.0.cache_read_input_tokens;
    tokens "ephemeral_5m_input_tokens", "Written for five minutes." => |it| it.0.ephemeral_5m_input_tokens;
    tokens "ephemeral_1h_input_tokens", "Written for an hour." => |it| it.0.ephemeral_1h_input_tokens;
    tokens "output_tokens", "The answer." => |it| it.0.output_tokens;
}
