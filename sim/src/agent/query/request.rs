//! Drafts the request of an iteration (contract LOOP-03, LOOP-04, LOOP-25).

use std::rc::Rc;

use crate::agent::prompt;
use crate::agent::session::Context;
use crate::agent::settings::{Ablation, Layout};
use crate::model::Question;
use crate::wire::{Draft, Level};

/// The parameters of an agent's requests. All its requests share them, as do all forks of one message.
pub(super) fn parameters(context: &Context) -> Rc<[(String, String)]> {
    match &context.fork {
        Some(origin) => origin.parameters.get_or_init(|| made_parameters(context)).clone(),
        None => made_parameters(context),
    }
}

/// The parameters in the order of the client of 2026 (`clients.md` 1).
fn made_parameters(context: &Context) -> Rc<[(String, String)]> {
    let settings = &context.session.settings;
    let mut parameters = vec![("max_tokens".to_owned(), settings.max_tokens.to_string())];
    if let Some(thinking) = &context.thinking {
        parameters.push(("thinking".to_owned(), thinking.to_string()));
    }
    if let Some(effort) = &context.effort {
        // An effort is a level or a number (ADEF-05).
        let value = effort.parse::<u32>().map_or_else(|_| serde_json::Value::from(&**effort), Into::into);
        parameters.push(("output_config".to_owned(), format!("{{\"effort\":{value}}}")));
    }
    parameters.push(("stream".to_owned(), "true".to_owned()));
    parameters.into()
}

/// The prompt step: renders the system prompt and stores it for the request (PROMPT-05). A fork does not render: it has
/// its parent's prompt (FORK-15, CACHE-25).
pub(super) fn render(context: &Context) {
    context.refresh_tools();
    let renders_again = context.session.settings.forks.ablations.contains(&Ablation::ReRender);
    if context.fork.is_some() && !renders_again {
        return;
    }
    let system = prompt::render_system(context);
    *context.system.borrow_mut() = system;
}

/// Whether it is the first request of a conversation. A session that starts with a history continues one; a fork starts
/// a new one, although it begins with its parent's history.
fn is_first(context: &Context) -> bool {
    let goes_on = || context.entries.borrow().iter().any(|entry| entry.is_assistant());
    context.turns.get() == 0 && (context.fork.is_some() || !goes_on())
}

/// The next request.
pub(super) fn draft(context: &Context, parameters: &Rc<[(String, String)]>) -> Question {
    let settings = &context.session.settings;
    let user_context = prompt::user_context(context);
    let is_named = !context.is_main() && context.fork.is_none();
    let growth = settings.sizes.and_then(|sizes| sizes.growth_of(context.turns.get(), is_named));
    let sending = context.conversation.borrow_mut().take(&user_context, &context.entries.borrow(), growth);
    let system = Rc::clone(&context.system.borrow());
    let layout = Layout {
        system: system.len(),
        messages: &sending.messages,
        newest_results: sending.newest_results,
        is_first: is_first(context),
        is_last: !context.is_main() && settings.agent_requests == Some(u64::from(context.turns.get()) + 1),
    };
    let mut marks = settings.placement.marks(&layout, settings.ttl);
    if let Some(ttl) = settings.head_ttl {
        marks.iter_mut().filter(|mark| mark.level == Level::System).for_each(|mark| mark.ttl = ttl);
    }
    let draft = Draft {
        model: Rc::clone(&context.model),
        tools: Rc::clone(&context.pool().pieces),
        system,
        messages: sending.messages,
        parameters: Rc::clone(parameters),
        marks,
    };
    let agent = Rc::clone(&context.agent);
    let agent_type = context.agent_type();
    let task = context.own_id().and_then(|own| context.session.tasks.get(&own));
    let started_by = task.map(|task| Rc::clone(&task.tool_use));
    Question { agent, agent_type, started_by, turn: context.turns.get(), attempt: 0, draft: Rc::new(draft) }
}
