//! Handles items of the main thread (contract INPUT-01..07, INPUT-09, LOOP-16, NOTIFY-12).

use std::rc::Rc;

use serde_json::json;

use super::command;
use crate::agent::definition::Skill;
use crate::agent::entry::{Entry, Nature, ToolUse};
use crate::agent::event::Event;
use crate::agent::query::{self, Ended, Reason, Step, Yielded};
use crate::agent::queue::{Item, Mode};
use crate::agent::session::{Call, Command, Context, Session, Tool};
use crate::agent::spawn::{callers, remote, slash};

/// Whether an item can share a turn with others of its kind: prompts without a command, and notifications. Two waiting
/// notifications reach the model in one message (`clients.md` 1, client 2.1.330).
pub fn joins(session: &Session, item: &Item) -> bool {
    match item.mode {
        Mode::Prompt => item.is_hidden || find_command(session, &item.text).is_none(),
        Mode::TaskNotification => true,
        Mode::Bash | Mode::OrphanedPermission => false,
    }
}

/// Serves items that were taken together: adds them to the main conversation and runs the loop if any of them needs an
/// answer.
pub async fn serve(main: &Rc<Context>, items: Vec<Item>) {
    let session = Rc::clone(&main.session);
    let _active = session.front.begin(&session, &main.abort);
    session.helpers.stop_guessing();
    session.front.take_rewritings(false).iter().for_each(|rewriting| main.rewrite(rewriting));
    let mut asks = false;
    for item in items {
        asks |= submit(main, item).await;
    }
    if asks {
        step(&session, "query", "");
        if run(main).await.reason == Reason::Completed {
            callers::after_turn(main);
        }
    }
}

/// Accepts one item (`submitMessage()`); returns whether the model must answer it.
async fn submit(main: &Rc<Context>, item: Item) -> bool {
    step(&main.session, "submit", item.mode.name());
    match item.mode {
        Mode::Prompt if item.is_hidden => {
            step(&main.session, "process", "hidden");
            append(main, &item.text, Nature::Inserted);
            true
        }
        Mode::Prompt => prompt(main, &item.text).await,
        Mode::Bash => {
            step(&main.session, "process", "bash");
            run_line(main, &item.text).await;
            false
        }
        Mode::TaskNotification | Mode::OrphanedPermission => {
            step(&main.session, "process", item.mode.name());
            append(main, &item.text, Nature::Inserted);
            main.delivered(item.message);
            true
        }
    }
}

/// Handles a prompt: its command first, then the remaining text (INPUT-06), unless a skill takes it as arguments.
async fn prompt(main: &Rc<Context>, text: &str) -> bool {
    let Some((name, handler, rest)) = find_command(&main.session, text) else {
        step(&main.session, "process", "text");
        return ask(main, text).await;
    };
    step(&main.session, "process", "command");
    let at = |step| Event::Command { name: Rc::clone(&name), step };
    main.emit(&at("start"));
    let output = match &handler {
        Handler::Skill(skill) => call_skill(main, skill, &rest).await,
        Handler::Remote => remote::command(main, &name, &rest),
        Handler::Command(command) => crate::select! {
            output = command.run(main) => output,
            () = main.abort.given() => "The user interrupted this command.".into(),
        },
    };
    main.emit(&at("end"));
    if !output.is_empty() {
        append(main, &format!("<local-command-stdout>{output}</local-command-stdout>"), Nature::Inserted);
    }
    match handler {
        Handler::Skill(skill) => !skill.is_fork(),
        Handler::Remote => false,
        // Control returns to the loop (INPUT-07); without remaining text there is no question.
        Handler::Command(_) if rest.is_empty() || main.abort.is_given() => false,
        Handler::Command(_) => ask(main, &rest).await,
    }
}

