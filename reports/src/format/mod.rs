//! The machine formats. File types are mirrors of the report's, with a name and a version each; their JSON Schemas
//! stand in `schema/`.
//!
//! * [`replay`]: `forkcast.replay/1`, one object.
//! * [`ledger`]: `forkcast.ledger/1`, a line for each request.
//! * [`requests`]: the ledger as a flat table of comma-separated values.
//! * [`tables`]: every table of a replay as comma-separated values.
//! * [`diff`]: `forkcast.diff/1`, two requests side by side.
//! * [`check`]: `forkcast.check/1`, what the prefix guard found, also as JUnit XML, SARIF and annotations.
//! * [`explain`]: `forkcast.explain/1`, one request against what its cache held.
//! * [`run`]: `forkcast.run/1`, one run of a scenario, and its requests as comma-separated values.
//! * [`sweep`]: `forkcast.sweep/1`, cells of a grid, and the same as comma-separated values.
//! * [`schemas`]: the JSON Schemas of these and of `forkcast.list/1`, as files.

mod calibration;
mod change;
pub mod check;
pub mod diff;
mod difference;
pub mod explain;
pub mod fanout;
mod inputs;
pub(crate) mod json_text;
pub mod ledger;
pub mod number;
mod own_prices;
pub mod replay;
pub mod requests;
pub mod run;
pub mod schemas;
pub mod sweep;
pub mod tables;
pub mod usage;

/// The format that scenarios are written in, for editors.
pub const SCENARIO: &str = "forkcast.scenario/1";

/// The JSON Schemas by the name of their format.
pub const SCHEMAS: [(&str, &str); 12] = [
    (replay::SCHEMA, include_str!("../../schema/replay-1.json")),
    (ledger::SCHEMA, include_str!("../../schema/ledger-1.json")),
    (crate::folder::manifest::SCHEMA, include_str!("../../schema/manifest-1.json")),
    (check::SCHEMA, include_str!("../../schema/check-1.json")),
    (diff::SCHEMA, include_str!("../../schema/diff-1.json")),
    (explain::SCHEMA, include_str!("../../schema/explain-1.json")),
    (run::SCHEMA, include_str!("../../schema/run-1.json")),
    (fanout::SCHEMA, include_str!("../../schema/fanout-1.json")),
    (forkcast_scenarios::sweep::plan::SCHEMA, include_str!("../../schema/plan-1.json")),
    (sweep::SCHEMA, include_str!("../../schema/sweep-1.json")),
    (SCENARIO, include_str!("../../schema/scenario-1.json")),
    (crate::document::json::SCHEMA, include_str!("../../schema/list-1.json")),
];
