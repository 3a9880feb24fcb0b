//! What came of a combination of parameters, in a fan-out and in a sweep alike.

use forkcast_scenarios::fanout::Outcome;
use forkcast_sim::wire::Usage;

use super::usage::{HIT_RATE, NO_INPUT, NO_PRICE};
use crate::record::number::Millionths;

record! {
    Outcome, "figures":
    usd "cost_usd", "The bill; of a fan-out that of the children." =>
        |row| row.cost, null(NO_PRICE), shown("cost"), missing("no price"), kept();
    usd "launch_cost_usd", "Output tokens of the parent's message that starts the children: of the forking message, or of the \
         briefs of named agents." =>
        |row| row.launch_cost, null("without a price, and for scenarios"), shown("launching"), if_it_varies();
    usd "total_cost_usd", "The bill of the whole run: children and parent. The cheapest policy is the one with the lowest." =>
        |row| row.total_cost, null("without a price, and for scenarios"), shown("with parent"), kept();
    usd "cost_lower_bound_usd", "The cost of the children below which no policy of launch and breakpoints comes." =>
        |row| row.bound,
        null("for named agents, scenarios, models without a price, and with unanswered requests"),
        shown("bound"), if_wide();
    millis "makespan_ms", "From the start of the first child, or of the run, to the end." =>
        |row| row.makespan, shown("makespan");
    count "unanswered_requests", "Requests that were never answered; they are not in the bill." =>
        |row| row.unanswered, shown("unanswered"), if_any(), unit("requests");
    share "hit_rate", HIT_RATE =>
        |row| row.usage.hit_rate(), null(NO_INPUT), shown("hit rate"), missing("–"), if_wide();
    usd "cost_without_cache_usd", "The same tokens, all of them plain input." =>
        |row| row.cost_without_cache, null(NO_PRICE), shown("uncached"), missing("no price"), if_wide();
    number "token_equivalents", "Tokens of plain input that cost as much as the children's input." =>
        |row| row.equivalents_millionths.map(Millionths), null("without a price, and for scenarios"), unit("tokens"),
        shown("equivalents"), if_wide();
    number "closed_form_tokens", "The same from the formula." =>
        |row| row.formula_millionths.map(Millionths), null("if the formula does not hold, without a price, and for scenarios"),
        unit("tokens"), shown("formula"), missing("–"), if_any(),
        if_wide();
    text "assumption", "The assumption of the formula that does not hold." =>
        |row| row.assumption.map(|assumption| assumption.to_string()), null("if the formula holds, and for scenarios");
    record: Usage, "usage", "Tokens; of a fan-out those of the children alone." => |row| row.usage.value(), bare();
    count "requests", "Requests that were answered; of a fan-out those of the children." =>
        |row| row.requests, shown("requests"), if_wide(), unit("requests");
    count "over_limits", "Calls that a rate limit refused, including the parent's." => |row| row.over_limits, unit("calls");
}
