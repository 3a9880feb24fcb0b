//! Sums, as sessions, groups and totals have them; and the agents of a session.

use forkcast_replay::transcript::{AgentKind, SpawnMode};
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::ledger;
use forkcast_sim::pricing::Money;
use forkcast_sim::service::{self, Fidelity, NotComparable, Step};
use forkcast_sim::wire::Usage;

use super::InReport;
use crate::format::usage::NO_PRICE;
use crate::format::words::cause;
use crate::record::{Record, Shape, Value, list};
use crate::report::{Account, Agent, Agreement, Estimated, Group, Report, Residual, Session, Side, Spawned, Spending};

/// Sums over some requests.
pub(crate) struct Sums<'a> {
    pub report: &'a Report<'a>,
    pub account: &'a Account,
}

record! {
    Sums<'_>, "sums":
    count "requests", "How many there are." => |sums| sums.account.ledger.requests, unit("requests");
    record: Side, "recorded",
        "Sums of what the provider reported; cost_usd is null if nothing has a price or nothing was recorded." =>
        |sums| sums.account.recorded.value();
    record: Side, "predicted",
        "Sums of what the rules predict. A request that is not comparable enters with its recorded usage; one without \
         usage enters only where nothing was recorded." =>
        |sums| sums.account.predicted.as_ref().map(Record::value),
        null("if no cache profile exists");
    record: Spending, "spending", "The parts of the bill; they add up to it." =>
        |sums| sums.account.billed.cost.map(|_| sums.account.spending.value()), null(NO_PRICE);
    record: Estimated, "output_estimated", "Output whose recording has only the start value of a stream." =>
        |sums| sums.account.output_estimated.value();
    record: Residual, "residual_cost_usd",
        "What the recorded input may cost more than the predicted one, in no prediction." =>
        |sums| sums.account.residual().as_ref().map(Record::value),
        null("where nothing is forecast");
    record: Agreement, "agreement",
        "How well predictions fit; comparable and all of not_comparable add up to requests." =>
        |sums| sums.account.agreement.value(), bare();
    records: CauseTotal, "causes", "The dearest first. Their costs add up to the bill minus perfect_cost_usd." =>
        |sums| list(CauseTotal::all(sums.account));
    tokens "read_tokens", "Input of explained requests: read." => |sums| sums.account.ledger.read_tokens;
    tokens "new_tokens", "Input of explained requests: not sent before." => |sums| sums.account.ledger.new_tokens;
    tokens "missed_tokens", "Input of explained requests: sent before and not read." =>
        |sums| sums.account.ledger.missed_tokens;
    tokens "unknown_tokens",
        "Input of the other requests: the recording does not hold the whole prompt, or no profile reads it. With the \
         three above it adds up to the input." =>
        |sums| sums.account.ledger.unknown_tokens;
    usd "missed_cost_usd", "The cost of misses: the bill minus perfect_cost_usd." =>
        |sums| {
            let account = sums.account;
            account.billed.cost.zip(account.perfect).map(|(bill, perfect)| bill - perfect)
        }, null(NO_PRICE), derived();
    field "dearest_cause", cause, "The first of the causes." =>
        |sums| sums.account.causes().first().map(|(cause, _)| cause.word()), null("if nothing was missed"),
        derived();
    records: Fee, "fees", "Charges besides tokens of the requests' own models; part of the cost." => |sums| list(Fee::all(sums.account));
    usd "hidden_estimated_usd",
        "Estimated cost of requests that are in no transcript and extended the cached prefix (suggestions), without \
         their output; in no other sum." => |sums| sums.account.hidden, null("if nothing shows any");
    usd "perfect_cost_usd", "The bill with every missed token read." => |sums| sums.account.perfect, null(NO_PRICE);
    usd "unread_writes_usd", "Premium of writes that were never read." =>
        |sums| sums.account.unread_writes, null(NO_PRICE);
    usd "cost_lower_bound_usd",
        "What the same prompts would have cost with every block written or not with all of the future known; requests \
         without a bound count as billed." =>
        |sums| sums.account.lower_bound, null("if none is known");
    records: WhatIf<'_>, "what_if",
        "What the same requests would have been, by those that say something of any of them; where no cache is \
         modelled, the same tokens at the prices of another model. Deltas are against recorded.cost_usd, against \
         predicted.cost_usd where nothing was recorded." =>
        |sums| {
            let account = sums.account;
            list(sums.report.tried().filter_map(|(at, tried)| {
                Some(WhatIf { account, at, side: account.what_if.get(at)?, name: &tried.name })
            }))
        };
}

