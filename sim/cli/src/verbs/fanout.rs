//! `forkcast fanout`.

mod parent;

use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

use forkcast_reports::document::Part;
use forkcast_reports::folder::{Contents, Folder, FolderError};
use forkcast_reports::names::Names;
use forkcast_reports::page;
use forkcast_reports::report::stated;
use forkcast_reports::{format, human};
use forkcast_scenarios::fanout::Cell;
use forkcast_scenarios::fanout::breakeven::{Answer, Question, Unanswered, answer, plots};
use forkcast_scenarios::fanout::cell::Refused;
use forkcast_scenarios::fanout::play::Unplayed;
use forkcast_scenarios::fanout::trial::{Trial, trial, unpriced};
use forkcast_sim::pricing::{ModelKey, PriceBook, Terms};
use forkcast_sim::wire::model;

use crate::args::{Doubt, FanoutArgs, Format, TalkArgs};
use crate::exit::{BadInput, Outcome, folder_error};
use crate::screen;
use crate::signals::interrupted;
use crate::written;
use parent::Parent;

/// Runs the verb.
pub fn run(args: &FanoutArgs) -> anyhow::Result<()> {
    written::check(args.result.html.as_deref(), None)?;
    args.check_answers().map_err(BadInput::error)?;
    let book = Rc::new(args.prices.book(&args.talk)?);
    let parent = args.from.as_deref().map(Parent::read).transpose()?;
    if let Some(parent) = parent.as_ref().filter(|_| args.model.is_empty()) {
        parent.check_model(&book)?;
    }
    let start = parent.as_ref().map_or_else(Cell::default, Parent::cell);
    let taken = parent.map(|parent| parent.said(args));
    let cells = args.grid(start).map_err(BadInput::error)?.cells().map_err(BadInput::error)?;
    // Everything is checked before the first cell runs, so that an error in the last one loses no work.
    let refused: Vec<Refused> = cells.iter().filter_map(|cell| cell.check().err()).collect();
    if let Some(first) = refused.first() {
        return Err(BadInput::error(first));
    }
    warn_of_memory(&cells, &args.talk);
    look_at_models(args, &cells, &book)?;
    let folder = args.result.folder(Contents::Fanout).map_err(folder_error)?;
    let found = match (&args.questions()[..], cells.first()) {
        ([], _) | (_, None) => Found { rows: rows(args, &cells, &book)?, answers: Vec::new(), asked: cells.len() },
        (questions, Some(base)) => answers(args, questions, base, &book)?,
    };
    if let Some(taken) = taken.as_ref().filter(|_| matches!(args.result.format, Format::Json | Format::Csv)) {
        args.talk.note(format_args!("forkcast: {taken}"));
    }
    let price_book = stated(&book, book.version(), Names::Plain);
    let mut outcome = Outcome::default();
    outcome.written(folder.map_or(Ok(()), |folder| write(args, &found, &price_book, folder)));
    let page = || page::fanout(&found.rows, &found.answers, &price_book, found.is_partial());
    outcome.printed(written::page(args.result.html.as_deref(), page, &args.talk))?;
    outcome.printed(print(args, &found, &price_book, taken))?;
    let doubts = Doubt::unpriced(unpriced(&found.rows)).into_iter().chain(Doubt::partial(found.is_partial()));
    outcome.mistakes.extend(args.result.strict.complaints(doubts));
    outcome.done()
}

/// Wide fan-outs take gigabytes.
fn warn_of_memory(cells: &[Cell], talk: &TalkArgs) {
    const GIGABYTE: u64 = 1_000_000_000;
    let Some(widest) = cells.iter().max_by_key(|cell| cell.memory_bytes()) else { return };
    if widest.memory_bytes() > GIGABYTE {
        let gigabytes = widest.memory_bytes() as f64 / GIGABYTE as f64;
        talk.note(format_args!(
            "forkcast: a cell of {} children takes about {gigabytes:.1} GB of memory",
            widest.children
        ));
    }
}

