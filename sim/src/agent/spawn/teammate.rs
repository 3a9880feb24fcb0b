//! Teammates: agents that go on after an answer, with the messages that come for them (contract SWARM, AGENT-07,
//! AGENT-24, AGENT-25).

use std::rc::Rc;

use super::background;
use super::input::Input;
use super::result::{Collected, Data, TeammateSpawned};
use super::route::{self, GENERAL, Refusal, Resolved};
use super::run::{Beginning, run_agent};
use super::waiter::{self, Verdict, Waiter};
use crate::agent::abort::Abort;
use crate::agent::entry::{Entry, Nature};
use crate::agent::event::Event;
use crate::agent::notification::{Details, Totals};
use crate::agent::permission::Mode;
use crate::agent::query::{Ended, Reason, on_behalf};
use crate::agent::session::pool::Worker;
use crate::agent::session::{Call, Context, Outcome, Pool, Session, SubAgent};
use crate::agent::task::{Message, Task};
use crate::agent::team::{Content, LEADER, Letter, Mailbox, Member, Undelivered};

/// The team that a call means: with a name, its own or the current one (AGENT-07, AGENT-24, C19).
///
/// # Errors
/// If the caller is a teammate (AGENT-25, SWARM-18), or the session has no teams.
pub(super) fn team_of(call: &Call, input: &Input) -> Result<Option<Rc<str>>, Refusal> {
    let settings = &call.context.session.settings;
    let current = settings.teams.as_ref().and_then(|teams| teams.current.clone());
    let Some(team) = input.team_name.clone().or(current).filter(|_| input.name.is_some()) else { return Ok(None) };
    match &settings.teams {
        None => Err("this session has no teams: leave `team_name` out for an agent of your own".into()),
        Some(_) if call.context.member().is_some() => {
            Err("a teammate starts no teammates: leave `name` out for an agent of your own, or ask the leader".into())
        }
        Some(_) => Ok(Some(team)),
    }
}

/// Resolves a call that means a teammate: before any other route, and never a fork (AGENT-24).
pub(super) fn resolve(call: &Call, input: Input, team: Rc<str>) -> Result<Resolved, Refusal> {
    let parent = &call.context;
    let session = &*parent.session;
    let definition = route::find(session, input.subagent_type.as_deref().unwrap_or(GENERAL))?;
    let agent = session.ids.next("agent");
    let model = route::model(parent, input.model, &definition);
    parent.emit(&Event::Routed {
        agent: parent.agent.clone(),
        tool_use: call.tool_use.id.clone(),
        route: "teammate",
        agent_type: definition.agent_type.clone(),
        model: model.clone(),
        background: true,
        why: if input.team_name.is_some() { "team_name" } else { "current_team" },
    });
    Ok(Resolved {
        mode: Worker::of(&session.permissions, &definition, true).mode,
        pool: Pool::named(session, &agent, &definition, true),
        background: true,
        fork: None,
        worktree: None,
        team: Some(team),
        agent,
        input,
        definition,
        model,
    })
}

/// Starts a teammate; its life is its own (`spawnTeammate`, RESULT-05, SWARM-21).
pub(super) fn spawn(call: &Call, resolved: &Resolved, team: &Rc<str>) -> Outcome {
    let session = call.context.session.clone();
    let input = &resolved.input;
    let wanted = input.name.clone().unwrap_or_else(|| resolved.agent.clone());
    let plans = input.mode == Some(Mode::Plan);
    let member = session.team.join(&resolved.agent, team, &wanted, resolved.definition.color.as_deref(), plans);
    let start = SubAgent { teammate: Some(member.clone()), ..resolved.sub_agent(&session, true) };
    let context = Context::sub_agent(&call.context, start);
    let task = waiter::register(call, &input.description, &context, true);
    session.tasks.names.register(&member.badge.name, &member.agent);
    read_mail(&session, &member, &task);
    let run = run_agent(context, Beginning::Prompt(input.prompt.clone()));
    background::detach(Waiter { session, task, run, collected: Collected::default(), worktree: None });
    let data = Data::TeammateSpawned(TeammateSpawned {
        teammate_id: member.agent.clone(),
        name: member.badge.name.clone(),
        team_name: team.clone(),
    });
    waiter::give(call, &member.agent, &data, Totals::default(), false)
}

/// Reads the mailboxes of a new teammate, and of the leader when the first one joins.
fn read_mail(session: &Rc<Session>, member: &Rc<Member>, task: &Rc<Task>) {
    let (leader, is_new) = session.team.leader();
    if is_new {
        let session = session.clone();
        let handle = session.handle.clone();
        drop(handle.spawn("mailbox of the leader", async move {
            while let Some(letters) = leader.poll().await {
                letters.into_iter().for_each(|letter| for_leader(&session, letter));
            }
        }));
    }
    let (own, member, task) = (session.clone(), member.clone(), task.clone());
    let name = format!("mailbox of {}", member.agent);
    drop(session.handle.spawn(name, async move {
        while let Some(letters) = member.mailbox.poll().await {
            letters.into_iter().for_each(|letter| for_teammate(&own, &member, &task, letter));
        }
    }));
}

fn for_teammate(session: &Session, member: &Member, task: &Task, letter: Letter) {
    match letter.content {
        Content::PermissionReply { request, allow } => member.decided(request, allow),
        Content::Message { text } => {
            session.tasks.set_idle(task, false);
            task.post(Message { number: letter.number, from: letter.from, text });
        }
        Content::Idle { .. } | Content::Left { .. } | Content::PermissionRequest { .. } => {}
    }
}

