//! Grids in parts: the content of plans and parts, which does not depend on who computed which part.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};

use forkcast_scenarios::catalog::{self, CatalogItem};
use forkcast_scenarios::fanout;
use forkcast_scenarios::sweep::part::{self, Found};
use forkcast_scenarios::sweep::plan::{BadPlan, PART_CELLS};
use forkcast_scenarios::sweep::{Axis, CellOutcome, Gathered, Plan, Rows, Shard, Step, Subject, Work, gather};
use forkcast_sim::pricing::PriceBook;
use proptest::prelude::*;

fn axes(texts: &[&str]) -> Vec<Axis> {
    texts.iter().map(|text| Axis::read(text).unwrap()).collect()
}

fn fan(texts: &[&str], parts: usize) -> Plan {
    Plan::new(Subject::fanout(), axes(texts), parts).unwrap()
}

fn small() -> Plan {
    fan(&["children=1..4", "prefix=20k,46000", "launch=burst,primed"], 6)
}

fn folder(name: &str) -> PathBuf {
    forkcast_fixtures::emptied(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name))
}

fn run(plan: &Plan, folder: &Path, shard: Shard, jobs: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    let tally = Work { plan, folder, shard, jobs }.run(&|| false, &mut |step| steps.push(step.clone())).unwrap();
    assert!(tally.is_complete());
    steps
}

fn gathered(plan: &Plan, folder: &Path) -> Gathered {
    gather(plan, folder, &mut |_, _| ()).unwrap()
}

fn merged(plan: &Plan, folder: &Path) -> Vec<CellOutcome> {
    let mut rows = Vec::new();
    let gathered = gather(plan, folder, &mut |_, row| rows.push(row)).unwrap();
    assert_eq!((gathered.missing, gathered.cells), (Vec::new(), plan.len()));
    let read: Vec<CellOutcome> = Rows::of(plan, folder).map(Result::unwrap).collect();
    assert_eq!(read, rows);
    rows
}

