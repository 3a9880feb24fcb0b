//! Counted sizes and fitted factors in `forkcast.replay/1`.

use std::collections::BTreeMap;

use forkcast_replay::calibrate::{Calibration, ClassFit, GenerationFit, LeftOut, Residual, built_in_thousandths};
use serde::Serialize;

use crate::report::{Report, SizeRow};

#[derive(Serialize)]
pub(super) struct SizesObject {
    mode: &'static str,
    counted: Option<CountedObject>,
    calibration: Option<CalibrationObject>,
}

#[derive(Serialize)]
struct CountedObject {
    requests: u64,
    counted_tokens: u64,
    recorded_tokens: u64,
    error: Option<f64>,
    uncounted: u64,
    left_out: Vec<LeftOutObject>,
    tokenizers: Vec<TokenizerObject>,
}

#[derive(Serialize)]
struct TokenizerObject {
    tokenizer: &'static str,
    quality: &'static str,
    requests: u64,
    counted_tokens: u64,
    recorded_tokens: u64,
    error: Option<f64>,
    p90_error: Option<f64>,
    residual: Option<ResidualObject>,
}

#[derive(Serialize)]
struct ResidualObject {
    samples: u64,
    sum_error: f64,
    p90_error: f64,
    source: &'static str,
}

#[derive(Serialize)]
struct LeftOutObject {
    reason: &'static str,
    requests: u64,
}

#[derive(Serialize)]
struct CalibrationObject {
    generations: Vec<GenerationObject>,
    classes: Vec<ClassObject>,
    left_out: Vec<LeftOutObject>,
}

#[derive(Serialize)]
struct GenerationObject {
    tokenizer: &'static str,
    requests: u64,
    recorded_tokens: u64,
    estimated_tokens: u64,
    sum_error: Option<f64>,
    p90_error: f64,
    built_in_sum_error: Option<f64>,
    built_in_p90_error: f64,
}

#[derive(Serialize)]
struct ClassObject {
    tokenizer: &'static str,
    class: &'static str,
    factor: f64,
    built_in_factor: f64,
    text_tokens: u64,
    requests: u64,
    largest_in_requests: u64,
    error: Option<f64>,
}

impl SizesObject {
    pub fn of(report: &Report<'_>) -> Self {
        let sizes = &report.sizes;
        let sum = |tokens: fn(&SizeRow) -> u64| sizes.rows.iter().map(tokens).fold(0, u64::saturating_add);
        let (counted_tokens, recorded_tokens) = (sum(|row| row.counted_tokens), sum(|row| row.recorded_tokens));
        let asked = sizes.source != forkcast_replay::replay::SizeSource::Recorded;
        let counted = asked.then(|| CountedObject {
            requests: sum(|row| row.requests),
            counted_tokens,
            recorded_tokens,
            error: (recorded_tokens > 0).then(|| counted_tokens as f64 / recorded_tokens as f64 - 1.0),
            uncounted: sizes.uncounted,
            left_out: left_out(&sizes.left_out),
            tokenizers: sizes.rows.iter().map(TokenizerObject::of).collect(),
        });
        let calibration = report.options.sizing.calibration.as_ref().map(CalibrationObject::of);
        Self { mode: sizes.source.word(), counted, calibration }
    }
}

impl TokenizerObject {
    fn of(row: &SizeRow) -> Self {
        Self {
            tokenizer: row.tokenizer.word(),
            quality: row.quality.word(),
            requests: row.requests,
            counted_tokens: row.counted_tokens,
            recorded_tokens: row.recorded_tokens,
            error: row.error(),
            p90_error: row.p90_error,
            residual: row.residual.map(ResidualObject::of),
        }
    }
}

impl ResidualObject {
    const fn of(residual: Residual) -> Self {
        let Residual { samples, sum_error, p90_error, source } = residual;
        Self { samples, sum_error, p90_error, source }
    }
}

impl CalibrationObject {
    fn of(fit: &Calibration) -> Self {
        Self {
            generations: fit.generations.iter().map(GenerationObject::of).collect(),
            classes: fit.classes.iter().map(ClassObject::of).collect(),
            left_out: left_out(&fit.left_out),
        }
    }
}

impl GenerationObject {
    fn of(row: &GenerationFit) -> Self {
        Self {
            tokenizer: row.generation.tokenizer().word(),
            requests: row.errors.requests,
            recorded_tokens: row.errors.recorded_tokens,
            estimated_tokens: row.errors.estimated_tokens,
            sum_error: row.errors.sum_error(),
            p90_error: row.errors.p90,
            built_in_sum_error: row.built_in.sum_error(),
            built_in_p90_error: row.built_in.p90,
        }
    }
}

impl ClassObject {
    fn of(row: &ClassFit) -> Self {
        Self {
            tokenizer: row.generation.tokenizer().word(),
            class: row.class.name(),
            factor: row.thousandths as f64 / 1_000.0,
            built_in_factor: built_in_thousandths(row.generation, row.class) as f64 / 1_000.0,
            text_tokens: row.text_tokens,
            requests: row.requests,
            largest_in_requests: row.errors.requests,
            error: row.errors.sum_error(),
        }
    }
}

fn left_out(reasons: &BTreeMap<LeftOut, u64>) -> Vec<LeftOutObject> {
    reasons.iter().map(|(why, requests)| LeftOutObject { reason: why.word(), requests: *requests }).collect()
}
