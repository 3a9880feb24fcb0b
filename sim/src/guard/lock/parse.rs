//! Parses a lock. Nothing in it is trusted, because people edit and merge locks.

use std::collections::BTreeSet;
use std::ops::Range;

use thiserror::Error;
use toml::Spanned;

use super::digest::{self, Digest};
use super::entry::{ChainEntry, Entries, ExpectedEntry, Field, KeepsEntry, LevelsEntry, RequestEntry};
use super::pool::Pool;
use super::{Block, Breakpoint, CHUNK_BYTES, Chain, Lock, Locked, NO_CHUNKS, Node, NodeAt, VERSION};
use crate::outside::{complaint, found};
use crate::pricing::Money;
use crate::wire::{BlockKind, Level, Place, TOKENS_MAX, Ttl, Usage};

/// A text that is no lock.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadLock {
    /// The version is unknown to this program.
    #[error(
        "written by a newer forkcast (version {found}, this program knows {known}): update forkcast, or rewrite the lock with --update"
    )]
    Newer {
        /// The version of the text.
        found: u64,
        /// The version that is read.
        known: u64,
    },
    /// Something in it is wrong.
    #[error("line {line}: found {found}, expected {expected}")]
    At {
        /// Line, counted from one.
        line: usize,
        /// The text found.
        found: String,
        /// The text expected.
        expected: String,
    },
}

/// Most blocks that all requests of a lock may have together when written out; real locks have a few thousand.
const NODES_MAX: usize = 1 << 24;

/// An error, and its byte offset.
struct Fault {
    at: usize,
    found: String,
    expected: String,
}

type Read<T> = Result<T, Fault>;

fn fault<T>(at: usize, found: impl Into<String>, expected: impl Into<String>) -> Read<T> {
    Err(Fault { at, found: found.into(), expected: expected.into() })
}

impl Lock {
    /// Reads a lock.
    ///
    /// # Errors
    /// [`BadLock`] with the line, the finding and the expectation.
    pub fn parse(text: &str) -> Result<Self, BadLock> {
        let at = |offset: usize| text.get(..offset.min(text.len())).unwrap_or(text).matches('\n').count() + 1;
        if let Some(line) = text.lines().position(|line| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ")) {
            let expected = "a lock without the mark of a merge conflict: resolve it, or rewrite the lock with --update";
            return Err(BadLock::At { line: line + 1, found: "`<<<<<<<`".to_owned(), expected: expected.to_owned() });
        }
        // The rest of a newer version is unknown, so its number is checked first.
        if let Some(found) = stated_version(text).filter(|found| *found > VERSION) {
            return Err(BadLock::Newer { found, known: VERSION });
        }
        let entries: Entries = toml::from_str(text).map_err(|error| BadLock::At {
            line: at(error.span().map_or(0, |span| span.start)),
            found: complaint::toml(&error, text),
            expected: format!("a lock of version {VERSION}, whole and as it was written"),
        })?;
        Reader::default().lock(entries).map_err(|Fault { at: offset, found, expected }| BadLock::At {
            line: at(offset),
            found,
            expected,
        })
    }
}

/// The number after `version =` before the first table.
fn stated_version(text: &str) -> Option<u64> {
    let head = text.lines().map(str::trim).take_while(|line| !line.starts_with('['));
    let value = |line: &str| line.strip_prefix("version")?.trim_start().strip_prefix('=')?.trim().parse().ok();
    head.filter_map(value).next()
}

#[derive(Default)]
struct Reader {
    pool: Pool,
    /// The last node of each request, in the order of the text.
    ends: Vec<Option<NodeAt>>,
}

impl Reader {
    fn lock(mut self, entries: Entries) -> Read<Lock> {
        if *entries.version.get_ref() != VERSION {
            let found = format!("version {}", entries.version.get_ref());
            return fault(entries.version.span().start, found, format!("version {VERSION}"));
        }
        (self.pool.lock.preset, self.pool.lock.prices) = (entries.preset, entries.prices);
        self.pool.lock.anonymous = entries.anonymous;
        let mut names = BTreeSet::new();
        for chain in entries.chain {
            if !names.insert(chain.name.get_ref().clone()) {
                let found = format!("a second chain {}", found(chain.name.get_ref()));
                return fault(chain.name.span().start, found, "one table for each chain");
            }
            self.chain(chain)?;
        }
        whole("chain", &entries.chains, self.pool.lock.chains.len())?;
        whole("request", &entries.requests, self.pool.lock.requests())?;
        Ok(self.pool.lock)
    }

    fn chain(&mut self, entry: ChainEntry) -> Read<()> {
        let mut chain = Chain { name: entry.name.into_inner(), parent: entry.parent, requests: Vec::new() };
        for request in entry.request {
            chain.requests.push(self.request(request)?);
        }
        self.pool.lock.chains.push(chain);
        Ok(())
    }

