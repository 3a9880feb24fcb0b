//! `published/parts.md`: what parts of the runtime cost, from runs of small scenarios.

use std::fmt::Write;
use std::sync::LazyLock;

use forkcast_fixtures::{golden, workspace};
use forkcast_scenarios::format::Scenario;
use forkcast_scenarios::format::expect::Ends;
use forkcast_scenarios::run::{Options, Run, Sums, play};
use forkcast_scenarios::{catalog, expect};
use forkcast_sim::agent::Event;

/// A file of about 25,000 tokens.
fn big() -> String {
    let lines = (0..700).map(|at| format!("fn item_{at:03}(order: &Order) -> Result<Amount, Failure> {{ todo!() }}\n"));
    serde_json::to_string(&lines.collect::<String>()).unwrap()
}

fn scenario(session: &str, rest: &str) -> Run {
    let text = format!(
        "about: A part.\nseed: 3\nprices: 2026-11-20\nsession: {{model: claude-opus-4-8, cwd: /repo, home: /home/ana{session}}}\n\
         files: {{/repo/big.rs: {big}, /repo/more.rs: {big}, /repo/a.md: \"one\\n\", /repo/b.md: \"two\\n\"}}\n\
         permissions: {{allow: [Read, Edit, Write, Bash]}}\n{rest}",
        big = big()
    );
    let scenario = Scenario::read("part", "part.yaml", &text, &[]).unwrap_or_else(|problems| panic!("{problems}"));
    checked(play(scenario, &Options::default()))
}

fn checked(run: Run) -> Run {
    assert_eq!(run.ends, Ends::Finished, "{:?}", run.message);
    assert!(run.laws_held(), "{:?}", run.laws);
    assert!(expect::failures(&run).is_empty());
    run
}

fn kept(name: &str) -> Run {
    checked(play(catalog::find(name).unwrap().read(&[]).unwrap(), &Options::default()))
}

const READ: &str = "{tools: [{tool: Read, input: {file_path: /repo/big.rs}}], output_tokens: 40}";

fn edit(number: &str) -> String {
    let lines = format!("old_string: \"fn item_{number}(\", new_string: \"fn thing_{number}(\"");
    format!("{{tools: [{{tool: Edit, input: {{file_path: /repo/big.rs, {lines}}}}}], output_tokens: 60}}")
}

/// A worker reads a file; a minute later a change of that file is due.
fn follow_up(goes_on: bool) -> Run {
    let spawn = |id: &str| {
        format!(
            "{{tool: Agent, id: {id}, input: {{description: look, prompt: Look at big.rs., subagent_type: general-purpose, run_in_background: true}}}}"
        )
    };
    let next = match goes_on {
        true => {
            "{tool: SendMessage, input: {to: \"${agent:one}\", message: Rename item_007., summary: rename}}".to_owned()
        }
        false => spawn("two"),
    };
    let work = match goes_on {
        true => format!(
            "  general-purpose: [{READ}, {{say: Seen., output_tokens: 20}}, {}, {{say: Changed., output_tokens: 20}}]",
            edit("007")
        ),
        false => format!(
            "  general-purpose#1: [{READ}, {{say: Seen., output_tokens: 20}}]\n  general-purpose#2: [{READ}, {}, {{say: Changed., output_tokens: 20}}]",
            edit("007")
        ),
    };
    scenario(
        ", messages: true",
        &format!(
            "script:\n  main:\n    - {{tools: [{}], output_tokens: 60}}\n    - {{when: {{user_has: Now change}}, tools: [{next}], output_tokens: 60}}\n    \
             - {{say: Noted., output_tokens: 4, times: 9}}\n{work}\nuser: [{{at_ms: 0, types: Look at it}}, {{at_ms: 60000, types: Now change it}}]\n",
            spawn("one")
        ),
    )
}

