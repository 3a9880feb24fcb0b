//! Collapsed stacks (`frame;frame;frame weight`), as flame graphs read them: project, session, agents, model, and what
//! was paid for.

use std::collections::BTreeMap;
use std::io::{self, Write};

use forkcast_sim::outside::visible;
use forkcast_sim::pricing::div_half_even;

use super::{agent_of, line_of};
use crate::report::{Recorded, Report, Spending};

/// What the width of a frame means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weight {
    /// Millionths of a dollar.
    #[default]
    Usd,
    /// Tokens.
    Tokens,
}

/// Picodollars of a microdollar.
const MICRO: i128 = 1_000_000;

/// Writes a line for each stack, in order of the names. Weights are rounded once, after they were summed.
///
/// # Errors
/// When the target cannot be written.
pub fn write(report: &Report<'_>, weight: Weight, target: &mut dyn Write) -> io::Result<()> {
    let mut sums: BTreeMap<String, i128> = BTreeMap::new();
    report.each(&mut |entry| {
        if !report.counted.counts(entry) {
            return;
        }
        let path = frames(report, entry).join(";");
        for (part, amount) in parts(entry, weight) {
            if amount != 0 {
                *sums.entry(format!("{path};{part}")).or_default() += amount;
            }
        }
    });
    let unit = if weight == Weight::Usd { MICRO } else { 1 };
    sums.iter().try_for_each(|(stack, sum)| writeln!(target, "{stack} {}", div_half_even(*sum, unit)))
}

/// The frames of a request, from the outside in.
fn frames(report: &Report<'_>, entry: &Recorded<'_>) -> Vec<String> {
    let session = report.session_of(entry);
    let id = agent_of(report, entry);
    let agents = session.map_or_else(Vec::new, |session| line_of(session, id));
    let project = session.and_then(|session| session.project.as_deref()).unwrap_or("unknown");
    let outer = [project, session.map_or("unknown", |session| &session.id)];
    let agents: Vec<&str> = if agents.is_empty() { vec![id] } else { agents.iter().map(|agent| &*agent.id).collect() };
    let model = report.names.model(&entry.line.model);
    outer.into_iter().chain(agents).chain([&*model]).map(frame).collect()
}

/// A name as a frame: `;` ends a frame, and the end of a line a stack.
fn frame(name: &str) -> String {
    visible(name).replace(';', ",")
}

fn parts(entry: &Recorded<'_>, weight: Weight) -> [(&'static str, i128); 6] {
    let words = ["read", "write 5m", "write 1h", "input", "answer", "fees"];
    let amounts = match weight {
        Weight::Usd => entry.line.charge.bill.as_ref().map_or([0; 6], |bill| {
            let Spending { read, write_5m, write_1h, input, output, fees } = Spending::of(bill);
            [read, write_5m, write_1h, input, output, fees].map(|money| money.picousd())
        }),
        Weight::Tokens => entry.line.billed().map_or([0; 6], |usage| {
            let (five, hour) = (usage.ephemeral_5m_input_tokens, usage.ephemeral_1h_input_tokens);
            [usage.cache_read_input_tokens, five, hour, usage.input_tokens, usage.output_tokens, 0].map(i128::from)
        }),
    };
    std::array::from_fn(|at| (words[at], amounts[at]))
}
