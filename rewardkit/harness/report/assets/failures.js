// Failures by kind, each leading to its samples.

const FAILURE_KINDS = new Map([["truncated", "truncated"], ["error", "unjudged"]]);

function failuresCard(task) {
  if (!task.failures.length) return null;
  const sorted = [...task.failures].sort(([, one], [, other]) => other - one);
  const rows = sorted.map(([failure, number]) => ({
    label: spaced(failure),
    kind: FAILURE_KINDS.get(failure) ?? "wrong",
    value: number,
    number: `${whole(number)} · ${percent(number / task.completions)}`,
    href: address("samples", samplesOf(task, null, { failure })),
    hover: `${visible(failure)}: ${whole(number)} of ${many(task.completions, "completion")}\n`
      + "click to read them",
  }));
  const most = sorted[0][1];
  return card("Failures by kind", bars(`Failures of ${task.name}`, rows, most),
    ...task.examples.map(([failure, keys]) => examples(task, failure, keys)));
}

function examples(task, failure, keys) {
  const links = keys.flatMap((key) => [" ", make("a", {
    href: address("samples", samplesOf(task, null, { sample: key })),
  }, named(oneLine(key, 48)))]);
  return note(`${visible(spaced(failure))}:`, ...links);
}

function failuresTable(told) {
  const kinds = [...new Set(told.flatMap(({ task }) => task.failures.map(([kind]) => kind)))];
  if (!kinds.length) return null;
  const cell = ({ task, runName }, kind) => {
    const number = task.failures.find(([own]) => own === kind)?.[1] ?? 0;
    const href = address("samples", samplesOf(task, runName, { failure: kind }));
    return number ? make("a", { href }, whole(number)) : "0";
  };
  const rows = kinds.map((kind) => [spaced(kind), ...told.map((one) => cell(one, kind))]);
  return wideCard("Failures by kind", runsTable(told, rows));
}

// What to choose in the address for samples of this task, and run where there are several.
function samplesOf(task, runName, chosen) {
  const query = new URLSearchParams();
  if (runName !== null) query.set("run", runName);
  if (table.tasks.length > 1) query.set("task", task.name);
  for (const [name, value] of Object.entries(chosen)) query.set(name, value);
  return query;
}
