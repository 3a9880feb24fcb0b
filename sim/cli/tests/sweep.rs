//! `forkcast sweep` from the command line: shards, kills, interrupts, schedulers, refusals.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use crate::program::{self, folder, said};

const VARIABLES: [&str; 3] = ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "HQ_TASK_ID"];

fn command(folder: &Path, line: &str) -> Command {
    let mut command = program::command(folder, &line.split(' ').collect::<Vec<_>>());
    command.stdin(Stdio::null());
    for variable in VARIABLES {
        command.env_remove(variable);
    }
    command
}

fn forkcast(folder: &Path, line: &str) -> Output {
    command(folder, line).output().unwrap()
}

fn begun(folder: &Path, line: &str) -> Child {
    command(folder, line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn fine(folder: &Path, line: &str) -> String {
    let output = forkcast(folder, line);
    let (code, stdout, stderr) = said(&output);
    assert_eq!(code, 0, "{line}: {stderr}");
    stdout.to_owned()
}

/// Forks alone are dearer at once; with the parent's next request, which has nothing to read of them otherwise, cheaper.
#[test]
fn the_cheapest_cell_is_that_of_the_fan_out() {
    let place = folder("sweep-cheapest");
    let grid = fine(&place, "fanout --launch burst,stagger=200 --breakpoints before-results");
    fine(&place, "sweep plan fanout --set launch=burst,stagger=200 --set breakpoints=before-results -o plan.json");
    fine(&place, "sweep run plan.json --out parts");
    let merged = fine(&place, "sweep merge plan.json --out parts");
    assert!(grid.contains("Cheapest of 2: launch burst"), "{grid}");
    assert!(merged.contains("Cheapest: launch burst, $0.4330 with the parent's requests"), "{merged}");
}

/// A plan whose cells take a while, each in its own part.
fn slow_plan(place: &Path) {
    fine(place, "sweep plan fanout --set children=100 --set turns=3 --set growth=1..56 -o plan.json");
}

fn parts(folder: &Path) -> usize {
    let names = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().starts_with("part-")).count()
}

/// Waits until a part exists, so that the process is in the middle of its work.
fn until_a_part_is_there(folder: &Path, child: &mut Child) {
    while parts(folder) == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it ended without a part");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Merged JSON as printed, and the two files.
fn merged(place: &Path, out: &str) -> [Vec<u8>; 3] {
    let printed = fine(place, &format!("sweep merge plan.json --out {out} --format json -q"));
    let file = |name: &str| fs::read(place.join(out).join(name)).unwrap();
    [printed.into_bytes(), file("sweep.json"), file("sweep.csv")]
}

#[test]
fn one_process_seven_shards_and_a_killed_shard_give_the_same_bytes() {
    let place = folder("sweep-shards");
    slow_plan(&place);
    fine(&place, "sweep run plan.json --out one -q");
    for shard in [4, 0, 6, 2, 1, 5, 3] {
        fine(&place, &format!("sweep run plan.json --out seven --shard {shard}/7 --jobs 1 -q"));
    }
    let mut victim = begun(&place, "sweep run plan.json --out killed --shard 2/7 --jobs 1");
    until_a_part_is_there(&place.join("killed"), &mut victim);
    victim.kill().unwrap();
    victim.wait().unwrap();
    let survived = parts(&place.join("killed"));
    assert!((1..8).contains(&survived), "{survived} of 8 parts: not in the middle of its work");
    for shard in [0, 1, 3, 4, 5, 6] {
        fine(&place, &format!("sweep run plan.json --out killed --shard {shard}/7 -q"));
    }
    assert_eq!(said(&forkcast(&place, "sweep status plan.json --out killed")).0, 1);
    let output = forkcast(&place, "sweep run plan.json --out killed --shard 2/7 --jobs 1");
    let again = format!("8 parts exist: {} new, {survived} from before", 8 - survived);
    assert!(said(&output).2.contains(&again), "{}", said(&output).2);
    let one = merged(&place, "one");
    assert_eq!(one[0], one[1]);
    assert!(merged(&place, "seven") == one, "seven shards");
    assert!(merged(&place, "killed") == one, "a shard was killed");
    let left = fs::read_dir(place.join("killed"))
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with('.'));
    assert_eq!(left.count(), 0, "merge removes leftovers of the killed process");
}

/// Interrupted with Ctrl-C in the middle of its work.
#[cfg(unix)]
#[test]
fn ctrl_c_leaves_whole_parts() {
    let place = folder("sweep-interrupted");
    slow_plan(&place);
    let mut child = command(&place, "sweep run plan.json --out parts --jobs 2").stderr(Stdio::piped()).spawn().unwrap();
    until_a_part_is_there(&place.join("parts"), &mut child);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let (code, _, stderr) = said(&output);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("interrupted") && stderr.contains("of 56 parts exist"), "{stderr}");
    let output = forkcast(&place, "sweep status plan.json --out parts");
    let (_, stdout, stderr) = said(&output);
    assert!(
        stdout.contains("of 56 parts") && !stderr.contains("unfinished") && !stderr.contains("incomplete"),
        "{stderr}"
    );
}

