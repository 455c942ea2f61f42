// One task's rates: the headline, the warnings, a bar for each.

const AT_K = /^(pass|maj)@(\d+)$/;

function metric(task, name) {
  return task.metrics.find(([own]) => own === name)?.[1] ?? null;
}

function share(task, name) {
  const figure = metric(task, name);
  return figure && percent(figure.value);
}

function headline(task) {
  const accuracy = metric(task, "accuracy");
  const facts = [
    ["95% interval", accuracy && interval(accuracy)],
    ["problems", whole(task.samples)],
    ["completions", task.completions === task.samples ? null : whole(task.completions)],
    ["accuracy, flexible", share(task, "accuracy_flexible")],
    ["right in another form only", share(task, "flexible_gap")],
    ["unfinished", share(task, "unfinished_rate")],
  ].filter(([, value]) => value !== null);
  const value = accuracy
    ? make("p", { class: "value", "aria-label": `accuracy ${percent(accuracy.value)}` },
      (100 * accuracy.value).toFixed(1), make("small", {}, "%"))
    : make("p", { class: "value none" }, "not known");
  return make("div", { class: "headline" },
    make("div", {}, make("p", { class: "dim small" }, "accuracy"), value),
    make("dl", {}, ...facts.map(([name, told]) =>
      make("div", {}, make("dt", {}, name), make("dd", {}, told)))));
}

// What is warned of: how many completions, out of how many, and what is the matter with them.
const WARNED = [
  [(task) => (task.completions < task.wanted ? task.completions : 0), "wanted",
    "the run hasn't ended, these are its figures so far"],
  [(task) => task.truncated, "completions", "cut off, or never out of their thinking"],
  [(task) => task.errors, "completions", "not judged, and left out of the means"],
];
const MOST_LISTED = 4;

// A sentence on each, over all the runs.
function warnings(told) {
  return WARNED.map(([countOf, total, what]) => {
    const found = told.filter(({ task }) => countOf(task)).map(({ task, runName }) => {
      const who = runName === null ? "" : ` (${visible(runName)})`;
      return `${whole(countOf(task))} of ${many(task[total], "completion")}${who}`;
    });
    return found.length ? make("p", { class: "warning" }, `${listed(found)}: ${what}.`) : null;
  }).filter(Boolean);
}

function listed(words) {
  const rest = words.length - MOST_LISTED;
  return words.slice(0, MOST_LISTED).join(", ") + (rest > 0 ? ` and ${many(rest, "run")} more` : "");
}

// A rate as a bar's row.
function rateBar(label, kind, figure) {
  const number = percent(figure.value);
  const hover = `${visible(label)}: ${number}\n95% interval ${interval(figure)}\n`
    + `over ${many(figure.count, "completion")}`;
  return { label, kind, number, hover, ...figure };
}

const RATE_KINDS = new Map([
  ["accuracy", "right"], ["accuracy_flexible", "right"], ["flexible_gap", "series-4"],
  ["unfinished_rate", "truncated"], ["error_rate", "wrong"],
]);

function ratesCard(task) {
  const rows = task.metrics.filter(([name]) => !AT_K.test(name)).map(([name, figure]) =>
    rateBar(metricName(name), RATE_KINDS.get(name) ?? "series-5", figure));
  return card("Rates", bars(`Rates of ${task.name} with 95% intervals`, rows),
    note("Shares of completions, and means of scores from 0 to 1; whiskers are 95% intervals."));
}
