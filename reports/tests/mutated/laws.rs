//! Properties of every report, checked from outside on the written object, the ledger lines and the table of requests,
//! independent of the code that made them. Nothing here calls the code that it checks.

use std::collections::BTreeMap;

use super::tree::Tree;

/// What one replay wrote.
pub struct Written<'a> {
    /// `forkcast.replay/1`.
    pub run: &'a str,
    /// `forkcast.ledger/1`.
    pub ledger: &'a str,
    /// `requests.csv`.
    pub requests: &'a str,
}

/// Numbers by their path, money and tokens alike in units of 10⁻¹².
type Numbers = BTreeMap<String, i128>;

const UNITS_PER_ONE: i128 = 1_000_000_000_000;

/// The largest count that a JSON number holds in every language, and that readers let through.
const TOKENS_MAX: i128 = (1 << 53) * UNITS_PER_ONE;

/// Differences and estimates, which may be below zero.
const SIGNED: [&str; 9] = [
    "delta_usd",
    "delta_share",
    "cost_error",
    "saved_usd",
    "extra_cost_usd",
    "error",
    "sum_error",
    "built_in_sum_error",
    "low",
];

/// Fields that do not add up because they are no sums: rates, ranges, and fields that are omitted if a part has none.
const NO_SUMS: [&str; 8] = [
    "hit_rate",
    "residual_cost_usd",
    "cost_error",
    "delta_share",
    "agents",
    "chains",
    "what_if",
    "cost_lower_bound_usd",
];

/// All digits as an integer; `None` for more than twelve decimals, as in ratios.
pub fn units(raw: &str) -> Option<i128> {
    let (sign, digits) = raw.strip_prefix('-').map_or((1, raw), |digits| (-1, digits));
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    if decimals.len() > 12 || ![whole, decimals].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit())) {
        return None;
    }
    let decimals: i128 = format!("{decimals:0<12}").parse().ok()?;
    let whole: i128 = whole.parse().ok()?;
    Some(sign * whole.checked_mul(UNITS_PER_ONE)?.checked_add(decimals)?)
}

fn number(tree: &Tree, path: &[&str]) -> Option<i128> {
    let found = path.iter().try_fold(tree, |tree, key| tree.get(key))?;
    if let Tree::Raw(raw) = found { units(raw) } else { None }
}

fn is_null(tree: Option<&Tree>) -> bool {
    tree.is_none_or(|tree| *tree == Tree::Raw("null".to_owned()))
}

fn word<'a>(tree: &'a Tree, key: &str) -> &'a str {
    if let Some(Tree::Text(text)) = tree.get(key) { text } else { "" }
}

fn add(sums: &mut Numbers, path: impl Into<String>, amount: i128) {
    *sums.entry(path.into()).or_default() += amount;
}

/// Every number of sums by its path; items of a list go by their cause or name.
fn flat(tree: &Tree, path: &str, sums: &mut Numbers) {
    match tree {
        Tree::Raw(raw) => {
            if let Some(amount) = units(raw) {
                add(sums, path, amount);
            }
        }
        Tree::Object(members) => {
            for (key, value) in members.iter().filter(|(key, _)| !NO_SUMS.contains(&key.as_str())) {
                flat(value, &format!("{path}.{key}"), sums);
            }
        }
        Tree::List(items) => {
            for item in items {
                let name = format!("{}{}", word(item, "cause"), word(item, "name"));
                flat(item, &format!("{path}[{name}]"), sums);
            }
        }
        _ => {}
    }
}

/// The fields in which two sums differ. Zero and absent are the same.
fn differences(whole: &Numbers, parts: &Numbers, only: Option<&Numbers>) -> Vec<String> {
    let paths = whole.keys().chain(parts.keys()).filter(|path| only.is_none_or(|only| only.contains_key(*path)));
    let of = |sums: &Numbers, path: &str| sums.get(path).copied().unwrap_or_default();
    let differing = paths.filter(|path| of(whole, path) != of(parts, path));
    let mut told: Vec<String> =
        differing.map(|path| format!("{path}: {} in all, {} in parts", of(whole, path), of(parts, path))).collect();
    told.sort();
    told.dedup();
    told
}

