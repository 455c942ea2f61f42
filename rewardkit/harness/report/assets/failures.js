// Failures by kind, each with a link to its samples.

const FAILURE_COLOURS = new Map([["truncated", "truncated"], ["error", "unjudged"]]);

function failuresCard(task) {
  if (!task.failures.length) return null;
  const sorted = [...task.failures].sort(([, left], [, right]) => right - left);
  const rows = sorted.map(([failure, number]) => ({
    label: words(failure),
    kind: FAILURE_COLOURS.get(failure) ?? "wrong",
    value: number,
    number: `${integer(number)} · ${percent(number / task.completions)}`,
    href: addressOf("samples", samplesQuery(task, null, { failure })),
    hover: `${visible(words(failure))}: ${integer(number)} of ${plural(task.completions, "completion")}\n`
      + "click to read them",
  }));
  const most = sorted[0][1];
  return card("Failures by kind", barChart(`Failures of ${task.name}`, rows, most));
}

function failureRows(taskRuns) {
  const kinds = [...new Set(taskRuns.flatMap(({ task }) => task.failures.map(([kind]) => kind)))];
  const cell = ({ task, runName }, kind) => {
    const number = task.failures.find(([own]) => own === kind)?.[1] ?? 0;
    const href = addressOf("samples", samplesQuery(task, runName, { failure: kind }));
    return number ? make("a", { href }, integer(number)) : "0";
  };
  return kinds.map((kind) => [`failed: ${words(kind)}`, ...taskRuns.map((taskRun) => cell(taskRun, kind))]);
}

// The query that filters for samples of this task, and of this run unless it is null.
function samplesQuery(task, runName, filters) {
  const query = new URLSearchParams();
  if (runName !== null) query.set("run", runName);
  if (table.tasks.length > 1) query.set("task", task.name);
  for (const [name, value] of Object.entries(filters)) query.set(name, value);
  return query;
}
