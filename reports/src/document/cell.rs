//! Cells: values that people and machines read in different forms.

use forkcast_sim::pricing::{Money, div_half_even, grouped};
use forkcast_sim::time::Instant;

/// A value in a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing to show.
    Empty,
    /// A missing value, with a word for people that gives the reason.
    Missing(&'static str),
    /// Text.
    Text(String),
    /// A number of things.
    Count(u64),
    /// A difference between two numbers.
    Difference(i128),
    /// An amount; `None` if there is no price.
    Money(Option<Money>),
    /// A difference between two amounts; `None` if one has no price.
    MoneyDifference(Option<Money>),
    /// A price with all its digits.
    Price(Money),
    /// A share of a whole.
    Share(Option<f64>),
    /// A deviation, as a fraction of the correct value.
    Error(Option<f64>),
    /// A plain number with up to three decimals.
    Factor(f64),
    /// A yes or no, with a word for each.
    Truth {
        /// The value.
        holds: bool,
        /// The word for yes.
        yes: &'static str,
        /// The word for no.
        no: &'static str,
    },
}

impl Cell {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// For people: `1,234`, `$0.0123`, `12.3 %`.
    pub fn human(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Missing(word) => (*word).to_owned(),
            Self::Truth { holds, yes, no } => (if *holds { *yes } else { *no }).to_owned(),
            Self::Text(text) => text.clone(),
            Self::Count(number) => count(*number),
            Self::Difference(0) => "0".to_owned(),
            Self::Difference(difference) => {
                let sign = if *difference < 0 { "-" } else { "+" };
                format!("{sign}{}", grouped(difference.unsigned_abs()))
            }
            Self::Money(None) | Self::MoneyDifference(None) => "no price".to_owned(),
            Self::MoneyDifference(Some(amount)) if *amount > Money::ZERO => money(*amount).replacen('$', "+$", 1),
            Self::Money(Some(amount)) | Self::MoneyDifference(Some(amount)) => money(*amount),
            Self::Price(price) => price.to_string(),
            Self::Share(None) | Self::Error(None) => "–".to_owned(),
            Self::Error(Some(part)) if part.abs() < 0.000_5 => "0.0 %".to_owned(),
            Self::Error(Some(part)) => percent(&format!("{:+.1}", part * 100.0)),
            Self::Factor(factor) => format!("{factor:.3}"),
            Self::Share(Some(part)) => share(*part),
        }
    }

    /// For machines: all digits, no units.
    pub fn machine(&self) -> String {
        match self {
            Self::Empty | Self::Missing(_) | Self::Money(None) | Self::MoneyDifference(None) => String::new(),
            Self::Share(None) | Self::Error(None) => String::new(),
            Self::Truth { holds, .. } => holds.to_string(),
            Self::Text(text) => text.clone(),
            Self::Count(number) => number.to_string(),
            Self::Difference(difference) => difference.to_string(),
            Self::Money(Some(amount)) | Self::MoneyDifference(Some(amount)) | Self::Price(amount) => amount.to_string(),
            Self::Share(Some(part)) | Self::Error(Some(part)) | Self::Factor(part) => part.to_string(),
        }
    }
}

/// A number with separators between thousands: `1,234,567`.
pub fn count(number: u64) -> String {
    grouped(number)
}

/// A size: `512 bytes`, `133.8 kB`.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match UNITS.iter().find(|(size, _)| bytes >= *size) {
        Some((size, unit)) => format!("{:.1} {unit}", bytes as f64 / *size as f64),
        None => format!("{bytes} bytes"),
    }
}

