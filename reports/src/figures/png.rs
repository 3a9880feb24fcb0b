//! Bitmaps out of drawings, with a font of our own, so that every machine draws the same.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use thiserror::Error;

/// DejaVu Sans 2.37; its licence stands beside it.
const FONT: &[u8] = include_bytes!("../../assets/DejaVuSans.ttf");

/// Pixels of the bitmap for each of the drawing, for sharp screens.
const SCALE: f32 = 2.0;

/// Why a drawing gave no bitmap: a fault of the program.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PictureError {
    /// The drawing is no SVG.
    #[error("the drawing cannot be read: {0}")]
    Drawing(#[from] resvg::usvg::Error),
    /// It has no area, or too much.
    #[error("a picture of {width} by {height} cannot be made")]
    Size {
        /// Pixels.
        width: u32,
        /// Pixels.
        height: u32,
    },
    /// It cannot be packed.
    #[error("the picture cannot be packed: {0}")]
    Packing(String),
}

/// Draws an SVG into a PNG.
///
/// # Errors
/// When the text is no SVG or its size is absurd.
pub fn from_svg(svg: &str) -> Result<Vec<u8>, PictureError> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    let options = Options { fontdb: Arc::new(fonts), font_family: "DejaVu Sans".to_owned(), ..Options::default() };
    let tree = Tree::from_str(svg, &options)?;
    let size = tree.size().to_int_size();
    let pixels = |length: u32| (length as f32 * SCALE) as u32;
    let (width, height) = (pixels(size.width()), pixels(size.height()));
    let mut pixmap = Pixmap::new(width, height).ok_or(PictureError::Size { width, height })?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| PictureError::Packing(error.to_string()))
}
