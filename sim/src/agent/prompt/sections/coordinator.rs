//! The prompt of a coordinator, which directs workers and does not work itself (contract COORD).

use std::fmt::Write;

use super::Section;
use crate::outside::words;

words! {
    /// What a coordinator does with its next assignment.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Choice {
        /// It writes to the same worker with SendMessage (COORD-22).
        Continue = "continue",
        /// It starts a fresh worker with Agent.
        Spawn = "spawn",
    }
}

/// When a worker is continued, and when a fresh one is better.
pub struct Advice {
    /// Its line of the contract.
    pub id: &'static str,
    /// When.
    pub when: &'static str,
    /// What to do.
    pub choice: Choice,
    /// Why.
    pub why: &'static str,
}

const fn advice(id: &'static str, when: &'static str, choice: Choice, why: &'static str) -> Advice {
    Advice { id, when, choice, why }
}

/// COORD-09..14.
pub const ADVICE: [Advice; 6] = [
    advice("COORD-09", "its research found the files to change", Choice::Continue, "it knows them already"),
    advice("COORD-10", "its research led to no particular file", Choice::Spawn, "the noise of exploring stays out"),
    advice("COORD-11", "it corrects an error of its own", Choice::Continue, "it remembers what it tried"),
    advice("COORD-12", "somebody else's code is verified", Choice::Spawn, "a verifier must not trust what it wrote"),
    advice("COORD-13", "its first attempt took a wrong direction", Choice::Spawn, "the direction would stick"),
    advice("COORD-14", "the next task has nothing to do with the last", Choice::Spawn, "old context only costs"),
];

/// The parts that replace those of other sessions (COORD-01).
pub(in crate::agent::prompt) fn parts() -> Vec<Section> {
    let mut choices = "# Continue or spawn
Continue a worker with SendMessage to its id; spawn a fresh one with a new Agent call."
        .to_owned();
    for Advice { when, choice, why, .. } in &ADVICE {
        // Writing into a string never fails.
        let _ = write!(choices, "\n- If {when}: {} ({why}).", choice.name());
    }
    vec![
        Section::fixed("duties", DUTIES),
        Section::fixed("phases", PHASES),
        Section::of("choices", choices),
        Section::fixed("parallelism", PARALLELISM),
        Section::fixed("prompts", PROMPTS),
    ]
}

/// COORD-02, COORD-20.
const DUTIES: &str = "# Your part
You coordinate. Help the user to reach the goal: direct workers for research, implementation and verification, bring their \
findings together, and talk to the user.
- Answer directly what needs no tools.
- Keep a plan, say which worker has which part of it, and track their progress.
- Workers run in the background; a notification brings each result.";

/// COORD-03..07.
const PHASES: &str = "# Phases
1. Research: several workers explore in parallel. Collect their findings, and conclude nothing yet.
2. Synthesis: read all findings yourself, understand the problem and plan, before you assign anything. Never hand the \
synthesis to a worker.
3. Implementation: precise assignments. Each prompt has file paths, line numbers and the approach that you chose.
4. Verification: an independent `verification` agent, which cannot change code, runs the tests. Ask it for adversarial \
probes too: concurrency, boundaries, idempotence.";

/// COORD-06, COORD-15..18.
const PARALLELISM: &str = "# In parallel
- Research is highly parallel.
- Implementation is split by sets of files: two workers never edit one file at once.
- Verification may overlap the implementation of another area.
- Background tasks may overlap what you do with the user.";

/// COORD-05, COORD-08.
const PROMPTS: &str = "# Prompts for workers
- A worker sees nothing but its prompt. Never delegate vaguely: \"fix it based on your findings\" leaves the thinking to the \
worker.
- A good prompt carries the location, the finding and the fix: which file, which line, what is wrong, what to do.";
