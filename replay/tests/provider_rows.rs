//! Calls and usage of recordings beside the repository, row by row as in a table that was made without code of this
//! project (`derived/provider_rows.csv.gz`). `--nocapture` prints the sums.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use csv::StringRecord;
use flate2::read::GzDecoder;
use forkcast_fixtures::beside;
use forkcast_replay::exchange::Exchange;
use forkcast_replay::input::{InputFormat, Inputs};

/// The folders of the table.
const SOURCES: [&str; 9] = [
    "cassettes-braintrust-java",
    "cassettes-braintrust-js",
    "cassettes-dd-trace-js",
    "cassettes-fantasy",
    "cassettes-node-llm",
    "cassettes-pydantic-ai-2",
    "cassettes-req-llm",
    "cassettes-rig",
    "eval-datastories-openai",
];

/// Rows that differ: source, part of the address, the difference, number of rows, the reason.
const DIFFERENCES: &[(&str, &str, Difference, usize, &str)] = &[
    ("cassettes-braintrust-js", "/moderations", Difference::NotRead, 8, "moderation asks no model, and is free"),
    ("cassettes-braintrust-js", "/v1beta/interactions", Difference::Output, 4, "thoughts are output too"),
    ("cassettes-braintrust-js", "gemini-2.5-flash", Difference::Prompt, 2, "tokens of tools' results are input too"),
    ("cassettes-braintrust-js", "/v2/embed", Difference::NotInTable, 3, "the answer's `billed_units` count input"),
    ("cassettes-dd-trace-js", "claude-v2:1/invoke-", Difference::NotInTable, 1, "the stream's last chunk has metrics"),
    ("cassettes-fantasy", "localhost", Difference::Counts, 4, "llama.cpp has the read tokens in `timings` only"),
    (
        "cassettes-fantasy",
        "api.x.ai",
        Difference::Output,
        18,
        "xAI's completion leaves reasoning out, its total does not",
    ),
    (
        "cassettes-req-llm",
        "api.x.ai",
        Difference::Output,
        20,
        "xAI's completion leaves reasoning out, its total does not",
    ),
    ("cassettes-rig", "/cachedContents", Difference::NotRead, 4, "the size of a cached object is listed again"),
];

/// How a row differs from the exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Difference {
    /// The row has counts, and there is no exchange.
    NotRead,
    /// The row has no counts, the exchange has.
    NotInTable,
    /// The row has counts, the exchange has none.
    NoUsage,
    /// The size of the prompt.
    Prompt,
    /// The output is larger.
    Output,
    /// Another count.
    Counts,
}

/// One row of the table.
#[derive(Debug)]
struct Row {
    file: String,
    call: usize,
    address: String,
    /// The provider that a gateway names.
    upstream: String,
    counts: Option<Counts>,
}

/// Tokens of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    /// The whole prompt.
    prompt: u64,
    read: u64,
    written: u64,
    short: u64,
    long: u64,
    output: u64,
}

impl Counts {
    fn of(exchange: &Exchange) -> Option<Self> {
        let recorded = exchange.usage?;
        let usage = recorded.usage;
        let split = |tokens| if recorded.split_by_ttl { tokens } else { 0 };
        Some(Self {
            prompt: usage.total_input_tokens(),
            read: usage.cache_read_input_tokens,
            written: usage.cache_creation_input_tokens(),
            short: split(usage.ephemeral_5m_input_tokens),
            long: split(usage.ephemeral_1h_input_tokens),
            output: usage.output_tokens,
        })
    }

    fn add(&mut self, other: Self) {
        self.prompt += other.prompt;
        self.read += other.read;
        self.written += other.written;
        self.short += other.short;
        self.long += other.long;
        self.output += other.output;
    }
}

impl Row {
    fn difference(&self, exchange: Option<&Exchange>) -> Option<Difference> {
        let found = exchange.and_then(Counts::of);
        match (self.counts, found) {
            (None, None) => None,
            (None, Some(_)) => Some(Difference::NotInTable),
            (Some(_), None) if exchange.is_none() => Some(Difference::NotRead),
            (Some(_), None) => Some(Difference::NoUsage),
            (Some(row), Some(found)) if row == found => None,
            (Some(row), Some(found)) if row == (Counts { prompt: row.prompt, ..found }) => Some(Difference::Prompt),
            (Some(row), Some(found))
                if row == (Counts { output: row.output, ..found }) && row.output < found.output =>
            {
                Some(Difference::Output)
            }
            (Some(_), Some(_)) => Some(Difference::Counts),
        }
    }
}

