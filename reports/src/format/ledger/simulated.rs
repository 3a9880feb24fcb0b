//! The ledger of a simulated run: nothing was recorded, so only what the rules predict is there. With the bodies beside it a
//! request can be explained as one of a recording, what the simulation billed standing for its usage.

use std::borrow::Cow;
use std::io::{self, Write};

use forkcast_scenarios::run::{Request, Run};
use forkcast_sim::service::NotComparable;

use super::exchange::{Stored, StoredSizes};
use super::{ComparisonObject, ExplanationObject, LineObject, OriginObject, SCHEMA, bill, causes, differences, fees};
use crate::format::json_text;
use crate::format::number::{Millis, Usd};
use crate::names::Names;

/// Writes a line for each request. With the bodies beside it a line declares the sizes of its request's blocks.
///
/// # Errors
/// When the target cannot be written.
pub fn write(run: &Run, has_bodies: bool, target: &mut dyn Write) -> io::Result<()> {
    let mut sizes = has_bodies.then(|| StoredSizes::all(run));
    for request in &run.requests {
        let mut line = line(run, request);
        if let (Some(exchange), Some(sizes)) = (&mut line.exchange, &mut sizes) {
            exchange.sizes = sizes.next();
        }
        json_text::compact(target, &line)?;
        writeln!(target)?;
    }
    Ok(())
}

fn line<'a>(run: &'a Run, request: &'a Request) -> LineObject<'a> {
    let line = &request.line;
    let explanation = line.explanation.as_ref();
    LineObject {
        schema: SCHEMA,
        index: line.index,
        session: Some(&run.scenario.name),
        chain: run.agents.get(request.agent).map(|agent| &*agent.id),
        origin: OriginObject { file: run.scenario.file.to_string(), index: line.index, line: 0 },
        at_ms: line.at.map(Millis),
        first_byte_ms: line.first_byte_at.map(Millis),
        model: Cow::Borrowed(&line.model),
        recorded: None,
        predicted: line.predicted.as_ref().map(Into::into),
        bill: line.charge.bill.as_ref().map(bill),
        fees: line.charge.bill.as_ref().map_or_else(Vec::new, fees),
        cost_usd: line.charge.bill.as_ref().map(|bill| Usd(bill.total)),
        predicted_cost_usd: line.predicted_bill.as_ref().map(|bill| Usd(bill.total)),
        perfect_cost_usd: line.charge.perfect.map(Usd),
        unread_writes_usd: line.unread_writes.map(Usd),
        comparison: ComparisonObject::without(NotComparable::NoUsage),
        explanation: explanation.map(ExplanationObject::of),
        causes: causes(line),
        differences: explanation.map_or_else(Vec::new, |explanation| differences(explanation, Names::Plain)),
        notes: explanation
            .map_or_else(Vec::new, |explanation| explanation.notes.iter().map(|note| note.word()).collect()),
        remarks: line.remarks.clone(),
        exchange: Some(Stored::simulated(run, request)),
        told: None,
    }
}