/// Eight files are read one after another.
fn long(compaction: &str) -> Run {
    let replies = [READ; 8].join(", ");
    scenario(
        compaction,
        &format!(
            "script:\n  main: [{replies}, {{say: Done., output_tokens: 20}}]\n  compact: [{{say: We read big.rs., output_tokens: 300, times: 8}}]\n\
             user: [{{at_ms: 0, types: Read them all}}]\n"
        ),
    )
}

/// Two workers learn a file and then do two jobs, as teammates that go on or as new agents.
fn two_jobs(team: bool) -> Run {
    let name = |name: &str| if team { format!(", name: {name}") } else { String::new() };
    let spawn = |id: &str, who: &str| {
        format!(
            "{{tool: Agent, id: {id}, input: {{description: {id}, prompt: Do your job., subagent_type: general-purpose, run_in_background: true{}}}}}",
            name(who)
        )
    };
    let again = match team {
        true => ["ina", "lou"]
            .map(|who| format!("{{tool: SendMessage, input: {{to: {who}, message: Do the next., summary: next}}}}")),
        false => [spawn("three", "x"), spawn("four", "y")],
    };
    let job = |number: &str| format!("{}, {{say: Changed., output_tokens: 20}}", edit(number));
    let lists = match team {
        true => [("one", "001", "003"), ("two", "002", "004")]
            .map(|(list, first, next)| format!("  {list}: [{READ}, {}, {}]", job(first), job(next)))
            .join("\n"),
        false => [("one", "001"), ("two", "002"), ("three", "003"), ("four", "004")]
            .map(|(list, number)| format!("  {list}: [{READ}, {}]", job(number)))
            .join("\n"),
    };
    // The second worker has a file of its own.
    let lists: Vec<String> = lists
        .lines()
        .map(|list| {
            if list.starts_with("  two") || list.starts_with("  four") {
                list.replace("big.rs", "more.rs")
            } else {
                list.to_owned()
            }
        })
        .collect();
    let lists = lists.join("\n");
    scenario(
        if team { ", teams: {current: crew}" } else { "" },
        &format!(
            "script:\n  main:\n    - {{tools: [{}, {}], output_tokens: 90}}\n    - {{when: {{user_has: The next}}, tools: [{}], output_tokens: 90}}\n    \
             - {{say: Noted., output_tokens: 4, times: 12}}\n{lists}\nuser: [{{at_ms: 0, types: The first jobs}}, {{at_ms: 60000, types: The next jobs}}]\n",
            spawn("one", "ina"),
            spawn("two", "lou"),
            again.join(", ")
        ),
    )
}

/// Two agents change a file each.
fn two_edits(worktrees: bool) -> Run {
    let isolation = if worktrees { ", isolation: worktree" } else { "" };
    let folder = if worktrees { "" } else { "/repo/" };
    let spawn = |id: &str| {
        format!(
            "{{tool: Agent, id: {id}, input: {{description: {id}, prompt: Write it., subagent_type: general-purpose, run_in_background: true{isolation}}}}}"
        )
    };
    let writes = |name: &str| {
        format!(
            "  {name}: [{{tools: [{{tool: Write, input: {{file_path: {folder}{name}.md, content: new}}}}], output_tokens: 40}}, {{say: Written., output_tokens: 4}}]"
        )
    };
    scenario(
        ", worktrees: {takes_ms: 1500, offered: false}",
        &format!(
            "script:\n  main:\n    - {{tools: [{}, {}], output_tokens: 90}}\n    - {{say: Noted., output_tokens: 4, times: 9}}\n{}\n{}\n\
             user: [{{at_ms: 0, types: Write both}}]\n",
            spawn("one"),
            spawn("two"),
            writes("one"),
            writes("two")
        ),
    )
}

