// One session over time: a lane for each agent, a bar for each request, arrows for what started what.

const LANE = 26, BAR = 16, LANES_SHOWN = 24;

// Agents as a tree, children under their parents in order of their first request.
const tree = (agents, ofAgent) => {
  const first = (agent) => { const own = ofAgent.get(agent.id); return own && own.length ? requests.get("at_ms", own[0]) ?? 0 : Infinity; };
  const ids = new Set(agents.map((agent) => agent.id)), found = [], seen = new Set();
  const add = (agent, depth) => {
    if (seen.has(agent.id)) return;
    seen.add(agent.id);
    found.push({ ...agent, depth });
    agents.filter((child) => child.parent === agent.id).sort((a, b) => first(a) - first(b)).forEach((child) => add(child, depth + 1));
  };
  agents.filter((agent) => !ids.has(agent.parent)).sort((a, b) => first(a) - first(b)).forEach((agent) => add(agent, 0));
  agents.forEach((agent) => add(agent, 0));
  return found;
};

const startOf = (row) => requests.get("at_ms", row);
const endOf = (row) => {
  const at = startOf(row), end = requests.get("ended_ms", row) ?? requests.get("first_byte_ms", row);
  return end === null || end < at ? at : end;
};

// Time to columns. Stretches in which nothing happens are folded, unless real time is wanted.
const timeScale = (rows, left, right, isReal) => {
  const spans = rows.map((row) => [startOf(row), endOf(row)]).sort((a, b) => a[0] - b[0]);
  const from = spans[0][0], to = Math.max(...spans.map(([, end]) => end), from + 1);
  const folds = isReal ? [] : pausesOf(spans, (to - from) / 25);
  const fold = folds.length ? Math.min(34, (right - left) * 0.4 / folds.length) : 0;
  const folded = folds.reduce((sum, [start, end]) => sum + end - start, 0);
  const rate = (right - left - fold * folds.length) / Math.max(1, to - from - folded);
  const x = (at) => {
    let shift = 0;
    for (const [start, end] of folds) {
      if (at >= end) shift += fold - (end - start) * rate;
      else if (at > start) return left + (start - from) * rate + shift + fold * ((at - start) / (end - start));
    }
    return left + (at - from) * rate + shift;
  };
  return { x, from, to, folds };
};

const pausesOf = (spans, least) => {
  const found = [];
  let end = spans[0][1];
  for (const [start, until] of spans) {
    if (start - end > Math.max(least, MINUTE)) found.push([end, start]);
    end = Math.max(end, until);
  }
  return found;
};

// Tokens of a request's input by what became of them.
const inputOf = (row) => {
  const read = requests.usage("cache_read_input_tokens", row);
  const all = read + requests.usage("cache_creation_input_tokens", row) + requests.usage("input_tokens", row);
  const missed = Math.min(requests.get("explanation.missed_tokens", row) || 0, all - read);
  const fresh = Math.min(requests.usage("input_tokens", row), all - read - missed);
  return { read, missed, fresh, written: all - read - missed - fresh, all };
};

const saidOf = (row) => {
  const input = inputOf(row);
  const causes = (requests.get("causes", row) || []).map((cause) => cause.cause);
  return [`Request ${requests.get("index", row)}, ${visible(requests.get("chain", row) ?? "unknown agent")}`, moment(startOf(row)),
    `${requests.get("counted", row) ? money(requests.get("cost_usd", row)) : "in no sum"}, ${count(input.all)} tokens in, ${count(requests.usage("output_tokens", row))} out`,
    `read ${count(input.read)}, written ${count(input.written)}, missed ${count(input.missed)}, fresh ${count(input.fresh)}`,
    causes.length ? `missed for ${causes.join(", ")}` : null].filter(Boolean).join("\n");
};

