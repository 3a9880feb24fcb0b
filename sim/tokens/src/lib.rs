//! Token counting.
//!
//! * [`vocabulary`]: exact counts for OpenAI's two public vocabularies.
//! * [`class`]: the class of a text, as far as tokenizers differ in it.
//! * [`content`]: splits blocks into texts, images, documents and tools.
//! * [`chat`]: framing tokens of OpenAI's chat format.
//! * [`image`], [`pdf`], [`tools`]: tokens that follow from a provider's rule.
//! * [`factors`]: the calibrated estimate for Claude, whose vocabularies are unpublished.
//! * [`counter`]: selects the rule for a model; implements `forkcast_sim::wire::TokenCounter`.

pub mod chat;
pub mod class;
pub mod content;
pub mod counter;
pub mod factors;
pub mod image;
pub mod pdf;
pub mod tools;
pub mod vocabulary;

pub use class::Class;
pub use content::{Makeup, is_outside, makeup};
pub use counter::{Counter, Quality};
pub use factors::{BUILT_IN, Factors, Generation, Residual};
pub use vocabulary::Vocabulary;
