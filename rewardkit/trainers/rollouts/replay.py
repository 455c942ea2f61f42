"""Replay a training: the rewards and advantages that its completions get from other rewards."""

from __future__ import annotations

import contextlib
import json
import logging
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from rewardkit.errors import UnknownName, UsageError
from rewardkit.harness.store.files import check_output_folder, replace_text, replaced_file
from rewardkit.harness.store.rollouts import (
    RECORD,
    ROLLOUTS,
    RolloutRecord,
    RolloutRow,
    advantage_signs,
    find_rollouts,
    read_batches,
    read_record,
)
from rewardkit.trainers.rewards.reward_functions import reward_func, reward_funcs
from rewardkit.trainers.rollouts.generated_batch import Numbers, Rewards, watch_batches

RewardCall = Callable[..., Sequence[float | None]]
"""A reward function as TRL calls it."""
OnStep = Callable[[int], Any]
"""Is called with each step that is replayed."""
ROWS, FIGURES = "replay.parquet", "replay.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedRow:
    """A completion's numbers in the training, as recorded, and in the replay."""

    step: int
    batch: int
    group: int
    index: int
    has_text: bool
    """Whether it was judged again; without its text it keeps its rewards or is left out."""
    recorded: Numbers
    replayed: Numbers
    recorded_sign: int
    sign: int
    """The advantage's sign: 1, 0 or -1; 0 in a group whose rewards are all equal."""
    is_reproduced: bool
    """Whether the trainer's code computes the recorded advantage from the recorded rewards."""

    @property
    def has_other_reward(self) -> bool:
        """Whether it was judged again and its weighted reward changed."""
        return self.has_text and self.replayed.reward != self.recorded.reward

    @property
    def has_other_sign(self) -> bool:
        """Whether it was judged again and its advantage changed sign."""
        return self.has_text and self.sign != self.recorded_sign


@dataclass(frozen=True, slots=True)
class ReplayedStep:
    """The completions of a step that were judged again."""

    step: int
    completions: int
    changed_rewards: int
    changed_signs: int
    recorded_mean: float | None
    mean: float | None
    """The mean of the judged rewards, replayed."""

    @classmethod
    def of(cls, step: int, rows: Sequence[ReplayedRow]) -> ReplayedStep:
        """The figures of a step's rows."""
        return cls(
            step,
            len(rows),
            sum(row.has_other_reward for row in rows),
            sum(row.has_other_sign for row in rows),
            _mean([row.recorded.reward for row in rows]),
            _mean([row.replayed.reward for row in rows]),
        )


@dataclass(frozen=True, kw_only=True)
class Replay:
    """The rewards and advantages of a training's completions, as recorded and replayed."""

    rows: Sequence[ReplayedRow]
    names: Sequence[str]
    """The replay's reward functions, in the order of the replayed rewards."""
    recorded_names: Sequence[str]
    """The training's, in the order of the recorded rewards."""
    kept_as_recorded: Sequence[str]
    """Those of the replay's rewards that were not judged again."""
    share: float
    """The share of groups whose text is kept."""
    steps: list[ReplayedStep]
    judged: int
    """Completions whose text is kept."""
    reproduced: int
    """Completions whose recorded advantage the trainer's code gives again, bit for bit."""
    changed_rewards: int
    """Completions whose weighted reward changed."""
    changed_signs: int
    """Completions whose advantage changed sign."""
    first_changed_reward: int | None
    """The first step with a changed reward, or None."""
    first_changed_sign: int | None
    """The first step in which an advantage changed sign, or None."""

    def as_json(self) -> dict[str, Any]:
        """The figures, without the rows."""
        figures = {**vars(self)}
        completions = len(figures.pop("rows"))
        return {
            "rewards": figures.pop("names"),
            "recorded_rewards": figures.pop("recorded_names"),
            "completions": completions,
            **figures,
            "steps": [asdict(step) for step in self.steps],
        }


