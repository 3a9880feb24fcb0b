//! Teams: agents that work beside the main agent, their leader, and continue after each answer (contract SWARM).
//!
//! * [`member`]: a teammate: its name, colour and place.
//! * [`letter`], [`mailbox`]: what teammates and leader write to each other, and how it gets there (SWARM-13..17).
//! * [`list`]: the list of what is to be done, which they share (SWARM-10..12).

pub mod letter;
pub mod list;
pub mod mailbox;
pub mod member;

use std::cell::RefCell;
use std::rc::Rc;

use tokio::sync::Notify;

pub use letter::{Content, Letter};
pub use list::{NotTaken, TaskList};
pub use mailbox::{Mailbox, Undelivered};
pub use member::{Badge, Member};

use super::event::Event;
use super::ground::Ground;
use super::settings::{Place, Settings};
use super::world::World;

/// The id of the leader: the main agent.
pub const LEADER: &str = "main";

/// The teams of a session.
pub struct Team {
    ground: Rc<Ground>,
    settings: Rc<Settings>,
    world: Rc<World>,
    /// All teammates, including those that have left, in the order in which they joined.
    members: RefCell<Vec<Rc<Member>>>,
    leader: RefCell<Option<Rc<Mailbox>>>,
    left: Notify,
    /// The list that leader and teammates share.
    pub list: TaskList,
}

impl Team {
    /// A session without teammates.
    pub fn new(ground: Rc<Ground>, settings: Rc<Settings>, world: Rc<World>) -> Self {
        let list = TaskList::new(ground.clone(), &settings, world.clone());
        let (members, leader) = (RefCell::default(), RefCell::default());
        Self { ground, settings, world, members, leader, left: Notify::new(), list }
    }

    /// Adds a teammate: agent `agent` of `team`, which its launch calls `name` and whose definition wants `color`. Its
    /// name is unique in its team, and its colour in the session (SWARM-09).
    pub fn join(
        &self,
        agent: &Rc<str>,
        team: &Rc<str>,
        name: &Rc<str>,
        color: Option<&str>,
        plans: bool,
    ) -> Rc<Member> {
        let given = self.settings.teams.as_ref().and_then(|teams| teams.places.get(name));
        let place = given.copied().unwrap_or(Place::InProcess);
        let mut members = self.members.borrow_mut();
        let has_name = |name: &str| members.iter().any(|known| known.team == *team && *known.badge.name == *name);
        let has_color = |color: &str| members.iter().any(|known| *known.badge.color == *color);
        let badge = Badge { name: member::unique_name(name, has_name), color: member::unique_color(color, has_color) };
        let mailbox = Rc::new(self.mailbox(agent));
        let member = Rc::new(Member::new(agent.clone(), team.clone(), badge, place, plans, mailbox));
        members.push(member.clone());
        self.ground.emit(&Event::TeammateJoined {
            agent: agent.clone(),
            name: member.badge.name.clone(),
            color: member.badge.color.clone(),
            team: team.clone(),
            place: place.name(),
            plan_mode_required: plans,
        });
        member
    }

    /// The leader's mailbox; `true` if it is new.
    pub fn leader(&self) -> (Rc<Mailbox>, bool) {
        let mut leader = self.leader.borrow_mut();
        let is_new = leader.is_none();
        (leader.get_or_insert_with(|| Rc::new(self.mailbox(&LEADER.into()))).clone(), is_new)
    }

    fn mailbox(&self, agent: &Rc<str>) -> Mailbox {
        Mailbox::new(self.ground.clone(), self.world.clone(), &self.settings, agent)
    }

    /// The teammate with this id, whether it is still there or not.
    pub fn get(&self, agent: &str) -> Option<Rc<Member>> {
        self.members.borrow().iter().find(|member| *member.agent == *agent).cloned()
    }

    /// The teammates that `from` reaches with a broadcast: those that are there, of its own team if it is a teammate,
    /// except itself (contract MSG-05).
    pub fn others(&self, from: &str) -> Vec<Rc<Member>> {
        let team = self.get(from).map(|member| member.team.clone());
        let members = self.members.borrow();
        let fits = |member: &&Rc<Member>| {
            member.mailbox.is_open() && *member.agent != *from && team.as_ref().is_none_or(|team| *team == member.team)
        };
        members.iter().filter(fits).cloned().collect()
    }

    /// Messages that wait in mailboxes.
    pub fn unread(&self) -> usize {
        let leader = self.leader.borrow().as_ref().map_or(0, |mailbox| mailbox.unread());
        self.members.borrow().iter().map(|member| member.mailbox.unread()).sum::<usize>() + leader
    }

    /// A teammate has left: its mailbox closes. Returns what it had not read; its senders get a reason.
    pub fn leave(&self, member: &Member, why: &'static str) -> Vec<Letter> {
        let unread = member.mailbox.close(why);
        member.stopped.give();
        self.left.notify_waiters();
        unread
    }

    /// Sends all teammates home and waits until they have left. They are idle when a session ends.
    pub async fn dismiss(&self) {
        let members = self.members.borrow().clone();
        for member in &members {
            member.leaving.give();
        }
        loop {
            let left = self.left.notified();
            if members.iter().all(|member| !member.mailbox.is_open()) {
                return;
            }
            let _waiting = self.ground.handle.waiting_for("its teammates to leave");
            left.await;
        }
    }

    /// Whether teammates in `place` can ask at the leader's terminal (SWARM-07, SWARM-08).
    pub fn has_bridge(&self, place: Place) -> bool {
        let is_wanted = self.settings.teams.as_ref().is_some_and(|teams| teams.bridge);
        is_wanted && place == Place::InProcess && self.settings.interactive
    }
}
