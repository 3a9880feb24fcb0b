// @ts-check
/**
 * Test in TypeScript or JavaScript that an agent keeps the prefix of its prompts: dump the bodies, let forkcast check the
 * bytes.
 *
 *     import { PrefixCheck } from "./prefix_check.mjs";
 *
 *     const sent = new PrefixCheck();
 *     const client = new Anthropic({ fetch: sent.watching(fetch) });
 *     // … a conversation …
 *     sent.check();
 *
 * The types are in comments, so TypeScript reads them (`allowJs`) and every runtime accepts the file unchanged. Run it
 * alone (`node prefix_check.mjs` from Node 18 on, `deno run -A prefix_check.mjs`, `bun prefix_check.mjs`), or with
 * the argument `broken`, to see both results. FORKCAST names the program.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

/**
 * @typedef {object} Finding
 * @property {string} verdict
 * @property {number} request
 * @property {string} cause
 * @property {string} path
 * @property {string} name
 * @property {number | null} offset_in_block
 * @property {number} tokens_lost
 * @property {number | null} cost_usd
 * @property {string} suggestion
 */

/** Dumps the bodies of one conversation into a folder and checks them at the end. */
export class PrefixCheck {
  #folder = mkdtempSync(join(tmpdir(), "bodies-"));
  #count = 0;

  /**
   * Takes one request's body, as it goes over the wire. The order of calls is the order of requests.
   *
   * @param {string | Uint8Array} body
   */
  dump(body) {
    const name = String(this.#count).padStart(5, "0") + ".json";
    writeFileSync(join(this.#folder, name), body);
    this.#count += 1;
  }

  /**
   * A `fetch` that dumps what it sends.
   *
   * @param {typeof fetch} send
   * @returns {typeof fetch}
   */
  watching(send) {
    return async (input, init) => {
      const body = init?.body ?? (input instanceof Request ? new Uint8Array(await input.clone().arrayBuffer()) : null);
      if ((typeof body === "string" || body instanceof Uint8Array) && body.length > 0) this.dump(body);
      return send(input, init);
    };
  }

  /**
   * Throws an error that names the first changed byte, the cause and the cost. Prompts in tests are short: with
   * `--in-tests` their prefixes are checked all the same.
   *
   * @param {...string} options
   */
  check(...options) {
    const program = process.env.FORKCAST ?? "forkcast";
    const wanted = ["check", this.#folder, "--lock", "none", "--in-tests", "--format", "json", "--quiet", ...options];
    const run = spawnSync(program, wanted, { encoding: "utf8", maxBuffer: 1 << 28 });
    rmSync(this.#folder, { recursive: true });
    if (run.error) throw run.error;
    if (run.status === 0) return;
    if (run.status !== 1) throw new Error(run.stderr);
    /** @type {Finding[]} */
    const findings = JSON.parse(run.stdout).findings;
    const broken = findings.filter((finding) => finding.verdict === "fails");
    throw new Error(broken.map(sentence).join("\n") || run.stderr);
  }
}

/**
 * @param {Finding} finding
 * @returns {string}
 */
function sentence(finding) {
  const byte = finding.offset_in_block === null ? "" : `, byte ${finding.offset_in_block}`;
  const price = finding.cost_usd === null ? "" : ` ($${finding.cost_usd.toFixed(4)} a request)`;
  return (
    `request ${finding.request}: ${finding.cause} at ${finding.path}${byte}: ${finding.name}; ` +
    `${finding.tokens_lost} tokens are not read from the cache${price}. ${finding.suggestion}`
  );
}

/**
 * An agent's request, as a client would send it.
 *
 * @param {number} turn
 * @param {string} today
 * @returns {string}
 */
function request(turn, today) {
  const manual = "The house rules of this project, which every request repeats, word for word. ".repeat(300);
  const text = (/** @type {string} */ words) => ({ type: "text", text: words });
  const messages = [{ role: "user", content: [text("What does the parser do with an empty file?")] }];
  for (let step = 0; step < turn; step++) {
    messages.push({ role: "assistant", content: [text(`I look at part ${step}.`)] });
    messages.push({ role: "user", content: [text(`Go on with part ${step + 1}.`)] });
  }
  const last = messages[messages.length - 1];
  last.content = [Object.assign(last.content[0], { cache_control: { type: "ephemeral" } })];
  const system = [text(`${manual} It is ${today}.`)];
  return JSON.stringify({ model: "claude-opus-4-8", max_tokens: 1024, system, messages });
}

// Run alone, not imported.
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const sent = new PrefixCheck();
  for (let turn = 0; turn < 3; turn++) {
    sent.dump(request(turn, process.argv.includes("broken") ? `2026-11-20 10:0${turn}:00` : "November"));
  }
  try {
    sent.check();
    console.log("the prefix is kept");
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}
