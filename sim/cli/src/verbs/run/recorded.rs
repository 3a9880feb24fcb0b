//! `forkcast run --recording`: recorded sessions, as they were and with agents that are built otherwise.

use std::path::Path;
use std::rc::Rc;

use forkcast_replay::recording::Breakpoints;
use forkcast_scenarios::cast::comparison::Variant;
use forkcast_scenarios::cast::otherwise::{Alteration, Otherwise};
use forkcast_scenarios::cast::recorded::Play;
use forkcast_scenarios::cast::{Cast, Content};
use forkcast_scenarios::format::Scenario;
use forkcast_scenarios::format::set::Change;
use forkcast_scenarios::run::{Run, Voices};
use forkcast_sim::pricing::{ModelKey, PriceBook, Terms};

use super::several::Printer;
use super::{Compared, Played, Variants, one, options, partial, watched};
use crate::args::RunArgs;
use crate::exit::Outcome;
use crate::signals::interrupted;
use crate::verbs::recording::{RecordedCast, Recordings};

/// Plays recorded sessions. One that cannot be played does not keep the others from it.
pub(super) fn run(args: &RunArgs, path: &Path) -> anyhow::Result<()> {
    let variants = args.variants();
    let recordings = Recordings::read(path)?;
    let base = Otherwise { is_compared: !variants.is_empty(), ..Otherwise::default() };
    let casts = recordings.casts(args.session.as_deref(), Content::Full, &base, &args.talk)?;
    let book = Rc::new(args.prices.book(&args.talk)?);
    let mut outcome = Outcome::default();
    let several = casts.len() > 1;
    let mut stage = Stage { args, several, recordings, base, variants, book, printer: Printer::new(args, several) };
    for recorded in casts.into_iter().take_while(|_| !interrupted()) {
        for gap in &recorded.cast.gaps {
            args.talk.note(format_args!("forkcast: {gap}"));
        }
        match stage.unfit(&recorded) {
            Some(complaint) => outcome.mistakes.push(complaint),
            None => stage.session(recorded, &mut outcome)?,
        }
    }
    outcome.printed(stage.printer.end())?;
    partial(args, &mut outcome);
    outcome.done()
}

/// What all sessions are played with.
struct Stage<'a> {
    args: &'a RunArgs,
    several: bool,
    recordings: Recordings,
    base: Otherwise,
    variants: Vec<Vec<Alteration>>,
    book: Rc<PriceBook>,
    printer: Printer,
}

