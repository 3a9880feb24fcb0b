//! Options of a session that never change while it runs.

pub mod callers;
mod compaction;
pub mod forks;
pub mod gate;
mod placement;
mod remote;
mod sizes;
mod teams;
mod worktrees;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

pub use callers::Caller;
pub use compaction::{Compaction, Idle, Mechanism};
pub use forks::{Ablation, Forks, LaunchPolicy, Profile};
pub use placement::{Layout, Placement};
pub use remote::RemoteRun;
pub use sizes::{AgentSizes, PartSizes, PrefixSizes, shared_out};
pub use teams::{Place, Teams};
pub use worktrees::Worktrees;

use super::definition::Ranking;
use crate::time::Duration;
use crate::wire::Ttl;

/// Options of a session.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Id of the session, as sent in headers.
    pub session: Rc<str>,
    /// Whether there is a terminal: a user can type, answer and press ESC. Otherwise the session is headless.
    pub interactive: bool,
    /// The main agent's model, as spelled.
    pub model: Rc<str>,
    /// What `sonnet`, `opus` and `haiku` mean.
    pub model_names: ModelNames,
    /// Working directory.
    pub cwd: Rc<str>,
    /// The user's home, for definitions and memory of scope `user`.
    pub home: Rc<str>,
    /// The environment that the prompt describes.
    pub environment: Environment,
    /// Environment variables of the process, such as `CLAUDE_AUTO_BACKGROUND_TASKS`.
    pub variables: BTreeMap<String, String>,
    /// Compile-time features, such as `TOKEN_BUDGET`.
    pub features: BTreeSet<String>,
    /// Whether this is a build for the vendor's own staff (contract AGENT-09, AGENT-14).
    pub internal_build: bool,
    /// Assistant mode: nothing that takes long blocks the user's input (contract ASYNC-14, SLASH-06).
    pub assistant: bool,
    /// Turn limit of the main agent in one query.
    pub max_turns: Option<u32>,
    /// Maximum nesting depth of agents; `None` for no limit (contract G19).
    pub max_depth: Option<u32>,
    /// Maximum output tokens of a request.
    pub max_tokens: u64,
    /// The `thinking` parameter as raw JSON, if sent.
    pub thinking: Option<Rc<str>>,
    /// The effort, if sent.
    pub effort: Option<Rc<str>>,
    /// Where breakpoints are placed.
    pub placement: Placement,
    /// TTL of the breakpoints.
    pub ttl: Ttl,
    /// Lifetime of the breakpoints in the system prompt, if it is another one. A longer lifetime must precede a shorter one.
    pub head_ttl: Option<Ttl>,
    /// The number of requests of each sub-agent, if it is known beforehand: the last one marks nothing new.
    pub agent_requests: Option<u64>,
    /// Tools start while the answer is still streaming (contract STREAM-10..16).
    pub streaming_tools: bool,
    /// Which definition of a name wins.
    pub ranking: Ranking,
    /// How refused and broken calls are retried.
    pub retries: Retries,
    /// Output tokens after which the budget continues the loop (feature `TOKEN_BUDGET`), if set.
    pub token_budget: Option<u64>,
    /// Disables the user context. Otherwise the user's memory files (`CLAUDE.md` and the like) come from the world.
    pub without_user_context: bool,
    /// Emits transcript events without storing transcripts, for runs that are never continued: in a wide fan-out each
    /// child's transcript holds every call of the forking message. Agents cannot be taken over then (contract SYNC-09).
    pub without_transcripts: bool,
    /// Blocks of a main system prompt instead of the runtime's own.
    pub system: Option<Vec<Rc<str>>>,
    /// Texts of the main system prompt while a remote flag is warm (contract PROMPT-05).
    pub fragments: Vec<Fragment>,
    /// Declared sizes instead of counted ones.
    pub sizes: Option<PartSizes>,
    /// Declared tokens of the hidden prefixes of named agents, by type.
    pub prefixes: BTreeMap<Rc<str>, PrefixSizes>,
    /// The helpers of the session, with how often they run: after this many turns of the main agent; for
    /// [`Caller::AgentSummary`] after this many milliseconds of a background agent. [`Caller::Speculation`] follows each
    /// suggestion.
    pub helpers: BTreeMap<Caller, u64>,
    /// When conversations are made shorter; `None` for never.
    pub compaction: Option<Compaction>,
    /// Options for forks.
    pub forks: Forks,
    /// Options for worktrees.
    pub worktrees: Worktrees,
    /// What the service for remote agents does.
    pub remote: Vec<RemoteRun>,
    /// Options for teams; `None` for a session without teams.
    pub teams: Option<Teams>,
    /// How long the classifier takes to check a finished background task (contract ASYNC-09).
    pub classifier: Duration,
    /// How long the start of an agent takes, by the id of its call: hooks that a recorded client ran first, and its own work.
    pub launches: BTreeMap<Rc<str>, Duration>,
}

