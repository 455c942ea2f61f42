// The table of runs: sorted by its headings, filtered by text; ticked runs are compared. It loads itself again when it has
// changed and stays as the reader left it. The colours are those that the reader chose in a report.
(() => {
"use strict";
const { tag, seconds } = document.documentElement.dataset;
document.documentElement.dataset.theme = localStorage.getItem("rewardkit-theme") ?? "system";
const state = { sort: -1, down: false, text: "", ticked: [], focus: "", ...JSON.parse(sessionStorage.getItem("rewardkit-runs")) };
const body = document.querySelector("tbody");
const rows = [...body?.rows ?? []];
const boxes = [...document.querySelectorAll("td input")];
const headings = [...document.querySelectorAll("th")];
const filter = document.querySelector("#filter");
const compare = document.querySelector("#compare");
const { compare: order } = new Intl.Collator("en", { numeric: true });

function show() {
  const { sort, down, text } = state;
  const cell = (row) => row.cells[sort]?.textContent ?? "";
  const sorted = sort < 0 ? rows : rows.toSorted((left, right) => (down ? -1 : 1) * order(cell(left), cell(right)));
  body.append(...sorted);
  for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(text.toLowerCase());
  for (const box of boxes) box.checked = state.ticked.includes(box.value);
  headings.forEach((heading, index) => {
    heading.ariaSort = index !== sort ? "none" : down ? "descending" : "ascending";
  });
  const several = state.ticked.length > 1;
  compare.textContent = several ? `Compare ${state.ticked.length} runs` : "Tick two runs to compare them";
  if (several) compare.href = `/runs/${state.ticked.join(",")}`;
  else compare.removeAttribute("href");
  sessionStorage.setItem("rewardkit-runs", JSON.stringify(state));
}

function change(changes) {
  Object.assign(state, changes);
  show();
}

if (body) {
  const known = boxes.map(({ value }) => value);
  state.ticked = state.ticked.filter((value) => known.includes(value));
  filter.value = state.text;
  filter.addEventListener("input", () => change({ text: filter.value }));
  headings.forEach((heading, index) => heading.firstChild.addEventListener("click", () =>
    change({ sort: index, down: state.sort === index && !state.down })));
  body.addEventListener("change", ({ target: { value, checked } }) =>
    change({ ticked: [...state.ticked.filter((own) => own !== value), ...(checked ? [value] : [])] }));
  show();
  document.getElementById(state.focus)?.focus({ preventScroll: true });
}
setInterval(async () => {
  const reply = await fetch("/", { method: "HEAD", cache: "no-store" }).catch(() => null);
  if (!reply?.ok || reply.headers.get("ETag") === `"${tag}"`) return;
  sessionStorage.setItem("rewardkit-runs", JSON.stringify({ ...state, focus: document.activeElement?.id ?? "" }));
  location.reload();
}, 1000 * seconds);
})();
