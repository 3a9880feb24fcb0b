/** Bodies of a small agent whose system prompt is kept or moves. */
export const system = (turn, moves) => `The house rules. It is ${moves ? `10:0${turn}` : "November"}.`;

export function messages(turn) {
  const said = [{ role: "user", content: "What does the parser do with an empty file?" }];
  for (let step = 0; step < turn; step++) {
    said.push({ role: "assistant", content: "Done." }, { role: "user", content: `Go on with part ${step}.` });
  }
  return said;
}

export function bodies(moves = false) {
  const fixed = { model: "claude-opus-4-8", max_tokens: 1024, cache_control: { type: "ephemeral" } };
  return [0, 1, 2].map((turn) => ({ ...fixed, system: system(turn, moves), messages: messages(turn) }));
}
