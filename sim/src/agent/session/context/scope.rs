//! How an agent starts, and its cleanup on every path (contract CTX-07..16, SYNC-22).

use std::rc::Rc;

use super::Context;
use crate::agent::entry::{Entry, Nature, reminder};
use crate::agent::event::Event;
use crate::agent::settings::shared_out;
use crate::wire::{Piece, Role};

/// The session state that belongs to a running agent. Dropping it removes that state, however the agent ended (CTX-16):
/// by its last answer, an error, an abort, or because its loop was dropped. Each agent has at most one scope at a time:
/// a run that is taken over is dropped before its successor resumes.
#[must_use = "dropping it cleans up after the agent"]
pub struct Scope {
    context: Rc<Context>,
}

impl Context {
    /// Starts a new agent, once it is connected to its servers. Its history has only its prompt (CTX-08). The message has these blocks, with those that
    /// siblings share first: the skills of the definition (CTX-11), its initial prompt (CTX-13), texts of the hooks
    /// that run now (CTX-09), and `prompt`.
    pub async fn begin(self: &Rc<Self>, prompt: &str) -> Scope {
        let scope = self.resume();
        self.open_servers().await;
        let mut content = self.skill_pieces();
        let initial = self.definition.as_ref().and_then(|definition| definition.initial_prompt.as_ref());
        content.extend(initial.map(|text| Piece::text(text)));
        let added = self.session.hooks.subagent_start(self).await;
        content.extend(added.iter().map(|text| Piece::text(&reminder(text))));
        content.push(Piece::text(prompt));
        self.size_brief(&mut content);
        let entry = Entry::of(self.session.ids.next("entry"), Role::User, content, prompt, Nature::Typed);
        self.entries.borrow_mut().push(entry);
        scope
    }

    /// Assigns a first message its share of the declared size.
    fn size_brief(&self, content: &mut [Piece]) {
        let Some(agents) = self.session.settings.sizes.and_then(|sizes| sizes.agents) else { return };
        let weights: Vec<u64> = content.iter().map(|piece| piece.json().len() as u64).collect();
        for (piece, tokens) in content.iter_mut().zip(shared_out(agents.brief, &weights)) {
            *piece = piece.clone().sized(tokens);
        }
    }

    /// Starts an agent with an existing history (SYNC-09), to which nothing is added.
    pub fn resume(self: &Rc<Self>) -> Scope {
        if let Some(definition) = &self.definition {
            self.session.hooks.register(&self.session, &self.agent, &definition.hooks);
        }
        Scope { context: self.clone() }
    }

    /// The skills that the definition requests, as blocks of the first message.
    fn skill_pieces(&self) -> Vec<Piece> {
        let Some(definition) = &self.definition else { return Vec::new() };
        let mut pieces = Vec::new();
        for name in &definition.skills {
            let found = self.session.skills.find(name, &definition.agent_type);
            let matched = found.as_ref().map_or("none", |(_, matched)| matched.name());
            let skill = found.as_ref().map_or(name, |(skill, _)| &skill.name).clone();
            self.emit(&Event::Skill { agent: self.agent.clone(), skill, matched });
            if let Some((skill, _)) = found {
                self.session.scoped.note_skill(&self.agent, &skill.name);
                pieces.push(Piece::text(&reminder(&skill.text())));
            }
        }
        pieces
    }
}

impl Scope {
    fn step(&self, step: &'static str, work: impl FnOnce(&Context)) {
        work(&self.context);
        self.context.emit(&Event::Cleanup { agent: self.context.agent.clone(), step });
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        self.context.close_servers();
        self.step("remove_hooks", |context| context.session.hooks.remove(&context.session, &context.agent));
        self.step("clear_invoked_skills", |context| context.session.scoped.clear_invoked_skills(&context.agent));
        self.step("clear_dump_state", |context| context.session.scoped.clear_dump_state(&context.agent));
        self.step("clear_read_files", |context| context.read_files.borrow_mut().clear());
    }
}
