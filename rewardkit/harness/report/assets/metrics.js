// One task's figures in one run: the headline, its rates, failures, groups and lengths.

function metric(task, name) {
  return task.metrics.find(([own]) => own === name)?.[1] ?? null;
}

const AT_K = /^(pass|maj)@(\d+)$/;

function headline(task) {
  const accuracy = metric(task, "accuracy");
  const facts = [
    ["95% interval", accuracy && `${interval(accuracy)}`],
    ["problems", whole(task.samples)],
    ["completions", task.completions === task.samples ? null : whole(task.completions)],
    ["accuracy, flexible", share(task, "accuracy_flexible")],
    ["right in another form only", share(task, "flexible_gap")],
    ["unfinished", share(task, "unfinished_rate")],
  ].filter(([, value]) => value !== null);
  const value = accuracy
    ? make("p", { class: "value", "aria-label": `accuracy ${percent(accuracy.value)}` },
      (100 * accuracy.value).toFixed(1), make("small", {}, "%"))
    : make("p", { class: "value" }, "–");
  return make("div", { class: "headline" },
    make("div", {}, make("p", { class: "dim small" }, "accuracy"), value),
    make("dl", {}, ...facts.map(([name, told]) =>
      make("div", {}, make("dt", {}, name), make("dd", {}, told)))));
}

function share(task, name) {
  const figure = metric(task, name);
  return figure && percent(figure.value);
}

// One sentence on what was cut off and one on what could not be judged, over all the runs.
function warnings(told) {
  return [["truncated", "cut off, or never out of their thinking"], ["errors", "not judged, and left out of the means"]]
    .map(([field, what]) => {
      const found = told.filter(({ task }) => task[field]).map(({ task, runName }) =>
        `${whole(task[field])} of ${many(task.completions, "completion")}${runName === null ? "" : ` (${visible(runName)})`}`);
      return found.length ? make("p", { class: "warning" }, `${listed(found)}: ${what}.`) : null;
    }).filter(Boolean);
}

const MOST_LISTED = 4;

function listed(words) {
  const rest = words.length - MOST_LISTED;
  return words.slice(0, MOST_LISTED).join(", ") + (rest > 0 ? ` and ${many(rest, "run")} more` : "");
}

function ratesCard(task) {
  const rows = task.metrics.filter(([name]) => !AT_K.test(name)).map(([name, figure]) => ({
    label: metricName(name), kind: rateKind(name), ...figure, number: percent(figure.value),
    hover: `${visible(metricName(name))}: ${percent(figure.value)}\n95% interval ${interval(figure)}\nover ${many(figure.count, "completion")}`,
  }));
  return card("Rates", bars(`Rates of ${task.name} with 95% intervals`, rows),
    make("p", { class: "note" }, "Shares of completions; whiskers are 95% intervals."));
}

function rateKind(name) {
  return new Map([["unfinished_rate", "truncated"], ["error_rate", "wrong"], ["flexible_gap", "series-4"],
    ["accuracy", "right"], ["accuracy_flexible", "right"]]).get(name) ?? "series-5";
}

function failuresCard(task, runName) {
  if (!task.failures.length) return null;
  const sorted = [...task.failures].sort(([, one], [, other]) => other - one);
  const link = (failure) => address("samples", samplesOf(task, runName, { failure }));
  const rows = sorted.map(([failure, number]) => ({
    label: failure.replaceAll("_", " "), kind: failure === "truncated" ? "truncated" : failure === "error" ? "unjudged" : "wrong",
    value: number, number: `${whole(number)} · ${percent(number / task.completions)}`, href: link(failure),
    hover: `${visible(failure)}: ${whole(number)} of ${many(task.completions, "completion")}\nclick to read them`,
  }));
  return card("Failures by kind", bars(`Failures of ${task.name}`, rows, sorted[0][1]),
    ...task.examples.map(([failure, keys]) => make("p", { class: "note" }, `${visible(failure).replaceAll("_", " ")}: `,
      ...keys.flatMap((key, place) => [place ? ", " : null, make("a", {
        href: address("samples", samplesOf(task, runName, { sample: key })) }, named(oneLine(key, 48)))]))));
}

function samplesOf(task, runName, chosen) {
  const query = new URLSearchParams();
  if (page.runs.length > 1 && runName !== null) query.set("run", runName);
  if (table.tasks.length > 1) query.set("task", task.name);
  for (const [name, value] of Object.entries(chosen)) query.set(name, value);
  return query;
}

const LENGTH_KINDS = new Map([["correct", "right"], ["wrong", "wrong"], ["truncated", "truncated"], ["unjudged", "unjudged"]]);

function lengthsCard(told) {
  const rows = told.flatMap(({ task, runName }) => task.lengths.map(([outcome, figure]) => ({
    ...figure, outcome, label: runName === null ? outcome : `${outcome} · ${runName}`,
    kind: LENGTH_KINDS.get(outcome) ?? "series-5",
    hover: `${visible(outcome)}: ${many(figure.count, "completion")}\nmean ${short(figure.mean)}, median ${short(figure.median)}\np95 ${short(figure.p95)}, longest ${short(figure.maximum)}`,
  })));
  if (!rows.length) return null;
  const order = [...new Set(rows.map((one) => one.outcome))];
  rows.sort((one, other) => order.indexOf(one.outcome) - order.indexOf(other.outcome));
  const numbers = rows.map((one) => [one.label, whole(one.count),
    ...[one.mean, one.median, one.p95, one.maximum].map((value) => short(Number(value.toFixed(1))))]);
  const drawn = told.length > MOST_BARS ? rows.filter((one) => one.outcome === "all") : rows;
  return (told.length > 1 ? wideCard : card)("Lengths by outcome", spans("Completion lengths in tokens by outcome", drawn),
    make("p", { class: "note" }, "The dot is the median; the thick line ends at the 95th percentile, the thin one at the longest."),
    make("details", { class: "small", open: told.length === 1 }, make("summary", {}, "Numbers"),
      plainTable(["outcome", "count", "mean", "median", "p95", "longest"], numbers, [1, 2, 3, 4, 5])));
}

function groupsCards(told) {
  const columns = [...new Set(told.flatMap(({ task }) => task.groups.map(([column]) => column)))];
  return columns.map((column) => {
    const rows = told.flatMap(({ task, runName, place }) =>
      (task.groups.find(([own]) => own === column)?.[1] ?? []).map(([group, figure]) => ({
        ...figure, group, place, label: `${group || "(none)"}${runName === null ? "" : ` · ${runName}`}`, kind: `series-${place % 8}`,
        number: percent(figure.value), hover: `${visible(group)}: ${percent(figure.value)}\n95% interval ${interval(figure)}\nover ${many(figure.count, "completion")}`,
      })));
    const order = [...new Set(rows.map((one) => one.group))];
    if (told.length > MOST_BARS) return groupsTable(column, order, rows, told);
    rows.sort((one, other) => order.indexOf(one.group) - order.indexOf(other.group));
    return card(`Accuracy by ${column}`, bars(`Accuracy by ${column}`, rows));
  });
}

const MOST_BARS = 3;

function groupsTable(column, order, rows, told) {
  const cells = order.map((group) => [group || "(none)", ...told.map(({ place }) =>
    rows.find((one) => one.group === group && one.place === place)?.number ?? "–")]);
  return wideCard(`Accuracy by ${column}`, plainTable(["", ...told.map(({ runName }) => runName)], cells,
    told.map((_, place) => place + 1)));
}