def replay(
    training: str | Path,
    *,
    reward_funcs: Sequence[RewardCall | str] | None = None,
    reward_weights: Sequence[float] | None = None,
    on_step: OnStep | None = None,
) -> Replay:
    """Judge a training's completions again, and compute the advantages by its trainer's code.

    `training` is the folder of a training whose completions were kept. Without `reward_funcs` the
    rewards are those of the training: the replay then has its rewards and advantages, bit for bit,
    unless a verifier has changed. Else they are functions as TRL takes them, which get no token
    ids, or names of the training's rewards, which stay as recorded; `reward_weights` are their
    weights. UsageError if nothing was kept or nothing can be judged again; DataError for a damaged
    file.
    """
    folder = find_rollouts(Path(training))
    if folder is None:
        raise UsageError(
            f"{training} holds no completions of a training: neither it nor its folder {ROLLOUTS} "
            f"has a {RECORD}; train with rollouts.share above 0"
        )
    record = read_record(folder)
    rewards = _replay_rewards(record, folder, reward_funcs, reward_weights)
    # gates and weights by step apply to the training's own rewards
    own = record.shaping if reward_funcs is None else {**record.shaping, "gates": {}, "weights": {}}
    other = replace(record, shaping=own)
    with _quiet():
        rows = list(_replayed(folder, record, other, rewards, on_step or (lambda step: None)))
    steps = [
        ReplayedStep.of(step, [row for row in of_step if row.has_text])
        for step, of_step in groupby(rows, key=lambda row: row.step)
    ]
    return Replay(
        rows=rows,
        names=[reward.name for reward in rewards],
        recorded_names=[reward.name for reward in record.rewards],
        kept_as_recorded=[reward.name for reward in rewards if reward.call is None],
        share=record.share,
        steps=steps,
        judged=sum(row.has_text for row in rows),
        reproduced=sum(row.is_reproduced for row in rows),
        changed_rewards=sum(step.changed_rewards for step in steps),
        changed_signs=sum(step.changed_signs for step in steps),
        first_changed_reward=next((step.step for step in steps if step.changed_rewards), None),
        first_changed_sign=next((step.step for step in steps if step.changed_signs), None),
    )


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence TRL's warnings of rewards that are all None; the result counts them."""
    logger = logging.getLogger("trl")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _replayed(
    folder: Path,
    record: RolloutRecord,
    other_record: RolloutRecord,
    rewards: Sequence[ReplayReward],
    on_step: OnStep,
) -> Iterator[ReplayedRow]:
    before = AdvantageReplay(record, [(reward.name, reward.weight) for reward in record.rewards])
    after = AdvantageReplay(other_record, [(reward.name, reward.weight) for reward in rewards])
    for rows in read_batches(folder):
        recorded = [
            Numbers(tuple(reward for _, reward in row.rewards), row.reward, row.advantage)
            for row in rows
        ]
        step = rows[0].step
        same = before.numbers([numbers.rewards for numbers in recorded], step)
        other = after.numbers(rewards_of_batch(rows, rewards), step)
        # A GPU may have rounded differently: numbers that don't change stay as recorded.
        replayed = [
            recorded[place] if same[place] == numbers else numbers
            for place, numbers in enumerate(other)
        ]
        signs_before, signs = (
            advantage_signs(record, rows, numbers) for numbers in (recorded, replayed)
        )
        for place, row in enumerate(rows):
            yield ReplayedRow(
                step=row.step,
                batch=row.batch,
                group=row.group,
                index=row.index,
                has_text=row.has_text,
                recorded=recorded[place],
                replayed=replayed[place],
                recorded_sign=signs_before[place],
                sign=signs[place],
                is_reproduced=same[place] == recorded[place],
            )
        on_step(step)


def _mean(rewards: Sequence[float | None]) -> float | None:
    judged = [reward for reward in rewards if reward is not None]
    return sum(judged) / len(judged) if judged else None


@dataclass(frozen=True)
class ReplayReward:
    """A reward of a replay. `call` judges; without it the recorded rewards stay."""

    name: str
    weight: float
    call: RewardCall | None
    recorded: int | None
    """The place of this reward among those of the training; None if it had no such reward."""


def _replay_rewards(
    record: RolloutRecord,
    folder: Path,
    functions: Sequence[RewardCall | str] | None,
    weights: Sequence[float] | None,
) -> list[ReplayReward]:
    if functions is not None:
        return other_rewards(record, functions, weights)
    if weights is not None:
        raise UsageError("reward_weights needs reward_funcs; pass both")
    rewards = same_rewards(record)
    if not any(reward.call for reward in rewards):
        raise UsageError(
            f"{folder}: the rewards {', '.join(reward.name for reward in rewards)} are not "
            "installed verifiers, so they can't be judged again; name a task or a verifier"
        )
    return rewards


