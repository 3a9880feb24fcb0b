//! Messages to other agents: running ones get them at their next loop boundary, ended ones are continued (contract MSG,
//! DIAG-02).

use std::rc::Rc;

use serde_json::Value;

use super::fields::{self, Field, Kind};
use super::{Call, Definition, Effect, Outcome, Running, Tool, ToolError};
use crate::agent::event::Event;
use crate::agent::session::Remains;
use crate::agent::session::Session;
use crate::agent::spawn::resume::resume;
use crate::agent::spawn::teammate;
use crate::agent::task::{Kind as TaskKind, Message, State, Task};
use crate::agent::team::{LEADER, Mailbox};

/// Sends a message to an agent.
#[derive(Clone, Copy, Debug)]
pub struct SendMessage;

/// Address of all teammates (MSG-05).
const ALL: &str = "*";

/// Beginnings of addresses in other sessions (MSG-14).
const OTHER_SESSIONS: [&str; 2] = ["bridge:", "uds:"];

static FIELDS: [Field; 3] = [
    Field::required("to", Kind::Text, "The agent: the name it was given, or the id that its launch returned."),
    Field::required("message", Kind::TextOrObject, "The message."),
    Field::optional("summary", Kind::Text, "The message in a few words, for the user; required for a text."),
];

/// Why a message is not accepted.
struct Refusal {
    /// Its word in logs.
    why: &'static str,
    /// The text for the model.
    words: String,
}

impl Refusal {
    fn new(why: &'static str, words: impl Into<String>) -> Self {
        Self { why, words: words.into() }
    }
}

/// The receiver of a message.
enum Receiver {
    Running(Rc<Task>),
    Mailbox(Rc<Mailbox>),
    Ended(Rc<Remains>),
}

impl Tool for SendMessage {
    fn name(&self) -> &str {
        "SendMessage"
    }

    fn definition(&self, _: &Session) -> Definition {
        Definition {
            description:
                "Sends a message to an agent that was launched before. A running agent reads it before its next \
                          request; an agent that has ended goes on in the background, with all it knew."
                    .into(),
            input_schema: fields::schema(&FIELDS),
        }
    }

    fn effect(&self, _input: &Value) -> Effect {
        Effect::Session
    }

    fn call(&self, call: Call) -> Running<'_> {
        Box::pin(async move {
            let input = fields::checked("SendMessage", &FIELDS, &call.tool_use.input)?;
            let (to, text) = (input.text("to"), text(input.json("message")));
            let is_plain = input.json("message").is_some_and(Value::is_string);
            let summary = input.text("summary").trim();
            if let Err(refusal) = admitted(to, is_plain, summary) {
                return Err(refuse(&call, to, refusal));
            }
            if to == ALL {
                return broadcast(&call, text).await;
            }
            let id = call.context.session.tasks.names.get(to).unwrap_or_else(|| to.into());
            match receiver(&call, &id).await? {
                Ok(Receiver::Running(task)) => Ok(post(&call, &task, text)),
                Ok(Receiver::Mailbox(mailbox)) => write(&call, &mailbox, text).await,
                Ok(Receiver::Ended(remains)) => go_on(&call, &id, &remains, text).await,
                Err(refusal) => Err(refuse(&call, to, refusal)),
            }
        })
    }
}

/// The text of a message; a structured one is sent as JSON.
fn text(message: Option<&Value>) -> Rc<str> {
    message
        .map_or_else(String::new, |message| message.as_str().map_or_else(|| message.to_string(), str::to_owned))
        .into()
}

/// Rules on the form of a message (MSG-02, MSG-05, MSG-06, MSG-14).
fn admitted(to: &str, is_plain: bool, summary: &str) -> Result<(), Refusal> {
    if is_plain && summary.is_empty() {
        return Err(Refusal::new("no_summary", "a text needs a `summary`"));
    }
    if to == ALL && !is_plain {
        return Err(Refusal::new("structured_broadcast", "a structured message goes to one agent, never to all"));
    }
    if OTHER_SESSIONS.iter().any(|prefix| to.starts_with(prefix)) {
        return Err(match is_plain {
            true => Refusal::new("not_connected", format!("there is no connection to `{to}`")),
            false => Refusal::new("structured_to_session", "another session takes texts only"),
        });
    }
    Ok(())
}

