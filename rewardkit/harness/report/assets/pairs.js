// Two runs on the same problems: a sample's partner has the same task, id and completion number.

const FLIPS = [
  ["", "all pairs"],
  ["any", "flipped"],
  ["lost", "right → wrong"],
  ["gained", "wrong → right"],
  ["same", "not flipped"],
];
const pairsByRun = [];

// A run's samples by the pair that they belong to.
function samplesByPair(run) {
  if (pairsByRun[run]) return pairsByRun[run];
  const pairs = new Map();
  for (let sample = 0; sample < table.count; sample += 1) {
    if (table.run[sample] === run) pairs.set(pairOf(sample), sample);
  }
  pairsByRun[run] = pairs;
  return pairs;
}

function pairOf(sample) {
  return table.problem[sample] * 65536 + table.index[sample];
}

function partnerOf(sample, run) {
  return samplesByPair(run).get(pairOf(sample)) ?? -1;
}

// Whether the sample has a partner, and the pair matches the selected kind of flip.
function isPaired(sample, pairs, { flip }) {
  const partner = pairs.get(pairOf(sample));
  if (partner === undefined || partner === sample) return false;
  return flip === "" || matchesFlip(flip, sample, partner);
}

function matchesFlip(flip, sample, partner) {
  const [before, after] = [table.outcome[sample], table.outcome[partner]];
  if (flip === "lost") return before === 0 && after === 1;
  if (flip === "gained") return before === 1 && after === 0;
  const flipped = before !== after && before < 2 && after < 2;
  return flip === "any" ? flipped : before === after;
}
