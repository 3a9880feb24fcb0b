// A fan-out or a sweep: cost against time with the frontier, and cost by each number that varies, in small multiples.

const NUMBERS = ["children", "prefix_tokens", "tail_tokens", "directive_tokens", "turns", "growth_tokens", "waiting"];
const WORDS = ["launch", "breakpoints", "kind", "parent", "ttl", "head_ttl", "last_turn", "model", "profile", "cache"];
const OPTIONS = { prefix_tokens: "prefix", tail_tokens: "tail", directive_tokens: "directive", growth_tokens: "growth", head_ttl: "head-ttl", last_turn: "last-turn" };
const DASHES = ["", "7 4", "2 3", "9 3 2 3", "12 4", "1 5"];

const distinct = (rows, key) => [...new Set(rows.map((row) => JSON.stringify(row[key])))].map((text) => JSON.parse(text));
const varying = (rows, keys) => keys.filter((key) => distinct(rows, key).length > 1);
const spoken = (key) => key.replace("_tokens", "").replaceAll("_", " ");

// The command that repeats a cell.
const commandOf = (row) => `forkcast fanout ${[...NUMBERS, "launch", "breakpoints", "parent", "ttl", "head_ttl", "last_turn", "model", "profile", "cache"]
  .filter((key) => row[key] !== null && row[key] !== undefined).map((key) => `--${OPTIONS[key] || key} ${row[key]}`).join(" ")}${row.kind === "spawn" ? " --against spawn" : ""}`;

const saidOfCell = (row, keys) => [keys.map((key) => `${spoken(key)} ${row[key]}`).join(", ") || "the only cell",
  row.children_cost_usd === undefined ? money(row.total_cost_usd) : `${money(row.total_cost_usd)} with the parent, children ${money(row.children_cost_usd)}`, `${span(row.makespan_ms)}, hit rate ${share(row.hit_rate)}`].join("\n");

// Cells are ranked by all requests, the parent's too, as in the table and in the plots of `--out`.
const withParent = (rows) => ({ title: "Cost of the children and of their parent", rows: rows.map((row) => ({ ...row, children_cost_usd: row.cost_usd, cost_usd: row.total_cost_usd })) });

const drawFanout = (fanout) => {
  const { title, rows } = withParent(fanout.rows.filter((row) => row.total_cost_usd !== null));
  drawGrid(rows.map((row) => ({ ...row, head_ttl: row.head_ttl ?? "same", last_turn: row.last_turn ?? "marked" })), NUMBERS, WORDS, commandOf, title);
};

// The axes of a sweep are its parameters, numbers or words; a scenario has one cost.
const drawSweep = (sweep) => {
  const isNumber = (axis) => axis.values.every((value) => value.trim() !== "" && Number.isFinite(Number(value)));
  const numbers = sweep.axes.filter(isNumber).map((axis) => axis.path), words = sweep.axes.filter((axis) => !isNumber(axis)).map((axis) => axis.path);
  const all = sweep.rows.filter((row) => row.cost_usd !== null).map((row) => ({
    ...row, ...Object.fromEntries(Object.entries(row.set).map(([path, value]) => [path, numbers.includes(path) ? Number(value) : value])),
  }));
  const isFanout = sweep.subject === "fanout", { title, rows } = isFanout ? withParent(all) : { title: "Cost", rows: all.map((row) => ({ ...row, total_cost_usd: row.cost_usd })) };
  const option = ([path, value]) => (path === "no-window" ? "--no-window" : `--${path} ${value}`), isDefault = ([path, value]) => (path === "against" && value === "fork") || (path === "no-window" && value !== "true");
  const said = ({ set }) => (isFanout ? ["forkcast fanout", ...Object.entries(set).filter((one) => !isDefault(one)).map(option)].join(" ")
    : `forkcast run ${sweep.subject} ${Object.entries(set).map(([path, value]) => `--set ${path}=${value}`).join(" ")}`);
  drawGrid(rows, numbers, words, said, title);
};

