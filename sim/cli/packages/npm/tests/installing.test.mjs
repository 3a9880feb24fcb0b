// `npm install -D forkcast` as users type it, from a registry on the loopback interface that has what `build.mjs` made.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";

import { findProgram, platform } from "../program.cjs";
import { bodies } from "./conversation.mjs";
import { missing, tools } from "./tools.mjs";

const OTHER = platform() === "darwin-arm64" ? "linux-x64" : "darwin-arm64";
const run = promisify(execFile);

function obstacle() {
  if (process.platform === "win32") return "the stand-in for the program is a script";
  const folders = process.env.PATH.split(":");
  return !folders.some((folder) => existsSync(join(folder, "npm"))) && "npm is not installed";
}
const skip = obstacle();

let place, packages, server;

/** The environment of a user: nothing names a program, npm asks this registry alone, and test runners run as in CI. */
function environment() {
  const { FORKCAST_BIN: _, ...rest } = { ...process.env, CI: "true" };
  const registry = `http://127.0.0.1:${server.address().port}/`;
  const npm = { npm_config_registry: registry, npm_config_cache: join(place, "cache"), npm_config_audit: "false" };
  return { ...rest, ...npm };
}

const npm = (...words) => run("npm", words, { cwd: join(place, "project"), env: environment() });
const node = (...words) => run(process.execPath, words, { cwd: join(place, "project"), env: environment() });

