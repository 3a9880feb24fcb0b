//! Renders a system prompt (PROMPT-01..05, CTX-07, CTX-12).
//!
//! The prompt has two blocks, like those of the client of 2026 (`clients.md` 1): a line of identity, and the rest.
//! Blocks with unchanged bytes stay the same pieces, so they are not read twice.

use std::rc::Rc;

use super::DIVIDER;
use super::sections::{self, CLOSING, IDENTITY, STABLE, Section, coordinator};
use crate::agent::definition::AgentDefinition;
use crate::agent::event::Event;
use crate::agent::session::Context;
use crate::agent::session::context::Rendering;
use crate::agent::settings::{gate, shared_out};
use crate::wire::Piece;

/// Renders the system prompt of `context`, for the main agent or a definition. The result is stored in `context.system`
/// and passed on by value. Not pure: flags can flip between two renderings (PROMPT-05). Every rendering is reported as
/// an event.
pub fn render_system(context: &Context) -> Rc<[Piece]> {
    let mut rendered = context.rendered.borrow_mut();
    let is_known = rendered.as_ref().is_some_and(|made| holds(made, context));
    let mut changed = false;
    if !is_known {
        let made = make(context);
        changed = replace(context, rendered.as_deref(), &made);
        *rendered = Some(Box::new(made));
    }
    if let Some(made) = &*rendered {
        let bytes = made.texts.iter().map(String::len).sum();
        context.session.scoped.note_rendering(&context.agent);
        context.emit(&Event::PromptRendered {
            agent: context.agent.clone(),
            sections: made.sections.clone(),
            bytes,
            warm_flags: made.warm_flags.clone(),
            changed,
        });
    }
    context.system.borrow().clone()
}

/// Whether all inputs that can change are unchanged.
fn holds(made: &Rendering, context: &Context) -> bool {
    let session = &context.session;
    let same = [made.flags, made.servers] == [session.flags.revision(), session.servers.revision()];
    same && made.cwd == *context.cwd.borrow()
}

/// Replaces the pieces whose bytes changed; returns whether any changed since an earlier rendering.
fn replace(context: &Context, old: Option<&Rendering>, new: &Rendering) -> bool {
    let old_texts = old.map_or(&[][..], |made| &made.texts);
    if old.is_some() && old_texts == new.texts {
        return false;
    }
    let old_pieces = context.system.borrow().clone();
    let tokens = sizes(context, &new.texts);
    let pieces = new.texts.iter().enumerate().map(|(index, text)| {
        let piece = old_pieces.get(index).filter(|_| old_texts.get(index) == Some(text));
        let tokens = tokens.as_ref().and_then(|tokens| tokens.get(index).copied());
        match (piece, tokens) {
            (Some(piece), tokens) if piece.declared_tokens() == tokens => piece.clone(),
            (_, Some(tokens)) => Piece::text(text).sized(tokens),
            (_, None) => Piece::text(text),
        }
    });
    let pieces: Rc<[Piece]> = pieces.collect();
    *context.system.borrow_mut() = pieces;
    old.is_some()
}

/// The declared sizes of a prompt's blocks, if the scenario declares them.
fn sizes(context: &Context, texts: &[String]) -> Option<Vec<u64>> {
    let settings = &context.session.settings;
    let owner = owner(context);
    let total = match (&owner.parent, settings.prefixes.get(&owner.agent_type())) {
        (None, _) => settings.sizes?.system?,
        (Some(_), Some(own)) => own.system,
        (Some(_), None) => settings.sizes?.agents?.system,
    };
    let weights: Vec<u64> = texts.iter().map(|text| text.len() as u64).collect();
    Some(shared_out(total, &weights))
}

/// The agent whose prompt this is: a fork that renders at all renders its parent's (CACHE-19).
fn owner(context: &Context) -> &Context {
    context.parent.as_deref().filter(|_| context.fork.is_some()).unwrap_or(context)
}

fn make(context: &Context) -> Rendering {
    let session = &context.session;
    let context = owner(context);
    let (texts, sections) = match (&context.definition, &session.settings.system) {
        (Some(definition), _) => blocks(IDENTITY, &of_definition(context, definition)),
        (None, Some(own)) => (own.iter().map(ToString::to_string).collect(), vec!["own"; own.len()]),
        (None, None) => blocks(IDENTITY, &of_main(context)),
    };
    Rendering {
        flags: session.flags.revision(),
        servers: session.servers.revision(),
        cwd: context.cwd.borrow().clone(),
        texts,
        sections: sections.into(),
        warm_flags: session.flags.warm().into(),
    }
}

/// The two blocks, and the names of their parts.
fn blocks(identity: &str, parts: &[Section]) -> (Vec<String>, Vec<&'static str>) {
    let names = std::iter::once("identity").chain(parts.iter().map(|part| part.name)).collect();
    let texts: Vec<&str> = parts.iter().map(|part| part.text.as_ref()).collect();
    (vec![identity.to_owned(), texts.join("\n\n")], names)
}

/// The parts of the main prompt after the identity (PROMPT-01). Those of a coordinator replace the stable ones and the
/// guidance (contract COORD-01).
fn of_main(context: &Context) -> Vec<Section> {
    let session = &context.session;
    let fragments = |before_divider: bool| {
        let all = session.settings.fragments.iter().filter(move |fragment| fragment.before_divider == before_divider);
        let warm = all.filter(|fragment| session.flags.is_on(&fragment.flag));
        warm.map(|fragment| Section::of("fragment", fragment.text.to_string())).collect::<Vec<_>>()
    };
    let mut parts: Vec<Section> = match session.settings.is_coordinator() {
        true => coordinator::parts(),
        false => STABLE.into(),
    };
    parts.extend(fragments(true));
    parts.push(Section::fixed("divider", DIVIDER));
    parts.push(sections::environment(context));
    parts.extend(sections::servers(session));
    parts.extend(sections::skills(session));
    if !session.settings.is_coordinator() {
        parts.push(sections::guidance(gate::offer(&session.settings)));
    }
    parts.extend(fragments(false));
    parts.push(Section::fixed("closing", CLOSING));
    parts
}

/// The parts of a sub-agent's prompt after the identity: its own text, its memory (CTX-12), then the notes for all
/// sub-agents.
fn of_definition(context: &Context, definition: &AgentDefinition) -> Vec<Section> {
    let own = Section::of("definition", definition.prompt.to_string());
    let memory = context.memory_text().map(|text| Section::of("memory", text));
    let notes = [sections::notes(), sections::environment(context)];
    std::iter::once(own).chain(memory).chain(notes).collect()
}
