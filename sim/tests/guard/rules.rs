//! Rules from a file.

use forkcast_sim::cache;
use forkcast_sim::diagnosis::Cause;
use forkcast_sim::guard::{Allowed, Rules, Severity};
use forkcast_sim::pricing::{Date, Money};
use forkcast_sim::wire::Level;

#[test]
fn an_empty_file_is_the_default() {
    assert_eq!(Rules::from_toml("").unwrap(), Rules::default());
    let rules = Rules::default();
    assert_eq!((rules.stability, rules.sharing, rules.equality), (Severity::Fail, Severity::Fail, Severity::Note));
    assert_eq!(rules.missing, Severity::Fail);
}

#[test]
fn every_line_takes_effect() {
    let rules = Rules::from_toml(
        r#"
cache = "docs-2026-08"
stability = "note"
sharing = "off"
equality = "fail"
missing = "note"
account_created = "2026-07-01"
pinned = ["tools", "system"]
requests_per_day = 1000
[budget]
min_hit_rate = 0.905
max_cost_per_turn = 0.05
max_breakpoints = 3
[[allow]]
cause = "compacted"
[[allow]]
cause = "rewound"
path = "messages"
"#,
    )
    .unwrap();
    assert_eq!(rules.preset, cache::Rules::preset("docs-2026-08").unwrap());
    assert_eq!((rules.stability, rules.sharing, rules.equality), (Severity::Note, Severity::Off, Severity::Fail));
    assert_eq!(rules.missing, Severity::Note);
    assert_eq!(rules.pinned, [Level::Tools, Level::System]);
    assert_eq!(rules.requests_per_day, Some(1_000));
    assert_eq!(rules.account_created, Some(Date(2026, 7, 1)));
    assert_eq!(rules.budget.min_hit_rate_per_mille, Some(905));
    assert_eq!(rules.budget.max_cost_per_turn, Some(Money::from_picousd(50_000_000_000)));
    assert_eq!(rules.budget.max_breakpoints, Some(3));
    let allowed = [(Cause::Compacted, None), (Cause::Rewound, Some("messages".to_owned()))];
    assert_eq!(rules.allow, allowed.map(|(cause, path)| Allowed { cause, path }));
}

#[test]
fn an_invalid_rule_is_reported_with_its_line() {
    let cases = [
        ("\ncache = \"docs\"", 2, "`docs`", "one of docs-2026-09"),
        ("stability = \"hard\"", 1, "`hard`", "one of off, note, fail"),
        ("pinned = [\"tools\", \"prompt\"]", 1, "`prompt`", "one of tools, system, messages"),
        ("[budget]\nmin_hit_rate = 90.0", 2, "90.0", "between 0 and 1"),
        ("[budget]\nmax_cost_per_turn = -1.0", 2, "-1.0", "USD"),
        ("[[allow]]\ncause = \"luck\"", 2, "`luck`", "one of model_changed"),
        ("\n\nhit_rate = 1", 3, "unknown field `hit_rate`", "the keys cache"),
        ("account_created = \"2026-02-30\"", 1, "`2026-02-30`", "a day such as"),
        ("[budget", 1, "", "the keys"),
    ];
    for (text, line, found, expected) in cases {
        let bad = Rules::from_toml(text).unwrap_err();
        assert_eq!(bad.line, line, "{text}: {bad}");
        assert!(bad.found.contains(found) && bad.expected.contains(expected), "{text}: {bad}");
    }
}
