//! The ledger line of one request of a transcript.

use forkcast_sim::ledger::Line;
use forkcast_sim::pricing::{Category, Money, Rates, div_half_even};
use forkcast_sim::service::{
    AnswerPlace, Compared, Composition, CountedSize, Entry, Evidence, FRAME_TOKENS, NotComparable, PriceFacts, Quote,
    Verdict,
};
use forkcast_sim::wire::{ChainId, Ttl, Usage, number};

use super::prompt::SessionPrompt;
use super::run::SessionReplay;
use super::shortfall::{Attribution, explanation};
use crate::exchange::{Origin, RecordedUsage};
use crate::source::transcript::Ask;
use crate::what_if::Billed;

impl<'a> SessionReplay<'a> {
    /// The entry of a request that was served.
    pub fn served(
        &mut self,
        ask: &Ask<'a>,
        prompt: &SessionPrompt,
        shown: Option<Attribution>,
        quote: &Quote,
    ) -> Entry {
        let recorded = ask.answer.usage.unwrap_or_default();
        let read = prompt.decision.map_or(prompt.usage.cache_read_input_tokens, |decision| decision.read_tokens);
        let attached = prompt.decision.map_or(0, |decision| decision.attached_tokens);
        let forecast = forecast(prompt, read, attached, self.size.filter(|_| self.counting.decides()));
        let comparison = self.comparison(ask, prompt, &recorded, &forecast);
        let mut explanation = explanation(&prompt.usage, prompt.known, shown.map(|shown| shown.cause));
        // Later passes of the answer read what the first one had left.
        let read_later = recorded.usage.cache_read_input_tokens - prompt.usage.cache_read_input_tokens;
        explanation.read_tokens += read_later;
        explanation.new_tokens += recorded.usage.total_input_tokens() - prompt.usage.total_input_tokens() - read_later;
        let line = Line {
            recorded: Some(recorded.usage),
            predicted: Some(if comparison.is_ok() { forecast } else { recorded.usage }),
            explanation: Some(explanation),
            ..self.line(ask)
        };
        let rates = quote.rates.filter(|_| comparison.is_ok());
        let evidence = shown.map(|shown| Evidence {
            file: self.session.agents[ask.agent].file.clone(),
            line: shown.line,
            shows: shown.shows,
        });
        let unforeseen = rates.and_then(|rates| unforeseen(prompt, &rates));
        let billed = Billed { model: &ask.answer.model, usage: &recorded.usage, quote, is_modelled: true };
        let hypotheticals = self.options.without_cache(&billed);
        let hidden = prompt.hidden.zip(quote.rates).map(|(usage, rates)| rates.bill(&usage, &[]).total);
        let conversation = &self.agents[ask.agent].conversation;
        let composition = self.contents.as_ref().map_or_else(Composition::default, |contents| {
            contents.of_history(&conversation.history, conversation.head(), &recorded.usage)
        });
        Entry { evidence, unforeseen, hidden, hypotheticals, composition, ..self.entry(ask, line, comparison) }
    }

    /// An entry without prediction and explanation: recorded usage is counted and billed, nothing more is known.
    pub fn count_only(&mut self, ask: &Ask<'a>, why: NotComparable) {
        if ask.answer.copied {
            return;
        }
        let recorded = ask.answer.usage.map(|recorded| recorded.usage);
        let line = Line { recorded, ..self.line(ask) };
        let entry = self.entry(ask, line, Err(why));
        let Some(usage) = recorded else {
            self.engine.count(entry, &Usage::default(), &Quote::default());
            return;
        };
        let quote = self.quote(ask, &usage);
        let billed = Billed { model: &ask.answer.model, usage: &usage, quote: &quote, is_modelled: false };
        let hypotheticals = self.options.without_cache(&billed);
        self.engine.count(Entry { hypotheticals, ..entry }, &usage, &quote);
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
        let last = self.agents[ask.agent].last.as_ref().map(|(_, usage)| *usage);
        let expected = last.map(|usage| usage.cached_input_tokens());
        let found = prompt.usage.cache_read_input_tokens;
        let short = expected.is_some_and(|expected| found + FRAME_TOKENS < expected);
        let counted = self.size.filter(|_| self.counting.decides());
        let read = forecast.cache_read_input_tokens;
        Ok(Compared {
            recorded: Verdict::of(prompt.usage.cache_read_input_tokens, expected),
            predicted: Verdict::of(read, expected),
            recorded_usage: prompt.usage,
            predicted_usage: *forecast,
            size_known: expected == Some(read),
            between: (read, read),
            left_tokens: expected,
            rule: prompt.decision.map(|decision| decision.rule.word()),
            naive_usage: prompt.decision.map(|decision| self::forecast(prompt, decision.naive_read_tokens, 0, counted)),
            step: prompt.decision.map(|decision| decision.step),
            late: short && self.agents[ask.agent].lacks_last_write(found),
        })
    }

    fn line(&self, ask: &Ask<'a>) -> Line {
        Line {
            chain: Some(ChainId(number(ask.agent))),
            at: self.place.timed.then_some(ask.times.at),
            first_byte_at: self.place.timed.then_some(ask.times.first_byte_at),
            ..Line::begun(self.engine.next_line(), self.place.number, ask.answer.model.to_string())
        }
    }

    /// Prices of a request with this usage.
    pub fn quote(&self, ask: &Ask<'a>, usage: &Usage) -> Quote {
        let answer = ask.answer.usage.unwrap_or_default();
        let at = self.place.timed.then_some(ask.times.at);
        self.options.tariff().quote(&PriceFacts::answered(&ask.answer.model, &answer, at), usage)
    }

    fn entry(&mut self, ask: &Ask<'a>, line: Line, comparison: Result<Compared, NotComparable>) -> Entry {
        let file = self.session.agents[ask.agent].file.to_string();
        let origin = Origin { file, index: ask.item, line: ask.line as usize };
        Entry {
            answer: Some(AnswerPlace { session: self.place.index, agent: ask.agent, item: ask.item }),
            size: self.size.take(),
            ..Entry::new(line, origin, comparison)
        }
    }
}

/// What a fall without a sign costs on average: its chance times what writing the conversation anew costs more than reading it.
fn unforeseen(prompt: &SessionPrompt, rates: &Rates) -> Option<Money> {
    let risk = prompt.decision?.risk?;
    let written = match prompt.ttl {
        Ttl::FiveMinutes => Category::Write5m,
        Ttl::OneHour => Category::Write1h,
    };
    let whole = rates.difference(written, Category::Read, risk.tokens).picousd();
    Some(Money::from_picousd(div_half_even(whole * i128::from(risk.per_million), 1_000_000)))
}

/// The expected usage if `read` tokens are read: all other input is written up to the last breakpoint, at the request's lifetime.
fn forecast(prompt: &SessionPrompt, read: u64, attached: u64, counted: Option<CountedSize>) -> Usage {
    let recorded = prompt.usage.total_input_tokens();
    let total = counted.map_or(recorded, |size| size.tokens.max(read));
    let cached = (prompt.cached + total).saturating_sub(recorded + attached);
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
