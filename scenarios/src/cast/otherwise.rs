//! A recorded session as it would have been, had its agents been built otherwise.

use std::collections::BTreeMap;
use std::fmt;

use forkcast_sim::agent::query::Placement;
use forkcast_sim::agent::spawn::fork::LaunchPolicy;
use forkcast_sim::wire::Ttl;
use forkcast_sim::words;

use super::rules::{CastRule, LeftOut};
use crate::format::set::Change;

/// One thing that is built otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alteration {
    /// The main agent starts forks of itself, or named agents.
    With(Started),
    /// When the agents of one message start.
    Launch(LaunchPolicy),
    /// Where breakpoints are.
    Breakpoints(Placement),
    /// The lifetime of cache entries.
    Ttl(Ttl),
    /// Whether named agents run in the background.
    Background(Which),
    /// The model of the main agent (`main`), of agents of a type, or of all (`all`).
    Model {
        /// Whose.
        agent: String,
        /// The model as spelled.
        model: String,
    },
    /// Tools are sent in the order of their names.
    ToolsSorted,
}

words! {
    /// What the main agent starts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Started {
        /// Forks of itself.
        Forks = "forks",
        /// Named agents with a brief.
        Agents = "agents",
    }
}

words! {
    /// Which agents run in the background.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Which {
        /// All of them.
        All = "all",
        /// None of them; forks always do.
        None = "none",
    }
}

/// What the figures of an alteration rest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Basis {
    /// What is recorded.
    pub recorded: &'static str,
    /// What is modelled.
    pub modelled: &'static str,
    /// What cannot be known.
    pub unknown: &'static str,
}

/// The name for the models of all agents.
pub const ALL: &str = "all";

impl Alteration {
    /// Reads `AGENT=MODEL`.
    ///
    /// # Errors
    /// What is expected.
    pub fn model(text: &str) -> Result<Self, String> {
        let parts = text.split_once('=').map(|(agent, model)| (agent.trim(), model.trim()));
        let (agent, model) = parts
            .filter(|(agent, model)| !agent.is_empty() && !model.is_empty())
            .ok_or("expected AGENT=MODEL with `main`, a type of agents or `all`, such as main=claude-haiku-4-5")?;
        Ok(Self::Model { agent: agent.to_owned(), model: model.to_owned() })
    }

    /// Whether each recorded answer would still fit its request: the prompts keep their content.
    pub const fn keeps_answers(&self) -> bool {
        matches!(self, Self::Launch(_) | Self::Breakpoints(_) | Self::Ttl(_) | Self::ToolsSorted)
    }

    /// What its figures rest on.
    pub const fn basis(&self) -> Basis {
        match self {
            Self::Launch(_) => Basis {
                recorded: "answers, results, their durations and sizes",
                modelled: "when agents start and what each request reads; the user types as long after an answer as recorded",
                unknown: "whether results would have differed at other times",
            },
            Self::Breakpoints(_) => Basis {
                recorded: "answers, results, instants and sizes",
                modelled: "what each request reads and writes",
                unknown: "where within the system prompt a breakpoint of the client is, if only transcripts are recorded",
            },
            Self::Ttl(_) => Basis {
                recorded: "answers, results, instants and sizes",
                modelled: "what each request reads and writes; what other sessions kept in the cache stays as recorded",
                unknown: "hidden requests of the client that would have found an expired entry: they are left out",
            },
            Self::ToolsSorted => Basis {
                recorded: "answers, results, instants and sizes",
                modelled: "what each request reads and writes",
                unknown: "whether the order of tools changes answers",
            },
            Self::With(Started::Forks) => Basis {
                recorded: "the reports and every turn of the agents, word for word, and the sizes of what they read",
                modelled: "each agent begins with its parent's prompt, runs on its parent's model in the background, and its \
                           parent answers a notification instead of a result",
                unknown: "what an agent that knows its parent's history would have done, and what its parent would have said \
                          while it waited (one token is taken)",
            },
            Self::With(Started::Agents) => Basis {
                recorded: "the reports and every turn of the agents, word for word",
                modelled: "each agent begins with the prompt of a named agent and its brief",
                unknown: "what it would have had to read to know what its parent knew, and so what it would have said",
            },
            Self::Background(Which::All) => Basis {
                recorded: "every turn of the agents, and the answers of their callers to the reports",
                modelled: "a caller goes on at once and answers each notification; while it waits it says one token",
                unknown: "what a caller would have done while its agents run",
            },
            Self::Background(Which::None) => Basis {
                recorded: "every turn of the agents, and the answers of their callers to the reports",
                modelled: "a caller waits for its agents; answers that only waited for a notification are left out",
                unknown: "what a caller would have done with all reports at once",
            },
            Self::Model { .. } => Basis {
                recorded: "answers, results and their durations",
                modelled: "prices, minimum and sizes of the other model; where tokenizers differ, sizes are scaled by a measured \
                           ratio",
                unknown: "what the other model would have said, how long and how fast",
            },
        }
    }

