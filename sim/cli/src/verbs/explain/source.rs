//! Sources of the requests of an explanation: a run folder, or recordings.

use std::collections::BTreeMap;
use std::path::Path;

use forkcast_replay::calibrate::calibrate;
use forkcast_replay::input::{InputFormat, Inputs};
use forkcast_replay::replay::{Options, SizeSource, Sizing};
use forkcast_reports::folder::reading::{Maker, RecordedCause, RecordedLine, RunFolder, RunOptions};
use forkcast_reports::names::Names;
use forkcast_reports::report::Recorded;
use forkcast_sim::pricing::Money;

use crate::args::ExplainArgs;
use crate::exit::BadInput;
use crate::logs;
use crate::verbs::check::rules;
use crate::verbs::replay::complaints;
use crate::verbs::run_folder::{self, OpenFolder};

/// Requests with their bodies, and how they were replayed.
pub struct Source {
    /// The recordings.
    pub inputs: Inputs,
    /// How to replay them.
    pub options: Options,
    /// The ledger of the run folder; empty for recordings.
    ledger: Vec<RecordedLine>,
    run: String,
    /// The verb that wrote the run folder.
    maker: Option<Maker>,
    /// Whether the user requested other prices than those of the run.
    priced_anew: bool,
}

impl Source {
    /// The user's RUN argument; without one, the logs on this machine, or else the embedded sample.
    pub fn find(args: &ExplainArgs) -> anyhow::Result<Self> {
        match &args.run {
            Some(run) if RunFolder::is_one(run) => Self::folder(args, run),
            Some(run) if args.request.is_none() && !run.exists() => Err(BadInput::error(format_args!(
                "{}: no such file, and no cause of `forkcast list causes`",
                run.display()
            ))),
            Some(run) => Self::recordings(args, Inputs::read(&[run], InputFormat::Auto).map_err(BadInput::error)?),
            None => Self::recordings(args, logs_or_sample(args)?),
        }
    }

    fn recordings(args: &ExplainArgs, inputs: Inputs) -> anyhow::Result<Self> {
        if inputs.requests() == 0 {
            let complaints = complaints::of_inputs(&inputs, &[]);
            return Err(complaints::or_nothing_read(complaints).into());
        }
        let options = Options {
            rules: args.cache,
            book: args.prices.book(&args.talk)?,
            prices_of: args.prices.day,
            account_created: rules::account_created()?,
            ..Options::default()
        };
        let run = args.run.as_ref().map_or_else(String::new, |run| run.display().to_string());
        Ok(Self { inputs, options, ledger: Vec::new(), run, maker: None, priced_anew: true })
    }

    fn folder(args: &ExplainArgs, run: &Path) -> anyhow::Result<Self> {
        let opened = run_folder::open(run)?;
        let run = run.display().to_string();
        let options = options(args, &opened)?;
        let OpenFolder { folder, inputs } = opened;
        let maker = Some(folder.maker);
        let priced_anew = args.prices.is_given();
        Ok(Self { inputs, options, ledger: folder.lines, run, maker, priced_anew })
    }

    /// Whether its requests are those of a simulated run, to which no provider answered.
    pub fn is_of_run(&self) -> bool {
        self.maker == Some(Maker::Run)
    }

    /// Checks that the request is the one with this number in the run's ledger. Returns a note for the user.
    pub fn check(&self, entry: &Recorded<'_>) -> anyhow::Result<Option<String>> {
        if self.ledger.is_empty() {
            return Ok(None);
        }
        let index = entry.line.index;
        let model = &entry.line.model;
        let same = |line: &RecordedLine| {
            let is_model = [Names::Plain, Names::Anonymous].iter().any(|names| names.model(model) == line.model);
            // A run of a scenario has all of its requests in its folder.
            let is_file = self.maker == Some(Maker::Run) || line.origin.file == entry.origin.file;
            is_file && line.origin.index == entry.origin.index && is_model
        };
        let found = self.ledger.iter().find(|line| line.index == index);
        if found.is_some_and(same) {
            return Ok(self.price_note(found, entry).or_else(|| self.cause_note(found?, entry)));
        }
        if found.is_none() {
            return Err(BadInput::error(format_args!(
                "{}: request {index} is not in the ledger: the run used --since or --until, or the recordings have changed",
                self.run
            )));
        }
        let file = &entry.origin.file;
        Err(BadInput::error(format_args!(
            "{}: request {index} is not that of the run: {file} has changed; replay it again, with --bodies to keep the requests",
            self.run
        )))
    }
}

