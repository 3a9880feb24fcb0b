// Two results: what each cause, and each part of the bill, added to it or took from it.

const MOVED = { bill: "The bill", work: "All else", read: "Reading the context again", written: "Writing to the cache", input: "Input without the cache", output: "Answers", fees: "Fees" };
const saidOfMove = (moved) => MOVED[moved.what] || moved.what;

const drawCompare = (compare) => {
  const place = chapter("moved");
  if (!place || compare.bill.delta_usd === null) return;
  const part = (title, rows) => el("div", {}, el("h3", {}, title),
    fitted(el("div"), (width) => moves(width, [...rows.filter((moved) => moved.delta_usd), compare.bill])));
  place.show(el("div", { class: "wide" }, part("By cause", compare.causes), part("By what it was spent on", compare.parts)),
    legend([["missed", "dearer"], ["read", "cheaper"]]));
};

const moves = (width, rows) => {
  const left = width < 420 ? 104 : 150, right = 84, high = 30, half = (width - left - right) / 2, middle = left + half;
  const most = Math.max(...rows.map((moved) => Math.abs(moved.delta_usd)), 1e-12);
  const bars = rows.flatMap((moved, at) => {
    const y = at * high, wide = (half * Math.abs(moved.delta_usd)) / most, isDearer = moved.delta_usd > 0;
    const said = `${saidOfMove(moved)}: ${signed(moved.delta_usd)}\n${money(moved.before_usd)} before, ${money(moved.after_usd)} after\n${count(moved.before_tokens)} and ${count(moved.after_tokens)} tokens`;
    return [moved.what === "bill" ? draw("line", { class: "axis", x1: 0, x2: width, y1: y, y2: y }) : null,
      draw("g", { tip: said, tabindex: "0", role: "img", "aria-label": said.replaceAll("\n", ", ") },
        draw("text", { class: "strong", x: 0, y: y + 19 }, shortened(saidOfMove(moved), Math.floor(left / 7.2))),
        draw("rect", { class: isDearer ? "missed" : "read", x: isDearer ? middle : middle - wide, width: Math.max(1, wide), y: y + 5, height: high - 10 }),
        draw("text", { x: width, y: y + 19, "text-anchor": "end" }, signed(moved.delta_usd)))];
  });
  return draw("svg", { width, height: rows.length * high + 2, role: "group", "aria-label": "What moved the bill" },
    draw("line", { class: "axis", x1: middle, x2: middle, y1: 0, y2: rows.length * high }), ...bars.filter(Boolean));
};
