// One task's rates: the headline, the warnings, a bar for each rate.

const AT_K = /^(pass@|pass\^|maj@)(\d+)$/;
const FOLLOWS = /^(avg|cons|m?g-pass)@/;  // these follow from others; summary.json has them

function metricOf(task, name) {
  return task.metrics.find(([own]) => own === name)?.[1] ?? null;
}

function headline(task) {
  const accuracy = metricOf(task, "accuracy");
  const value = accuracy
    ? make("p", { class: "value", "aria-label": `accuracy ${percent(accuracy.value)}` },
      (100 * accuracy.value).toFixed(1), make("small", {}, "%"))
    : make("p", { class: "value none" }, "not known");
  const size = task.completions === task.problems ? "" : `${plural(task.completions, "completion")} of `;
  return make("div", { class: "headline" }, make("div", {}, make("p", { class: "dim small" }, "accuracy"), value),
    make("p", {}, accuracy ? `95% interval ${interval(accuracy)}, ` : "", size, plural(task.problems, "problem"), ". ", firstToKnow(task)));
}

// What explains the accuracy best, where no warning does.
function firstToKnow(task) {
  const gap = metricOf(task, "flexible_gap");
  if (gap?.low > 0.01) return `${percent(gap.value)} more are right if the answer is read flexibly: their form is wrong.`;
  const [failure, number] = task.failures.reduce((most, own) => (own[1] > most[1] ? own : most), ["", 0]);
  return number ? `Most failures: ${words(failure)}, ${percent(number / task.completions)} of the completions.` : "";
}

// Each warning: how many completions it is about, the count they are out of, and the text or the key
// of a text that the page carries.
const WARNINGS = [
  [(task) => (missesSome(task) && !task.isShard ? task.completions : 0), "planned",
    "the run is unfinished; these are its figures so far"],
  [(task) => (missesSome(task) && task.isShard ? task.completions : 0), "planned",
    "a shard of the run"],
  [(task) => task.truncated, "completions", "truncated"],
  [(task) => task.unjudged, "completions", "unjudged"],
];
const MOST_LISTED = 4;

function missesSome(task) {
  return task.completions < task.planned;
}

// One sentence for each warning, over all runs.
function warnings(taskRuns) {
  return WARNINGS.map(([countOf, total, text]) => {
    const counts = taskRuns.filter(({ task }) => countOf(task)).map(({ task, runName }) => {
      const run = runName === null ? "" : ` (${visible(runName)})`;
      return `${integer(countOf(task))} of ${plural(task[total], "completion")}${run}`;
    });
    return counts.length ? make("p", { class: "warning" }, `${enumerated(counts)}: ${page.remarks[text] ?? text}.`) : null;
  }).filter(Boolean);
}

// What looks broken about a run's figures, with one reply.
function broken(taskRuns) {
  return taskRuns.filter(({ task }) => task.broken).map(({ task, runName }) =>
    make("p", { class: "warning" }, runName === null ? "" : `${visible(runName)}: `, visible(task.broken)));
}

function enumerated(items) {
  const rest = items.length - MOST_LISTED;
  return items.slice(0, MOST_LISTED).join(", ") + (rest > 0 ? ` and ${plural(rest, "run")} more` : "");
}

// A rate as a row of a bar chart.
function rateBar(label, kind, figure) {
  const number = percent(figure.value);
  const hover = `${visible(label)}: ${number}\n95% interval ${interval(figure)}\n`
    + `over ${plural(figure.count, "completion")}`;
  return { label, kind, number, hover, ...figure };
}

const RATE_COLOURS = new Map([
  ["accuracy", "right"], ["accuracy_flexible", "right"], ["flexible_gap", "series-4"],
  ["unfinished_rate", "truncated"], ["error_rate", "wrong"],
]);

function ratesCard(task) {
  const rows = foldedRows(task.metrics.filter(([name]) => !isAtK(name)).map(([name, figure]) => ({ name, figures: [figure] })));
  const bars = rows.map(({ name, also, figures: [figure] }) =>
    rateBar([name, ...also].map(words).join(" = "), RATE_COLOURS.get(name) ?? "series-5", figure));
  return card("Rates", barChart(`Rates of ${task.name} with 95% intervals`, bars),
    note("Shares of completions, and means of scores from 0 to 1; whiskers are 95% intervals",
      task.cluster ? " that take the clusters as trials." : "."));
}