impl Settings {
    /// Whether background work is disabled; this overrides every request for it (contract G03).
    pub fn backgrounds_are_off(&self) -> bool {
        self.is_on("DISABLE_BACKGROUND_TASKS")
    }

    /// Coordinator mode: the main agent directs workers (contract COORD-01).
    pub fn is_coordinator(&self) -> bool {
        self.features.contains("COORDINATOR") || self.is_on("CLAUDE_CODE_COORDINATOR_MODE")
    }

    /// Whether no agent is waited for: assistant and coordinator mode (contract ASYNC-13, ASYNC-14, COORD-21).
    pub fn forces_background(&self) -> bool {
        self.assistant || self.is_coordinator()
    }

    /// Whether an environment variable has a true value.
    pub fn is_on(&self, variable: &str) -> bool {
        let value = self.variables.get(variable).map(|value| value.trim().to_ascii_lowercase());
        value.is_some_and(|value| !matches!(value.as_str(), "" | "0" | "false" | "no" | "off"))
    }
}

impl Default for Settings {
    /// An interactive session of the client of 2026 in `/repo` (`clients.md` 1): default model, adaptive thinking,
    /// effort `medium`, 128,000 output tokens, eleven attempts, five-minute breakpoints at two system blocks and the
    /// tail.
    fn default() -> Self {
        let seconds = [0.6, 1.2, 2.5, 4.6, 8.0, 17.0, 34.0, 35.0, 39.0, 37.0];
        let waits: Vec<Duration> =
            seconds.iter().map(|wait: &f64| Duration::from_millis((wait * 1e3) as u64)).collect();
        Self {
            session: "session-1".into(),
            interactive: true,
            model: "claude-opus-5-5".into(),
            model_names: ModelNames {
                sonnet: "claude-sonnet-5".into(),
                opus: "claude-opus-5-5".into(),
                haiku: "claude-haiku-4-5".into(),
            },
            cwd: "/repo".into(),
            home: "/home/user".into(),
            environment: Environment {
                git: true,
                git_status: None,
                platform: "linux".into(),
                shell: "bash".into(),
                os_version: "Linux 6.1".into(),
                knowledge_cutoff: "2026-01".into(),
                date: "2026-09-30".into(),
            },
            variables: BTreeMap::new(),
            features: BTreeSet::new(),
            internal_build: false,
            assistant: false,
            max_turns: None,
            max_depth: None,
            max_tokens: 128_000,
            thinking: Some("{\"type\":\"adaptive\"}".into()),
            effort: Some("medium".into()),
            placement: Placement::default(),
            ttl: Ttl::FiveMinutes,
            head_ttl: None,
            agent_requests: None,
            streaming_tools: true,
            ranking: Ranking::default(),
            retries: Retries { attempts_max: 10, waits: waits.into() },
            token_budget: None,
            without_user_context: false,
            without_transcripts: false,
            system: None,
            fragments: Vec::new(),
            sizes: None,
            prefixes: BTreeMap::new(),
            helpers: BTreeMap::new(),
            compaction: None,
            forks: Forks::default(),
            worktrees: Worktrees::default(),
            remote: Vec::new(),
            teams: None,
            classifier: Duration::default(),
            launches: BTreeMap::new(),
        }
    }
}

/// A text that depends on a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// The flag.
    pub flag: Rc<str>,
    /// Whether the text is in the stable part before the divider; otherwise after it.
    pub before_divider: bool,
    /// The text.
    pub text: Rc<str>,
}

/// What the short names of models mean (contract AGENT-04).
#[derive(Clone, Debug)]
pub struct ModelNames {
    /// The model for `sonnet`.
    pub sonnet: Rc<str>,
    /// The model for `opus`.
    pub opus: Rc<str>,
    /// The model for `haiku`.
    pub haiku: Rc<str>,
}

/// The environment that the prompt describes (contract PROMPT-03).
#[derive(Clone, Debug)]
pub struct Environment {
    /// The directory is a git repository.
    pub git: bool,
    /// Output of `git status` at the start of the session, for the user context.
    pub git_status: Option<Rc<str>>,
    /// Such as `linux`.
    pub platform: Rc<str>,
    /// Such as `bash`.
    pub shell: Rc<str>,
    /// Such as `Linux 6.1`.
    pub os_version: Rc<str>,
    /// Such as `2026-01`.
    pub knowledge_cutoff: Rc<str>,
    /// Today's date, for the user context.
    pub date: Rc<str>,
}

/// How refused and broken calls are retried (`clients.md` 1, client 2.1.330).
#[derive(Clone, Debug)]
pub struct Retries {
    /// Attempts after the first.
    pub attempts_max: u32,
    /// Waits before the second, third, … attempt; the last one repeats.
    pub waits: Rc<[Duration]>,
}
