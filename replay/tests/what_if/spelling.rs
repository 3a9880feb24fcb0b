//! Valid what-ifs, and the errors for others.

use forkcast_replay::what_if::{KEYS, KeepAlive, Lifetimes, WhatIf};
use forkcast_sim::pricing::Date;
use forkcast_sim::time::Duration;

fn complaint(text: &str) -> String {
    text.parse::<WhatIf>().unwrap_err().to_string()
}

#[test]
fn names_are_canonical_whatever_the_order_and_spelling() {
    let canonical = [
        ("ttl=1h", "ttl=1h"),
        ("model=us.anthropic.claude-sonnet-4-6,ttl=best", "ttl=best,model=claude-sonnet-4-6"),
        ("breakpoints=tail+previous, keepalive=02@270", "keepalive=2@270,breakpoints=tail+previous"),
        ("compact-at=120000", "compact-at=120k"),
        ("compact-at=120500", "compact-at=120500"),
        ("model=openai/gpt-5.4", "model=gpt-5.4"),
        ("no-cache", "no-cache"),
        ("prices=2026-10-07,model=claude-sonnet-5-5,no-cache", "model=claude-sonnet-5-5,no-cache,prices=2026-10-07"),
        ("cache=docs-2026-08", "cache=docs-2026-08"),
    ];
    for (written, name) in canonical {
        let what_if: WhatIf = written.parse().unwrap();
        assert_eq!(what_if.to_string(), name);
        assert_eq!(name.parse::<WhatIf>().unwrap(), what_if);
    }
    assert_eq!(WhatIf::default().to_string(), "unchanged");
}

#[test]
fn every_value_of_the_table_is_understood() {
    for key in KEYS {
        let values: Vec<&str> = match key.name {
            "compact-at" => vec!["20k", "10000k"],
            "keepalive" => vec!["2@270"],
            "model" => vec!["claude-opus-5"],
            "prices" => vec!["2026-10-07"],
            "cache" => vec!["docs-2026-09", "docs-2026-08", "observed-2026-08"],
            _ => key.values.split('|').collect(),
        };
        for value in values {
            let text = if value.is_empty() { key.name.to_owned() } else { format!("{}={value}", key.name) };
            assert_eq!(text.parse::<WhatIf>().unwrap().to_string(), text);
        }
    }
}

#[test]
fn a_parsed_what_if_has_the_intended_meaning() {
    let what_if: WhatIf = "ttl=head-1h,keepalive=3@240,prices=2026-09-01".parse().unwrap();
    let keepalive = Some(KeepAlive { pings_max: 3, every: Duration::from_secs(240) });
    let date = Some(Date(2026, 9, 1));
    assert_eq!(what_if, WhatIf { ttl: Some(Lifetimes::HeadOneHour), keepalive, prices: date, ..WhatIf::default() });
}

#[test]
fn a_wrong_word_is_reported_with_the_alternatives() {
    let told = [
        ("ttl=2h", "what-if `ttl=2h`: expected ttl=5m|1h|head-1h|best"),
        ("ttl", "what-if `ttl`: expected ttl=5m|1h|head-1h|best"),
        ("prices=2026-13-01", "what-if `prices=2026-13-01`: expected prices=YYYY-MM-DD that is a day"),
        ("cache=x", "what-if `cache=x`: expected cache=PRESET, one of: docs-2026-09, docs-2026-08, observed-2026-08"),
        ("no-cache=1", "what-if `no-cache=1`: expected `no-cache` without a value"),
    ];
    for (text, expected) in told {
        assert_eq!(complaint(text), expected);
    }
    assert!(complaint("tll=1h").contains("expected one of: ttl=5m|1h|head-1h|best, keepalive=N@SECONDS, model=MODEL"));
    assert!(complaint("model=gpt-99").contains("forkcast list models"));
    assert!(complaint("").contains("expected one of: ttl="));
}

#[test]
fn slips_and_contradictions_are_refused() {
    for text in
        ["keepalive=0@270", "keepalive=2@0", "keepalive=2", "keepalive=+2@270", "keepalive=2@99999999999999999999"]
    {
        assert!(complaint(text).contains("as in 2@270"), "{text}");
    }
    assert!(complaint("ttl=1h,ttl=5m").contains("once at most"));
    assert!(complaint("no-cache,ttl=5m").contains("alone or with model and prices"));
    assert!(complaint("model=gpt-5.4,ttl=5m").contains("alone or with prices: its cache is not modelled"));
    assert!(complaint("prices=2026-10-07T10:00:00").contains("YYYY-MM-DD"));
}

#[test]
fn a_requested_model_of_every_replay_is_one_column_for_all_makers() {
    let of_its_maker = |asked: &[WhatIf]| {
        let all = WhatIf::with_defaults(asked);
        let models = all.iter().filter(|what_if| what_if.model.is_some());
        models.map(|what_if| (what_if.to_string(), what_if.of_its_maker)).collect::<Vec<_>>()
    };
    let [before, after] = [&[][..], &["model=gpt-6.2-sol".parse().unwrap()]].map(of_its_maker);
    assert!(before.iter().all(|(_, of_its_maker)| *of_its_maker));
    let changed: Vec<_> = after.iter().filter(|found| !before.contains(found)).collect();
    assert_eq!((before.len(), changed), (after.len(), vec![&("model=gpt-6.2-sol".to_owned(), false)]));
}