/// Every law that is broken, in words.
pub fn broken(written: &Written<'_>) -> Vec<String> {
    let Some(run) = Tree::read(written.run) else { return vec!["the report is no JSON".to_owned()] };
    let lines: Option<Vec<Tree>> = written.ledger.lines().map(Tree::read).collect();
    let Some(lines) = lines else { return vec!["a line of the ledger is no JSON".to_owned()] };
    let mut broken = Vec::new();
    not_negative("report", &run, &mut broken);
    of_accounts(&run, &mut broken);
    of_parts(&run, &mut broken);
    of_ledger(&run, &lines, &mut broken);
    for line in &lines {
        not_negative("ledger", line, &mut broken);
        of_line(line, &mut broken);
    }
    of_table(&lines, written.requests, &mut broken);
    broken
}

fn not_negative(what: &str, tree: &Tree, broken: &mut Vec<String>) {
    tree.each("", &mut |key, value| {
        let Tree::Raw(raw) = value else { return };
        if raw.starts_with('-') && !SIGNED.contains(&key) {
            broken.push(format!("{what}: {key} is below zero: {raw}"));
        }
        let share = matches!(key, "hit_rate" | "recorded_hit_rate");
        if share && raw != "null" && !raw.parse::<f64>().is_ok_and(|rate| (0.0..=1.0).contains(&rate)) {
            broken.push(format!("{what}: {key} is no share: {raw}"));
        }
    });
}

/// For totals, and each session and group: the bill and its parts.
fn of_accounts(run: &Tree, broken: &mut Vec<String>) {
    let all = ["sessions", "groups"].iter().filter_map(|key| run.get(key)).flat_map(Tree::items);
    for account in all.chain(run.get("totals")) {
        let agreement = |path: &[&str]| number(account, path).unwrap_or_default();
        let mut others = Numbers::new();
        account
            .get("agreement")
            .and_then(|all| all.get("not_comparable"))
            .into_iter()
            .for_each(|all| flat(all, "", &mut others));
        let requests = agreement(&["agreement", "comparable"]) + others.values().sum::<i128>();
        if requests != agreement(&["requests"]) {
            broken.push(format!("agreement counts {requests} requests"));
        }
        let comparable = agreement(&["agreement", "comparable"]);
        for count in ["same_verdict", "reads_exact", "reads_agree"] {
            if agreement(&["agreement", count]) > comparable {
                broken.push(format!("agreement: {count} is more than is comparable"));
            }
        }
        bounds("account", account, &["recorded", "cost_usd"], broken);
    }
}

/// The perfect bill is the bill minus the cost of the causes.
fn bounds(what: &str, tree: &Tree, bill: &[&str], broken: &mut Vec<String>) {
    let (bill, perfect) = (number(tree, bill), number(tree, &["perfect_cost_usd"]));
    let (Some(bill), Some(perfect)) = (bill, perfect) else { return };
    let causes = tree.get("causes").map_or(&[][..], Tree::items).iter();
    let causes: i128 = causes.map(|cause| number(cause, &["cost_usd"]).unwrap_or_default()).sum();
    if perfect > bill {
        broken.push(format!("{what}: the perfect bill {perfect} is above the bill {bill}"));
    }
    if bill - perfect != causes {
        broken.push(format!("{what}: bill {bill} less perfect bill {perfect} is not the cost of its causes, {causes}"));
    }
}

