//! A run of many agents: the main agent launches all of them at once, each reads file after file, and each end is
//! reported.

use forkcast_sim::agent::world::Files;
use forkcast_sim::laws;
use forkcast_sim::model::answer::Said;
use forkcast_sim::model::{Answer, Question, Script, Unscripted};
use forkcast_sim::seed::Seed;
use forkcast_sim::simulation::{Act, Does, Setup};
use forkcast_sim::time::Instant;
use serde_json::json;

/// Files of the world, about a thousand tokens each. Agents with more turns read them again from the first one.
const FILES: u32 = 100;

/// The number of agents and turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crowd {
    /// Agents besides the main one.
    pub agents: u32,
    /// Turns of each; it reads a file in every turn except the last.
    pub turns: u32,
}

impl Crowd {
    /// All turns except those of the main agent.
    pub fn turns_in_all(self) -> u32 {
        self.agents * self.turns
    }

    /// A run of the crowd without observers.
    pub fn unwatched(self) -> Setup {
        let mut setup = Setup::new(1, Replies { crowd: self, messages: 0 });
        setup.world.files = Files::new((0..FILES).map(|file| (format!("/repo/{file}.txt"), text(file))));
        setup.acts = vec![Act { at: Instant(0), does: Does::Types("Read everything.".into()) }];
        setup
    }

    /// A run of the crowd under the laws that `is_wanted` selects by name.
    pub fn watched(self, is_wanted: impl Fn(&str) -> bool) -> Setup {
        let mut setup = self.unwatched();
        setup.observers = laws::all(&setup.rules, &Seed::new(1));
        setup.observers.retain(|law| is_wanted(law.name()));
        setup
    }
}

fn text(file: u32) -> String {
    (0..40).map(|line| format!("{file}: line {line} of a file that somebody reads, in words enough\n")).collect()
}

/// The model's answers.
struct Replies {
    crowd: Crowd,
    messages: u64,
}

impl Script for Replies {
    fn answer(&mut self, question: &Question) -> Result<Answer, Unscripted> {
        self.messages += 1;
        let id = format!("msg_{}", self.messages);
        let last = self.crowd.turns - 1;
        let said = match (&*question.agent_type, question.turn) {
            ("main", 0) => (0..self.crowd.agents).map(launch).collect(),
            (_, turn) if turn < last && &*question.agent_type != "main" => {
                vec![Said::Text(format!("File {turn} is next.")), read(&question.agent, turn)]
            }
            _ => vec![Said::Text("That was it.".to_owned())],
        };
        Ok(Answer::message(&id, &said))
    }
}

fn launch(number: u32) -> Said {
    let input = json!({
        "description": format!("Part {number}"),
        "prompt": format!("Read everything, then report on part {number}."),
        "subagent_type": "general-purpose",
        "run_in_background": true,
    });
    Said::ToolUse { id: format!("toolu_{number}").into(), name: "Agent".into(), input }
}

fn read(agent: &str, turn: u32) -> Said {
    let input = json!({ "file_path": format!("/repo/{}.txt", turn % FILES) });
    Said::ToolUse { id: format!("toolu_{agent}_{turn}").into(), name: "Read".into(), input }
}
