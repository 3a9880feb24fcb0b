//! The forks of one message together.

use forkcast_scenarios::run::{Run, Sums};

use super::request::MissOf;
use crate::forks::{FanOut, Miss, Reports};
use crate::format::usage::NO_PRICE;
use crate::record::{Record, Value};

/// A fan-out of a run.
pub(super) struct FanOutOf<'a> {
    pub run: &'a Run,
    pub found: &'a FanOut<'a>,
}

impl FanOutOf<'_> {
    fn id(&self, agent: usize) -> Option<String> {
        self.run.agents.get(agent).map(|agent| agent.id.to_string())
    }
}

record! {
    FanOutOf<'_>, "fan_out":
    text "parent", "The agent that forked." =>
        |it| it.found.parent.and_then(|parent| it.id(parent)), null("if it is unknown");
    ordinal "continues", "The parent's last request before." => |it| it.found.continues, null("if it had sent none");
    texts "forks", "The forks." => |it| Value::texts(it.found.forks.iter().filter_map(|fork| it.id(*fork)));
    count "requests", "Requests of the forks." => |it| it.found.sums.requests, unit("requests");
    flat: Sums, => |it| it.found.sums.value();
    usd "cost_cold_usd", "The bill if each fork's first request had found an empty cache: its reads are writes." =>
        |it| it.found.cost_cold, null(NO_PRICE);
    tokens "read_from_parent_tokens", "Tokens that first requests read of the parent's last request." =>
        |it| it.found.shares.iter().flatten().map(|share| share.read_tokens).sum::<u64>();
    tokens "own_tokens", "Tokens that first requests add to it." =>
        |it| it.found.shares.iter().flatten().map(|share| share.own_tokens).sum::<u64>();
    record: Reports, "reports", "States of their reports." => |it| it.found.reports.value();
    records: Miss<'_>, "misses",
        "Tokens that first requests did not read though they had been sent before; the place is that of the first such fork." =>
        |it| Value::List(it.found.misses.iter().map(Record::value).collect());
}

record! {
    Reports, "reports":
    count "well_formed", "Reports with all their parts." => |reports| reports.well_formed, unit("reports");
    count "malformed", "Reports with missing parts." => |reports| reports.malformed, unit("reports");
    count "missing", "Forks without a report." => |reports| reports.missing, unit("reports");
}

record! {
    Miss<'_>, "fan_out_miss":
    count "forks", "Forks whose first request missed for it." => |miss| miss.forks, unit("forks");
    flat: MissOf<'_>, =>
        |miss| {
            let Miss { cause, tokens, cost, difference, .. } = *miss;
            MissOf { cause, tokens, cost, difference }.value()
        };
}
