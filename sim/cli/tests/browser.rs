//! Pages in a real browser, if one is installed: no errors, nothing loaded, the figures of the terminal, clicks from the
//! bill to a byte. `FORKCAST_SCREENSHOTS=DIR` keeps a picture of each page.

mod chromium;
mod figures;
mod hostile;
mod looks;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::program::{folder, forkcast};

/// Whether a browser is installed; the tests say so if none is.
fn is_installed() -> bool {
    let found = Command::new("chromium").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let is_installed = found.is_ok_and(|status| status.success());
    if !is_installed {
        eprintln!("skipped: there is no `chromium`, so no page was opened");
    }
    is_installed
}

/// The page that a command writes.
fn page(place: &Path, arguments: &[&str]) -> PathBuf {
    let arguments: Vec<&str> = arguments.iter().copied().chain(["--html", "page.html", "--quiet"]).collect();
    let output = forkcast(place, &arguments);
    let path = place.join("page.html");
    assert!(path.is_file(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    path
}

/// The page of the embedded sample.
fn demo(name: &str) -> PathBuf {
    page(&folder(name), &["demo"])
}
