// Opens the page: first the summary and the samples' table, then the samples' texts.

function showView() {
  const { view, query } = readAddress();
  for (const name of VIEWS) byId(`view-${name}`).hidden = name !== view;
  for (const link of document.querySelectorAll(".bar nav a")) {
    if (link.hash === `#${view}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  hideHover();
  if (view === "samples") showSamples(query);
}

// A search finds more samples as their texts are read.
function repeatSearch() {
  const { view, query } = readAddress();
  if (view === "samples" && query.get("q")) showSamples(query);
}

function showFailure(error) {
  byId("view-summary").replaceChildren(make("p", { class: "warning" },
    `This browser could not open the page (${error.message}); it needs a browser from 2024 or later. `
    + "summary.json holds the figures."));
  throw error;
}

async function openPage() {
  openTheme();
  await openTable();
  openOverview();
  openRecord();
  openSamples();
  openKeyboard();
  followRun();
  onQueryChange = showView;
  addEventListener("hashchange", () => { scrollTo(0, 0); showView(); });
  showView();
  performance.mark("rewardkit:open");
  await new Promise((resume) => requestAnimationFrame(() => setTimeout(resume)));
  performance.mark("rewardkit:painted");
  await openAllBlocks(repeatSearch);
  performance.mark("rewardkit:texts");
}

openPage().catch(showFailure);
