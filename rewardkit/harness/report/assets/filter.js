// Which samples the list shows, and in which order: computed from the table, without touching elements.

const lastSearch = { text: "", textsRead: -1, hits: null };
const ANY = -1;
const UNKNOWN = -2;
let facets = [];  // what samples can be filtered by: {name in the address, label, values, of: each sample's value by number}
let orders = [];  // what samples can be sorted by: [name, label, each sample's number or null where it is computed]
let idRanks = null;

function openFilter() {
  facets = [
    { name: "run", label: "Run", values: page.runs.map(({ name }) => name), of: table.run },
    { name: "task", label: "Task", values: table.tasks, of: table.task },
    { name: "failure", label: "Failure", values: table.failures, of: table.failure },
    ...table.columns.map(([label, values, of]) => ({ name: `.${label}`, label, values, of })),
  ];
  orders = [
    ...table.rewards.map(([name, values]) => [name, rewardWords(name), values]),
    ["score", "score", table.score], ["advantage", "advantage", table.advantage],
    ["tokens", "tokens", table.tokens], ["characters", "characters", table.characters],
  ].filter(([, , values]) => values.some((value) => value !== null && value !== values[0]));
  orders.push(["id", "id", null]);
  if (page.runs.length > 1) orders.push(["difference", "difference", null]);
}

// The rank of each sample's id, counted from the last, so that the first has the highest.
function rankIds() {
  const { compare } = new Intl.Collator("en", { numeric: true });
  const order = table.problems.map((_, index) => index);
  order.sort((left, right) => compare(table.problems[left], table.problems[right]));
  const ranks = new Int32Array(order.length);
  order.forEach((problem, rank) => { ranks[problem] = -rank; });
  return (idRanks = (sample) => ranks[table.problem[sample]]);
}

// The index of a name from the address; UNKNOWN, which no sample matches, if there is none. An
// address holds no half surrogates, so names are compared without them too.
function indexOfName(names, name) {
  const index = names.findIndex((own) => own === name || addressable(own) === name);
  return index < 0 ? UNKNOWN : index;
}

function addressable(text) {
  return text.toWellFormed ? text.toWellFormed() : text;
}

// The filters in the address.
function readFilter(query) {
  const runs = page.runs.map((run) => run.name);
  return {
    outcome: query.get("outcome") ?? "", flip: query.get("flip") ?? "", sort: query.get("sort") ?? "",
    text: (query.get("q") ?? "").trim().toLowerCase(),
    against: query.get("against") ? indexOfName(runs, query.get("against")) : ANY,
    conditions: facets.filter(({ name }) => query.get(name)).map(({ name, values, of }) =>
      ({ accepted: acceptedValues(values, query.get(name)), of })),
    noted: query.get("noted") ?? "",
  };
}

// Which values match: one that is equal; else those below < or above > a number, or that contain the text.
function acceptedValues(values, wanted) {
  const exact = indexOfName(values, wanted);
  if (exact >= 0) return values.map((_, index) => index === exact);
  const [, sign, bound] = /^\s*([<>])\s*(-?[\d.]+)\s*$/.exec(wanted) ?? [];
  if (sign) return values.map((value) => value !== "" && (sign === "<" ? Number(value) < bound : Number(value) > bound));
  return values.map((value) => value.toLowerCase().includes(wanted.toLowerCase()));
}

function hasOutcome(sample, word) {
  if (word === "") return true;
  return word === "truncated" ? table.truncated[sample] === 1 : outcomeOf(sample).word === word;
}

// The samples shown, and how many each outcome's filter would show.
function matching(filter) {
  const hits = filter.text ? searchHits(filter.text) : null;
  const pairs = filter.against >= 0 ? samplesByPair(filter.against) : null;
  const counts = { "": 0, right: 0, wrong: 0, unjudged: 0, truncated: 0 };
  const shown = [];
  for (let sample = 0; sample < table.count; sample += 1) {
    if (!matches(sample, filter, pairs) || (hits && !hits[sample])) continue;
    counts[""] += 1;
    counts[outcomeOf(sample).word] += 1;
    counts.truncated += table.truncated[sample];
    if (hasOutcome(sample, filter.outcome)) shown.push(sample);
  }
  const order = orderOf(filter);
  return { shown: order ? sorted(shown, order) : shown, counts, order };
}

function matches(sample, filter, pairs) {
  return filter.conditions.every(({ accepted, of }) => accepted[of[sample]])
    && hasNote(sample, filter.noted)
    && (pairs === null || isPaired(sample, pairs, filter));
}

function searchHits(searchText) {
  if (lastSearch.text === searchText && lastSearch.textsRead === textsRead) return lastSearch.hits;
  const inPrefix = prefixes.map((prefix) => prefix?.lower.includes(searchText) ?? false);
  const hits = new Uint8Array(table.count);
  const promptHits = new Uint8Array(table.count);
  for (let sample = 0; sample < table.count; sample += 1) {
    const text = searchTexts[sample];
    if (text === undefined) continue;
    const ownPrompt = promptTexts[sample];
    const inPrompt = inPrefix[prefixIndex(table.run[sample], table.task[sample])]
      || (ownPrompt === null ? promptHits[texts[sample][0]] === 1 : ownPrompt.includes(searchText));
    promptHits[sample] = inPrompt ? 1 : 0;
    hits[sample] = inPrompt || text.includes(searchText) ? 1 : 0;
  }
  Object.assign(lastSearch, { text: searchText, textsRead, hits });
  return hits;
}

// How the address sorts, as {name, valueOf, sign}; null for the order of the files. A name starts with - for the lowest first.
function orderOf({ sort, against }) {
  const [, minus, wanted] = /^(-?)(.*)$/s.exec(sort);
  const [name, , values] = orders.find(([own]) => own === wanted) ?? [];
  if (!name || (!values && name !== "id" && against < 0)) return null;
  const difference = (sample) => {
    const [before, after] = [table.score[sample], table.score[partnerOf(sample, against)] ?? null];
    return before === null || after === null ? null : after - before;
  };
  const computed = name === "id" ? idRanks ?? rankIds() : difference;
  return { name, sign: minus ? 1 : -1, valueOf: values ? (sample) => values[sample] : computed };
}

// Samples without a value are last.
function sorted(samples, { valueOf, sign }) {
  const keys = new Float64Array(table.count);
  for (const sample of samples) keys[sample] = sign * (valueOf(sample) ?? sign * Infinity);
  return samples.sort((left, right) => keys[left] - keys[right] || left - right);
}
