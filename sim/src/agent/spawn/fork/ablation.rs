//! Breaks one principle of cache sharing at a time, to measure its value (contract CACHE-22..28, CACHE-33).

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::Value;

use super::Ablation;
use crate::agent::session::Context;
use crate::agent::session::Pool;
use crate::wire::Piece;

/// The child's system prompt.
pub(super) fn system(ablations: &BTreeSet<Ablation>, parent: &Rc<[Piece]>) -> Rc<[Piece]> {
    if !ablations.contains(&Ablation::AddedSpace) {
        return parent.clone();
    }
    let last = parent.len().saturating_sub(1);
    let with_space =
        |(index, piece): (usize, &Piece)| if index == last { reworded(piece, "text", " ") } else { piece.clone() };
    parent.iter().enumerate().map(with_space).collect()
}

/// The child's tools.
pub(super) fn pool(ablations: &BTreeSet<Ablation>, parent: &Context, agent: &Rc<str>, pool: &Rc<Pool>) -> Rc<Pool> {
    if ablations.contains(&Ablation::FilterTools) {
        return Pool::named(&parent.session, agent, &super::definition(), true);
    }
    let is_kept = |name: &str| !ablations.contains(&Ablation::DropAgent) || name != "Agent";
    let mut pairs: Vec<_> =
        pool.tools.iter().cloned().zip(pool.pieces.iter().cloned()).filter(|(tool, _)| is_kept(tool.name())).collect();
    if ablations.contains(&Ablation::ReorderTools) && pairs.len() > 1 {
        pairs.swap(0, 1);
    }
    if ablations.contains(&Ablation::ModeInTools)
        && let Some((_, piece)) = pairs.first_mut()
    {
        *piece = reworded(piece, "description", " Permission requests go to your parent's terminal.");
    }
    let same = pairs.len() == pool.pieces.len()
        && pairs.iter().zip(pool.pieces.iter()).all(|((_, one), other)| one.same(other));
    if same {
        return pool.clone();
    }
    let (tools, pieces): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    Rc::new(Pool { tools, pieces: pieces.into(), dropped: pool.dropped.clone() })
}

/// The child's model, as spelled.
pub(super) fn model(ablations: &BTreeSet<Ablation>, parent: &Context, model: &Rc<str>) -> Rc<str> {
    let names = &parent.session.settings.model_names;
    match ablations.contains(&Ablation::OtherModel) {
        true if *model == names.sonnet => names.opus.clone(),
        true => names.sonnet.clone(),
        false => model.clone(),
    }
}

/// The child's `thinking` parameter.
pub(super) fn thinking(ablations: &BTreeSet<Ablation>, parent: &Context) -> Option<Rc<str>> {
    let other = "{\"type\":\"enabled\",\"budget_tokens\":2048}";
    if ablations.contains(&Ablation::OtherThinking) { Some(other.into()) } else { parent.thinking.clone() }
}

/// A piece with `more` appended to its text `field`, at the declared size of the old one.
fn reworded(piece: &Piece, field: &str, more: &str) -> Piece {
    let Ok(mut block) = serde_json::from_str::<Value>(piece.json()) else { return piece.clone() };
    if let Some(Value::String(text)) = block.get_mut(field) {
        text.push_str(more);
    }
    let new = Piece::new(block.to_string());
    match piece.declared_tokens() {
        Some(tokens) => new.sized(tokens),
        None => new,
    }
}
