//! The tables of a replay as comma-separated values, complete and without a word for people: one of them alone, as
//! spreadsheets and data frames read it, or all, one after the other.

use std::io::{self, Write};

use forkcast_sim::pricing::Money;

use super::{requests, usage};
use crate::document::csv;
use crate::report::{Account, Group, Report, Session, Side};

mod rows;

use rows::{
    CAUSE, DAMAGE, EXCEPTION, FACTOR, FEE, GATE, MISS, SIZE, UNPRICED, causes, damage, exceptions, factors, fees,
    gate_rows, miss_rows, placed, remark_rows, size_rows, unpriced_rows,
};

/// A table: its columns and its rows.
type Rows = Vec<Vec<String>>;

/// Every table: its name, what a row of it is, its columns, its rows.
struct Plan {
    name: &'static str,
    what: &'static str,
    columns: fn() -> Vec<&'static str>,
    rows: Source,
}

/// Where rows come from.
enum Source {
    /// They are made at once.
    Held(fn(&Report<'_>) -> Rows),
    /// One for each request, while these are gone through.
    Requests,
}

impl Plan {
    fn each(&self, report: &Report<'_>, take: &mut dyn FnMut(Vec<String>) -> io::Result<()>) -> io::Result<()> {
        match self.rows {
            Source::Held(rows) => rows(report).into_iter().try_for_each(take),
            Source::Requests => requests::each(report, take),
        }
    }
}

/// In the order in which they are written.
const PLANS: [Plan; 15] = [
    Plan { name: "totals", what: "one row of sums over everything", columns: sum_columns, rows: Source::Held(totals) },
    Plan {
        name: "groups",
        what: "sums of each group of --by",
        columns: || sums_of(&["key"]),
        rows: Source::Held(groups),
    },
    Plan { name: "models", what: "sums of each model", columns: || sums_of(&["model"]), rows: Source::Held(models) },
    Plan {
        name: "sessions",
        what: "sums of each recording",
        columns: || sums_of(&SESSION),
        rows: Source::Held(sessions),
    },
    Plan {
        name: "causes",
        what: "why tokens were missed, over everything",
        columns: || CAUSE.to_vec(),
        rows: Source::Held(causes),
    },
    Plan { name: "misses", what: "each request and cause", columns: || placed(&MISS), rows: Source::Held(miss_rows) },
    Plan {
        name: "exceptions",
        what: "requests not as predicted",
        columns: || placed(&EXCEPTION),
        rows: Source::Held(exceptions),
    },
    Plan {
        name: "unpriced",
        what: "models without a price",
        columns: || UNPRICED.to_vec(),
        rows: Source::Held(unpriced_rows),
    },
    Plan { name: "gates", what: "limits that were set", columns: || GATE.to_vec(), rows: Source::Held(gate_rows) },
    Plan {
        name: "damage",
        what: "what was not read, or repaired",
        columns: || DAMAGE.to_vec(),
        rows: Source::Held(damage),
    },
    Plan {
        name: "remarks",
        what: "remarks on requests",
        columns: || vec!["remark", "requests"],
        rows: Source::Held(remark_rows),
    },
    Plan { name: "fees", what: "charges that are not tokens", columns: || FEE.to_vec(), rows: Source::Held(fees) },
    Plan {
        name: "sizes",
        what: "counted sizes of each tokenizer",
        columns: || SIZE.to_vec(),
        rows: Source::Held(size_rows),
    },
    Plan {
        name: "factors",
        what: "fitted factors of --calibrate",
        columns: || FACTOR.to_vec(),
        rows: Source::Held(factors),
    },
    Plan {
        name: "requests",
        what: "each request, as in requests.csv",
        columns: || requests::COLUMNS.to_vec(),
        rows: Source::Requests,
    },
];

/// Names of the tables, each with what a row of it is.
pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    PLANS.iter().map(|plan| (plan.name, plan.what))
}

/// Writes one table: its head and its rows. Nothing for a name that is none of [`names`].
///
/// # Errors
/// When the target cannot be written.
pub fn write(report: &Report<'_>, name: &str, target: &mut dyn Write) -> io::Result<()> {
    let Some(plan) = PLANS.iter().find(|plan| plan.name == name) else { return Ok(()) };
    csv::row(target, (plan.columns)())?;
    plan.each(report, &mut |row| csv::row(target, row))
}

/// Writes all tables, an empty line between them; the first column names the table.
///
/// # Errors
/// When the target cannot be written.
pub fn write_all(report: &Report<'_>, target: &mut dyn Write) -> io::Result<()> {
    for (at, plan) in PLANS.iter().enumerate() {
        if at > 0 {
            writeln!(target)?;
        }
        csv::row(target, std::iter::once("table").chain((plan.columns)()))?;
        plan.each(report, &mut |row| csv::row(target, std::iter::once(plan.name.to_owned()).chain(row)))?;
    }
    Ok(())
}

const SUMS: [&str; 24] = [
    "requests",
    "recorded_input_tokens",
    "recorded_cache_read_input_tokens",
    "recorded_ephemeral_5m_input_tokens",
    "recorded_ephemeral_1h_input_tokens",
    "recorded_output_tokens",
    "recorded_hit_rate",
    "recorded_cost_usd",
    "predicted_input_tokens",
    "predicted_cache_read_input_tokens",
    "predicted_ephemeral_5m_input_tokens",
    "predicted_ephemeral_1h_input_tokens",
    "predicted_output_tokens",
    "predicted_hit_rate",
    "predicted_cost_usd",
    "perfect_cost_usd",
    "unread_writes_usd",
    "read_tokens",
    "new_tokens",
    "missed_tokens",
    "missed_cost_usd",
    "dearest_cause",
    "comparable",
    "same_verdict",
];

fn sum_columns() -> Vec<&'static str> {
    SUMS.to_vec()
}