/// The receiver `id`, once the run that has ended is cleaned up.
async fn receiver(call: &Call, id: &Rc<str>) -> Result<Result<Receiver, Refusal>, ToolError> {
    let session = &call.context.session;
    loop {
        let task = session.tasks.get(id);
        match &task {
            _ if *id == call.context.agent => return Ok(Err(Refusal::new("own_id", "that is your own id"))),
            None if call.context.member().is_some() && **id == *LEADER => {
                return Ok(Ok(Receiver::Mailbox(session.team.leader().0)));
            }
            Some(task) if task.kind == TaskKind::Teammate => {
                let open = session.team.get(id).filter(|member| member.mailbox.is_open());
                let gone =
                    || Refusal::new("left_team", format!("teammate `{id}` has left: it is {}", task.state().name()));
                return Ok(open.map(|member| Receiver::Mailbox(member.mailbox.clone())).ok_or_else(gone));
            }
            Some(task) if task.kind != TaskKind::Agent => {
                return Ok(Err(Refusal::new("no_agent", format!("`{id}` is a {}, not an agent", task.kind.name()))));
            }
            Some(task) if task.state() == State::Running => return Ok(Ok(Receiver::Running(task.clone()))),
            Some(task) if task.is_background() && !task.is_settled() => {
                crate::select! {
                    () = call.abort.given() => return Err(ToolError::Aborted),
                    () = session.tasks.settled(task) => {}
                }
            }
            Some(_) | None => {
                let remains = session.kept.get(id).filter(|_| session.transcripts.has(id));
                return Ok(remains.map(Receiver::Ended).ok_or_else(|| unknown(id)));
            }
        }
    }
}

fn unknown(id: &str) -> Refusal {
    Refusal::new("no_target", format!("there is no agent `{id}`, and no transcript to continue it from"))
}

fn post(call: &Call, task: &Rc<Task>, text: Rc<str>) -> Outcome {
    let message = message(call, text);
    sent(call, &message, &task.id, "queued");
    task.post(message);
    Outcome::done(format!("Agent {} reads the message before its next request.", task.id))
}

/// Writes to a teammate or to the leader, who reads it at the next poll; waits while the mailbox is full (SWARM-15).
async fn write(call: &Call, mailbox: &Mailbox, text: Rc<str>) -> Result<Outcome, ToolError> {
    let context = &call.context;
    let message = message(call, text);
    sent(call, &message, &mailbox.owner, "mailbox");
    match teammate::post(context, mailbox, message.number, message.text).await {
        Ok(()) => Ok(Outcome::done(format!("{} reads the message at its next poll.", mailbox.owner))),
        Err(why) => {
            let (agent, why) = (mailbox.owner.clone(), why.why());
            context.emit(&Event::MessageReturned { agent, message: message.number, why });
            Err(ToolError::failed(format!("SendMessage: {} did not get the message: {why}.", mailbox.owner)))
        }
    }
}

/// Writes to every teammate (MSG-05).
async fn broadcast(call: &Call, text: Rc<str>) -> Result<Outcome, ToolError> {
    let others = call.context.session.team.others(&call.context.agent);
    if others.is_empty() {
        return Err(refuse(call, ALL, Refusal::new("no_team", "there are no teammates to send it to")));
    }
    let mut told = Vec::new();
    for member in &others {
        told.push(
            write(call, &member.mailbox, text.clone())
                .await
                .map_or_else(|error| error.to_string(), |done| done.content.to_string()),
        );
    }
    Ok(Outcome::done(told.join("\n")))
}

/// Continues an agent that has ended; the message is the first that its second run reads.
async fn go_on(call: &Call, id: &Rc<str>, remains: &Remains, text: Rc<str>) -> Result<Outcome, ToolError> {
    let message = message(call, text);
    sent(call, &message, id, "resumed");
    let outcome = resume(call, id, remains, &message.shown().into()).await;
    let (agent, number) = (id.clone(), message.number);
    call.context.emit(&match &outcome {
        Ok(_) => Event::MessageDelivered { agent, message: number },
        Err(_) => Event::MessageReturned { agent, message: number, why: "unreadable" },
    });
    outcome
}

fn message(call: &Call, text: Rc<str>) -> Message {
    Message { number: call.context.session.ids.number(), from: call.context.agent.clone(), text }
}

fn sent(call: &Call, message: &Message, to: &Rc<str>, how: &'static str) {
    call.context.emit(&Event::MessageSent {
        agent: call.context.agent.clone(),
        tool_use: call.tool_use.id.clone(),
        message: message.number,
        to: to.clone(),
        how,
    });
}

/// Reports what is known of the receiver (DIAG-02).
fn refuse(call: &Call, to: &str, refusal: Refusal) -> ToolError {
    let Refusal { why, words } = refusal;
    let session = &call.context.session;
    let named = session.tasks.names.get(to);
    let id = named.as_deref().unwrap_or(to);
    call.context.emit(&Event::MessageRefused {
        agent: call.context.agent.clone(),
        tool_use: call.tool_use.id.clone(),
        why,
        registered: named.is_some(),
        task: session.tasks.get(id).is_some(),
        transcript: session.transcripts.has(id),
    });
    ToolError::failed(format!("SendMessage: {words}."))
}