// Small multiples by the numbers that vary, and cost against time.
const drawGrid = (all, numberKeys, wordKeys, saidOf, title) => {
  const place = chapter("cells"), rows = all.filter((row) => row.unanswered_requests === 0);
  if (!place || rows.length === 0) return;
  const numbers = varying(rows, numberKeys), words = varying(rows, wordKeys), keys = [...numbers, ...words];
  const command = el("p", { class: "aside", role: "status" }, "Choose a point to see the command that repeats it.");
  const choose = (row) => command.replaceChildren("This cell again: ", el("code", {}, visible(saidOf(row))));
  const parts = [];
  if (numbers.length > 0) parts.push(el("h3", {}, `${title}, by ${spoken(numbers[0])}`), multiples(rows, numbers, words, choose));
  if (rows.length > 1) parts.push(el("h3", {}, "Cost against time"), fitted(el("div"), (width) => frontier(width, rows, numbers, keys, choose), 300),
    el("p", { class: "aside" }, "A line joins the cells with the same work that no other one beats in both; all requests, the parent's too."));
  place.show(...parts, command);
};

// Lines by the values of words; those that are the same everywhere are one line with all their names.
const merged = (rows, words, numbers) => {
  const named = (row) => words.map((key) => row[key]).join(", ") || "all";
  const shapes = new Map();
  rows.forEach((row) => shapes.set(named(row), [...(shapes.get(named(row)) || []), `${numbers.map((key) => row[key])}=${row.cost_usd}`]));
  const byShape = new Map();
  shapes.forEach((shape, line) => { const key = shape.sort().join(";"); byShape.set(key, [...(byShape.get(key) || []), line]); });
  const label = new Map([...byShape.values()].flatMap((same) => same.map((line) => [line, same.join("  =  ")])));
  return { lines: [...new Set(label.values())], lineOf: (row) => label.get(named(row)) };
};

// A small picture for each combination of further numbers, a line for each combination of words.
const multiples = (rows, [x, ...facets], words, choose) => {
  const facetOf = (row) => facets.map((key) => `${spoken(key)} ${count(row[key])}`).join(", ");
  const groups = [...new Set(rows.map(facetOf))].slice(0, 12), { lines, lineOf } = merged(rows, words, [x, ...facets]);
  const most = Math.max(...rows.map((row) => row.cost_usd));
  const looks = new Map(lines.map((line, at) => [line, { hue: HUES[at % HUES.length], dash: DASHES[Math.floor(at / HUES.length) % DASHES.length] }]));
  const grid = el("div", { style: { display: "grid", gap: "1rem", gridTemplateColumns: `repeat(auto-fit, minmax(min(100%, ${groups.length > 1 ? 260 : 520}px), 1fr))` } });
  groups.forEach((group) => {
    const own = rows.filter((row) => facetOf(row) === group);
    grid.append(el("div", {}, group ? el("p", { class: "aside" }, group) : null, fitted(el("div"), (width) => small(width, own, [x, ...words], lineOf, looks, most, choose))));
  });
  return el("div", {}, lines.length > 1 ? legend(lines.map((line) => [looks.get(line).hue, line])) : null, grid);
};

