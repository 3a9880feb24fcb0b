//! The exit checks in order: API error, stop hooks, token budget, completed (contract STOP-01..08).
//! A message that waits for the agent continues its loop too (contract MSG-08).

use std::rc::Rc;

use super::Reason;
use super::interruption::INTERRUPTED;
use super::iteration::Loop;
use crate::agent::event::Event;

/// Inserted if the token budget requires another turn: a request must end with the user's turn.
const GO_ON: &str = "[The token budget of this task is not used up: go on.]";

/// The feature that enables the token budget (STOP-05).
const TOKEN_BUDGET: &str = "TOKEN_BUDGET";

/// The result of the exit checks.
pub(super) enum Exit {
    /// The loop ends.
    End(Reason),
    /// The loop continues.
    Again,
}

impl Loop {
    /// An API error replaces the answer; hooks do not run (STOP-02).
    pub(super) fn exit_refused(&self) -> Reason {
        self.check("api_error", "found");
        Reason::Completed
    }

    /// A natural end: no further call (STOP-08).
    pub(super) async fn exit(&mut self) -> Exit {
        self.check("api_error", "none");
        if let Some(exit) = self.ask_stop_hooks().await {
            return exit;
        }
        if self.has_budget_left().await {
            return Exit::Again;
        }
        if self.take_messages().await {
            return Exit::Again;
        }
        self.check("completed", "completed");
        Exit::End(Reason::Completed)
    }

    /// Prevention takes precedence over blocking errors (STOP-03), which the model must fix (STOP-04).
    async fn ask_stop_hooks(&self) -> Option<Exit> {
        let verdict = crate::select! {
            () = self.context.abort.given() => None,
            verdict = self.context.session.hooks.stop(&self.context) => Some(verdict),
        };
        let Some(verdict) = verdict else {
            self.insert(INTERRUPTED).await;
            return Some(Exit::End(Reason::Aborted));
        };
        if verdict.prevent_continuation {
            self.check("stop_hooks", "prevented");
            return Some(Exit::End(Reason::StopHookPrevented));
        }
        if verdict.blocking_errors.is_empty() {
            self.check("stop_hooks", "clean");
            return None;
        }
        self.check("stop_hooks", "blocking_errors");
        for error in &verdict.blocking_errors {
            self.insert(error).await;
        }
        Some(Exit::Again)
    }

    /// If this many tokens were output since the last check, the loop continues and its next iteration begins with
    /// compaction (STOP-05, STOP-06, C22).
    async fn has_budget_left(&mut self) -> bool {
        let settings = &self.context.session.settings;
        // A helper of the runtime does not go on for the sake of a budget.
        let has_budget = settings.features.contains(TOKEN_BUDGET) && self.context.helper.is_none();
        let budget = settings.token_budget.filter(|_| has_budget);
        let Some(budget) = budget else {
            self.check("token_budget", "off");
            return false;
        };
        if self.output_tokens < budget {
            self.check("token_budget", "stop");
            return false;
        }
        self.check("token_budget", "continue");
        self.output_tokens = 0;
        self.must_compact = true;
        self.insert(GO_ON).await;
        true
    }

    fn check(&self, check: &'static str, outcome: &'static str) {
        let agent = Rc::clone(&self.context.agent);
        self.context.emit(&Event::ExitCheck { agent, check, outcome });
    }
}
