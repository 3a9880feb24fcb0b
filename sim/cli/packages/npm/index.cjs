"use strict";
// Test that an agent keeps the prefix of its prompts: capture the bodies, let the program `forkcast` check the bytes.
// The program decides; this package only gives it the bodies and shows its report.

const { AsyncLocalStorage } = require("node:async_hooks");
const { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { dirname, join } = require("node:path");

const { findProgram, runProgram } = require("./program.cjs");

/** Fields of bodies that are prompts: Messages and chat completions, Responses, Gemini. */
const PROMPTS = ["messages", "input", "contents"];

/** The capture that an asynchronous call belongs to. */
const running = new AsyncLocalStorage();
const WATCHING = Symbol.for("forkcast.watching");

/** Runs `agent`; the bodies of all prompts that it sends with `fetch`, as sent, in order. */
async function capture(agent) {
  watch();
  const sent = [];
  await running.run(sent, agent);
  return sent;
}

/** Makes the global `fetch` note what captures send; outside of them it does what it did. */
function watch() {
  if (!globalThis.fetch[WATCHING]) globalThis.fetch = watching(globalThis.fetch);
}

/** A `fetch` that notes what captures send, for clients that take one. */
function watching(send) {
  const watched = async (input, init) => {
    const sent = running.getStore();
    if (sent) {
      const body = await bytes(input, init);
      if (body && isPrompt(body)) sent.push(body);
    }
    return send(input, init);
  };
  return Object.assign(watched, { [WATCHING]: true });
}

async function bytes(input, init) {
  const body = init?.body;
  if (typeof body === "string" || body instanceof Uint8Array) return Buffer.from(body);
  if (body != null || !(input instanceof Request) || input.bodyUsed) return null;
  return Buffer.from(await input.clone().arrayBuffer());
}

function isPrompt(body) {
  try {
    const fields = JSON.parse(body.toString());
    return PROMPTS.some((field) => field in fields);
  } catch {
    return false;
  }
}

/** Checks the requests; `report` is the program's. Throws if they cannot be checked. */
function checkPrefix(requests, { lock, update = process.env.FORKCAST_UPDATE === "1", options = [] } = {}) {
  if (lock && !update && !existsSync(lock)) {
    return { kept: false, report: `no lock ${lock} yet: FORKCAST_UPDATE=1, or the option -u, writes it` };
  }
  const folder = mkdtempSync(join(tmpdir(), "forkcast-"));
  try {
    const bodies = join(folder, "requests");
    write(requests, bodies);
    const run = runProgram(["check", bodies, "--in-tests", ...locks(lock, update), ...options], {
      encoding: "utf8",
      maxBuffer: 1 << 28,
    });
    if (run.status !== 0 && run.status !== 1) throw new Error(`not checked: ${run.stderr.trim()}`);
    return { kept: run.status === 0, report: run.stdout };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Throws an error with the program's report if a request breaks the cached prefix of an earlier one. */
function assertPrefix(requests, options) {
  const { kept, report } = checkPrefix(requests, options);
  if (!kept) throw new Error(report);
}

function locks(lock, update) {
  if (!lock) return ["--lock", "none"];
  if (update) mkdirSync(dirname(lock), { recursive: true });
  return ["--lock", lock, update ? "--update" : "--locked"];
}

/** Writes a body a file; those of several agents, by name, each into a folder. */
function write(requests, folder) {
  const agents = Array.isArray(requests) ? [[".", requests]] : Object.entries(requests);
  for (const [agent, bodies] of agents) {
    mkdirSync(join(folder, agent), { recursive: true });
    bodies.forEach((body, number) => {
      const raw = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
      writeFileSync(join(folder, agent, `${String(number).padStart(5, "0")}.json`), raw);
    });
  }
}

/** The matcher of vitest and jest: with a name, the lock is `__prefixes__/NAME.lock` beside the test. */
function toKeepPrefix(received, { name, options } = {}) {
  const lock = name && join(dirname(this.testPath), "__prefixes__", `${name}.lock`);
  const { kept, report } = checkPrefix(received, { lock, update: updates(this.snapshotState, lock), options });
  return { pass: kept, message: () => (kept ? "every prefix is kept, and one should be broken" : report) };
}

/** Locks are written as snapshots are: with `-u` all, by hand those that are missing, in CI none. */
function updates(snapshots, lock) {
  const mode = snapshots?._updateSnapshot;
  return process.env.FORKCAST_UPDATE === "1" || mode === "all" || (mode === "new" && !!lock && !existsSync(lock));
}

module.exports = { assertPrefix, capture, checkPrefix, findProgram, toKeepPrefix, watch, watching };
