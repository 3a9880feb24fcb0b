// The bill over time, stacked by what it was spent on, by model, project or kind of agent.

const HUES = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a6d1b", "#6a4c93"];
const OTHERS = "var(--input)";
const DAY_HEIGHT = 230;

const SPLITS = [["spending", "What it was spent on"], ["model", "Model"], ["project", "Project"], ["agent_kind", "Kind of agent"]];

// Stretches of time: hours of up to two days, days of up to two months, else weeks.
const stretches = (rows) => {
  const days = new Set(rows.map(dayOf).filter(Boolean));
  if (days.size === 0) return null;
  if (days.size <= 2) return { said: "hour", of: (row) => dayOf(row) && `${dayOf(row)} ${parts(requests.get("at_ms", row)).hour}:00` };
  const sorted = [...days].sort();
  const width = (Date.parse(sorted.at(-1)) - Date.parse(sorted[0])) / DAY;
  if (width <= 75) return { said: "day", of: dayOf };
  return { said: "week", of: weekOf };
};
const weekOf = (row) => { const day = dayOf(row); return day && monday(day); };
const mondays = new Map();
const monday = (day) => {
  if (!mondays.has(day)) {
    const at = new Date(`${day}T00:00:00Z`);
    at.setUTCDate(at.getUTCDate() - ((at.getUTCDay() + 6) % 7));
    mondays.set(day, at.toISOString().slice(0, 10));
  }
  return mondays.get(day);
};

// Every stretch from the first to the last, also those without requests.
const filled = (keys, said) => {
  const sorted = [...keys].sort();
  if (said === "hour") return sorted;
  const by = said === "day" ? DAY : 7 * DAY, all = [];
  for (let at = Date.parse(`${sorted[0]}T00:00:00Z`); at <= Date.parse(`${sorted.at(-1)}T00:00:00Z`); at += by) all.push(new Date(at).toISOString().slice(0, 10));
  return all;
};

// Sums by stretch and part, the dearest parts first.
const stacked = (rows, split, stretch) => {
  const sums = new Map(), totals = new Map();
  const add = (key, part, usd) => {
    if (!usd) return;
    if (!sums.has(key)) sums.set(key, new Map());
    sums.get(key).set(part, (sums.get(key).get(part) || 0) + usd);
    totals.set(part, (totals.get(part) || 0) + usd);
  };
  for (const row of rows) {
    const key = stretch.of(row);
    if (key === null) continue;
    if (split === "spending") PARTS.forEach((part) => add(key, part.key, partOf(part.key, row)));
    else add(key, KEYS[split].of(row) ?? "unknown", requests.cost(row, chosen.whatIf));
  }
  return { sums, totals };
};

const looks = (split, totals) => {
  if (split === "spending") return PARTS.filter((part) => totals.has(part.key)).map((part) => ({ key: part.key, said: part.said, look: `var(--${part.key})` }));
  const order = [...totals].sort((a, b) => b[1] - a[1]).map(([key]) => key);
  const kept = order.slice(0, HUES.length).map((key, at) => ({ key, said: key, look: HUES[at] }));
  return order.length > kept.length ? [...kept, { key: null, said: `${order.length - kept.length} others`, look: OTHERS }] : kept;
};

let split = "spending";

const drawDays = () => {
  const place = chapter("days");
  if (!place) return;
  if (!stretches(passing(null)) || report.totals.spending === null) return;
  const picture = el("div"), controls = el("div", { class: "controls" });
  place.show(controls, picture);
  watch(() => {
    const stretch = stretches(passing("day"));
    const rows = stretch && stretch.said === "week" ? passing("week") : passing("day");
    const options = SPLITS.filter(([key]) => key === "spending" || key === split || rows.some((row) => KEYS[key].of(row) !== KEYS[key].of(rows[0])));
    controls.replaceChildren(el("span", { class: "label" }, "Split by"), choices("Split by", options, split, (value) => { split = value; change({}); }), selector("week", "Week from") || "");
    byId("days-head").textContent = stretch ? `By ${stretch.said}` : "By day";
    if (!stretch) { picture.replaceChildren(el("p", { class: "aside" }, "No request with a time.")); return; }
    const { sums, totals } = stacked(rows, split, stretch);
    const keys = filled(new Set(rows.map(stretch.of).filter(Boolean)), stretch.said);
    const kinds = looks(split, totals);
    const chart = fitted(el("div"), (width) => bars(width, keys, sums, kinds, stretch), DAY_HEIGHT + 24);
    const hint = split === "spending" && chosen.whatIf >= 0 ? el("p", { class: "aside" }, "Parts are as billed; choose another split for the chosen what-if.") : null;
    picture.replaceChildren(...[legend(kinds.map((kind) => [kind.look, `${kind.said}`])), chart, chosenSum(), hint].filter(Boolean));
  });
};

