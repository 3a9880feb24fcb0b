//! Amounts of money as integers.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};
use std::str::FromStr;

use thiserror::Error;

const PICOUSD_PER_USD: i128 = 1_000_000_000_000;
const DECIMALS: usize = 12;
/// Amounts for people have a resolution of a hundredth of a cent.
const PICOUSD_PER_HUMAN_UNIT: i128 = 100_000_000;
const HUMAN_UNITS_PER_USD: u128 = 10_000;

/// An amount in 10⁻¹² USD. Every published token price is a whole number of these per token, so sums are exact. Counts
/// and prices are limited when they are read, so a sum beyond 10²⁶ USD is a bug and panics.
///
/// ```
/// use forkcast_sim::pricing::Money;
///
/// let price: Money = "0.000005".parse()?;
/// assert_eq!(Money::from_picousd(5_000_000), price);
/// assert_eq!((price + price).to_string(), "0.00001");
/// # Ok::<(), forkcast_sim::pricing::NotMoney>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Money(i128);

impl Money {
    /// Zero.
    pub const ZERO: Self = Self(0);

    /// An amount of 10⁻¹² USD.
    pub const fn from_picousd(picousd: i128) -> Self {
        Self(picousd)
    }

    /// The amount in 10⁻¹² USD.
    pub const fn picousd(self) -> i128 {
        self.0
    }

    /// `count` times `numerator / denominator` in 10⁻¹² USD, rounded once, half to even. A denominator below 1 counts
    /// as 1.
    pub fn of(count: u64, numerator: i128, denominator: i128) -> Self {
        Self(div_half_even(i128::from(count) * numerator, denominator))
    }

    /// The amount for people: four decimals, rounded half to even, such as `$0.0123`. A non-zero amount that would
    /// round to zero is shown as `<$0.0001`.
    pub fn human(self) -> String {
        let units = div_half_even(self.0, PICOUSD_PER_HUMAN_UNIT);
        let sign = if self.0 < 0 { "-" } else { "" };
        if units == 0 && self.0 != 0 {
            return format!("{sign}<$0.0001");
        }
        let units = units.unsigned_abs();
        format!("{sign}${}.{:04}", units / HUMAN_UNITS_PER_USD, units % HUMAN_UNITS_PER_USD)
    }
}

/// A number with its digits in groups of three: `1,234`.
pub fn grouped(number: impl Into<u128>) -> String {
    let digits = number.into().to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// So many things: `1 request`, `1,234 requests`.
pub fn several(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// A number of tokens as short as it can be exact: `80k`; `80,250` if it is not a whole number of thousands.
pub fn thousands(tokens: u64) -> String {
    if tokens.is_multiple_of(1_000) { format!("{}k", tokens / 1_000) } else { grouped(tokens) }
}

/// A number as people type it: `80000`, `80_000`, `80k` or `1m`; `None` if it is none or does not fit.
pub fn parse_number(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, factor) = match text.char_indices().last()? {
        (at, 'k' | 'K') => (&text[..at], 1_000),
        (at, 'm' | 'M') => (&text[..at], 1_000_000),
        _ => (text, 1),
    };
    digits.replace('_', "").parse::<u64>().ok()?.checked_mul(factor)
}

/// The quotient rounded to the nearest integer, ties to the even one. A denominator below 1 counts as 1.
pub fn div_half_even(numerator: i128, denominator: i128) -> i128 {
    // As in every published price; a division of this width is slow.
    if denominator <= 1 {
        return numerator;
    }
    let floor = numerator.div_euclid(denominator);
    let below = numerator.rem_euclid(denominator);
    // Compared this way because twice the remainder may overflow.
    let above = denominator - below;
    let up = below > above || (below == above && floor % 2 != 0);
    floor + i128::from(up)
}

impl fmt::Display for Money {
    /// USD with all digits and without an exponent, as a JSON number: `0.000123`, `12`, `0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Decimal { units: self.0, places: DECIMALS }.fmt(f)
    }
}

/// A decimal number of `units` of the last of its `places` after the point; shown with all digits, but no zeros at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// Units of the last place.
    pub units: i128,
    /// Places after the point, at most 18.
    pub places: usize,
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = 10_u64.pow(self.places as u32);
        let magnitude = self.units.unsigned_abs();
        // Divisions of the whole width are slow, and reports have many amounts.
        let (mut whole, mut rest) = match u64::try_from(magnitude) {
            Ok(magnitude) => (u128::from(magnitude / unit), magnitude % unit),
            Err(_) => (magnitude / u128::from(unit), (magnitude % u128::from(unit)) as u64),
        };
        // From the last digit to the first, without the formatter's detours.
        let mut text = [0; 64];
        let mut at = text.len();
        let mut put = |byte: u8| {
            at -= 1;
            text[at] = byte;
        };
        let mut places = self.places;
        if rest > 0 {
            while rest % 10 == 0 {
                (rest, places) = (rest / 10, places - 1);
            }
            for _ in 0..places {
                put(b'0' + (rest % 10) as u8);
                rest /= 10;
            }
            put(b'.');
        }
        loop {
            put(b'0' + (whole % 10) as u8);
            whole /= 10;
            if whole == 0 {
                break;
            }
        }
        if self.units < 0 {
            put(b'-');
        }
        f.write_str(std::str::from_utf8(&text[at..]).unwrap_or_default())
    }
}

/// A text that is not an amount.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}` is not an amount in USD: expected digits, and at most {DECIMALS} decimals after a point")]
pub struct NotMoney {
    /// The text as given.
    pub text: String,
}

impl FromStr for Money {
    type Err = NotMoney;

    /// Parses what [`Display`](fmt::Display) prints; trailing zeros are allowed.
    fn from_str(text: &str) -> Result<Self, NotMoney> {
        parse(text).ok_or_else(|| NotMoney { text: text.to_owned() })
    }
}

fn parse(text: &str) -> Option<Money> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    // A point needs digits on both sides; a missing decimal part counts as zero.
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, "0"));
    if !is_digits(whole) || !is_digits(decimals) {
        return None;
    }
    let decimals = decimals.trim_end_matches('0');
    if decimals.len() > DECIMALS {
        return None;
    }
    let fraction: i128 = format!("{decimals:0<DECIMALS$}").parse().ok()?;
    let whole: i128 = whole.parse().ok()?;
    whole.checked_mul(sign * PICOUSD_PER_USD)?.checked_add(sign * fraction).map(Money)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl Add for Money {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Money {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Neg for Money {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Money {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}
