//! The prefix guard: changes that break a prefix, changes that do not, and reports.

mod alike;
mod assertions;
mod breakpoints;
mod budget;
mod chains;
mod clock;
mod conversation;
mod healthy;
mod refused;
mod replaced;
mod retold;
mod rules;
mod stability;
mod thinking;
mod traps;
mod twin;
mod uncached;
