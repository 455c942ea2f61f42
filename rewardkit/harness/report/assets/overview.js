// The summary: what was evaluated, then each task's figures and plots.

function openOverview() {
  const names = [...new Set(page.runs.flatMap((run) => run.tasks.map(({ name }) => name)))];
  byId("view-summary").replaceChildren(lead(), ...names.map(taskSection));
}

function lead() {
  if (page.runs.length === 1) {
    const [run] = page.runs;
    return make("div", { class: "lead" }, make("h1", {}, named(modelName(run.model))),
      make("p", {}, named([run.model, ...run.short].join(" · "))), run.started ? make("p", {}, dayAndTime(run.started)) : null);
  }
  return make("div", { class: "lead" }, make("h1", {}, `${page.runs.length} runs`),
    make("p", {}, page.runs.map((run) => visible(run.name)).join(" · ")));
}

// An ISO time as a person reads it.
function dayAndTime(text) {
  return visible(text).replace("T", " ").replace(/:\d\d\+00:00$/, " UTC");
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
    ...warnings(told),
    make("div", { class: "cards" }, ...[
      ...(several ? [accuracyByRun(told), flipsCard(told), ...checkpointCurves(told), ratesTable(told)] : [ratesCard(told[0].task)]),
      samplesCurve(told),
      ...(several ? [failuresTable(told)] : [failuresCard(told[0].task, null)]),
      lengthsCard(told),
      ...groupsCards(told),
    ].filter(Boolean)), ...told.map(ownFigures));
}

// What a task draws of itself; of many runs, folded away until asked for.
function ownFigures({ task, runName }, _, { length }) {
  if (!task.figures.length) return null;
  const cards = make("div", { class: "cards" }, ...task.figures.map((figure) => ownFigure(figure, runName)));
  if (length <= 2) return cards;
  return make("details", { class: "figures" }, make("summary", {}, "Figures of ", named(runName)), cards);
}

function failuresTable(told) {
  const kinds = [...new Set(told.flatMap(({ task }) => task.failures.map(([kind]) => kind)))];
  if (!kinds.length) return null;
  const rows = kinds.map((kind) => [kind.replaceAll("_", " "), ...told.map(({ task, runName }) => {
    const number = task.failures.find(([own]) => own === kind)?.[1] ?? 0;
    return number ? make("a", { href: address("samples", samplesOf(task, runName, { failure: kind })) }, whole(number)) : "0";
  })]);
  return wideCard("Failures by kind", plainTable(["", ...told.map(({ runName }) => runName)], rows, told.map((_, place) => place + 1)));
}
