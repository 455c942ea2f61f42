// What the page shows: a view and its filters, kept in the address after the #.

const VIEWS = ["summary", "samples", "record"];
let onQueryChange = () => {};

function readAddress() {
  const [view, ...query] = location.hash.slice(1).split("?");
  return { view: VIEWS.includes(view) ? view : "summary", query: new URLSearchParams(query.join("?")) };
}

// Changes some of the filters; an empty value removes a filter.
function changeQuery(changes) {
  const { view, query } = readAddress();
  for (const [name, value] of Object.entries(changes)) {
    if (value === "" || value === null) query.delete(name);
    else query.set(name, value);
  }
  history.replaceState(null, "", addressOf(view, query));
  onQueryChange();
}

function addressOf(view, query) {
  const text = new URLSearchParams(query).toString();
  return text ? `#${view}?${text}` : `#${view}`;
}
