// Two runs on the same problems: each sample's partner has its task, id and number.

const FLIPS = [
  ["", "all pairs"],
  ["any", "flipped"],
  ["lost", "right → wrong"],
  ["gained", "wrong → right"],
  ["same", "not flipped"],
];
const partners = [];

function partnersIn(run) {
  if (partners[run]) return partners[run];
  const places = new Map();
  for (let sample = 0; sample < table.count; sample += 1) {
    if (table.run[sample] === run) places.set(pairMark(sample), sample);
  }
  partners[run] = places;
  return places;
}

function pairMark(sample) {
  return table.problem[sample] * 65536 + table.index[sample];
}

function partnerOf(sample, run) {
  return partnersIn(run).get(pairMark(sample)) ?? -1;
}

// Whether the sample has a partner, and the pair flipped as asked.
function isPaired(sample, pairs, { flip }) {
  const partner = pairs.get(pairMark(sample));
  if (partner === undefined || partner === sample) return false;
  return flip === "" || flipIs(flip, sample, partner);
}

function flipIs(flip, sample, partner) {
  const [before, after] = [table.outcome[sample], table.outcome[partner]];
  if (flip === "lost") return before === 0 && after === 1;
  if (flip === "gained") return before === 1 && after === 0;
  const flipped = before !== after && before < 2 && after < 2;
  return flip === "any" ? flipped : before === after;
}
