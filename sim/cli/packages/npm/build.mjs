// Makes the package of this platform, with the program in it: `node sim/cli/packages/npm/build.mjs [FOLDER]`.
// FORKCAST_BIN names a program that is built already; without it, cargo builds one.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../../../..");
const windows = process.platform === "win32";
const name = windows ? "forkcast.exe" : "forkcast";

/** Files of this folder that are not part of the package. */
const OURS = ["build.mjs", "tests", "node_modules"].map((name) => join(here, name));

function program() {
  if (process.env.FORKCAST_BIN) return process.env.FORKCAST_BIN;
  const flags = ["build", "--release", "--locked", "--package", "forkcast", "--message-format", "json"];
  const stdio = ["ignore", "pipe", "inherit"];
  const lines = execFileSync("cargo", flags, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28, stdio }).split("\n");
  const built = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  return built.filter((it) => it.target?.name === "forkcast" && it.executable).pop().executable;
}

function fill(folder) {
  cpSync(here, folder, { recursive: true, filter: (path) => !OURS.includes(path) });
  for (const file of ["LICENSE-MIT", "LICENSE-APACHE"]) copyFileSync(join(root, file), join(folder, file));
  copyFileSync(join(here, "..", "README.md"), join(folder, "README.md"));
  copyFileSync(program(), join(folder, "bin", name));
  chmodSync(join(folder, "bin", name), 0o755);
  const about = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
  const platform = { os: [process.platform], cpu: [process.arch] };
  const libc = process.platform === "linux" ? { libc: ["glibc"] } : {};
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...about, ...platform, ...libc }, null, 2));
}

const target = resolve(process.argv[2] ?? join(root, "target", "packages"));
const folder = mkdtempSync(join(tmpdir(), "forkcast-npm-"));
try {
  fill(folder);
  mkdirSync(target, { recursive: true });
  const npm = windows ? "npm.cmd" : "npm";
  const flags = ["pack", "--silent", "--pack-destination", target];
  console.log(join(target, execFileSync(npm, flags, { cwd: folder, encoding: "utf8", shell: windows }).trim()));
} finally {
  rmSync(folder, { recursive: true });
}
