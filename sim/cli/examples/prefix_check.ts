/**
 * Test in TypeScript that an agent keeps the prefix of its prompts: dump what is sent, let forkcast look at the bytes.
 *
 *     const sent = new PrefixCheck();
 *     const client = new Anthropic({ fetch: sent.watching(fetch) });
 *     // … a conversation …
 *     sent.check();
 *
 * Run it alone (`node prefix_check.ts` from Node 22.18 on, `node --experimental-strip-types prefix_check.ts` from 22.6,
 * `deno run -A prefix_check.ts`), or with `broken` behind it, to see both ends. FORKCAST names the program.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

type Finding = {
  verdict: string;
  request: number;
  cause: string;
  path: string;
  name: string;
  offset_in_block: number | null;
  tokens_lost: number;
  cost_usd: number | null;
  suggestion: string;
};

/** Dumps the bodies of one conversation into a folder and checks them at the end. */
export class PrefixCheck {
  private folder: string;
  private count: number = 0;

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "bodies-"));
  }

  /** Takes one request's body, as it goes over the wire. The order of calls is the order of requests. */
  dump(body: string | Uint8Array): void {
    const name = String(this.count).padStart(5, "0") + ".json";
    writeFileSync(join(this.folder, name), body);
    this.count += 1;
  }

  /** A `fetch` that dumps what it sends. */
  watching(send: typeof fetch): typeof fetch {
    return (input, init) => {
      if (typeof init?.body === "string") this.dump(init.body);
      return send(input, init);
    };
  }

  /** Throws an error that names the byte that moved, why, and what it costs. */
  check(...options: string[]): void {
    const program = process.env.FORKCAST ?? "forkcast";
    const wanted = ["check", this.folder, "--lock", "none", "--format", "json", "--quiet", ...options];
    const run = spawnSync(program, wanted, { encoding: "utf8", maxBuffer: 1 << 28 });
    rmSync(this.folder, { recursive: true });
    if (run.error) throw run.error;
    if (run.status === 0) return;
    if (run.status !== 1) throw new Error(run.stderr);
    const findings: Finding[] = JSON.parse(run.stdout).findings;
    const broken = findings.filter((finding) => finding.verdict === "fails");
    throw new Error(broken.map(sentence).join("\n") || run.stderr);
  }
}

function sentence(finding: Finding): string {
  const byte = finding.offset_in_block === null ? "" : `, byte ${finding.offset_in_block}`;
  const price = finding.cost_usd === null ? "" : ` ($${finding.cost_usd.toFixed(4)} a request)`;
  return (
    `request ${finding.request}: ${finding.cause} at ${finding.path}${byte}: ${finding.name}; ` +
    `${finding.tokens_lost} tokens are not read from the cache${price}. ${finding.suggestion}`
  );
}

/** An agent's request: what you would take from the client. */
function request(turn: number, today: string): string {
  const manual = "The house rules of this project, which every request repeats, word for word. ".repeat(300);
  const text = (words: string) => ({ type: "text", text: words });
  const messages = [{ role: "user", content: [text("What does the parser do with an empty file?") as object] }];
  for (let step = 0; step < turn; step++) {
    messages.push({ role: "assistant", content: [text(`I look at part ${step}.`)] });
    messages.push({ role: "user", content: [text(`Go on with part ${step + 1}.`)] });
  }
  const last = messages[messages.length - 1];
  last.content = [{ ...last.content[0], cache_control: { type: "ephemeral" } }];
  const system = [text(`${manual} It is ${today}.`)];
  return JSON.stringify({ model: "claude-opus-4-8", max_tokens: 1024, system, messages });
}

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
