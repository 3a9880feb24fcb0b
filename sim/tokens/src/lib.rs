//! How many tokens a text is.
//!
//! * [`vocabulary`]: exact counts for the two public vocabularies of OpenAI.
//! * [`class`]: what a text is, as far as tokenizers differ in it.
//! * [`content`]: blocks taken apart into texts, images, documents and tools.
//! * [`chat`]: what stands around texts in OpenAI's chat format.
//! * [`image`], [`pdf`], [`tools`]: what is counted by a provider's rule.
//! * [`factors`]: the calibrated estimate for Claude, whose vocabularies are not published.
//! * [`counter`]: which of these counts for which model; implements `forkcast_sim::wire::TokenCounter`.

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
