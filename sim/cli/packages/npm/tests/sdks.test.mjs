// The newest SDKs of Anthropic and OpenAI, captured against a loopback server without a key.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";

import { assertPrefix, capture } from "../index.mjs";
import { messages, system } from "./conversation.mjs";
import { load, missing } from "./tools.mjs";

const ANSWERS = {
  "/v1/messages": {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-opus-4-8",
    content: [{ type: "text", text: "Done." }],
    stop_reason: "end_turn",
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  "/v1/chat/completions": {
    id: "c1",
    object: "chat.completion",
    model: "gpt-5.6",
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Done." } }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  },
};

/** Runs `use` with the address of a provider on this machine; gives the bodies that it got. */
async function provider(use) {
  const got = [];
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    got.push(Buffer.concat(parts));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(ANSWERS[request.url.split("?")[0]]));
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  try {
    await use(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return got;
}

/** What a turn sends, by package. */
const TURNS = {
  "@anthropic-ai/sdk": ({ default: Anthropic }, baseURL) => {
    const client = new Anthropic({ apiKey: "none", baseURL });
    return (turn, moves) =>
      client.messages.create({
        model: "claude-opus-4-8",
        max_tokens: 1024,
        cache_control: { type: "ephemeral" },
        system: system(turn, moves),
        messages: messages(turn),
      });
  },
  openai: ({ default: OpenAI }, baseURL) => {
    const client = new OpenAI({ apiKey: "none", baseURL: `${baseURL}/v1` });
    return (turn, moves) =>
      client.chat.completions.create({
        model: "gpt-5.6",
        messages: [{ role: "system", content: system(turn, moves) }, ...messages(turn)],
      });
  },
};

for (const [name, client] of Object.entries(TURNS)) {
  test(name, { skip: missing(name) }, async () => {
    const sdk = await load(name);
    const sent = { true: [], false: [] };
    for (const moves of [false, true]) {
      const got = await provider(async (address) => {
        sent[moves] = await capture(async () => {
          const send = client(sdk, address);
          for (const turn of [0, 1, 2]) await send(turn, moves);
        });
      });
      assert.deepEqual(sent[moves], got);
      assert.equal(got.length, 3);
    }
    assertPrefix(sent.false);
    assert.throws(() => assertPrefix(sent.true), /first differing byte/);
  });
}
