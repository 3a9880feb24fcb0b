//! `forkcast sweep run --engine`: the shards of a plan as tasks of a scheduler, from submission to merge.
//!
//! An engine is only asked to run each shard at least once. Parts are complete or absent, and existing ones are not run
//! again, so killed workers and retries leave the same bytes.
//!
//! | engine | command | index of a shard | retries after a lost worker |
//! |---|---|---|---|
//! | HyperQueue | `hq submit --array 0-N --wait` | `HQ_TASK_ID` | by default, up to its crash limit |
//! | Slurm | `sbatch --array=0-N --wait --requeue` | `SLURM_ARRAY_TASK_ID` | `--requeue` |
//! | Ray | `python3` with `ray.py`, in this folder | an argument | `max_retries` |
//!
//! Sources, read 2026-11-28: HyperQueue's pages "Jobs" and "Task arrays"; Slurm's page "sbatch" (`--wait`: exits when the
//! job terminates, with the highest exit code of its tasks); Ray's page "Fault tolerance: tasks".

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use forkcast_scenarios::sweep::{Plan, part};

use super::quoted;
use crate::args::{Engine, SweepRunArgs};
use crate::exit::{BadInput, Threshold};
use crate::signals::interrupted;

/// Default maximum of tasks: enough for a cluster, few enough for a scheduler.
const SHARDS_MAX: usize = 64;

/// Time between two looks at the folder.
const PAUSE: Duration = Duration::from_millis(100);

/// The Python program that runs shards as Ray tasks.
const RAY: &str = include_str!("ray.py");

/// Runs all shards of a plan on an engine. Ends when the engine does.
pub fn run(engine: Engine, plan: &Plan, args: &SweepRunArgs) -> anyhow::Result<()> {
    let talk = &args.parts.talk;
    let place =
        |path: &Path| path.canonicalize().map_err(|error| BadInput::error(format_args!("{}: {error}", path.display())));
    let folder = place(&args.parts.out)?;
    let mut absent: Vec<PathBuf> = (0..plan.parts).map(|part| part::path(plan, part, &folder)).collect();
    absent.retain(|path| !path.exists());
    if absent.is_empty() {
        talk.note(format_args!("forkcast: all {} parts exist; nothing to submit", plan.parts));
        return Ok(());
    }
    let shards = args.shards.map_or(SHARDS_MAX, usize::from).min(plan.parts);
    let task = Task { program: env::current_exe()?, plan: place(&args.parts.plan)?, folder, shards };
    let mut command = task.command(engine);
    let output = if talk.quiet { Stdio::null() } else { screen() };
    let mut child =
        command.stdin(Stdio::null()).stdout(output).spawn().map_err(|error| missing(engine, &command, &error))?;
    talk.note(format_args!("forkcast: {shards} tasks submitted to {}", engine.title()));
    let mut steps = talk.steps();
    let ended = watch(&mut child, &mut absent, &mut |left| {
        steps.at(|| format!("{} of {} parts", plan.parts - left, plan.parts));
    });
    steps.end();
    task.remove_empty_logs();
    let left = absent.len();
    let exist = format!("{} of {} parts exist; the same command runs the others", plan.parts - left, plan.parts);
    match ended? {
        None => Err(Threshold(vec![format!("interrupted: tasks of {} may go on; {exist}", engine.title())]).into()),
        Some(status) if left > 0 => {
            Err(Threshold(vec![format!("{} ended ({status}): {exist}", engine.title())]).into())
        }
        Some(_) => Ok(()),
    }
}

/// Waits for the end of the engine's process; `None` if interrupted.
fn watch(child: &mut Child, absent: &mut Vec<PathBuf>, tell: &mut dyn FnMut(usize)) -> io::Result<Option<ExitStatus>> {
    loop {
        let ended = child.try_wait()?;
        absent.retain(|path| !path.exists());
        tell(absent.len());
        if ended.is_some() {
            return Ok(ended);
        }
        if interrupted() {
            // It may have ended by the same signal.
            drop(child.kill());
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(PAUSE);
    }
}

/// Standard error, because standard output is for data.
fn screen() -> Stdio {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        if let Ok(copy) = io::stderr().as_fd().try_clone_to_owned() {
            return copy.into();
        }
    }
    Stdio::null()
}

fn missing(engine: Engine, command: &Command, error: &io::Error) -> anyhow::Error {
    let program = command.get_program().display();
    BadInput::error(format_args!("{program}: {error}; --engine {} needs it on the PATH", engine.word()))
}

/// The command of a shard: this program.
struct Task {
    program: PathBuf,
    plan: PathBuf,
    folder: PathBuf,
    shards: usize,
}

impl Task {
    fn command(&self, engine: Engine) -> Command {
        let last = self.shards - 1;
        match engine {
            Engine::Hyperqueue => {
                let mut command = Command::new("hq");
                command.args(["submit", "--wait", "--name", "forkcast-sweep", "--array", &format!("0-{last}")]);
                command.args(["--stdout", "none", "--stderr"]).arg(self.folder.join("shard-%{TASK_ID}.log"));
                command.arg("--").args(self.words());
                command
            }
            Engine::Slurm => {
                let mut command = Command::new("sbatch");
                let words: Vec<String> = self.words().iter().map(|word| quoted(Path::new(word))).collect();
                command.args(["--wait", "--requeue", "--job-name=forkcast-sweep", "--cpus-per-task=1"]);
                command.arg(format!("--array=0-{last}"));
                command.arg(format!("--output={}", self.folder.join("shard-%a.log").display()));
                command.arg(format!("--wrap={}", words.join(" ")));
                command
            }
            Engine::Ray => {
                let mut command = Command::new("python3");
                command.arg("-c").arg(RAY).arg(&self.program).arg(&self.plan).arg(&self.folder);
                command.arg(self.shards.to_string());
                command
            }
        }
    }

    fn words(&self) -> Vec<String> {
        let path = |path: &Path| path.display().to_string();
        let shard = format!("auto/{}", self.shards);
        let [program, plan, folder] = [&self.program, &self.plan, &self.folder].map(|it| path(it));
        let words = [&program, "sweep", "run", &plan, "--out", &folder, "--shard", &shard, "--jobs", "1", "--quiet"];
        words.map(str::to_owned).to_vec()
    }

    /// Tasks write only complaints, so most logs are empty.
    fn remove_empty_logs(&self) {
        for shard in 0..self.shards {
            let path = self.folder.join(format!("shard-{shard}.log"));
            if fs::metadata(&path).is_ok_and(|log| log.is_file() && log.len() == 0) {
                drop(fs::remove_file(path));
            }
        }
    }
}
