//! Grids for people: their cheapest cells, and unfinished ones.

use std::collections::{BTreeMap, BTreeSet};

use forkcast_scenarios::sweep::{Axis, CellOutcome, Plan};
use forkcast_sim::pricing::Money;

use crate::document::{Cell, Column, Document, Table, count, money, several};
use crate::format::sweep::Row;
use crate::record::table;

/// Most rows shown to people; machines get all.
const ROWS_SHOWN_MAX: usize = 40;

/// Most complaints about cells that did not finish.
const UNFINISHED_MAX: usize = 10;

/// What people see of a grid: its cheapest and its dearest cells, and counts. Its size does not depend on the number of
/// cells.
#[derive(Debug)]
pub struct Summary<'a> {
    plan: &'a Plan,
    cells: usize,
    requests: u64,
    /// The cheapest cells by rank, in order.
    cheapest: BTreeMap<Rank, CellOutcome>,
    /// The dearest cell that is complete and has a price.
    dearest: Option<(Rank, CellOutcome)>,
    /// Cells with unanswered requests, and the number of these.
    unanswered: (u64, u64),
    unpriced: BTreeSet<String>,
    /// Cells with failed expectations.
    failing: u64,
    /// The first cell that broke a law.
    pub lawless: Option<String>,
    /// The first cells that did not finish.
    pub unfinished: Vec<String>,
    /// How many cells did not finish.
    pub unfinished_cells: usize,
}

/// Cells with unanswered requests or without a price come last; equal ones remain in the order of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    is_unanswered: bool,
    is_unfinished: bool,
    has_no_price: bool,
    cost: Option<Money>,
    index: usize,
}

impl Rank {
    fn of(index: usize, outcome: &CellOutcome) -> Self {
        // The parent's requests count, as in `fanout`: they obey the same launch and placement.
        let cost = outcome.figures.total_cost.or(outcome.figures.cost);
        let (is_unanswered, is_unfinished) = (!outcome.is_answered(), !outcome.is_done());
        Self { is_unanswered, is_unfinished, has_no_price: cost.is_none(), cost, index }
    }

    /// Its cost, if its cell is complete.
    fn complete_cost(&self) -> Option<Money> {
        self.cost.filter(|_| !self.is_unanswered && !self.is_unfinished)
    }
}

impl<'a> Summary<'a> {
    /// That of no cells.
    pub fn of(plan: &'a Plan) -> Self {
        Self {
            plan,
            cells: 0,
            requests: 0,
            cheapest: BTreeMap::new(),
            dearest: None,
            unanswered: (0, 0),
            unpriced: BTreeSet::new(),
            failing: 0,
            lawless: None,
            unfinished: Vec::new(),
            unfinished_cells: 0,
        }
    }

    /// Adds the cell with this index.
    pub fn add(&mut self, index: usize, outcome: CellOutcome) {
        self.cells += 1;
        self.requests += outcome.figures.requests;
        self.unanswered.0 += u64::from(outcome.figures.unanswered > 0);
        self.unanswered.1 += outcome.figures.unanswered;
        self.unpriced.extend(outcome.unpriced.iter().cloned());
        self.failing += u64::from(!outcome.failures.is_empty());
        self.look_at_end(index, &outcome);
        let rank = Rank::of(index, &outcome);
        if rank.complete_cost().is_some() && self.dearest.as_ref().is_none_or(|(most, _)| *most < rank) {
            self.dearest = Some((rank, outcome.clone()));
        }
        self.cheapest.insert(rank, outcome);
        // One row takes no more room than "… and 1 more".
        if self.cheapest.len() > ROWS_SHOWN_MAX + 1 {
            self.cheapest.pop_last();
        }
    }

