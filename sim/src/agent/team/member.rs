//! A teammate.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde::Serialize;
use tokio::sync::oneshot;

use super::Mailbox;
use crate::agent::abort::Abort;
use crate::agent::settings::Place;

/// How people tell a teammate from others (SWARM-09).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Badge {
    /// Its name, unique in its team.
    pub name: Rc<str>,
    /// Its colour, unique in the session.
    pub color: Rc<str>,
}

/// A teammate.
pub struct Member {
    /// Its id.
    pub agent: Rc<str>,
    /// Its team.
    pub team: Rc<str>,
    /// Its name and colour.
    pub badge: Badge,
    /// Where it runs.
    pub place: Place,
    /// It is to plan first (SWARM-20).
    pub plan_mode_required: bool,
    /// Where it gets messages.
    pub mailbox: Rc<Mailbox>,
    /// Given when the session ends: it leaves when it is idle.
    pub leaving: Abort,
    /// Given when it has left.
    pub stopped: Abort,
    /// Requests for permission that the leader has not answered.
    asked: RefCell<BTreeMap<u64, oneshot::Sender<bool>>>,
}

impl Member {
    /// A teammate.
    pub(super) fn new(
        agent: Rc<str>,
        team: Rc<str>,
        badge: Badge,
        place: Place,
        plan_mode_required: bool,
        mailbox: Rc<Mailbox>,
    ) -> Self {
        let (leaving, stopped, asked) = (Abort::default(), Abort::default(), RefCell::default());
        Self { agent, team, badge, place, plan_mode_required, mailbox, leaving, stopped, asked }
    }

    /// Ready with the leader's decision on request `request`.
    pub fn decision(&self, request: u64) -> oneshot::Receiver<bool> {
        let (sender, decision) = oneshot::channel();
        self.asked.borrow_mut().insert(request, sender);
        decision
    }

    /// The leader's decision has arrived. It is lost if the call that asked was stopped.
    pub fn decided(&self, request: u64, allow: bool) {
        if let Some(sender) = self.asked.borrow_mut().remove(&request) {
            _ = sender.send(allow);
        }
    }
}

/// Colours of badges.
const COLORS: [&str; 8] = ["red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan"];

/// `name`, or with a number after it if a teammate has that name.
pub(super) fn unique_name(name: &Rc<str>, is_taken: impl Fn(&str) -> bool) -> Rc<str> {
    if !is_taken(name) {
        return name.clone();
    }
    unique((2_u32..).map(|number| format!("{name}-{number}")), is_taken)
}

/// The wanted colour, or the first that no teammate has. After the last one they get numbers.
pub(super) fn unique_color(wanted: Option<&str>, is_taken: impl Fn(&str) -> bool) -> Rc<str> {
    let plain = wanted.into_iter().chain(COLORS).map(str::to_owned);
    let numbered = (2_u32..).flat_map(|number| COLORS.map(|color| format!("{color}-{number}")));
    unique(plain.chain(numbered), is_taken)
}

fn unique(mut names: impl Iterator<Item = String>, is_taken: impl Fn(&str) -> bool) -> Rc<str> {
    names.find(|name| !is_taken(name)).map_or_else(|| "teammate".into(), Rc::from)
}
