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
    el("p", {}, el("strong", {}, name(labelOf(session.id, session.project))), session.project ? el("span", { class: "aside" }, " ", name(session.project)) : null),
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
  return el("div", {}, controls, fitted(el("div"), (width) => lanes(width, agents, ofAgent, realTime, allLanes)),
    legend([["read", "read from the cache"], ["written", "new, written"], ["input", "new, not cached"], ["missed", "sent before, not read"], ["var(--warm)", "pause beyond the lifetime"]]));
};

// The requests from left to right, each as high as its prompt.
const ribbonOf = (rows) => {
  const ordered = [...rows].sort((a, b) => requests.get("index", a) - requests.get("index", b));
  const at = Math.ceil(ordered.length / RIBBON_BARS);
  const dearest = (some) => some.reduce((most, row) => (requests.cost(row, -1) > requests.cost(most, -1) ? row : most));
  const shown = at === 1 ? ordered : Array.from({ length: Math.ceil(ordered.length / at) }, (_, part) => dearest(ordered.slice(part * at, part * at + at)));
  const note = at > 1 ? el("p", { class: "aside" }, `Of every ${count(at)} requests the dearest is drawn.`) : null;
  return el("div", {}, fitted(el("div", { class: "wander", tabindex: "0", role: "region", "aria-label": "Requests in order" }), (width) => ribbon(width, shown)), note);
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

// Session, agents, and what their dollars or tokens were.
const icicleOf = (session, rows) => {
  const place = el("div");
  const paint = () => place.replaceChildren(el("h3", {}, "Where it went"),
    el("div", { class: "controls" }, choices("Measure", [["usd", "Dollars"], ["tokens", "Tokens"]], measure, (value) => { measure = value; paint(); })),
    fitted(el("div"), (width) => icicle(width, session, rows)), legend(PARTS.filter((part) => part.key !== "fees").map((part) => [part.look, part.said])));
  paint();
  return place;
};

const icicle = (width, session, rows) => {
  const value = (part, row) => (measure === "usd" ? partOf(part.key, row) : part.tokens ? requests.usage(part.tokens, row) : 0);
  const kinds = new Map();
  rows.forEach((row) => {
    const kind = requests.get("agent_kind", row) ?? "unknown", agent = requests.get("chain", row) ?? "unknown";
    if (!kinds.has(kind)) kinds.set(kind, new Map());
    const sums = kinds.get(kind).get(agent) || PARTS.map(() => 0);
    PARTS.forEach((part, at) => { sums[at] += value(part, row); });
    kinds.get(kind).set(agent, sums);
  });
  const total = (sums) => sums.reduce((all, one) => all + one, 0);
  const whole = (agents) => [...agents.values()].reduce((all, sums) => all + total(sums), 0);
  const all = [...kinds.values()].reduce((sum, agents) => sum + whole(agents), 0) || 1;
  const shown = (amount) => (measure === "usd" ? money(amount) : `${count(amount)} tokens`);
  const cells = [];
  const put = (x, wide, level, text, amount, look, brief) => {
    if (wide < 0.4) return;
    cells.push(draw("g", { tip: `${text}\n${shown(amount)}, ${share(amount / all)}` },
      draw("rect", { class: `cell ${look || ""}`, x, width: wide, y: level * 28, height: 26, style: look ? {} : { fill: "var(--raised)", stroke: "var(--line)" } }),
      wide > (brief ? 8 * brief.length + 8 : 50) ? draw("text", { class: look === "written" ? "on-written" : look ? "on-part" : "strong", x: x + 6, y: level * 28 + 17 }, wide > 8 * text.length ? text : brief || shortened(text, Math.max(3, Math.floor((wide - 10) / 7)))) : null));
  };
  put(0, width, 0, `${visible(session.id)}`, all, null);
  let x = 0;
  [...kinds].sort((a, b) => whole(b[1]) - whole(a[1])).forEach(([kind, agents]) => {
    put(x, (width * whole(agents)) / all, 1, visible(kind), whole(agents), null);
    [...agents].sort((a, b) => total(b[1]) - total(a[1])).forEach(([agent, sums]) => {
      put(x, (width * total(sums)) / all, 2, visible(agent), total(sums), null);
      PARTS.forEach((part, at) => { put(x, (width * sums[at]) / all, 3, part.said, sums[at], part.look, part.brief); x += (width * sums[at]) / all; });
    });
  });
  return draw("svg", { width, height: 112, role: "group", "aria-label": "Dollars or tokens by agent and kind" }, ...cells);
};

const requestTable = (rows) => el("div", {}, el("h3", {}, "Its requests"), el("div", { class: "controls" }, saver(() => rows)), sortable({
  label: "Requests of the session", rows, by: 3, first: 12, opens: openRequest, isChosen: (row) => row === chosen.request,
  columns: [
    { title: "Request", isNumber: true, of: (row) => requests.get("index", row), shown: (row) => String(requests.get("index", row)) },
    { title: "At", isWhen: true, of: startOf, shown: (row) => (startOf(row) === null ? "–" : moment(startOf(row))) },
    { title: "Agent", isName: true, of: (row) => requests.get("chain", row), shown: (row) => name(shortened(requests.get("chain", row) ?? "unknown", 24)) },
    { title: "Cost", isNumber: true, of: (row) => requests.cost(row, -1), shown: (row) => (requests.get("counted", row) ? money(requests.get("cost_usd", row)) : "in no sum") },
    { title: "Read", isNumber: true, of: (row) => inputOf(row).read, shown: (row) => count(inputOf(row).read) },
    { title: "Missed", isNumber: true, of: (row) => inputOf(row).missed, shown: (row) => count(inputOf(row).missed) },
    { title: "Avoidable", isNumber: true, of: (row) => requests.avoidable(row), shown: (row) => money(requests.avoidable(row)) },
    { title: "Missed for", of: (row) => causesOf(row), shown: (row) => causesOf(row) },
  ],
}));
const causesOf = (row) => (requests.get("causes", row) || []).map((cause) => cause.cause.replaceAll("_", " ")).join(", ");
