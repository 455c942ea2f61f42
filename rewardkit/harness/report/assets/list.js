// The list of samples. Only the rows in sight are elements, whatever their number.

const ROW_HEIGHT = 56;
const AROUND = 8;
const list = { shown: [], at: -1, against: -1, box: null, room: null, rows: new Map(), picked: () => {} };

function openList(box, picked) {
  list.box = box;
  list.picked = picked;
  list.room = make("div", { role: "presentation" });
  box.append(list.room);
  box.addEventListener("scroll", () => requestAnimationFrame(drawRows), { passive: true });
  box.addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (row) list.picked(Number(row.dataset.sample));
  });
  new ResizeObserver(drawRows).observe(box);
}

function showInList(shown, against) {
  list.shown = shown;
  list.against = against;
  list.room.style.height = `${shown.length * ROW_HEIGHT}px`;
  list.room.replaceChildren();
  list.rows.clear();
  if (!shown.length) list.room.append(make("p", { class: "empty" }, "No sample fits all that is chosen."));
  drawRows();
}

function drawRows() {
  const { scrollTop, clientHeight } = list.box;
  const first = Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - AROUND);
  const last = Math.min(list.shown.length, Math.ceil((scrollTop + clientHeight) / ROW_HEIGHT) + AROUND);
  for (const [place, row] of list.rows) {
    if (place >= first && place < last) continue;
    row.remove();
    list.rows.delete(place);
  }
  for (let place = first; place < last; place += 1) {
    if (list.rows.has(place)) continue;
    const row = listRow(list.shown[place], place);
    list.rows.set(place, row);
    list.room.append(row);
  }
}

function outcomeOf(sample) {
  return OUTCOMES[table.outcome[sample]];
}

function listRow(sample, place) {
  const outcome = outcomeOf(sample);
  const answer = table.answer[sample] === null ? "nothing read" : oneLine(table.answer[sample], 48);
  const row = make("div", {
    class: `row ${outcome.word}`, role: "option", id: `row-${sample}`, "data-sample": sample,
    "aria-selected": String(sample === list.at), "aria-setsize": list.shown.length, "aria-posinset": place + 1,
    "aria-label": `${outcome.word}, ${visible(keyOf(sample))}`,
  },
    make("span", { class: "sign", "aria-hidden": "true" }, outcome.sign),
    make("span", { class: "what" }, named(answer), make("span", { class: "dim" }, " · ref. "),
      named(oneLine(table.reference[sample], 40))),
    make("span", { class: "side" }, lengthWords(sample)),
    make("span", { class: "under" }, named(oneLine(rowName(sample), 60))),
    make("span", { class: "side" }, sideWords(sample)));
  row.style.top = `${place * ROW_HEIGHT}px`;
  return row;
}

function rowName(sample) {
  const run = page.runs.length > 1 ? ` · ${page.runs[table.run[sample]].name}` : "";
  return `${keyOf(sample)}${run}`;
}

function lengthWords(sample) {
  return table.tokens[sample] === null ? "" : `${whole(table.tokens[sample])} tok`;
}

// The kind of failure; beside another run, the outcome there.
function sideWords(sample) {
  if (list.against >= 0) {
    const partner = partnerOf(sample, list.against);
    if (partner >= 0) return `→ ${outcomeOf(partner).word}`;
  }
  if (table.truncated[sample]) return "truncated";
  return visible(table.failures[table.failure[sample]]).replaceAll("_", " ");
}

// Marks a sample in the list and brings it into sight.
function markInList(sample) {
  const before = byId(`row-${list.at}`);
  if (before) before.setAttribute("aria-selected", "false");
  list.at = sample;
  const place = list.shown.indexOf(sample);
  if (place < 0) return;
  const top = place * ROW_HEIGHT;
  const { scrollTop, clientHeight } = list.box;
  if (top < scrollTop) list.box.scrollTop = top;
  else if (top + ROW_HEIGHT > scrollTop + clientHeight) list.box.scrollTop = top + ROW_HEIGHT - clientHeight;
  drawRows();
  byId(`row-${sample}`)?.setAttribute("aria-selected", "true");
  list.box.setAttribute("aria-activedescendant", `row-${sample}`);
}

function neighbour(step) {
  if (!list.shown.length) return -1;
  const place = list.shown.indexOf(list.at);
  if (place < 0) return list.shown[0];
  return list.shown[Math.min(list.shown.length - 1, Math.max(0, place + step))];
}
