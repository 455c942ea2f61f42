// Which samples the list shows: one pass over the table, none over elements.

const lastSearch = { query: "", read: -1, hits: null };
let idRanks = null;

const ANY = -1;
const UNKNOWN = -2;

// Where a name stands that an address can hold, which has no half surrogates; else UNKNOWN, which
// no sample fits.
function placeOf(names, name) {
  const found = names.findIndex((one) => one === name || addressable(one) === name);
  return found < 0 ? UNKNOWN : found;
}

function addressable(text) {
  return text.toWellFormed ? text.toWellFormed() : text;
}

// What is chosen in the address, as the numbers by which the table knows it.
function chosenFilter(chosen) {
  const place = (names, name) => (chosen.get(name) ? placeOf(names, chosen.get(name)) : ANY);
  const runs = page.runs.map((run) => run.name);
  const groups = table.groupNames.map(([column, name]) => `${column}=${name}`);
  return {
    outcome: chosen.get("outcome") ?? "", flip: chosen.get("flip") ?? "", sort: chosen.get("sort") ?? "",
    query: (chosen.get("q") ?? "").trim().toLowerCase(),
    run: place(runs, "run"), against: place(runs, "against"),
    task: place(table.tasks, "task"), failure: place(table.failures, "failure"),
    group: place(groups, "group"),
  };
}

function isOutcome(sample, word) {
  if (word === "") return true;
  return word === "truncated" ? table.truncated[sample] === 1 : OUTCOMES[table.outcome[sample]].word === word;
}

// The samples shown, and how many there would be of each outcome.
function matching(filter) {
  const hits = filter.query ? searchHits(filter.query) : null;
  const pairs = filter.against >= 0 ? partnersIn(filter.against) : null;
  const counts = { "": 0, right: 0, wrong: 0, unjudged: 0, truncated: 0 };
  const shown = [];
  for (let sample = 0; sample < table.count; sample += 1) {
    if (!fits(sample, filter, pairs) || (hits && !hits[sample])) continue;
    counts[""] += 1;
    counts[OUTCOMES[table.outcome[sample]].word] += 1;
    counts.truncated += table.truncated[sample];
    if (isOutcome(sample, filter.outcome)) shown.push(sample);
  }
  return { shown: sorted(shown, filter.sort), counts };
}

function fits(sample, filter, pairs) {
  return (filter.run === ANY || table.run[sample] === filter.run)
    && (filter.task === ANY || table.task[sample] === filter.task)
    && (filter.failure === ANY || table.failure[sample] === filter.failure)
    && (filter.group === ANY || table.groups[sample].includes(filter.group))
    && (pairs === null || isPaired(sample, pairs, filter));
}

function searchHits(query) {
  if (lastSearch.query === query && lastSearch.read === textsRead) return lastSearch.hits;
  const inPrefix = prefixes.map((one) => one?.lower.includes(query) ?? false);
  const hits = new Uint8Array(table.count);
  const promptHits = new Uint8Array(table.count);
  for (let sample = 0; sample < table.count; sample += 1) {
    const text = searched[sample];
    if (text === undefined) continue;
    const own = prompts[sample];
    const said = inPrefix[prefixPlace(table.run[sample], table.task[sample])]
      || (own === null ? promptHits[texts[sample][0]] === 1 : own.includes(query));
    promptHits[sample] = said ? 1 : 0;
    hits[sample] = said || text.includes(query) ? 1 : 0;
  }
  Object.assign(lastSearch, { query, read: textsRead, hits });
  return hits;
}

function sorted(samples, sort) {
  if (sort === "longest") return samples.sort((one, other) => tokens(other) - tokens(one) || one - other);
  if (sort === "shortest") return samples.sort((one, other) => tokens(one) - tokens(other) || one - other);
  if (sort !== "id") return samples;
  idRanks ??= rankIds();
  return samples.sort((one, other) =>
    idRanks[table.problem[one]] - idRanks[table.problem[other]] || one - other);
}

function tokens(sample) {
  return table.tokens[sample] ?? -1;
}

function rankIds() {
  const { compare } = new Intl.Collator("en", { numeric: true });
  const order = table.problems.map((_, place) => place);
  order.sort((one, other) => compare(table.problems[one], table.problems[other]));
  const ranks = new Int32Array(order.length);
  order.forEach((problem, rank) => { ranks[problem] = rank; });
  return ranks;
}
