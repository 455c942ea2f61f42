// Curves: pass@k and maj@k over k, and rates over the checkpoints of one training.

const CURVE_RATES = ["accuracy", "format_rate", "unfinished_rate", "error_rate"];

function samplesCurve(told) {
  const series = told.flatMap(({ task, runName }) => ["pass", "maj"].map((kind) => ({
    name: runName === null ? `${kind}@k` : `${kind}@k · ${runName}`,
    points: pointsAtK(task, kind),
  }))).filter(({ points }) => points.length);
  if (!series.some(({ points }) => points.length > 1)) return null;
  const dressed = told.length > 1 ? wideCard : card;
  return dressed("With several completions a problem", lines({
    title: "pass@k and maj@k", xLabel: "k, completions of a problem", yLabel: "share of problems",
    series, shares: true, whole: true,
  }), note("pass@k: one of k completions is right. maj@k: the answer most of k agree on is right. ",
    "Bands are 95% intervals over problems."));
}

function pointsAtK(task, kind) {
  return task.metrics
    .map(([name, figure]) => ({ told: AT_K.exec(name), figure }))
    .filter(({ told }) => told?.[1] === kind)
    .map(({ told, figure }) => point(Number(told[2]), figure))
    .sort((one, other) => one.x - other.x);
}

function point(x, { value, low, high }) {
  return { x, y: value, low, high };
}

// The runs that are checkpoints of one training, asked alike: two steps at least.
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
  return trainings(told).map((runs, _, all) => wideCard(curveTitle(runs, all.length), lines({
    title: "Rates over training steps", xLabel: "training step", yLabel: "share of completions",
    shares: true, whole: true,
    series: CURVE_RATES.map((rate) => ({ name: metricName(rate), points: runs
      .filter(({ task }) => metric(task, rate))
      .map(({ run, task }) => point(run.step, metric(task, rate))) })),
  })));
}

function curveTitle(runs, trainings) {
  if (trainings === 1) return "Over the checkpoints of the training";
  return `Over the checkpoints, ${runs[0].runName} to ${runs.at(-1).runName}`;
}
