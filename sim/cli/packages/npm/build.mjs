// Makes the package `forkcast` and, for each platform, the package with its program:
// `node sim/cli/packages/npm/build.mjs [--out FOLDER] [PLATFORM=PROGRAM ...]`, as in `darwin-arm64=built/forkcast`.
// The program of this platform is built by cargo, unless FORKCAST_BIN or an argument names it.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { platform } from "./program.cjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../../../..");
const windows = process.platform === "win32";

/** Files of this folder that are not part of the package. */
const OURS = ["build.mjs", "tests", "node_modules"].map((name) => join(here, name));

/** `linux-x64-musl` and its like as npm writes them: `os`, `cpu` and, on Linux, `libc`. */
const PLATFORM = /^(linux|darwin|win32)-(x64|arm64)(-musl)?$/;

const { version, license } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));

function build() {
  const flags = ["build", "--release", "--locked", "--package", "forkcast", "--message-format", "json"];
  const stdio = ["ignore", "pipe", "inherit"];
  const lines = execFileSync("cargo", flags, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28, stdio }).split("\n");
  const built = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  return built.filter((it) => it.target?.name === "forkcast" && it.executable).pop().executable;
}

/** A program for each platform, by its name. */
function programs(named) {
  const given = new Map(named.map((argument) => argument.split(/=(.*)/s)));
  for (const [name, program] of given) {
    if (!PLATFORM.test(name) || !program) throw new Error(`\`${name}=${program ?? ""}\` is no PLATFORM=PROGRAM`);
  }
  const own = given.get(platform()) ?? process.env.FORKCAST_BIN ?? build();
  return new Map([[platform(), own], ...given]);
}

function platformPackage(name, program, folder) {
  const [, os, cpu, musl] = PLATFORM.exec(name);
  const file = join("bin", os === "win32" ? "forkcast.exe" : "forkcast");
  mkdirSync(join(folder, "bin"));
  copyFileSync(program, join(folder, file));
  chmodSync(join(folder, file), 0o755);
  const libc = os === "linux" ? { libc: [musl ? "musl" : "glibc"] } : {};
  const description = `The program forkcast for ${name}`;
  // `preferUnplugged`: Yarn keeps packages in archives, and a program in an archive cannot be run.
  const files = { files: ["bin", "LICENSE-*"], preferUnplugged: true };
  const fits = { os: [os], cpu: [cpu], ...libc };
  write(folder, { name: `@forkcast/${name}`, version, description, license, private: true, ...files, ...fits });
}

function mainPackage(platforms, folder) {
  cpSync(here, folder, { recursive: true, filter: (path) => !OURS.includes(path) });
  copyFileSync(join(here, "..", "README.md"), join(folder, "README.md"));
  const about = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
  const optionalDependencies = Object.fromEntries(platforms.map((name) => [`@forkcast/${name}`, version]));
  write(folder, { ...about, optionalDependencies });
}

function write(folder, about) {
  writeFileSync(join(folder, "package.json"), JSON.stringify(about, null, 2));
}

/** Packs what `fill` puts into a folder; gives the path of the package. */
function pack(target, fill) {
  const folder = mkdtempSync(join(tmpdir(), "forkcast-npm-"));
  try {
    fill(folder);
    for (const file of ["LICENSE-MIT", "LICENSE-APACHE"]) copyFileSync(join(root, file), join(folder, file));
    mkdirSync(target, { recursive: true });
    const npm = windows ? "npm.cmd" : "npm";
    const flags = ["pack", "--silent", "--pack-destination", target];
    return join(target, execFileSync(npm, flags, { cwd: folder, encoding: "utf8", shell: windows }).trim());
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const { values, positionals } = parseArgs({ options: { out: { type: "string" } }, allowPositionals: true });
const target = resolve(values.out ?? join(root, "target", "packages"));
const all = programs(positionals);
console.log(pack(target, (folder) => mainPackage([...all.keys()], folder)));
for (const [name, program] of all) console.log(pack(target, (folder) => platformPackage(name, program, folder)));
