//! What the user does, and what else comes from outside: each act at an instant, in order of time.

use std::collections::BTreeMap;
use std::rc::Rc;

use forkcast_sim::agent::queue::{Mode, Priority};

use super::outline;
use super::reading::{At, Fields, Origin, yes};

/// An act.
#[derive(Clone, Debug)]
pub struct Act {
    /// When, in virtual milliseconds from the beginning.
    pub at_ms: u64,
    /// What.
    pub does: Does,
    /// Where it stands.
    pub origin: Origin,
}

/// What is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Does {
    /// The user types a line and sends it.
    Types(Rc<str>),
    /// The user presses ESC.
    Escape,
    /// The user sends what runs in the foreground to the background: one agent by name, type or id, or all.
    Background(Option<Rc<str>>),
    /// The user answers the oldest open permission request, of this tool where one is named.
    Answers {
        /// With yes.
        allow: bool,
        /// The tool; without it any.
        tool: Option<Rc<str>>,
    },
    /// Remote flags get other values.
    Flips(BTreeMap<String, bool>),
    /// The user stops a background task, by agent name, type or id.
    Kills(Rc<str>),
    /// The user stops all background tasks.
    KillsAll,
    /// A dialog of the user interface opens or closes; the queue waits while it is open.
    Dialog {
        /// It opens.
        open: bool,
    },
    /// Something arrives in the queue from elsewhere.
    Arrives(Arrival),
}

/// Something that arrives in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its text.
    pub text: Rc<str>,
    /// What it is.
    pub mode: Mode,
    /// When it leaves.
    pub priority: Priority,
    /// Where it comes from.
    pub source: &'static str,
    /// The agent that it is for.
    pub agent: Option<Rc<str>>,
}

const MODES: [(&str, Mode); 4] = [
    ("prompt", Mode::Prompt),
    ("bash", Mode::Bash),
    ("task-notification", Mode::TaskNotification),
    ("orphaned-permission", Mode::OrphanedPermission),
];

const PRIORITIES: [(&str, Priority); 3] =
    [("now", Priority::Now), ("next", Priority::Next), ("later", Priority::Later)];

/// Where items of the queue come from (contract QUEUE-06..12).
const SOURCES: [(&str, &str); 9] = [
    ("user", "user"),
    ("agent", "agent"),
    ("shell", "shell"),
    ("monitor", "monitor"),
    ("remote", "remote"),
    ("cron", "cron"),
    ("channel", "channel"),
    ("hook", "hook"),
    ("permission", "permission"),
];

impl Act {
    /// Reads an item of `user`.
    pub fn of(at: &At<'_>) -> Option<Self> {
        let fields = at.fields(outline::ACT)?;
        let at_ms = fields.must("at_ms", At::number);
        let what = fields.one_of(&outline::ACT[1..])?;
        let does = Does::of(what, &fields)?;
        Some(Self { at_ms: at_ms?, does, origin: at.origin() })
    }
}

impl Does {
    fn of(what: &str, fields: &Fields<'_>) -> Option<Self> {
        match what {
            "types" => fields.may(what, At::name).map(Self::Types),
            "escape" => fields.may(what, yes).map(|()| Self::Escape),
            "background" => fields.may(what, all_or_one).map(Self::Background),
            "allow" => Some(Self::Answers { allow: true, tool: fields.may(what, all_or_one)? }),
            "deny" => Some(Self::Answers { allow: false, tool: fields.may(what, all_or_one)? }),
            "flip" => {
                let flags = fields.may(what, |at| at.named(|_, value| value.truth()))?;
                Some(Self::Flips(flags.into_iter().collect()))
            }
            "kill" => fields.may(what, At::name).map(Self::Kills),
            "kill_all" => fields.may(what, yes).map(|()| Self::KillsAll),
            "dialog" => {
                let open = fields.may(what, |at| at.word(&[("opens", true), ("closes", false)]))?;
                Some(Self::Dialog { open })
            }
            _ => fields.may(what, Arrival::of).map(Self::Arrives),
        }
    }
}

/// `all`, or a name.
fn all_or_one(at: &At<'_>) -> Option<Option<Rc<str>>> {
    let name = at.name()?;
    Some((&*name != "all").then_some(name))
}

impl Arrival {
    fn of(at: &At<'_>) -> Option<Self> {
        let fields = at.fields(outline::ARRIVES)?;
        Some(Self {
            text: fields.must("text", At::name)?,
            mode: fields.must("mode", |at| at.word(&MODES))?,
            priority: fields.may("priority", |at| at.word(&PRIORITIES)).unwrap_or_default(),
            source: fields.must("source", |at| at.word(&SOURCES))?,
            agent: fields.may("agent", At::name),
        })
    }
}