/// Rows and answers, and the plots that fit a grid.
fn write(args: &FanoutArgs, found: &Found, price_book: &str, folder: Folder) -> Result<(), FolderError> {
    let shown = if found.answers.is_empty() { plots(&found.rows) } else { found.answers.clone() };
    let written = folder.write_fanout(&found.rows, &found.answers, &shown, price_book, found.is_partial())?;
    if shown.is_empty() {
        args.talk.note(format_args!("forkcast: {NO_PLOT}"));
    }
    written::folder(&written, args.result.out.as_deref().unwrap_or(Path::new("")), &args.talk);
    Ok(())
}

/// Which grids have plots.
const NO_PLOT: &str = "no plot fits these cells: vary up to three parameters, with a price and an answer to every \
                       request; --answer has its own plots";

/// The results.
struct Found {
    rows: Vec<Trial>,
    answers: Vec<Answer>,
    /// How many rows or answers there should be.
    asked: usize,
}

impl Found {
    const fn is_partial(&self) -> bool {
        let done = if self.answers.is_empty() { self.rows.len() } else { self.answers.len() };
        done < self.asked
    }
}

/// `taken`: the values taken from a recorded session.
fn print(args: &FanoutArgs, found: &Found, price_book: &str, taken: Option<String>) -> anyhow::Result<()> {
    let rows = &found.rows;
    let is_partial = found.is_partial();
    match args.result.format {
        Format::Json => {
            screen::print(|target| format::fanout::write(rows, &found.answers, price_book, is_partial, target))
        }
        Format::Csv => screen::print(|target| format::fanout::table(rows, target)),
        shown => {
            let mut document = match &found.answers[..] {
                [] => human::fanout::document(rows, price_book, is_partial),
                answers => human::fanout::answers::document(answers, price_book),
            };
            // After the title.
            document.parts.splice(1..1, taken.map(|taken| Part::Aside(vec![taken])));
            screen::document(&document, shown)
        }
    }
}

/// Every cell of the grid.
fn rows(args: &FanoutArgs, cells: &[Cell], book: &Rc<PriceBook>) -> anyhow::Result<Vec<Trial>> {
    let mut steps = args.talk.steps();
    let mut rows: Vec<Trial> = Vec::with_capacity(cells.len());
    for cell in cells {
        if interrupted() {
            break;
        }
        steps.at(|| format!("{} of {} cells", rows.len(), cells.len()));
        rows.push(trial(cell, book).map_err(unplayed)?);
    }
    Ok(rows)
}

/// The questions, each with the runs that it needs.
fn answers(args: &FanoutArgs, questions: &[Question], base: &Cell, book: &Rc<PriceBook>) -> anyhow::Result<Found> {
    let asked = args.asked(base).map_err(BadInput::error)?;
    let mut steps = args.talk.steps();
    let mut found = Found { rows: Vec::new(), answers: Vec::new(), asked: questions.len() };
    for question in questions {
        if interrupted() {
            break;
        }
        steps.at(|| format!("{}: {}", question.word(), question.about()));
        let answer = answer(*question, &asked, book).map_err(|why| match why {
            Unanswered::Unplayed(why) => unplayed(why),
            Unanswered::NoPrice(_) | Unanswered::Lacking { .. } => BadInput::error(why),
        })?;
        found.rows.extend(answer.rows.iter().cloned());
        found.answers.push(answer);
    }
    Ok(found)
}

fn unplayed(why: Unplayed) -> anyhow::Error {
    match why {
        Unplayed::Refused(refused) => BadInput::error(refused),
        Unplayed::Failed(why) => anyhow::anyhow!(why),
    }
}

/// An unknown name is a typing error; a model without a price is accepted, but its costs are missing.
fn look_at_models(args: &FanoutArgs, cells: &[Cell], book: &PriceBook) -> anyhow::Result<()> {
    let names: BTreeSet<&str> = cells.iter().map(|cell| &*cell.model).collect();
    for name in names {
        let Err(unpriced) = book.rates(&ModelKey::from(name), &Terms::default()) else { continue };
        if model::resolve(name).is_none() {
            return Err(BadInput::error(format_args!(
                "--model {name}: unknown model (see `forkcast list models`); give your own model a price with --price-book or --price"
            )));
        }
        args.talk.note(format_args!("forkcast: {unpriced}, so only tokens and times are shown"));
    }
    Ok(())
}
