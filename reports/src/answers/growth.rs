//! How the cost of cells grows where nothing is compared.

use forkcast_scenarios::fanout::breakeven::Quantity;
use forkcast_scenarios::fanout::{Cell, Trial};

use super::grid::grouped;
use crate::document::money;

/// How the cost grows along each of these numbers, and from a warm parent to a cold one: `1.9 times the cost from 1 to 11
/// turns: $0.2060 to $0.3914`.
pub(super) fn growth(rows: &[Trial], numbers: &[Quantity]) -> Option<String> {
    let along = |number: &Quantity| {
        let growth = Growth::of(rows, |cell| number.without(cell), |cell| number.of(cell))?;
        Some((growth.factors(), format!("from {}", number.between(growth.from, growth.to))))
    };
    let cold = Growth::of(rows, |cell| Cell { is_cold: false, ..cell.clone() }, |cell| cell.is_cold.into());
    let cold = cold.map(|growth| (growth.factors(), "with a cold parent".to_owned()));
    let parts = numbers.iter().filter_map(along).chain(cold).enumerate();
    let parts: Vec<String> = parts
        .map(|(at, (factors, place))| format!("{factors} times {}{place}", if at == 0 { "the cost " } else { "" }))
        .collect();
    let costs = || rows.iter().filter_map(Trial::ranked_cost);
    let (least, most) = costs().min().zip(costs().max())?;
    (!parts.is_empty()).then(|| format!("{}: {} to {}", parts.join(", "), money(least), money(most)))
}

/// By how much the cost of cells grows that differ in one thing alone.
struct Growth {
    from: u64,
    to: u64,
    least: f64,
    most: f64,
}

impl Growth {
    /// `without` that thing cells are equal, and `place` is its value; `None` if it never differs.
    fn of(rows: &[Trial], without: impl Fn(&Cell) -> Cell, place: impl Fn(&Cell) -> u64) -> Option<Self> {
        let mut found: Option<Self> = None;
        for group in grouped(rows, without) {
            let priced =
                || group.iter().filter_map(|row| Some((place(&row.cell), row.ranked_cost()?.picousd() as f64)));
            let (Some(first), Some(last)) = (priced().min_by_key(|(at, _)| *at), priced().max_by_key(|(at, _)| *at))
            else {
                continue;
            };
            if first.0 == last.0 || first.1 <= 0.0 {
                continue;
            }
            let factor = last.1 / first.1;
            let known = found.get_or_insert(Self { from: first.0, to: last.0, least: factor, most: factor });
            known.least = known.least.min(factor);
            known.most = known.most.max(factor);
        }
        found
    }

    /// `1.9`, or `1.9 to 3.1`.
    fn factors(&self) -> String {
        let [least, most] = [self.least, self.most].map(factor);
        if least == most { least } else { format!("{least} to {most}") }
    }
}

/// With two decimals near one, and none if it is large.
fn factor(number: f64) -> String {
    match number {
        _ if number >= 9.95 => format!("{number:.0}"),
        _ if (number - 1.0).abs() < 0.05 => format!("{number:.2}"),
        _ => format!("{number:.1}"),
    }
}
