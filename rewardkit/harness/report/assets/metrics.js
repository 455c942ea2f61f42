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

function warnings(task, runName) {
  const who = runName === null ? "" : `${visible(runName)}: `;
  const said = [];
  if (task.truncated) {
    said.push(`${who}${whole(task.truncated)} of ${many(task.completions, "completion")} were cut off or never left their thinking.`);
  }
  if (task.errors) {
    said.push(`${who}${many(task.errors, "completion")} could not be judged and are left out of the means.`);
  }
  return said.map((text) => make("p", { class: "warning" }, text));
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
  const numbers = rows.map((one) => [one.label, whole(one.count),
    ...[one.mean, one.median, one.p95, one.maximum].map((value) => short(Number(value.toFixed(1))))]);
  return card("Lengths by outcome", spans("Completion lengths in tokens by outcome", rows),
    make("p", { class: "note" }, "The dot is the median; the thick line ends at the 95th percentile, the thin one at the longest."),
    plainTable(["outcome", "count", "mean", "median", "p95", "longest"], numbers, [1, 2, 3, 4, 5]));
}

function groupsCards(told) {
  const columns = [...new Set(told.flatMap(({ task }) => task.groups.map(([column]) => column)))];
  return columns.map((column) => {
    const rows = told.flatMap(({ task, runName, place }) =>
      (task.groups.find(([own]) => own === column)?.[1] ?? []).map(([group, figure]) => ({
        ...figure, group, label: `${group || "(none)"}${runName === null ? "" : ` · ${runName}`}`, kind: `series-${place % 8}`,
        number: percent(figure.value), hover: `${visible(group)}: ${percent(figure.value)}\n95% interval ${interval(figure)}\nover ${many(figure.count, "completion")}`,
      })));
    const order = [...new Set(rows.map((one) => one.group))];
    rows.sort((one, other) => order.indexOf(one.group) - order.indexOf(other.group));
    return card(`Accuracy by ${column}`, bars(`Accuracy by ${column}`, rows));
  });
}