#[test]
fn missing_parts_are_listed_with_the_command_that_makes_them() {
    let place = folder("sweep missing");
    fine(&place, "sweep plan fanout --set children=1..30 -o plan.json");
    fine(&place, "sweep run plan.json --out parts --shard 0/2");
    let output = forkcast(&place, "sweep merge plan.json --out parts");
    let (code, stdout, stderr) = said(&output);
    assert_eq!((code, stdout), (2, ""));
    for part in ["part 1 of 30 (1 cells): is missing", "… and 5 more parts", "forkcast sweep run plan.json --out parts"]
    {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    assert!(!place.join("parts/sweep.json").exists());
    let (_, command) = stderr.split_once("to run them: forkcast ").unwrap();
    fine(&place, command.trim());
    assert!(fine(&place, "sweep status plan.json --out parts").contains("30 of 30 parts, 30 of 30 cells"));
    assert!(fine(&place, "sweep merge plan.json --out parts").contains("Sweep of fanout: 30 cells"));
}

#[test]
fn incomplete_parts_and_parts_of_another_plan_are_reported_and_rerun() {
    let place = folder("sweep-torn");
    fine(&place, "sweep plan fanout --set children=1..3 -o plan.json");
    fine(&place, "sweep plan fanout --set children=2..4 -o other.json");
    fine(&place, "sweep run plan.json --out parts");
    let sound = merged(&place, "parts");
    let mut files: Vec<PathBuf> =
        fs::read_dir(place.join("parts")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.to_string_lossy().contains("part-"));
    files.sort();
    fs::write(&files[0], "{\"schema\":").unwrap();
    let output = forkcast(&place, "sweep merge plan.json --out parts");
    assert!(said(&output).0 == 2 && said(&output).2.contains("it is incomplete"), "{}", said(&output).2);
    let output = forkcast(&place, "sweep run plan.json --out parts");
    assert!(said(&output).0 == 0 && said(&output).2.contains("it is incomplete"), "{}", said(&output).2);
    // Parts of two plans may be in one folder.
    fine(&place, "sweep run other.json --out parts");
    assert!(merged(&place, "parts") == sound);
}

#[test]
fn schedulers_give_the_index_of_a_shard() {
    let place = folder("sweep-schedulers");
    fine(&place, "sweep plan fanout --set children=1..4 -o plan.json");
    for (at, variable) in VARIABLES.into_iter().enumerate() {
        let run = |index: usize, shard: &str| {
            let line = format!("sweep run plan.json --out {variable} {shard}");
            command(&place, line.trim()).env(variable, index.to_string()).output().unwrap()
        };
        let output = run(at, "--shard auto/4");
        assert_eq!(said(&output).0, 0, "{}", said(&output).2);
        let output = forkcast(&place, &format!("sweep status plan.json --out {variable}"));
        assert!((0..4).all(|part| said(&output).2.contains(&format!("part {part} of")) == (part != at)), "{variable}");
        let output = run(4, "--shard auto/4");
        assert_eq!(said(&output).0, 2);
        assert!(said(&output).2.contains("counted from zero"), "{}", said(&output).2);
        let output = run(1, "");
        assert!(said(&output).2.contains(&format!("{variable} is set")), "{}", said(&output).2);
    }
    let output = forkcast(&place, "sweep run plan.json --out parts --shard 6/7");
    assert!(said(&output).2.contains("7 shards share 4 parts, so 3 of them do nothing"), "{}", said(&output).2);
    for shard in ["auto/4", "4/4", "8/7", "-1/7", "1/0", "one"] {
        assert_eq!(
            said(&forkcast(&place, &format!("sweep run plan.json --out parts --shard {shard}"))).0,
            2,
            "{shard}"
        );
    }
}

#[test]
fn bad_plans_are_refused_before_any_work() {
    let place = folder("sweep-nonsense");
    for (line, says) in [
        (
            "fanout --set children=1..9999 --set growth=1..9999 --set tail=1..9999 --set output=1..9999 --set prefix=1..9999",
            "use fewer values",
        ),
        ("fanout --set model=nope", "`model`: found `nope`, expected one of `forkcast list models`"),
        ("fanout --set children=1..99999999", "more than 10,000 numbers"),
        ("fanout --set children=0", "at least one child"),
        ("fanout --set launch=stagger=999999", "longer than the TTL"),
        ("fanout --set childern=3", "did you mean `children`?"),
        ("fanout --set children", "expected FIELD=VALUE"),
        ("fanout --parts 0", "a whole number from 1"),
        ("no-such.yaml", "name a YAML file"),
        ("E15 --set session.ttl=2h", "`session.ttl`"),
        ("E15+none", "no"),
        ("fanout --set children=-1", "`-1` is not a number"),
        ("fanout --set children=", "a value is empty"),
        ("fanout --set ttl=2h", "expected `5m`"),
        ("fanout --set breakpoints=end", "tail+previous"),
        ("fanout --set children=1..1000000", "more than 10,000 numbers"),
        ("fanout --price-book none.toml", "none.toml"),
    ] {
        let output = forkcast(&place, &format!("sweep plan {line} -o plan.json"));
        let (code, stdout, stderr) = said(&output);
        assert!(code == 2 && stdout.is_empty() && stderr.contains(says), "{line}: {code}: {stderr}");
        assert!(!place.join("plan.json").exists());
    }
    let plan = fine(&place, "sweep plan fanout --set children=1,2");
    fs::write(place.join("plan.json"), plan.replacen("\"2\"", "\"3\"", 1)).unwrap();
    let output = forkcast(&place, "sweep run plan.json --out parts");
    assert!(said(&output).0 == 2 && said(&output).2.contains("changed by hand"), "{}", said(&output).2);
    assert!(!place.join("parts").exists());
    assert_eq!(said(&forkcast(&place, "sweep run none.json --out parts")).0, 2);
    fs::write(place.join("plan.json"), plan).unwrap();
    assert_eq!(said(&forkcast(&place, "sweep run plan.json --out plan.json")).0, 2);
    assert_eq!(said(&forkcast(&place, "sweep status plan.json --out parts")).0, 1);
    assert_eq!(said(&forkcast(&place, "sweep merge plan.json --out parts")).0, 2);
}

#[test]
fn a_planned_scenario_no_longer_needs_its_file() {
    let place = folder("sweep-scenario");
    let text = "about: One word.\nscript:\n  main:\n    - {say: Yes., output_tokens: 2}\nuser:\n  - {at_ms: 0, types: Well?}\n";
    fs::write(place.join("word.yaml"), text).unwrap();
    fine(
        &place,
        "sweep plan word.yaml --set session.model=claude-opus-4-8,claude-haiku-4-5 --set limits.steps=1,100000 -o plan.json",
    );
    fs::remove_file(place.join("word.yaml")).unwrap();
    fine(&place, "sweep run plan.json --out parts");
    let output = forkcast(&place, "sweep merge plan.json --out parts");
    let (code, stdout, stderr) = said(&output);
    // Everything is shown, and the interrupted cell is reported.
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("session.model=claude-opus-4-8 limits.steps=1: limit"), "{stderr}");
    assert!(stdout.contains("Sweep of word: 4 cells") && stdout.contains("broke off"), "{stdout}");
}

