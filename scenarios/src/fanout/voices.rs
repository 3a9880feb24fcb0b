//! The script of the agents in a fan-out.

use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_sim::agent::spawn::fork::{Profile, TYPE};
use forkcast_sim::model::answer::Said;
use forkcast_sim::model::{Answer, Question, Script, Unscripted};
use forkcast_sim::time::Duration;
use forkcast_sim::wire::number;
use serde_json::json;

use super::cell::Cell;

/// How long the parent's message streams: one second for any length, so that the number of children does not change
/// when they start.
const STREAMING: Duration = Duration::from_millis(1_000);

/// How much longer than the TTL a cold parent's message takes.
const COLD_EXTRA: Duration = Duration::from_millis(100_000);

/// How long a waiting child waits: longer than five minutes, shorter than an hour. Its answer takes this long, because
/// the TTL counts from the start of the last request that used an entry.
const WAIT: Duration = Duration::from_millis(400_000);

/// The type of the named agents that forks are compared with.
pub const SPAWNED: &str = "general-purpose";

/// The script of a cell.
#[derive(Clone, Debug)]
pub struct Voices {
    cell: Cell,
    /// Children in the order of their first requests.
    asked: BTreeMap<Rc<str>, u32>,
}

impl Voices {
    /// The script of this cell.
    pub const fn new(cell: Cell) -> Self {
        Self { cell, asked: BTreeMap::new() }
    }

    fn parent(&self, turn: u32, id: &str) -> Answer {
        if turn > 0 {
            return Answer::message(id, &[Said::Text("Thank you all.".to_owned())]);
        }
        let streaming = if self.cell.is_cold { self.cell.ttl() + COLD_EXTRA } else { STREAMING };
        let message = Answer::message(id, &self.launch());
        Answer { streaming: Some(streaming), output_tokens: Some(self.cell.started_by()), ..message }
    }

    /// The forking message: a text for the user and a call for each child. The client of 2026 has no such text.
    fn launch(&self) -> Vec<Said> {
        let is_client = self.cell.profile == Profile::Client2026;
        let word = (!is_client).then(|| Said::Text("All parts at once.".to_owned()));
        let kind = match (self.cell.spawn, is_client) {
            (Some(_), _) => Some(SPAWNED),
            (None, true) => Some(TYPE),
            (None, false) => None,
        };
        let call = |child: u32| {
            let mut input = json!({ "description": "One part", "prompt": format!("Look at part {child:06}.") });
            if let Some(kind) = kind {
                input["subagent_type"] = kind.into();
                input["run_in_background"] = true.into();
            }
            Said::ToolUse { id: format!("toolu_{child:06}").into(), name: "Agent".into(), input }
        };
        word.into_iter().chain((0..self.cell.children).map(call)).collect()
    }

    fn child(&mut self, question: &Question, id: &str) -> Answer {
        let turn = question.turn;
        let said = if u64::from(turn) + 1 < self.cell.requests() {
            let id = format!("{id}_call").into();
            let name = "Read".into();
            Said::ToolUse { id, name, input: json!({ "file_path": "/repo/part.txt" }) }
        } else {
            Said::Text("Scope: one part\nResult: it is well".to_owned())
        };
        let streaming = self.waits(question).then_some(WAIT);
        Answer { streaming, output_tokens: Some(self.cell.output), ..Answer::message(id, &[said]) }
    }

    /// Whether a child waits after this turn.
    fn waits(&mut self, question: &Question) -> bool {
        if self.cell.waiting == 0 {
            return false;
        }
        let next = number(self.asked.len());
        let place = *self.asked.entry(question.agent.clone()).or_insert(next);
        place < self.cell.waiting && u64::from(question.turn) + 1 == self.cell.waits_after()
    }
}

impl Script for Voices {
    fn answer(&mut self, question: &Question) -> Result<Answer, Unscripted> {
        let id = format!("msg_{}_{}", question.agent, question.turn);
        Ok(match &*question.agent_type {
            "main" => self.parent(question.turn, &id),
            _ => self.child(question, &id),
        })
    }
}
