// Numbers as the reports of the program write them; `reports/src/document/cell.rs` has the same rules.

const grouped = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ",");
const count = (number) => grouped(String(Math.round(number)));

const money = (usd) => {
  if (usd === null || usd === undefined) return "no price";
  if (usd === 0) return "$0";
  const sign = usd < 0 ? "-" : "";
  const amount = Math.abs(usd);
  const cents = Math.round(amount * 100);
  if (cents >= 100) return `${sign}$${grouped(String(Math.floor(cents / 100)))}.${String(cents % 100).padStart(2, "0")}`;
  if (amount < 0.00005) return usd < 0 ? ">-$0.0001" : "<$0.0001";
  return `${sign}$${amount.toFixed(4)}`;
};
const signed = (usd) => (usd > 0 ? `+${money(usd)}` : money(usd));

const percent = (part) => {
  const [whole, tenth] = Math.abs(part * 100).toFixed(1).split(".");
  return `${part < 0 ? "-" : ""}${grouped(whole)}.${tenth} %`;
};
const share = (part) => (part === null || part === undefined || Number.isNaN(part) ? "–" : percent(part));
const deviation = (part) => (part === null || part === undefined ? "–"
  : Math.abs(part) < 0.0005 ? "0.0 %" : `${part > 0 ? "+" : ""}${percent(part)}`);

const MINUTE = 60000, HOUR = 3600000, DAY = 86400000;
const span = (ms) => {
  const tenths = Math.round(ms / 100), seconds = Math.round(ms / 1000), minutes = Math.round(ms / MINUTE);
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (tenths < 600) return `${tenths / 10} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};

const short = (number) => (number >= 1e6 ? `${+(number / 1e6).toFixed(1)}M` : number >= 1e3 ? `${+(number / 1e3).toFixed(1)}k` : String(number));
const plural = (number, thing) => `${count(number)} ${thing}${number === 1 ? "" : "s"}`;

// A step of a scale with about this many lines: 1, 2 or 5 times a power of ten.
const step = (most, lines) => {
  const raw = Math.max(most / lines, 1e-12);
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * ([1, 2, 2.5, 5, 10].find((factor) => power * factor >= raw));
};
const ticks = (most, lines) => {
  const by = step(most, lines), found = [];
  for (let at = 0; at <= most * 1.0001; at += by) found.push(at);
  return found;
};
const axisMoney = (usd) => (usd === 0 ? "$0" : usd >= 1 ? `$${grouped(String(Math.round(usd * 100) / 100))}` : `$${+usd.toFixed(5)}`);
