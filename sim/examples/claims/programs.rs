//! The programs with the tests that hold behaviours.

use std::collections::BTreeMap;
use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use forkcast_fixtures::workspace;

/// A broken program may run for ever.
const AT_MOST: Duration = Duration::from_secs(180);

/// What tests say of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Found {
    /// They pass, as if nothing were broken.
    Passes,
    /// Only the kept run is another one.
    Differs,
    /// An expectation or a law fails.
    Fails,
}

/// The built programs by folder of their crate and target: `scenarios catalog`.
pub struct Programs(BTreeMap<String, String>);

impl Programs {
    /// Builds these targets; `FORKCAST_CARGO` names another program than `cargo`.
    pub fn build(targets: &[&str]) -> Self {
        let cargo = std::env::var("FORKCAST_CARGO").unwrap_or_else(|_| "cargo".to_owned());
        let mut command = Command::new(cargo);
        command.args(["test", "--workspace", "--no-run", "--message-format=json-render-diagnostics"]).args(targets);
        let output = command.current_dir(workspace()).stderr(Stdio::inherit()).output().expect("cargo runs");
        assert!(output.status.success(), "the edits do not compile");
        let said = String::from_utf8_lossy(&output.stdout);
        Self(said.lines().filter_map(|line| program(&serde_json::from_str(line).ok()?)).collect())
    }

    /// Runs tests of a program whose names contain one of these words, with one edit.
    pub fn run(&self, program: &str, words: &[&str], broken: usize) -> Found {
        let path = self.0.get(program).unwrap_or_else(|| panic!("{program} is not among {:?}", self.0.keys()));
        let mut command = Command::new(path);
        command.args(words).env("FORKCAST_BREAK", broken.to_string());
        command.current_dir(workspace().join(program.split(' ').next().unwrap_or_default()));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program runs");
        let mut stdout = child.stdout.take().expect("it is piped");
        let reader = std::thread::spawn(move || {
            let mut said = Vec::new();
            stdout.read_to_end(&mut said).expect("its output can be read");
            String::from_utf8_lossy(&said).into_owned()
        });
        let status = wait(&mut child);
        let said = reader.join().expect("the reader ends");
        match status {
            Some(status) if status.success() => {
                assert!(!said.contains("running 0 tests"), "{program} has no test {words:?}");
                Found::Passes
            }
            Some(_) if program.ends_with(" catalog") && !has_expectation(&said) => Found::Differs,
            _ => Found::Fails,
        }
    }
}

fn wait(child: &mut Child) -> Option<ExitStatus> {
    let begun = Instant::now();
    while begun.elapsed() < AT_MOST {
        if let Some(status) = child.try_wait().expect("the program can be waited for") {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().expect("the program can be ended");
    child.wait().expect("the program can be waited for");
    None
}

/// A failed trial of the catalog says more than that its golden file keeps another run.
fn has_expectation(said: &str) -> bool {
    said.matches(" keeps another run:").count() < said.matches("\n---- ").count()
}

fn program(message: &Value) -> Option<(String, String)> {
    let path = message["executable"].as_str().filter(|_| message["profile"]["test"] == true)?;
    let root = workspace();
    let folder = message["manifest_path"].as_str()?.strip_prefix(root.to_str()?)?.strip_suffix("/Cargo.toml")?;
    let is_lib = message["target"]["kind"][0] == "lib";
    let target = if is_lib { "lib" } else { message["target"]["name"].as_str()? };
    Some((format!("{} {target}", folder.trim_start_matches('/')), path.to_owned()))
}
