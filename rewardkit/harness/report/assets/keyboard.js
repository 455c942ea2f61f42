// The keyboard: j and k move through the list, / starts a search, n and t a note and its tags, Escape leaves them.

function openKeyboard() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || readAddress().view !== "samples") return;
    const typing = event.target.closest("input, select, textarea");
    if (event.key === "Escape" && typing) typing.blur();
    const act = typing ? null : keyAction(event);
    if (!act) return;
    event.preventDefault();
    act();
  });
}

function keyAction({ key, target }) {
  if (key === "j") return () => moveSelection(1);
  if (key === "k") return () => moveSelection(-1);
  if (key === "n" || key === "t") return () => startNote(key === "n" ? "note" : "tags");
  if (key === "m") return toggleTypeset;
  if (key === "/") return () => { controls.search.focus(); controls.search.select(); };
  if (target !== list.box) return null;
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
  return Object.hasOwn(steps, key) ? () => moveSelection(steps[key]) : null;
}