    fn request(&mut self, entry: RequestEntry) -> Read<Locked> {
        let mut path = match &entry.keeps {
            Some(keeps) => self.kept(*keeps.get_ref(), keeps.span().start)?,
            None => Vec::new(),
        };
        for row in &entry.blocks {
            self.row(row, &mut path)?;
        }
        let levels = self.levels(&entry.levels, &path)?;
        self.ends.push(path.last().copied());
        let breakpoints = entry.breakpoints.iter().map(|text| self.breakpoint(text, &path));
        Ok(Locked {
            breakpoints: breakpoints.collect::<Read<_>>()?,
            model: entry.model,
            levels,
            request: self.ends.len() - 1,
            blocks: path.len(),
            usage: expected(&entry.expected)?,
            cost: entry.cost_usd.as_ref().map(cost).transpose()?,
            end: path.last().copied(),
            ..Locked::default()
        })
    }

    /// The first blocks of an earlier request.
    fn kept(&self, keeps: KeepsEntry, at: usize) -> Read<Vec<NodeAt>> {
        let mut path = self.path(keeps.request, at)?;
        if keeps.blocks > path.len() {
            let found = format!("{} blocks of request {}", keeps.blocks, keeps.request);
            return fault(at, found, format!("at most the {} that it has", path.len()));
        }
        path.truncate(keeps.blocks);
        Ok(path)
    }

    fn path(&self, request: usize, at: usize) -> Read<Vec<NodeAt>> {
        let Some(end) = self.ends.get(request) else {
            let expected = format!("an earlier request: the number is below {}", self.ends.len());
            return fault(at, format!("request {request}"), expected);
        };
        let parent = |node: &NodeAt| self.pool.lock.nodes[*node as usize].parent;
        let mut path: Vec<NodeAt> = std::iter::successors(*end, parent).collect();
        path.reverse();
        Ok(path)
    }

    fn row(&mut self, row: &Spanned<Vec<Field>>, path: &mut Vec<NodeAt>) -> Read<()> {
        let at = row.span().start;
        match row.get_ref().as_slice() {
            [Field::Text(word), Field::Number(request), Field::Number(from), Field::Number(end)] if word == "=" => {
                let request = usize::try_from(*request).unwrap_or(usize::MAX);
                self.again(request, [*from, *end], at, path)
            }
            [
                Field::Text(place),
                Field::Text(kind),
                Field::Text(name),
                Field::Number(tokens),
                Field::Number(bytes),
                Field::Text(digest),
                Field::Text(chunks),
                content @ ..,
            ] if matches!(content, [] | [Field::Text(_)]) => {
                let content = content.iter().find_map(|field| match field {
                    Field::Text(content) => Some(content.clone()),
                    Field::Number(_) => None,
                });
                let place = read_place(place, at)?;
                let block = Block {
                    level: place.level,
                    kind: read_kind(kind, at)?,
                    name: name.clone(),
                    bytes: *bytes,
                    digest: read_digest(digest, at)?,
                    chunks: read_chunks(chunks, *bytes, at)?,
                    content,
                };
                let tokens = believed(*tokens, at)?;
                self.block(&block, place, tokens, at, path)
            }
            fields => {
                let expected = "[path, kind, name, tokens, bytes, digest, digests], or [\"=\", request, from, to]";
                fault(at, format!("a block of {} fields that are none", fields.len()), expected)
            }
        }
    }

    /// Blocks of an earlier request, repeated at the same places.
    fn again(&mut self, request: usize, [from, end]: [u64; 2], at: usize, path: &mut Vec<NodeAt>) -> Read<()> {
        let known = self.path(request, at)?;
        let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let Some(stretch) = known.get(Range { start: number(from), end: number(end) }) else {
            let expected = format!("blocks within the {} that it has", known.len());
            return fault(at, format!("blocks {from} to {end} of request {request}"), expected);
        };
        for node in stretch {
            let Node { block, place, tokens, .. } = self.pool.lock.nodes[*node as usize];
            self.step(Node { parent: path.last().copied(), block, place, tokens }, at, path)?;
        }
        Ok(())
    }

    fn block(&mut self, block: &Block, place: Place, tokens: u64, at: usize, path: &mut Vec<NodeAt>) -> Read<()> {
        let known = self.pool.block(block.clone());
        let first = &self.pool.lock.blocks[known as usize];
        if (first.bytes, &first.chunks, first.kind) != (block.bytes, &block.chunks, block.kind) {
            let found = format!("digest {} of an earlier block with another length or other digests", block.digest);
            return fault(at, found, "one digest for one block");
        }
        self.step(Node { parent: path.last().copied(), block: known, place, tokens }, at, path)
    }

    fn step(&mut self, node: Node, at: usize, path: &mut Vec<NodeAt>) -> Read<()> {
        if self.pool.lock.nodes.len() >= NODES_MAX {
            return fault(at, format!("more than {NODES_MAX} blocks"), "a lock as it was written");
        }
        path.push(self.pool.node(node));
        Ok(())
    }

