"use strict";
// Where the program is. It comes in a package of its own for each platform, `@forkcast/linux-x64` and so on; npm installs
// the one whose `os`, `cpu` and `libc` fit, and leaves the others out.

const { spawnSync } = require("node:child_process");
const { closeSync, openSync, readSync } = require("node:fs");
const { delimiter, join } = require("node:path");

const FILE = process.platform === "win32" ? "forkcast.exe" : "forkcast";

/** The name of this platform: `linux-x64`, `linux-x64-musl`, `darwin-arm64`, `win32-x64`. */
function platform() {
  const name = `${process.platform}-${process.arch}`;
  if (process.platform !== "linux") return name;
  // The report is the only place where Node says which C library it uses; its part about networks can take seconds.
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime ? name : `${name}-musl`;
}

/** The program: `FORKCAST_BIN`, else the one in the package of this platform, else the one on `PATH`. */
function findProgram() {
  const found = process.env.FORKCAST_BIN || packaged() || onPath();
  if (found) return found;
  throw new Error(
    `no program forkcast: the package @forkcast/${platform()} is not installed, and there is none on PATH; ` +
      "install that package beside this one, or name a program in FORKCAST_BIN",
  );
}

function packaged() {
  try {
    return require.resolve(`@forkcast/${platform()}/bin/${FILE}`);
  } catch {
    return null;
  }
}

function onPath() {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  return folders.map((folder) => join(folder, FILE)).find(isProgram);
}

/** Scripts of this name are launchers that package managers make of `bin/forkcast.cjs`, which would call itself. */
function isProgram(path) {
  const start = Buffer.alloc(2);
  try {
    const file = openSync(path);
    readSync(file, start, 0, 2, 0);
    closeSync(file);
  } catch {
    return false;
  }
  return start.toString() !== "#!";
}

/** Runs the program; the result is that of `spawnSync`. Throws if it cannot be started. */
function runProgram(options, how) {
  const run = spawnSync(findProgram(), options, how);
  if (run.error) throw run.error;
  return run;
}

module.exports = { FILE, findProgram, platform, runProgram };
