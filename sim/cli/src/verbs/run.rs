//! `forkcast run`.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use forkcast_reports::document::{Document, Part, count};
use forkcast_reports::folder::{Contents, Folder, FolderError};
use forkcast_reports::page;
use forkcast_reports::report::{Report, gates};
use forkcast_reports::rerun::Rerun;
use forkcast_reports::{format, human};
use forkcast_scenarios::cast::Cast;
use forkcast_scenarios::cast::comparison::{Comparison, Variant};
use forkcast_scenarios::cast::otherwise::Otherwise;
use forkcast_scenarios::cast::recorded::Play;
use forkcast_scenarios::catalog::{self, CatalogItem};
use forkcast_scenarios::expect;
use forkcast_scenarios::format::Scenario;
use forkcast_scenarios::format::expect::Ends;
use forkcast_scenarios::format::set::Change;
use forkcast_scenarios::run::{Options, Progress, Run, Voices, play_script, play_watched};
use forkcast_sim::pricing::PriceBook;

use crate::args::{Doubt, Format, RunArgs};
use crate::exit::{BadInput, Outcome, folder_error};
use crate::screen;
use crate::signals::interrupted;
use crate::verbs::check::rules;
use crate::written;
use several::Printer;

mod recorded;
mod several;
mod twice;

/// Runs the verb.
pub fn run(args: &RunArgs) -> anyhow::Result<()> {
    screen::table_alone(args.table.is_some(), args.result.format)?;
    written::check(args.result.html.as_deref(), Some(&args.export))?;
    if let Some(recording) = &args.recording {
        return recorded::run(args, recording);
    }
    // The parser lets these pass beside a scenario, which excludes --recording.
    if let Some(option) = args.of_recordings() {
        return Err(BadInput::error(format_args!("{option} is about a recorded session, expected --recording PATH")));
    }
    let named: Vec<PathBuf> = match &args.scenarios[..] {
        [] => {
            args.talk.note(format_args!("forkcast: no scenario given; running the embedded `{}`", catalog::DEFAULT));
            vec![PathBuf::from(catalog::DEFAULT)]
        }
        named => named.to_vec(),
    };
    let scenarios = read(&named, args)?;
    let book = Rc::new(args.prices.book(&args.talk)?);
    let several = scenarios.len() > 1;
    if several && args.is_written() {
        return Err(BadInput::error(
            "--html, --trace, --stacks, --otlp and --parquet write one file, expected one scenario",
        ));
    }
    let mut printer = Printer::new(args, several);
    let mut outcome = Outcome::default();
    for (path, scenario) in named.iter().zip(scenarios) {
        if interrupted() {
            unjudged(&scenario, &mut outcome);
            continue;
        }
        let folder = args.result.out.as_deref();
        let folder = folder.map(|out| if several { out.join(&*scenario.name) } else { out.to_owned() });
        let played = Played { path, folder, compared: None, voices: None };
        one(args, played, scenario, &book, &mut printer, &mut outcome)?;
    }
    outcome.printed(printer.end())?;
    partial(args, &mut outcome);
    outcome.done()
}

/// Says that the user interrupted the work.
fn partial(args: &RunArgs, outcome: &mut Outcome) {
    if interrupted() {
        args.talk.note(format_args!("forkcast: interrupted, so the result is partial"));
        outcome.mistakes.extend(args.result.strict.complaints(Doubt::partial(true)));
    }
}

/// A limit that cannot be checked has failed.
fn unjudged(scenario: &Scenario, outcome: &mut Outcome) {
    if scenario.expect.claims_anything() {
        let interrupted = format!("{}: interrupted, so its expectations cannot be checked", scenario.file);
        outcome.failures.push(interrupted);
    }
}

/// Checks how a run ended and whether its expectations were met.
fn judge(run: &Run, fidelity: Play, failures: Vec<String>, outcome: &mut Outcome) {
    let message = || format!("{}: {}", run.scenario.file, run.message.as_deref().unwrap_or_default());
    match run.ends {
        Ends::LawBroken => outcome.faults.push(message()),
        Ends::Interrupted => unjudged(&run.scenario, outcome),
        Ends::Unscripted if fidelity == Play::Strict => outcome.failures.push(message()),
        ends if ends != Ends::Finished && ends != run.scenario.expect.ends => outcome.mistakes.push(message()),
        _ => outcome.failures.extend(failures),
    }
}

/// Reads all scenarios before the first one runs, so that an error in the last one is reported early.
fn read(named: &[PathBuf], args: &RunArgs) -> anyhow::Result<Vec<Scenario>> {
    // The arguments were already validated.
    let changes: Vec<Change> = args.changes().iter().filter_map(|text| text.parse().ok()).collect();
    let mut complaints = Vec::new();
    let mut scenarios = Vec::new();
    for path in named {
        match scenario(path, &changes) {
            Ok(scenario) => scenarios.push(scenario),
            Err(complaint) => complaints.extend(complaint.lines().map(str::to_owned)),
        }
    }
    if complaints.is_empty() { Ok(scenarios) } else { Err(BadInput(complaints).into()) }
}

