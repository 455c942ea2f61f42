// The completions of a training: their step, group and advantage, in filters, list and detail.

const SIGNS = [["", "any"], ["positive", "positive"], ["zero", "0"], ["negative", "negative"]];

// The step, group, advantage and rewards of a sample; null for a sample of an evaluation.
function rolloutOf(sample) {
  const rollout = table.rollouts[sample];
  if (!rollout) return null;
  const [step, group, sign, advantage, rewards] = rollout;
  return { step, group, sign: SIGNS[2 - sign][0], advantage, rewards };
}

function isOfTraining(sample, { step, rollout, sign }) {
  if (!step && !rollout && !sign) return true;
  const own = rolloutOf(sample);
  return own !== null && (!step || String(own.step) === step) && (!rollout || own.group === rollout)
    && (!sign || own.sign === sign);
}

function trainingSelects() {
  const rollouts = table.rollouts.filter(Boolean);
  if (!rollouts.length) return [];
  const options = (values) => [["", "all"], ...values.map((value) => [String(value), String(value)])];
  const steps = [...new Set(rollouts.map(([step]) => step))].sort((left, right) => left - right);
  const { compare } = new Intl.Collator("en", { numeric: true });
  const groups = [...new Set(rollouts.map(([, group]) => group))].sort(compare);
  return [
    select("step", "Step", options(steps)),
    select("rollout", "Group of the step", options(groups)),
    select("sign", "Advantage", SIGNS),
  ];
}

function signed(number) {
  return number > 0 ? `+${rounded(number)}` : rounded(number);
}

function advantageText(sample) {
  const rollout = rolloutOf(sample);
  return rollout === null || rollout.advantage === null ? "" : `adv. ${signed(rollout.advantage)}`;
}

function trainingFacts(sample) {
  const rollout = rolloutOf(sample);
  if (rollout === null) return [];
  const { step, group, advantage, rewards } = rollout;
  const figure = (value) => (value === null ? "unjudged" : rounded(value));
  const names = page.runs[table.run[sample]].rewardNames;
  const parts = names.map((name, index) => `${visible(rewardWords(name))} ${figure(rewards[index])}`).join(", ");
  return [
    `step ${integer(step)}, group ${group}`, parts,
    advantage === null ? null : `advantage ${signed(advantage)}`,
  ].filter(Boolean);
}
