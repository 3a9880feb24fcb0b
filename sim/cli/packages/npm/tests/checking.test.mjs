// The assertion, its locks and both module systems; Node alone is enough.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { assertPrefix, capture, toKeepPrefix, watching } from "../index.mjs";
import { bodies } from "./conversation.mjs";

test("kept prefixes pass in each form", () => {
  assertPrefix(bodies());
  assertPrefix(bodies().map((body) => JSON.stringify(body)));
  assertPrefix(bodies().map((body) => Buffer.from(JSON.stringify(body))));
});

test("a moving byte is named", () => {
  assert.throws(() => assertPrefix(bodies(true)), /At system\[0\], first differing byte 27 of the field/);
});

test("agents have chains of their own", () => {
  const reader = bodies().map((body) => ({ ...body, system: "Another agent." }));
  assertPrefix({ main: bodies(), reader });
});

test("what is no request was not checked", () => {
  assert.throws(() => assertPrefix(["{"]), /not checked: .*00000\.json/);
});

test("CommonJS has the same functions", () => {
  assert.equal(createRequire(import.meta.url)("../index.cjs").assertPrefix, assertPrefix);
});

test("a lock is written, held and renewed as snapshots are", () => {
  const folder = mkdtempSync(join(tmpdir(), "forkcast-"));
  const matched = (mode, requests) => {
    const state = { testPath: join(folder, "a.test.mjs"), snapshotState: { _updateSnapshot: mode } };
    const { pass, message } = toKeepPrefix.call(state, requests, { name: "agent" });
    return pass ? "kept" : message();
  };
  const changed = bodies().map((body) => ({ ...body, system: "Other rules." }));
  assert.match(matched("none", bodies()), /no lock .* yet/);
  assert.equal(matched("new", bodies()), "kept");
  assert.equal(matched("new", bodies()), "kept");
  assert.match(matched("new", changed), /against the lock; rule equality/);
  assert.equal(matched("all", changed), "kept");
  assert.equal(matched("none", changed), "kept");
  rmSync(folder, { recursive: true });
});

test("captures that run at the same time do not mix", async () => {
  const send = watching(async () => new Response("{}"));
  const agent = (text) => async () => {
    for (const turn of [1, 2]) await send("http://127.0.0.1", { body: JSON.stringify({ messages: [text, turn] }) });
    await send("http://127.0.0.1", { body: "no prompt" });
  };
  const [one, two] = await Promise.all([capture(agent("one")), capture(agent("two"))]);
  assert.deepEqual(one.map(String), ['{"messages":["one",1]}', '{"messages":["one",2]}']);
  assert.deepEqual(two.map(String), ['{"messages":["two",1]}', '{"messages":["two",2]}']);
});
