//! The prompt-cache emulator, tested against a slow twin in random conversations, and against a corpus of cases from
//! documents, recordings and issues.

mod corpus;
mod losses;
mod notation;
mod pair;
mod passes;
mod plan;
mod play;
mod properties;
mod script;
mod switches;
mod twin;
