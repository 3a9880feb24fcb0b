// One session: lanes, the ribbon of its requests, and where its tokens and dollars went.

const RIBBON = 120, RIBBON_BARS = 1500;
let realTime = false, allLanes = false, measure = "usd";

const drawSession = () => {
  const place = chapter("session");
  if (!place || requests.length === 0) return;
  watch(() => {
    const id = chosen.session ?? dearestSession();
    const session = report.sessions.find((one) => one.id === id);
    if (!session) return;
    const rows = requests.all("session").flatMap((own, row) => (own === id ? [row] : []));
    byId("session-head").textContent = report.sessions.length > 1 ? "One session" : "The session over time";
    place.show(sessionHead(session), timeline(session, rows), el("h3", {}, "Requests in order"), ribbonOf(rows), icicleOf(session, rows), requestTable(rows));
  });
};

const dearestSession = () => {
  const usd = (session) => session.recorded.cost_usd ?? (session.predicted ? session.predicted.cost_usd : 0) ?? 0;
  const found = report.sessions.reduce((most, session) => (most === null || usd(session) > usd(most) ? session : most), null);
  return found && found.id;
};

const sessionHead = (session) => {
  const usd = session.recorded.cost_usd ?? (session.predicted && session.predicted.cost_usd);
  const others = report.sessions.length > 1 ? el("button", { type: "button", on: { click: () => go("sessions") } }, "All sessions") : null;
  return el("div", {},
    el("p", {}, el("strong", {}, name(labelOf(session.id, session.project))), session.project && session.project !== session.id ? el("span", { class: "aside" }, " ", name(session.project)) : null),
    el("p", { class: "aside" }, `${money(usd)}, ${plural(session.requests, "request")} of ${plural(session.chains, "agent")}, hit rate ${share(session.recorded.hit_rate ?? (session.predicted && session.predicted.hit_rate))} `, others));
};

const timeline = (session, rows) => {
  const ofAgent = new Map();
  rows.forEach((row) => ofAgent.set(requests.get("chain", row), [...(ofAgent.get(requests.get("chain", row)) || []), row]));
  ofAgent.forEach((own) => own.sort((a, b) => (startOf(a) ?? 0) - (startOf(b) ?? 0)));
  if (!rows.some((row) => startOf(row) !== null)) return el("p", { class: "aside" }, "The recording has no times, so there is no picture over time.");
  const agents = tree(session.agents, ofAgent);
  const controls = el("div", { class: "controls" }, choices("Time", [[false, "Pauses folded"], [true, "Real time"]], realTime, (value) => { realTime = value; change({}); }),
    agents.length > LANES_SHOWN ? el("button", { type: "button", on: { click: () => { allLanes = !allLanes; change({}); } } }, allLanes ? "Fewer lanes" : `All ${count(agents.length)} lanes`) : null);
  return el("div", {}, controls, fitted(el("div"), (width) => lanes(width, agents, ofAgent, realTime, allLanes), 80 + LANE * Math.min(agents.length, allLanes ? Infinity : LANES_SHOWN)),
    legend([["read", "read from the cache"], ["written", "new, written"], ["input", "new, not cached"], ["missed", "sent before, not read"], ["var(--warm)", "pause beyond the lifetime"]]));
};

// The requests from left to right, each as high as its prompt.
const ribbonOf = (rows) => {
  const ordered = [...rows].sort((a, b) => requests.get("index", a) - requests.get("index", b));
  const at = Math.ceil(ordered.length / RIBBON_BARS);
  const dearest = (some) => some.reduce((most, row) => (requests.cost(row, -1) > requests.cost(most, -1) ? row : most));
  const shown = at === 1 ? ordered : Array.from({ length: Math.ceil(ordered.length / at) }, (_, part) => dearest(ordered.slice(part * at, part * at + at)));
  const note = at > 1 ? el("p", { class: "aside" }, `Of every ${count(at)} requests the dearest is drawn.`) : null;
  return el("div", {}, fitted(el("div", { class: "wander", tabindex: "0", role: "region", "aria-label": "Requests in order" }), (width) => ribbon(width, shown), RIBBON + 14), note);
};