/// A file, or a built-in scenario; with `+NAME` its variant.
fn scenario(path: &Path, changes: &[Change]) -> Result<Scenario, String> {
    let name = path.display().to_string();
    let is_whole = path.exists() || built_in(path).is_some();
    let Some((base, called)) = name.rsplit_once('+').filter(|_| !is_whole) else { return whole(path, changes) };
    let scenario = whole(Path::new(base), changes)?;
    let known: Vec<&str> = scenario.variants.iter().map(|variant| &*variant.name).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    scenario.variant(called).cloned().ok_or_else(|| format!("{name}: unknown variant, expected one of: {known}"))
}

fn built_in(path: &Path) -> Option<CatalogItem> {
    catalog::find(path.display().to_string().trim_end_matches(".yaml"))
}

fn whole(path: &Path, changes: &[Change]) -> Result<Scenario, String> {
    let name = path.display().to_string();
    if let Some(entry) = built_in(path).filter(|_| !path.exists()) {
        return entry.read(changes).map_err(|problems| problems.to_string());
    }
    if path.extension().is_some_and(|ending| ending == "jsonl") {
        return Err(format!("{name}: a recording is no scenario; to play it: forkcast run --recording {name}"));
    }
    let text = fs::read_to_string(path)
        .map_err(|error| format!("{name}: {error}; name a YAML file, or one of `forkcast list scenarios`"))?;
    let stem = path.file_stem().map_or_else(|| name.clone(), |stem| stem.to_string_lossy().into_owned());
    Scenario::read(&stem, &name, &text, changes).map_err(|problems| problems.to_string())
}

/// What is played: its file, where its results go, and the recording that it was made from.
struct Played<'a> {
    path: &'a Path,
    folder: Option<PathBuf>,
    compared: Option<Compared<'a>>,
    /// Answers of a recording.
    voices: Option<Voices>,
}

/// With what of its recording a run is compared.
enum Compared<'a> {
    /// With the requests of this cast.
    Recorded(&'a Cast),
    /// With the session as played, and with other variants of it. The run's own comes last.
    Variants(&'a mut Variants<'a>),
}

/// A session as played, and its variants.
struct Variants<'a> {
    cast: &'a Cast,
    played: &'a Run,
    variants: Vec<Variant>,
    /// The variant that is run last, and what it plays.
    last: (Otherwise, &'a Cast),
}

fn one(
    args: &RunArgs,
    Played { path, folder, mut compared, voices }: Played<'_>,
    scenario: Scenario,
    book: &Rc<PriceBook>,
    printer: &mut Printer,
    outcome: &mut Outcome,
) -> anyhow::Result<()> {
    // Before the work, so that an unusable folder is reported immediately.
    let open = |path: PathBuf| Ok((Folder::open(&path, Contents::Run, args.result.overwrite, &[])?, path));
    let folder = folder.map(open).transpose().map_err(folder_error)?;
    let run = watched(args, scenario, voices, &options(args, book)?);
    if args.log {
        return screen::print(|target| twice::write_log(&run, target));
    }
    if args.twice && !interrupted() {
        outcome.faults.extend(twice::compare(&run, path, args)?);
    }
    let failures: Vec<String> = match run.ends {
        Ends::Interrupted => Vec::new(),
        _ => expect::failures(&run).iter().map(ToString::to_string).collect(),
    };
    outcome.written(folder.map_or(Ok(()), |(folder, path)| write(args, &run, &failures, folder, &path)));
    let rerun =
        args.asks_a_replay().then(|| Rerun::new(&run, &args.what_if, args.sums.view(), args.result.html.is_some()));
    let report = rerun.as_ref().map(Rerun::report);
    outcome.printed(beside_output(args, &run, &failures, report.as_ref()))?;
    let report = report.filter(|_| args.shows_a_replay());
    if let Some(Compared::Variants(of)) = &mut compared {
        let (otherwise, cast) = of.last.clone();
        of.variants.push(Variant::new(otherwise, of.cast, cast, &run));
    }
    outcome.printed(print(args, &run, &failures, report.as_ref(), compared.as_ref(), printer))?;
    let gates = report.iter().flat_map(gates);
    outcome.failures.extend(gates.filter_map(|gate| human::replay::sentence(&gate)));
    let refused = human::run::beyond_window(&run).map(Doubt::LeftOut);
    let doubts = Doubt::unpriced(run.unpriced()).into_iter().chain(refused);
    outcome.mistakes.extend(args.result.strict.complaints(doubts));
    judge(&run, args.fidelity, failures, outcome);
    Ok(())
}

