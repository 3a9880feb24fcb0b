//! Acts of the user, and other events from outside: each at an instant, in order of time.

use std::rc::Rc;

use forkcast_sim::agent::queue::{Item, Mode, Priority};
use forkcast_sim::simulation::Does;
use forkcast_sim::time::Duration;

use super::outline;
use super::reading::{At, Fields, Origin, yes};

/// An act.
#[derive(Clone, Debug)]
pub struct Act {
    /// Instant, in virtual milliseconds from the start.
    pub at_ms: u64,
    /// Tokens of the text that it adds, if they are not counted.
    pub tokens: Option<u64>,
    /// The act.
    pub does: Does,
    /// Its place.
    pub origin: Origin,
}

/// Origins of queue items (contract QUEUE-06..12).
pub(super) const SOURCES: [(&str, &str); 9] = [
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

/// Whether a dialog is open.
pub(super) const DIALOGS: [(&str, bool); 2] = [("opens", true), ("closes", false)];

/// Whether the user waits for every agent.
pub(super) const WAITED_FOR: [(&str, bool); 2] = [("main", false), ("agents", true)];

impl Act {
    /// Reads an item of `user`.
    pub fn of(at: &At<'_>) -> Option<Self> {
        let fields = at.fields(&outline::ACT)?;
        let at_ms = fields.must("at_ms", At::number);
        let what = fields.one_of(&outline::ACT.names()[2..])?;
        let does = does(what, &fields)?;
        Some(Self { at_ms: at_ms?, tokens: fields.may("tokens", At::tokens), does, origin: at.origin() })
    }
}

fn does(what: &str, fields: &Fields<'_>) -> Option<Does> {
    match what {
        "types" => fields.may(what, At::name).map(Does::Types),
        "escape" => fields.may(what, yes).map(|()| Does::Escape),
        "background" => fields.may(what, all_or_one).map(Does::Background),
        "allow" => Some(Does::Answers { allow: true, tool: fields.may(what, all_or_one)? }),
        "deny" => Some(Does::Answers { allow: false, tool: fields.may(what, all_or_one)? }),
        "flip" => {
            let flags = fields.may(what, |at| at.named(|_, value| value.truth()))?;
            Some(Does::Flips(flags.into_iter().collect()))
        }
        "kill" => fields.may(what, At::name).map(Does::Kills),
        "kill_all" => fields.may(what, yes).map(|()| Does::KillsAll),
        "dialog" => {
            let open = fields.may(what, |at| at.word(&DIALOGS))?;
            Some(Does::Dialog { open })
        }
        "rewrites" => fields.may(what, rewriting),
        "asks_aside" => fields.may(what, At::name).map(Does::AsksAside),
        "connects" => fields.may(what, At::name).map(|server| Does::Links { server, connects: true }),
        "disconnects" => fields.may(what, At::name).map(|server| Does::Links { server, connects: false }),
        "forgets" => fields.may(what, At::name).map(|agent| Does::Forgets { agent, transcript: false }),
        "loses" => fields.may(what, At::name).map(|agent| Does::Forgets { agent, transcript: true }),
        "rewinds" => fields.may(what, At::name).map(Does::Rewinds),
        "waits" => fields.may(what, waiting),
        _ => fields.may(what, item).map(Does::Arrives),
    }
}

/// `all`, or a name.
fn all_or_one(at: &At<'_>) -> Option<Option<Rc<str>>> {
    let name = at.name()?;
    Some((&*name != "all").then_some(name))
}

/// A history that is replaced by one text.
fn rewriting(at: &At<'_>) -> Option<Does> {
    let fields = at.fields(&outline::REWRITES)?;
    let agent = fields.must("agent", At::name);
    let text = fields.must("as", At::name);
    let takes = fields.may("takes_ms", At::number).map(Duration::from_millis);
    Some(Does::Rewrites { agent: agent?, text: text?, takes })
}

/// Waiting until the main agent, or every agent, has nothing to do, and some time after that.
fn waiting(at: &At<'_>) -> Option<Does> {
    let fields = at.fields(&outline::WAITS)?;
    let for_agents = fields.must("for", |at| at.word(&WAITED_FOR));
    let then = Duration::from_millis(fields.or_default("ms", At::number));
    Some(Does::Waits { for_agents: for_agents?, then })
}

/// An item that is enqueued from outside.
fn item(at: &At<'_>) -> Option<Item> {
    let fields = at.fields(&outline::ARRIVES)?;
    let mode = fields.must("mode", |at| at.word(&Mode::WORDS));
    let priority = fields.or_default("priority", |at| at.word(&Priority::WORDS));
    let source = fields.must("source", |at| at.word(&SOURCES))?;
    Some(Item::new(mode?, priority, fields.may("agent", At::name), &fields.must("text", At::name)?, source))
}
