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
        |it| it.found.parent.and_then(|parent| it.id(parent)), null("where it is unknown");
    count "continues", "The parent's last request before." => |it| it.found.continues, null("where it had sent none");
    texts "forks", "The forks." => |it| Value::texts(it.found.forks.iter().filter_map(|fork| it.id(*fork)));
    count "requests", "Requests of the forks." => |it| it.found.sums.requests, unit("requests");
    flat: Sums, => |it| it.found.sums.value();
    usd "cost_cold_usd", "The bill, had each fork's first request found an empty cache: what it read is written." =>
        |it| it.found.cost_cold, null(NO_PRICE);
    tokens "read_from_parent_tokens", "What first requests read of what the parent had sent." =>
        |it| it.found.shares.iter().flatten().map(|share| share.read_tokens).sum::<u64>();
    tokens "own_tokens", "What first requests add to it." =>
        |it| it.found.shares.iter().flatten().map(|share| share.own_tokens).sum::<u64>();
    record: Reports, "reports", "What came of their reports." => |it| it.found.reports.value();
    records: Miss<'_>, "misses",
        "What first requests did not read though it had been sent before; the place is that of the first such fork." =>
        |it| Value::List(it.found.misses.iter().map(Record::value).collect());
}

record! {
    Reports, "reports":
    count "well_formed", "Reports with all their parts." => |reports| reports.well_formed;
    count "malformed", "Reports that lack some." => |reports| reports.malformed;
    count "missing", "Forks without a report." => |reports| reports.missing;
}

record! {
    Miss<'_>, "fan_out_miss":
    count "forks", "Forks whose first request missed for it." => |miss| miss.forks;
    flat: MissOf<'_>, =>
        |miss| {
            let Miss { cause, tokens, cost, difference, .. } = *miss;
            MissOf { cause, tokens, cost, difference }.value()
        };
}