    fn look_at_end(&mut self, index: usize, outcome: &CellOutcome) {
        if outcome.is_done() && !outcome.broke_a_law() {
            return;
        }
        let set = self.plan.cell(index).set.join(" ");
        let message = outcome.message.iter().map(|message| format!(": {message}"));
        let complaint = || format!("{set}: {}{}", outcome.ends, message.clone().collect::<String>());
        if outcome.broke_a_law() {
            self.lawless.get_or_insert_with(complaint);
        }
        self.unfinished_cells += usize::from(!outcome.is_done());
        if !outcome.is_done() && self.unfinished.len() < UNFINISHED_MAX {
            self.unfinished.push(complaint());
        }
    }

    /// Models without a price, in order.
    pub fn unpriced(&self) -> impl Iterator<Item = &str> {
        self.unpriced.iter().map(String::as_str)
    }

    /// The document.
    pub fn document(&self) -> Document {
        let cells: Vec<Row<'_>> =
            self.cheapest.iter().map(|(rank, outcome)| Row::of(self.plan, rank.index, outcome.clone())).collect();
        let mut document = Document::default();
        document.title(self.title());
        document.aside(rests_on(self.plan));
        let mut table = table(&cells);
        table.unmade += self.cells - cells.len();
        document.table(table);
        document.text(self.findings());
        document
    }

    fn title(&self) -> String {
        let (cells, requests) = (several(self.cells as u64, "cell"), count(self.requests));
        format!("Sweep of {}: {cells}, {requests} requests", self.plan.subject.name())
    }

    fn findings(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let setting = |rank: &Rank, outcome: &CellOutcome| Row::of(self.plan, rank.index, outcome.clone()).setting();
        if let (Some((least, cheapest)), Some((most, dearest))) = (self.cheapest.first_key_value(), &self.dearest)
            && let (Some(cheap), Some(dear)) = (least.complete_cost(), most.complete_cost())
            && dear > cheap
        {
            let parent = if cheapest.figures.total_cost.is_some() { " with the parent's requests" } else { "" };
            lines.push(format!("Cheapest: {}, {}{parent}", setting(least, cheapest), money(cheap)));
            lines.push(format!("Dearest: {}, {}{parent}", setting(most, dearest), money(dear)));
        }
        let (cells, requests) = self.unanswered;
        if cells > 0 {
            lines.push(format!(
                "In {} of {} cells {} requests were never answered: their costs are incomplete, and they come last",
                count(cells),
                count(self.cells as u64),
                count(requests)
            ));
        }
        lines.extend(self.unpriced().map(|model| format!("No price for {model}: its cost is in no figure")));
        if self.failing > 0 {
            lines.push(format!(
                "In {} of {} cells the scenario's expectations about its own values failed",
                count(self.failing),
                count(self.cells as u64)
            ));
        }
        lines
    }
}

fn rests_on(plan: &Plan) -> Vec<String> {
    let axes: Vec<String> = varying(plan).map(|axis| format!("{} ({})", axis.path, axis.values.len())).collect();
    let axes = if axes.is_empty() { "nothing varies".to_owned() } else { axes.join(" × ") };
    let mut lines = vec![format!("Plan {}: {axes}; cheapest first, all in --format csv or json", plan.plan)];
    let fixed = plan.axes.iter().filter(|axis| axis.values.len() == 1);
    let fixed: Vec<String> = fixed.map(|axis| format!("{} {}", axis.path, axis.values[0])).collect();
    if !fixed.is_empty() {
        lines.push(format!("In all cells: {}", fixed.join(", ")));
    }
    lines
}

fn table(rows: &[Row<'_>]) -> Table {
    let mut table = table::people("rows", rows, ROWS_SHOWN_MAX);
    table.rows_are = "cells";
    table.columns.insert(0, Column::wrap("set", "set"));
    for (cells, row) in table.rows.iter_mut().zip(rows) {
        let broke_off = if row.outcome.is_done() { "" } else { " (broke off)" };
        cells.insert(0, Cell::text(format!("{}{broke_off}", row.setting())));
    }
    table
}

/// Axes with more than one value.
fn varying(plan: &Plan) -> impl Iterator<Item = &Axis> {
    plan.axes.iter().filter(|axis| axis.values.len() > 1)
}
