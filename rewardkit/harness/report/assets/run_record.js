// What it takes to run each run again.

function openRecord() {
  byId("view-record").replaceChildren(make("h1", {}, "Record"), ...page.runs.map(runRecord),
    make("p", { class: "dim small record" }, `Written by rewardkit ${page.version}.`));
}

function runRecord({ name, command, record }) {
  return make("section", { class: "card record" }, make("h2", {}, isolated(name)), command ? commandLine(command) : null,
    record ? make("details", { open: page.runs.length === 1 }, make("summary", {}, "run.json"), make("pre", {}, visible(record)))
      : note("This folder does not record how its completions were generated."));
}

function commandLine(text) {
  const code = make("pre", {}, visible(text));
  return make("div", { class: "command" }, code, copyButton("Copy", text, code));
}

// A button that copies text; where the browser refuses, it selects the text of `source` instead.
function copyButton(label, text, source) {
  const button = make("button", { type: "button" }, label);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "function" ? text() : text);
      button.textContent = "Copied";
    } catch {
      if (source) getSelection().selectAllChildren(source);
      button.textContent = source ? "Selected" : "Not allowed here";
    }
    setTimeout(() => { button.textContent = label; }, 1500);
  });
  return button;
}
