//! Computes parts: one thread per core takes the next part and builds everything that its runs need.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;

use super::Refusal;
use super::outcome::Player;
use super::part::{self, Found};
use super::plan::Plan;
use super::shard::Shard;

/// The parts to compute.
#[derive(Clone, Copy, Debug)]
pub struct Work<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The folder of the parts, which must exist.
    pub folder: &'a Path,
    /// The shard to compute.
    pub shard: Shard,
    /// Maximum number of threads.
    pub jobs: usize,
}

/// A progress step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A part existed.
    Kept,
    /// A damaged part was found and is computed again.
    Flawed {
        /// The file.
        path: PathBuf,
        /// The error in it.
        why: String,
    },
    /// A cell was run.
    Ran,
    /// A part was written.
    Made,
}

/// The work done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Parts to compute here.
    pub parts: usize,
    /// Parts that existed.
    pub kept: usize,
    /// Parts that were written.
    pub made: usize,
    /// Cells that were run, including those of cancelled parts.
    pub ran: usize,
}

impl Tally {
    /// Whether all parts exist.
    pub const fn is_complete(&self) -> bool {
        self.kept + self.made == self.parts
    }
}

impl Work<'_> {
    /// Indices of the parts to compute here.
    pub fn parts(&self) -> Vec<usize> {
        (0..self.plan.parts).filter(|part| self.shard.has(*part)).collect()
    }

    /// Computes the missing parts. When `stop` returns `true`, unfinished parts are dropped and complete ones stay.
    /// `tell` is called on the caller's thread.
    ///
    /// # Errors
    /// If a file cannot be accessed; parts that were written stay.
    pub fn run(&self, stop: &(dyn Fn() -> bool + Sync), tell: &mut dyn FnMut(&Step)) -> Result<Tally, Refusal> {
        let parts = self.parts();
        let next = AtomicUsize::new(0);
        let is_over = AtomicBool::new(false);
        let mut tally = Tally { parts: parts.len(), ..Tally::default() };
        let mut refused = None;
        thread::scope(|scope| {
            let (sender, steps) = mpsc::channel();
            for _ in 0..self.jobs.clamp(1, parts.len().max(1)) {
                let sender = sender.clone();
                let parts = &parts;
                let next = &next;
                let stop = || is_over.load(Ordering::Relaxed) || stop();
                scope.spawn(move || self.thread(parts, next, &stop, &sender));
            }
            drop(sender);
            for step in steps {
                match step {
                    Ok(step) => {
                        tally.add(&step);
                        tell(&step);
                    }
                    Err(error) => {
                        is_over.store(true, Ordering::Relaxed);
                        refused.get_or_insert(error);
                    }
                }
            }
        });
        refused.map_or(Ok(tally), Err)
    }

    fn thread(
        &self,
        parts: &[usize],
        next: &AtomicUsize,
        stop: &dyn Fn() -> bool,
        sender: &Sender<Result<Step, Refusal>>,
    ) {
        let player = Player::of(self.plan);
        let tell = |step| drop(sender.send(step));
        while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)).filter(|_| !stop()) {
            match self.part(*part, &player, stop, &|step| tell(Ok(step))) {
                Ok(Some(step)) => tell(Ok(step)),
                Ok(None) => return,
                Err(refusal) => return tell(Err(refusal)),
            }
        }
    }

    /// Computes a part, if it is missing. `None` if cancelled.
    fn part(
        &self,
        part: usize,
        player: &Player<'_>,
        stop: &dyn Fn() -> bool,
        tell: &dyn Fn(Step),
    ) -> Result<Option<Step>, Refusal> {
        match part::read(self.plan, part, self.folder)? {
            Found::Whole(_) => return Ok(Some(Step::Kept)),
            Found::Flawed(why) => tell(Step::Flawed { path: part::path(self.plan, part, self.folder), why }),
            Found::Absent => {}
        }
        let mut rows = Vec::new();
        for cell in self.plan.part(part) {
            if stop() {
                return Ok(None);
            }
            rows.push(player.outcome(&self.plan.cell(cell)));
            tell(Step::Ran);
        }
        part::write(self.plan, part, self.folder, rows)?;
        Ok(Some(Step::Made))
    }
}

impl Tally {
    const fn add(&mut self, step: &Step) {
        match step {
            Step::Kept => self.kept += 1,
            Step::Made => self.made += 1,
            Step::Ran => self.ran += 1,
            Step::Flawed { .. } => {}
        }
    }
}