/// A plan contains its prices, so a part can run without the price book; models without a price are listed.
#[test]
fn a_plan_contains_its_prices() {
    let place = folder("sweep-prices");
    fs::write(place.join("mine.toml"), "[[price]]\nmodel = \"mine\"\ninput = 1\nread = 0.5\noutput = 2\n").unwrap();
    fine(
        &place,
        "sweep plan fanout --set model=mine,claude-3-opus-20240229 --price-book mine.toml --discount 50 -o plan.json",
    );
    fine(&place, "sweep plan fanout --set model=mine,claude-3-opus-20240229 --price-book mine.toml -o other.json");
    fs::remove_file(place.join("mine.toml")).unwrap();
    fine(&place, "sweep run plan.json --out parts -q");
    let output = forkcast(&place, "sweep merge plan.json --out parts --format json -q --strict");
    let (code, stdout, stderr) = said(&output);
    assert_eq!((code, stderr), (2, "forkcast: no price for `claude-3-opus-20240229` (--strict)\n"));
    let merged: serde_json::Value = serde_json::from_str(stdout).unwrap();
    // 230,000 read, 13,500 written, 500 answered, at half of 0.5, 1 and 2 per million.
    assert_eq!(merged["rows"][0]["cost_usd"].to_string(), "0.06475");
    assert_eq!(
        (&merged["rows"][1]["cost_usd"], &merged["rows"][1]["unpriced"][0]),
        (&serde_json::Value::Null, &"claude-3-opus-20240229".into())
    );
    let shown = fine(&place, "sweep merge plan.json --out parts -q");
    assert!(shown.contains("No price for claude-3-opus-20240229"), "{shown}");
    assert_eq!(said(&forkcast(&place, "sweep status other.json --out parts")).0, 1, "other prices are another plan");
}