def same_rewards(record: RolloutRecord) -> list[ReplayReward]:
    """The rewards of the training; those that can't be made again stay as recorded."""
    functions: dict[str, RewardCall] = {}
    for reward in record.rewards:
        if reward.origin is None or reward.name in functions:
            continue
        arguments: Mapping[str, Any] = reward.origin["arguments"]
        is_one = reward.origin["function"] == "reward_func"
        made = [reward_func(**arguments)] if is_one else reward_funcs(**arguments)[0]
        functions |= {function.__name__: function for function in made}
    return [
        ReplayReward(reward.name, reward.weight, functions.get(reward.name), place)
        for place, reward in enumerate(record.rewards)
    ]


def other_rewards(
    record: RolloutRecord,
    functions: Sequence[RewardCall | str],
    weights: Sequence[float] | None,
) -> list[ReplayReward]:
    """Other rewards; a text is the name of one that the training had, which stays as recorded.

    UsageError if the weights are not one for each function.
    """
    if weights is None:
        weights = [1.0] * len(functions)
    if not functions or len(weights) != len(functions):
        raise UsageError(
            f"{len(functions)} reward functions and {len(weights)} weights; give a weight for each"
        )
    places = {reward.name: place for place, reward in enumerate(record.rewards)}
    rewards = []
    for function, weight in zip(functions, weights, strict=True):
        if isinstance(function, str):
            if function not in places:
                raise UnknownName.among("reward of this training", function, places)
            rewards.append(ReplayReward(function, weight, None, places[function]))
        else:
            name = getattr(function, "__name__", type(function).__name__)
            origin = getattr(function, "origin", None)
            place = places.get(name)
            if origin is None or place is None or record.rewards[place].origin != origin:
                place = None
            rewards.append(ReplayReward(name, weight, function, place))
    return rewards


def rewards_of_batch(
    rows: Sequence[RolloutRow], replay_rewards: Sequence[ReplayReward]
) -> list[Rewards]:
    """The rewards of a generated batch, row by row.

    A row without text keeps the recorded rewards. If the training lacked one of the rewards, such
    a row is left out like an unjudged one.
    """
    texts = [row for row in rows if row.has_text]
    arguments = _arguments(texts)  # the same objects for all functions of a task, which judge once
    columns: list[Sequence[float | None]] = []
    for reward in replay_rewards:
        if not texts:
            columns.append([])
        elif reward.call is not None:
            columns.append(reward.call(**arguments))
        else:
            assert reward.recorded is not None
            columns.append([row.rewards[reward.recorded][1] for row in texts])
    judged = iter(zip(*columns, strict=True))
    return [next(judged) if row.has_text else _as_recorded(row, replay_rewards) for row in rows]


def _as_recorded(row: RolloutRow, replay_rewards: Sequence[ReplayReward]) -> Rewards:
    """The recorded rewards; all None if the training lacked one of the replay's."""
    places = [reward.recorded for reward in replay_rewards if reward.recorded is not None]
    if len(places) < len(replay_rewards):
        return [None] * len(replay_rewards)
    return [row.rewards[place][1] for place in places]


def _arguments(rows: Sequence[RolloutRow]) -> dict[str, Any]:
    """What TRL passes to a reward function, except the token ids."""
    turns = [row.conversation() for row in rows]
    names = dict.fromkeys(name for row in rows for name in row.columns or ())
    return {
        **{name: [(row.columns or {}).get(name) for row in rows] for name in names},
        "prompts": [prompt for prompt, _ in turns],
        "completions": [completion for _, completion in turns],
    }


