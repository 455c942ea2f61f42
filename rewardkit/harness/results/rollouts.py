"""The completions of a training: TRL's files of `log_completions`, with rewardkit's columns."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from rewardkit.errors import DataError
from rewardkit.harness.results.data_files import read_rows
from rewardkit.records import Verdict
from rewardkit.text.transcripts import last_message

COMPLETIONS = "completions"
"""The folder of TRL's files, in a training's folder."""
BEFORE = "rollouts"
"""The folder of the files that rewardkit wrote up to 0.2."""

_NAME = re.compile(r"(completions_|steps?-\d+-)\d+\.parquet")

OUTCOMES = {"right": True, "wrong": False, "unjudged": None}

NO_SIGNAL = 1e-3
"""Smaller advantages are rounding errors of a group whose rewards are all equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutRow:
    """One completion of a training."""

    step: int
    """The optimizer step at which TRL logged it."""
    group: str
    """The number of the prompt in its step, from 0."""
    index: int
    """The completion's number within its group, from 0."""
    prompt: str
    completion: str
    rewards: Mapping[str, float | None]
    """By the name of the reward function; None is unjudged."""
    advantage: float | None
    columns: Mapping[str, Any]
    """The other columns of the data set's row."""
    verdicts: Mapping[str, Verdict]
    """By the name of the verifier or task."""

    @property
    def sign(self) -> int:
        """The sign of the advantage: 1, 0 or -1."""
        if self.advantage is None or abs(self.advantage) < NO_SIGNAL:
            return 0
        return 1 if self.advantage > 0 else -1


def find_rollouts(training: Path) -> Path | None:
    """The folder of a training's completions: `training` itself or the one in it, if any."""
    folders = (training, training / COMPLETIONS, training / BEFORE)
    return next((folder for folder in folders if rollout_files(folder)), None)


def rollout_files(folder: Path) -> list[Path]:
    """The files of completions in a folder, in the order of their steps."""
    files = [path for path in folder.glob("*.parquet") if _NAME.fullmatch(path.name)]
    return sorted(files, key=lambda path: [int(number) for number in re.findall(r"\d+", path.name)])


def remove_steps_after(folder: Path, step: int) -> None:
    """Remove TRL's files of later steps, which are trained again."""
    for path in rollout_files(folder):
        if int(re.findall(r"\d+", path.name)[0]) > step:
            path.unlink()


def read_groups(folder: Path) -> Iterator[list[RolloutRow]]:
    """The groups of completions of one prompt, in the order of the training.

    DataError for a file that isn't TRL's or one of an earlier version.
    """
    for path in rollout_files(folder):
        try:
            groups = list(_groups(read_rows(path)))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(
                f"{path} can't be read as completions of a training ({error!r}); move it away to "
                "go on without its steps"
            ) from error
        yield from groups


def _groups(records: Sequence[Mapping[str, Any]]) -> Iterator[list[RolloutRow]]:
    """A file's groups: TRL's rows of one prompt follow one another."""
    of_step: dict[int, int] = {}
    # 0.2 could keep a row without its text
    whole = (record for record in records if record["completion"] is not None)
    for _, group in groupby(whole, key=_problem):
        rows = list(group)
        step = rows[0]["step"]
        number = of_step[step] = of_step.get(step, -1) + 1
        yield [_row(row, str(number), index) for index, row in enumerate(rows)]


def _problem(record: Mapping[str, Any]) -> tuple[str, ...]:
    names = ("step", "batch", "prompt")
    others = _columns(record), record.get("group") if _is_earlier(record) else None
    return tuple(str(value) for value in (*map(record.get, names), *others))


def _is_earlier(record: Mapping[str, Any]) -> bool:
    """Whether version 0.2 wrote the row."""
    return isinstance(record.get("rewards"), list)


def _columns(record: Mapping[str, Any]) -> str:
    """The data set's row as JSON."""
    named = (record[name] for name in record if name == "columns" or name.endswith("/columns"))
    return next((value for value in named if isinstance(value, str)), "{}")


def plain_rollout(record: Mapping[str, Any]) -> dict[str, Any]:
    """A row of these files with the columns of its problem; DataError if they aren't JSON."""
    try:
        return {**json.loads(_columns(record)), **record}
    except (TypeError, ValueError) as error:
        raise DataError(f"the columns of a completion aren't a JSON object: {error}") from error


def _row(record: Mapping[str, Any], group: str, index: int) -> RolloutRow:
    prompt, completion = record["prompt"], record["completion"]
    if not isinstance(prompt, str):
        turns = [*prompt, *([] if isinstance(completion, str) else completion[:-1])]
        alone = last_message(turns, "user") if len(turns) == 1 else ""
        prompt = alone or json.dumps(turns, ensure_ascii=False, default=str)
    if _is_earlier(record):
        rewards = {entry["name"]: entry["reward"] for entry in record["rewards"]}
        verdicts = {
            entry["name"]: Verdict.from_json(
                {**entry, "parts": {part["name"]: part["score"] for part in entry["parts"]}}
            )
            for entry in record["verdicts"] or ()
        }
    else:
        # TRL's columns of rewards are numbers; the columns that functions log have a slash
        rewards = {
            name: _number(value)
            for name, value in record.items()
            if "/" not in name
            and name not in ("step", "advantage")
            and isinstance(value, float | None)
        }
        labels = [name.removesuffix("/verdict") for name in record if name.endswith("/verdict")]
        verdicts = {label: _verdict(record, label) for label in labels}
    return RolloutRow(
        step=record["step"],
        group=group,
        index=index,
        prompt=prompt,
        completion=last_message(completion, "assistant"),
        rewards=rewards,
        advantage=_number(record["advantage"]),
        columns=json.loads(_columns(record)),
        verdicts=verdicts,
    )


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


def _verdict(record: Mapping[str, Any], label: str) -> Verdict:
    fields = {name: record[f"{label}/{name}"] for name in ("answer", "failure", "message")}
    correct = OUTCOMES[record[f"{label}/verdict"]]
    filled = {"answer": fields["answer"] or None, "failure": fields["failure"] or None}
    score = None if correct is None else _number(record[f"{label}/score"])
    return Verdict.from_json({**fields, **filled, "correct": correct, "score": score})
