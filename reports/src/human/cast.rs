//! A recorded session beside its simulation, for people.

use forkcast_scenarios::cast::Cast;
use forkcast_scenarios::cast::comparison::{Comparison, Departure, LATE_SECS, Side};

use crate::document::{Cell, Column, Document, Table};

/// Most requests shown to people.
const REQUESTS_MAX: usize = 200;

/// Sums of both sides, the first departure, and the requests.
pub fn document(cast: &Cast, comparison: &Comparison<'_>) -> Document {
    let mut document = Document::default();
    document.heading("Recorded beside simulated");
    document.text(vec![departure(comparison)]);
    let mut sums = Table::new(
        "sides",
        vec![
            Column::left("", "side"),
            Column::right("Requests", "requests"),
            Column::right("Input", "input_tokens"),
            Column::right("Read", "hit_rate"),
            Column::right("Input cost", "input_cost_usd"),
        ],
    );
    sums.rows.push(side("recorded", &comparison.recorded()));
    sums.rows.push(side("simulated", &comparison.simulated()));
    document.table(sums);
    document.table(requests(comparison));
    document.aside(cast.gaps.iter().map(ToString::to_string).collect());
    document
}

fn departure(comparison: &Comparison<'_>) -> String {
    let Some((why, pair)) = comparison.departure(LATE_SECS) else {
        return format!("Every recorded answer was asked for, and came within {LATE_SECS} s of its recorded instant.");
    };
    let line = pair.take.map_or_else(String::new, |take| format!(" (line {} of the recording)", take.line));
    match why {
        Departure::Unrecorded => {
            "The simulation first leaves the recording with a request that is not recorded.".to_owned()
        }
        Departure::NotAsked => format!("The first recorded answer that was never asked for{line}."),
        Departure::Late => {
            let delay = comparison.delay_secs(pair).map_or(0.0, f64::abs);
            format!("The first answer more than {LATE_SECS} s from its recorded instant is {delay:.0} s off{line}.")
        }
    }
}

fn side(name: &str, side: &Side) -> Vec<Cell> {
    vec![
        Cell::text(name),
        Cell::Count(side.requests),
        Cell::Count(side.usage.total_input_tokens()),
        Cell::Share(side.usage.hit_rate()),
        Cell::Money(side.input_cost),
    ]
}

fn requests(comparison: &Comparison<'_>) -> Table {
    let columns = vec![
        Column::left("Agent", "agent"),
        Column::right("Recorded s", "recorded_secs"),
        Column::right("Off s", "delay_secs"),
        Column::right("Input", "recorded_input_tokens"),
        Column::right("Simulated", "simulated_input_tokens"),
        Column::right("Read", "recorded_read_tokens"),
        Column::right("Simulated", "simulated_read_tokens"),
    ];
    let mut table = Table::new("pairs", columns);
    (table.rows_are, table.shown_max) = ("requests", REQUESTS_MAX);
    for pair in &comparison.pairs {
        let recorded = pair.take.and_then(|take| take.usage);
        let simulated = comparison.request(pair).map(|request| request.usage());
        let count = |tokens: Option<u64>| tokens.map_or(Cell::Missing("–"), Cell::Count);
        let agent = pair.take.map_or("not recorded", |take| &take.agent);
        let secs = |secs: Option<f64>| secs.map_or(Cell::Missing("–"), |secs| Cell::text(format!("{secs:.1}")));
        table.rows.push(vec![
            Cell::text(agent),
            secs(pair.take.map(|take| forkcast_scenarios::cast::comparison::secs(take.sent_at))),
            secs(comparison.delay_secs(pair)),
            count(recorded.map(|usage| usage.total_input_tokens())),
            count(simulated.map(|usage| usage.total_input_tokens())),
            count(recorded.map(|usage| usage.cache_read_input_tokens)),
            count(simulated.map(|usage| usage.cache_read_input_tokens)),
        ]);
    }
    table
}
