//! Pictures. A new figure is one file here.

pub mod png;
pub mod timeline;