fn bytes(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (name(&path), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn a_sweep_cell_gives_the_same_result_as_a_fan_out_cell() {
    let (plan, place) = (small(), folder("sweep-cells"));
    run(&plan, &place, Shard::WHOLE, 2);
    let book = Rc::new(PriceBook::built_in());
    for (cell, row) in plan.cells().zip(merged(&plan, &place)) {
        let alone = forkcast_scenarios::sweep::parameter::cell(&cell.set).unwrap();
        let alone = fanout::trial::trial(&alone, &book).unwrap();
        assert_eq!(row.figures, alone.outcome, "{cell:?}");
        assert_eq!(row.cell, cell.cell);
    }
    assert_eq!(plan.cell(0).set, ["children=1", "prefix=20000", "launch=burst"]);
    assert_eq!(plan.cell(1).set, ["children=1", "prefix=20000", "launch=primed"]);
}

#[test]
fn parts_are_the_same_for_any_number_of_shards_and_jobs() {
    let plan = small();
    let whole = folder("sweep-whole");
    run(&plan, &whole, Shard::WHOLE, 1);
    for (of, jobs) in [(1, 3), (2, 1), (7, 1), (20, 2)] {
        let place = folder(&format!("sweep-shards-{of}-{jobs}"));
        for index in (0..of).rev() {
            run(&plan, &place, Shard { index, of }, jobs);
        }
        assert_eq!(bytes(&place), bytes(&whole), "{of} shards, {jobs} jobs");
    }
}

#[test]
fn scenarios_can_run_in_parts() {
    let entry = catalog::find("E15+cold").unwrap();
    let plan = Plan::new(Subject::built_in(&entry), axes(&["session.ttl=5m,1h", "seed=1,2"]), 4).unwrap();
    let (one, many) = (folder("sweep-scenario-1"), folder("sweep-scenario-2"));
    run(&plan, &one, Shard::WHOLE, 2);
    for index in 0..3 {
        run(&plan, &many, Shard { index, of: 3 }, 1);
    }
    assert_eq!(bytes(&one), bytes(&many));
    let rows = merged(&plan, &one);
    assert!(rows.iter().all(|row| row.is_done() && row.digest.is_some() && row.figures.requests > 0));
    assert!(rows[0].figures.usage.ephemeral_5m_input_tokens > 0 && rows[2].figures.usage.ephemeral_1h_input_tokens > 0);
    let alone = forkcast_scenarios::run::play(
        entry.read(&["session.ttl=1h".parse().unwrap(), "seed=2".parse().unwrap()]).unwrap(),
        &Default::default(),
    );
    assert_eq!(rows[3].digest, Some(format!("{:032x}", alone.digest)));
}

#[test]
fn existing_parts_are_not_computed_again() {
    let (plan, place) = (small(), folder("sweep-resumed"));
    run(&plan, &place, Shard { index: 1, of: 3 }, 1);
    let steps = run(&plan, &place, Shard::WHOLE, 2);
    let count = |wanted: &Step| steps.iter().filter(|step| *step == wanted).count();
    assert_eq!((count(&Step::Kept), count(&Step::Made)), (2, 4));
    assert!(run(&plan, &place, Shard::WHOLE, 2).iter().all(|step| *step == Step::Kept));
}

#[test]
fn damaged_changed_or_foreign_parts_are_reported_and_computed_again() {
    let (plan, place) = (small(), folder("sweep-flawed"));
    run(&plan, &place, Shard::WHOLE, 2);
    let (sound, rows) = (bytes(&place), merged(&plan, &place));
    let other = fan(&["children=1..4", "prefix=20k,46000", "launch=burst,waves=2"], 6);
    let foreign = folder("sweep-foreign");
    run(&other, &foreign, Shard::WHOLE, 2);
    let text = |part: usize| fs::read_to_string(part::path(&plan, part, &place)).unwrap();
    let spoilt = [
        (0, text(0)[..text(0).len() / 2].to_owned(), "incomplete"),
        (1, String::new(), "incomplete"),
        (2, fs::read_to_string(part::path(&other, 2, &foreign)).unwrap(), "another plan"),
        (3, text(4), "other cells"),
        (4, text(4).replace("\"requests\":", "\"requests\":1"), "changed"),
    ];
    for (part, text, _) in &spoilt {
        fs::write(part::path(&plan, *part, &place), text).unwrap();
    }
    // A second name of the damaged file: parts are never overwritten in place, where a kill would damage them.
    let witness = foreign.join("witness");
    fs::hard_link(part::path(&plan, 0, &place), &witness).unwrap();
    let gathered = gathered(&plan, &place);
    for ((part, _, says), missing) in spoilt.iter().zip(&gathered.missing) {
        assert_eq!(missing.part, *part);
        assert!(missing.flaw.as_ref().unwrap().contains(says), "{missing:?}");
    }
    assert_eq!((gathered.missing.len(), gathered.cells), (5, plan.part(5).len()));
    let steps = run(&plan, &place, Shard::WHOLE, 1);
    assert_eq!(steps.iter().filter(|step| matches!(step, Step::Flawed { .. })).count(), 5);
    assert_eq!((bytes(&place), merged(&plan, &place)), (sound, rows));
    assert_eq!(fs::read_to_string(witness).unwrap(), spoilt[0].1);
}

#[test]
fn a_cancelled_sweep_leaves_only_complete_parts() {
    let (plan, place) = (fan(&["children=1..12"], 4), folder("sweep-stopped"));
    let ran = AtomicUsize::new(0);
    // Called before each part and each cell: enough for one part and some of the next.
    let stop = || ran.fetch_add(1, Ordering::Relaxed) >= 6;
    let tally = Work { plan: &plan, folder: &place, shard: Shard::WHOLE, jobs: 1 }.run(&stop, &mut |_| {}).unwrap();
    assert!(!tally.is_complete());
    assert_eq!((tally.made, tally.ran), (1, 4));
    let gathered = gathered(&plan, &place);
    assert_eq!((gathered.missing.len(), gathered.unfinished.len()), (3, 0));
    assert!(gathered.missing.iter().all(|missing| missing.flaw.is_none()));
    run(&plan, &place, Shard::WHOLE, 1);
    assert_eq!(merged(&plan, &place).len(), 12);
}

#[test]
fn an_unwritable_folder_is_reported() {
    let plan = small();
    let place = folder("sweep-none").join("missing");
    let refusal = Work { plan: &plan, folder: &place, shard: Shard::WHOLE, jobs: 2 }.run(&|| false, &mut |_| {});
    assert!(refusal.unwrap_err().to_string().contains("missing"));
}

#[test]
fn a_plan_of_many_billion_cells_takes_no_room_and_more_than_can_be_counted_are_refused() {
    let many = ["children=1..10000", "prefix=1k..10000k:1k", "growth=1..10000", "output=1..10000"];
    let plan = fan(&[many[0], "prefix=1k..900k:1k", many[2]], 8);
    assert_eq!(plan.len(), 90_000_000_000);
    assert!(plan.text().len() < 400_000, "{}", plan.text().len());
    assert_eq!(Plan::read(&plan.text()), Ok(plan.clone()));
    assert_eq!(plan.cell(plan.len() - 1).set, ["children=10000", "prefix=900000", "growth=10000"]);
    assert_eq!((plan.part(7).end, plan.part(0).start), (plan.len(), 0));
    let more = [&many[..], &["tail=1..10000", "directive=1..10000"]].concat();
    let bad = Plan::new(Subject::fanout(), axes(&more), 8).unwrap_err();
    assert!(matches!(bad, BadPlan::TooMany { .. }), "{bad}");
    assert!(bad.to_string().contains("children (10000) × prefix (10000) × growth (10000)"), "{bad}");
}

#[test]
fn parts_of_a_large_plan_stay_small() {
    let plan = |axes_of: &[&str]| Plan::new(Subject::fanout(), axes(axes_of), None).unwrap();
    assert_eq!(plan(&["children=1..300"]).parts, 256);
    let plan = plan(&["growth=1..10000", "output=1..200"]);
    assert_eq!((plan.len(), plan.parts), (2_000_000, 489));
    assert!((0..plan.parts).all(|part| plan.part(part).len() <= PART_CELLS));
}

#[test]
fn a_part_that_vanishes_during_a_merge_is_an_error_after_the_rows_before_it() {
    let (plan, place) = (small(), folder("sweep-vanished"));
    run(&plan, &place, Shard::WHOLE, 2);
    let mut rows = Rows::of(&plan, &place);
    assert!(rows.next().unwrap().is_ok());
    fs::remove_file(part::path(&plan, 1, &place)).unwrap();
    let rest: Vec<_> = rows.collect();
    let (last, before) = rest.split_last().unwrap();
    assert!(before.iter().all(Result::is_ok) && before.len() == plan.part(0).len() - 1);
    assert!(last.as_ref().unwrap_err().to_string().contains("removed or changed"), "{last:?}");
}

#[test]
fn a_plan_reports_all_errors_before_the_first_run() {
    let of = |texts: &[&str]| Plan::new(Subject::fanout(), axes(texts), 8).unwrap_err().to_string();
    assert!(of(&["children=0..3"]).contains("at least one child"));
    assert!(of(&["launch=burst,stagger=400000"]).contains("longer than the TTL"));
    assert!(of(&["model=nope,claude-opus-4-8"]).contains("`model`: found `nope`, expected one of"));
    assert!(of(&["childern=1,2"]).contains("did you mean `children`?"));
    assert!(of(&["children=1", "children=2"]).contains("given twice"));
    assert!(of(&["prefix=20k,20000"]).contains("twice"));
    let entry = catalog::find("E15").unwrap();
    let of = |texts: &[&str]| Plan::new(Subject::built_in(&entry), axes(texts), 8).unwrap_err().to_string();
    assert!(of(&["session.ttl=5m,2h"]).contains("`session.ttl`"));
    // In a plan that is too large to check all combinations, each value is checked.
    assert!(of(&["seed=1..1000", "session.ttl=5m,2h"]).contains("`session.ttl`"));
    assert!(of(&["session.tll=5m"]).contains("tll"));
}

#[test]
fn a_plan_is_read_back_unless_it_was_changed() {
    let plan = small();
    let text = plan.text();
    assert_eq!(Plan::read(&text), Ok(plan.clone()));
    assert_eq!(
        Plan::new(Subject::fanout(), axes(&["children=1..4", "prefix=20000,46k", "launch=burst,primed"]), 6),
        Ok(plan)
    );
    for (here, there) in [
        ("\"2\"", "\"9\""),
        ("\"parts\": 6", "\"parts\": 7"),
        ("\"parts\": 6", "\"parts\": 0"),
        ("\"46000\"", "\"46001\""),
        ("forkcast.plan/2", "forkcast.plan/3"),
        ("\"version\": \"", "\"version\": \"9"),
        ("\"parts\": 6", "\"parts\": 6, \"cells\": []"),
    ] {
        assert!(text.contains(here), "{here}");
        assert!(Plan::read(&text.replacen(here, there, 1)).is_err(), "{here} → {there}");
    }
    let earlier = Plan::read("{\"schema\": \"forkcast.plan/1\", \"cells\": []}").unwrap_err().to_string();
    assert!(earlier.contains("listed its cells") && earlier.contains("make it again"), "{earlier}");
    for text in ["", "{}", "[]", "null", &text[..text.len() / 2]] {
        assert!(matches!(Plan::read(text), Err(BadPlan::Unreadable(_))));
    }
}

#[test]
fn a_cells_hash_depends_exactly_on_its_inputs() {
    let hashes = |plan: &Plan| plan.cells().map(|cell| cell.cell).collect::<BTreeSet<_>>();
    let plan = small();
    assert_eq!(hashes(&plan).len(), plan.len());
    assert_eq!(hashes(&fan(&["children=1..4", "prefix=20k,46000", "launch=burst,primed"], 2)), hashes(&plan));
    let (one, other) = (catalog::find("E15").unwrap(), catalog::find("E15+cold").unwrap());
    let of = |entry: CatalogItem| hashes(&Plan::new(Subject::built_in(&entry), axes(&["seed=1..3"]), 2).unwrap());
    assert!(of(one).is_disjoint(&of(other)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn parts_hold_every_cell_once_and_have_equal_sizes(cells in 1_u64..300, parts in 1_usize..400) {
        let plan = fan(&[&format!("growth=1..{cells}")], parts);
        let sizes: Vec<usize> = (0..plan.parts).map(|part| plan.part(part).len()).collect();
        prop_assert!((0..plan.parts).flat_map(|part| plan.part(part)).eq(0..plan.len()));
        prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
        prop_assert!(sizes.iter().all(|size| *size > 0));
        prop_assert!(matches!(part::read(&plan, 0, Path::new(env!("CARGO_MANIFEST_DIR"))), Ok(Found::Absent)));
    }
}
