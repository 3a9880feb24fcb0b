//! `forkcast fanout`.

use std::rc::Rc;

use forkcast_reports::{format, human};
use forkcast_scenarios::fanout::cell::Refused;
use forkcast_scenarios::fanout::play::Unplayed;
use forkcast_scenarios::fanout::row::{Row, row};
use forkcast_sim::pricing::{ModelKey, PriceBook, Terms};
use forkcast_sim::wire::model;

use crate::args::{FanoutArgs, Format};
use crate::exit::{BadInput, interrupted};
use crate::screen;

/// Runs the verb.
pub fn run(args: &FanoutArgs) -> anyhow::Result<()> {
    let cells = args.grid().map_err(BadInput::error)?.cells().map_err(BadInput::error)?;
    // Everything is looked at before the first cell runs, so that no work is lost to the last one.
    let refused: Vec<Refused> = cells.iter().filter_map(|cell| cell.check().err()).collect();
    if let Some(first) = refused.first() {
        return Err(BadInput::error(first));
    }
    let book = Rc::new(PriceBook::built_in());
    look_at_models(args, &book)?;
    let mut steps = args.talk.steps();
    let mut rows: Vec<Row> = Vec::with_capacity(cells.len());
    for cell in &cells {
        if interrupted() {
            break;
        }
        steps.at(|| format!("{} of {} cells", rows.len(), cells.len()));
        match row(cell, &book) {
            Ok(row) => rows.push(row),
            Err(Unplayed::Refused(refused)) => return Err(BadInput::error(refused)),
            Err(Unplayed::Failed(why)) => return Err(anyhow::anyhow!(why)),
        }
    }
    steps.end();
    let is_partial = rows.len() < cells.len();
    let price_book = format!("list prices of {}", book.version());
    match args.format {
        Format::Json => screen::print(|target| format::fanout::write(&rows, &price_book, is_partial, target)),
        Format::Csv => screen::print(|target| format::fanout::table(&rows, target)),
        shown => screen::document(&human::fanout::document(&rows, &price_book, is_partial), shown),
    }
}

/// A name that nobody knows is a slip of the hand; a model without a price is not, but its costs are missing.
fn look_at_models(args: &FanoutArgs, book: &PriceBook) -> anyhow::Result<()> {
    for name in args.model.iter().map(|name| name.trim()) {
        let Err(unpriced) = book.rates(&ModelKey::from(name), &Terms::default()) else { continue };
        if model::resolve(name).is_none() {
            return Err(BadInput::error(format_args!("--model {name}: no such model (see `forkcast list models`)")));
        }
        args.talk.note(format_args!("forkcast: {unpriced}, so tokens and times are all there is"));
    }
    Ok(())
}
