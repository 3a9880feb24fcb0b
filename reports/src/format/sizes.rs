//! Counted sizes and fitted factors.

use std::collections::BTreeMap;

use forkcast_replay::calibrate::{
    Calibration, ClassFit, GenerationFit, LeftOut, Quality, Residual, built_in_thousandths,
};
use forkcast_replay::replay::SizeSource;

use super::replay::sources;
use super::words::tokenizers;
use crate::record::{Record, Shape, Value, list};
use crate::report::{Report, SizeRow};

/// The data about sizes.
pub(super) struct Counts<'a>(pub &'a Report<'a>);

record! {
    Counts<'_>, "sizes":
    field "mode", sources,
        "Source of the sizes of prefixes. With `both` they are recorded, and counted for comparison." =>
        |counts| counts.0.sizes.source.name();
    record: CountSums<'_>, "counted", "Counts compared with bills." =>
        |counts| {
            let is_counted = counts.0.sizes.source != SizeSource::Recorded;
            if is_counted { CountSums(counts.0).value() } else { Value::Null }
        }, null("if nothing was counted");
    record: Calibration, "calibration", "Factors fitted to these recordings with --calibrate." =>
        |counts| counts.0.options.sizing.calibration.as_ref().map(Record::value),
        null("if none were asked for");
}

/// Counts compared with bills.
struct CountSums<'a>(&'a Report<'a>);

impl CountSums<'_> {
    fn sum(&self, tokens: fn(&SizeRow) -> u64) -> u64 {
        self.0.sizes.rows.iter().map(tokens).fold(0, u64::saturating_add)
    }
}

/// The relative error of a sum.
const ERROR: &str = "Counted / recorded - 1.";
const NOTHING: &str = "if nothing can be compared";
const SHARE: &str = "part of 1";

record! {
    CountSums<'_>, "counted":
    count "requests", "Counted requests that can be compared with their bill; the next two are sums over them." =>
        |counted| counted.sum(|row| row.requests), unit("requests");
    tokens "counted_tokens", "Their tokens as counted." => |counted| counted.sum(|row| row.counted_tokens);
    tokens "recorded_tokens", "Their tokens as billed." => |counted| counted.sum(|row| row.recorded_tokens);
    number "error", ERROR =>
        |counted| {
            let (own, recorded) = (counted.sum(|row| row.counted_tokens), counted.sum(|row| row.recorded_tokens));
            (recorded > 0).then(|| own as f64 / recorded as f64 - 1.0)
        }, unit(SHARE), null(NOTHING);
    count "uncounted", "Requests whose body could not be read, and so not be counted." =>
        |counted| counted.0.sizes.uncounted, unit("requests");
    records: NotCompared, "left_out", NOT_COMPARED => |counted| left_out(&counted.0.sizes.left_out);
    records: SizeRow, "tokenizers", "The same by tokenizer." =>
        |counted| Value::List(counted.0.sizes.rows.iter().map(Record::value).collect());
}

record! {
    SizeRow, "tokenizer_counts":
    field "tokenizer", tokenizers, "The tokenizer." => |row| row.tokenizer.word();
    field "quality", || Shape::words([Quality::Exact, Quality::Calibrated, Quality::Borrowed].map(Quality::word)),
        "The maker's own vocabulary; o200k scaled to recorded bills; o200k as it is." =>
        |row| row.quality.word();
    count "requests", "Comparable requests." => |row| row.requests, unit("requests");
    tokens "counted_tokens", "Their tokens as counted." => |row| row.counted_tokens;
    tokens "recorded_tokens", "Their tokens as billed." => |row| row.recorded_tokens;
    number "error", ERROR => |row| row.error(), unit(SHARE), null(NOTHING);
    number "p90_error", "Highest error of nine out of ten requests." =>
        |row| row.p90_error, unit(SHARE), null(NOTHING);
    record: Residual, "residual", "Error of the factors on the recordings that they were fitted to." =>
        |row| row.residual.as_ref().map(Record::value), null("for exact counts and unmeasured ones"),
        no_cell();
}

record! {
    Residual, "factor_error":
    count "samples", "Requests that they were fitted to." => |residual| residual.samples, unit("requests");
    number "sum_error", "Error of the sum." => |residual| residual.sum_error, unit(SHARE);
    field "p90_error", || Shape::Positive, "Highest error of nine out of ten." =>
        |residual| residual.p90_error, unit(SHARE);
    text "source", "Their source." => |residual| residual.source;
}

const NOT_COMPARED: &str = "Requests whose count cannot be compared with their bill, by reason.";

/// Requests that are not compared, for one reason.
struct NotCompared(LeftOut, u64);

record! {
    NotCompared, "left_out":
    field "reason", || Shape::words(LeftOut::ALL.map(LeftOut::word)), "Why they are not compared." => |found| found.0.word();
    count "requests", "How many." => |found| found.1, unit("requests");
}

fn left_out(reasons: &BTreeMap<LeftOut, u64>) -> Value {
    list(reasons.iter().map(|(why, requests)| NotCompared(*why, *requests)))
}

record! {
    Calibration, "calibration":
    records: GenerationFit, "generations", "Quality of the fit, by tokenizer." =>
        |fit| Value::List(fit.generations.iter().map(Record::value).collect());
    records: ClassFit, "classes", "The factors." => |fit| Value::List(fit.classes.iter().map(Record::value).collect());
    records: NotCompared, "left_out", NOT_COMPARED => |fit| left_out(&fit.left_out);
}

record! {
    GenerationFit, "generation":
    field "tokenizer", tokenizers, "The tokenizer." => |row| row.generation.tokenizer().word();
    count "requests", "Requests that were fitted." => |row| row.errors.requests, unit("requests");
    tokens "recorded_tokens", "Their tokens as billed." => |row| row.errors.recorded_tokens;
    tokens "estimated_tokens", "The same by the factors." => |row| row.errors.estimated_tokens;
    number "sum_error", "Error of the sum." => |row| row.errors.sum_error(), unit(SHARE), null(NOTHING);
    field "p90_error", || Shape::Positive, "Highest error of nine out of ten." => |row| row.errors.p90, unit(SHARE);
    number "built_in_sum_error", "Error of the sum with built-in factors." =>
        |row| row.built_in.sum_error(), unit(SHARE), null(NOTHING);
    field "built_in_p90_error", || Shape::Positive, "Highest error of nine out of ten with these." =>
        |row| row.built_in.p90, unit(SHARE);
}

record! {
    ClassFit, "class":
    field "tokenizer", tokenizers, "The tokenizer." => |row| row.generation.tokenizer().word();
    field "class", || Shape::words(["prose", "code", "json", "other_script", "tool"]), "A class of text." =>
        |row| row.class.name();
    field "factor", || Shape::Positive, "Tokens for one token of o200k." => |row| row.thousandths as f64 / 1_000.0, unit("tokens per token of o200k");
    field "built_in_factor", || Shape::Positive, "The same as built in." =>
        |row| built_in_thousandths(row.generation, row.class) as f64 / 1_000.0, unit("tokens per token of o200k");
    tokens "text_tokens", "Text of this class, in tokens of o200k." => |row| row.text_tokens;
    count "requests", "Requests with such text." => |row| row.requests, unit("requests");
    count "largest_in_requests", "Requests whose largest part it is; `error` is theirs." =>
        |row| row.errors.requests, unit("requests");
    number "error", "Error of their sum." => |row| row.errors.sum_error(), unit(SHARE), null(NOTHING);
}
