// The names of outcomes and figures, and how numbers are written.

const OUTCOMES = [
  { word: "right", sign: "✓" },
  { word: "wrong", sign: "✕" },
  { word: "unjudged", sign: "?" },
];
const TRUNCATED = { word: "truncated", sign: "…" };

// The words for the key of a metric, a count, a failure or a length, as the terminal prints them.
function words(key) {
  return Object.hasOwn(page.words, key) ? page.words[key] : key;
}

// A reward may have the name of another figure, such as accuracy.
function rewardWords(name) {
  return name.includes("reward") ? name : `${name} reward`;
}

function percent(value) {
  return `${(100 * value).toFixed(1)}%`;
}

function interval(figure) {
  return `${(100 * figure.low).toFixed(1)} – ${percent(figure.high)}`;
}

// An interval of numbers that are not shares.
function bounds({ low, high }) {
  return `${rounded(low)} – ${rounded(high)}`;
}

function integer(value) {
  return value.toLocaleString("en");
}

// Whole numbers in full, others to four significant digits, tiny ones with an exponent.
function rounded(value) {
  if (!Number.isFinite(value)) return "–";
  if (value && Math.abs(value) < 0.001) return Number(value.toPrecision(4)).toExponential();
  return Number.isInteger(value) ? integer(value) : String(Number(value.toPrecision(4)));
}

function plural(number, noun) {
  return `${integer(number)} ${noun}${number === 1 ? "" : "s"}`;
}
