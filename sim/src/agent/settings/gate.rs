//! Whether forks are possible, and which condition failed (contract FORK-01..07, AGENT-22, AGENT-23, C13, G03, DIAG-05).

use super::Settings;
use super::forks::{Ablation, Profile, TYPE};
use crate::outside::words;

words! {
    /// Why a call did not fork. In the order in which conditions are looked at (FORK-05, C13).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Closed {
        /// The feature is off (FORK-01).
        Feature = "feature_off",
        /// The session coordinates: a forked coordinator would orchestrate in the place of working (FORK-02).
        Coordinator = "coordinator",
        /// Nobody sits at a terminal to whom a question could rise (FORK-03).
        NonInteractive = "non_interactive",
        /// Nothing may run in the background, and forks run nowhere else (G03).
        Backgrounds = "backgrounds_off",
        /// The call names a kind of agent (FORK-06).
        ExplicitType = "explicit_type",
        /// The call names no fork, where one has to be named.
        NoType = "no_type",
        /// The caller is a fork (FORK-04).
        ForkChild = "fork_child",
    }
}

impl Closed {
    /// What to do about it, for whoever looks for a fork that did not happen (DIAG-05).
    pub const fn explanation(self) -> &'static str {
        match self {
            Self::Feature => "forks are switched off: turn the feature FORK_SUBAGENT on",
            Self::Coordinator => "a coordinator never forks: leave coordinator mode",
            Self::NonInteractive => "a session without a terminal never forks: nobody could answer its questions",
            Self::Backgrounds => "nothing may run in the background here, and a fork runs nowhere else",
            Self::ExplicitType => "the call names a kind of agent in `subagent_type`, and that is what it gets",
            Self::NoType => "the call names no kind of agent: set `subagent_type` to `fork`",
            Self::ForkChild => "the caller is a fork itself, and forks do not fork",
        }
    }
}

/// What a call of the Agent tool means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meant {
    /// A fork.
    Fork,
    /// An agent of this type; the word says why no fork.
    Named(&'static str),
    /// The type that means a fork, while none can be had.
    Unavailable(Closed),
}

/// Whether a session of these settings has forks at all.
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
            (settings.is_on("CLAUDE_CODE_COORDINATOR_MODE"), Closed::Coordinator),
            (!settings.interactive, Closed::NonInteractive),
            (settings.backgrounds_are_off(), Closed::Backgrounds),
        ],
        // On by default, and without a terminal too (`clients.md` 1, "Sub-agents and forks", version 2.1.330).
        Profile::Client2026 => [
            (is_off(settings, "CLAUDE_CODE_FORK_SUBAGENT"), Closed::Feature),
            (settings.is_on("CLAUDE_CODE_COORDINATOR_MODE"), Closed::Coordinator),
            (false, Closed::NonInteractive),
            (settings.backgrounds_are_off(), Closed::Backgrounds),
        ],
    };
    fails.into_iter().filter(|(fails, _)| *fails).map(|(_, why)| why)
}

/// Whether an open gate makes every agent a background one (AGENT-22, C05). The client of 2026 leaves named agents as they
/// are.
pub fn forces_background(settings: &Settings) -> bool {
    settings.forks.profile == Profile::Documents && gate(settings).is_ok()
}

/// What a model is told of forks: nothing where there are none, or where another word than none means one (PROMPT-13,
/// PROMPT-14, PROMPT-16).
pub fn offer(settings: &Settings) -> Option<Profile> {
    gate(settings).is_ok().then_some(settings.forks.profile)
}

/// What a call with this `subagent_type` means (FORK-04, FORK-06, AGENT-21..23). Guards are asked later.
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

/// FORK-01: the feature, or its switch for developers.
pub(in crate::agent) fn feature(settings: &Settings) -> bool {
    settings.features.contains("FORK_SUBAGENT") || settings.is_on("FEATURE_FORK_SUBAGENT")
}

fn is_off(settings: &Settings, variable: &str) -> bool {
    settings.variables.contains_key(variable) && !settings.is_on(variable)
}
