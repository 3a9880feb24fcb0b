//! Sums, as sessions, groups and totals have them.

use std::collections::BTreeMap;

use forkcast_sim::service::NotComparable;
use serde::Serialize;

use crate::format::number::Usd;
use crate::format::usage::{SideObject, UsageObject};
use crate::report::{Account, Estimated, Group, Residual, Session, Side};

mod agents;

use agents::AgentObject;

/// An object with fields of its own and, behind them, those that sessions, groups and totals have in common. Written
/// field by field into each, since flattened objects lose raw numbers.
macro_rules! with_sums {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $kind:ty,)* }) => {
        $(#[$doc])*
        #[derive(Serialize)]
        pub(super) struct $name {
            $($field: $kind,)*
            requests: u64,
            recorded: SideObject,
            predicted: Option<SideObject>,
            output_estimated: EstimatedObject,
            residual_cost_usd: ResidualObject,
            agreement: AgreementObject,
            causes: Vec<CauseObject>,
            read_tokens: u64,
            new_tokens: u64,
            missed_tokens: u64,
            unknown_tokens: u64,
            fees: Vec<FeeObject>,
            perfect_cost_usd: Option<Usd>,
            unread_writes_usd: Option<Usd>,
            cost_lower_bound_usd: Option<Usd>,
            what_if: Vec<WhatIfObject>,
        }

        impl $name {
            fn with($($field: $kind,)* account: &Account, what_ifs: &[String]) -> Self {
                Self {
                    $($field,)*
                    requests: account.ledger.requests,
                    recorded: (&account.recorded).into(),
                    predicted: account.predicted.as_ref().map(Into::into),
                    output_estimated: account.output_estimated.into(),
                    residual_cost_usd: account.residual.into(),
                    agreement: agreement(account),
                    causes: causes(account),
                    read_tokens: account.ledger.read_tokens,
                    new_tokens: account.ledger.new_tokens,
                    missed_tokens: account.ledger.missed_tokens,
                    unknown_tokens: account.ledger.unknown_tokens,
                    fees: fees(account),
                    perfect_cost_usd: account.perfect.map(Usd),
                    unread_writes_usd: account.unread_writes.map(Usd),
                    cost_lower_bound_usd: account.lower_bound.map(Usd),
                    what_if: what_if(account, what_ifs),
                }
            }
        }
    };
}

with_sums! {
    /// The sums alone.
    Sums {}
}

with_sums! {
    /// The requests with one key.
    GroupObject { key: String, }
}

with_sums! {
    /// The requests of one file.
    SessionObject { id: String, source: String, format: &'static str, chains: usize, agents: Vec<AgentObject>, }
}

/// Output by estimate, beside what was recorded and is in the bill.
#[derive(Serialize)]
struct EstimatedObject {
    tokens: u64,
    requests: u64,
    recorded_tokens: u64,
    extra_cost_usd: Option<Usd>,
}

impl From<Estimated> for EstimatedObject {
    fn from(estimated: Estimated) -> Self {
        let Estimated { tokens, requests, recorded_tokens, extra } = estimated;
        Self { tokens, requests, recorded_tokens, extra_cost_usd: extra.map(Usd) }
    }
}

#[derive(Serialize)]
struct ResidualObject {
    low: Usd,
    high: Usd,
}

impl From<Residual> for ResidualObject {
    fn from(residual: Residual) -> Self {
        let (low, high) = residual.range();
        Self { low: Usd(low), high: Usd(high) }
    }
}

#[derive(Serialize)]
struct WhatIfObject {
    name: String,
    usage: UsageObject,
    cost_usd: Option<Usd>,
    delta_usd: Option<Usd>,
    delta_share: Option<f64>,
}

fn what_if(account: &Account, names: &[String]) -> Vec<WhatIfObject> {
    let sides = account.what_if.iter().zip(names).enumerate();
    let object = |(at, (side, name)): (usize, (&Side, &String))| WhatIfObject {
        name: name.clone(),
        usage: (&side.usage).into(),
        cost_usd: side.cost.map(Usd),
        delta_usd: account.saved(at).map(|saved| Usd(-saved)),
        delta_share: account.saved_share(at).map(|share| -share),
    };
    sides.map(object).collect()
}

#[derive(Serialize)]
struct AgreementObject {
    comparable: u64,
    not_comparable: BTreeMap<&'static str, u64>,
    same_verdict: u64,
    reads_exact: u64,
    reads_agree: u64,
    read_tokens_recorded: u64,
    read_tokens_abs_error: u64,
    cost_error: Option<f64>,
}

#[derive(Serialize)]
struct CauseObject {
    cause: &'static str,
    requests: u64,
    tokens: u64,
    cost_usd: Option<Usd>,
}

impl Sums {
    pub(super) fn of(account: &Account, what_ifs: &[String]) -> Self {
        Self::with(account, what_ifs)
    }
}

impl GroupObject {
    pub(super) fn of(group: &Group, what_ifs: &[String]) -> Self {
        Self::with(group.key.clone(), &group.account, what_ifs)
    }
}

impl SessionObject {
    pub(super) fn of(session: &Session, what_ifs: &[String]) -> Self {
        let agents = agents::objects(session);
        let (id, source) = (session.id.clone(), session.source.clone());
        Self::with(id, source, session.format, session.chains, agents, &session.account, what_ifs)
    }
}

fn agreement(account: &Account) -> AgreementObject {
    let sums = &account.agreement.sums;
    AgreementObject {
        comparable: sums.comparable,
        not_comparable: NotComparable::ALL.iter().map(|why| why.word()).zip(sums.not_comparable).collect(),
        same_verdict: sums.same_verdict,
        reads_exact: account.agreement.reads_exact,
        reads_agree: sums.reads_agree,
        read_tokens_recorded: sums.read_tokens_recorded,
        read_tokens_abs_error: sums.read_tokens_abs_error,
        cost_error: account.agreement.cost_error(),
    }
}

/// What was charged beside tokens; part of the cost.
#[derive(Serialize)]
struct FeeObject {
    name: String,
    count: u64,
    cost_usd: Usd,
}

fn fees(account: &Account) -> Vec<FeeObject> {
    let fees = account.fees.iter();
    fees.map(|(name, (count, cost))| FeeObject { name: name.clone(), count: *count, cost_usd: Usd(*cost) }).collect()
}

fn causes(account: &Account) -> Vec<CauseObject> {
    let priced = account.billed.cost.is_some();
    let causes = account.causes().into_iter().map(|(cause, total)| CauseObject {
        cause: cause.word(),
        requests: total.requests,
        tokens: total.tokens,
        cost_usd: priced.then_some(Usd(total.cost)),
    });
    causes.collect()
}