const small = (width, rows, [x, ...words], lineOf, looks, most, choose) => {
  const height = 210, left = 58, bottom = 34, values = distinct(rows, x).sort((a, b) => a - b);
  const isWide = values.at(-1) > 40 * Math.max(1, values[0]);
  const of = (value) => (isWide ? Math.log(Math.max(1, value)) : value);
  const from = of(values[0]), to = of(values.at(-1)), at = (value) => left + 10 + ((width - left - 24) * (of(value) - from)) / (to - from || 1);
  const y = (usd) => 8 + (height - 8) * (1 - usd / (most * 1.05));
  const grid = ticks(most, 4).flatMap((usd) => [draw("line", { class: usd ? "grid" : "axis", x1: left, x2: width, y1: y(usd), y2: y(usd) }), draw("text", { x: left - 8, y: y(usd) + 4, "text-anchor": "end" }, axisMoney(usd))]);
  let free = 0;
  const names = values.map((value) => { const place = at(value); if (place < free) return null; free = place + 34; return draw("text", { x: place, y: height + 16, "text-anchor": "middle" }, short(value)); });
  const lines = [...looks].flatMap(([line, look]) => {
    const own = rows.filter((row) => lineOf(row) === line).sort((a, b) => a[x] - b[x]);
    if (own.length === 0) return [];
    const path = own.map((row, place) => `${place ? "L" : "M"}${at(row[x])} ${y(row.cost_usd)}`).join("");
    return [draw("path", { d: path, fill: "none", style: { stroke: look.hue, strokeWidth: 2, strokeDasharray: look.dash } }), ...own.map((row) => point(row, at(row[x]), y(row.cost_usd), look.hue, [x, ...words], choose))];
  });
  return draw("svg", { width, height: height + bottom, role: "group", "aria-label": `Cost by ${spoken(x)}` }, ...grid, ...names.filter(Boolean), ...lines,
    draw("text", { x: width, y: height + 31, "text-anchor": "end" }, spoken(x) + (isWide ? ", logarithmic" : "")));
};

const point = (row, x, y, hue, keys, choose) => draw("circle", {
  cx: x, cy: y, r: 4.5, tabindex: "0", role: "button", "aria-label": saidOfCell(row, keys).replaceAll("\n", ", "), style: { fill: hue, stroke: "var(--paper)", strokeWidth: 1.5 },
  tip: () => saidOfCell(row, keys), on: pressable(() => choose(row)),
});

// The cells that no other one beats in cost and time.
const unbeaten = (rows) => [...rows].sort((a, b) => a.makespan_ms - b.makespan_ms || a.total_cost_usd - b.total_cost_usd)
  .reduce((found, row) => (found.length === 0 || row.total_cost_usd < found.at(-1).total_cost_usd ? [...found, row] : found), []);

const frontier = (width, rows, numbers, keys, choose) => {
  const height = 260, left = 62, bottom = 40, times = rows.map((row) => row.makespan_ms), costs = rows.map((row) => row.total_cost_usd);
  const longest = Math.max(...times, 1), most = Math.max(...costs, 1e-9);
  const x = (ms) => left + (width - left - 16) * (ms / (longest * 1.03)), y = (usd) => 8 + (height - 8) * (1 - usd / (most * 1.05));
  const works = new Map();
  rows.forEach((row) => { const work = String(numbers.map((key) => row[key])); works.set(work, [...(works.get(work) || []), row]); });
  const fronts = [...works.values()].map(unbeaten), best = fronts.flat();
  const line = fronts.map((front) => front.map((row, at) => `${at ? "L" : "M"}${x(row.makespan_ms)} ${y(row.total_cost_usd)}`).join("")).join("");
  const grid = [...ticks(most, 4).flatMap((usd) => [draw("line", { class: usd ? "grid" : "axis", x1: left, x2: width, y1: y(usd), y2: y(usd) }), draw("text", { x: left - 8, y: y(usd) + 4, "text-anchor": "end" }, axisMoney(usd))]),
    ...ticks(longest, width < 500 ? 3 : 6).map((ms) => draw("text", { x: x(ms), y: height + 17, "text-anchor": "middle" }, span(ms)))];
  const isBest = new Set(best);
  return draw("svg", { width, height: height + bottom, role: "group", "aria-label": "Cost against time" }, ...grid,
    draw("path", { d: line, fill: "none", style: { stroke: "var(--accent)", strokeWidth: 1.5 } }),
    ...[...rows.filter((row) => !isBest.has(row)), ...best].map((row) => point(row, x(row.makespan_ms), y(row.total_cost_usd), isBest.has(row) ? "var(--accent)" : "var(--faint)", keys, choose)),
    draw("text", { x: width, y: height + 34, "text-anchor": "end" }, "from start to end"));
};
