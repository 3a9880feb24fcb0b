//! Options of a session that never change while it runs.

pub mod forks;
pub mod gate;
mod placement;
mod sizes;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

pub use forks::{Ablation, Forks, LaunchPolicy, Profile};
pub use placement::{Layout, Placement};
pub use sizes::{AgentSizes, PartSizes, shared_out};

use super::definition::Ranking;
use crate::time::Duration;
use crate::wire::Ttl;

/// Options of a session.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Id of the session, as sent in headers.
    pub session: Rc<str>,
    /// A terminal is there: a user can type, answer and press ESC. Else the session is headless.
    pub interactive: bool,
    /// The main agent's model, as spelled.
    pub model: Rc<str>,
    /// What `sonnet`, `opus` and `haiku` mean.
    pub model_names: ModelNames,
    /// Where it works.
    pub cwd: Rc<str>,
    /// The user's home, for definitions and memory of scope `user`.
    pub home: Rc<str>,
    /// What the prompt says of the surroundings.
    pub environment: Environment,
    /// The process's environment variables, as `CLAUDE_AUTO_BACKGROUND_TASKS`.
    pub variables: BTreeMap<String, String>,
    /// Compile-time features, as `TOKEN_BUDGET`.
    pub features: BTreeSet<String>,
    /// A build for the vendor's own people (contract AGENT-09, AGENT-14).
    pub internal_build: bool,
    /// Turns of the main agent in one query.
    pub max_turns: Option<u32>,
    /// How deep agents may nest; `None` is no limit (contract G19).
    pub max_depth: Option<u32>,
    /// Tokens of output that a request allows.
    pub max_tokens: u64,
    /// The `thinking` parameter as raw JSON, where sent.
    pub thinking: Option<Rc<str>>,
    /// The effort, where sent.
    pub effort: Option<Rc<str>>,
    /// Where breakpoints stand.
    pub placement: Placement,
    /// How long what they mark lives.
    pub ttl: Ttl,
    /// Tools start while the answer still streams (contract STREAM-10..16).
    pub streaming_tools: bool,
    /// Which definition of a name wins.
    pub ranking: Ranking,
    /// What to do about refused and broken calls.
    pub retries: Retries,
    /// Output tokens after which the budget says to go on (feature `TOKEN_BUDGET`), where a budget is set.
    pub token_budget: Option<u64>,
    /// The user's memory files by path (`CLAUDE.md` and the like) come from the world; this switches them off.
    pub without_user_context: bool,
    /// Transcripts are told of and not written, for runs that nobody goes on with: of a wide fan-out each child's has every
    /// call of the message that forked. No agent can be taken over then (contract SYNC-09).
    pub without_transcripts: bool,
    /// Blocks of a main system prompt in the place of the runtime's own.
    pub system: Option<Vec<Rc<str>>>,
    /// Texts that the main system prompt holds while a remote flag is warm (contract PROMPT-05).
    pub fragments: Vec<Fragment>,
    /// Connected servers with what they say of themselves; the prompt repeats it (contract PROMPT-04), and kinds of agents
    /// may require one (contract MCP-04). Connections are not simulated.
    pub mcp_servers: BTreeMap<Rc<str>, Rc<str>>,
    /// Declared sizes in the place of counted ones.
    pub sizes: Option<PartSizes>,
    /// How forks are made, when they start, and what is broken about them on purpose.
    pub forks: Forks,
    /// How long the classifier takes that looks at a finished background task (contract ASYNC-09).
    pub classifier: Duration,
}

impl Settings {
    /// Whether nothing may run in the background: this wins over everything that asks for it (contract G03).
    pub fn backgrounds_are_off(&self) -> bool {
        self.is_on("DISABLE_BACKGROUND_TASKS")
    }

    /// Whether an environment variable is set to something that means yes.
    pub fn is_on(&self, variable: &str) -> bool {
        let value = self.variables.get(variable).map(|value| value.trim().to_ascii_lowercase());
        value.is_some_and(|value| !matches!(value.as_str(), "" | "0" | "false" | "no" | "off"))
    }
}

impl Default for Settings {
    /// An interactive session of the client of 2026 in `/repo` (`clients.md` 1): default model, adaptive thinking,
    /// effort `medium`, 128,000 tokens of output, eleven tries, five-minute breakpoints at two system blocks and the tail.
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
            max_turns: None,
            max_depth: None,
            max_tokens: 128_000,
            thinking: Some("{\"type\":\"adaptive\"}".into()),
            effort: Some("medium".into()),
            placement: Placement::default(),
            ttl: Ttl::FiveMinutes,
            streaming_tools: true,
            ranking: Ranking::default(),
            retries: Retries { attempts_max: 10, waits: waits.into() },
            token_budget: None,
            without_user_context: false,
            without_transcripts: false,
            system: None,
            fragments: Vec::new(),
            mcp_servers: BTreeMap::new(),
            sizes: None,
            forks: Forks::default(),
            classifier: Duration::default(),
        }
    }
}

/// A text that depends on a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// The flag.
    pub flag: Rc<str>,
    /// Where the text stands: before the divider with what is stable, else behind it.
    pub before_divider: bool,
    /// The text.
    pub text: Rc<str>,
}

/// What the short names of models mean (contract AGENT-04).
#[derive(Clone, Debug)]
pub struct ModelNames {
    /// `sonnet`.
    pub sonnet: Rc<str>,
    /// `opus`.
    pub opus: Rc<str>,
    /// `haiku`.
    pub haiku: Rc<str>,
}

/// What the prompt says of the surroundings (contract PROMPT-03).
#[derive(Clone, Debug)]
pub struct Environment {
    /// The directory is a git repository.
    pub git: bool,
    /// What `git status` said when the session began, as the user context says it.
    pub git_status: Option<Rc<str>>,
    /// As `linux`.
    pub platform: Rc<str>,
    /// As `bash`.
    pub shell: Rc<str>,
    /// As `Linux 6.1`.
    pub os_version: Rc<str>,
    /// As `2026-01`.
    pub knowledge_cutoff: Rc<str>,
    /// Today, as the user context says it.
    pub date: Rc<str>,
}

/// What to do about refused and broken calls (`clients.md` 1, client 2.1.330).
#[derive(Clone, Debug)]
pub struct Retries {
    /// Tries after the first.
    pub attempts_max: u32,
    /// Waits before the second, third, … try; the last one repeats.
    pub waits: Rc<[Duration]>,
}