class AdvantageReplay:
    """The trainer's own code over given rewards, batch by batch in the order of the training.

    The trainer is configured as `record` says, with the (name, weight) pairs of `weights` as its
    rewards, and has a model of one small layer. Generation and reward functions are replaced by
    recorded values; all code after them is the trainer's.
    """

    def __init__(self, record: RolloutRecord, weights: Sequence[tuple[str, float]]) -> None:
        self._given: Sequence[Rewards] = ()
        self._numbers: Sequence[Numbers] = ()
        with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
            warnings.simplefilter("ignore")  # TRL warns that generation is replaced
            from trl import GRPOConfig

            config = GRPOConfig(
                output_dir=folder,
                num_generations=record.num_generations,
                per_device_train_batch_size=record.num_generations,
                scale_rewards=record.scale_rewards,
                multi_objective_aggregation=record.multi_objective_aggregation,
                reward_weights=[weight for _, weight in weights],
                beta=0.0,
                use_cpu=True,
                bf16=False,
                report_to="none",
            )
            functions = [self._function(place, name) for place, (name, _) in enumerate(weights)]
            self._trainer = _trainer(config, functions, record)
        self._trainer.model.train()
        watch_batches(self._trainer, self._take)

    def numbers(self, rewards: Sequence[Rewards], step: int) -> Sequence[Numbers]:
        """The numbers of each completion of the next batch, which the training's `step` drew."""
        self._given = rewards
        self._trainer.state.global_step = step - 1
        self._trainer._generate_and_score_completions([{"prompt": "x"} for _ in rewards])
        self._trainer._metrics["train"].clear()
        return self._numbers

    def _take(self, completions: object, numbers: Sequence[Numbers]) -> None:
        self._numbers = numbers

    def _function(self, place: int, name: str) -> Any:
        def recorded(completions: Sequence[object], **_: object) -> list[float | None]:
            return [rewards[place] for rewards in self._given]

        recorded.__name__ = name
        return recorded


def _trainer(config: Any, functions: Sequence[Any], record: RolloutRecord) -> Any:
    from datasets import Dataset

    from rewardkit.trainers.recipe_trainer import MomentumGRPOTrainer, RecipeGRPOTrainer

    trainer: Any = RecipeGRPOTrainer if record.momentum is None else MomentumGRPOTrainer
    return trainer(
        model=_smallest_model(),
        reward_funcs=list(functions),
        args=config,
        train_dataset=Dataset.from_dict({"prompt": ["x"]}),
        processing_class=_smallest_tokenizer(),
        rollout_func=_no_rollouts,
        **record.shaping,
        **(record.momentum or {}),
    )


def _no_rollouts(prompts: Sequence[object], trainer: object) -> dict[str, Any]:
    """One token in place of each completion."""
    ids = [[1] for _ in prompts]
    return {"prompt_ids": ids, "completion_ids": [*ids], "logprobs": [[0.0] for _ in prompts]}


def _smallest_model() -> Any:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=4,
        hidden_size=4,
        intermediate_size=4,
        num_hidden_layers=1,
        num_attention_heads=1,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=3,
    )
    return LlamaForCausalLM(config)


def _smallest_tokenizer() -> Any:
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    words = {"x": 0, "<s>": 1, "</s>": 2, "<pad>": 3}
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel(words, unk_token="x")),
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
    )


def check_folder(folder: Path, *, overwrite: bool) -> None:
    """UsageError if `folder` is a checkpoint's, or holds files, unless `overwrite`."""
    check_output_folder(folder)
    if folder.is_dir() and any(folder.iterdir()) and not overwrite:
        raise UsageError(f"{folder} isn't empty; choose another folder, or use --overwrite")


def write_replay(replay: Replay, folder: Path) -> None:
    """Write both files. Raises WriteError."""
    import pyarrow
    from pyarrow import parquet

    folder.mkdir(parents=True, exist_ok=True)
    table = pyarrow.Table.from_pylist([_record(replay, row) for row in replay.rows])
    with replaced_file(folder / ROWS) as partial:
        parquet.write_table(table, partial, compression="zstd")
    replace_text(folder / FIGURES, json.dumps(replay.as_json(), indent=2) + "\n")


def _record(replay: Replay, row: ReplayedRow) -> dict[str, Any]:
    return {
        "step": row.step,
        "batch": row.batch,
        "group": row.group,
        "index": row.index,
        "judged": row.has_text,
        "recorded_reward": row.recorded.reward,
        "recorded_advantage": row.recorded.advantage,
        "reward": row.replayed.reward,
        "advantage": row.replayed.advantage,
        "other_sign": row.has_other_sign,
        "rewards": [
            {"name": name, "reward": reward}
            for name, reward in zip(replay.names, row.replayed.rewards, strict=True)
        ],
    }