/// What HyperQueue and Slurm do with an array, by their documented command lines, one task after the other; the worker of
/// one task is killed in the middle of its work, and the task is run again.
#[cfg(unix)]
mod engines {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Output};

    use super::{command, fine, forkcast, merged, parts};
    use crate::program::{folder, said};

    /// `hq submit [OPTION VALUE|--wait]... -- COMMAND`.
    const HQ: &str = r#"#!/bin/sh
[ "$1" = submit ] || exit 9
shift
while [ "$1" != -- ]; do
    case "$1" in
        --wait) waits=1; shift ;;
        --array) last=${2#0-}; shift 2 ;;
        --stderr) log=$2; shift 2 ;;
        --name|--stdout) shift 2 ;;
        *) echo "error: unexpected argument '$1'" >&2; exit 2 ;;
    esac
done
shift
[ "$waits" = 1 ] || exit 9
echo "Job submitted successfully, job ID: 1"
for id in $(seq 0 "$last"); do
    to=$(echo "$log" | sed "s/%{TASK_ID}/$id/")
    if [ "$id" = 1 ]; then
        HQ_TASK_ID=$id "$@" 2>/dev/null & victim=$!
        kill -9 $victim 2>/dev/null && echo killed >> "$KILLED"; wait $victim 2>/dev/null
    fi
    HQ_TASK_ID=$id "$@" >/dev/null 2>"$to" || status=1
done
exit ${status:-0}
"#;

    /// `sbatch [--NAME=VALUE|--wait|--requeue]...`, with the command in `--wrap`.
    const SBATCH: &str = r#"#!/bin/sh
for word in "$@"; do
    case "$word" in
        --wait) waits=1 ;;
        --requeue) again=1 ;;
        --array=*) last=${word#--array=0-} ;;
        --output=*) log=${word#--output=} ;;
        --wrap=*) wrap=${word#--wrap=} ;;
        --job-name=*|--cpus-per-task=1) ;;
        *) echo "sbatch: error: $word" >&2; exit 1 ;;
    esac
done
[ "$waits$again" = 11 ] || exit 9
echo "Submitted batch job 7"
for id in $(seq 0 "$last"); do
    to=$(echo "$log" | sed "s/%a/$id/")
    if [ "$id" = 1 ]; then
        SLURM_ARRAY_TASK_ID=$id sh -c "exec $wrap" 2>/dev/null & victim=$!
        kill -9 $victim 2>/dev/null && echo killed >> "$KILLED"; wait $victim 2>/dev/null
    fi
    SLURM_ARRAY_TASK_ID=$id sh -c "$wrap" >"$to" 2>&1 || status=1
