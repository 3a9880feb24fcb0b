//! A lock as text: parts that requests share are written once, and every block has a line of its own.

use std::fmt::Write as _;

use super::{Chain, Lock, Locked, NO_CHUNKS, Placed, VERSION};
use crate::outside::toml_string;
use crate::wire::Index;

const HEAD: &str = "\
# Prompt prefixes that were sent, as digests. Written by `forkcast lock`; renew it with `forkcast check --update`.
# A block: [path, kind, name, tokens, bytes, digest, one digest for each 256 bytes]; \"-\" if its content was not kept
# [\"=\", R, A, B]: blocks A to B of request R again; requests are numbered through the file, blocks within each, from 0.
";

impl Lock {
    /// Its text, which [`Lock::parse`] reads back. The same lock gives the same bytes.
    pub fn text(&self) -> String {
        let mut text = HEAD.to_owned();
        line(&mut text, "version", &VERSION.to_string());
        line(&mut text, "preset", &toml_string(&self.preset));
        line(&mut text, "prices", &toml_string(&self.prices));
        if self.anonymous {
            line(&mut text, "anonymous", "true");
        }
        line(&mut text, "chains", &self.chains.len().to_string());
        line(&mut text, "requests", &self.requests().to_string());
        let mut print = Print { lock: self, text, number: 0, owners: Index::default() };
        for chain in &self.chains {
            print.chain(chain);
        }
        print.text
    }
}

struct Print<'a> {
    lock: &'a Lock,
    text: String,
    /// Number of the next request.
    number: usize,
    /// The first request that contains each prefix.
    owners: Index<u32, usize>,
}

impl Print<'_> {
    fn chain(&mut self, chain: &Chain) {
        self.text.push_str("\n[[chain]]\n");
        line(&mut self.text, "name", &toml_string(&chain.name));
        if let Some(parent) = &chain.parent {
            line(&mut self.text, "parent", &toml_string(parent));
        }
        let mut before: Option<(usize, Vec<Placed<'_>>)> = None;
        for request in &chain.requests {
            let prompt = self.lock.prompt(request);
            self.request(request, &prompt, before.as_ref());
            before = Some((self.number, prompt));
            self.number += 1;
        }
    }

    fn request(&mut self, request: &Locked, prompt: &[Placed<'_>], before: Option<&(usize, Vec<Placed<'_>>)>) {
        let _ = writeln!(self.text, "\n[[chain.request]] # {}", self.number);
        line(&mut self.text, "model", &toml_string(&request.model));
        let levels = crate::wire::Level::ALL.into_iter().zip(&request.levels);
        let levels: Vec<String> =
            levels.filter_map(|(level, digest)| Some(format!("{} = \"{}\"", level.name(), digest.as_ref()?))).collect();
        line(&mut self.text, "levels", &format!("{{ {} }}", levels.join(", ")));
        let kept = prompt.iter().take_while(|placed| self.owners.contains(&placed.at)).count();
        let owner = kept.checked_sub(1).and_then(|last| self.owners.get(&prompt[last].at));
        if let Some(owner) = owner {
            let keeps = format!("{{ request = {owner}, blocks = {kept} }}");
            line(&mut self.text, "keeps", &keeps);
        }
        if kept < prompt.len() {
            self.text.push_str("blocks = [\n");
            self.rows(&prompt[kept..], before);
            self.text.push_str("]\n");
        }
        for placed in &prompt[kept..] {
            self.owners.insert(placed.at, self.number);
        }
        self.outcome(request);
    }

    fn outcome(&mut self, request: &Locked) {
        let breakpoint = |found: &super::Breakpoint| format!("\"{} {}\"", found.path, found.ttl);
        let breakpoints: Vec<String> = request.breakpoints.iter().map(breakpoint).collect();
        line(&mut self.text, "breakpoints", &format!("[{}]", breakpoints.join(", ")));
        if let Some(cost) = request.cost {
            line(&mut self.text, "cost_usd", &format!("\"{cost}\""));
        }
        // Always present and last, so that it reveals a truncated text.
        let usage = &request.usage;
        let parts = [
            ("read", usage.cache_read_input_tokens),
            ("write_5m", usage.ephemeral_5m_input_tokens),
            ("write_1h", usage.ephemeral_1h_input_tokens),
            ("input", usage.input_tokens),
        ];
        let parts = parts.map(|(word, tokens)| format!("{word} = {tokens}")).join(", ");
        line(&mut self.text, "expected", &format!("{{ {parts} }}"));
    }

    /// A line for each block; one for each stretch that the chain's previous request had at the same places.
    fn rows(&mut self, prompt: &[Placed<'_>], before: Option<&(usize, Vec<Placed<'_>>)>) {
        let again = |placed: &Placed<'_>| {
            let (number, before) = before?;
            // Places are mostly in order, so the search is cheap; if they are not, the block is written out.
            let at = before.binary_search_by(|known| known.place.cmp(&placed.place)).ok()?;
            let same = before[at].block.digest == placed.block.digest && before[at].tokens == placed.tokens;
            same.then_some((*number, at))
        };
        let mut next = 0;
        while let Some(placed) = prompt.get(next) {
            let Some((number, from)) = again(placed) else {
                self.row(placed);
                next += 1;
                continue;
            };
            let goes_on = |step: &usize| prompt.get(next + step).and_then(again) == Some((number, from + step));
            let length = (1..).take_while(goes_on).count() + 1;
            let _ = writeln!(self.text, "  [\"=\", {number}, {from}, {}],", from + length);
            next += length;
        }
    }

    fn row(&mut self, placed: &Placed<'_>) {
        let block = placed.block;
        let _ = write!(
            self.text,
            "  [\"{}\", \"{}\", {}, {}, {}, \"{}\", \"",
            placed.place,
            block.kind.name(),
            toml_string(&block.name),
            placed.tokens,
            block.bytes,
            block.digest
        );
        if block.chunks.is_empty() {
            self.text.push_str(NO_CHUNKS);
        }
        for chunk in &block.chunks {
            let _ = write!(self.text, "{chunk:08x}");
        }
        self.text.push('"');
        if let Some(content) = &block.content {
            let _ = write!(self.text, ", {}", toml_string(content));
        }
        self.text.push_str("],\n");
    }
}

fn line(text: &mut String, key: &str, value: &str) {
    let _ = writeln!(text, "{key} = {value}");
}