/// A child of five minutes in the foreground; a line is typed after one.
fn blocked(moves: bool) -> Run {
    let variable = if moves { "variables: {CLAUDE_AUTO_BACKGROUND_TASKS: \"1\"}\n" } else { "" };
    scenario(
        "",
        &format!(
            "{variable}shell: [{{command: make all, output: ok, takes_ms: 100000}}]\nscript:\n  main:\n    \
             - {{tools: [{{tool: Agent, input: {{description: build, prompt: Build., subagent_type: general-purpose}}}}], output_tokens: 60}}\n    \
             - {{say: Noted., output_tokens: 4, times: 9}}\n  general-purpose: [{calls}, {{say: Built., output_tokens: 20}}]\n\
             user: [{{at_ms: 0, types: Build it}}, {{at_ms: 60000, types: And what is new?}}]\n",
            calls = ["{tools: [{tool: Bash, input: {command: make all, description: Build}}], output_tokens: 40}"; 3]
                .join(", ")
        ),
    )
}

/// A long conversation, and the user comes back to it after two hours, or does not.
fn pause(summarises: bool, returns: bool) -> Run {
    let idle = if summarises { ", idle: client-2026-10" } else { "" };
    let act = if returns { "types: And now?" } else { "flip: {seen: true}" };
    scenario(
        &format!(", ttl: 1h, compaction: {{window_tokens: 1000000{idle}}}"),
        &format!(
            "flags: {{seen: false}}\nsizes: {{system: 8000, tools: 12000, history: 230000}}\nprompt: {{history: [{{user: {big}}}, {{say: Seen.}}]}}\nscript:\n  main: [{{say: Done., output_tokens: 100}}, {{say: Nothing., output_tokens: 100}}]\n  \
             compact: [{{say: All that is needed., output_tokens: 2000}}]\nuser: [{{at_ms: 0, types: Do it}}, {{at_ms: 7200000, {act}}}]\n",
            big = big()
        ),
    )
}

/// When the second line of the user left the queue, in seconds.
fn served(run: &Run) -> u64 {
    let mut lines = run.events.iter().filter(|logged| matches!(logged.event, Event::Dequeued { mode: "prompt", .. }));
    lines.next_back().unwrap().at.0 / 1_000_000_000
}

/// Five children of a long conversation, as forks or as agents of their own.
fn five(forks: bool) -> Run {
    let kind = if forks { "" } else { ", subagent_type: general-purpose, run_in_background: true" };
    let list = if forks { "fork" } else { "general-purpose" };
    let calls: Vec<String> = (1..=5)
        .map(|at| {
            format!("{{tool: Agent, id: part_{at}, input: {{description: part {at}, prompt: Do part {at}.{kind}}}}}")
        })
        .collect();
    scenario(
        ", forks: {launch: primed}",
        &format!(
            "features: [FORK_SUBAGENT]\nsizes: {{system: 4000, tools: 12000, history: 64000, agents: {{system: 3000, tools: 7000, brief: 1000}}}}\n\
             script:\n  main: [{{tools: [{}], output_tokens: 300}}, {{say: Noted., output_tokens: 4, times: 9}}]\n  \
             {list}: [{{say: Done., output_tokens: 100}}]\nuser: [{{at_ms: 0, types: Do all parts}}]\n",
            calls.join(", ")
        ),
    )
}

fn children(run: &Run) -> Sums {
    Sums::of(run.requests.iter().filter(|request| request.agent != 0))
}

/// Tokens of plain input that cost as much as the input.
fn weighted(sums: &Sums) -> f64 {
    let usage = &sums.usage;
    let written = usage.ephemeral_5m_input_tokens as f64 * 1.25 + usage.ephemeral_1h_input_tokens as f64 * 2.0;
    usage.input_tokens as f64 + written + usage.cache_read_input_tokens as f64 * 0.1
}

fn dollars(sums: &Sums) -> f64 {
    sums.cost.unwrap().to_string().parse().unwrap()
}

struct Page {
    text: String,
}

