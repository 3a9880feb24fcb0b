//! What bounds the sums: a stretch of time, limits.

use serde::Serialize;

use crate::format::number::{Millis, Usd};
use crate::report::{Gate, Measure, Report};

/// Which requests are in the sums.
#[derive(Serialize)]
pub(super) struct WindowObject {
    since_ms: Option<Millis>,
    until_ms: Option<Millis>,
    left_out: LeftOutObject,
}

#[derive(Serialize)]
struct LeftOutObject {
    outside: u64,
    without_instant: u64,
}

impl WindowObject {
    pub(super) fn of(report: &Report<'_>) -> Self {
        let (window, left_out) = (report.view.window, report.left_out);
        Self {
            since_ms: window.since.map(Millis),
            until_ms: window.until.map(Millis),
            left_out: LeftOutObject { outside: left_out.outside, without_instant: left_out.without_instant },
        }
    }
}

/// A limit beside what was found.
#[derive(Serialize)]
pub(super) struct GateObject {
    name: &'static str,
    limit: Number,
    found: Option<Number>,
    passed: bool,
    undecided: Option<String>,
}

impl GateObject {
    pub(super) fn of(gate: &Gate) -> Self {
        Self {
            name: gate.name,
            limit: gate.limit.into(),
            found: gate.found.map(Number::from),
            passed: gate.passed,
            undecided: gate.undecided.clone(),
        }
    }
}

/// A bare number, whatever it counts; the name of the limit says what.
enum Number {
    Usd(Usd),
    Share(f64),
    Tokens(u64),
}

impl From<Measure> for Number {
    fn from(measure: Measure) -> Self {
        match measure {
            Measure::Cost(cost) => Self::Usd(Usd(cost)),
            Measure::HitRate(part) => Self::Share(part),
            Measure::Tokens(tokens) => Self::Tokens(tokens),
        }
    }
}

impl Serialize for Number {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Usd(amount) => amount.serialize(serializer),
            Self::Share(part) => serializer.serialize_f64(*part),
            Self::Tokens(tokens) => serializer.serialize_u64(*tokens),
        }
    }
}