record! {
    Spending, "spending":
    usd "read_usd", "Tokens read from the cache." => |spending| spending.read;
    usd "write_5m_usd", "Tokens written for five minutes, or for a provider's only lifetime." =>
        |spending| spending.write_5m;
    usd "write_1h_usd", "Tokens written for one hour." => |spending| spending.write_1h;
    usd "input_usd", "Input that was neither read nor written." => |spending| spending.input;
    usd "output_usd", "Answers." => |spending| spending.output;
    usd "fees_usd", "Charges besides tokens of the requests' own models." => |spending| spending.fees;
}

record! {
    Estimated, "estimated":
    tokens "tokens", "By estimate from text and thinking; as recorded if there is no estimate." =>
        |estimated| estimated.tokens;
    count "requests", "Requests with such an output." => |estimated| estimated.requests, unit("requests");
    tokens "recorded_tokens", "As recorded: these are in the bill." => |estimated| estimated.recorded_tokens;
    usd "extra_cost_usd", "The additional cost of the estimate." => |estimated| estimated.extra, null(NO_PRICE);
}

record! {
    Residual, "residual":
    usd "expected", "On average, by misses without a sign." => |residual| residual.expected;
    usd "low", "At least, for nine of ten sessions; below zero if the forecast is too high." => |residual| residual.low;
    usd "high", "At most, for nine of ten sessions." => |residual| residual.high;
}

record! {
    Agreement, "agreement":
    count "comparable", "Requests whose prediction can be compared." =>
        |agreement| agreement.sums.comparable, unit("requests");
    field "not_comparable", || Shape::Map(Box::new(Shape::Count { least: 0 })), "The others, by reason." =>
        |agreement| Value::map(NotComparable::ALL.map(NotComparable::word).into_iter().zip(agreement.sums.not_comparable)),
        unit("requests"), no_cell();
    count "same_verdict", "Comparable requests whose verdict is predicted." =>
        |agreement| agreement.sums.same_verdict, unit("requests");
    count "reads_exact", "Comparable requests whose read is predicted to the token." =>
        |agreement| agreement.reads_exact, unit("requests");
    count "reads_agree",
        "Comparable requests with an exact read, or one between its known neighbours if its size was not known." =>
        |agreement| agreement.sums.reads_agree, unit("requests");
    tokens "read_tokens_recorded", "Tokens that comparable requests read." =>
        |agreement| agreement.sums.read_tokens_recorded;
    tokens "read_tokens_abs_error", "By how much predictions of them are off." =>
        |agreement| agreement.sums.read_tokens_abs_error;
    count "misses", "Comparable requests that read over 3,000 tokens less than their chain had left." =>
        |agreement| agreement.sums.misses, unit("requests");
    count "misses_foreseen", "Those of them whose miss was predicted." =>
        |agreement| agreement.sums.misses_foreseen, unit("requests");
    field "misses_not_come", || Shape::Map(Box::new(Shape::Count { least: 0 })),
        "Comparable requests whose predicted miss did not come, by the rule that predicted it (`forkcast list habits`; \
         `cache` where the rules of the cache did)." =>
        |agreement| Value::map(agreement.sums.not_come.iter().map(|(rule, requests)| (*rule, *requests))),
        unit("requests"), no_cell();
    records: InStep, "steps", "Measures in which errors cannot cancel out, by what requests of sessions follow." =>
        |agreement| Value::List(InStep::all(&agreement.sums).map(|step| step.value()).collect()), no_cell();
    number "cost_absolute_error",
        "Sum of the absolute errors of predicted input costs / recorded input cost over comparable requests." =>
        |agreement| agreement.absolute_error(), unit("part of 1"), null("where no comparable request has a price");
    number "cost_error", "Predicted / recorded input cost - 1 over comparable requests." =>
        |agreement| agreement.cost_error(), unit("part of 1"), null("if no comparable request has a price");
}

