// Where the reader is: a part of the page and what is chosen in it, kept in the address's hash.

const VIEWS = ["summary", "samples", "record"];
let moved = () => {};

function place() {
  const [view, ...query] = location.hash.slice(1).split("?");
  return { view: VIEWS.includes(view) ? view : "summary", chosen: new URLSearchParams(query.join("?")) };
}

// Replaces some of what is chosen; an empty value takes a choice away.
function choose(changes) {
  const { view, chosen } = place();
  for (const [name, value] of Object.entries(changes)) {
    if (value === "" || value === null) chosen.delete(name);
    else chosen.set(name, value);
  }
  history.replaceState(null, "", address(view, chosen));
  moved();
}

function address(view, chosen) {
  const query = new URLSearchParams(chosen).toString();
  return query ? `#${view}?${query}` : `#${view}`;
}
