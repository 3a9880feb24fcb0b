//! Whether forks are possible, and which condition fails (contract FORK-01..07, AGENT-22, AGENT-23, C13, G03, DIAG-05).

use super::Settings;
use super::forks::{Ablation, Profile, TYPE};
use crate::outside::words;

words! {
    /// Why a call did not fork, in the order in which the conditions are checked (FORK-05, C13).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Closed {
        /// The feature is off (FORK-01).
        Feature = "feature_off",
        /// The session is a coordinator: its forks would orchestrate instead of working (FORK-02).
        Coordinator = "coordinator",
        /// There is no terminal to which a question could rise (FORK-03).
        NonInteractive = "non_interactive",
        /// Background work is disabled, and forks always run in the background (G03).
        Backgrounds = "backgrounds_off",
        /// The call names an agent type (FORK-06).
        ExplicitType = "explicit_type",
        /// The call names no type, but a fork must be named.
        NoType = "no_type",
        /// The caller is a fork (FORK-04).
        ForkChild = "fork_child",
        /// The caller is a teammate, or works for one (G04).
        Teammate = "teammate",
    }
}

impl Closed {
    /// What to do about it, for a user who expected a fork (DIAG-05).
    pub const fn explanation(self) -> &'static str {
        match self {
            Self::Feature => "forks are switched off: turn the feature FORK_SUBAGENT on",
            Self::Coordinator => "a coordinator never forks: leave coordinator mode",
            Self::NonInteractive => "a session without a terminal never forks: no user could answer its questions",
            Self::Backgrounds => "background work is disabled here, and forks always run in the background",
            Self::ExplicitType => "the call names an agent type in `subagent_type`, so it gets that agent",
            Self::NoType => "the call names no agent type: set `subagent_type` to `fork`",
            Self::ForkChild => "the caller is a fork itself, and forks do not fork",
            Self::Teammate => "the caller is a teammate, and teammates do not fork",
        }
    }
}

/// What a call of the Agent tool means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meant {
    /// A fork.
    Fork,
    /// An agent of this type; the text says why it is not a fork.
    Named(&'static str),
    /// A fork, but forks are unavailable.
    Unavailable(Closed),
}

/// Whether a session with these settings has forks at all.
///
/// # Errors
/// The first condition that fails.
pub fn gate(settings: &Settings) -> Result<(), Closed> {
    failed(settings).next().map_or(Ok(()), Err)
}

/// The session's conditions that fail, in order.
pub(in crate::agent) fn failed(settings: &Settings) -> impl Iterator<Item = Closed> {
    let fails = match settings.forks.profile {
        Profile::Documents => [
            (!feature(settings), Closed::Feature),
            (settings.is_coordinator(), Closed::Coordinator),
            (!settings.interactive, Closed::NonInteractive),
            (settings.backgrounds_are_off(), Closed::Backgrounds),
        ],
        // On by default, also without a terminal (`clients.md` 1, "Sub-agents and forks", version 2.1.330).
        Profile::Client2026 => [
            (is_off(settings, "CLAUDE_CODE_FORK_SUBAGENT"), Closed::Feature),
            (settings.is_coordinator(), Closed::Coordinator),
            (false, Closed::NonInteractive),
            (settings.backgrounds_are_off(), Closed::Backgrounds),
        ],
    };
    fails.into_iter().filter(|(fails, _)| *fails).map(|(_, why)| why)
}

/// Whether an open gate sends every agent to the background (AGENT-22, C05). The client of 2026 does not do this for
/// named agents.
pub fn forces_background(settings: &Settings) -> bool {
    settings.forks.profile == Profile::Documents && gate(settings).is_ok()
}

/// Which fork guidance a model gets: `None` if forks are unavailable (PROMPT-13, PROMPT-14, PROMPT-16).
pub fn offer(settings: &Settings) -> Option<Profile> {
    gate(settings).is_ok().then_some(settings.forks.profile)
}

/// What a call with this `subagent_type` means (FORK-04, FORK-06, AGENT-21..23). Guards run later.
pub fn meant(settings: &Settings, subagent_type: Option<&str>) -> Meant {
    let meant = match (settings.forks.profile, subagent_type, gate(settings)) {
        (Profile::Documents, None, Ok(())) | (Profile::Client2026, Some(TYPE), Ok(())) => Meant::Fork,
        (Profile::Client2026, Some(TYPE), Err(why)) => Meant::Unavailable(why),
        (_, Some(_), _) => Meant::Named("subagent_type"),
        (Profile::Documents, None, Err(why)) => Meant::Named(why.name()),
        (Profile::Client2026, None, _) => Meant::Named("no_type"),
    };
    let spawns_instead = settings.forks.ablations.contains(&Ablation::NamedSpawn);
    if spawns_instead && meant == Meant::Fork { Meant::Named("ablation") } else { meant }
}

/// FORK-01: the feature, or its developer switch.
pub(in crate::agent) fn feature(settings: &Settings) -> bool {
    settings.features.contains("FORK_SUBAGENT") || settings.is_on("FEATURE_FORK_SUBAGENT")
}

fn is_off(settings: &Settings, variable: &str) -> bool {
    settings.variables.contains_key(variable) && !settings.is_on(variable)
}
