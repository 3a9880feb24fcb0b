// The bill as a strip, and under it what was avoidable, by cause.

const PARTS = [
  { key: "read", look: "read", said: "Reading the context again", brief: "Reading", column: "read_usd", tokens: "cache_read_input_tokens" },
  { key: "written", look: "written", said: "Writing to the cache", brief: "Writing", column: "write_usd", tokens: "cache_creation_input_tokens" },
  { key: "answer", look: "answer", said: "Answers", brief: "Answers", column: "output_usd", tokens: "output_tokens" },
  { key: "input", look: "input", said: "Input without the cache", brief: "Fresh", column: "input_usd", tokens: "input_tokens" },
  { key: "fees", look: "fees", said: "Fees", brief: "Fees", column: "fees_usd", tokens: null },
];

const columnOf = Object.fromEntries(PARTS.map((part) => [part.key, part.column]));

// A part of the bill of one request, in dollars.
const partOf = (key, row) => {
  if (!requests.get("counted", row)) return 0;
  if (key === "written") return (requests.get("write_5m_usd", row) || 0) + (requests.get("write_1h_usd", row) || 0);
  return requests.get(columnOf[key], row) || 0;
};

// The sums of the report, which are exact.
const spent = (spending) => PARTS.map((part) => ({
  ...part, usd: part.key === "written" ? spending.write_5m_usd + spending.write_1h_usd : spending[part.column],
}));

const drawBill = () => {
  const place = chapter("bill");
  const { totals } = report;
  if (!place || !totals.spending) return;
  const bill = totals.recorded.cost_usd ?? (totals.predicted && totals.predicted.cost_usd);
  if (!bill) return;
  const parts = spent(totals.spending).filter((part) => part.usd > 0);
  const strip = el("div", { class: "stripe", role: "img", "aria-label": `The bill: ${parts.map((part) => `${part.said} ${money(part.usd)}`).join(", ")}` },
    ...parts.map((part) => el("div", {
      class: part.look, style: { flex: `${part.usd / bill} 1 0` }, tip: `${part.said}\n${money(part.usd)}, ${share(part.usd / bill)} of the bill`,
    })));
  place.show(strip, legend(parts.map((part) => [part.look, `${part.said} ${share(part.usd / bill)}`])), other(bill));
  const causes = avoidable(bill);
  if (causes && !place.section.querySelector(".wide")) {
    const wide = el("div", { class: "wide" });
    place.text.replaceWith(wide);
    wide.append(place.text, causes);
  }
};

// The sum under the chosen what-if.
const other = (bill) => {
  const line = el("p", { class: "of-which", role: "status" });
  watch(() => {
    const found = report.totals.what_if[chosen.whatIf];
    line.hidden = !found;
    if (!found) return;
    line.replaceChildren(el("span", {}, "With ", el("strong", {}, name(found.name)), ` it would have been ${money(found.cost_usd)} instead of ${money(bill)} (${deviation(found.delta_share)}). `,
      el("button", { type: "button", on: { click: () => change({ whatIf: -1 }) } }, "As billed")));
  });
  return line;
};

const avoidable = (bill) => {
  const { totals } = report;
  if (totals.perfect_cost_usd === null || totals.causes.length === 0) return null;
  const saved = bill - totals.perfect_cost_usd;
  const most = Math.max(...totals.causes.map((cause) => cause.cost_usd || 0), 1e-12);
  return el("div", { class: "picture" },
    el("div", { class: "stripe low", "aria-hidden": "true" },
      el("div", { class: "missed", style: { flex: `${saved / bill} 1 0` }, tip: `Avoidable: ${money(saved)}, ${share(saved / bill)} of the bill` }),
      el("div", { style: { flex: `${Math.max(0, 1 - saved / bill)} 1 0`, background: "var(--grid)" } })),
    el("h3", {}, `Avoidable ${money(saved)}, by cause`),
    el("ul", { class: "causes" }, ...totals.causes.map((cause) => el("li", {}, el("button", {
      type: "button", "aria-label": `${cause.cause}: ${money(cause.cost_usd)}; show its requests`,
      tip: () => (meanings[cause.cause] ? meanings[cause.cause].meaning : cause.cause),
      on: { click: () => { change({ filters: { cause: cause.cause } }); go("misses"); } },
    }, el("span", {}, cause.cause), el("span", { class: "n" }, money(cause.cost_usd)),
    el("span", { class: "n" }, plural(cause.requests, "request").replace(" requests", "×").replace(" request", "×")),
    el("span", { class: "bar", style: { width: `${Math.max(0.4, ((cause.cost_usd || 0) / most) * 100)}%` } }))))));
};

const go = (id) => {
  const target = byId(id);
  if (!target || target.hidden) return;
  hideTip();
  target.scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
};
