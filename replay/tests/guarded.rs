//! Everything that can be checked: folders of bodies, recordings, transcripts, and other input.

mod bodies;
mod broken;
mod dialects;
mod locked;
mod openai;
mod others;
mod real;
mod recordings;
mod stage;
mod tails;
mod thinking;
mod traces;
mod transcripts;