/// A span of time, rounded, in two units at most: `412 ms`, `3.5 s`, `7 min 12 s`, `3 h 4 min`.
pub fn span(ms: u64) -> String {
    let (tenths, seconds, minutes) = ((ms + 50) / 100, (ms + 500) / 1_000, (ms + 30_000) / 60_000);
    match ms {
        0..1_000 => format!("{ms} ms"),
        _ if tenths < 600 && tenths % 10 == 0 => format!("{} s", tenths / 10),
        _ if tenths < 600 => format!("{}.{} s", tenths / 10, tenths % 10),
        _ if seconds < 3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

/// An instant of a run, as the span since it began.
pub fn since_start(at: Instant) -> String {
    span(at.since(Instant(0)).as_millis())
}

/// An amount for people: cents from one dollar on, hundredths of a cent below: `$1,234.57`, `$0.0123`.
pub fn money(amount: Money) -> String {
    if amount == Money::ZERO {
        return "$0".to_owned();
    }
    let cents = div_half_even(amount.picousd(), PICOUSD_PER_CENT);
    if cents.unsigned_abs() >= CENTS_PER_USD {
        let sign = if cents < 0 { "-" } else { "" };
        let (whole, part) = (cents.unsigned_abs() / CENTS_PER_USD, cents.unsigned_abs() % CENTS_PER_USD);
        return format!("{sign}${}.{part:02}", grouped(whole));
    }
    let text = amount.human();
    if let Some(least) = text.strip_prefix("-<") {
        return format!(">-{least}");
    }
    text
}

const CENTS_PER_USD: u128 = 100;

const PICOUSD_PER_CENT: i128 = 10_000_000_000;

/// A share of a whole: `12.3 %`.
pub fn share(part: f64) -> String {
    percent(&format!("{:.1}", part * 100.0))
}

/// A number with one decimal as a percentage: `+1,234.5 %`.
fn percent(number: &str) -> String {
    let digits = number.trim_start_matches(['+', '-']);
    let (sign, _) = number.split_at(number.len() - digits.len());
    let parts = digits.split_once('.').and_then(|(whole, tenth)| Some((whole.parse::<u64>().ok()?, tenth)));
    match parts {
        Some((whole, tenth)) => format!("{sign}{}.{tenth} %", grouped(whole)),
        None => format!("{number} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Cell, count, money, share, span};
    use forkcast_sim::pricing::Money;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(Cell::Difference(-12_345).human(), "-12,345");
        assert_eq!(Cell::Difference(7).human(), "+7");
    }

    #[test]
    fn spans_have_two_units_at_most() {
        let spans = [400, 3_540, 12_000, 252_000, 11_100_000].map(span);
        assert_eq!(spans, ["400 ms", "3.5 s", "12 s", "4 min 12 s", "3 h 5 min"]);
        let rounded = [3_550, 59_949, 59_950, 3_599_499, 3_599_500].map(span);
        assert_eq!(rounded, ["3.6 s", "59.9 s", "1 min 0 s", "59 min 59 s", "1 h 0 min"]);
    }

    #[test]
    fn money_is_read_in_dollars() {
        let usd = |text: &str| money(text.parse::<Money>().unwrap());
        assert_eq!(usd("1234567.5"), "$1,234,567.50");
        assert_eq!(usd("-0.0123"), "-$0.0123");
        assert_eq!([usd("0.9949"), usd("0.9951"), usd("1.005")], ["$0.9949", "$1.00", "$1.00"]);
        assert_eq!(usd("0.000001"), "<$0.0001");
        assert_eq!(usd("-0.000001"), ">-$0.0001");
        assert_eq!(usd("0"), "$0");
        let more = |text: &str| Cell::MoneyDifference(Some(text.parse().unwrap())).human();
        assert_eq!([more("1.5"), more("-1.5"), more("0.000001"), more("0")], ["+$1.50", "-$1.50", "<+$0.0001", "$0"]);
    }

    #[test]
    fn shares_have_one_decimal() {
        assert_eq!(share(0.1234), "12.3 %");
        assert_eq!(Cell::Error(Some(173.701)).human(), "+17,370.1 %");
        assert_eq!(Cell::Error(Some(-0.05)).human(), "-5.0 %");
        assert_eq!(Cell::Share(Some(0.5)).machine(), "0.5");
    }
}