    /// Digests of the levels, which must be those of the blocks.
    fn levels(&self, entry: &Spanned<LevelsEntry>, path: &[NodeAt]) -> Read<[Option<Digest>; 3]> {
        let LevelsEntry { tools, system, messages } = entry.get_ref();
        let levels = self.pool.levels(&path.iter().copied());
        for ((level, stated), own) in Level::ALL.into_iter().zip([tools, system, messages]).zip(levels) {
            let at = stated.as_ref().map_or(entry.span().start, |stated| stated.span().start);
            let stated = stated.as_ref().map(|stated| read_digest(stated.get_ref(), at)).transpose()?;
            if stated != own {
                let word = |digest: Option<Digest>| digest.map_or("none".to_owned(), |digest| digest.to_string());
                let found = format!("digest {} of `{}`", word(stated), level.name());
                return fault(at, found, format!("{}, which its blocks have: a line was changed or lost", word(own)));
            }
        }
        Ok(levels)
    }

    fn breakpoint(&self, text: &Spanned<String>, path: &[NodeAt]) -> Read<Breakpoint> {
        let at = text.span().start;
        let read = text.get_ref().rsplit_once(' ').and_then(|(path, ttl)| Some((Place::read(path)?, path, ttl)));
        let Some((place, name, ttl)) = read else {
            return fault(
                at,
                format!("breakpoint {}", found(text.get_ref())),
                "a path and a lifetime, as `system[0] 1h`",
            );
        };
        let Some(ttl) = [Ttl::FiveMinutes, Ttl::OneHour].into_iter().find(|known| known.name() == ttl) else {
            return fault(at, format!("lifetime {}", found(ttl)), "5m or 1h");
        };
        if !path.iter().any(|node| self.pool.lock.nodes[*node as usize].place == place) {
            return fault(at, format!("a breakpoint on {}", found(name)), "the path of a block of this request");
        }
        Ok(Breakpoint { path: name.to_owned(), ttl })
    }
}

fn whole(what: &str, stated: &Spanned<usize>, found: usize) -> Read<()> {
    if *stated.get_ref() == found {
        return Ok(());
    }
    let s = if found == 1 { "" } else { "s" };
    let expected = format!("{}, as this line says: the file was cut off, or merged by hand", stated.get_ref());
    fault(stated.span().start, format!("{found} {what}{s} in the file"), expected)
}

/// Costs of a request that are accepted, positive or negative: sums of any number of them fit.
const COST_MAX: Money = Money::from_picousd(1_000_000_000_000_000_000_000_000);

fn cost(text: &Spanned<String>) -> Read<Money> {
    let read = text.get_ref().parse().ok().filter(|cost| (-COST_MAX..=COST_MAX).contains(cost));
    let wrong = || {
        let expected = format!("an amount in USD up to {COST_MAX}, as `0.0123`");
        fault(text.span().start, format!("cost {}", found(text.get_ref())), expected)
    };
    read.map_or_else(wrong, Ok)
}

fn expected(entry: &Spanned<ExpectedEntry>) -> Read<Usage> {
    let at = entry.span().start;
    let ExpectedEntry { read, write_5m, write_1h, input } = *entry.get_ref();
    Ok(Usage {
        cache_read_input_tokens: believed(read, at)?,
        ephemeral_5m_input_tokens: believed(write_5m, at)?,
        ephemeral_1h_input_tokens: believed(write_1h, at)?,
        input_tokens: believed(input, at)?,
        output_tokens: 0,
    })
}

fn believed(tokens: u64, at: usize) -> Read<u64> {
    if tokens <= TOKENS_MAX {
        Ok(tokens)
    } else {
        fault(at, format!("{tokens} tokens"), format!("at most {TOKENS_MAX}"))
    }
}

fn read_place(text: &str, at: usize) -> Read<Place> {
    let expected = "a path, as `tools[4]`, `system[0]` or `messages[3].content[1]`";
    Place::read(text).map_or_else(|| fault(at, format!("path {}", found(text)), expected), Ok)
}

fn read_kind(text: &str, at: usize) -> Read<BlockKind> {
    let words = || BlockKind::ALL.map(BlockKind::name).join(", ");
    let unknown = || fault(at, format!("kind {}", found(text)), format!("one of {}", words()));
    BlockKind::named(text).map_or_else(unknown, Ok)
}

fn read_digest(text: &str, at: usize) -> Read<Digest> {
    let expected = format!("{} digits of 0-9 and a-f", digest::DIGITS);
    Digest::read(text).map_or_else(|| fault(at, format!("digest {}", found(text)), expected), Ok)
}

fn read_chunks(text: &str, bytes: u64, at: usize) -> Read<Vec<u32>> {
    if text == NO_CHUNKS {
        return Ok(Vec::new());
    }
    let wanted = bytes.div_ceil(CHUNK_BYTES);
    match digest::chunks(text) {
        Some(chunks) if chunks.len() as u64 == wanted => Ok(chunks),
        Some(chunks) => fault(
            at,
            format!("{} digests for {bytes} bytes", chunks.len()),
            format!("{wanted}, one for each {CHUNK_BYTES} bytes"),
        ),
        None => {
            let digits = digest::CHUNK_DIGITS;
            let found = format!("digests {}", found(text));
            fault(at, found, format!("{digits} digits of 0-9 and a-f for each {CHUNK_BYTES} bytes"))
        }
    }
}
