// The names of outcomes and metrics, and how numbers are written.

const OUTCOMES = [
  { word: "right", sign: "✓" },
  { word: "wrong", sign: "✕" },
  { word: "unjudged", sign: "?" },
];
const TRUNCATED = { word: "truncated", sign: "…" };

const METRIC_NAMES = new Map([
  ["accuracy", "accuracy, strict"],
  ["accuracy_flexible", "accuracy, flexible"],
  ["flexible_gap", "right in another form only"],
  ["score", "mean score"],
  ["format_rate", "in the requested form"],
  ["unfinished_rate", "unfinished"],
  ["error_rate", "finished and wrong"],
  ["accuracy_finished", "accuracy where finished"],
  ["accuracy_truncated", "accuracy where truncated"],
  ["thinking_unclosed_rate", "thinking never closed"],
  ["seed_spread", "spread between seeds"],
]);

function metricName(name) {
  if (METRIC_NAMES.has(name)) return METRIC_NAMES.get(name);
  return name.startsWith("part_") ? `part ${name.slice(5)}` : spaced(name);
}

function percent(value) {
  return `${(100 * value).toFixed(1)}%`;
}

function interval(figure) {
  return `${(100 * figure.low).toFixed(1)} – ${percent(figure.high)}`;
}

// An interval of numbers that are no shares.
function bounds({ low, high }) {
  return `${rounded(low)} – ${rounded(high)}`;
}

function integer(value) {
  return value.toLocaleString("en");
}

// Whole numbers in full, others to four significant digits.
function rounded(value) {
  if (!Number.isFinite(value)) return "–";
  return Number.isInteger(value) ? integer(value) : String(Number(value.toPrecision(4)));
}

function spaced(name) {
  return name.replaceAll("_", " ");
}

function plural(number, noun) {
  return `${integer(number)} ${noun}${number === 1 ? "" : "s"}`;
}