const lanes = (width, agents, ofAgent, isReal, all) => {
  const timed = [...ofAgent.values()].flat().filter((row) => startOf(row) !== null);
  if (timed.length === 0) return null;
  const shown = agents.slice(0, all ? agents.length : LANES_SHOWN), left = width < 560 ? 92 : 190;
  const scale = timeScale(timed, left, width - 8, isReal);
  const y = (at) => 26 + at * LANE;
  const height = y(shown.length) + 8, place = new Map(shown.map((agent, at) => [agent.id, at]));
  const parts = shown.flatMap((agent, at) => lane(agent, (ofAgent.get(agent.id) || []).filter((row) => startOf(row) !== null), y(at), scale, left, width));
  const picture = draw("svg", { width, height, role: "group", "aria-label": "Agents over time" }, arrowhead(),
    ...scale.folds.map((fold) => folded(fold, scale, height)), ...timeAxis(scale, width, left),
    ...parts, ...shown.flatMap((agent) => arrows(agent, place, ofAgent, y, scale)));
  return [picture, scrubber(picture, scale, { left, right: width - 8, height }, timed), shown.length < agents.length ? el("p", { class: "aside" }, `${plural(agents.length - shown.length, "further agent")} below; the list of requests has all.`) : null];
};

// A moment to be moved over the lanes: the requests and the bill until then, and who waited for an answer.
const scrubber = (picture, scale, { left, right, height }, rows) => {
  const ordered = [...rows].sort((a, b) => startOf(a) - startOf(b)), all = ordered.reduce((sum, row) => sum + requests.cost(row, -1), 0);
  const veil = draw("rect", { class: "veil", y: 16, height: height - 16 }), line = draw("line", { class: "now", y1: 16, y2: height });
  const said = el("output", { class: "aside" }), steps = Math.max(1, Math.round(right - left));
  const set = () => {
    const x = left + Number(range.value), at = timeAt(scale, x), isEnd = x >= right;
    fill(veil, { x, width: Math.max(0, right - x) }, []);
    fill(line, { x1: x, x2: x, visibility: isEnd ? "hidden" : "visible" }, []);
    const sent = isEnd ? ordered : ordered.filter((row) => startOf(row) <= at);
    const waiting = sent.filter((row) => endOf(row) > at).map((row) => requests.get("chain", row) ?? "unknown");
    const who = waiting.length > 4 ? `${waiting.slice(0, 3).join(", ")} and ${count(waiting.length - 3)} more` : waiting.join(", ");
    said.textContent = isEnd ? "Move to see the bill at any moment."
      : `${moment(Math.round(at))}: ${money(sent.reduce((sum, row) => sum + requests.cost(row, -1), 0))} of ${money(all)}, ${count(sent.length)} of ${plural(ordered.length, "request")}${waiting.length ? `; waiting for an answer: ${visible(who)}` : "; nobody waits for an answer"}`;
  };
  const range = el("input", { type: "range", min: "0", max: String(steps), value: String(steps), "aria-label": "Moment", style: { marginLeft: `${left - 8}px`, width: `${right - left + 16}px` }, on: { input: set } });
  picture.append(veil, line);
  set();
  return el("div", { class: "scrubber" }, range, said);
};

// The time of a column: columns grow with time.
const timeAt = ({ x, from, to }, wanted) => {
  let low = from, high = to;
  for (let step = 0; step < 40; step += 1) {
    const middle = (low + high) / 2;
    if (x(middle) < wanted) low = middle; else high = middle;
  }
  return high;
};

const arrowhead = () => draw("defs", {}, draw("marker", { id: "head", viewBox: "0 0 8 8", refX: "7", refY: "4", markerWidth: "6", markerHeight: "6", orient: "auto" }, draw("path", { class: "tipped", d: "M0 0 8 4 0 8z" })));

const folded = ([start, end], scale, height) => draw("g", { tip: `Nothing happened for ${span(end - start)}` },
  draw("rect", { class: "hit", x: scale.x(start), width: scale.x(end) - scale.x(start), y: 18, height: height - 18 }),
  draw("line", { class: "fold", x1: (scale.x(start) + scale.x(end)) / 2, x2: (scale.x(start) + scale.x(end)) / 2, y1: 20, y2: height }));

// Times along the top: ends, and what was folded, as far as there is room.
const timeAxis = (scale, width, left) => {
  const found = [];
  let free = left - 8;
  const put = (x, text, anchor) => {
    const half = text.length * 6.4;
    const from = anchor === "start" ? x : anchor === "end" ? x - half : x - half / 2;
    if (from < free + 8 || from + half > width + 2) return;
    free = from + half;
    found.push(draw("text", { x, y: 12, "text-anchor": anchor }, text));
  };
  put(left, brief(scale.from), "start");
  scale.folds.forEach(([start, end]) => put((scale.x(start) + scale.x(end)) / 2, `⋯ ${span(end - start)}`, "middle"));
  put(width - 8, brief(scale.to), "end");
  return found;
};

