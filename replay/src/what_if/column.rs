//! All what-ifs of a session side by side, in one pass.

use forkcast_sim::cache::Rules;
use forkcast_sim::pricing::{Money, PriceBook};
use forkcast_sim::wire::{NodeId, Prefixes};

use super::Hypothetical;
use super::family::Families;
use super::spec::{Lifetimes, WhatIf};
use super::variant::Variant;
use crate::rebuild::Dispatch;

/// The what-ifs of a session. Those that need the same run share it.
pub struct Columns<'a> {
    runs: Vec<(WhatIf, Variant<'a>)>,
    columns: Vec<Column>,
    /// The conversation of each request that enters a bill.
    agents: Vec<usize>,
    families: Families,
}

/// Where a column comes from: indices among the runs.
#[derive(Clone, Copy)]
enum Column {
    One(usize),
    /// The cheaper one for each family of conversations; the first where they cost the same.
    Best(usize, usize),
}

impl<'a> Columns<'a> {
    /// A column for each of `what_ifs`; `rules` hold where one names none.
    pub fn new(what_ifs: &[WhatIf], rules: &Rules, book: &'a PriceBook) -> Self {
        let mut columns =
            Self { runs: Vec::new(), columns: Vec::new(), agents: Vec::new(), families: Families::default() };
        for what_if in what_ifs {
            let mut run = |what_if: WhatIf| columns.run(what_if, rules, book);
            let column = if what_if.ttl == Some(Lifetimes::Best) {
                let with = |ttl| WhatIf { ttl: Some(ttl), ..what_if.clone() };
                Column::Best(run(with(Lifetimes::FiveMinutes)), run(with(Lifetimes::OneHour)))
            } else {
                Column::One(run(what_if.clone()))
            };
            columns.columns.push(column);
        }
        columns
    }

    /// The run of `what_if`, begun where there is none yet.
    fn run(&mut self, what_if: WhatIf, rules: &Rules, book: &'a PriceBook) -> usize {
        self.runs.iter().position(|(known, _)| *known == what_if).unwrap_or_else(|| {
            let variant = Variant::new(&what_if, rules, book);
            self.runs.push((what_if, variant));
            self.runs.len() - 1
        })
    }

    /// Serves one request of the session; requests come in order of time, hidden ones too.
    pub fn serve(&mut self, sent: &Dispatch<'_>) {
        for (_, variant) in &mut self.runs {
            variant.serve(sent);
        }
        self.families.sent(sent.agent, sent.prefixes, sent.end);
        if !sent.hidden {
            self.agents.push(sent.agent);
        }
    }

    /// A hidden request has extended the entry at `floor` to `node`, a prefix of `sent`, which is to be served next.
    pub fn extend(&mut self, sent: &Dispatch<'_>, floor: NodeId, node: NodeId) {
        for (_, variant) in &mut self.runs {
            variant.extend(sent, floor, node);
        }
    }

    /// For each request that is not hidden, in the order in which they came, what it would have been in each column.
    pub fn finish(self, prefixes: &Prefixes) -> Vec<Vec<Hypothetical>> {
        let runs: Vec<Vec<Hypothetical>> = self.runs.into_iter().map(|(_, variant)| variant.finish(prefixes)).collect();
        // The last family is of agents whose prompts are empty.
        let family = |agent: &usize| self.families.of(*agent).unwrap_or(self.families.len());
        let families: Vec<usize> = self.agents.iter().map(family).collect();
        let choices: Vec<Vec<usize>> =
            self.columns.iter().map(|column| choose(*column, &runs, &families, self.families.len() + 1)).collect();
        let row = |(at, family): (usize, &usize)| choices.iter().map(|choice| runs[choice[*family]][at]).collect();
        families.iter().enumerate().map(row).collect()
    }
}

/// The run that a column takes for each family.
fn choose(column: Column, runs: &[Vec<Hypothetical>], families: &[usize], count: usize) -> Vec<usize> {
    match column {
        Column::One(run) => vec![run; count],
        Column::Best(first, second) => {
            let (costs, others) = (by_family(&runs[first], families, count), by_family(&runs[second], families, count));
            costs.iter().zip(&others).map(|(cost, other)| if other < cost { second } else { first }).collect()
        }
    }
}

fn by_family(rows: &[Hypothetical], families: &[usize], count: usize) -> Vec<Money> {
    let mut costs = vec![Money::ZERO; count];
    for (row, family) in rows.iter().zip(families) {
        costs[*family] += row.cost.unwrap_or_default();
    }
    costs
}
