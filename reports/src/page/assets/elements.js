// Elements of the document. Text is always set as text: no name in a recording is ever read as markup.

const SVG = "http://www.w3.org/2000/svg";

const fill = (node, properties, children) => {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
    else if (name === "style") Object.assign(node.style, value);
    else if (name === "tip") tipped(node, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
};

const el = (name, properties = {}, ...children) => fill(document.createElement(name), properties, children);
const draw = (name, properties = {}, ...children) => fill(document.createElementNS(SVG, name), properties, children);
const byId = (id) => document.getElementById(id);

// Text of unknown direction, with hidden characters written out as in every report.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const WRITTEN = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0" };
const visible = (text) => String(text).replace(HIDDEN, (c) => WRITTEN[c] || `\\u{${c.codePointAt(0).toString(16)}}`);
const name = (text) => el("bdi", {}, visible(text));

const shortened = (text, longest) => {
  const seen = visible(text);
  const letters = [...seen];
  if (letters.length <= longest) return seen;
  const head = Math.ceil((longest - 1) / 2);
  return letters.slice(0, head).join("") + "…" + letters.slice(letters.length - (longest - 1 - head)).join("");
};

// One box for all explanations, for the pointer and for the keyboard.
const tip = byId("tip");
const showTip = (text, x, y) => {
  tip.textContent = text;
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(x + 12, innerWidth - width - 8))}px`;
  tip.style.top = `${y + 18 + height > innerHeight ? Math.max(4, y - height - 10) : y + 18}px`;
};
const hideTip = () => { tip.hidden = true; };
const tipped = (node, said) => {
  const text = () => (typeof said === "function" ? said() : said);
  node.addEventListener("pointermove", (event) => showTip(text(), event.clientX, event.clientY));
  node.addEventListener("pointerleave", hideTip);
  node.addEventListener("focus", () => {
    const { left, bottom } = node.getBoundingClientRect();
    showTip(text(), left, bottom - 10);
  });
  node.addEventListener("blur", hideTip);
};

// What a button does, with the keyboard too.
const pressable = (act) => ({
  click: act,
  keydown: (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act(event);
  },
});

const choices = (label, options, chosen, choose) => el("span", { class: "group", role: "group", "aria-label": label },
  ...options.map(([value, text]) => el("button", {
    type: "button", "aria-pressed": String(value === chosen), on: { click: () => choose(value) },
  }, text)));

// The class of a text on a colour.
const textOn = (look) => (!look ? "strong" : look.startsWith("#") ? "on-dark" : look === "missed" ? "on" : look === "written" || look === "input" ? `on-${look}` : "on-part");

const legend = (entries) => el("ul", { class: "legend" },
  ...entries.map(([look, text]) => el("li", {},
    el("i", look.startsWith("#") || look.startsWith("var") ? { style: { background: look } } : { class: look }), name(text))));

// A chapter appears, with its entry in the list of chapters, once something is drawn in it.
const chapter = (id) => {
  const section = byId(id);
  if (!section) return null;
  const picture = section.querySelector(".picture");
  return {
    section, picture, text: section.querySelector(".text"),
    show(...children) {
      picture.replaceChildren(...children.filter(Boolean));
      section.hidden = false;
      const entry = document.querySelector(`nav a[href="#${id}"]`);
      if (entry) entry.hidden = false;
    },
  };
};

// Draws when a place comes near the screen and its width is known, and again when the width changes: a page of 40,000
// requests would otherwise draw for seconds what nobody looks at. Paper needs everything.
const undrawn = new Map();
const near = new IntersectionObserver((entries) => entries.filter((entry) => entry.isIntersecting).forEach(({ target }) => drawNow(target)), { rootMargin: "600px" });
const drawNow = (place) => {
  const paint = undrawn.get(place);
  undrawn.delete(place);
  near.unobserve(place);
  let before = 0;
  const at = (width) => {
    // Beside the frame of a picture there is no room in less: it is drawn once there is.
    if (width < 120 || width === before) return;
    before = width;
    place.style.minHeight = "";
    place.replaceChildren(...[paint(width)].flat().filter(Boolean));
  };
  at(Math.floor(place.clientWidth));
  new ResizeObserver(([{ contentRect }]) => at(Math.floor(contentRect.width))).observe(place);
};
const fitted = (place, paint, height = 100) => {
  undrawn.set(place, paint);
  place.style.minHeight = `${height}px`;
  near.observe(place);
  return place;
};
const drawEverything = () => [...undrawn.keys()].filter((place) => place.isConnected).forEach(drawNow);
addEventListener("beforeprint", drawEverything);