/// Sessions add up to the totals, and so do groups and the agents of a session.
fn of_parts(run: &Tree, broken: &mut Vec<String>) {
    let Some(totals) = run.get("totals") else { return broken.push("no totals".to_owned()) };
    for key in ["sessions", "groups"] {
        let parts = run.get(key).map_or(&[][..], Tree::items);
        if parts.is_empty() && (key == "groups" && is_null(run.get("by"))) {
            continue;
        }
        // What some part has no prediction of, the others do not add up to.
        let known = !parts.iter().any(|part| is_null(part.get("predicted")));
        let (mut whole, mut sum) = (Numbers::new(), Numbers::new());
        flat(totals, "", &mut whole);
        for part in parts {
            flat(part, "", &mut sum);
        }
        for sums in [&mut whole, &mut sum] {
            sums.retain(|path, _| known || !path.starts_with(".predicted"));
        }
        broken.extend(differences(&whole, &sum, None).into_iter().map(|told| format!("{key}: {told}")));
    }
    for session in run.get("sessions").map_or(&[][..], Tree::items) {
        let agents = session.get("agents").map_or(&[][..], Tree::items);
        let sum: i128 = agents.iter().filter_map(|agent| number(agent, &["requests"])).sum();
        if !agents.is_empty() && Some(sum) != number(session, &["requests"]) {
            broken.push("the requests of a session's agents are not those of the session".to_owned());
        }
    }
}

/// Lines of the ledger add up to the totals.
fn of_ledger(run: &Tree, lines: &[Tree], broken: &mut Vec<String>) {
    let Some(totals) = run.get("totals") else { return };
    let some_recorded = lines.iter().any(|line| !is_null(line.get("recorded")));
    let mut sums = Numbers::new();
    let always =
        [".requests", ".read_tokens", ".new_tokens", ".missed_tokens", ".perfect_cost_usd", ".unread_writes_usd"];
    always.iter().for_each(|path| add(&mut sums, *path, 0));
    for path in ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens", "cost_usd"]
    {
        add(&mut sums, format!(".recorded.{path}"), 0);
    }
    for line in lines {
        add(&mut sums, ".requests", UNITS_PER_ONE);
        comparison(line, &mut sums);
        if !some_recorded || !is_null(line.get("recorded")) {
            counted(line, !is_null(totals.get("predicted")), &mut sums);
        }
    }
    let mut whole = Numbers::new();
    flat(totals, "", &mut whole);
    let told = differences(&whole, &sums, Some(&sums));
    broken.extend(told.into_iter().map(|told| format!("ledger: {told}")));
}

fn comparison(line: &Tree, sums: &mut Numbers) {
    let Some(comparison) = line.get("comparison") else { return };
    let path = match word(comparison, "reason") {
        "" => ".agreement.comparable".to_owned(),
        reason => format!(".agreement.not_comparable.{reason}"),
    };
    add(sums, path, UNITS_PER_ONE);
}

/// The contribution of a line to sums.
fn counted(line: &Tree, predicts: bool, sums: &mut Numbers) {
    let mut own = Numbers::new();
    let is_recorded = !is_null(line.get("recorded"));
    line.get("recorded").into_iter().for_each(|usage| flat(usage, ".recorded", &mut own));
    let of_side = |side: &str, path: &[&str]| (format!(".{side}.cost_usd"), number(line, path).unwrap_or_default());
    if is_recorded {
        let (path, cost) = of_side("recorded", &["cost_usd"]);
        add(&mut own, path, cost);
    }
    if predicts {
        let side = if is_null(line.get("predicted")) { "recorded" } else { "predicted" };
        line.get(side).into_iter().for_each(|usage| flat(usage, ".predicted", &mut own));
        let cost = if side == "recorded" { "cost_usd" } else { "predicted_cost_usd" };
        let (path, cost) = of_side("predicted", &[cost]);
        add(&mut own, path, cost);
    }
    for key in ["perfect_cost_usd", "unread_writes_usd"] {
        add(&mut own, format!(".{key}"), number(line, &[key]).unwrap_or_default());
    }
    for key in ["read_tokens", "new_tokens", "missed_tokens"] {
        add(&mut own, format!(".{key}"), number(line, &["explanation", key]).unwrap_or_default());
    }
    for cause in line.get("causes").map_or(&[][..], Tree::items) {
        let path = format!(".causes[{}]", word(cause, "cause"));
        add(&mut own, format!("{path}.tokens"), number(cause, &["tokens"]).unwrap_or_default());
        add(&mut own, format!("{path}.cost_usd"), number(cause, &["cost_usd"]).unwrap_or_default());
    }
    own.into_iter().for_each(|(path, amount)| add(sums, path, amount));
}

