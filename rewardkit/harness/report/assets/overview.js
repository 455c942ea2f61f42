// The summary: what was evaluated, then each task's figures and plots.

function openOverview() {
  const names = [...new Set(page.runs.flatMap((run) => run.tasks.map(({ name }) => name)))];
  byId("view-summary").replaceChildren(lead(), ...names.map(taskSection));
}

function lead() {
  if (page.runs.length === 1) {
    const [run] = page.runs;
    return make("div", { class: "lead" }, make("h1", {}, named(modelName(run.model))),
      make("p", {}, named(run.model), run.started ? ` · ${visible(run.started)}` : ""));
  }
  return make("div", { class: "lead" }, make("h1", {}, `${page.runs.length} runs`),
    make("p", {}, page.runs.map((run) => visible(run.name)).join(" · ")));
}

function modelName(model) {
  return model.split("/").filter(Boolean).at(-1) ?? model;
}

function taskSection(name) {
  const several = page.runs.length > 1;
  const told = page.runs.flatMap((run, place) => run.tasks.filter((task) => task.name === name)
    .map((task) => ({ run, place, task, runName: several ? run.name : null })));
  return make("section", { class: "task" }, make("h2", {}, named(name)),
    ...(several ? [] : [headline(told[0].task)]),
    ...told.flatMap(({ task, runName }) => warnings(task, runName)),
    make("div", { class: "cards" }, ...[
      ...(several ? [accuracyByRun(told), ...checkpointCurves(told), ratesTable(told)] : [ratesCard(told[0].task)]),
      samplesCurve(told),
      ...(several ? [failuresTable(told)] : [failuresCard(told[0].task, null)]),
      lengthsCard(told),
      ...groupsCards(told),
      ...told.flatMap(({ task, runName }) => task.figures.map((figure) => ownFigure(figure, runName))),
    ].filter(Boolean)));
}

function failuresTable(told) {
  const kinds = [...new Set(told.flatMap(({ task }) => task.failures.map(([kind]) => kind)))];
  if (!kinds.length) return null;
  const rows = kinds.map((kind) => [kind.replaceAll("_", " "), ...told.map(({ task, runName }) => {
    const number = task.failures.find(([own]) => own === kind)?.[1] ?? 0;
    return number ? make("a", { href: address("samples", samplesOf(task, runName, { failure: kind })) }, whole(number)) : "0";
  })]);
  return card("Failures by kind", plainTable(["", ...told.map(({ runName }) => runName)], rows, told.map((_, place) => place + 1)));
}