impl Source {
    /// The bill of the run, if it differs from the one shown.
    fn price_note(&self, recorded: Option<&RecordedLine>, entry: &Recorded<'_>) -> Option<String> {
        let then: Option<Money> = recorded?.cost_usd.map(|cost| cost.0);
        let now = entry.line.charge.bill.as_ref().map(|bill| bill.total);
        let words = |cost: Option<Money>| cost.map_or_else(|| "no price".to_owned(), Money::human);
        let differs = then != now && !self.priced_anew;
        differs
            .then(|| format!("the bill of this request was {} in {}, now it is {}", words(then), self.run, words(now)))
    }
}

impl Source {
    /// The causes in the simulation, if a replay of its bodies finds others.
    fn cause_note(&self, recorded: &RecordedLine, entry: &Recorded<'_>) -> Option<String> {
        let mut then: BTreeMap<&str, u64> = BTreeMap::new();
        for RecordedCause { cause, tokens, .. } in &recorded.causes {
            *then.entry(cause).or_default() += tokens.0;
        }
        let mut now: BTreeMap<&str, u64> = BTreeMap::new();
        for part in &entry.line.charge.causes {
            *now.entry(part.cause.word()).or_default() += part.tokens;
        }
        let words = |causes: &BTreeMap<&str, u64>| match causes.is_empty() {
            true => "nothing was missed".to_owned(),
            false => causes.iter().map(|(cause, tokens)| format!("{cause} {tokens}")).collect::<Vec<_>>().join(", "),
        };
        let differs = then != now && self.maker == Some(Maker::Run);
        differs.then(|| {
            format!(
                "the ledger of {} has: {}; it has the size of every block, whereas the sizes between breakpoints are estimated here",
                self.run,
                words(&then)
            )
        })
    }
}

/// The logs of all clients on this machine, or else the embedded sample.
fn logs_or_sample(args: &ExplainArgs) -> anyhow::Result<Inputs> {
    let folders = logs::found(&args.talk);
    if folders.is_empty() {
        args.talk.note(format_args!("forkcast: this is the embedded sample of a small coding agent"));
        return Ok(Inputs::sample());
    }
    Inputs::read(&folders, InputFormat::Auto).map_err(BadInput::error)
}

/// Rules and prices of the run, or those on the command line.
fn options(args: &ExplainArgs, opened: &OpenFolder) -> anyhow::Result<Options> {
    let rules = args.cache.map_or_else(|| opened.rules(), |rules| Ok(Some(rules)))?;
    let sizing = sizing(&opened.folder.options, &opened.inputs).map_err(|why| opened.broken(&why))?;
    let of_run = opened.prices()?;
    let prices = if args.prices.is_given() { &args.prices } else { &of_run };
    let (book, account_created) = (prices.book(&args.talk)?, rules::account_created()?);
    Ok(Options { rules, book, prices_of: prices.day, sizing, account_created, ..Options::default() })
}

/// The sizes of the run, so that its request is explained with the same numbers; a fit is repeated.
fn sizing(options: &RunOptions, inputs: &Inputs) -> Result<Sizing, String> {
    let source = match options.sizes.as_str() {
        // Older runs had no choice.
        "" => SizeSource::default(),
        word => {
            let known = SizeSource::named(word);
            known.ok_or_else(|| format!("`sizes`: unknown source of sizes: `{word}`"))?
        }
    };
    Ok(Sizing::new(source, options.calibrated.then(|| calibrate(inputs))))
}