impl Page {
    fn part(&mut self, heading: &str, about: &str, rows: &[(&str, &Run)]) {
        _ = writeln!(self.text, "\n## {heading}\n\n{about}\n");
        self.text += "| | requests | plain input | read | written | output | cost | ends after |\n|---|---:|---:|---:|---:|---:|---:|---:|\n";
        for (name, run) in rows {
            let sums = run.totals();
            let usage = sums.usage;
            _ = writeln!(
                self.text,
                "| {name} | {} | {} | {} | {} | {} | ${:.4} | {:.1} s |",
                sums.requests,
                usage.input_tokens,
                usage.cache_read_input_tokens,
                usage.cache_creation_input_tokens(),
                usage.output_tokens,
                dollars(&sums),
                run.makespan.0 as f64 / 1e9
            );
        }
    }
}

struct Parts {
    follow_up: [Run; 2],
    long: [Run; 3],
    two_jobs: [Run; 2],
    two_edits: [Run; 2],
    blocked: [Run; 2],
    guards: [Run; 4],
    five: [Run; 2],
    pauses: [Run; 4],
}

fn parts() -> Parts {
    let compaction =
        |mechanism: &str| format!(", compaction: {{window_tokens: 60000, {mechanism}_percent: 60, kept_results: 1}}");
    Parts {
        follow_up: [true, false].map(follow_up),
        long: [String::new(), compaction("micro"), compaction("auto")].map(|compaction| long(&compaction)),
        two_jobs: [true, false].map(two_jobs),
        two_edits: [true, false].map(two_edits),
        blocked: [true, false].map(blocked),
        guards: ["E17", "E17+without-source", "E17+after-compaction", "E17+without-either"].map(kept),
        five: [true, false].map(five),
        pauses: [(false, true), (true, true), (false, false), (true, false)]
            .map(|(summarises, returns)| pause(summarises, returns)),
    }
}

fn pauses(page: &mut Page, [returns, shorter, away, in_vain]: &[Run; 4]) {
    page.part(
        "Summarised while idle",
        "A conversation of 250,000 tokens, breakpoints of an hour, a pause of two. The client of October 2026 summarises after 55 minutes, while the cache still holds the conversation.",
        &[
            ("the user comes back", returns),
            ("the same, summarised", shorter),
            ("the user does not come back", away),
            ("the same, summarised in vain", in_vain),
        ],
    );
}

fn page(parts: &Parts) -> String {
    let mut page = Page { text: "# What parts of the runtime cost\n\nEvery row is a run of a small scenario against the emulated cache, at the list prices of 2026-11-20 for Opus 4.8.\n`FORKCAST_UPDATE=1 cargo test -p forkcast-reports parts::` makes this page, and a test compares it.\n".to_owned() };
    let [goes_on, anew] = &parts.follow_up;
    page.part(
        "Continue or spawn",
        "A worker has read a file of 25,000 tokens; a minute later one line of it is to be changed.",
        &[("continue with SendMessage", goes_on), ("a new agent reads it again", anew)],
    );
    let [none, micro, auto] = &parts.long;
    page.part(
        "Micro or auto compaction",
        "Eight results of 25,000 tokens in one turn, a window of 60,000, a threshold of 60 %.",
        &[("none", none), ("micro: old results are cleared", micro), ("auto: a summary takes the place of all", auto)],
    );
    pauses(&mut page, &parts.pauses);
    let [team, agents] = &parts.two_jobs;
    page.part(
        "Team or sub-agents",
        "Two workers learn a file of 25,000 tokens and do two jobs each, a minute apart.",
        &[("two teammates that go on", team), ("four agents", agents)],
    );
    let [apart, shared] = &parts.two_edits;
    page.part(
        "Worktree or shared tree",
        "Two agents write a file each; git takes 1.5 s for every step.",
        &[("a worktree each", apart), ("one tree", shared)],
    );
    let [moved, waited] = &parts.blocked;
    page.part("120 seconds in the foreground", &format!("A child of five minutes; the user types a line after one minute. It is served after {} s if the child moves to the background by itself, after {} s otherwise (ECON-17).", served(moved), served(waited)), &[("moves after 120 s", moved), ("never moves", waited)]);
    let [source, scan, compacted, neither] = &parts.guards;
    page.part(
        "The guards against forks of forks",
        "The scan of the history adds no request and no token; a fork that gets past both guards does (ECON-18).",
        &[
            ("by the origin of requests", source),
            ("by the scan", scan),
            ("after a compaction, by the origin", compacted),
            ("after a compaction, by neither", neither),
        ],
    );
    let [forks, own] = &parts.five;
    page.part(
        "Five forks or five agents",
        "A conversation of 80,000 tokens, most of it memory files of the user, which agents of their own get too.",
        &[("forks, one first", forks), ("agents of their own", own)],
    );
    let sums = [children(forks), children(own)];
    page.text += "\nThe children alone (ECON-19):\n\n| | plain input | read | cost-weighted | hit rate | saved, against no cache | saved, against agents of their own |\n|---|---:|---:|---:|---:|---:|---:|\n";
    for (name, of) in ["forks, one first", "agents of their own"].iter().zip(&sums) {
        let against = |base: f64| format!("{:.1} %", (1.0 - dollars(of) / base) * 100.0);
        let uncached: f64 = of.cost_without_cache.unwrap().to_string().parse().unwrap();
        _ = writeln!(
            page.text,
            "| {name} | {} | {} | {:.0} | {:.1} % | {} | {} |",
            of.usage.input_tokens,
            of.usage.cache_read_input_tokens,
            weighted(of),
            of.usage.hit_rate().unwrap_or_default() * 100.0,
            against(uncached),
            against(dollars(&sums[1]))
        );
    }
    page.text
}

