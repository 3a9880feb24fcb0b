//! Bitmaps out of drawings, with a font of our own, so that every machine draws the same.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use thiserror::Error;

/// DejaVu Sans 2.37; its licence is in the same folder.
const FONT: &[u8] = include_bytes!("../../assets/DejaVuSans.ttf");

/// Pixels of the bitmap for each of the drawing, for sharp screens.
const SCALE: f32 = 2.0;

/// Pixels of a bitmap at most; each takes four bytes while it is drawn. A larger drawing is scaled down.
const PIXELS_MAX: f32 = 64e6;

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
    Packing(#[from] png::EncodingError),
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
    let scale = SCALE.min((PIXELS_MAX / (size.width() as f32 * size.height() as f32)).sqrt());
    let pixels = |length: u32| (length as f32 * scale) as u32;
    let width = pixels(size.width());
    let height = pixels(size.height());
    let mut pixmap = Pixmap::new(width, height).ok_or(PictureError::Size { width, height })?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    packed(pixmap)
}

/// Without filters, which suit photographs, and with a palette where one suffices: drawings are flat and have few colours.
/// The lowest level takes a third of the default's time, and 164 kB where that takes 116 (2026-11-28).
fn packed(pixmap: Pixmap) -> Result<Vec<u8>, PictureError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, pixmap.width(), pixmap.height());
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_deflate_compression(png::DeflateCompression::Level(1));
    encoder.set_filter(png::Filter::NoFilter);
    // Opaque pixels are the same with and without their alpha multiplied.
    let indexed = Indexed::of(pixmap.data());
    let data = if let Some(indexed) = indexed {
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_palette(indexed.palette.as_flattened().to_vec());
        indexed.pixels
    } else {
        encoder.set_color(png::ColorType::Rgba);
        pixmap.take_demultiplied()
    };
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&data)?;
    writer.finish()?;
    Ok(bytes)
}

/// Opaque pixels of few colours, as numbers of these.
struct Indexed {
    palette: Vec<[u8; 3]>,
    pixels: Vec<u8>,
}

impl Indexed {
    /// `None` for more colours than a palette has, or transparent ones.
    fn of(rgba: &[u8]) -> Option<Self> {
        let mut indexed = Self { palette: Vec::new(), pixels: Vec::with_capacity(rgba.len() / 4) };
        for run in rgba.as_chunks().0.chunk_by(|one, next| one == next) {
            let number = indexed.number(run[0])?;
            indexed.pixels.resize(indexed.pixels.len() + run.len(), number);
        }
        Some(indexed)
    }

    fn number(&mut self, [red, green, blue, alpha]: [u8; 4]) -> Option<u8> {
        let colour = [red, green, blue];
        let known = self.palette.iter().position(|known| *known == colour);
        let at = known.unwrap_or_else(|| {
            self.palette.push(colour);
            self.palette.len() - 1
        });
        u8::try_from(at).ok().filter(|_| alpha == u8::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::{Indexed, from_svg};

    /// Width and height as the file says them.
    fn size(png: &[u8]) -> [u32; 2] {
        [16, 20].map(|at| u32::from_be_bytes(png[at..at + 4].try_into().unwrap_or_default()))
    }

    #[test]
    fn a_huge_drawing_gives_a_bitmap_that_fits_in_memory() -> Result<(), super::PictureError> {
        let of_height = |height: u32| {
            from_svg(&format!(r#"<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="{height}"></svg>"#))
        };
        assert_eq!(size(&of_height(640)?), [2_400, 1_280]);
        let [width, height] = size(&of_height(2_000_000)?);
        assert!(width > 100 && u64::from(width) * u64::from(height) <= 64_000_000, "{width} by {height}");
        Ok(())
    }

    #[test]
    fn a_palette_has_every_colour_once_or_there_is_none() {
        let image = |colours: usize, alpha: u8| -> Vec<u8> {
            (0..1_000).flat_map(|at| [(at / 3 % colours) as u8, (at / 3 % colours / 256) as u8, 7, alpha]).collect()
        };
        let (pixels, indexed) = (image(256, 255), Indexed::of(&image(256, 255)).unwrap());
        assert_eq!(indexed.palette.len(), 256);
        let back: Vec<u8> =
            indexed.pixels.iter().flat_map(|at| indexed.palette[usize::from(*at)].into_iter().chain([255])).collect();
        assert_eq!(back, pixels);
        assert!(Indexed::of(&image(257, 255)).is_none(), "too many colours");
        assert!(Indexed::of(&image(2, 254)).is_none(), "transparent");
    }
}
