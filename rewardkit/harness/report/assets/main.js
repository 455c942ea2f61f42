// Opens the page: the summary first, the samples' table with it, their texts afterwards.

function show() {
  const { view, chosen } = place();
  for (const name of VIEWS) byId(`view-${name}`).hidden = name !== view;
  for (const link of document.querySelectorAll(".bar nav a")) {
    if (link.hash === `#${view}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  hush();
  if (view === "samples") showSamples(chosen);
}

// A search begun before all texts were read finds more as they are.
function searchAgain() {
  const { view, chosen } = place();
  if (view === "samples" && chosen.get("q")) showSamples(chosen);
}

function showFailure(error) {
  byId("view-summary").replaceChildren(make("p", { class: "warning" },
    `This page could not be opened here (${error.message}); it needs a browser of 2024 or later. `
    + "summary.json holds the figures."));
  throw error;
}

function sayIfColourless() {
  if (CSS.supports("color", "light-dark(red, red)")) return;
  byId("view-summary").prepend(make("p", { class: "warning" },
    "The plots' colours are missing here; it takes a browser of mid-2024 or later."));
}

async function openPage() {
  openTheme();
  await openTable();
  openOverview();
  sayIfColourless();
  openRecord();
  openSamples();
  openKeys();
  moved = show;
  addEventListener("hashchange", () => { scrollTo(0, 0); show(); });
  show();
  performance.mark("rewardkit:open");
  await new Promise((resume) => requestAnimationFrame(() => setTimeout(resume)));
  performance.mark("rewardkit:painted");
  await openAllBlocks(searchAgain);
  performance.mark("rewardkit:texts");
}

openPage().catch(showFailure);