const lane = (agent, rows, top, scale, left, width) => {
  const label = `${agent.kind === "main" ? "main" : agent.name || agent.kind} ${agent.kind === "main" ? "" : agent.id}`.trim();
  const indent = Math.min(agent.depth, 5) * 10;
  const head = draw("text", { class: agent.depth === 0 ? "strong" : "", x: indent, y: top + 14, tip: `${visible(agent.id)}\n${agent.kind}${agent.mode ? `, ${agent.mode}` : ""}\n${money(agent.cost_usd)}, ${plural(agent.requests, "request")}` },
    shortened(agent.name && agent.depth ? `${agent.name} ${agent.id}` : agent.kind === "main" && agent.depth === 0 ? label : agent.id, Math.floor((left - indent - 12) / 6.8)));
  const line = draw("line", { class: "lane", x1: left, x2: width - 8, y1: top + BAR / 2 + 2, y2: top + BAR / 2 + 2 });
  const pauses = rows.map((row, at) => (at > 0 && isMissedFor(row, "expired") ? pause(rows[at - 1], row, top, scale) : null));
  return [head, line, ...pauses.filter(Boolean), ...rows.map((row) => request(row, top + 2, scale))];
};

const pause = (before, row, top, scale) => {
  const from = scale.x(endOf(before)), to = scale.x(startOf(row));
  return draw("rect", { class: "pause", x: from, width: Math.max(1, to - from), y: top, height: BAR + 4, tip: `A pause of ${span(startOf(row) - endOf(before))}, longer than the lifetime of the cache entry` });
};

// A bar: the lower part was read, above it written, missed and fresh.
const request = (row, top, scale) => {
  const x = scale.x(startOf(row)), width = Math.max(2.5, scale.x(endOf(row)) - x), input = inputOf(row);
  let y = top + BAR;
  const pieces = [["read", input.read], ["written", input.written], ["input", input.fresh], ["missed", input.missed]].map(([look, tokens]) => {
    const high = input.all ? (BAR * tokens) / input.all : look === "input" ? BAR : 0;
    y -= high;
    return high > 0.2 ? draw("rect", { class: look, x, width, y, height: high }) : null;
  });
  return draw("g", { tip: () => saidOf(row), "data-at": row, on: { click: () => openRequest(row) } },
    ...pieces, draw("rect", { class: row === chosen.request ? "chosen" : "hit", x: x - 1, width: width + 2, y: top - 1, height: BAR + 2 }),
    isMissedFor(row, "compacted") ? draw("path", { class: "tipped", d: `M${x - 4} ${top - 3}h8l-4 5z` }) : null);
};

// From the parent to the child where it began, and back to the parent's next request.
const arrows = (agent, place, ofAgent, y, scale) => {
  const own = (ofAgent.get(agent.id) || []).filter((row) => startOf(row) !== null);
  if (!place.has(agent.parent) || own.length === 0) return [];
  const from = y(place.get(agent.parent)) + BAR / 2 + 2, to = y(place.get(agent.id)) + BAR / 2 + 2;
  const begun = scale.x(Math.min(agent.spawned && agent.spawned.at_ms !== null ? agent.spawned.at_ms : startOf(own[0]), startOf(own[0])));
  const first = scale.x(startOf(own[0])), last = endOf(own.at(-1));
  const apart = agent.mode === "background";
  const said = `${agent.kind === "fork" ? "Fork" : agent.kind === "main" ? "Start" : "Spawn"}${apart ? " in the background" : ""} of ${visible(agent.id)}`;
  const next = (ofAgent.get(agent.parent) || []).find((row) => startOf(row) !== null && startOf(row) >= last);
  const back = next === undefined || (agent.kind === "internal") ? null : draw("path", {
    class: "arrow back", "marker-end": "url(#head)", d: bent(scale.x(last), to, scale.x(startOf(next)), from),
    tip: `${agent.notifications > 0 ? "Notification" : "Result"} of ${visible(agent.id)}`,
  });
  return [draw("path", { class: apart ? "arrow apart" : "arrow", "marker-end": "url(#head)", d: bent(begun, from, first, to), tip: said }), back].filter(Boolean);
};

const bent = (x1, y1, x2, y2) => `M${x1} ${y1}C${x1 + 6} ${(y1 + y2) / 2} ${x2 - 10} ${y2} ${x2 - 2} ${y2}`;