    /// The field of the scenario that it sets, if it is one.
    fn field(&self) -> Option<String> {
        match self {
            Self::Launch(policy) => Some(format!("session.forks.launch={}", policy.name())),
            Self::Breakpoints(placement) => Some(format!("session.breakpoints={}", placement.name())),
            Self::Ttl(ttl) => Some(format!("session.ttl={}", ttl.name())),
            _ => None,
        }
    }
}

impl fmt::Display for Alteration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::With(what) => write!(f, "with={}", what.name()),
            Self::Launch(policy) => write!(f, "launch={}", policy.name()),
            Self::Breakpoints(placement) => write!(f, "breakpoints={}", placement.name()),
            Self::Ttl(ttl) => write!(f, "ttl={}", ttl.name()),
            Self::Background(which) => write!(f, "background={}", which.name()),
            Self::Model { agent, model } => write!(f, "model:{agent}={model}"),
            Self::ToolsSorted => f.write_str("tools-sorted"),
        }
    }
}

/// How a session is played.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Otherwise {
    /// It is compared with other plays of the session, so nothing is taken from the recording that another build could
    /// change: agents' first reads are foreseen, and the user waits for agents instead of for the clock.
    pub is_compared: bool,
    /// What is built otherwise.
    pub alterations: Vec<Alteration>,
    /// Rules that are left out, to see what they are good for.
    pub left_out: LeftOut,
}

impl Otherwise {
    /// Whether a rule holds.
    pub(super) fn has(&self, rule: CastRule) -> bool {
        !self.left_out.contains(&rule)
    }

    /// As recorded, to be compared with the same under `alterations`.
    pub const fn compared(alterations: Vec<Alteration>) -> Self {
        Self { is_compared: true, alterations, left_out: LeftOut::new() }
    }

    /// Its name: all alterations.
    pub fn name(&self) -> String {
        self.alterations.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
    }

    /// Whether each recorded answer would still fit its request.
    pub fn keeps_answers(&self) -> bool {
        self.alterations.iter().all(Alteration::keeps_answers)
    }

    /// The scenario's fields that it sets, in the form of `--set`.
    pub fn fields(&self) -> Vec<String> {
        self.alterations.iter().filter_map(Alteration::field).collect()
    }

    /// The same as changes.
    pub fn changes(&self) -> Vec<Change> {
        self.fields().iter().filter_map(|field| field.parse().ok()).collect()
    }

    /// The lifetime of cache entries, if it is another one.
    pub fn ttl(&self) -> Option<Ttl> {
        self.alterations.iter().find_map(|one| if let Alteration::Ttl(ttl) = one { Some(*ttl) } else { None })
    }

    /// What the main agent starts, if that is another kind.
    pub(super) fn with(&self) -> Option<Started> {
        self.alterations.iter().find_map(|one| if let Alteration::With(what) = one { Some(*what) } else { None })
    }

    /// Which named agents run in the background, if that is otherwise.
    pub(super) fn background(&self) -> Option<Which> {
        self.alterations
            .iter()
            .find_map(|one| if let Alteration::Background(which) = one { Some(*which) } else { None })
    }

    /// Whether breakpoints are placed otherwise.
    pub fn places_breakpoints(&self) -> bool {
        self.alterations.iter().any(|one| matches!(one, Alteration::Breakpoints(_)))
    }

    /// Whether agents are started as something else, or elsewhere.
    pub fn changes_agents(&self) -> bool {
        self.with().is_some()
    }

    /// Whether tools are sorted.
    pub fn sorts_tools(&self) -> bool {
        self.alterations.contains(&Alteration::ToolsSorted)
    }

    /// Other models, by agent.
    fn models(&self) -> BTreeMap<&str, &str> {
        let models = self.alterations.iter().filter_map(|one| match one {
            Alteration::Model { agent, model } => Some((&**agent, &**model)),
            _ => None,
        });
        models.collect()
    }

    /// The first model that an agent is given and that `is_known` does not accept.
    pub fn unknown_model(&self, is_known: impl Fn(&str) -> bool) -> Option<String> {
        self.models().values().find(|model| !is_known(model)).map(|model| (*model).to_owned())
    }

    /// Whether an agent has another model.
    pub fn changes_models(&self) -> bool {
        !self.models().is_empty()
    }

    /// The model of the main agent (`main`) or of a type of agents, if it is another one.
    pub(super) fn model_of(&self, agent: &str) -> Option<&str> {
        let models = self.models();
        models.get(agent).or_else(|| models.get(ALL)).copied()
    }

    /// The first agent whose model is named and that is not among `known`.
    pub fn unknown_agent(&self, known: &[String]) -> Option<String> {
        let models = self.models();
        models.into_keys().find(|agent| *agent != ALL && !known.iter().any(|known| known == agent)).map(str::to_owned)
    }
}
