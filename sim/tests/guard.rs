//! The prefix guard: what breaks a prefix, what does not, and what is reported.

mod assertions;
mod breakpoints;
mod budget;
mod chains;
mod clock;
mod conversation;
mod refused;
mod replaced;
mod retold;
mod rules;
mod stability;
mod traps;
mod twin;
mod uncached;
