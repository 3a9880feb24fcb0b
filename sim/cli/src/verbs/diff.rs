//! `forkcast diff`.

use forkcast_reports::comparison::Sides;
use forkcast_reports::format;
use forkcast_reports::human;
use forkcast_reports::page;
use forkcast_reports::report::stated;
use forkcast_sim::diagnosis::compare;
use forkcast_sim::wire::spelling::{self, SpellingNote};
use forkcast_sim::wire::{Pins, Wire};

use crate::args::{DiffArgs, Doubt, Format};
use crate::exit::{BadInput, Outcome};
use crate::screen;
use crate::verbs::check::rules;
use crate::written;

mod side;

use side::Side;

/// Runs the verb.
pub fn run(args: &DiffArgs) -> anyhow::Result<()> {
    written::check(args.shown.html.as_deref(), None)?;
    let older = Side::find(&args.older)?;
    let newer = Side::find(&args.newer)?;
    let preset = args.cache.unwrap_or_default();
    let mut wire = Wire::new(preset.forms);
    let old = older.read(&mut wire)?;
    let new = newer.read(&mut wire)?;
    let comparison = compare(&wire, &old, &new);
    let spelling = spelling::notes(&older.exchange.body, &newer.exchange.body, &preset.forms)
        .map_err(|error| BadInput::error(format_args!("{}: {error}", newer.title)))?;
    let told = |note: SpellingNote| SpellingNote { path: new.sent_path(note.path), ..note };
    let spelling: Vec<SpellingNote> = spelling.into_iter().map(told).collect();
    let book = args.prices.book(&args.talk)?;
    let mut pins = Pins::default();
    let old = older.sized(&mut pins, &wire, old, &preset);
    let new = newer.sized(&mut pins, &wire, new, &preset);
    let rates = newer.rates(args.prices.day, &book, &new);
    let names = args.shown.names();
    let day = args.prices.day.or(newer.day()).map_or_else(|| book.version().to_owned(), |day| day.to_string());
    let sides = Sides {
        wire: &wire,
        rules: &preset,
        older: &old,
        newer: &new,
        are_measured: newer.is_measured(),
        comparison: &comparison,
        spelling: &spelling,
        circumstances: newer.circumstances(rules::account_created()?),
        rates: rates.as_ref(),
        prices: stated(&book, &day, names),
        titles: [&older.title, &newer.title],
        origin: (newer.exchange.chain.as_deref(), newer.position),
        names,
    };
    let content = args.shown.show_content;
    let mut outcome = Outcome::default();
    let page = || {
        let text = human::diff::document(&sides, content);
        page::request("diff", text, |target| format::diff::write(&sides, content, target))
    };
    outcome.printed(written::page(args.shown.html.as_deref(), page, &args.talk))?;
    outcome.printed(match args.shown.format {
        Format::Json => screen::print(|target| format::diff::write(&sides, content, target)),
        Format::Csv => screen::document(&human::diff::tables(&sides), Format::Csv),
        format => screen::document(&human::diff::document(&sides, args.shown.windows()), format),
    })?;
    let unpriced = rates.is_none().then_some(new.request.model.as_str());
    outcome.mistakes.extend(args.strict.complaints(Doubt::unpriced(unpriced)));
    outcome.done()
}
