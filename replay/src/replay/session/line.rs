//! The ledger line of one request of a transcript.

use forkcast_sim::ledger::Line;
use forkcast_sim::pricing::{Category, Money, Rates, div_half_even};
use forkcast_sim::wire::{ChainId, Ttl, Usage};

use super::Evidence;
use super::ask::Ask;
use super::explained::{Shown, explanation};
use super::prompt::Prompt;
use super::run::Run;
use crate::agreement::{Compared, NotComparable, Verdict};
use crate::exchange::{Origin, RecordedUsage};
use crate::replay::price::{Asking, Priced, price};
use crate::replay::{Asked, CountedSize};

impl<'a> Run<'a> {
    /// Writes down a request that was served, and gives its prices. A copy was written down elsewhere.
    pub fn push(&mut self, ask: &Ask<'a>, prompt: &Prompt, shown: Option<Shown>) -> Option<Priced> {
        if ask.answer.copied {
            return None;
        }
        let recorded = ask.answer.usage.unwrap_or_default();
        let mut line = self.line(ask);
        let why = explanation(&prompt.usage, prompt.known, shown.map(|shown| shown.cause));
        let forecast = forecast(prompt, self.size.filter(|_| self.counting.decides()));
        let comparison = self.comparison(ask, prompt, &recorded, &forecast);
        let forecast = if comparison.is_ok() { forecast } else { prompt.usage };
        let mut priced = self.price(ask, &recorded, &prompt.usage);
        let rates = priced.rates;
        line.remarks.append(&mut priced.remarks);
        line.recorded = Some(prompt.usage);
        line.predicted = Some(forecast);
        line.explanation = Some(why);
        line.price(&prompt.usage, rates.as_ref(), &priced.fees);
        if let Some(rates) = rates {
            self.premiums.price(line.index, rates);
        }
        let residual = rates.filter(|_| comparison.is_ok()).and_then(|rates| residual(prompt, &rates));
        let evidence = shown.map(|shown| Evidence {
            file: self.session.agents[ask.agent].file.clone(),
            line: shown.line,
            shows: shown.shows,
        });
        self.add(ask, line, comparison, (evidence, residual));
        Some(priced)
    }

    /// A line without prediction and explanation: what was recorded is counted and billed, nothing more is known.
    pub fn count_only(&mut self, ask: &Ask<'a>, why: NotComparable) {
        if ask.answer.copied {
            return;
        }
        let mut line = self.line(ask);
        if let Some(recorded) = ask.answer.usage {
            let Priced { rates, fees, remarks, .. } = self.price(ask, &recorded, &recorded.usage);
            line.remarks.extend(remarks);
            line.recorded = Some(recorded.usage);
            line.price(&recorded.usage, rates.as_ref(), &fees);
        }
        // What was read of what it wrote is not known: its writes get no premium.
        self.add(ask, line, Err(why), (None, None));
    }

    fn comparison(
        &self,
        ask: &Ask<'a>,
        prompt: &Prompt,
        recorded: &RecordedUsage,
        forecast: &Usage,
    ) -> Result<Compared, NotComparable> {
        if prompt.first {
            return Err(NotComparable::FirstOfChain);
        }
        if recorded.server_passes {
            return Err(NotComparable::ServerTools);
        }
        let last = self.agents[ask.agent].last.as_ref();
        let expected = last.map(|(_, usage)| usage.cache_read_input_tokens + usage.cache_creation_input_tokens());
        let read = forecast.cache_read_input_tokens;
        Ok(Compared {
            recorded: Verdict::of(prompt.usage.cache_read_input_tokens, expected),
            predicted: Verdict::of(read, expected),
            recorded_usage: prompt.usage,
            predicted_usage: *forecast,
            size_known: expected == Some(read),
            between: (read, read),
        })
    }

    fn line(&self, ask: &Ask<'a>) -> Line {
        Line {
            chain: Some(ChainId(u32::try_from(ask.agent).unwrap_or(u32::MAX))),
            at: self.place.timed.then_some(ask.at),
            first_byte_at: self.place.timed.then_some(ask.first_byte_at),
            ..Line::begun(self.ledger.lines.len(), self.place.number, ask.answer.model.to_string())
        }
    }

    fn price(&mut self, ask: &Ask<'a>, recorded: &RecordedUsage, usage: &Usage) -> Priced {
        let asking = Asking {
            model: &ask.answer.model,
            recorded,
            tier: recorded.tier.unwrap_or_default(),
            regional_host: false,
            says_fast: false,
            says_us: false,
            at: self.place.timed.then_some(ask.at),
        };
        let priced = price(self.options, &asking, usage);
        let model = &*ask.answer.model;
        if priced.rates.is_none() && !self.ledger.unpriced.iter().any(|known| known == model) {
            self.ledger.unpriced.push(model.to_owned());
        }
        priced
    }

    fn add(
        &mut self,
        ask: &Ask<'a>,
        line: Line,
        comparison: Result<Compared, NotComparable>,
        (evidence, residual): (Option<Evidence>, Option<(Money, Money)>),
    ) {
        let file = self.session.agents[ask.agent].file.to_string();
        self.ledger.lines.push(line);
        self.ledger.comparisons.push(comparison);
        self.ledger.origins.push(Origin { file, index: ask.item, line: ask.line as usize });
        self.ledger.asked.push(Asked { session: self.place.index, agent: ask.agent, item: ask.item });
        self.ledger.evidence.push(evidence);
        self.ledger.counted.push(self.size.take());
        self.ledger.residuals.push(residual);
        self.ledger.hypotheticals.push(Vec::new());
        self.ledger.lower_bounds.push(None);
    }
}

/// What falls that no rule foresees may cost: the hazard's interval times what writing the conversation anew costs more than
/// reading it.
fn residual(prompt: &Prompt, rates: &Rates) -> Option<(Money, Money)> {
    let risk = prompt.decision?.risk?;
    let written = match prompt.ttl {
        Ttl::FiveMinutes => Category::Write5m,
        Ttl::OneHour => Category::Write1h,
    };
    let whole = rates.difference(written, Category::Read, risk.tokens).picousd();
    let share = |per_million: u32| Money::from_picousd(div_half_even(whole * i128::from(per_million), 1_000_000));
    Some((share(risk.low_per_million), share(risk.high_per_million)))
}

/// The usage that the forecast expects: what is not read is written up to the last breakpoint, at the request's lifetime.
fn forecast(prompt: &Prompt, counted: Option<CountedSize>) -> Usage {
    let read = prompt.decision.map_or(prompt.usage.cache_read_input_tokens, |decision| decision.read_tokens);
    let recorded = prompt.usage.total_input_tokens();
    let total = counted.map_or(recorded, |size| size.tokens.max(read));
    let cached = (prompt.cached + total).saturating_sub(recorded);
    let written = cached.saturating_sub(read);
    let (five_minutes, one_hour) = match prompt.ttl {
        Ttl::FiveMinutes => (written, 0),
        Ttl::OneHour => (0, written),
    };
    Usage {
        input_tokens: total.saturating_sub(read + written),
        cache_read_input_tokens: read,
        ephemeral_5m_input_tokens: five_minutes,
        ephemeral_1h_input_tokens: one_hour,
        output_tokens: prompt.usage.output_tokens,
    }
}