fn options(args: &RunArgs, book: &Rc<PriceBook>) -> anyhow::Result<Options> {
    let book = Some(Rc::clone(book));
    let set = if args.recording.is_some() { args.settings() } else { args.changes() };
    let account_created = rules::account_created()?;
    Ok(Options { interleave: args.interleave, set, book, account_created, keeps_answers: args.bodies })
}

/// Writes the page and the files of viewers.
fn beside_output(args: &RunArgs, run: &Run, failures: &[String], report: Option<&Report<'_>>) -> anyhow::Result<()> {
    let Some(report) = report else { return Ok(()) };
    written::page(args.result.html.as_deref(), || page::run(run, failures, report), &args.talk)?;
    written::export(&args.export, report, &args.talk)
}

/// The table of requests, which is `requests.csv` too.
const REQUESTS: &str = "requests";

fn print(
    args: &RunArgs,
    run: &Run,
    failures: &[String],
    report: Option<&Report<'_>>,
    compared: Option<&Compared<'_>>,
    printer: &mut Printer,
) -> anyhow::Result<()> {
    let name = &*run.scenario.name;
    // What a run has of its own, it does not take from the replay of its requests.
    if args.table.as_deref() == Some(REQUESTS) {
        return printer.print(name, |target| format::requests::write_run(run, target));
    }
    if let Some((table, report)) = args.table.as_ref().zip(report) {
        return printer.print(name, |target| format::tables::write(report, table, target));
    }
    match (args.result.format, compared) {
        (Format::Json, Some(compared)) => {
            let (cast, comparison, variants) = compared.sides(run);
            printer.print(name, |target| format::cast::write(cast, &comparison, variants, target))
        }
        (Format::Json, None) => printer.print(name, |target| format::run::write_with(run, failures, report, target)),
        (Format::Jsonl, _) => printer.print(name, |target| format::ledger::simulated::write(run, false, target)),
        (Format::Csv, _) => printer.print(name, |target| format::requests::write_run(run, target)),
        (shown, _) => {
            let mut document = match compared {
                Some(Compared::Variants(_)) => Document::default(),
                _ => human::run::document(run, failures),
            };
            if let Some(recorded @ Compared::Recorded(_)) = compared {
                let (_, comparison, _) = recorded.sides(run);
                document.parts.insert(1, Part::Text(vec![human::cast::summary(&comparison)]));
            }
            document.parts.extend(report.into_iter().flat_map(|report| human::replay::asked(report).parts));
            document.parts.extend(compared.into_iter().flat_map(|compared| compared.document(run).parts));
            printer.part()?;
            screen::document(&document, shown)
        }
    }
}

impl Compared<'_> {
    /// The recording beside the session as played, and the variants.
    fn sides<'r>(&'r self, run: &'r Run) -> (&'r Cast, Comparison<'r>, &'r [Variant]) {
        match self {
            Self::Recorded(cast) => (cast, Comparison::new(cast, run), &[]),
            Self::Variants(of) => (of.cast, Comparison::new(of.cast, of.played), &of.variants),
        }
    }

    fn document(&self, run: &Run) -> Document {
        let (cast, comparison, variants) = self.sides(run);
        match self {
            Self::Recorded(_) => human::cast::document(cast, &comparison),
            Self::Variants(of) => {
                let played = Variant::new(Otherwise::default(), cast, cast, of.played);
                human::cast::what_if::document(&cast.name, comparison.recorded(), &played, variants)
            }
        }
    }
}

fn write(args: &RunArgs, run: &Run, failures: &[String], folder: Folder, path: &Path) -> Result<(), FolderError> {
    let written = folder.write_run(run, failures, args.bodies)?;
    written::folder(&written, path, &args.talk);
    Ok(())
}

/// Runs it and reports the progress, as `replay` does.
fn watched(args: &RunArgs, scenario: Scenario, voices: Option<Voices>, options: &Options) -> Run {
    let name = Rc::clone(&scenario.name);
    let steps = Rc::new(RefCell::new(args.talk.steps()));
    steps.borrow_mut().begin(format_args!("running {name}"));
    let watching = Rc::clone(&steps);
    let goes_on = move |Progress { requests, at }: Progress| {
        let line =
            || format!("{name}, {} requests, {} s on its own clock", count(requests as u64), count(at.0 / SECOND));
        watching.borrow_mut().at(line);
        !interrupted()
    };
    let run = match voices {
        Some(voices) => play_script(scenario, voices, options, goes_on),
        None => play_watched(scenario, options, goes_on),
    };
    // The run owns its watcher for as long as it exists, so the line is ended here.
    steps.borrow_mut().end();
    run
}

/// Nanoseconds.
const SECOND: u64 = 1_000_000_000;
