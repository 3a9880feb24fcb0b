//! Folders in which clients keep the logs of their sessions: a row for each client, and the search for logs.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use forkcast_reports::document::several;

use crate::args::{ReplayArgs, TalkArgs};

/// A folder of the user, below which clients keep theirs.
#[derive(Clone, Copy, Debug)]
enum Base {
    Home,
    /// `XDG_CONFIG_HOME`, else `~/.config`.
    Config,
    /// `XDG_DATA_HOME`, else `~/.local/share`.
    Data,
}

/// Facts about a client's logs.
struct Client {
    name: &'static str,
    /// The variable that names other homes of the client, several with commas between them.
    variable: Option<&'static str>,
    /// Its homes if the variable is not set.
    homes: &'static [(Base, &'static str)],
    /// Folders with logs below a home.
    folders: &'static [&'static str],
    /// How names of logs begin and end.
    prefix: &'static str,
    endings: &'static [&'static str],
    /// How to get a log out of a database in its home, whose name ends in `.db`.
    export: Option<&'static str>,
}

/// Sources, all of 2026-11: code.claude.com/docs settings (`CLAUDE_CONFIG_DIR`; the list and `~/.config/claude` as ccusage's guide
/// "environment variables" has them); openai/codex `docs/config.md` (`CODEX_HOME`); badlogic/pi-mono `coding-agent/README.md`
/// (`PI_CODING_AGENT_DIR`); google-gemini/gemini-cli `packages/core/src/utils/paths.ts` (`GEMINI_CLI_HOME`); GitHub docs, Copilot
/// CLI configuration directory (`COPILOT_HOME`); anomalyco/opencode `packages/opencode/src/global` (XDG).
const CLIENTS: [Client; 6] = [
    Client {
        name: "Claude Code",
        variable: Some("CLAUDE_CONFIG_DIR"),
        homes: &[(Base::Home, ".claude"), (Base::Config, "claude")],
        folders: &["projects"],
        prefix: "",
        endings: &[".jsonl"],
        export: None,
    },
    Client {
        name: "Codex",
        variable: Some("CODEX_HOME"),
        homes: &[(Base::Home, ".codex")],
        folders: &["sessions", "archived_sessions"],
        prefix: "rollout-",
        endings: &[".jsonl", ".jsonl.zst"],
        export: None,
    },
    Client {
        name: "OpenCode",
        variable: None,
        // Versions before 1.2 (2026-02) keep files in `storage`, later ones `opencode.db`; both may be there.
        homes: &[(Base::Data, "opencode")],
        folders: &["storage"],
        prefix: "ses_",
        endings: &[".json"],
        export: Some("`opencode export SESSION > session.json` writes a session that can be read"),
    },
    Client {
        name: "pi",
        variable: Some("PI_CODING_AGENT_DIR"),
        homes: &[(Base::Home, ".pi/agent")],
        folders: &["sessions"],
        prefix: "",
        endings: &[".jsonl"],
        export: None,
    },
    Client {
        name: "Gemini CLI",
        variable: Some("GEMINI_CLI_HOME"),
        homes: &[(Base::Home, "")],
        folders: &[".gemini/tmp"],
        prefix: "session-",
        endings: &[".json", ".jsonl"],
        export: None,
    },
    Client {
        name: "Copilot CLI",
        variable: Some("COPILOT_HOME"),
        homes: &[(Base::Home, ".copilot")],
        folders: &["session-state"],
        prefix: "events",
        endings: &[".jsonl"],
        export: None,
    },
];

/// A folder with logs.
struct Logs {
    client: &'static str,
    folder: PathBuf,
    number: u64,
}

/// The result of the search.
#[derive(Default)]
struct Search {
    /// Folders to read, each once.
    found: Vec<Logs>,
    /// Logs that cannot be read, and how to get them.
    unreadable: Vec<String>,
}

impl ReplayArgs {
    /// The same; without a path, with the logs of all clients on this machine, or else the embedded sample.
    pub fn or_logs(mut self) -> Self {
        if self.paths.is_empty() {
            self.paths = found(&self.talk);
            self.are_found = true;
        }
        self
    }
}

