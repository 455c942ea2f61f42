// The summary: what was evaluated, then each task's figures and plots.

function openOverview() {
  const names = [...new Set(page.runs.flatMap((run) => run.tasks.map(({ name }) => name)))];
  const empty = names.length ? null : make("p", { class: "dim" }, "No completion has been judged yet.");
  byId("view-summary").replaceChildren(...[lead(), empty, ...names.map(taskSection)].filter(Boolean));
}

function lead() {
  if (page.runs.length > 1) {
    return make("div", { class: "lead" }, make("h1", {}, `${page.runs.length} runs`),
      make("p", {}, page.runs.map((run) => visible(run.name)).join(" · ")));
  }
  const [run] = page.runs;
  const title = lastPart(run.model);
  const told = [run.model === title ? null : run.model, ...run.short].filter(Boolean).join(" · ");
  return make("div", { class: "lead" }, make("h1", {}, named(title)),
    told ? make("p", {}, named(told)) : null,
    run.started ? make("p", {}, dayAndTime(run.started)) : null);
}

// An ISO time as a person reads it.
function dayAndTime(text) {
  return visible(text).replace("T", " ").replace(/:\d\d\+00:00$/, " UTC");
}

function lastPart(path) {
  return path.split("/").filter(Boolean).at(-1) ?? path;
}

function taskSection(name) {
  const found = page.runs.flatMap((run, place) => run.tasks.filter((task) => task.name === name)
    .map((task) => ({ run, place, task })));
  const several = found.length > 1;
  const told = found.map((one) => ({ ...one, runName: several ? one.run.name : null }));
  const [{ run, task }] = told;
  const only = page.runs.length > 1 && !several ? make("span", { class: "dim" }, " · ", named(run.name)) : null;
  const cards = several
    ? [accuracyByRun(told), flipsCard(told), ...checkpointCurves(told), figuresTable(told),
      samplesCurve(told), failuresTable(told)]
    : [ratesCard(task), samplesCurve(told), failuresCard(task)];
  return make("section", { class: "task" }, make("h2", {}, named(name), only),
    several ? null : headline(task), ...warnings(told),
    make("div", { class: "cards" },
      ...[...cards, lengthsCard(told), ...groupsCards(told)].filter(Boolean)),
    ...told.map((one) => ownFigures(one, told.length)));
}

// What a task draws of itself; of many runs, folded away until asked for.
function ownFigures({ task, runName }, runs) {
  if (!task.figures.length) return null;
  const cards = make("div", { class: "cards" },
    ...task.figures.map((figure) => ownFigure(figure, runName)));
  if (runs < MOST_BARS) return cards;
  return make("details", { class: "figures" },
    make("summary", {}, "Figures of ", named(runName)), cards);
}