/// Calls a skill: it runs as an agent whose text is the output, or becomes a prompt (SLASH-01).
async fn call_skill(main: &Rc<Context>, skill: &Skill, arguments: &str) -> Rc<str> {
    main.emit(&Event::SlashContext {
        skill: skill.name.clone(),
        frontmatter: skill.context.clone(),
        context: if skill.is_fork() { "fork" } else { "inline" },
    });
    if skill.is_fork() {
        return slash::execute(main, skill, arguments).await;
    }
    let text = format!("<command-name>/{}</command-name>\n{}", skill.name, skill.called(arguments));
    append(main, &text, Nature::Inserted);
    "".into()
}

/// Passes a prompt to the hooks and appends it (INPUT-03).
async fn ask(main: &Rc<Context>, text: &str) -> bool {
    let verdict = main.session.hooks.user_prompt_submit(main).await;
    if verdict.is_prevented {
        ui(main, "prompt_prevented");
        return false;
    }
    append(main, text, Nature::Typed);
    for added in verdict.added {
        let words = format!("<user-prompt-submit-hook>{added}</user-prompt-submit-hook>");
        append(main, &words, Nature::Inserted);
    }
    true
}

/// Runs a line in the session's shell; line and output are added to the conversation (INPUT-09).
async fn run_line(main: &Rc<Context>, command: &str) {
    append(main, &format!("<bash-input>{command}</bash-input>"), Nature::Typed);
    let shell = main.session.tools.get("Bash").cloned();
    let output = match shell {
        None => "This session has no shell.".into(),
        Some(shell) => call_shell(main, &*shell, command).await,
    };
    append(main, &format!("<bash-stdout>{output}</bash-stdout>"), Nature::Inserted);
}

async fn call_shell(main: &Rc<Context>, shell: &dyn Tool, command: &str) -> Rc<str> {
    let id = main.session.ids.next("line");
    let input = Rc::new(json!({ "command": command }));
    let tool_use = ToolUse { id, name: "Bash".into(), input };
    let call = Call { tool_use, context: Rc::clone(main), abort: main.abort.clone(), message: None };
    crate::select! {
        outcome = shell.call(call) => outcome.map_or_else(|error| error.to_string().into(), |outcome| outcome.content.text()),
        () = main.abort.given() => "stopped".into(),
    }
}

/// Runs the loop; its output is shown and recorded (LOOP-16).
async fn run(main: &Rc<Context>) -> Ended {
    let mut query = query::query(Rc::clone(main));
    loop {
        match query.next().await {
            Step::Ended(ended) => return ended,
            Step::Yielded(Yielded::Stream(event)) => ui(main, event.name()),
            Step::Yielded(Yielded::Tombstone(uuid)) => {
                ui(main, "tombstone");
                main.strike(&uuid);
            }
            Step::Yielded(Yielded::Entry(entry)) => {
                ui(main, entry.nature.name());
                main.record(&entry);
            }
        }
    }
}

fn append(main: &Rc<Context>, text: &str, nature: Nature) {
    step(&main.session, "append", nature.name());
    let entry = Entry::user(main.session.ids.next("msg"), text, nature);
    main.entries.borrow_mut().push(Rc::clone(&entry));
    main.record(&entry);
}

/// What a slash command does.
enum Handler {
    Command(Rc<dyn Command>),
    Skill(Rc<Skill>),
    Remote,
}

fn find_command(session: &Session, text: &str) -> Option<(Rc<str>, Handler, String)> {
    let (name, rest) = command::split(text)?;
    let skill = || session.skills.find(name, "main").map(|(skill, _)| Handler::Skill(skill));
    let is_remote = || session.settings.internal_build && remote::COMMANDS.contains(&name);
    let remote = || is_remote().then_some(Handler::Remote);
    let handler = session.front.command(name).map(Handler::Command).or_else(skill).or_else(remote)?;
    Some((name.into(), handler, rest.to_owned()))
}

fn step(session: &Session, step: &'static str, form: &'static str) {
    session.emit(&Event::Input { step, form });
}

fn ui(main: &Context, kind: &'static str) {
    main.emit(&Event::Ui { agent: Rc::clone(&main.agent), kind });
}
