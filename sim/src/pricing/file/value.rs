//! Values as people write them: prices, factors, days, hours.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};

use crate::outside::found;
use crate::pricing::date::Date;
use crate::pricing::factor::Factor;
use crate::pricing::hours::{Span, Weekday};
use crate::pricing::money::Money;
use crate::wire::model::Vendor;

/// Maximum decimals of a factor, and of a price per million tokens that is a whole number of 10⁻¹² USD per token.
const DECIMALS: usize = 6;

/// A number of millionths up to a maximum, written as an integer, a decimal or a text.
struct Millionths {
    what: &'static str,
    most: u64,
}

/// At most a million dollars.
const USD: Millionths = Millionths { what: "USD", most: 1_000_000 };
const PER_MTOK: Millionths = Millionths { what: "USD per million tokens", most: 1_000_000 };
const FACTOR: Millionths = Millionths { what: "a factor", most: 1_000 };

impl Visitor<'_> for Millionths {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} from 0 to {}, with at most {DECIMALS} decimals", self.what, self.most)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<u64, E> {
        self.read(&number.to_string()).ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<u64, E> {
        // The shortest text that reads back as this number is the one that was written, up to 15 digits.
        self.read(&number.to_string()).ok_or_else(|| E::invalid_value(Unexpected::Float(number), &self))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<u64, E> {
        self.read(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}

impl Millionths {
    fn read(&self, text: &str) -> Option<u64> {
        millionths(text).filter(|number| *number <= self.most * 1_000_000)
    }
}

/// The exact value; `None` if it is not representable.
fn millionths(text: &str) -> Option<u64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let decimals = if is_number(decimals) { decimals.trim_end_matches('0') } else { return None };
    if !is_number(whole) || decimals.len() > DECIMALS {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let fraction: u64 = format!("{decimals:0<DECIMALS$}").parse().ok()?;
    whole.checked_mul(1_000_000)?.checked_add(fraction)
}

/// A price per million tokens, as 10⁻¹² USD per token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Price(pub u64);

impl<'de> Deserialize<'de> for Price {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(PER_MTOK).map(Self)
    }
}

/// An amount of money.
#[derive(Clone, Copy, Debug)]
pub(super) struct Amount(pub Money);

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let millionths = from.deserialize_any(USD)?;
        Ok(Self(Money::from_picousd(i128::from(millionths) * 1_000_000)))
    }
}

/// A factor on prices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times(pub Factor);

impl<'de> Deserialize<'de> for Times {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(FACTOR).map(|millionths| Self(Factor::from_millionths(millionths)))
    }
}

/// A day.
#[derive(Clone, Copy, Debug)]
pub(super) struct Day(pub Date);

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let written = toml::value::Datetime::deserialize(from)?;
        let found = written.to_string();
        Date::parse(&found)
            .map(Self)
            .ok_or_else(|| D::Error::custom(format!("found `{found}`, expected a day such as 2026-10-07")))
    }
}

/// A span of a day.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock(pub Span);

impl<'de> Deserialize<'de> for Clock {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let wrong = || {
            D::Error::custom(format!(
                "found {}, expected hours of one day in UTC such as \"01:00-04:00\"",
                found(&text)
            ))
        };
        let (from_minute, to_minute) =
            text.split_once('-').and_then(|(from, to)| Some((minute(from)?, minute(to)?))).ok_or_else(wrong)?;
        if from_minute < to_minute { Ok(Self(Span { from_minute, to_minute })) } else { Err(wrong()) }
    }
}

/// Minutes after midnight of `01:00`; `24:00` is the end of the day.
fn minute(clock: &str) -> Option<u16> {
    let (hours, minutes) = clock.trim().split_once(':')?;
    let two = |digits: &str| -> Option<u16> {
        let fits = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        fits.then(|| digits.parse().ok()).flatten()
    };
    let hours = two(hours)?;
    let minutes = two(minutes)?;
    let total = hours * 60 + minutes;
    (minutes < 60 && total <= 24 * 60).then_some(total)
}

/// A day of the week.
#[derive(Clone, Copy, Debug)]
pub(super) struct DayOfWeek(pub Weekday);

impl<'de> Deserialize<'de> for DayOfWeek {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let day = Weekday::ALL.into_iter().find(|day| day.word() == text);
        let words = Weekday::ALL.map(Weekday::word).join(", ");
        day.map(Self).ok_or_else(|| D::Error::custom(format!("found {}, expected one of {words}", found(&text))))
    }
}

/// A vendor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Maker(pub Vendor);

impl<'de> Deserialize<'de> for Maker {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let vendor = Vendor::ALL.into_iter().find(|vendor| vendor.word() == text);
        let words = Vendor::ALL.map(Vendor::word).join(", ");
        vendor.map(Self).ok_or_else(|| D::Error::custom(format!("found {}, expected one of {words}", found(&text))))
    }
}