/// For one request: the parts of its input, and of its bill.
fn of_line(line: &Tree, broken: &mut Vec<String>) {
    let side = if is_null(line.get("recorded")) { "predicted" } else { "recorded" };
    let input = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
    let input: i128 = input.iter().filter_map(|key| number(line, &[side, key])).sum();
    let parts = ["read_tokens", "new_tokens", "missed_tokens"];
    if !is_null(line.get("explanation")) {
        let parts: i128 = parts.iter().filter_map(|key| number(line, &["explanation", key])).sum();
        if parts != input {
            broken.push(format!("request: read, new and missed are {parts} of an input of {input}"));
        }
    }
    line.each("", &mut |key, value| {
        let Tree::Raw(raw) = value else { return };
        if key.ends_with("_tokens") && units(raw).is_some_and(|tokens| tokens > TOKENS_MAX) {
            broken.push(format!("request: {key} is {raw}, more than a JSON number holds"));
        }
    });
    let of = |list: &str, key: &str| -> i128 {
        let items = line.get(list).map_or(&[][..], Tree::items);
        items.iter().map(|item| number(item, &[key]).unwrap_or_default()).sum()
    };
    bounds("request", line, &["cost_usd"], broken);
    if let Some(bill) = number(line, &["cost_usd"])
        && bill != of("bill", "cost_usd") + of("fees", "cost_usd")
    {
        broken.push("request: its bill is not the sum of its lines".to_owned());
    }
    if of("causes", "tokens") != number(line, &["explanation", "missed_tokens"]).unwrap_or_default() {
        broken.push("request: its causes differ from its missed tokens".to_owned());
    }
}

/// Columns that are empty for requests that enter no sum.
const BLANK: [&str; 3] = ["cost_usd", "perfect_cost_usd", "missed_tokens"];

/// The table has a row for each line of the ledger, with the same figures.
fn of_table(lines: &[Tree], text: &str, broken: &mut Vec<String>) {
    let rows = rows(text);
    let Some((head, rows)) = rows.split_first() else { return broken.push("requests.csv has no head".to_owned()) };
    if rows.len() != lines.len() {
        return broken.push(format!("requests.csv has {} rows, the ledger {} lines", rows.len(), lines.len()));
    }
    let columns: [(&str, &[&str]); 6] = [
        ("index", &["index"]),
        ("recorded_input_tokens", &["recorded", "input_tokens"]),
        ("recorded_output_tokens", &["recorded", "output_tokens"]),
        ("cost_usd", &["cost_usd"]),
        ("perfect_cost_usd", &["perfect_cost_usd"]),
        ("missed_tokens", &["explanation", "missed_tokens"]),
    ];
    for (row, line) in rows.iter().zip(lines) {
        for (column, path) in columns {
            let at = head.iter().position(|known| known == column);
            let cell = at.and_then(|at| row.get(at)).and_then(|cell| units(cell));
            // A request that enters no sum has no figures of its own in the table.
            let is_blank = BLANK.contains(&column) && cell.is_none();
            if row.len() != head.len() || cell != number(line, path) && !is_blank {
                broken.push(format!("requests.csv: {column} is not that of the ledger"));
            }
        }
    }
}

/// Cells of comma-separated values (RFC 4180), row by row.
pub fn rows(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut characters) = (false, text.chars().peekable());
    while let Some(c) = characters.next() {
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => cell.extend(characters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            c => cell.push(c),
        }
    }
    rows
}
