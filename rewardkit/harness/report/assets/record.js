// What it takes to run each run again.

function openRecord() {
  byId("view-record").replaceChildren(make("h1", {}, "Record"), ...page.runs.map(runRecord),
    make("p", { class: "dim small record" }, `Written by rewardkit ${page.version}.`));
}

function runRecord(run) {
  const told = [];
  if (run.command) told.push(commandLine(run.command));
  for (const [title, values] of run.sections) {
    const open = !["Fingerprint", "Sessions"].includes(title);
    told.push(make("details", { open }, make("summary", {}, named(title)), make("dl", {},
      ...values.flatMap(([name, value]) => [make("dt", {}, named(name)), make("dd", {}, named(value))]))));
  }
  told.push(make("details", {}, make("summary", {}, "run.json"), make("pre", {}, visible(run.whole))));
  if (!run.sections.length) told.unshift(note("The folder has no record of how these were generated."));
  return make("section", { class: "card record" }, make("h2", {}, named(run.name)), ...told);
}

function commandLine(text) {
  const code = make("pre", {}, visible(text));
  return make("div", { class: "command" }, code, copying("Copy", text, code));
}

// A button that copies; where the browser won't, it selects what stands in `shown`.
function copying(label, text, shown) {
  const button = make("button", { type: "button" }, label);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "function" ? text() : text);
      button.textContent = "Copied";
    } catch {
      if (shown) getSelection().selectAllChildren(shown);
      button.textContent = shown ? "Selected" : "Not allowed here";
    }
    setTimeout(() => { button.textContent = label; }, 1500);
  });
  return button;
}