/// A question is decided beside the mailbox, so that other letters do not wait for it.
fn for_leader(session: &Rc<Session>, letter: Letter) {
    let Content::PermissionRequest { request, tool, tool_use, input } = letter.content else {
        return session.notifications.letter(&letter);
    };
    let (Some(leader), Some(member)) = (session.helpers.main(), session.team.get(&letter.from)) else { return };
    let session = session.clone();
    let handle = session.handle.clone();
    drop(handle.spawn("the leader's decision", async move {
        let call = crate::agent::entry::ToolUse { id: tool_use, name: tool, input: Rc::new(input) };
        let allow = on_behalf(&leader, &member, request, &call).await;
        let reply = letter_of(&session, LEADER, Content::PermissionReply { request, allow });
        // A teammate that has left needs no reply.
        _ = member.mailbox.put(&reply, &Abort::default()).await;
    }));
}

fn letter_of(session: &Session, from: &str, content: Content) -> Letter {
    Letter { number: session.ids.number(), from: from.into(), content }
}

/// Puts a message into a mailbox, for a call of `sender`; waits while that is full
/// (`injectUserMessageToTeammate`, SWARM-02).
///
/// # Errors
/// If the receiver has left, or the call is stopped.
pub async fn post(sender: &Context, mailbox: &Mailbox, number: u64, text: Rc<str>) -> Result<(), Undelivered> {
    let letter = Letter { number, from: sender.agent.clone(), content: Content::Message { text } };
    mailbox.put(&letter, &sender.abort).await
}

/// What a teammate does after an answer.
pub(super) enum Next {
    /// It goes on with these messages.
    Turn(Vec<Rc<Entry>>),
    /// It ends.
    End,
    /// It was stopped.
    Stopped,
}

/// Waits for the next turn of a teammate, whose last one has `ended`. Other agents have none.
pub(super) async fn next_turn(context: &Context, ended: &Ended) -> Next {
    let Some(member) = &context.teammate else { return Next::End };
    let session = &context.session;
    let (Some(task), false) = (session.tasks.get(&context.agent), has_failed(context, ended)) else { return Next::End };
    if member.leaving.is_given() {
        return Next::End;
    }
    let (leader, _) = session.team.leader();
    let idle = letter_of(session, &context.agent, Content::Idle { text: last_text(context) });
    _ = leader.put(&idle, &context.abort).await;
    loop {
        let (posted, queued) = (task.posted(), session.queue.changed());
        if context.abort.is_given() {
            session.tasks.set_idle(&task, false);
            return Next::Stopped;
        }
        let entries = arrived(context, &task);
        if !entries.is_empty() {
            session.tasks.set_idle(&task, false);
            return Next::Turn(entries);
        }
        if member.leaving.is_given() {
            session.tasks.set_idle(&task, false);
            return Next::End;
        }
        session.tasks.set_idle(&task, true);
        let _waiting = session.handle.waiting_for("a message of its team");
        crate::select! {
            () = context.abort.given() => {}
            () = member.leaving.given() => {}
            () = posted => {}
            () = queued => {}
        }
    }
}

/// Messages and notifications of its own background tasks that have come for it.
fn arrived(context: &Context, task: &Task) -> Vec<Rc<Entry>> {
    let session = &context.session;
    let entry = |text: &str| Entry::user(session.ids.next("msg"), text, Nature::Inserted);
    let mut entries: Vec<Rc<Entry>> =
        session.queue.take_for(&context.agent).iter().map(|item| entry(&item.text)).collect();
    for message in task.take_messages() {
        entries.push(entry(&message.shown()));
        context.delivered(Some(message.number));
    }
    entries
}

/// Whether the turn ended in an error, which ends a teammate (SWARM-13), or was stopped.
fn has_failed(context: &Context, ended: &Ended) -> bool {
    let is_error = || context.entries.borrow().last().is_some_and(|entry| entry.nature == Nature::ApiError);
    matches!(ended.reason, Reason::Aborted | Reason::ModelError) || is_error()
}

fn last_text(context: &Context) -> Rc<str> {
    let entries = context.entries.borrow();
    entries
        .iter()
        .rev()
        .find(|entry| entry.nature == Nature::Said)
        .map_or_else(|| "".into(), |entry| entry.text.clone())
}

/// A teammate has ended: its mailbox closes, and those who wrote to it get a reason.
pub(super) fn close(waiter: &Waiter, verdict: &Verdict) {
    let Some(member) = &waiter.run.context.teammate else { return };
    for letter in waiter.session.team.leave(member, verdict.state().name()) {
        if let Content::Message { text } = letter.content {
            let message = Message { number: letter.number, from: letter.from, text };
            waiter.session.notifications.message_returned(&waiter.task, &message);
        }
    }
}

/// Tells the leader that a teammate failed or was stopped. One that the session sent home needs no report.
pub(super) async fn report(waiter: &Waiter, verdict: &Verdict, told: &Details) {
    if *verdict == Verdict::Done {
        return;
    }
    let text = told.error.clone().or_else(|| told.result.clone()).unwrap_or_else(|| "".into());
    let (leader, _) = waiter.session.team.leader();
    let content = Content::Left { state: verdict.state().name().into(), text };
    let letter = letter_of(&waiter.session, &waiter.task.id, content);
    _ = leader.put(&letter, &Abort::default()).await;
}
