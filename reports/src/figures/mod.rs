//! Pictures. A new figure is one file here.
//!
//! Figures are SVG, drawn on a `canvas` in whole pixels; [`png`] makes bitmaps of them.

mod canvas;
pub mod fanout;
pub mod lanes;
pub mod png;
pub mod ribbon;
pub mod timeline;
