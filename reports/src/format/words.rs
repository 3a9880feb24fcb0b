//! Words that several formats share.

use forkcast_scenarios::format::outline;
use forkcast_sim::diagnosis::{DIAGNOSING, Note, Volatile};
use forkcast_sim::pricing::Category;
use forkcast_sim::wire::model::Tokenizer;
use forkcast_sim::wire::{Level, Maker};

use crate::record::Shape;

/// Why tokens that were sent before were not read.
pub(crate) fn cause() -> Shape {
    Shape::from(&outline::CAUSE)
}

/// Values that vary by themselves.
pub(crate) fn volatile() -> Shape {
    Shape::named("volatile", Volatile::ALL.map(Volatile::word))
}

/// Levels of a prompt.
pub(crate) fn level() -> Shape {
    Shape::named("level", Level::ALL.map(Level::name))
}

/// What tokens are billed as.
pub(crate) fn categories() -> Shape {
    Shape::named("category", Category::ALL.map(Category::word))
}

/// How tokens are counted.
pub(crate) fn tokenizers() -> Shape {
    let all = [Tokenizer::Claude, Tokenizer::Claude47, Tokenizer::O200k, Tokenizer::Cl100k, Tokenizer::Other];
    Shape::named("tokenizer", all.map(Tokenizer::word))
}

/// Harmless differences.
pub(crate) fn notes() -> Shape {
    Shape::explained("note", Note::ALL.map(Note::word), "forkcast list notes")
}

/// Providers with a cache diagnosis of their own.
pub(crate) fn provider() -> Shape {
    Shape::named("provider", DIAGNOSING.map(Maker::word))
}