/// Missed tokens of a cause.
pub(crate) struct CauseTotal {
    cause: Cause,
    total: ledger::CauseTotal,
    is_priced: bool,
}

impl CauseTotal {
    /// All causes of a sum, the dearest first.
    pub fn all(account: &Account) -> impl Iterator<Item = Self> {
        let is_priced = account.billed.cost.is_some();
        account.causes().into_iter().map(move |(cause, total)| Self { cause, total, is_priced })
    }
}

/// Requests of sessions after one kind of step, predicted in one way.
struct InStep {
    step: Step,
    rule: &'static str,
    sums: Fidelity,
}

impl InStep {
    fn all(agreement: &service::Agreement) -> impl Iterator<Item = Self> {
        let of = |(step, pair): (&Step, &[Fidelity; 2])| {
            let step = *step;
            [("forecast", pair[0]), ("naive", pair[1])].map(|(rule, sums)| Self { step, rule, sums })
        };
        agreement.steps.iter().flat_map(of)
    }
}

const NO_INPUT: &str = "if no input was recorded";

record! {
    InStep, "step":
    field "step", || Shape::words(Step::ALL.map(Step::word)), "What the requests follow." => |it| it.step.word();
    field "rule", || Shape::words(["forecast", "naive"]),
        "How they are predicted; naive: all that was sent is read within its lifetime by the same model." => |it| it.rule;
    count "requests", "Comparable requests." => |it| it.sums.requests, unit("requests");
    count "same_verdict", "Those whose verdict is predicted." => |it| it.sums.same_verdict, unit("requests");
    count "late", "Those that read exactly what the request before had read, although it wrote more." =>
        |it| it.sums.late, unit("requests");
    number "cost_error", "Predicted / recorded input cost - 1, in tokens of plain input." =>
        |it| it.sums.cost_error(), unit("part of 1"), null(NO_INPUT);
    number "cost_absolute_error", "Sum of the absolute errors / recorded input cost." =>
        |it| it.sums.absolute(), unit("part of 1"), null(NO_INPUT);
    count "misses", "Those that read over 3,000 tokens less than their chain had left." =>
        |it| it.sums.came, unit("requests");
    number "precision", "The part of predicted misses that came." =>
        |it| it.sums.precision(), unit("part of 1"), null("if none was predicted");
    number "recall", "The part of misses that were predicted." =>
        |it| it.sums.recall(), unit("part of 1"), null("if there was none");
}

record! {
    CauseTotal, "cause_total":
    field "cause", cause, "Why tokens were not read." => |cause| cause.cause.word();
    count "requests", "Requests that missed something for it." => |cause| cause.total.requests, unit("requests");
    tokens "tokens", "Their missed tokens." => |cause| cause.total.tokens;
    usd "cost_usd", "Their cost." => |cause| cause.is_priced.then_some(cause.total.cost), null(NO_PRICE);
    text "suggestion", "What to do." => |cause| cause.cause.suggestion(), derived();
}

/// A charge other than for tokens; part of the cost.
pub(crate) struct Fee {
    name: String,
    count: u64,
    cost: Money,
}

impl Fee {
    /// All fees of a sum.
    pub fn all(account: &Account) -> impl Iterator<Item = Self> {
        account.fees.iter().map(|(name, (count, cost))| Self { name: name.clone(), count: *count, cost: *cost })
    }
}

record! {
    Fee, "fee":
    text "name", "Its name." => |fee| fee.name.clone();
    count "count", "How often it was charged." => |fee| fee.count, unit("times");
    usd "cost_usd", "Its sum." => |fee| fee.cost;
}

/// The results for the same requests under a what-if.
struct WhatIf<'a> {
    account: &'a Account,
    at: usize,
    side: &'a Side,
    name: &'a str,
}

record! {
    WhatIf<'_>, "what_if":
    text "name", "The changed setting." => |what_if| Value::text(what_if.name);
    record: Usage, "usage", "Tokens." => |what_if| what_if.side.usage.value();
    usd "cost_usd", "The bill." => |what_if| what_if.side.cost, null(NO_PRICE);
    usd "delta_usd", "The additional cost." =>
        |what_if| what_if.account.saved(what_if.at).map(|saved| -saved), null(NO_PRICE);
    number "delta_share", "The same as a share of the bill." =>
        |what_if| what_if.account.saved_share(what_if.at).map(|share| -share), unit("part of 1"),
        null("if there is no bill");
}