/// The folders with the logs of all clients on this machine, which `talk` lists.
pub fn found(talk: &TalkArgs) -> Vec<PathBuf> {
    let search = Search::run();
    for line in search.lines() {
        talk.note(format_args!("forkcast: {line}"));
    }
    search.found.into_iter().map(|logs| logs.folder).collect()
}

impl Search {
    fn run() -> Self {
        let mut search = Self::default();
        let mut seen = Vec::new();
        for client in &CLIENTS {
            for folder in client.places() {
                // A link to a folder that was already found does not count.
                let Ok(real) = fs::canonicalize(&folder) else { continue };
                if !seen.contains(&real) && real.is_dir() {
                    seen.push(real);
                    search.add(client, folder);
                }
            }
            let Some(how) = client.export else { continue };
            let databases = client.databases().into_iter();
            let said = databases.map(|file| format!("{} keeps sessions in {}: {how}", client.name, short(&file)));
            search.unreadable.extend(said);
        }
        search
    }

    fn add(&mut self, client: &Client, folder: PathBuf) {
        let number = client.logs_below(&folder);
        if number > 0 {
            self.found.push(Logs { client: client.name, folder, number });
        }
    }

    /// Lines that describe it.
    fn lines(&self) -> Vec<String> {
        let found = self
            .found
            .iter()
            .map(|logs| format!("{}: {}, {}", logs.client, short(&logs.folder), several(logs.number, "log")));
        let mut lines: Vec<String> = found.chain(self.unreadable.iter().cloned()).collect();
        if self.found.is_empty() {
            let clients: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
            lines.push(format!("no logs of {} found here", clients.join(", ")));
            lines.push("recordings elsewhere: `forkcast replay PATH`; all verbs: `forkcast --help`".to_owned());
        }
        lines
    }
}

impl Client {
    /// Folders that may hold its logs.
    fn places(&self) -> Vec<PathBuf> {
        self.homes().iter().flat_map(|home| self.folders.iter().map(|folder| home.join(folder))).collect()
    }

    /// Databases in its homes.
    fn databases(&self) -> Vec<PathBuf> {
        let homes = self.homes();
        let entries = homes.iter().filter_map(|home| fs::read_dir(home).ok()).flatten().flatten();
        let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        found.retain(|path| path.extension().is_some_and(|ending| ending == "db"));
        found.sort_unstable();
        found
    }

    fn homes(&self) -> Vec<PathBuf> {
        let named = self.variable.and_then(env::var_os).filter(|value| !value.is_empty());
        match named {
            Some(value) => listed(&PathBuf::from(value)),
            None => self.homes.iter().filter_map(|(base, below)| Some(base.folder()?.join(below))).collect(),
        }
    }

    /// The number of logs below a folder. Links to folders are not followed here.
    fn logs_below(&self, folder: &Path) -> u64 {
        let mut found = 0;
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(next).into_iter().flatten().flatten() {
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    _ => found += u64::from(self.is_log(&entry.file_name().to_string_lossy())),
                }
            }
        }
        found
    }

    fn is_log(&self, name: &str) -> bool {
        name.starts_with(self.prefix) && self.endings.iter().any(|ending| name.ends_with(ending))
    }
}

impl Base {
    fn folder(self) -> Option<PathBuf> {
        let of = |variable: &str, below: &str| {
            let named = env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
            named.or_else(|| Some(env::home_dir()?.join(below)))
        };
        match self {
            Self::Home => env::home_dir().filter(|home| !home.as_os_str().is_empty()),
            Self::Config => of("XDG_CONFIG_HOME", ".config"),
            Self::Data => of("XDG_DATA_HOME", ".local/share"),
        }
    }
}

/// One folder, or several with commas between them.
fn listed(value: &Path) -> Vec<PathBuf> {
    let text = value.to_string_lossy();
    if value.is_dir() || !text.contains(',') {
        return vec![value.to_owned()];
    }
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(PathBuf::from).collect()
}

/// A path with `~` for the user's home.
fn short(path: &Path) -> String {
    let below = env::home_dir().and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned));
    below.map_or_else(|| path.display().to_string(), |below| format!("~/{}", below.display()))
}
