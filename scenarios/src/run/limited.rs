//! A script with a last answer, so that a model that asks for more and more is an outcome and not a hang.

use forkcast_sim::model::{Answer, Question, Script, Unscripted};

/// Answers of all models together that a scenario may take, unless it says another number.
const TURNS: u64 = 10_000;

const LIMIT: &str = "stopped at the limit of turns";

/// Says what `script` says, so often and no oftener.
pub struct Limited<S> {
    script: S,
    turns: u64,
    left: u64,
}

impl<S: Script> Limited<S> {
    /// A script of so many answers.
    pub fn new(script: S, turns: Option<u64>) -> Self {
        let turns = turns.unwrap_or(TURNS);
        Self { script, turns, left: turns }
    }
}

impl Limited<()> {
    /// Whether it was the limit that ended a run.
    pub fn is_limit(why: &Unscripted) -> bool {
        why.0.starts_with(LIMIT)
    }
}

impl<S: Script> Script for Limited<S> {
    fn answer(&mut self, question: &Question) -> Result<Answer, Unscripted> {
        match self.left.checked_sub(1) {
            Some(left) => self.left = left,
            None => {
                let (turns, agent, turn) = (self.turns, &question.agent_type, question.turn);
                return Err(Unscripted(format!(
                    "{LIMIT}: {turns} answers were given and agent `{agent}` asks for its answer {turn}. Look for a \
                     reply that calls a tool again and again, or raise `limits.turns`"
                )));
            }
        }
        self.script.answer(question)
    }
}
