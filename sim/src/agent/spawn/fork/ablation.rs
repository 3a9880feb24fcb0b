//! One principle of cache sharing broken at a time, to see what it is worth (contract CACHE-22..28, CACHE-33).

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::Value;

use crate::agent::context::Context;
use crate::agent::tool::Pool;
use crate::wire::Piece;

/// A principle that is broken on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ablation {
    /// The child's system prompt is rendered anew, so a flag that flipped meanwhile shows (CACHE-19).
    ReRender,
    /// One space more in the child's system prompt (CACHE-04).
    AddedSpace,
    /// The child's tools are put together as for a named agent behind (CACHE-08).
    FilterTools,
    /// The child has no `Agent` tool (CACHE-17).
    DropAgent,
    /// Two of the child's tools stand in another order (CACHE-05).
    ReorderTools,
    /// The child's permission mode shows in the words of a tool (CACHE-21).
    ModeInTools,
    /// Only the current turn of the history is passed on (CACHE-18).
    StripHistory,
    /// Real results in the place of placeholders (CACHE-16).
    RealResults,
    /// The directive stands among the shared results (CACHE-20).
    Interleave,
    /// The child asks another model (CACHE-11).
    OtherModel,
    /// The child thinks under another setting (CACHE-12).
    OtherThinking,
    /// A named agent in the place of the fork (CACHE-13).
    NamedSpawn,
    /// Where the child's requests come from is not passed on; the scan must find it (FORK-45).
    LoseQuerySource,
}

impl Ablation {
    /// All.
    pub const ALL: [Self; 13] = [
        Self::ReRender,
        Self::AddedSpace,
        Self::FilterTools,
        Self::DropAgent,
        Self::ReorderTools,
        Self::ModeInTools,
        Self::StripHistory,
        Self::RealResults,
        Self::Interleave,
        Self::OtherModel,
        Self::OtherThinking,
        Self::NamedSpawn,
        Self::LoseQuerySource,
    ];

    /// The word in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReRender => "re-render",
            Self::AddedSpace => "added-space",
            Self::FilterTools => "filter-tools",
            Self::DropAgent => "drop-agent",
            Self::ReorderTools => "reorder-tools",
            Self::ModeInTools => "mode-in-tools",
            Self::StripHistory => "strip-history",
            Self::RealResults => "real-results",
            Self::Interleave => "interleave",
            Self::OtherModel => "other-model",
            Self::OtherThinking => "other-thinking",
            Self::NamedSpawn => "named-spawn",
            Self::LoseQuerySource => "lose-query-source",
        }
    }
}

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

/// A piece whose text `field` ends with `more`, at the declared size of the old one.
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