record! {
    InReport<'_, Group>, "group":
    text "key",
        "A day (2026-11-02), an ISO week (2026-W45), a month (2026-11), the start of a block of five hours, a project, \
         a model, an agent, a kind of agent, or a client with its version." =>
        |group| Value::text(&group.of.key);
    text "then_key", "The second key." => |group| group.of.then_key.clone(), null("if groups have one key");
    flat: Sums<'_>, => |group| Sums { report: group.report, account: &group.of.account }.value();
}

record! {
    InReport<'_, Session>, "session":
    text "id", "Its id." => |session| Value::text(&session.of.id), no_cell();
    text "session", "Its id." => |session| Value::text(&session.of.id), derived();
    text "source", "Its place in the input." => |session| Value::text(&session.of.source);
    text "project", "Working directory, else the path as named; worktrees count as their repository." =>
        |session| session.of.project.as_deref().map(str::to_owned), null("if none is known");
    text "format", "Its detected format." => |session| session.of.format;
    count "chains", "Conversations in it." => |session| session.of.chains, unit("chains");
    records: InReport<'_, Of<'_>>, "agents",
        "Agents of a transcript as a tree, parents by id; chains of recorded requests. Their own usage and cost add up \
         to what was billed." =>
        |session| {
            let agents = session.of.agents.iter().map(|agent| Of { session: session.of, agent });
            Value::List(agents.map(|of| InReport { report: session.report, of: &of }.value()).collect())
        }, no_cell();
    flat: Sums<'_>, => |session| Sums { report: session.report, account: &session.of.account }.value();
}

/// An agent of a session, or a chain of recorded requests.
struct Of<'a> {
    session: &'a Session,
    agent: &'a Agent,
}

record! {
    InReport<'_, Of<'_>>, "agent":
    text "id", "Its id." => |agent| Value::text(&agent.of.agent.id);
    text "parent", "The agent that started it." =>
        |agent| {
            let Of { session, agent } = agent.of;
            agent.parent.and_then(|parent| session.agents.get(parent)).map(|parent| parent.id.clone())
        }, null("if none did");
    field "kind", || Shape::words(AgentKind::WORDS), "Its kind." => |agent| agent.of.agent.kind.word();
    text "name", "The requested kind of agent." => |agent| agent.of.agent.kind.requested().map(str::to_owned), null("if none was");
    field "mode", || Shape::words([SpawnMode::Sync, SpawnMode::Background].map(SpawnMode::word)), "How it ran." =>
        |agent| agent.of.agent.kind.mode().map(SpawnMode::word), null("if the result of its spawn does not say");
    record: Spawned, "spawned", "Where its caller's file names it." =>
        |agent| agent.of.agent.spawned.as_ref().map(Record::value), null("if none does");
    count "notifications", "How often it was reported as done." => |agent| agent.of.agent.notifications, unit("times");
    count "resumptions", "How often its conversation was taken up again." => |agent| agent.of.agent.resumptions, unit("times");
    count "requests", "Its requests." => |agent| agent.of.agent.requests, unit("requests");
    record: Usage, "usage", "Its tokens." => |agent| agent.of.agent.billed.usage.value();
    usd "cost_usd", "Its bill." => |agent| agent.of.agent.billed.cost, null(NO_PRICE);
    record: WithChildren, "with_children", "The same with everything that it started." =>
        |agent| WithChildren(agent.of.agent.with_children).value();
}

struct WithChildren(Side);

record! {
    WithChildren, "with_children":
    record: Usage, "usage", "Tokens." => |side| side.0.usage.value();
    usd "cost_usd", "The bill." => |side| side.0.cost, null(NO_PRICE);
}

record! {
    Spawned, "spawned":
    text "file", "The file." => |spawned| Value::text(&spawned.file);
    ordinal "line", "Its line, from 1." => |spawned| spawned.line;
    millis "at_ms", "When, since 1970." => |spawned| spawned.at, null("if it does not say");
}
