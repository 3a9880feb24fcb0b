// Sessions within projects as areas by dollars; the darker, the more of it was avoidable.

const MAP_HEIGHT = 260;

// Rectangles for values in falling order, as square as possible (Bruls, Huizing, van Wijk: Squarified Treemaps, 2000).
const squarified = (values, box) => {
  const total = values.reduce((sum, value) => sum + value, 0), found = [];
  if (total <= 0 || box.w <= 0 || box.h <= 0) return values.map(() => null);
  const scale = (box.w * box.h) / total;
  let rest = { ...box }, at = 0;
  while (at < values.length) {
    const side = Math.min(rest.w, rest.h);
    let row = [], worst = Infinity;
    while (at + row.length < values.length) {
      const next = [...row, values[at + row.length] * scale];
      const sum = next.reduce((all, area) => all + area, 0);
      const ratio = Math.max(...next.map((area) => Math.max((side * side * area) / (sum * sum), (sum * sum) / (side * side * area))));
      if (ratio > worst) break;
      row = next;
      worst = ratio;
    }
    if (row.length === 0) row = [values[at] * scale];
    rest = laidOut(row, rest, side, found);
    at += row.length;
  }
  return found;
};

const laidOut = (row, rest, side, found) => {
  const thick = row.reduce((all, area) => all + area, 0) / side;
  let along = 0;
  for (const area of row) {
    const long = area / thick;
    found.push(rest.w >= rest.h ? { x: rest.x, y: rest.y + along, w: thick, h: long } : { x: rest.x + along, y: rest.y, w: long, h: thick });
    along += long;
  }
  return rest.w >= rest.h ? { x: rest.x + thick, y: rest.y, w: rest.w - thick, h: rest.h } : { x: rest.x, y: rest.y + thick, w: rest.w, h: rest.h - thick };
};

const shade = (part) => `color-mix(in srgb, var(--missed) ${Math.round(Math.min(1, Math.max(0, part)) * 88)}%, var(--line))`;

const treemap = (width, sums) => {
  const value = (sum) => (chosen.whatIf >= 0 ? sum.other : sum.usd);
  const priced = sums.filter((sum) => value(sum) > 0);
  if (priced.length < 2) return null;
  const projects = new Map();
  priced.forEach((sum) => projects.set(sum.project, [...(projects.get(sum.project) || []), sum]));
  const folders = [...projects].map(([project, own]) => ({ project, own: own.sort((a, b) => value(b) - value(a)), usd: own.reduce((all, sum) => all + value(sum), 0) })).sort((a, b) => b.usd - a.usd);
  const boxes = squarified(folders.map((folder) => folder.usd), { x: 0, y: 0, w: width, h: MAP_HEIGHT });
  const head = folders.length > 1 ? 16 : 0;
  const cells = folders.flatMap((folder, at) => {
    const box = boxes[at];
    const titled = head > 0 && box.w > 60 && box.h > 34;
    const inner = { x: box.x + 1, y: box.y + (titled ? head : 1), w: box.w - 2, h: box.h - (titled ? head : 1) - 1 };
    const title = titled ? draw("text", { class: "strong", x: box.x + 3, y: box.y + 12 }, shortened(folderName(folder.project), Math.floor(box.w / 7))) : null;
    return [title, ...squarified(folder.own.map(value), inner).map((rect, place) => rect && cell(folder.own[place], rect, value, head))];
  });
  return [draw("svg", { width, height: MAP_HEIGHT, role: "group", "aria-label": "Sessions by dollars" }, ...cells.filter(Boolean)),
    el("p", { class: "aside" }, "Area: dollars. Colour: how large a share was avoidable.")];
};

const folderName = (project) => (project === null ? "unknown" : String(project).split(/[\\/]/).filter(Boolean).pop() || String(project));

const cell = (sum, { x, y, w, h }, value, head) => {
  const part = sum.usd > 0 ? sum.avoidable / sum.usd : 0;
  const said = `${visible(sum.id)}\n${visible(sum.project ?? "")}\n${money(value(sum))}, ${plural(sum.rows.length, "request")}\navoidable ${money(sum.avoidable)} (${share(part)})`;
  const fits = w > 44 && h > 18;
  return draw("g", { tabindex: "0", role: "button", "aria-label": said.replaceAll("\n", ", "), tip: said, on: pressable(() => openSession(sum.id)) },
    draw("rect", { class: "cell", x, y, width: Math.max(0, w), height: Math.max(0, h), style: { fill: shade(part) } }),
    fits ? draw("text", { class: part > 0.45 ? "on" : "strong", x: x + 5, y: y + 14 }, w > 110 ? `${money(value(sum))}  ${shortened(head > 0 || !isUuid(sum.id) ? labelOf(sum.id, sum.project) : sum.id.slice(0, 8), Math.max(4, Math.floor((w - 70) / 7)))}` : money(value(sum))) : null);
};
