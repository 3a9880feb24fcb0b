//! Entries of a price file, and the rows they define.

use std::collections::BTreeSet;

use serde::Deserialize;
use toml::Spanned;

use super::BookFile;
use super::value::{Amount, Clock, Day, DayOfWeek, Maker, Price, Times};
use crate::pricing::book::ModelKey;
use crate::pricing::date::Date;
use crate::pricing::fees::{Fee, NotBilled};
use crate::pricing::hours::{Hours, Weekday};
use crate::pricing::row::{LengthTier, PriceRow, Prices, Source, Tier};

/// An error: byte offset and message.
type Problem = (usize, String);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entries {
    #[serde(default)]
    price: Vec<PriceEntry>,
    #[serde(default)]
    fee: Vec<FeeEntry>,
    #[serde(default)]
    not_billed: Vec<NotBilledEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceEntry {
    model: Spanned<String>,
    from: Option<Day>,
    input: Price,
    write_5m: Option<Price>,
    write_1h: Option<Price>,
    read: Option<Price>,
    output: Price,
    long: Option<LongEntry>,
    fast: Option<Spanned<TierEntry>>,
    batch: Option<Spanned<TierEntry>>,
    flex: Option<Spanned<TierEntry>>,
    priority: Option<Spanned<TierEntry>>,
    peak: Option<Spanned<PeakEntry>>,
    us: Option<Times>,
    regional: Option<Times>,
    #[serde(default)]
    source: String,
    #[serde(default)]
    dated: String,
    note: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LongEntry {
    above: u64,
    input: Price,
    write_5m: Option<Price>,
    write_1h: Option<Price>,
    read: Option<Price>,
    output: Price,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TierEntry {
    factor: Option<Times>,
    input: Option<Price>,
    write_5m: Option<Price>,
    write_1h: Option<Price>,
    read: Option<Price>,
    output: Option<Price>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PeakEntry {
    utc: Vec<Clock>,
    days: Option<Vec<DayOfWeek>>,
    #[serde(default)]
    except: Vec<Day>,
    factor: Option<Times>,
    input: Option<Price>,
    write_5m: Option<Price>,
    write_1h: Option<Price>,
    read: Option<Price>,
    output: Option<Price>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FeeEntry {
    vendor: Maker,
    name: Spanned<String>,
    unit: String,
    price: Amount,
    per: Option<Spanned<u32>>,
    #[serde(default)]
    source: String,
    #[serde(default)]
    dated: String,
    note: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NotBilledEntry {
    vendor: Maker,
    what: String,
}

impl Entries {
    /// Converts the entries to rows. Fails if two entries give prices for the same model and day, or if one is
    /// incomplete.
    pub(super) fn check(self) -> Result<BookFile, Problem> {
        let mut seen: BTreeSet<(ModelKey, Option<Date>)> = BTreeSet::new();
        let mut rows = Vec::with_capacity(self.price.len());
        for entry in self.price {
            let place = entry.model.span().start;
            let row = entry.row()?;
            if !seen.insert((row.model.clone(), row.valid_from)) {
                let day = row.valid_from.map_or("without `from`".to_owned(), |day| format!("from {day}"));
                return Err((place, format!("a second price of {} {day}, expected one", row.model)));
            }
            rows.push(row);
        }
        let fees = self.fee.into_iter().map(FeeEntry::fee).collect::<Result<_, _>>()?;
        let not_billed = self.not_billed.into_iter();
        let not_billed = not_billed.map(|entry| NotBilled { vendor: entry.vendor.0, what: entry.what }).collect();
        Ok(BookFile { rows, fees, not_billed })
    }
}

fn picousd(price: Option<Price>) -> Option<u64> {
    price.map(|price| price.0)
}

impl PriceEntry {
    fn row(self) -> Result<PriceRow, Problem> {
        let place = self.model.span().start;
        let model = self.model.into_inner();
        if model.trim().is_empty() {
            return Err((place, "found an empty name, expected a model".to_owned()));
        }
        let write_5m = picousd(self.write_5m);
        let write_1h = picousd(self.write_1h);
        let standard = Prices::filled(self.input.0, write_5m, write_1h, picousd(self.read), self.output.0);
        let tier = |entry: Option<Spanned<TierEntry>>| entry.map(TierEntry::tier).transpose();
        Ok(PriceRow {
            model: ModelKey::from(model.as_str()),
            valid_from: self.from.map(|day| day.0),
            standard,
            long: self.long.map(LongEntry::tier),
            fast: tier(self.fast)?,
            batch: tier(self.batch)?,
            flex: tier(self.flex)?,
            priority: tier(self.priority)?,
            peak: self.peak.map(PeakEntry::peak).transpose()?,
            us: self.us.map(|factor| factor.0),
            regional: self.regional.map(|factor| factor.0),
            source: Source { tag: self.source, dated: self.dated },
            note: self.note,
        })
    }
}

impl LongEntry {
    fn tier(self) -> LengthTier {
        let write_5m = picousd(self.write_5m);
        let write_1h = picousd(self.write_1h);
        let prices = Prices::filled(self.input.0, write_5m, write_1h, picousd(self.read), self.output.0);
        LengthTier { above_prompt_tokens: self.above, prices }
    }
}

impl TierEntry {
    /// Without a factor the prices must be complete.
    fn tier(entry: Spanned<Self>) -> Result<Tier, Problem> {
        let place = entry.span().start;
        let Self { factor, input, write_5m, write_1h, read, output } = entry.into_inner();
        let own = [input, write_5m, write_1h, read, output].map(picousd);
        if factor.is_some() {
            return Ok(Tier { factor: factor.map(|factor| factor.0), own_picousd: own });
        }
        let [Some(input), write_5m, write_1h, read, Some(output)] = own else {
            return Err((place, "expected `factor`, or both `input` and `output`".to_owned()));
        };
        let prices = Prices::filled(input, write_5m, write_1h, read, output);
        let own_picousd = crate::pricing::Category::ALL.map(|category| Some(prices.of(category)));
        Ok(Tier { factor: None, own_picousd })
    }
}

impl PeakEntry {
    fn peak(entry: Spanned<Self>) -> Result<(Hours, Tier), Problem> {
        let span = entry.span();
        let Self { utc, days, except, factor, input, write_5m, write_1h, read, output } = entry.into_inner();
        if utc.is_empty() {
            return Err((span.start, "found no hours, expected `utc = [\"01:00-04:00\"]`".to_owned()));
        }
        let days: BTreeSet<Weekday> =
            days.map_or_else(|| Weekday::ALL.into(), |days| days.iter().map(|day| day.0).collect());
        let hours = Hours {
            spans: utc.iter().map(|clock| clock.0).collect(),
            days: days.into_iter().collect(),
            except: except.iter().map(|day| day.0).collect(),
        };
        let tier = TierEntry { factor, input, write_5m, write_1h, read, output };
        Ok((hours, TierEntry::tier(Spanned::new(span, tier))?))
    }
}

impl FeeEntry {
    fn fee(self) -> Result<Fee, Problem> {
        if let Some(per) = self.per.as_ref().filter(|per| *per.get_ref() == 0) {
            return Err((per.span().start, "found 0 units, expected at least 1".to_owned()));
        }
        Ok(Fee {
            vendor: self.vendor.0,
            name: self.name.into_inner(),
            unit: self.unit,
            price: self.price.0,
            per: self.per.map_or(1, Spanned::into_inner),
            source: Source { tag: self.source, dated: self.dated },
            note: self.note,
        })
    }
}
