// Notes and tags on samples: every page shows them, a page of `rewardkit view` writes them into the run's folder.

const NO_NOTE = { note: "", tags: [], isOfEarlier: false };

function noteOf(sample) {
  return table.notes.get(sample) ?? NO_NOTE;
}

// `noted` is empty for all samples, "any" for those with a note or a tag, else # and a tag.
function hasNote(sample, noted) {
  if (!noted) return true;
  return noted === "any" ? table.notes.has(sample) : noteOf(sample).tags.includes(noted.slice(1));
}

function noteSelect() {
  if (!page.live && !table.notes.size) return null;
  return select("noted", "Notes", noteOptions());
}

function noteOptions() {
  const tags = [...new Set([...table.notes.values()].flatMap((own) => own.tags))].sort();
  return [["", "all"], ["any", "with a note"], ...tags.map((tag) => [`#${tag}`, tag])];
}

// The note as a form, or as text where the page can't write.
function noteBlock(sample) {
  const own = noteOf(sample);
  const earlier = own.isOfEarlier
    ? make("p", { class: "dim small" }, "Written on an earlier run in this folder.") : null;
  if (page.live) return make("div", { class: "notes" }, ...noteForm(sample, own), earlier);
  if (own === NO_NOTE) return null;
  return make("div", { class: "notes" }, own.note ? make("p", { class: "written" }, visible(own.note)) : null,
    own.tags.length ? make("p", {}, ...own.tags.map((tag) => make("span", { class: "tag" }, visible(tag)))) : null, earlier);
}

function noteForm(sample, own) {
  const status = make("p", { class: "dim small", role: "status" });
  const note = make("textarea", { name: "note", rows: Math.min(8, own.note.split("\n").length), maxlength: 10_000 });
  const tags = make("input", { name: "tags", autocomplete: "off", spellcheck: "false" });
  note.value = own.note;
  tags.value = own.tags.join(", ");
  const save = () => saveNote(sample, note.value, splitTags(tags.value), status);
  note.addEventListener("change", save);
  tags.addEventListener("change", save);
  const of = page.runs.length > 1 ? ` on ${visible(page.runs[table.run[sample]].name)}` : "";
  return [make("label", {}, `Note${of}`, make("kbd", {}, "n"), note), make("label", {}, "Tags", make("kbd", {}, "t"), tags), status];
}

function splitTags(text) {
  return [...new Set(text.split(",").map((tag) => tag.trim()).filter(Boolean))];
}

async function saveNote(sample, note, tags, status) {
  const body = JSON.stringify({ run: page.runs[table.run[sample]].name, key: keyOf(sample), note, tags });
  try {
    const reply = await fetch(page.live.notes, { method: "POST", body, headers: { "Content-Type": "application/json" } });
    if (!reply.ok) throw new Error(await reply.text());
    if (note || tags.length) table.notes.set(sample, { note, tags, isOfEarlier: false });
    else table.notes.delete(sample);
    status.textContent = "saved";
    showNotesInList();
  } catch (error) {
    status.textContent = `not saved: ${error.message}`;
  }
}

function showNotesInList() {
  const element = controls.fields.get("noted");
  const { value } = element;
  element.replaceChildren(...noteOptions().map(([name, text]) => make("option", { value: name }, oneLine(text, 60))));
  element.value = value;
  clearRows();
}

// Goes to the note or the tags of the selected sample; a file says where they can be written.
function startNote(name) {
  const field = document.querySelector(`#detail [name="${name}"]`);
  if (field) field.focus();
  else if (!page.live) controls.status.textContent = "A file can't store notes: open the run with `rewardkit view FOLDER`.";
}

// A live page loads itself again when the run has more, but not while someone writes.
function followRun() {
  if (!page.live) return;
  setInterval(async () => {
    const reply = await fetch(location.pathname, { method: "HEAD", cache: "no-store" }).catch(() => null);
    const version = reply?.headers.get("ETag")?.slice(1).split("-")[0];
    const isWriting = document.activeElement?.matches("input, textarea, select");
    if (reply?.ok && version !== page.live.version && !isWriting) location.reload();
  }, 1000 * page.live.seconds);
}