const ribbon = (width, rows) => {
  const left = 44, wide = Math.max(3, Math.min(26, (width - left) / rows.length)), inputs = rows.map(inputOf);
  const most = Math.max(...inputs.map((input) => input.all), 1), high = (tokens) => (RIBBON * tokens) / most;
  const grid = ticks(most, 3).flatMap((tokens) => [
    draw("line", { class: tokens === 0 ? "axis" : "grid", x1: left, x2: left + wide * rows.length, y1: 6 + RIBBON - high(tokens), y2: 6 + RIBBON - high(tokens) }),
    draw("text", { x: left - 6, y: 10 + RIBBON - high(tokens), "text-anchor": "end" }, short(tokens))]);
  const bars = rows.map((row, at) => {
    const input = inputs[at], x = left + wide * at;
    let y = 6 + RIBBON;
    const pieces = [["read", input.read], ["written", input.written], ["input", input.fresh], ["missed", input.missed]].map(([look, tokens]) => {
      y -= high(tokens);
      return tokens > 0 ? draw("rect", { class: look, x: x + 0.4, width: Math.max(1, wide - 0.8), y, height: Math.max(0.4, high(tokens)) }) : null;
    });
    return draw("g", { tip: () => saidOf(row), "data-at": row, on: { click: () => openRequest(row) } }, ...pieces,
      draw("rect", { class: row === chosen.request ? "chosen" : "hit", x, width: wide, y: 6, height: RIBBON }));
  });
  return draw("svg", { width: Math.max(width, left + wide * rows.length), height: RIBBON + 14, style: { maxWidth: "none" }, role: "group", "aria-label": "Prompts in tokens, request by request" }, ...grid, ...bars);
};

// What prompts were made of, in the order in which they are sent; answers come after all.
const CONTENTS = {
  tools: ["Tools", "Tools", "#4f6d8f"], system: ["System prompt", "System", "#2f8f7a"], hidden: ["System and tools, not in the transcript", "Hidden", "#4f6d8f"], input: ["Messages", "Messages", "#b58a2f"],
  answers: ["Earlier answers", "Answers", "#6d9c7d"], thinking: ["Earlier thinking", "Thinking", "#8a74a8"], calls: ["Calls of tools", "Calls", "#b06a3c"], results: ["Results of tools", "Results", "#8a4f62"], output: ["New answers", "New", "var(--answer)"],
};

// Which levels lie under a session.
const ICICLES = {
  contents: ["By content", ["said", "tool"]], agents: ["By agent", ["kind", "agent", "said", "tool"]], spending: ["By kind of cost", ["kind", "agent", "said"]],
};
let inside = "contents";

// An icicle: a session, and below it what its dollars or tokens were.
const icicleOf = (session, rows) => {
  const place = el("div"), own = contents.filter((sum) => sum.session === session.id);
  const paint = () => {
    const shape = own.length > 0 ? inside : "spending", isAbout = shape !== "spending", [, keys] = ICICLES[shape];
    const leaves = isAbout ? leavesOfContents(own, rows) : leavesOfSpending(rows);
    const found = new Map(leaves.map((leaf) => [leaf.said, leaf.look]));
    place.replaceChildren(el("h3", {}, "Where it went"),
      el("div", { class: "controls" }, choices("Measure", [["usd", "Dollars"], ["tokens", "Tokens"]], measure, (value) => { measure = value; paint(); }),
        own.length ? choices("Split", Object.entries(ICICLES).map(([key, [said]]) => [key, said]), inside, (value) => { inside = value; paint(); }) : null),
      fitted(el("div"), (width) => icicle(width, session, leaves, keys), LEVEL * (keys.length + 1)),
      legend([...found].map(([said, look]) => [look, said])),
      ...(isAbout ? [el("p", { class: "aside" }, "Sizes within a prompt are estimated; their sums are those of the bill.")] : []));
  };
  paint();
  return place;
};

const leavesOfSpending = (rows) => rows.flatMap((row) => PARTS.map((part) => ({
  row, kind: requests.get("agent_kind", row) ?? "unknown", agent: requests.get("chain", row) ?? "unknown", said: part.said, brief: part.brief, look: part.look,
  amount: measure === "usd" ? partOf(part.key, row) : part.tokens ? requests.usage(part.tokens, row) : 0,
})));

const leavesOfContents = (own, rows) => {
  const kindOf = new Map(rows.map((row) => [requests.get("chain", row) ?? "unknown", requests.get("agent_kind", row) ?? "unknown"]));
  const order = Object.keys(CONTENTS), leaf = (agent, key, amount, tool) => ({ agent, kind: kindOf.get(agent) ?? "unknown", said: CONTENTS[key][0], brief: CONTENTS[key][1], look: CONTENTS[key][2], amount, tool });
  const inputs = [...own].sort((a, b) => order.indexOf(a.content) - order.indexOf(b.content) || b.cost_usd - a.cost_usd)
    .map((sum) => leaf(sum.agent, sum.content, measure === "usd" ? sum.cost_usd : sum.tokens, sum.content === "results" ? sum.tool ?? "unknown tool" : null));
  return [...inputs, ...rows.map((row) => leaf(requests.get("chain", row) ?? "unknown", "output", measure === "usd" ? partOf("answer", row) : requests.usage("output_tokens", row), null))];
};