fn rows() -> Option<BTreeMap<String, Vec<Row>>> {
    let path = beside("derived/provider_rows.csv.gz")?;
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    let mut table = csv::Reader::from_reader(text.as_bytes());
    let names = table.headers().unwrap().clone();
    let mut found: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for row in table.records().map(Result::unwrap) {
        let of = |name: &str| row[names.iter().position(|known| known == name).unwrap()].to_owned();
        found.entry(of("source")).or_default().push(read_row(&row, &of));
    }
    Some(found)
}

fn read_row(row: &StringRecord, of: &dyn Fn(&str) -> String) -> Row {
    assert_eq!(row.len(), 29, "the columns of the table");
    let count = |name: &str| of(name).parse().unwrap_or(0);
    let counts = Counts {
        prompt: count("prompt_total"),
        read: count("cache_read"),
        written: count("cache_write"),
        short: count("write_5m"),
        long: count("write_1h"),
        output: count("output"),
    };
    Row {
        file: of("file"),
        call: of("call").parse().unwrap(),
        address: format!("{}{}", of("host"), of("endpoint")),
        upstream: of("upstream_provider"),
        counts: (!of("usage_shape").is_empty()).then_some(counts),
    }
}

/// The exchanges by file, without the ending of packed ones, and call.
fn exchanges<'a>(inputs: &'a Inputs, folder: &Path) -> BTreeMap<(String, usize), &'a Exchange> {
    let named = |exchange: &'a Exchange| {
        let file = Path::new(&exchange.origin.file).strip_prefix(folder).unwrap().to_str().unwrap();
        ((file.strip_suffix(".gz").unwrap_or(file).to_owned(), exchange.origin.index), exchange)
    };
    inputs.exchanges().map(named).collect()
}

#[test]
fn every_call_has_the_counts_of_the_table() {
    let Some(all) = rows() else { return };
    let mut unexplained = Vec::new();
    println!("| source | calls | exchanges | with counts: table, read | read | written | 5m | 1h | output |");
    for (source, folder) in SOURCES.iter().filter_map(|source| Some((*source, beside(source)?))) {
        let inputs = Inputs::read(&[&folder], InputFormat::Auto).unwrap();
        let mut read = exchanges(&inputs, &folder);
        let (count, mut in_table, mut counted, mut sums) = (read.len(), 0, 0, Counts::default());
        let mut differing: BTreeMap<usize, usize> = BTreeMap::new();
        for row in &all[source] {
            let exchange = read.remove(&(row.file.clone(), row.call));
            in_table += usize::from(row.counts.is_some());
            if let Some(counts) = exchange.and_then(Counts::of) {
                counted += 1;
                sums.add(counts);
            }
            let upstream = exchange.and_then(|exchange| exchange.upstream.as_deref()).unwrap_or_default();
            assert_eq!(upstream, row.upstream, "{source}/{}#{}", row.file, row.call);
            let Some(difference) = row.difference(exchange) else { continue };
            let known = DIFFERENCES.iter().position(|(of, address, kind, ..)| {
                *of == source && row.address.contains(address) && *kind == difference
            });
            match known {
                Some(known) => *differing.entry(known).or_default() += 1,
                None => unexplained.push(format!(
                    "{source}/{}#{} {}: {difference:?}, {:?} in the table, {:?} read",
                    row.file,
                    row.call,
                    row.address,
                    row.counts,
                    exchange.and_then(Counts::of)
                )),
            }
        }
        unexplained.extend(read.keys().map(|(file, call)| format!("{source}/{file}#{call}: not in the table")));
        println!(
            "| {source} | {} | {count} | {in_table}, {counted} | {} | {} | {} | {} | {} |",
            all[source].len(),
            sums.read,
            sums.written,
            sums.short,
            sums.long,
            sums.output
        );
        for (at, (of, address, difference, expected, reason)) in DIFFERENCES.iter().enumerate() {
            let found = differing.get(&at).copied().unwrap_or(0);
            if *of == source {
                println!("  {found} rows of {address}: {difference:?}, {reason}");
                assert_eq!(found, *expected, "{source}, {address}: {reason}");
            }
        }
    }
    assert_eq!(unexplained, Vec::<String>::new());
}