impl Stage<'_> {
    /// Why a recording cannot be played as asked.
    fn unfit(&self, recorded: &RecordedCast) -> Option<String> {
        let Cast { file, agents, .. } = &recorded.cast;
        let is_transcript = recorded.original.is_none();
        let (unasked, answers) = (recorded.cast.unasked(), recorded.cast.takes.len());
        if is_transcript && unasked * 2 > answers {
            return Some(format!(
                "{file}: what asked for {unasked} of {answers} answers was not found in this client's files, so that another \
                 session would be played; expected a transcript of Claude Code, or recorded requests"
            ));
        }
        let fidelity = self.args.fidelity;
        let asked =
            |of: fn(&Otherwise) -> bool| self.variants.last().is_some_and(|all| of(&Otherwise::compared(all.clone())));
        if is_transcript && fidelity != Play::Cast {
            let found = fidelity.name();
            return Some(format!(
                "{file}: a transcript has no requests to compare with, expected --fidelity cast, found {found}"
            ));
        }
        if is_transcript && asked(Otherwise::sorts_tools) {
            return Some(format!("{file}: --tools-sorted: a transcript has no tools, expected recorded requests"));
        }
        if !is_transcript && asked(Otherwise::changes_agents) {
            return Some(format!(
                "{file}: --with: agents cannot be built otherwise from recorded requests, expected a transcript"
            ));
        }
        let has_price = |model: &str| self.book.rates(&ModelKey::from(model), &Terms::default()).is_ok();
        let unpriced = |all: &Vec<Alteration>| Otherwise::compared(all.clone()).unknown_model(has_price);
        if let Some(model) = self.variants.iter().find_map(unpriced) {
            return Some(format!(
                "--model: `{model}` has no price (see `forkcast list models`); --price-book gives it one"
            ));
        }
        let unknown = self.variants.iter().find_map(|all| Otherwise::compared(all.clone()).unknown_agent(agents))?;
        let known = agents.join(", ");
        Some(format!("{file}: --model: found agent `{unknown}`, expected one of: {known}, all"))
    }

    fn session(&mut self, recorded: RecordedCast, outcome: &mut Outcome) -> anyhow::Result<()> {
        let folder = self.args.result.out.as_deref();
        let folder = folder.map(|out| if self.several { out.join(&recorded.cast.name) } else { out.to_owned() });
        let Some(last) = self.variants.last().cloned() else {
            let RecordedCast { cast, original, .. } = recorded;
            let Some(scenario) = self.scenario(&cast, &self.base, outcome) else { return Ok(()) };
            let voices = original.map(|original| original.voices(&cast, &scenario, self.args.fidelity));
            let compared = Some(Compared::Recorded(&cast));
            let played = Played { path: Path::new(&cast.file), folder, compared, voices };
            return one(self.args, played, scenario, &self.book, &mut self.printer, outcome);
        };
        let Some((cast, played)) = self.play(&recorded, &self.base, outcome)? else { return Ok(()) };
        let mut variants = Vec::new();
        for alterations in &self.variants[..self.variants.len() - 1] {
            let otherwise = Otherwise::compared(alterations.clone());
            if let Some((altered, run)) = self.play(&recorded, &otherwise, outcome)? {
                variants.push(Variant::new(otherwise, &cast, &altered, &run));
            }
        }
        let otherwise = Otherwise::compared(last);
        let Some((altered, scenario, voices)) = self.staged(&recorded, &otherwise, outcome)? else { return Ok(()) };
        let mut variants = Variants { cast: &cast, played: &played, variants, last: (otherwise, &altered) };
        let compared = Some(Compared::Variants(&mut variants));
        let played = Played { path: Path::new(&cast.file), folder, compared, voices };
        one(self.args, played, scenario, &self.book, &mut self.printer, outcome)
    }

    /// The cast of a session with agents that are built otherwise, its scenario, and its answers.
    fn staged(
        &self,
        recorded: &RecordedCast,
        otherwise: &Otherwise,
        outcome: &mut Outcome,
    ) -> anyhow::Result<Option<(Cast, Scenario, Option<Voices>)>> {
        let Some(again) = self.recordings.again(recorded, otherwise)? else { return Ok(None) };
        let RecordedCast { cast, original, .. } = again;
        let Some(scenario) = self.scenario(&cast, otherwise, outcome) else { return Ok(None) };
        let voices = original.map(|mut original| {
            original.verbatim.breakpoints = breakpoints(otherwise);
            original.voices(&cast, &scenario, self.args.fidelity)
        });
        Ok(Some((cast, scenario, voices)))
    }

    fn play(
        &self,
        recorded: &RecordedCast,
        otherwise: &Otherwise,
        outcome: &mut Outcome,
    ) -> anyhow::Result<Option<(Cast, Run)>> {
        let Some((cast, scenario, voices)) = self.staged(recorded, otherwise, outcome)? else { return Ok(None) };
        let run = watched(self.args, scenario, voices, &options(self.args, &self.book)?);
        Ok(Some((cast, run)))
    }

    fn scenario(&self, cast: &Cast, otherwise: &Otherwise, outcome: &mut Outcome) -> Option<Scenario> {
        let settings = self.args.settings();
        let settings = settings.iter().filter_map(|text| text.parse().ok());
        let changes: Vec<Change> = otherwise.changes().into_iter().chain(settings).collect();
        cast.scenario(&changes).map_err(|problems| outcome.mistakes.push(problems.to_string())).ok()
    }
}

/// The breakpoints of a recorded client: its own, unless options ask for others.
fn breakpoints(otherwise: &Otherwise) -> Breakpoints {
    match (otherwise.places_breakpoints(), otherwise.ttl()) {
        (true, _) => Breakpoints::Own,
        (false, Some(ttl)) => Breakpoints::RecordedFor(ttl),
        (false, None) => Breakpoints::Recorded,
    }
}
