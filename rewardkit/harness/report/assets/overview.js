// The summary: what was evaluated, then each task's figures and plots.

function openOverview() {
  const names = [...new Set(page.runs.flatMap((run) => run.tasks.map(({ name }) => name)))];
  const empty = names.length ? null : make("p", { class: "dim" }, "No completion has been judged yet.");
  const sections = [trainingSection(), ...names.map(taskSection)].filter(Boolean);
  byId("view-summary").replaceChildren(...[lead(), contents(sections), empty, ...sections].filter(Boolean));
}

// The parts of the summary, each with a button that leads to it: links are for the address of a view.
function contents(sections) {
  if (sections.length < 2) return null;
  return make("nav", { class: "contents", "aria-label": "Contents" }, make("ul", {}, ...sections.map((section) => {
    const go = () => {
      section.scrollIntoView();
      section.focus({ preventScroll: true });
    };
    section.setAttribute("tabindex", "-1");
    return make("li", {}, make("button", { type: "button", onclick: go },
      section.querySelector("h2").textContent));
  })));
}

function lead() {
  if (page.runs.length > 1) {
    return make("div", { class: "lead" }, make("h1", {}, isolated(page.heading)), ...verdicts(),
      make("ul", { class: "legend" }, ...page.runs.map((run, index) => make("li", {},
        make("span", { class: `key series-${index % 8}`, "aria-hidden": "true" }), isolated(run.name)))));
  }
  const [run] = page.runs;
  const title = page.heading;
  const description = [title.endsWith(run.model) ? null : run.model, ...run.outline].filter(Boolean).join(" · ");
  return make("div", { class: "lead" }, make("h1", {}, isolated(title)),
    description ? make("p", {}, isolated(description)) : null,
    run.started ? make("p", {}, dateAndTime(run.started)) : null);
}

const MOST_VERDICTS = 3;

// What the comparisons show, a sentence for each; of many, those of the best run and of the last.
function verdicts() {
  const all = page.comparisons;
  const best = all.reduce((left, right) => (right.difference.value > left.difference.value ? right : left), all[0]);
  const chosen = all.length > MOST_VERDICTS ? [...new Set([best, all.at(-1)])] : all;
  return chosen.map(({ verdict }) => make("p", { class: "verdict" }, isolated(verdict)));
}

// An ISO time without its seconds, and with UTC for its offset.
function dateAndTime(text) {
  return visible(text).replace("T", " ").replace(/:\d\d\+00:00$/, " UTC");
}

// The task in each run that has it. `runName` is null where only one run does.
function taskRunsOf(name) {
  const taskRuns = page.runs.flatMap((run, runIndex) => run.tasks.filter((task) => task.name === name)
    .map((task) => ({ run, runIndex, task, series: `series-${runIndex % 8}` })));
  const several = taskRuns.length > 1;
  return taskRuns.map((taskRun) => ({ ...taskRun, runName: several ? taskRun.run.name : null }));
}

function taskSection(name) {
  const taskRuns = taskRunsOf(name);
  const several = taskRuns.length > 1;
  const [{ run, task }] = taskRuns;
  const onlyRun = page.runs.length > 1 && !several
    ? make("span", { class: "dim" }, " · ", isolated(run.name)) : null;
  const curves = checkpointCurves(name);
  const cards = several
    ? [curves.length ? null : accuracyByRun(taskRuns), figuresTable(taskRuns), samplesCurve(taskRuns)]
    : [ratesCard(task), samplesCurve(taskRuns), failuresCard(task)];
  const all = [make("div", { class: "cards" }, ...[...cards, lengthsCard(taskRuns), ...groupCards(taskRuns)].filter(Boolean)),
    ...taskFigures(taskRuns).filter(Boolean)];
  return make("section", { class: "task" }, make("h2", {}, isolated(name), onlyRun),
    several ? null : headline(task), ...broken(taskRuns), ...warnings(taskRuns),
    ...(curves.length ? [make("div", { class: "cards" }, ...curves),
      make("details", { class: "figures" }, make("summary", {}, "All figures of each run"), ...all)] : all));
}
