//! Blocks of a message, as far as an entry repeats them.

use serde::Deserialize;
use serde_json::Value;

use crate::wire::Piece;

/// The fields of a block that an entry repeats.
#[derive(Deserialize)]
pub struct Block {
    r#type: String,
    #[serde(default)]
    pub text: Option<String>,
    #[serde(default)]
    pub id: Option<String>,
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default)]
    pub input: Option<Value>,
    #[serde(default)]
    pub tool_use_id: Option<String>,
}

impl Block {
    /// The block in `piece`, if it is of this kind. A search of the bytes avoids parsing most blocks.
    pub fn of(piece: &Piece, kind: &str) -> Option<Self> {
        if !piece.json().contains(kind) {
            return None;
        }
        let block: Self = serde_json::from_str(piece.json()).ok()?;
        (block.r#type == kind).then_some(block)
    }
}
