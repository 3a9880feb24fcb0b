//! Pictures. A new figure is one file here.
//!
//! Figures are SVG, drawn with plotters on a `canvas` in whole pixels, with the scales of `axis` and the `legend`; `svg`
//! is the last step of every one; [`png`] makes bitmaps of them.

mod axis;
mod canvas;
pub mod fanout;
pub mod lanes;
mod legend;
pub mod png;
pub mod ribbon;
mod svg;
pub mod timeline;
