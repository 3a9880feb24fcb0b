//! Agents of a run, with the data of forks.

use forkcast_scenarios::run::fork::{Fork, Reported};
use forkcast_scenarios::run::{Agent, Run, Sums};
use forkcast_sim::agent::spawn::fork::Profile;

use crate::forks::{Share, first_requests};
use crate::record::{Record, Shape, Value};

/// An agent with the sums over its requests, and the part of its first request that its parent's last one shares.
pub(super) struct AgentOf<'a> {
    agent: &'a Agent,
    sums: Sums,
    share: Option<Share>,
}

impl<'a> AgentOf<'a> {
    /// All agents of a run.
    pub fn all(run: &'a Run) -> impl Iterator<Item = Self> {
        let agents = run.agents.iter().zip(run.sums_of_agents()).zip(first_requests(run));
        agents.map(|((agent, sums), first)| Self { agent, sums, share: first.map(Share::of) })
    }
}

record! {
    AgentOf<'_>, "run_agent":
    text "id", "Its id; `main` for the main agent." => |it| Value::text(&it.agent.id);
    text "label", "Its name in tables, in ledger and log of the run, and wherever these are read." =>
        |it| Value::text(&it.agent.label);
    field "kind", || Shape::words(["main", "named", "fork", "internal", "command"]), "Its kind." => |it| it.agent.kind();
    text "agent_type", "Its type." => |it| Value::text(&it.agent.agent_type);
    text "name", "A name that it was given." =>
        |it| it.agent.name.as_deref().map(str::to_owned), null("if it was given none");
    text "parent", "The agent that called it." =>
        |it| it.agent.parent.as_deref().map(str::to_owned), null("for the main agent");
    truth "background", "No agent waits for it." => |it| it.agent.background;
    count "turns", "Requests that were answered." => |it| it.agent.turns, unit("requests");
    flat: Sums, => |it| it.sums.value();
    text "state", "How its task ended; for the main agent, how its last query ended." => |it| it.agent.state;
    text "reason", "Why its last query ended." => |it| it.agent.reason, null("if it has not ended");
    millis "began_ms", "When it began." => |it| it.agent.began;
    millis "ended_ms", "When it ended." => |it| it.agent.ended, null("if it has not");
    record: ForkOf<'_>, "fork", "The data of a fork." =>
        |it| it.agent.fork.as_ref().map(|fork| ForkOf { fork, share: it.share }.value()),
        null("for other agents");
}

/// A fork and its shared part.
struct ForkOf<'a> {
    fork: &'a Fork,
    share: Option<Share>,
}

/// When a field is null.
const UNSENT: &str = "if it sent nothing";

record! {
    ForkOf<'_>, "fork":
    text "tool_use", "The call that asked for it." => |it| Value::text(&it.fork.tool_use);
    field "profile", || Shape::words(Profile::ALL.map(Profile::name)), "How its messages are built." =>
        |it| it.fork.profile;
    ordinal "place", "Among the forks of one message, from zero." => |it| it.fork.place;
    texts "ablations", "Principles that were broken on purpose." => |it| Value::texts(&it.fork.ablations);
    tokens "shared_tokens", "In its first request: tokens of the prefix shared with its parent's last request." =>
        |it| it.share.map(|share| share.shared_tokens), null(UNSENT);
    tokens "read_from_parent_tokens", "How many of these were read from the cache." =>
        |it| it.share.map(|share| share.read_tokens), null(UNSENT);
    tokens "own_tokens", "Tokens after that prefix." => |it| it.share.map(|share| share.own_tokens), null(UNSENT);
    record: Reported, "report", "State of its report." =>
        |it| it.fork.report.as_ref().map(Record::value), null("if it made none");
}

record! {
    Reported, "fork_report":
    truth "well_formed", "It has all its parts." => |report| report.problem.is_none();
    text "problem", "The missing part." => |report| report.problem.as_deref().map(str::to_owned), null("if it is complete");
}
