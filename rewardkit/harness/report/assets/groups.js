// Accuracy by the groups of a column: bars of one run, a table of several.

const MOST_GROUPS = 60;

function groupCards(taskRuns) {
  const columns = new Set(taskRuns.flatMap(({ task }) => task.groups.map(([column]) => column)));
  return [...columns].map((column) => {
    const ofRuns = taskRuns.map(({ task }) => new Map(task.groups.find(([own]) => own === column)?.[1] ?? []));
    const sizes = new Map();
    for (const groups of ofRuns) for (const [group, { count }] of groups) sizes.set(group, Math.max(count, sizes.get(group) ?? 0));
    const largest = [...sizes].sort(([, left], [, right]) => right - left).slice(0, MOST_GROUPS);
    const kept = new Set(largest.map(([group]) => group));
    const shown = [...sizes.keys()].filter((group) => kept.has(group));
    const remark = shown.length === sizes.size ? null
      : note(`The ${MOST_GROUPS} largest groups. summary.json and the filters of the samples have all groups.`);
    const title = `Accuracy by ${column}`;
    if (taskRuns.length === 1) {
      return card(title, barChart(title, shown.map((group) => rateBar(group || "(none)", "series-0", ofRuns[0].get(group)))), remark);
    }
    return wideCard(title, runsTable(taskRuns, shown.map((group) =>
      [group || "(none)", ...ofRuns.map((groups) => rateCell(groups.get(group) ?? null))])), remark);
  });
}
