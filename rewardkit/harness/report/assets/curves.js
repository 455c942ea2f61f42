// Curves: pass@k and maj@k over k, and rates over the checkpoints of one training.

const CURVE_RATES = ["accuracy", "format_rate", "unfinished_rate", "error_rate"];

function samplesCurve(told) {
  const series = told.flatMap(({ task, runName }) => ["pass", "maj"].map((kind) => ({
    name: runName === null ? `${kind}@k` : `${kind}@k · ${runName}`,
    points: task.metrics.filter(([name]) => AT_K.exec(name)?.[1] === kind)
      .map(([name, figure]) => ({ x: Number(AT_K.exec(name)[2]), y: figure.value, low: figure.low, high: figure.high }))
      .sort((one, other) => one.x - other.x),
  }))).filter(({ points }) => points.length);
  if (!series.some(({ points }) => points.length > 1)) return null;
  return card("With several completions a problem",
    lines({ title: "pass@k and maj@k", xLabel: "k, completions of a problem", yLabel: "share of problems", series, shares: true, whole: true }),
    make("p", { class: "note" }, "pass@k: one of k completions is right. maj@k: the answer most of k agree on is right. Bands are 95% intervals over problems."));
}

// The runs that are checkpoints of one training, asked alike: two at least.
function trainings(told) {
  const byTraining = new Map();
  for (const one of told) {
    if (one.run.step === null) continue;
    byTraining.set(one.run.training, [...(byTraining.get(one.run.training) ?? []), one]);
  }
  return [...byTraining.values()]
    .map((runs) => runs.sort((one, other) => one.run.step - other.run.step))
    .filter((runs) => new Set(runs.map(({ run }) => run.step)).size > 1);
}

function checkpointCurves(told) {
  return trainings(told).map((runs) => wideCard("Over the checkpoints of the training", lines({
    title: "Rates over training steps", xLabel: "training step", yLabel: "share of completions", shares: true, whole: true,
    series: CURVE_RATES.map((rate) => ({ name: metricName(rate), points: runs
      .map(({ run, task }) => ({ run, figure: metric(task, rate) }))
      .filter(({ figure }) => figure !== null)
      .map(({ run, figure }) => ({ x: run.step, y: figure.value, low: figure.low, high: figure.high })) })),
  })));
}
