//! A bill equals the sum of its parts.

use crate::ledger::Line;
use crate::service::Entry;
use crate::simulation::Observer;
use crate::time::Instant;

/// bill = its parts; bill − perfect bill = the causes; both to the last 10⁻¹² USD.
#[derive(Clone, Copy, Debug)]
pub struct Money;

impl Observer for Money {
    fn name(&self) -> &'static str {
        "money"
    }

    fn end(&mut self, _at: Instant, entries: &[Entry]) -> Result<(), String> {
        entries.iter().try_for_each(|entry| check(&entry.line))
    }
}

fn check(line: &Line) -> Result<(), String> {
    let (Some(bill), Some(perfect)) = (&line.charge.bill, line.charge.perfect) else { return Ok(()) };
    let parts: crate::pricing::Money = bill.lines.iter().map(|part| part.cost).sum();
    if parts != bill.total {
        return Err(format!("request {}: the parts of its bill are {parts}, the bill is {}", line.index, bill.total));
    }
    let causes: crate::pricing::Money = line.charge.causes.iter().filter_map(|cause| cause.cost).sum();
    if causes == bill.total - perfect {
        return Ok(());
    }
    Err(format!("request {}: its causes cost {causes}, but {} − {perfect} was missed", line.index, bill.total))
}
