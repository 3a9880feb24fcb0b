//! Sizes of files, drawn from quantiles.

use rand_chacha::ChaCha8Rng;

use super::below;

/// Share of the files and the largest size among them, in bytes.
const QUANTILES: [(f64, f64); 7] = [
    (0.0, 236.0),
    (0.5, 105_267.0),
    (0.75, 233_572.0),
    (0.9, 653_972.0),
    (0.95, 1_504_757.0),
    (0.99, 5_383_751.0),
    (1.0, 87_033_471.0),
];

/// Exponent for the last interval; with this value a folder of 1,300 files has about 540 MB.
const STEEP: f64 = 7.0;

/// The size at `share` of the sorted files, interpolated geometrically between quantiles.
fn at(share: f64) -> u64 {
    let upper = QUANTILES.iter().position(|(quantile, _)| *quantile >= share).unwrap_or(1).max(1);
    let ((from, low), (to, high)) = (QUANTILES[upper - 1], QUANTILES[upper]);
    let step = (share - from) / (to - from);
    let step = if upper + 1 == QUANTILES.len() { step.powf(STEEP) } else { step };
    (low * (high / low).powf(step)) as u64
}

/// The sizes of `files` files in random order, including the smallest and the largest.
pub fn shuffled(files: u64, rng: &mut ChaCha8Rng) -> Vec<u64> {
    let last = files.saturating_sub(1).max(1) as f64;
    let mut sizes: Vec<u64> = (0..files).map(|file| at(file as f64 / last)).collect();
    for end in (1..sizes.len()).rev() {
        sizes.swap(end, below(rng, end as u64 + 1) as usize);
    }
    sizes
}