// What passes the filters: its cost, what it was spent on, and how much of it was avoidable.
const chosenSum = () => {
  if (Object.keys(chosen.filters).length === 0) return null;
  const rows = passing(null), bill = rows.reduce((sum, row) => sum + requests.cost(row, -1), 0), saved = rows.reduce((sum, row) => sum + requests.avoidable(row), 0);
  const spent = PARTS.map((part) => [part.said, rows.reduce((sum, row) => sum + partOf(part.key, row), 0)]).filter(([, usd]) => usd > 0);
  return el("div", { role: "status" }, filterChips(), el("p", {}, el("strong", {}, money(bill)), ` for ${plural(rows.length, "request")}: `,
    spent.map(([said, usd]) => `${said} ${money(usd)} (${share(usd / bill)})`).join(", "), saved > 0 ? `. Avoidable: ${money(saved)}.` : "."));
};

const bars = (width, keys, sums, kinds, stretch) => {
  const left = 56, bottom = 24, plot = width - left - 4;
  const sum = (key) => [...(sums.get(key) || new Map()).values()].reduce((all, usd) => all + usd, 0);
  const most = Math.max(...keys.map(sum), 1e-9);
  const y = (usd) => 8 + (DAY_HEIGHT - 8) * (1 - usd / (most * 1.04));
  const slot = plot / keys.length, thick = Math.max(1, Math.min(slot * 0.78, 60));
  const grid = ticks(most, 4).flatMap((usd) => [
    draw("line", { class: usd === 0 ? "axis" : "grid", x1: left, x2: width, y1: y(usd), y2: y(usd) }),
    draw("text", { x: left - 8, y: y(usd) + 4, "text-anchor": "end" }, axisMoney(usd))]);
  const every = Math.max(1, Math.ceil((stretch.said === "hour" ? 92 : 72) / slot));
  const marks = keys.map((key, at) => bar(key, left + slot * (at + 0.5), { thick, slot, y, sums, kinds, sum, stretch, label: at % every === 0 && left + slot * (at + 0.5) < width - 20 }));
  return draw("svg", { width, height: DAY_HEIGHT + bottom, role: "group", "aria-label": `Cost by ${stretch.said}` }, ...grid, ...marks);
};

const bar = (key, middle, { thick, slot, y, sums, kinds, sum, stretch, label }) => {
  const own = sums.get(key) || new Map();
  const named = new Set(kinds.map((kind) => kind.key));
  const value = (kind) => (kind.key === null ? [...own].filter(([part]) => !named.has(part)).reduce((all, [, usd]) => all + usd, 0) : own.get(kind.key) || 0);
  let top = 0;
  const pieces = kinds.map((kind) => {
    const usd = value(kind), from = top;
    top += usd;
    return usd > 0 ? draw("rect", { x: middle - thick / 2, width: thick, y: y(top), height: Math.max(0.5, y(from) - y(top)), style: { fill: kind.look } }) : null;
  });
  const said = () => [`${key}: ${money(sum(key))}`, ...kinds.filter((kind) => value(kind) > 0).map((kind) => `${visible(kind.said)} ${money(value(kind))}`)].join("\n");
  const canFilter = stretch.said !== "hour" && own.size > 0;
  return draw("g", { tabindex: own.size > 0 ? "0" : null, role: canFilter ? "button" : "img", "aria-label": `${key}: ${money(sum(key))}`, tip: said, on: canFilter ? pressable(() => setFilter(stretch.said, key)) : {} },
    draw("rect", { class: chosen.filters[stretch.said] === key ? "chosen" : "hit", x: middle - slot / 2, width: slot, y: 8, height: DAY_HEIGHT - 8 }), ...pieces,
    label ? draw("text", { x: middle, y: DAY_HEIGHT + 17, "text-anchor": "middle" }, stretch.said === "hour" ? key.slice(5) : key.slice(5)) : null);
};
