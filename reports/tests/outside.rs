//! What comes from outside: no content in what complains about it, no name that moves a cursor or becomes a link.

mod content;
mod forms;
mod hostile;
mod planted;
mod scenarios;
