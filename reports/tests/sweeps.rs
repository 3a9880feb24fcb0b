//! Plans and merged grids as machines and people read them.

use forkcast_reports::document::terminal;
use forkcast_reports::format::sweep;
use forkcast_reports::human::sweep::Summary;
use forkcast_scenarios::catalog;
use forkcast_scenarios::sweep::outcome::Player;
use forkcast_scenarios::sweep::prices::{BookFile, PlannedPrice, Prices};
use forkcast_scenarios::sweep::{Axis, CellOutcome, Plan, Subject};
use forkcast_sim::pricing::PriceBook;
use serde_json::Value;

use crate::written::{check, text, validator};

fn plan(subject: Subject, axes: &[&str]) -> Plan {
    Plan::new(subject, axes.iter().map(|axis| Axis::read(axis).unwrap()).collect(), 4).unwrap()
}

fn plans() -> [Plan; 2] {
    [
        plan(Subject::fanout(), &["model=claude-opus-5-5,claude-3-opus-20240229", "children=1,3", "ttl=5m,1h"]),
        plan(Subject::built_in(&catalog::find("E15").unwrap()), &["session.ttl=5m,1h", "limits.steps=3,100000"]),
    ]
}

fn rows(plan: &Plan) -> Vec<CellOutcome> {
    let player = Player::of(plan);
    plan.cells().map(|cell| player.outcome(&cell)).collect()
}

fn json(plan: &Plan, rows: &[CellOutcome]) -> String {
    text(|target| sweep::write(plan, rows.iter().cloned().map(Ok), target))
}

fn shown(plan: &Plan, rows: Vec<CellOutcome>) -> String {
    let mut summary = Summary::of(plan);
    rows.into_iter().enumerate().for_each(|(index, row)| summary.add(index, row));
    text(|target| terminal::write(&summary.document(), terminal::Look::default(), target))
}

#[test]
fn plans_and_merged_grids_follow_their_schemas() {
    for plan in plans() {
        check(&validator("forkcast.plan/2"), &plan.text());
        let value = check(&validator("forkcast.sweep/1"), &json(&plan, &rows(&plan)));
        assert_eq!(value["rows"].as_array().unwrap().len(), plan.len());
    }
}

#[test]
fn a_plan_at_other_prices_follows_its_schema() {
    let text = PriceBook::built_in().to_toml();
    let price =
        PlannedPrice { model: "mine".to_owned(), category: "write_5m".to_owned(), usd_per_mtok: "1.25".to_owned() };
    let prices = Prices {
        files: vec![BookFile { name: "book.toml".to_owned(), text }],
        prices: vec![price],
        remaining_millionths: Some(900_000),
    };
    let plan = Plan::at_prices(Subject::fanout(), prices, vec![Axis::read("children=1,3").unwrap()], 2).unwrap();
    let value = check(&validator("forkcast.plan/2"), &plan.text());
    assert_eq!(value["prices"]["prices"][0]["category"], "write_5m");
}

#[test]
fn cells_without_a_price_and_unfinished_cells_have_rows() {
    let [fanout, scenario] = plans();
    let of_fanout = check(&validator("forkcast.sweep/1"), &json(&fanout, &rows(&fanout)));
    assert_eq!(of_fanout["rows"][0]["set"]["model"], "claude-opus-5-5");
    assert!(of_fanout["rows"][0]["cost_usd"].as_f64().unwrap() > 0.0);
    assert_eq!(of_fanout["rows"][7]["set"]["model"], "claude-3-opus-20240229");
    assert_eq!(of_fanout["rows"][7]["cost_usd"], Value::Null);
    assert!(of_fanout["rows"][7]["usage"]["output_tokens"].as_u64().unwrap() > 0);
    let of_scenario = check(&validator("forkcast.sweep/1"), &json(&scenario, &rows(&scenario)));
    assert_eq!(of_scenario["rows"][0]["ends"], "limit");
    assert!(of_scenario["rows"][0]["message"].is_string());
    assert_eq!(of_scenario["rows"][1]["ends"], "finished");
    assert_eq!(of_scenario["rows"][1]["failures"], serde_json::json!([]));
}

#[test]
fn every_line_of_the_table_has_all_columns_and_every_axis_has_one() {
    for plan in plans() {
        let table = text(|target| sweep::table(&plan, rows(&plan).into_iter().map(Ok), target));
        let head: Vec<&str> = table.lines().next().unwrap().split(',').collect();
        let axes: Vec<&str> = plan.axes.iter().map(|axis| axis.path.as_str()).collect();
        assert_eq!(head[..axes.len()], axes);
        assert_eq!(table.lines().count(), plan.len() + 1);
    }
}

#[test]
fn people_see_the_cheapest_cell_first_and_unfinished_cells_last() {
    let [fanout, scenario] = plans();
    let shown = |plan: &Plan| shown(plan, rows(plan));
    let of_fanout = shown(&fanout);
    assert!(of_fanout.contains("Sweep of fanout: 8 cells, 16 requests"), "{of_fanout}");
    assert!(of_fanout.contains("Cheapest: model claude-opus-5-5, children 1, ttl 5m"), "{of_fanout}");
    let narrow = shown(&plan(Subject::fanout(), &["children=1,2", "growth=500"]));
    assert!(narrow.contains("In all cells: growth 500") && narrow.contains("Cheapest: children 1, $"), "{narrow}");
    let of_scenario = shown(&scenario);
    let place = |word: &str| of_scenario.find(word).unwrap_or_else(|| panic!("{word}: {of_scenario}"));
    assert!(place("limits.steps 100000") < place("(broke"), "{of_scenario}");
}

/// A provider that lets one request a minute through leaves children without an answer, and that is cheap.
#[test]
fn cells_with_unanswered_requests_are_reported_and_never_cheapest() {
    let plan = plan(Subject::fanout(), &["children=40", "rpm=1,1000000"]);
    let rows = rows(&plan);
    assert!(rows[0].figures.unanswered > 0 && rows[0].figures.over_limits > 0 && rows[1].is_answered(), "{rows:?}");
    assert!(rows[0].figures.cost < rows[1].figures.cost);
    let value = check(&validator("forkcast.sweep/1"), &json(&plan, &rows));
    assert_eq!(value["rows"][0]["unanswered_requests"], rows[0].figures.unanswered);
    let shown = shown(&plan, rows);
    assert!(shown.contains("never answered"), "{shown}");
    assert!(shown.find("rpm 1000000").unwrap() < shown.find("rpm 1 ").unwrap(), "{shown}");
}

/// The merge reads rows as it writes them: what it holds does not grow with the plan.
#[test]
fn people_get_the_same_cells_whatever_their_order_and_number() {
    let plan = plan(Subject::fanout(), &["growth=1..300", "turns=2"]);
    let of_rows = rows(&plan);
    let document = shown(&plan, of_rows);
    let lines = document.lines().filter(|line| line.trim_start().starts_with("growth "));
    assert_eq!(lines.count(), 40, "{document}");
    assert!(document.contains("… and 260 more cells"), "{document}");
    assert!(document.contains("Cheapest: growth 1, $") && document.contains("Dearest: growth 300, $"), "{document}");
}

#[test]
fn an_error_while_rows_are_read_is_an_error_of_the_file() {
    let [plan, _] = plans();
    let rows = rows(&plan).into_iter().take(2).map(Ok).chain([Err(std::io::Error::other("gone"))]);
    let mut target = Vec::new();
    assert_eq!(sweep::write(&plan, rows, &mut target).unwrap_err().to_string(), "gone");
}
