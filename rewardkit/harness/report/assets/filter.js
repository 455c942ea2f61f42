// Which samples the list shows: computed from the table, in one pass, without touching elements.

const lastSearch = { text: "", textsRead: -1, hits: null };
let idRanks = null;

const ANY = -1;
const UNKNOWN = -2;

// The index of a name from the address; UNKNOWN, which no sample matches, if there is none. An
// address holds no half surrogates, so names are compared without them too.
function indexOfName(names, name) {
  const index = names.findIndex((own) => own === name || addressable(own) === name);
  return index < 0 ? UNKNOWN : index;
}

function addressable(text) {
  return text.toWellFormed ? text.toWellFormed() : text;
}

// The filters in the address, as indices into the table's lists of names.
function readFilter(query) {
  const indexIn = (names, name) => (query.get(name) ? indexOfName(names, query.get(name)) : ANY);
  const runs = page.runs.map((run) => run.name);
  const groups = table.groupNames.map(([column, group]) => `${column}=${group}`);
  return {
    outcome: query.get("outcome") ?? "", flip: query.get("flip") ?? "", sort: query.get("sort") ?? "",
    text: (query.get("q") ?? "").trim().toLowerCase(),
    run: indexIn(runs, "run"), against: indexIn(runs, "against"),
    task: indexIn(table.tasks, "task"), failure: indexIn(table.failures, "failure"),
    group: indexIn(groups, "group"),
    noted: query.get("noted") ?? "",
    step: query.get("step") ?? "", rollout: query.get("rollout") ?? "", sign: query.get("sign") ?? "",
  };
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
  return { shown: sorted(shown, filter.sort), counts };
}

function matches(sample, filter, pairs) {
  return (filter.run === ANY || table.run[sample] === filter.run)
    && (filter.task === ANY || table.task[sample] === filter.task)
    && (filter.failure === ANY || table.failure[sample] === filter.failure)
    && (filter.group === ANY || table.groups[sample].includes(filter.group))
    && isOfTraining(sample, filter)
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

function sorted(samples, sort) {
  if (sort === "longest") return samples.sort((left, right) => tokens(right) - tokens(left) || left - right);
  if (sort === "shortest") return samples.sort((left, right) => tokens(left) - tokens(right) || left - right);
  if (sort !== "id") return samples;
  idRanks ??= rankIds();
  return samples.sort((left, right) =>
    idRanks[table.problem[left]] - idRanks[table.problem[right]] || left - right);
}

function tokens(sample) {
  return table.tokens[sample] ?? -1;
}

function rankIds() {
  const { compare } = new Intl.Collator("en", { numeric: true });
  const order = table.problems.map((_, index) => index);
  order.sort((left, right) => compare(table.problems[left], table.problems[right]));
  const ranks = new Int32Array(order.length);
  order.forEach((problem, rank) => { ranks[problem] = rank; });
  return ranks;
}
