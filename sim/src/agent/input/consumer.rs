//! Consumers of the main thread's items (contract QUEUE-13, QUEUE-14, QUEUE-16).

use std::rc::Rc;

use tokio::sync::futures::Notified;

use super::serve::{joins, serve};
use crate::agent::query;
use crate::agent::queue::Item;
use crate::agent::session::{Context, Session};

/// Serves a session with a terminal until the user has left and no work remains. Takes items when no query is active
/// and no dialog is open (QUEUE-13).
pub async fn repl(main: Rc<Context>) {
    let session = Rc::clone(&main.session);
    loop {
        let changed = Change::of(&session);
        let is_free = !session.front.is_active() && !session.front.is_dialog_open();
        let items = if is_free { take(&session, "repl") } else { Vec::new() };
        if !items.is_empty() {
            serve(&main, items).await;
        } else if is_free && session.front.has_left() && !is_running(&session) {
            return;
        } else if becomes_idle(&main, changed).await {
            query::compact_idle(&main).await;
        }
    }
}

/// Waits for a change. Returns `true` if nothing changed for so long that the conversation is to be summarised.
async fn becomes_idle(main: &Context, changed: Change<'_>) -> bool {
    let _waiting = main.session.handle.waiting_for("input, a notification, or the end of a dialog");
    crate::select! {
        () = changed.happens() => false,
        () = query::is_idle(main) => true,
    }
}

/// Serves a session without a terminal: drains the queue between turns, waits while background tasks run, drains again,
/// and ends when neither is left (QUEUE-14).
pub async fn headless(main: Rc<Context>) {
    let session = Rc::clone(&main.session);
    loop {
        let changed = Change::of(&session);
        let items = take(&session, "headless");
        if !items.is_empty() {
            serve(&main, items).await;
        } else if is_running(&session) {
            let _waiting = session.handle.waiting_for("a background task");
            changed.happens().await;
        } else {
            return;
        }
    }
}

/// The change that a consumer waits for. It is created before the consumer looks, so that no change is missed.
struct Change<'a> {
    queue: Notified<'a>,
    tasks: Notified<'a>,
}

impl<'a> Change<'a> {
    fn of(session: &'a Session) -> Self {
        Self { queue: session.queue.changed(), tasks: session.tasks.changed() }
    }

    async fn happens(self) {
        crate::select! {
            () = self.queue => {}
            () = self.tasks => {}
        }
    }
}

fn take(session: &Session, consumer: &'static str) -> Vec<Item> {
    session.queue.take_for_main(consumer, |item| joins(session, item))
}

/// Whether a running task or hook can still add an item to the queue, or a helper still runs.
fn is_running(session: &Session) -> bool {
    session.work() + session.hooks.running() + session.helpers.running() > 0
}
