//! What came of a combination of parameters, in a fan-out and in a sweep alike.

use forkcast_scenarios::fanout::Trial;
use forkcast_scenarios::sweep::CellOutcome;
use forkcast_sim::pricing::Money;
use forkcast_sim::time::Duration;
use forkcast_sim::wire::Usage;

use super::usage::{HIT_RATE, NO_INPUT, NO_PRICE};
use crate::record::number::Millionths;

/// Its figures. Those of a fan-out are of the children alone.
pub(super) struct Figures {
    requests: u64,
    unanswered: u64,
    over_limits: u64,
    usage: Usage,
    cost: Option<Money>,
    cost_without_cache: Option<Money>,
    makespan: Duration,
    bound: Option<Money>,
    equivalents: Option<i128>,
    formula: Option<i128>,
    assumption: Option<String>,
}

impl From<&Trial> for Figures {
    fn from(trial: &Trial) -> Self {
        let outcome = &trial.outcome;
        Self {
            requests: outcome.requests,
            unanswered: outcome.unanswered,
            over_limits: outcome.over_limits,
            usage: outcome.usage,
            cost: outcome.cost,
            cost_without_cache: outcome.cost_without_cache,
            makespan: outcome.makespan,
            bound: trial.bound,
            equivalents: outcome.equivalents_millionths,
            formula: trial.formula_millionths,
            assumption: trial.formula.as_ref().err().map(ToString::to_string),
        }
    }
}

impl From<&CellOutcome> for Figures {
    fn from(outcome: &CellOutcome) -> Self {
        Self {
            requests: outcome.requests,
            unanswered: outcome.unanswered,
            over_limits: outcome.over_limits,
            usage: outcome.usage,
            cost: outcome.cost,
            cost_without_cache: outcome.cost_without_cache,
            makespan: Duration(outcome.makespan_ns),
            bound: outcome.bound,
            equivalents: outcome.equivalents_millionths,
            formula: outcome.formula_millionths,
            assumption: outcome.assumption.clone(),
        }
    }
}

record! {
    Figures, "figures":
    usd "cost_usd", "The bill; of a fan-out that of the children." =>
        |row| row.cost, null(NO_PRICE), shown("cost"), missing("no price");
    usd "cost_lower_bound_usd", "What no policy of launch and breakpoints goes below." =>
        |row| row.bound,
        null("for named agents, scenarios, models without a price, and where requests were not answered"),
        shown("bound");
    millis "makespan_ms", "From the start of the first child, or of the run, to the end." =>
        |row| row.makespan, shown("makespan");
    count "unanswered_requests", "Requests that were never answered; they are not in the bill." =>
        |row| row.unanswered, shown("unanswered"), if_any();
    share "hit_rate", HIT_RATE =>
        |row| row.usage.hit_rate(), null(NO_INPUT), shown("hit rate"), missing("–"), if_wide();
    usd "cost_without_cache_usd", "The same tokens, all of them plain input." =>
        |row| row.cost_without_cache, null(NO_PRICE), shown("uncached"), missing("no price"), if_wide();
    number "token_equivalents", "Tokens of plain input that cost as much as the children's input." =>
        |row| row.equivalents.map(Millionths), null("without a price, and for scenarios"), unit("tokens"),
        shown("equivalents"), if_wide();
    number "closed_form_tokens", "The same from the formula." =>
        |row| row.formula.map(Millionths), null("where the formula does not hold, without a price, and for scenarios"),
        unit("tokens"), shown("formula"), missing("–"), if_any(),
        if_wide();
    text "assumption", "The assumption of the formula that does not hold." =>
        |row| row.assumption.clone(), null("where the formula holds, and for scenarios");
    record: Usage, "usage", "Tokens; of a fan-out those of the children alone." => |row| row.usage.value(), bare();
    count "requests", "Requests that were answered; of a fan-out those of the children." =>
        |row| row.requests, shown("requests"), if_wide();
    count "over_limits", "Calls that a limit of rate refused, the parent's among them." => |row| row.over_limits;
}