/** `package.json` is the first file whose name it is; archives are blocks of 512 bytes, a header before each file. */
function about(archive) {
  const bytes = gunzipSync(readFileSync(archive));
  for (let at = 0; at < bytes.length; ) {
    const name = bytes.toString("utf8", at, at + 100).replace(/\0.*/s, "");
    const size = parseInt(bytes.toString("utf8", at + 124, at + 136), 8) || 0;
    if (name === "package/package.json") return JSON.parse(bytes.toString("utf8", at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  throw new Error(`${archive} has no package.json`);
}

/** What a registry answers: a package's versions by its name, and the archives. */
function answer(request, response) {
  const asked = decodeURIComponent(request.url.slice(1));
  const archive = packages.find((path) => basename(path) === asked);
  const found = packages.find((path) => about(path).name === asked);
  if (archive) return response.end(readFileSync(archive));
  if (!found) return response.writeHead(404).end("{}");
  const version = about(found);
  const dist = { tarball: `http://127.0.0.1:${server.address().port}/${basename(found)}` };
  const versions = { [version.version]: { ...version, dist } };
  response.end(JSON.stringify({ name: asked, "dist-tags": { latest: version.version }, versions }));
}

before(async () => {
  if (skip) return;
  place = mkdtempSync(join(tmpdir(), "forkcast-npm-"));
  mkdirSync(join(place, "project"));
  // The program itself is large to pack; this one runs it.
  const program = join(place, "program");
  writeFileSync(program, `#!/bin/sh\nexec '${findProgram()}' "$@"\n`);
  chmodSync(program, 0o755);
  const script = fileURLToPath(new URL("../build.mjs", import.meta.url));
  const options = [script, "--out", join(place, "packages"), `${platform()}=${program}`, `${OTHER}=${program}`];
  packages = (await run(process.execPath, options)).stdout.trim().split("\n");
  server = createServer(answer);
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  await npm("init", "--yes");
  await npm("install", "--save-dev", "forkcast");
});

after(() => {
  server?.closeAllConnections();
  server?.close();
  if (place) rmSync(place, { recursive: true });
});

test("one command makes the package and one for each platform", { skip }, () => {
  const names = packages.map((path) => about(path).name);
  assert.deepEqual(names, ["forkcast", `@forkcast/${platform()}`, `@forkcast/${OTHER}`]);
  const { version, optionalDependencies } = about(packages[0]);
  assert.deepEqual(optionalDependencies, { [names[1]]: version, [names[2]]: version });
});

test("npm installs the program of this platform alone", { skip }, async () => {
  assert.deepEqual(readdirSync(join(place, "project/node_modules/@forkcast")), [platform()]);
  assert.match((await npm("exec", "forkcast", "--", "--version")).stdout, /^forkcast \d/);
});

test("ESM and CommonJS find the installed program", { skip }, async () => {
  const broken = JSON.stringify(bodies(true));
  const checks = `try { assertPrefix(${broken}) } catch (error) { console.log(error.message) }`;
  writeFileSync(join(place, "project/a.mjs"), `import { assertPrefix } from "forkcast";\n${checks}`);
  writeFileSync(join(place, "project/b.cjs"), `const { assertPrefix } = require("forkcast");\n${checks}`);
  for (const file of ["a.mjs", "b.cjs"]) assert.match((await node(file)).stdout, /At system\[0\], first differing byte 27/);
});

/** Puts a file into the project, and the tools that run it. */
function add(file, text, ...names) {
  for (const name of names) {
    const link = join(place, "project/node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    if (!existsSync(link)) symlinkSync(join(tools, name), link);
  }
  writeFileSync(join(place, "project", file), text);
}

const MATCHED = `
test("kept", () => { expect(${JSON.stringify(bodies())}).toKeepPrefix({ name: "agent" }); });
test("broken", () => { expect(${JSON.stringify(bodies(true))}).toKeepPrefix(); });
`;

/** What a failing run of a test runner prints. */
async function failing(...words) {
  const { stdout, stderr } = await node(...words).then(assert.fail, (failed) => failed);
  return stdout + stderr;
}

/** In CI no missing lock is written, unless that is asked for: a lock is reviewed and committed. */
async function matches(...words) {
  rmSync(join(place, "project/__prefixes__"), { recursive: true, force: true });
  const without = await failing(...words);
  assert.match(without, /no lock .*agent\.lock yet: FORKCAST_UPDATE=1, or the option -u, writes it/);
  const written = await failing(...words, "-u");
  assert.match(written, /At system\[0\], first differing byte 27/);
  assert.match(written, /1 failed.*1 passed/);
}

test("the matcher of vitest", { skip: skip || missing("vitest") }, async () => {
  add("vitest.test.mjs", `import { expect, test } from "vitest";\nimport "forkcast/vitest";${MATCHED}`, "vitest");
  await matches("node_modules/vitest/vitest.mjs", "run", "vitest.test.mjs");
});

test("the matcher of jest", { skip: skip || missing("jest") }, async () => {
  add("jest.spec.js", `require("forkcast/jest");${MATCHED}`, "jest");
  await matches("node_modules/jest/bin/jest.js", "--rootDir", ".", "jest.spec.js");
});

const TYPED = `
const sent: Requests = [forkcast.findProgram()];
forkcast.assertPrefix(sent, { lock: "a.lock" });
test("kept", () => { expect(sent).toKeepPrefix({ name: "agent" }); });
// @ts-expect-error: there is no such option
test("kept", () => { expect(sent).toKeepPrefix({ nam: "agent" }); });
`;

test("the types of both module systems", { skip: skip || missing("typescript") || missing("@types/jest") }, async () => {
  const types = ["typescript", "vitest", "@types/jest", "@types/node"];
  const esm = 'import * as forkcast from "forkcast";\nimport { expect, test } from "vitest";\nimport "forkcast/vitest";\n';
  add("typed.mts", `${esm}import type { Requests } from "forkcast";${TYPED}`, ...types);
  const cjs = 'import forkcast = require("forkcast");\nimport "forkcast/jest";\n';
  add("typed.cts", `${cjs}type Requests = forkcast.Requests;${TYPED}`, ...types);
  const tsc = ["node_modules/typescript/bin/tsc", "--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext"];
  await node(...tsc, "--types", "node", "typed.mts");
  await node(...tsc, "--types", "node,jest", "typed.cts");
});

test("without the package of the platform, PATH is next, and then it is an error", { skip }, async () => {
  rmSync(join(place, "project/node_modules/@forkcast"), { recursive: true });
  const find = ["-p", 'require("forkcast").findProgram()'];
  // npm puts `node_modules/.bin` on PATH, and the launcher there must not call itself.
  const env = { ...environment(), PATH: join(place, "project/node_modules/.bin") };
  const missing = run(process.execPath, find, { cwd: join(place, "project"), env });
  await assert.rejects(missing, new RegExp(`@forkcast/${platform()} is not installed.*FORKCAST_BIN`));
  const folder = join(place, "on-path");
  mkdirSync(folder);
  writeFileSync(join(folder, "forkcast"), "\x7fELF");
  env.PATH = `${env.PATH}:${folder}`;
  const { stdout } = await run(process.execPath, find, { cwd: join(place, "project"), env });
  assert.equal(stdout.trim(), join(folder, "forkcast"));
});
