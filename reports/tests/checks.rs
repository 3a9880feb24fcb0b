//! What a check found, in every form that it is told in: whole, valid, and without a word of the prompts.

mod captures;
mod folded;
mod junit;
mod sarif;
mod silence;
mod told;
