//! Published figures compared with ours.

use super::plain::{Policy, Turn};

pub struct Named {
    pub name: &'static str,
    pub what_if: &'static str,
    pub plain: Policy,
    pub published: &'static str,
}

/// Published: of 692 conversations.
pub const POLICIES: [Named; 8] = [
    named("none", "no-cache", Policy::Nothing, "1.0000"),
    named("5m", "ttl=5m", Policy::Lives(300_000), "0.1971"),
    named("1h", "ttl=1h", Policy::Lives(3_600_000), "0.1760"),
    named("5m and at most 2 pings every 270 s", "ttl=5m,keepalive=2@270", Policy::Pinged(2), "0.1777"),
    named("3 pings", "ttl=5m,keepalive=3@270", Policy::Pinged(3), "0.1777"),
    named("6 pings", "ttl=5m,keepalive=6@270", Policy::Pinged(6), "0.1820"),
    named("11 pings", "ttl=5m,keepalive=11@270", Policy::Pinged(11), "0.1910"),
    named("the better of 5m and 1h for each conversation", "ttl=best", Policy::Best, "0.1666"),
];

const fn named(name: &'static str, what_if: &'static str, plain: Policy, published: &'static str) -> Named {
    Named { name, what_if, plain, published }
}

pub struct Row {
    name: String,
    published: String,
    ours: f64,
    plain: f64,
}

impl Row {
    /// Thousandths of `units` over `whole`.
    pub fn share(name: &str, published: &str, units: [u64; 2], whole: u64) -> Self {
        let [ours, plain] = units.map(|units| units as f64 / 1_000.0 / whole as f64);
        Self::new(name, published, ours, plain)
    }

    fn new(name: &str, published: &str, ours: f64, plain: f64) -> Self {
        Self { name: name.to_owned(), published: published.to_owned(), ours, plain }
    }
}

pub fn print(title: &str, rows: &[Row]) {
    println!("\n{title}\n{:48}{:>10}{:>12}{:>12}", "", "published", "here", "plain");
    for row in rows {
        println!("{:48}{:>10}{:>12.4}{:>12.4}", row.name, row.published, row.ours, row.plain);
        assert!((row.ours - row.plain).abs() < 5e-5, "{}", row.name);
    }
}

/// The published statistics and those of both readings.
pub fn statistics(ours: &[Vec<Turn>], plain: &[Vec<Turn>]) -> Vec<Row> {
    let (ours, plain) = (figures(ours), figures(plain));
    let published = [
        ("overlap of a conversation, least", "0.61"),
        ("lower quartile", "0.92"),
        ("median", "0.96"),
        ("upper quartile", "0.97"),
        ("greatest", "1.00"),
        ("mean", "0.93"),
        ("overlap over all tokens", "0.963"),
        ("input for each token of output", "281"),
        ("requests of a conversation, mean", "80"),
        ("input of a request, mean", "139924"),
        ("gaps below 1 min", "0.820"),
        ("1 to 5 min", "0.130"),
        ("5 to 60 min", "0.046"),
        ("above 1 h", "0.0036"),
        ("could be read with a retention of 1 min", "0.7899"),
        ("5 min", "0.927"),
        ("1 h", "0.971"),
        ("without end", "0.974"),
    ];
    let rows = published.iter().zip(ours.iter().zip(&plain));
    rows.map(|((name, published), (ours, plain))| Row::new(name, published, *ours, *plain)).collect()
}

fn figures(conversations: &[Vec<Turn>]) -> [f64; 18] {
    let turns = || conversations.iter().flatten();
    let sum = |of: fn(&Turn) -> u64| turns().map(of).sum::<u64>() as f64;
    let overlap = |turns: &Vec<Turn>| {
        let kept: u64 = turns.iter().map(|turn| turn.kept).sum();
        kept as f64 / turns.iter().map(|turn| turn.input).sum::<u64>() as f64
    };
    let mut overlaps: Vec<f64> = conversations.iter().map(overlap).collect();
    overlaps.sort_by(f64::total_cmp);
    let quantile = |share: f64| overlaps[((overlaps.len() - 1) as f64 * share).round() as usize];
    let (input, output, kept) = (sum(|turn| turn.input), sum(|turn| turn.output), sum(|turn| turn.kept));
    let gaps: Vec<u64> = turns().filter_map(|turn| turn.gap_ms).collect();
    let between =
        |low: u64, high: u64| gaps.iter().filter(|gap| (low..high).contains(*gap)).count() as f64 / gaps.len() as f64;
    // Published over all requests but the first of each conversation, which can repeat nothing.
    let later = sum(|turn| if turn.gap_ms.is_some() { turn.input } else { 0 });
    let retained = |most: u64| {
        let kept: u64 = turns().filter(|turn| turn.gap_ms.is_some_and(|gap| gap <= most)).map(|turn| turn.kept).sum();
        kept as f64 / later
    };
    let requests = turns().count() as f64;
    [
        overlaps[0],
        quantile(0.25),
        quantile(0.5),
        quantile(0.75),
        overlaps[overlaps.len() - 1],
        overlaps.iter().sum::<f64>() / overlaps.len() as f64,
        kept / input,
        input / output,
        requests / conversations.len() as f64,
        input / requests,
        between(0, 60_000),
        between(60_000, 300_000),
        between(300_000, 3_600_000),
        between(3_600_000, u64::MAX),
        retained(60_000),
        retained(300_000),
        retained(3_600_000),
        retained(u64::MAX),
    ]
}
