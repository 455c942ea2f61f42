// Curves: pass@k, pass^k and maj@k over k, and the plots over the steps of a training.

function samplesCurve(taskRuns) {
  const series = taskRuns.flatMap(({ task, runName, runIndex }) => ["pass@", "pass^", "maj@"].map((kind) => ({
    name: runName === null ? `${kind}k` : `${kind}k · ${runName}`,
    points: pointsAtK(task, kind),
    colour: runName === null ? undefined : runIndex,
  }))).filter(({ points }) => points.length);
  if (!series.some(({ points }) => points.length > 1)) return null;
  const makeCard = taskRuns.length > 1 ? wideCard : card;
  return makeCard("Several completions per problem", lineChart({
    title: "pass@k, pass^k and maj@k", xLabel: "k, completions per problem", yLabel: "share of problems",
    series, shares: true,
  }), note("pass@k: at least one of k completions is right. pass^k: all k are. maj@k: the most ",
    "frequent answer of k completions is right. Bands are 95% intervals over problems."));
}

function pointsAtK(task, kind) {
  return task.metrics
    .map(([name, figure]) => ({ match: AT_K.exec(name), figure }))
    .filter(({ match }) => match?.[1] === kind)
    .map(({ match, figure }) => point(Number(match[2]), figure))
    .sort((left, right) => left.x - right.x);
}

function point(x, { value, low, high }) {
  return { x, y: value, low, high };
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
  return page.curves.filter(({ task }) => task === taskName).flatMap(({ plots }) => plots.map((plot) => plotCard(plot, wideCard)));
}

// What a training logged: its rewards with their parts, and its loss.
function trainingSection({ name, plots, signs }) {
  if (!plots.length && !signs.length) return null;
  const several = page.trainings.length > 1;
  return make("section", { class: "task training" },
    make("h2", {}, "Training", several ? make("span", { class: "dim" }, " · ", isolated(name)) : null),
    ...signs.map(([step, text]) => make("p", { class: "warning" },
      make("span", {}, make("strong", {}, `Sign at step ${integer(step)}: `), isolated(text)))),
    make("div", { class: "cards" }, ...plots.map((plot) => plotCard(plot, card))));
}
