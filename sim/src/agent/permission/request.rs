//! Permission requests that wait for the user's answer (contract PERM-12, PERM-16..18).
//!
//! All of them share the terminal's one dialog; the route says on whose behalf they ask (PERM-17).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use tokio::sync::{Notify, oneshot};

use super::Permissions;
use crate::agent::abort::Abort;
use crate::agent::event::Event;
use crate::agent::ground::Ground;
use crate::agent::queue::{Item, Queue};
use crate::outside::words;

words! {
    /// How a request reaches the user (PERM-17).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Route {
        /// The main agent asks at its own terminal.
        Local = "local",
        /// A named agent's own mode decided that it must ask.
        Independent = "independent",
        /// It went up through the agent's ancestors to the nearest terminal (PERM-12, G23).
        Bubble = "bubble",
        /// A teammate in the leader's process asks at the leader's terminal, with its badge (contract SWARM-07).
        Bridge = "bridge",
        /// A teammate wrote to the leader, which asks its user (contract SWARM-08).
        Mailbox = "mailbox",
    }
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its number.
    pub request: u64,
    /// The agent that asks.
    pub agent: Rc<str>,
    /// The tool it wants to use.
    pub tool: Rc<str>,
    /// The call.
    pub tool_use: Rc<str>,
    /// How it reaches the user.
    pub route: Route,
    /// Name and colour of the teammate that asks.
    pub badge: Option<[Rc<str>; 2]>,
}

/// What became of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// Its request received it.
    Taken,
    /// Its request was gone; it was enqueued (PERM-16).
    Orphaned,
    /// No such request exists.
    Unknown,
}

/// The requests of a session.
#[derive(Debug, Default)]
pub struct Requests {
    asked: RefCell<BTreeMap<u64, Request>>,
    open: RefCell<BTreeMap<u64, oneshot::Sender<bool>>>,
    changed: Notify,
}

/// Removes a request when its answer is no longer awaited.
struct Open<'a>(&'a Requests, u64);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.open.borrow_mut().remove(&self.1);
    }
}

impl Permissions {
    /// Asks and waits for the answer; `None` if `abort` stopped the agent first.
    pub(in crate::agent) async fn ask(&self, ground: &Ground, asked: Request, abort: &Abort) -> Option<bool> {
        let requests = &self.requests;
        let (sender, answer) = oneshot::channel();
        let request = asked.request;
        let agent = asked.agent.clone();
        let tool = asked.tool.clone();
        let route = asked.route.name();
        if let Some([name, color]) = asked.badge.clone() {
            ground.emit(&Event::PermissionBadge { agent: agent.clone(), request, name, color });
        }
        requests.asked.borrow_mut().insert(request, asked);
        requests.open.borrow_mut().insert(request, sender);
        let _open = Open(requests, request);
        ground.emit(&Event::PermissionRequest { agent, request, tool, route });
        requests.changed.notify_waiters();
        let _waiting = ground.handle.waiting_for("the user's answer to a permission request");
        crate::select! {
            () = abort.given() => None,
            allow = answer => allow.ok(),
        }
    }

    /// The waiting requests, oldest first.
    pub fn open_requests(&self) -> Vec<Request> {
        let asked = self.requests.asked.borrow();
        self.requests.open.borrow().keys().filter_map(|request| asked.get(request).cloned()).collect()
    }

    /// Ready when a request waits; returns the oldest.
    pub async fn next_request(&self) -> Request {
        loop {
            let changed = self.requests.changed.notified();
            match self.open_requests().into_iter().next() {
                Some(asked) => return asked,
                None => changed.await,
            }
        }
    }

    /// Delivers the user's answer to a request. If the request is gone, the answer enters the queue for the main thread
    /// (PERM-16, QUEUE-12, QUEUE-16).
    pub fn answer(&self, queue: &Queue, request: u64, allow: bool) -> Answered {
        let Some(asked) = self.requests.asked.borrow().get(&request).cloned() else { return Answered::Unknown };
        let open = self.requests.open.borrow_mut().remove(&request);
        if open.is_some_and(|sender| sender.send(allow).is_ok()) {
            return Answered::Taken;
        }
        let said = if allow { "allowed" } else { "denied" };
        let Request { agent, tool, .. } = asked;
        let text = format!(
            "The user {said} a request of {agent} to use {tool}, after the request was gone. Nothing was done."
        );
        queue.enqueue(Item::orphaned_permission(&text));
        Answered::Orphaned
    }
}
