//! The ledger line of one request of a transcript.

use forkcast_sim::ledger::Line;
use forkcast_sim::pricing::{Category, Money, Rates, div_half_even};
use forkcast_sim::service::{AnswerPlace, Compared, CostRange, CountedSize, Entry, Evidence, NotComparable, Verdict};
use forkcast_sim::wire::{ChainId, Ttl, Usage, number};

use super::prompt::SessionPrompt;
use super::run::SessionReplay;
use super::shortfall::{Attribution, explanation};
use crate::exchange::{Origin, RecordedUsage};
use crate::replay::price::{Asking, Priced, price};
use crate::source::transcript::Ask;

impl<'a> SessionReplay<'a> {
    /// Writes down a request that was served, and gives its prices. A copy was written down elsewhere.
    pub fn push(&mut self, ask: &Ask<'a>, prompt: &SessionPrompt, shown: Option<Attribution>) -> Option<Priced> {
        if ask.answer.copied {
            return None;
        }
        let recorded = ask.answer.usage.unwrap_or_default();
        let mut line = self.line(ask);
        let why = explanation(&prompt.usage, prompt.known, shown.map(|shown| shown.cause));
        let forecast = forecast(prompt, self.size.filter(|_| self.counting.decides()));
        let comparison = self.comparison(ask, prompt, &recorded, &forecast);
        let forecast = if comparison.is_ok() { forecast } else { prompt.usage };
        let mut priced = self.priced(ask, &recorded, &prompt.usage);
        let rates = priced.rates;
        line.recorded = Some(prompt.usage);
        line.predicted = Some(forecast);
        line.explanation = Some(why);
        self.result.price(&mut line, &mut priced, &prompt.usage);
        if let Some(rates) = rates {
            self.premiums.price(line.index, rates);
        }
        let unforeseen = rates.filter(|_| comparison.is_ok()).and_then(|rates| unforeseen(prompt, &rates));
        let evidence = shown.map(|shown| Evidence {
            file: self.session.agents[ask.agent].file.clone(),
            line: shown.line,
            shows: shown.shows,
        });
        let entry = self.entry(ask, line, comparison);
        self.result.entries.push(Entry { evidence, unforeseen, ..entry });
        Some(priced)
    }

    /// A line without prediction and explanation: what was recorded is counted and billed, nothing more is known.
    pub fn count_only(&mut self, ask: &Ask<'a>, why: NotComparable) {
        if ask.answer.copied {
            return;
        }
        let mut line = self.line(ask);
        if let Some(recorded) = ask.answer.usage {
            line.recorded = Some(recorded.usage);
            let mut priced = self.priced(ask, &recorded, &recorded.usage);
            self.result.price(&mut line, &mut priced, &recorded.usage);
        }
        // What was read of what it wrote is not known: its writes get no premium.
        let entry = self.entry(ask, line, Err(why));
        self.result.entries.push(entry);
    }

    fn comparison(
        &self,
        ask: &Ask<'a>,
        prompt: &SessionPrompt,
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
            chain: Some(ChainId(number(ask.agent))),
            at: self.place.timed.then_some(ask.times.at),
            first_byte_at: self.place.timed.then_some(ask.times.first_byte_at),
            ..Line::begun(self.result.entries.len(), self.place.number, ask.answer.model.to_string())
        }
    }

    fn priced(&self, ask: &Ask<'a>, recorded: &RecordedUsage, usage: &Usage) -> Priced {
        let at = self.place.timed.then_some(ask.times.at);
        price(self.options, &Asking::answered(&ask.answer.model, recorded, at), usage)
    }

    fn entry(&mut self, ask: &Ask<'a>, line: Line, comparison: Result<Compared, NotComparable>) -> Entry {
        let file = self.session.agents[ask.agent].file.to_string();
        let origin = Origin { file, index: ask.item, line: ask.line as usize };
        Entry {
            chain: Some(ask.agent),
            answer: Some(AnswerPlace { session: self.place.index, agent: ask.agent, item: ask.item }),
            size: self.size.take(),
            ..Entry::new(line, origin, comparison)
        }
    }
}

/// What falls that no rule foresees may cost: the hazard's interval times what writing the conversation anew costs more than
/// reading it.
fn unforeseen(prompt: &SessionPrompt, rates: &Rates) -> Option<CostRange> {
    let risk = prompt.decision?.risk?;
    let written = match prompt.ttl {
        Ttl::FiveMinutes => Category::Write5m,
        Ttl::OneHour => Category::Write1h,
    };
    let whole = rates.difference(written, Category::Read, risk.tokens).picousd();
    let share = |per_million: u32| Money::from_picousd(div_half_even(whole * i128::from(per_million), 1_000_000));
    Some(CostRange { low: share(risk.low_per_million), high: share(risk.high_per_million) })
}

/// The usage that the forecast expects: what is not read is written up to the last breakpoint, at the request's lifetime.
fn forecast(prompt: &SessionPrompt, counted: Option<CountedSize>) -> Usage {
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
