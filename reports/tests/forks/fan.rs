//! A scenario: a warm parent forks some children in one message.

use forkcast_scenarios::format::Scenario;
use forkcast_scenarios::format::expect::Ends;
use forkcast_scenarios::run::{Options, Run, play};

/// Children, and turns of each; the answer of the last of them.
pub struct Fan {
    pub children: usize,
    pub turns: usize,
    pub breakpoints: &'static str,
    pub last_report: &'static str,
    /// The fork settings of the scenario.
    pub forks: &'static str,
}

impl Default for Fan {
    fn default() -> Self {
        Self { children: 5, turns: 3, breakpoints: "tail", last_report: GOOD, forks: "{}" }
    }
}

const GOOD: &str = "Scope: a part\nResult: it is well";

impl Fan {
    pub fn scenario(&self) -> Scenario {
        let text = self.text();
        Scenario::read("fan", "fan.yaml", &text, &[]).unwrap_or_else(|problems| panic!("{problems}\n{text}"))
    }

    /// Plays it as it is.
    pub fn run(&self) -> Run {
        let run = play(self.scenario(), &Options::default());
        assert_eq!(run.ends, Ends::Finished, "{:?}", run.message);
        run
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{HEAD}session: {{model: claude-opus-4-8, breakpoints: {}, forks: {}}}\nscript:\n  main:\n",
            self.breakpoints, self.forks
        );
        // The parent works before it forks, so that its prefix is warm.
        text.push_str("    - tools: [{tool: Bash, input: {command: \"true\"}}]\n");
        text.push_str("    - tools:\n");
        for child in 1..=self.children {
            text.push_str(&format!(
                "        - {{tool: Agent, id: toolu_{child:04}, input: {{description: part {child}, prompt: Look at part {child}.}}}}\n"
            ));
        }
        // A call without a type forks while the gate is open, and starts a general agent if it is closed.
        text.push_str("    - times: 100000\n      say: Good.\n  general-purpose: []\n");
        for child in 1..=self.children {
            text.push_str(&format!("  \"fork#{child}\":\n"));
            for _ in 1..self.turns {
                text.push_str("    - tools: [{tool: Bash, input: {command: \"true\"}}]\n");
            }
            let said = if child == self.children { self.last_report } else { GOOD };
            text.push_str(&format!("    - say: {said:?}\n"));
        }
        text
    }
}

const HEAD: &str = "\
about: A warm parent forks children in one message, and each works for some turns.
seed: 5
features: [FORK_SUBAGENT]
permissions: {allow: [Bash]}
sizes: {system: 4000, tools: 12000, history: 30000, assistant: 2000, placeholder: 500, directive_block: 200, growth: 1000}
user:
  - {at_ms: 0, types: Look at all parts.}
";