done
exit ${status:-0}
"#;

    /// Each cell in its own part.
    fn small_plan(place: &Path) {
        fine(place, "sweep plan fanout --set children=60 --set growth=1..14 -o plan.json");
    }

    fn engine(place: &Path, name: &str, text: &str) -> PathBuf {
        let bin = place.join("bin");
        fs::create_dir_all(&bin).unwrap();
        let path = bin.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        bin
    }

    fn run(place: &Path, bin: &Path, line: &str) -> Output {
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        command(place, line).env("PATH", path).env("KILLED", place.join("killed")).output().unwrap()
    }

    #[test]
    fn engines_submit_wait_and_merge_to_the_same_bytes_though_a_worker_is_killed() {
        for (word, program, text) in [("hyperqueue", "hq", HQ), ("slurm", "sbatch", SBATCH)] {
            let place = folder(&format!("sweep engine {word}"));
            small_plan(&place);
            fine(&place, "sweep run plan.json --out one -q");
            let bin = engine(&place, program, text);
            let output = run(&place, &bin, &format!("sweep run plan.json --out parts --engine {word} --shards 7"));
            let (code, stdout, stderr) = said(&output);
            assert_eq!(code, 0, "{word}: {stderr}");
            assert!(stdout.contains("Sweep of fanout: 14 cells"), "{word}: {stdout}");
            assert!(stderr.contains("7 tasks submitted") && stderr.contains("ubmitted"), "{word}: {stderr}");
            assert_eq!(fs::read_to_string(place.join("killed")).unwrap(), "killed\n", "{word}");
            assert!(merged(&place, "parts") == merged(&place, "one"), "{word}");
            let logs = fs::read_dir(place.join("parts")).unwrap().map(|entry| entry.unwrap().file_name());
            assert!(
                !logs.into_iter().any(|name| name.to_string_lossy().contains("log")),
                "{word}: empty logs are removed"
            );
            let again = run(&place, &bin, &format!("sweep run plan.json --out parts --engine {word}"));
            assert!(said(&again).0 == 0 && said(&again).2.contains("nothing to submit"), "{}", said(&again).2);
        }
    }

    #[test]
    fn an_engine_that_leaves_parts_out_fails_with_what_is_missing_and_the_next_one_goes_on() {
        let place = folder("sweep-engine-fails");
        small_plan(&place);
        let half = HQ.replace("for id in $(seq 0 \"$last\")", "status=1; for id in 0 1 2");
        let bin = engine(&place, "hq", &half);
        let output = run(&place, &bin, "sweep run plan.json --out parts --engine hyperqueue --shards 8");
        let (code, stdout, stderr) = said(&output);
        assert_eq!((code, stdout), (1, ""), "{stderr}");
        assert!(stderr.contains("HyperQueue ended (exit status: 1): 5 of 14 parts exist"), "{stderr}");
        assert_eq!(parts(&place.join("parts")), 5);
        let bin = engine(&place, "hq", HQ);
        let output = run(&place, &bin, "sweep run plan.json --out parts --engine hyperqueue --shards 8");
        assert_eq!(said(&output).0, 0, "{}", said(&output).2);
    }

    #[test]
    fn an_engine_that_is_not_there_is_named() {
        let place = folder("sweep-engine-absent");
        fine(&place, "sweep plan fanout --set children=1..4 -o plan.json");
        let line = "sweep run plan.json --out parts --engine slurm";
        let output = command(&place, line).env("PATH", place.join("nowhere")).output().unwrap();
        let (code, _, stderr) = said(&output);
        assert!(code == 2 && stderr.contains("sbatch: ") && stderr.contains("on the PATH"), "{code}: {stderr}");
        for line in ["--engine pbs", "--engine ray --shard 0/2", "--shards 4"] {
            let line = format!("sweep run plan.json --out parts {line}");
            assert_eq!(said(&forkcast(&place, &line)).0, 2, "{line}");
        }
    }

    /// On loopback, with the Ray of this machine's `python3`; without one there is nothing to test.
    #[test]
    fn ray_runs_a_sweep_to_the_same_bytes() {
        let has_ray = Command::new("python3").args(["-c", "import ray"]).output().is_ok_and(|ray| ray.status.success());
        if !has_ray {
            eprintln!("skipped: python3 has no module ray");
            return;
        }
        let place = folder("sweep-ray");
        small_plan(&place);
        fine(&place, "sweep run plan.json --out one -q");
        let output = forkcast(&place, "sweep run plan.json --out parts --engine ray --shards 5 -q");
        assert_eq!(said(&output).0, 0, "{}", said(&output).2);
        assert!(merged(&place, "parts") == merged(&place, "one"));
    }
}
