//! Bitmaps out of drawings, with a font of our own, so that every machine draws the same.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use thiserror::Error;

/// DejaVu Sans 2.37; its licence is in the same folder.
const FONT: &[u8] = include_bytes!("../../assets/DejaVuSans.ttf");

/// Pixels of the bitmap for each of the drawing, for sharp screens.
const SCALE: f32 = 2.0;

/// Pixels of a bitmap at most; a larger drawing is scaled down.
const PIXELS_MAX: f32 = 64e6;

/// Rows that are drawn at a time, with four bytes a pixel; what is drawn is kept with one. A picture of a year of recordings
/// would take 27 MB at once. Each time goes through the whole drawing, so few rows take longer.
const BAND_ROWS: u32 = 1024;

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
    let drawing = Drawing::of(svg)?;
    match drawing.indexed()? {
        Some(indexed) => packed(&drawing, Some(indexed.palette.as_flattened()), &indexed.pixels),
        None => packed(&drawing, None, &drawing.rows(0, drawing.height)?.take_demultiplied()),
    }
}

/// A drawing and the size of its bitmap.
struct Drawing {
    tree: Tree,
    scale: f32,
    width: u32,
    height: u32,
}

impl Drawing {
    fn of(svg: &str) -> Result<Self, PictureError> {
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
        if width == 0 || height == 0 {
            return Err(PictureError::Size { width, height });
        }
        Ok(Self { tree, scale, width, height })
    }

    /// The bitmap with a palette; `None` if it has too many colours.
    fn indexed(&self) -> Result<Option<Indexed>, PictureError> {
        let pixels = Vec::with_capacity(self.width as usize * self.height as usize);
        let mut indexed = Indexed { palette: Vec::new(), pixels };
        for first in (0..self.height).step_by(BAND_ROWS as usize) {
            let band = self.rows(first, BAND_ROWS.min(self.height - first))?;
            if indexed.add(band.data()).is_none() {
                return Ok(None);
            }
        }
        Ok(Some(indexed))
    }

    /// A part of the bitmap.
    fn rows(&self, first: u32, count: u32) -> Result<Pixmap, PictureError> {
        let size = PictureError::Size { width: self.width, height: self.height };
        let mut pixmap = Pixmap::new(self.width, count).ok_or(size)?;
        let transform = Transform::from_row(self.scale, 0.0, 0.0, self.scale, 0.0, -(first as f32));
        resvg::render(&self.tree, transform, &mut pixmap.as_mut());
        Ok(pixmap)
    }
}

/// Without filters, which suit photographs, and with a palette where one suffices: drawings are flat and have few colours.
/// The lowest level takes a third of the default's time, and 164 kB where that takes 116 (2026-11-28).
fn packed(drawing: &Drawing, palette: Option<&[u8]>, data: &[u8]) -> Result<Vec<u8>, PictureError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, drawing.width, drawing.height);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_deflate_compression(png::DeflateCompression::Level(1));
    encoder.set_filter(png::Filter::NoFilter);
    encoder.set_color(if palette.is_some() { png::ColorType::Indexed } else { png::ColorType::Rgba });
    if let Some(palette) = palette {
        encoder.set_palette(palette);
    }
    let mut writer = encoder.write_header()?;
    writer.write_image_data(data)?;
    writer.finish()?;
    Ok(bytes)
}

/// Opaque pixels of few colours, as numbers of these.
#[cfg_attr(test, derive(Default))]
struct Indexed {
    palette: Vec<[u8; 3]>,
    pixels: Vec<u8>,
}

impl Indexed {
    /// Adds pixels, which have the same bytes with and without their alpha multiplied. `None` for more colours than a palette
    /// has, or transparent ones.
    fn add(&mut self, rgba: &[u8]) -> Option<()> {
        for run in rgba.as_chunks().0.chunk_by(|one, next| one == next) {
            let number = self.number(run[0])?;
            self.pixels.resize(self.pixels.len() + run.len(), number);
        }
        Some(())
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
    use super::{Drawing, Indexed, from_svg};

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

    /// A letter across the first row of the next part is whole. Edges are smoothed in sixteenths, which may round otherwise.
    #[test]
    fn a_drawing_in_parts_is_the_drawing() -> Result<(), super::PictureError> {
        let svg = r##"<svg xmlns="http://www.w3.org/2000/svg" width="60" height="700"><rect width="60" height="700" fill="#fff"/><path d="M5 5L55 695" stroke="#123" stroke-width="3"/><text x="4" y="516" font-size="12">Part</text></svg>"##;
        let drawing = Drawing::of(svg)?;
        let whole = drawing.rows(0, drawing.height)?;
        let indexed = drawing.indexed()?.unwrap();
        let colour = |at: &u8| indexed.palette[usize::from(*at)];
        let far = indexed
            .pixels
            .iter()
            .map(colour)
            .zip(whole.data().as_chunks::<4>().0)
            .filter(|(part, whole)| part.iter().zip(*whole).any(|(one, other)| one.abs_diff(*other) > 64));
        assert_eq!((indexed.pixels.len(), far.count()), (120 * 1_400, 0));
        Ok(())
    }

    #[test]
    fn a_palette_has_every_colour_once_or_there_is_none() {
        let image = |colours: usize, alpha: u8| -> Vec<u8> {
            (0..1_000).flat_map(|at| [(at / 3 % colours) as u8, (at / 3 % colours / 256) as u8, 7, alpha]).collect()
        };
        let of = |rgba: &[u8]| {
            let mut indexed = Indexed::default();
            let (first, second) = rgba.split_at(rgba.len() / 8 * 4);
            indexed.add(first).and_then(|()| indexed.add(second)).map(|()| indexed)
        };
        let (pixels, indexed) = (image(256, 255), of(&image(256, 255)).unwrap());
        assert_eq!(indexed.palette.len(), 256);
        let back: Vec<u8> =
            indexed.pixels.iter().flat_map(|at| indexed.palette[usize::from(*at)].into_iter().chain([255])).collect();
        assert_eq!(back, pixels);
        assert!(of(&image(257, 255)).is_none(), "too many colours");
        assert!(of(&image(2, 254)).is_none(), "transparent");
    }
}