fn sums_of(own: &[&'static str]) -> Vec<&'static str> {
    own.iter().copied().chain(SUMS).collect()
}

fn sums(account: &Account) -> Vec<String> {
    let mut row = vec![account.ledger.requests.to_string()];
    let recorded = (account.ledger.recorded_requests > 0).then_some(&account.recorded);
    row.extend(side(recorded));
    row.extend(side(account.predicted.as_ref()));
    row.extend([money(account.perfect), money(account.unread_writes)]);
    row.extend(explained(account));
    row.extend([account.agreement.sums.comparable, account.agreement.sums.same_verdict].map(|sum| sum.to_string()));
    row
}

fn side(side: Option<&Side>) -> [String; 7] {
    let Some(side) = side else { return Default::default() };
    let [input, read, write_5m, write_1h, output] = usage::cells(Some(&side.usage));
    let rate = side.usage.hit_rate().map(|rate| rate.to_string()).unwrap_or_default();
    [input, read, write_5m, write_1h, output, rate, money(side.cost)]
}

/// Where the input of explained requests went; empty where none could be explained.
fn explained(account: &Account) -> [String; 5] {
    if !account.is_explained() {
        return Default::default();
    }
    let missed = account.billed.cost.zip(account.perfect).map(|(bill, perfect)| bill - perfect);
    [
        account.ledger.read_tokens.to_string(),
        account.ledger.new_tokens.to_string(),
        account.ledger.missed_tokens.to_string(),
        money(missed),
        account.causes().first().map(|(cause, _)| cause.word().to_owned()).unwrap_or_default(),
    ]
}

fn totals(report: &Report<'_>) -> Rows {
    vec![sums(&report.totals)]
}

fn keyed(groups: &[Group]) -> Rows {
    groups.iter().map(|group| [vec![group.key.clone()], sums(&group.account)].concat()).collect()
}

fn groups(report: &Report<'_>) -> Rows {
    keyed(&report.groups)
}

fn models(report: &Report<'_>) -> Rows {
    keyed(&report.models)
}

const SESSION: [&str; 4] = ["session", "source", "format", "chains"];

fn sessions(report: &Report<'_>) -> Rows {
    let row = |session: &Session| {
        let own =
            vec![session.id.clone(), session.source.clone(), session.format.to_owned(), session.chains.to_string()];
        [own, sums(&session.account)].concat()
    };
    report.sessions.iter().map(row).collect()
}

/// All digits; empty where there is no price.
fn money(amount: Option<Money>) -> String {
    amount.map(|amount| amount.to_string()).unwrap_or_default()
}
