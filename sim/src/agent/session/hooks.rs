//! Runs hooks at their moments, one after another in order of registration.

use std::rc::Rc;

use super::Context;
use crate::agent::entry::ToolUse;
use crate::agent::hook::{Hooks, Moment, PromptVerdict, Registered, StopVerdict, Word};
use crate::agent::queue::Item;

impl Hooks {
    /// Runs the stop hooks that act in `context`. After a prevention, later hooks do not run.
    pub async fn stop(&self, context: &Rc<Context>) -> StopVerdict {
        let mut verdict = StopVerdict::default();
        for hook in self.at(&context.agent, Moment::Stop, &context.agent_type()) {
            match self.ask(context, &hook).await {
                Word::PreventContinuation => {
                    verdict.prevent_continuation = true;
                    break;
                }
                Word::BlockingError(error) => verdict.blocking_errors.push(error),
                Word::Nothing | Word::AddText(_) | Word::BlockTool(_) => {}
            }
        }
        verdict
    }

    /// Runs the hooks before a sub-agent starts; returns the texts they add to its first message.
    pub async fn subagent_start(&self, context: &Rc<Context>) -> Vec<Rc<str>> {
        let mut added = Vec::new();
        for hook in self.at(&context.agent, Moment::SubagentStart, &context.agent_type()) {
            if let Word::AddText(text) = self.ask(context, &hook).await {
                added.push(text);
            }
        }
        added
    }

    /// Runs the hooks for a user's prompt.
    pub async fn user_prompt_submit(&self, context: &Rc<Context>) -> PromptVerdict {
        let mut verdict = PromptVerdict::default();
        for hook in self.at(&context.agent, Moment::UserPromptSubmit, &context.agent_type()) {
            match self.ask(context, &hook).await {
                Word::PreventContinuation => verdict.is_prevented = true,
                Word::AddText(text) | Word::BlockingError(text) => verdict.added.push(text),
                Word::Nothing | Word::BlockTool(_) => {}
            }
        }
        verdict
    }

    /// Runs the hooks before a call; returns the reason if one blocks it.
    pub async fn pre_tool_use(&self, context: &Rc<Context>, tool_use: &ToolUse) -> Option<Rc<str>> {
        for hook in self.at(&context.agent, Moment::PreToolUse, &tool_use.name) {
            if let Word::BlockTool(why) | Word::BlockingError(why) = self.ask(context, &hook).await {
                return Some(why);
            }
        }
        None
    }

    /// Runs the hooks after a call; returns their texts for the model.
    pub async fn post_tool_use(&self, context: &Rc<Context>, tool_use: &ToolUse) -> Vec<Rc<str>> {
        let mut added = Vec::new();
        for hook in self.at(&context.agent, Moment::PostToolUse, &tool_use.name) {
            if let Word::AddText(text) | Word::BlockingError(text) = self.ask(context, &hook).await {
                added.push(text);
            }
        }
        added
    }

    /// Runs one hook. A background hook returns nothing here.
    async fn ask(&self, context: &Rc<Context>, registered: &Rc<Registered>) -> Word {
        let run = registered.runs.replace(registered.runs.get() + 1);
        if registered.hook.in_background {
            self.send_behind(context, registered, run);
            return Word::Nothing;
        }
        say(context, registered, run).await
    }

    /// Runs a hook in the background: its blocking error enters the queue and wakes an idle model (STOP-10, QUEUE-11).
    fn send_behind(&self, context: &Rc<Context>, registered: &Rc<Registered>, run: usize) {
        self.in_background.set(self.in_background.get() + 1);
        let context = Rc::clone(context);
        let registered = Rc::clone(registered);
        let handle = context.session.handle.clone();
        handle.spawn(format!("hook {}", registered.hook.name), async move {
            let word = say(&context, &registered, run).await;
            let session = &context.session;
            let running = session.hooks.in_background.get();
            session.hooks.in_background.set(running - 1);
            if let Word::BlockingError(text) = word {
                let agent = context.own_id();
                session.queue.enqueue(Item::notification(agent, &text, "hook"));
            }
            session.queue.wake();
        });
    }
}

async fn say(context: &Context, registered: &Registered, run: usize) -> Word {
    let says = registered.hook.script.get(run);
    if let Some(says) = says {
        context.session.handle.sleep(says.after).await;
    }
    let word = says.map_or(Word::Nothing, |says| says.word.clone());
    registered.hook.note(&context.session, &context.agent, word.name());
    word
}
