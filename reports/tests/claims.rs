//! `published/claims.md` equals the results of runs, and these equal the derivation (`economics.md` 3.3, 3.7).

use std::rc::Rc;
use std::sync::LazyLock;

use forkcast_fixtures::{golden, workspace};
use forkcast_reports::document::markdown;
use forkcast_sim::pricing::PriceBook;

mod page;

/// The page, made once: it takes thousands of runs.
static PAGE: LazyLock<String> = LazyLock::new(|| {
    let document = page::document(&Rc::new(PriceBook::built_in())).expect("every run finishes");
    let mut page = Vec::new();
    markdown::write(&document, &mut page).unwrap();
    String::from_utf8(page).unwrap()
});

/// The cells of the first row that begins with `words`, in the section with this heading, after the line with `after`.
fn cells(page: &str, (heading, after, words): (&str, &str, &str)) -> Vec<String> {
    let section = page.split("\n## ").find(|section| section.starts_with(heading)).expect(heading);
    let (_, below) = section.split_once(after).expect(after);
    let row = below.lines().find(|line| line.starts_with(&format!("| {words} |"))).expect(words);
    row.split('|').skip(2).map(|cell| cell.trim().to_owned()).filter(|cell| !cell.is_empty()).collect()
}

#[test]
fn econ_02_econ_10_econ_13_econ_14_econ_15_the_published_page_has_the_results_of_the_runs() {
    let path = workspace().join("reports/published/claims.md");
    let page = &*PAGE;
    golden(&path, page);
}

#[test]
fn econ_01_econ_03_econ_04_econ_11_econ_12_the_page_agrees_with_the_derivation() {
    let page = &*PAGE;
    let rows = [
        ("5,050", "Each further", "cold, one first", &["5,050 ✓", "2,625", "1,412.5"][..]),
        ("5,050", "Each further", "warm, one first", &["5,050 ✓", "2,625", "1,412.5"]),
        ("5,050", "by the place", "before the directive", &["304,125", "81,025", "39,625", "28,125"]),
        ("5,050", "by the place", "after the directive", &["304,375", "304,375", "39,875", "39,875"]),
        ("5,050", "by the place", "both", &["304,375", "81,275", "39,875", "28,375"]),
        ("99.75", "Each further", "warm, one first", &["$0.0410, 89.8 % saved ✓"]),
        ("$4", "All five", "cold, at once", &["$5.16, 25.0 % more"]),
        ("$4", "All five", "cold, one first", &["$1.38, 66.4 % saved"]),
        ("$4", "All five", "warm, one first", &["$0.4642, 88.7 % saved ✓", "$0.2321, 88.7 % saved"]),
        ("Five forks", "The same with", "cold, at once", &["$1.60, 25.0 % more"]),
        ("Five forks", "All five", "warm, one first", &["$0.1500, 88.2 % saved"]),
        ("Eight forks", "All eight", "cold, one first", &["$0.9830, 75.5 % saved"]),
        ("Eight forks", "All eight", "warm, at once", &["$0.4080, 89.8 % saved"]),
    ];
    for (heading, after, words, expected) in rows {
        let found = cells(page, (heading, after, words));
        assert_eq!(found[..expected.len()], *expected, "{heading}, {after}, {words}");
    }
}

/// What was not judged before: the first child, one byte, a stripped history; each with the situation where it flips.
#[test]
fn every_claim_has_a_situation_in_which_it_flips() {
    let page = &*PAGE;
    let of = |heading: &str, words: &str| cells(page, (heading, "✓ if", words));
    assert_eq!(of("48,700", "cold, no breakpoint"), ["48,700 ✓"; 3]);
    assert_eq!(of("48,700", "cold, before the directive, 5m")[0], "60,825");
    assert_eq!(of("48,700", "warm, before the directive, 5m")[0], "7,925");
    let space = of("One space", "one space in the system prompt");
    assert_eq!(space[0], "nothing", "cold, at once: {space:?}");
    assert!(space[1..].iter().filter(|cell| cell.ends_with('✓')).count() >= 2, "{space:?}");
    let (cold, warm) = (of("Leaving the history", "cold, one first"), of("Leaving the history", "warm, one first"));
    assert!(cold.iter().all(|cell| !cell.ends_with('✓')), "{cold:?}");
    assert!(warm[0].ends_with('✓') && !warm[4].ends_with('✓'), "{warm:?}");
}

/// `economics.md` 3.3 by the program, beside its formula: with agents that start one first, forks stop paying at less than
/// half as many requests.
#[test]
fn turning_points_agree_with_the_formula_of_econ_16() {
    let page = &*PAGE;
    let row = |words: &str| cells(page, ("Until how many", "Requests of a child", words));
    let numbers =
        |cell: &str| -> Vec<f64> { cell.split(['(', ')', ' ']).filter_map(|word| word.parse().ok()).collect() };
    for name in ["Opus 5.5", "Opus 4.8", "Fable 5.1"] {
        let (at_once, one_first) = (row(&format!("{name}, agents at once")), row(&format!("{name}, agents one first")));
        for (late, early) in at_once.iter().zip(&one_first).skip(1) {
            let (late, early) = (numbers(late), numbers(early));
            if let ([measured, formula], [sooner, ..]) = (&late[..], &early[..]) {
                assert!((measured / formula - 1.0).abs() < 0.12, "{name}: {measured} {formula}");
                assert!(sooner * 1.9 < *measured, "{name}: {sooner} {measured}");
            }
        }
    }
}

#[test]
fn forks_of_more_turns_than_the_break_even_cost_more_than_agents_econ_16() {
    // economics 3.3 has the crossing between two and three requests for agents that start at once, and below one request
    // for agents whose siblings are warm.
    let row = |launch: &str| {
        cells(&PAGE, ("A fork is cheap", "Price of forks", &format!("Opus 4.8, {launch}, nothing to gather")))
    };
    let found = row("at once");
    assert!(!row("one first")[0].ends_with('✓'), "{:?}", row("one first"));
    let ratio = |cell: &String| cell.trim_end_matches(" ✓").parse::<f64>().unwrap();
    assert!(found[1].ends_with('✓') && !found[2].ends_with('✓'), "{found:?}");
    assert!(found.windows(2).take(5).all(|pair| ratio(&pair[0]) < ratio(&pair[1])), "{found:?}");
}
