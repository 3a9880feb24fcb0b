//! Tokens of an image for Claude models.
//!
//! Source: vision page (PC-A archive, 2026-08): tokens are patches of 28 by 28 pixels, after the image is scaled down
//! proportionally to the maximum edge and token count of its tier. In requests with more than twenty images the limit
//! is 2,000 pixels per side; that is a limit of acceptance, so it changes no size here.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use forkcast_sim::wire::model::Tokenizer;

/// Side of a patch in pixels.
const PATCH_PX: u64 = 28;

/// Assumed tokens of an image whose size is not in the request (an address, a file id). Callers report the assumption.
pub use forkcast_sim::wire::UNKNOWN_IMAGE_TOKENS;

/// The limits to which an image is scaled down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tier {
    /// Longest edge in pixels.
    pub edge_px: u64,
    /// Maximum number of tokens.
    pub tokens: u64,
}

impl Tier {
    /// Models up to Opus 4.6.
    pub const STANDARD: Self = Self { edge_px: 1_568, tokens: 1_568 };
    /// Opus 4.7 and later.
    pub const HIGH: Self = Self { edge_px: 2_576, tokens: 4_784 };

    /// The tier for a tokenizer's generation: both changed with Opus 4.7. For other vendors, images are assumed to cost
    /// as much as for older Claude models.
    pub const fn of(tokenizer: Tokenizer) -> Self {
        match tokenizer {
            Tokenizer::Claude47 => Self::HIGH,
            _ => Self::STANDARD,
        }
    }
}

/// Tokens of an image of this size.
pub fn tokens(width_px: u64, height_px: u64, tier: Tier) -> u64 {
    let width = width_px.max(1);
    let height = height_px.max(1);
    let longest = width.max(height);
    let scaled = |edge: u64| {
        let patches = |side: u64| (u128::from(side) * u128::from(edge)).div_ceil(u128::from(longest * PATCH_PX)).max(1);
        // A few thousand at most, because no edge is longer than a tier's.
        (patches(width) * patches(height)) as u64
    };
    // Tokens grow with the longest edge, so the largest edge that fits is found by bisection.
    let mut fits = 1;
    let mut exceeds = longest.min(tier.edge_px) + 1;
    while exceeds - fits > 1 {
        let middle = fits + (exceeds - fits) / 2;
        if scaled(middle) <= tier.tokens { fits = middle } else { exceeds = middle }
    }
    scaled(fits)
}

/// Encoded bytes that contain the header of nearly every image; photographs may have a preview before their size.
const HEAD_BYTES: usize = 64 << 10;

/// Width and height of an image in base64, from its header. `None` for broken data and for formats that the API does
/// not accept (it accepts PNG, JPEG, GIF and WebP).
pub fn size_px(base64: &[u8]) -> Option<(u64, u64)> {
    let head = &base64[..base64.len().min(HEAD_BYTES)];
    let size = imagesize::blob_size(&decode(head)).or_else(|_| imagesize::blob_size(&decode(base64))).ok()?;
    (size.width > 0 && size.height > 0).then_some((size.width as u64, size.height as u64))
}

/// Decodes the valid start of a base64 text, with or without padding and line ends.
pub fn decode(base64: &[u8]) -> Vec<u8> {
    const ENGINE: GeneralPurpose = GeneralPurpose::new(
        &alphabet::STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let mut digits: Vec<u8> = base64.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let end = digits.iter().position(|byte| !is_digit(byte)).unwrap_or(digits.len());
    // A single digit at the end is less than a byte.
    digits.truncate(if end % 4 == 1 { end - 1 } else { end });
    let decoded = ENGINE.decode(digits);
    debug_assert!(decoded.is_ok(), "whole digits can be decoded: {decoded:?}");
    decoded.unwrap_or_default()
}
