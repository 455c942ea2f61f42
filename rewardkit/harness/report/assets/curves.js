// Curves: pass@k, pass^k and maj@k over k, and the plots over the steps of a training.

function samplesCurve(taskRuns) {
  const series = taskRuns.flatMap(({ task, runName, runIndex }) => ["pass@", "pass^", "maj@"].map((kind) =>
    [runName === null ? `${kind}k` : `${kind}k · ${runName}`, pointsAtK(task, kind), runName === null ? undefined : runIndex]));
  if (!series.some(([, points]) => points.length > 1)) return null;
  const makeCard = taskRuns.length > 1 ? wideCard : card;
  return plotCard({ title: "Several completions per problem", x_label: "k, completions per problem", y_label: "share of problems",
    y_scale: "share", series, note: "pass@k: at least one of k completions is right. pass^k: all k are. maj@k: the most "
      + "frequent answer of k completions is right. Bands are 95% intervals over problems." }, makeCard);
}

function pointsAtK(task, kind) {
  return task.metrics
    .map(([name, { value, low, high }]) => ({ match: AT_K.exec(name), figure: [value, low, high] }))
    .filter(({ match }) => match?.[1] === kind)
    .map(({ match, figure }) => [Number(match[2]), ...figure])
    .sort(([left], [right]) => left - right);
}

// A plot that the page carries: {title, x_label, y_label, y_scale, series: [[name, points]], note}.
function plotChart({ title, x_label: xLabel, y_label: yLabel, y_scale: yScale, series }) {
  return lineChart({ title, xLabel, yLabel, shares: yScale === "share", series: series.map(([name, points, colour]) =>
    ({ name, colour, points: points.map(([x, y, low, high]) => ({ x, y, low, high })) })) });
}

function plotCard(figure, makeCard) {
  return makeCard(figure.title, plotChart(figure), figure.note ? note(figure.note) : null);
}

// The rates and lengths of a task over the checkpoints of each training.
function checkpointCurves(taskName) {
  return page.curves.filter(({ task }) => task === taskName).flatMap(({ plots }) => plots.map((plot) => plotCard(plot, card)));
}

// The accuracy over the steps of all trainings first, then what each trainer logged: plots of one title are one plot.
function trainingSection() {
  const several = page.trainings.length > 1;
  const entries = page.trainings.flatMap(({ name, plots }, runIndex) => plots.map((figure) => ({ figure, runName: name, runIndex })));
  const signs = page.trainings.flatMap(({ name, signs: own }) => own.map(([step, text, query]) => make("p", { class: "warning" },
    make("span", {}, make("strong", {}, `${several ? `${visible(name)}: s` : "S"}ign at step ${integer(step)}: `), isolated(text),
      query ? ". " : null, query ? make("a", { href: `#samples?${query}` }, "Show completions") : null))));
  if (!entries.length && !signs.length) return null;
  const accuracy = accuracyBySteps();
  const titles = [...new Set(entries.map(({ figure }) => figure.title))];
  return make("section", { class: "task training" }, make("h2", {}, several ? "Trainings" : "Training"), ...signs,
    accuracy ? make("div", { class: "cards" }, accuracy) : null,
    make("div", { class: "cards multiples" }, ...titles.map((title) =>
      figureCard(entries.filter(({ figure }) => figure.title === title).map((entry) => ({ ...entry, runName: several ? entry.runName : null })), card))));
}

// A line for each task and training that has several checkpoints.
function accuracyBySteps() {
  const names = page.trainings.map(({ name }) => name);
  const tasks = new Set(page.curves.map(({ task }) => task));
  const series = page.curves.map(({ task, training, plots: [{ series: rates }] }, index) => [
    [tasks.size > 1 ? task : null, names.length > 1 ? training : null].filter(Boolean).join(" · ") || words("accuracy"),
    rates.find(([name]) => name === words("accuracy"))?.[1] ?? [], names.length > 1 ? names.indexOf(training) : index]);
  return series.length ? plotCard({ title: "Accuracy over the training", x_label: "training step", y_label: "share of completions",
    y_scale: "share", series }, wideCard) : null;
}
