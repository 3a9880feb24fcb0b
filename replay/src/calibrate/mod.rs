//! Factors of the estimate for Claude, fitted to what recorded requests were billed.
//!
//! A request's total input is the only truth there is: the sum over classes of (factor · tokens in o200k), and what no
//! factor applies to (images, instructions, frames). Least squares of the relative error find the factors; each is held
//! to its built-in value with the weight of a few requests, so that a class which hardly occurs keeps what is known of it.

mod growth;
mod sample;
mod solve;

use std::collections::BTreeMap;

use forkcast_tokens::{BUILT_IN, Factors};

use crate::input::Inputs;
use solve::{CLASSES, Equations};

pub use forkcast_sim::service::LeftOut;
pub use forkcast_tokens::factors::built_in_residual;
pub use forkcast_tokens::{Class, Generation, Quality, Residual};
pub use sample::{Sample, Samples, doubt, fault, is_plausible};

/// Weight of a built-in factor, in requests that consist of its class alone and are off by as much.
const PRIOR_WEIGHT: f64 = 2.0;

/// Factors fitted to recordings, and how well they do on the same recordings.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// The fitted factors.
    pub factors: Factors,
    /// One for each class of each generation that occurs, older generation first.
    pub classes: Vec<ClassFit>,
    /// One for each generation that occurs, older first.
    pub generations: Vec<GenerationFit>,
    /// Requests that could not be used, by reason.
    pub left_out: BTreeMap<LeftOut, u64>,
}

/// A class of content of one generation.
#[derive(Clone, Copy, Debug)]
pub struct ClassFit {
    /// The generation.
    pub generation: Generation,
    /// The class.
    pub class: Class,
    /// Tokens of Claude for one of o200k, in thousandths.
    pub thousandths: u64,
    /// Tokens of the class in all requests, in o200k.
    pub text_tokens: u64,
    /// Requests that hold the class.
    pub requests: u64,
    /// Errors of the requests whose largest part is the class; empty if there is none.
    pub errors: Errors,
}

/// All requests of one generation.
#[derive(Clone, Copy, Debug)]
pub struct GenerationFit {
    /// The generation.
    pub generation: Generation,
    /// Errors with the fitted factors.
    pub errors: Errors,
    /// Errors with the built-in factors.
    pub built_in: Errors,
}

/// How far estimates are from bills.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    /// Requests.
    pub requests: u64,
    /// Tokens billed.
    pub recorded_tokens: u64,
    /// Tokens estimated.
    pub estimated_tokens: u64,
    /// The share that nine of ten requests are off by at most, in either direction.
    pub p90: f64,
}

impl Errors {
    /// Errors of `samples` under `factors`.
    pub fn of<'a>(samples: impl Iterator<Item = &'a Sample>, factors: &Factors) -> Self {
        let mut errors = Self::default();
        let mut shares: Vec<f64> = Vec::new();
        for sample in samples {
            let estimated = sample.estimated_tokens(factors);
            errors.requests += 1;
            errors.recorded_tokens += sample.recorded_tokens;
            errors.estimated_tokens += estimated;
            shares.push((estimated as f64 / sample.recorded_tokens as f64 - 1.0).abs());
        }
        shares.sort_by(f64::total_cmp);
        // The nearest rank: the smallest share that nine of ten do not exceed.
        let rank = (shares.len() * 9).div_ceil(10).saturating_sub(1);
        errors.p90 = shares.get(rank).copied().unwrap_or(0.0);
        errors
    }

    /// The same in the words of a residual.
    pub fn residual(&self) -> Residual {
        Residual {
            samples: self.requests,
            sum_error: self.sum_error().unwrap_or(0.0),
            p90_error: self.p90,
            source: "requests of this input, to which it was fitted",
        }
    }

    /// Estimated ÷ recorded − 1 over the sums; `None` without requests.
    pub fn sum_error(&self) -> Option<f64> {
        (self.recorded_tokens > 0).then(|| self.estimated_tokens as f64 / self.recorded_tokens as f64 - 1.0)
    }
}

/// Fits the factors to everything that was read.
pub fn calibrate(inputs: &Inputs) -> Calibration {
    let Samples { samples, left_out } = Samples::of(inputs);
    let factors = fit(&samples);
    let of = |generation| samples.iter().filter(move |sample: &&Sample| sample.generation == generation);
    let mut classes = Vec::new();
    let mut generations = Vec::new();
    for generation in Generation::ALL {
        if of(generation).next().is_none() {
            continue;
        }
        generations.push(GenerationFit {
            generation,
            errors: Errors::of(of(generation), &factors),
            built_in: Errors::of(of(generation), &BUILT_IN),
        });
        for class in Class::ALL {
            let text_tokens: u64 = of(generation).map(|sample| sample.makeup.text[class as usize]).sum();
            if text_tokens == 0 {
                continue;
            }
            classes.push(ClassFit {
                generation,
                class,
                thousandths: factors.of(generation, class),
                text_tokens,
                requests: of(generation).filter(|sample| sample.makeup.text[class as usize] > 0).count() as u64,
                errors: Errors::of(of(generation).filter(|sample| sample.largest_class() == Some(class)), &factors),
            });
        }
    }
    Calibration { factors, classes, generations, left_out }
}

/// The built-in factor of a class, in thousandths.
pub const fn built_in_thousandths(generation: Generation, class: Class) -> u64 {
    BUILT_IN.of(generation, class)
}

/// The factors that fit best. A generation without samples keeps the built-in ones.
pub fn fit(samples: &[Sample]) -> Factors {
    let mut factors = BUILT_IN;
    for generation in Generation::ALL {
        let prior = BUILT_IN.thousandths[generation as usize].map(|thousandths| thousandths as f64 / 1_000.0);
        let mut equations = Equations::default();
        for sample in samples.iter().filter(|sample| sample.generation == generation) {
            let recorded = sample.recorded_tokens as f64;
            let shares = sample.makeup.text.map(|tokens| tokens as f64 / recorded);
            let rest = sample.unscaled_tokens() as f64 / recorded;
            equations.add(shares, 1.0 - rest, sample.weight());
        }
        for class in 0..CLASSES {
            let mut shares = [0.0; CLASSES];
            shares[class] = 1.0 / prior[class];
            equations.add(shares, 1.0, PRIOR_WEIGHT);
        }
        if let Some(found) = equations.solve_non_negative() {
            factors.thousandths[generation as usize] = found.map(|factor| (factor * 1_000.0).round() as u64);
        }
    }
    factors
}