static PARTS: LazyLock<(String, Vec<f64>)> = LazyLock::new(|| {
    let parts = parts();
    let cost = |run: &Run| dollars(&run.totals());
    let [source, scan, compacted, neither] = &parts.guards;
    let [moved, waited] = &parts.blocked;
    let [forks, own] = &parts.five;
    let figures = vec![
        cost(source),
        cost(scan),
        cost(compacted),
        cost(neither),
        served(moved) as f64,
        served(waited) as f64,
        moved.totals().requests as f64,
        waited.totals().requests as f64,
        dollars(&children(forks)),
        dollars(&children(own)),
    ];
    (page(&parts), figures)
});

#[test]
fn the_published_page_has_the_results_of_the_runs() {
    let path = workspace().join("reports/published/parts.md");
    let (page, _) = &*PARTS;
    golden(&path, page);
}

#[test]
fn econ_17_a_child_in_the_foreground_keeps_the_user_waiting_and_moving_it_costs_requests() {
    let figures = &PARTS.1;
    assert!((120.0..125.0).contains(&figures[4]), "120 s after the child began: {}", figures[4]);
    assert!(figures[5] > 300.0, "after the child has ended");
    assert!(figures[6] > figures[7], "the notification is a turn of its own");
}

#[test]
fn econ_18_the_scan_costs_nothing_and_a_fork_of_a_fork_does() {
    let figures = &PARTS.1;
    assert_eq!(figures[0], figures[1], "no request more");
    assert!(figures[3] > figures[2] * 1.05, "{} {}", figures[2], figures[3]);
}

#[test]
fn econ_19_inputs_hit_rate_and_savings_stand_side_by_side() {
    let (page, figures) = &*PARTS;
    let section = page.split("(ECON-19)").nth(1).unwrap();
    let headings = [
        "plain input",
        "read",
        "cost-weighted",
        "hit rate",
        "saved, against no cache",
        "saved, against agents of their own",
    ];
    let row = section.lines().find(|line| line.starts_with("| |")).unwrap();
    assert!(headings.iter().all(|heading| row.contains(heading)), "{row}");
    let forks: Vec<&str> = section.lines().find(|line| line.starts_with("| forks")).unwrap().split('|').collect();
    assert_eq!(forks.len(), headings.len() + 3);
    let saved = (1.0 - figures[8] / figures[9]) * 100.0;
    assert_eq!(forks[7].trim(), format!("{saved:.1} %"));
}