// Sums of leaves by the value of a key, in the order of first appearance or the largest first.
const bySum = (leaves, key, isOrdered) => {
  const found = new Map();
  leaves.forEach((leaf) => { if (!found.has(leaf[key])) found.set(leaf[key], { name: leaf[key], leaves: [], amount: 0 }); const sum = found.get(leaf[key]); sum.leaves.push(leaf); sum.amount += leaf.amount; });
  return isOrdered ? [...found.values()] : [...found.values()].sort((a, b) => b.amount - a.amount);
};

const LEVEL = 28;

const icicle = (width, session, leaves, keys) => {
  const all = leaves.reduce((sum, leaf) => sum + leaf.amount, 0) || 1, depth = keys.filter((key) => leaves.some((leaf) => leaf[key])).length;
  const shown = (amount) => (measure === "usd" ? money(amount) : `${count(amount)} tokens`), cells = [];
  const put = (x, amount, level, text, look, brief) => {
    const wide = (width * amount) / all;
    if (wide < 0.4) return;
    const fits = wide > 7.4 * text.length + 10 ? text : brief && wide > 8 * brief.length + 8 ? brief : wide > 50 ? shortened(text, Math.max(3, Math.floor((wide - 10) / 7))) : null;
    const isOwn = look && !look.startsWith("#") && !look.startsWith("var");
    cells.push(draw("g", { tip: `${text}\n${shown(amount)}, ${share(amount / all)}` },
      draw("rect", { class: `cell ${isOwn ? look : ""}`, x, width: wide, y: level * LEVEL, height: LEVEL - 2, style: isOwn ? {} : { fill: look || "var(--raised)", stroke: look ? "var(--paper)" : "var(--line)" } }),
      fits ? draw("text", { class: textOn(look), x: x + 6, y: level * LEVEL + 17 }, fits) : null));
  };
  const under = (own, level, from) => {
    const key = keys[level];
    let x = from;
    bySum(own.filter((leaf) => key && leaf[key]), key, key === "said").forEach((sum) => {
      const [first] = sum.leaves, isPlain = key === "kind" || key === "agent";
      put(x, sum.amount, level + 1, visible(sum.name), isPlain ? null : first.look, key === "said" ? first.brief : null);
      under(sum.leaves, level + 1, x);
      x += (width * sum.amount) / all;
    });
  };
  put(0, all, 0, visible(session.id), null);
  under(leaves, 0, 0);
  return draw("svg", { width, height: (depth + 1) * LEVEL, role: "group", "aria-label": "Dollars or tokens of the session" }, ...cells);
};

const requestTable = (rows) => el("div", {}, el("h3", {}, "Its requests"), el("div", { class: "controls" }, saver(() => rows)), sortable({
  label: "Requests of the session", rows, by: 1, first: 12, opens: openRequest, isChosen: (row) => row === chosen.request,
  columns: [
    { title: "Request", isNumber: true, of: (row) => requests.get("index", row), shown: (row) => String(requests.get("index", row)) },
    { title: "Cost", isNumber: true, of: (row) => requests.cost(row, -1), shown: (row) => (requests.get("counted", row) ? money(requests.get("cost_usd", row)) : "in no sum") },
    { title: "At", isWhen: true, isOptional: true, of: startOf, shown: (row) => (startOf(row) === null ? "–" : moment(startOf(row))) },
    { title: "Agent", isName: true, of: (row) => requests.get("chain", row), shown: (row) => name(shortened(requests.get("chain", row) ?? "unknown", 24)) },
    { title: "Read", isNumber: true, of: (row) => inputOf(row).read, shown: (row) => count(inputOf(row).read) },
    { title: "Missed", isNumber: true, of: (row) => inputOf(row).missed, shown: (row) => (requests.isJudged(row) ? count(inputOf(row).missed) : "–") },
    { title: "Avoidable", isNumber: true, of: (row) => requests.avoidable(row), shown: (row) => (requests.isJudged(row) ? money(requests.avoidable(row)) : "–") },
    { title: "Missed for", isOptional: true, of: (row) => causesOf(row), shown: (row) => causesOf(row) },
  ],
}));
const causesOf = (row) => (requests.get("causes", row) || []).map((cause) => cause.cause).join(", ");
