//! Tokens of a PDF for Claude models: an image and the text of each page.
//!
//! Source: PDF page (PC-A archive, 2026-08): "1,500 to 3,000 tokens of text per page" depending on density, and each
//! page as an image. Pages are counted by their objects, text by the strings in content streams: a light parser without
//! rendering and fonts. It is an estimate, compared with recordings only for one page without text.

use std::io::Read;

use flate2::read::ZlibDecoder;
use memchr::memmem;

/// Tokens of a page image: the maximum of the standard tier. Haiku 3.5 billed 1,628 for a blank letter page with
/// framing (recordings of 2026-01).
const PAGE_IMAGE_TOKENS: u64 = 1_568;

/// Tokens of an unreadable page's text: the middle of the range on the PDF page.
const PAGE_TEXT_TOKENS: u64 = 2_250;

/// Maximum total bytes of unpacked streams, as a limit for decompression bombs.
const UNPACKED_MAX: usize = 64 << 20;

/// Characters of shown text per token.
const CHARACTERS_PER_TOKEN: u64 = 4;

/// The pages of a PDF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pages {
    /// Number of pages, at least one.
    pub pages: u64,
    /// Characters shown on its pages; `None` if no content could be read.
    pub characters: Option<u64>,
}

impl Pages {
    /// Tokens of the whole document.
    pub fn tokens(&self) -> u64 {
        let text = match self.characters {
            Some(characters) => characters.div_ceil(CHARACTERS_PER_TOKEN),
            None => self.pages.saturating_mul(PAGE_TEXT_TOKENS),
        };
        self.pages.saturating_mul(PAGE_IMAGE_TOKENS).saturating_add(text)
    }
}

/// Assumed tokens of a document whose bytes are not in the request: one page. Callers report the assumption.
pub const UNKNOWN_PDF_TOKENS: u64 = PAGE_IMAGE_TOKENS + PAGE_TEXT_TOKENS;

/// Reads a PDF as far as needed for its tokens. The result always has at least one page.
pub fn read(bytes: &[u8]) -> Pages {
    let mut found = Found { pages: page_objects(bytes), ..Found::default() };
    let mut left = UNPACKED_MAX;
    for (at, stream) in streams(bytes) {
        found.streams += 1;
        let head = &bytes[at.saturating_sub(DICTIONARY_MAX)..at];
        let Some(unpacked) = unpack(head, stream, left) else { continue };
        found.unpacked += 1;
        left -= unpacked.len();
        found.pages += if memmem::find(head, b"/ObjStm").is_some() { page_objects(&unpacked) } else { 0 };
        found.characters += characters(&unpacked);
    }
    let encrypted = memmem::find(bytes, b"/Encrypt").is_some();
    let unknown = encrypted || found.pages == 0 || (found.streams > 0 && found.unpacked == 0);
    Pages { pages: found.pages.max(largest_count(bytes)).max(1), characters: (!unknown).then_some(found.characters) }
}

/// Bytes before a stream that contain its dictionary.
const DICTIONARY_MAX: usize = 400;

#[derive(Default)]
struct Found {
    pages: u64,
    streams: u64,
    unpacked: u64,
    characters: u64,
}

/// Characters that a content stream shows.
fn characters(content: &[u8]) -> u64 {
    let mut sum = 0;
    let mut rest = content;
    while let Some(begin) = memmem::find(rest, b"BT") {
        let text = &rest[begin + 2..];
        let end = memmem::find(text, b"ET").unwrap_or(text.len());
        sum += shown_characters(&text[..end]);
        rest = &text[end..];
    }
    sum
}

/// Characters in the strings of a text object: one byte each in parentheses, two bytes each in hexadecimal.
fn shown_characters(text: &[u8]) -> u64 {
    let mut count = 0;
    let mut inside = None;
    let mut digits = 0_u64;
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match (inside, byte) {
            (None, b'(' | b'<') => (inside, digits) = (Some(*byte), 0),
            (Some(b'('), b'\\') => count += u64::from(bytes.next().is_some()),
            (Some(b'('), b')') => inside = None,
            (Some(b'('), _) => count += 1,
            (Some(b'<'), b'>') => {
                count += digits.div_ceil(4);
                inside = None;
            }
            (Some(b'<'), _) => digits += u64::from(byte.is_ascii_hexdigit()),
            _ => {}
        }
    }
    count
}

/// Objects of type page (not pages) in a section of a PDF.
fn page_objects(bytes: &[u8]) -> u64 {
    let is_page = |at: usize| {
        let behind = bytes[at + 5..].trim_ascii_start();
        let name = behind.strip_prefix(b"/Page");
        name.is_some_and(|rest| !rest.first().is_some_and(u8::is_ascii_alphanumeric))
    };
    memmem::find_iter(bytes, b"/Type").filter(|at| is_page(*at)).count() as u64
}

/// The largest `/Count`: the sum in the page tree. Providers accept no documents with more than 10,000 pages.
fn largest_count(bytes: &[u8]) -> u64 {
    let number = |at: usize| -> Option<u64> {
        let digits = bytes[at + 6..].trim_ascii_start();
        let end = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
        std::str::from_utf8(&digits[..end]).ok()?.parse().ok().filter(|count| *count <= 10_000)
    };
    memmem::find_iter(bytes, b"/Count").filter_map(number).max().unwrap_or(0)
}

/// The streams of a PDF with their offsets.
fn streams(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + memmem::find(bytes.get(from..)?, b"stream")?;
        let start = at + b"stream".len();
        let end = start + memmem::find(&bytes[start..], b"endstream")?;
        from = end + b"endstream".len();
        Some((at, &bytes[start..end]))
    })
    .map(|(at, stream)| (at, stream.strip_prefix(b"\r\n").or_else(|| stream.strip_prefix(b"\n")).unwrap_or(stream)))
}

/// The content of a stream: as it is, or inflated as far as possible. `None` for images and unknown filters.
fn unpack(head: &[u8], stream: &[u8], left: usize) -> Option<Vec<u8>> {
    let dictionary = &head[memmem::rfind(head, b"obj").unwrap_or(0)..];
    let has = |name: &[u8]| memmem::find(dictionary, name).is_some();
    if has(b"/Image") || has(b"/FontFile") || has(b"/Length1") {
        return None;
    }
    if !has(b"/Filter") {
        return Some(stream[..stream.len().min(left)].to_vec());
    }
    if !has(b"/FlateDecode") {
        return None;
    }
    let mut unpacked = Vec::new();
    let read = ZlibDecoder::new(stream).take(left as u64).read_to_end(&mut unpacked);
    (read.is_ok() || !unpacked.is_empty()).then_some(unpacked)
}
