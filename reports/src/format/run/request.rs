//! Requests of a run.

use forkcast_scenarios::run::{Request, Run};
use forkcast_sim::diagnosis::{Cause, Difference};
use forkcast_sim::pricing::Money;
use forkcast_sim::wire::Usage;

use crate::forks::difference_of;
use crate::format::replay::verdicts;
use crate::format::usage::NO_PRICE;
use crate::format::words::{cause, level, volatile};
use crate::record::{Value, list};

/// A request of a run.
pub(super) struct RequestOf<'a> {
    run: &'a Run,
    request: &'a Request,
}

impl<'a> RequestOf<'a> {
    /// All requests of a run.
    pub fn all(run: &'a Run) -> impl Iterator<Item = Self> {
        run.requests.iter().map(move |request| Self { run, request })
    }

    fn agent(&self) -> &'a str {
        self.run.agents.get(self.request.agent).map_or("main", |agent| &agent.id)
    }

    /// The causes, the most tokens first.
    fn causes(&self) -> impl Iterator<Item = MissOf<'a>> {
        let request = self.request;
        let cost_of = move |cause: Cause| {
            let parts = request.line.charge.causes.iter().filter(|part| part.cause == cause);
            parts.map(|part| part.cost).reduce(|sum, cost| sum.zip(cost).map(|(sum, cost)| sum + cost)).flatten()
        };
        request.causes().into_iter().map(move |(cause, tokens)| MissOf {
            cause,
            tokens,
            cost: cost_of(cause),
            difference: difference_of(request, cause),
        })
    }
}

/// When a field is null.
const NONE: &str = "if it continues none";

record! {
    RequestOf<'_>, "run_request":
    ordinal "index", "Position among all requests, from 0." => |it| it.request.line.index;
    text "agent", "The agent that sent it." => |it| Value::text(it.agent());
    text "chain", "Its conversation: the agent." => |it| Value::text(it.agent());
    ordinal "turn", "Answered requests of this agent before." => |it| it.request.turn;
    ordinal "attempt", "How often this same request was sent before." => |it| it.request.attempt;
    text "model", "Its model." => |it| Value::text(&it.request.line.model);
    millis "at_ms", "When it was sent." => |it| it.request.line.at, null("if that is unknown");
    millis "first_byte_ms", "When its answer began." => |it| it.request.line.first_byte_at, null("if none began");
    millis "ended_ms", "When its answer ended." => |it| it.request.ended_at, null("if none did");
    record: Usage, "usage", "Its tokens." => |it| it.request.usage().value();
    usd "cost_usd", "Its bill." => |it| it.request.cost(), null(NO_PRICE);
    usd "cost_without_cache_usd", "The bill of the same tokens without any cache." =>
        |it| it.request.cost_without_cache, null(NO_PRICE);
    ordinal "continues",
        "The request that it is compared with: the agent's last one; of a fork's first request what its parent had \
         sent last." =>
        |it| it.request.layout.continues, null(NONE);
    tokens "expected_tokens", "Tokens that the previous request left in the cache: its reads and writes." =>
        |it| it.request.expected_tokens, null(NONE);
    tokens "shared_tokens", "Tokens of the prefix that both begin with; zero if it continues none." =>
        |it| it.request.layout.shared_tokens;
    record: LevelEnds, "level_ends", "The end of each level, from the start of the prompt." =>
        |it| LevelEnds(it.request.layout.level_ends).value();
    field "verdict", verdicts, "How much was read of the prefix that the request had left." => |it| it.request.verdict.word();
    records: MissOf<'_>, "causes", "The causes of its misses, the most tokens first." => |it| list(it.causes());
}

struct LevelEnds([u64; 3]);

record! {
    LevelEnds, "level_ends":
    tokens "tools", "The end of the tools." => |ends| ends.0[0];
    tokens "system", "The end of the system prompt." => |ends| ends.0[1];
    tokens "messages", "The end of the messages." => |ends| ends.0[2];
}

/// Missed tokens of a cause, and for a content cause the place of the change.
pub(super) struct MissOf<'a> {
    pub cause: Cause,
    pub tokens: u64,
    pub cost: Option<Money>,
    pub difference: Option<&'a Difference>,
}

/// When a field is null.
const NO_CHANGE: &str = "if no change of content caused it";

record! {
    MissOf<'_>, "missed":
    field "cause", cause, "Why it was not read." => |miss| miss.cause.word();
    tokens "tokens", "Tokens that were sent before and not read." => |miss| miss.tokens;
    usd "cost_usd", "Their cost over the read price." => |miss| miss.cost, null(NO_PRICE);
    field "level", level, "Level of the change." =>
        |miss| miss.difference.map(|found| found.level.name()), null(NO_CHANGE);
    text "path", "Path of the changed block." => |miss| miss.difference.map(|found| found.path.clone()), null(NO_CHANGE);
    text "name", "The changes." => |miss| miss.difference.map(|found| found.name.clone()), null(NO_CHANGE);
    count "offset_in_block", "First differing byte, in canonical bytes of the block." =>
        |miss| miss.difference.and_then(|found| found.offset_in_block), unit("bytes"), null("if no byte is known");
    count "offset_in_prefix", "The same, from the start of the prompt." =>
        |miss| miss.difference.and_then(|found| found.offset_in_prefix), unit("bytes"), null("if no byte is known");
    field "volatile", volatile, "The kind of volatile content that it looks like." =>
        |miss| miss.difference.and_then(|found| found.volatile).map(|volatile| volatile.word()),
        null("if it looks like none");
    text "provider_reason", "The word of the provider's own diagnosis." =>
        |miss| miss.cause.provider_reason(), null("if it has none");
    text "suggestion", "What to do." => |miss| miss.cause.suggestion();
}
