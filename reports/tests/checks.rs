//! The findings of a check in every output format: complete, valid, and without text of the prompts.

mod captures;
mod folded;
mod junit;
mod output;
mod sarif;
mod silence;
