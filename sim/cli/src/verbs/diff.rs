//! `forkcast diff`.

use forkcast_reports::comparison::Sides;
use forkcast_reports::format;
use forkcast_reports::human;
use forkcast_reports::report::stated;
use forkcast_sim::diagnosis::compare;
use forkcast_sim::pricing::{PriceBook, Rates, Terms};
use forkcast_sim::wire::spelling::{self, SpellingNote};
use forkcast_sim::wire::{Request, Wire, estimated_tokens};

use crate::args::{DiffArgs, Doubt, Format};
use crate::exit::{BadInput, Outcome};
use crate::screen;

mod side;

use side::Side;

/// Runs the verb.
pub fn run(args: &DiffArgs) -> anyhow::Result<()> {
    let older = Side::find(&args.older)?;
    let newer = Side::find(&args.newer)?;
    let rules = args.cache.unwrap_or_default();
    let mut wire = Wire::new(rules.forms);
    let old = older.read(&mut wire)?;
    let new = newer.read(&mut wire)?;
    let comparison = compare(&wire, &old, &new);
    let spelling = spelling::notes(&older.exchange.body, &newer.exchange.body, &rules.forms)
        .map_err(|error| BadInput::error(format_args!("{}: {error}", newer.title)))?;
    let told = |note: SpellingNote| SpellingNote { path: new.sent_path(note.path), ..note };
    let spelling: Vec<SpellingNote> = spelling.into_iter().map(told).collect();
    let book = args.prices.book(&args.talk)?;
    let rates = rates(args, &book, &wire, &new);
    let names = args.shown.names();
    let day = args.prices.day.map_or_else(|| book.version().to_owned(), |day| day.to_string());
    let sides = Sides {
        wire: &wire,
        rules: &rules,
        older: &old,
        newer: &new,
        comparison: &comparison,
        spelling: &spelling,
        rates: rates.as_ref(),
        prices: stated(&book, &day, names),
        titles: [&older.title, &newer.title],
        origin: (newer.exchange.chain.as_deref(), newer.position),
        names,
    };
    let mut outcome = Outcome::default();
    outcome.printed(match args.shown.format {
        Format::Json => screen::print(|target| format::diff::write(&sides, args.shown.show_content, target)),
        Format::Csv => screen::document(&human::diff::tables(&sides), Format::Csv),
        format => screen::document(&human::diff::document(&sides, args.shown.windows()), format),
    })?;
    let unpriced = rates.is_none().then_some(new.model.as_str());
    outcome.mistakes.extend(args.strict.complaints(Doubt::unpriced(unpriced)));
    outcome.done()
}

/// Prices of the newer request's model.
fn rates(args: &DiffArgs, book: &PriceBook, wire: &Wire, request: &Request) -> Option<Rates> {
    let blocks = request.nodes.iter().filter_map(|node| wire.prefixes.block(*node));
    let terms = Terms {
        date: args.prices.day,
        prompt_tokens: blocks.map(|block| estimated_tokens(&wire.blocks, block)).sum(),
        fast: request.envelope_value("speed") == Some(b"\"fast\""),
        geo_us: request.envelope_value("inference_geo") == Some(b"\"us\""),
        regional: request.resolved.is_some_and(|resolved| resolved.regional),
        ..Terms::default()
    };
    book.rates(&request.model.as_str().into(), &terms).ok()
}
