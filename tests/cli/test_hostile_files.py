"""Whatever a file holds, a command ends with a status and a sentence, never with a traceback."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import run_command
from tests.support.damaged_files import (
    DAMAGED_FILES,
    GARBLED,
    RUN_FILES,
    SHARD_FILES,
    SWEEP_FILES,
    USER_FILES,
)
from tests.support.rows import write_rows

pytestmark = pytest.mark.slow

JUNK: tuple[Any, ...] = (None, True, -1, 1e400, 10**400, "", "x", [], [[]], {}, {"a": {}}, "\ud800")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a data set, completions, a finished run and a scored one."""
    folder = tmp_path_factory.mktemp("whole")
    rows = [
        {"question": f"q{i}", "answer": f"#### {i}", "completion": f"#### {i}", "id": f"{i}"}
        for i in range(4)
    ]
    write_rows(folder / "rows.jsonl", rows)
    assert run_command(*eval_command(folder), "-o", folder / "run") == 0
    return folder


def eval_command(folder: Path) -> list[object]:
    rows = folder / "rows.jsonl"
    return [
        *("eval", "--task", "gsm8k", "--data", rows, "--backend", "replay"),
        *("--model", rows, "--quiet"),
    ]


def assert_no_traceback(capsys: pytest.CaptureFixture[str], *command: object) -> None:
    status = run_command(*command)
    out, err = capsys.readouterr()
    if "Traceback" in err:
        pytest.fail(ascii((command, err[-1500:])))
    assert status in (0, 1, 2)
    assert status == 0 or (out + err).strip(), command


def readers(run: Path, whole: Path) -> Iterator[list[object]]:
    """Every command that reads a run's folder."""
    out = run.parent
    yield ["compare", whole, run]
    yield ["compare", run, whole, "--json"]
    yield ["report", run, "-o", out / "page.html"]
    yield ["export", run, "--parquet", out / "s.parquet", "--overwrite"]
    yield ["export", run, "--model-index", out / "index.md", "--overwrite"]
    yield ["score", run, "--quiet"]
    yield [*eval_command(whole.parent), "-o", run]


def garbled(content: bytes, seed: int) -> bytes:
    """The content with a few bytes changed, cut or repeated."""
    chance = random.Random(seed)
    changed = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(changed) or 1)
        match chance.randrange(4):
            case 0:
                changed[place : place + 1] = bytes([chance.randrange(256)])
            case 1:
                del changed[place : place + chance.randrange(200)]
            case 2:
                changed[place:place] = changed[place : place + chance.randrange(200)]
            case 3:
                changed[place:place] = chance.choice(list(GARBLED.values())[:8])
    return bytes(changed)


def junked(value: Any, chance: random.Random) -> Any:
    """The value with one part of it, at any depth, replaced by junk or left out."""
    if isinstance(value, dict) and value and chance.random() < 0.8:
        name = chance.choice(list(value))
        if chance.random() < 0.3:
            return {key: inner for key, inner in value.items() if key != name}
        return {**value, name: junked(value[name], chance)}
    if isinstance(value, list) and value and chance.random() < 0.8:
        index = chance.randrange(len(value))
        return [*value[:index], junked(value[index], chance), *value[index + 1 :]]
    return chance.choice(JUNK)


@pytest.mark.parametrize(
    ("name", "damage"), [pair for pair in DAMAGED_FILES if pair[0] in RUN_FILES]
)
def test_a_garbled_file_of_a_run(
    finished: Path, tmp_path: Path, name: str, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in readers(tmp_path / "run", finished / "run"):
        shutil.copytree(finished / "run", tmp_path / "run")
        (tmp_path / "run" / name).write_bytes(GARBLED[damage])
        assert_no_traceback(capsys, *command)
        shutil.rmtree(tmp_path / "run")


@pytest.mark.parametrize(
    ("files", "given"),
    [
        (SHARD_FILES, [("--shard", "1/2"), ("--shard", "2/2")]),
        (SWEEP_FILES, [("--model", "copy.jsonl")]),
    ],
)
def test_a_garbled_file_of_a_shard_or_a_sweep(
    files: tuple[str, ...],
    given: list[tuple[str, str]],
    finished: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("rows.jsonl", "copy.jsonl"):
        shutil.copy(finished / "rows.jsonl", name)
    out = tmp_path / "out"
    commands = [[*eval_command(tmp_path), "-o", out, *words] for words in given]
    for command in commands:
        assert run_command(*command) == 0
    reader = ["score", out] if len(given) == 2 else ["compare", out]
    for name, damage in DAMAGED_FILES:
        if name in files:
            good = (out / name).read_bytes()
            for command in (reader, commands[0]):
                (out / name).write_bytes(GARBLED[damage])
                assert_no_traceback(capsys, *command)
            (out / name).write_bytes(good)


def test_the_table_holds_at_least_forty_different_damaged_files() -> None:
    assert len(set(DAMAGED_FILES)) == len(DAMAGED_FILES) >= 40


MORE = pytest.param(1, marks=pytest.mark.faults)
"""Other damage of the same kinds."""


TASK = b"""name = "mine"
verifier = "math"
question = "question"
reference = "answer"
"""
PROMPT = b"{{ question }} Put the answer in \\boxed{}.\n"
RECIPE = b"""about = "mine"
task = "motion"
[trainer]
beta = 0.04
max_steps = 2
"""
CSV = b"question,answer,completion\na,#### 1,#### 1\nb,#### 2,#### 2\n"
ROW = b'{"question": "a", "answer": "#### 1", "completion": "#### 1", "id": "0"}\n'

EVAL = "eval --task gsm8k --backend replay --quiet --overwrite -o run"
FILES = {
    "mine.toml": (TASK, ["check --task FILE --data good.jsonl"]),
    "mine.jinja": (PROMPT, [f"{EVAL} --data good.jsonl --prompt FILE --model good.jsonl"]),
    "recipe.toml": (RECIPE, ["train FILE --model nowhere --check -o out"]),
    "rows.csv": (CSV, ["score FILE --task gsm8k --quiet"]),
    "rows.parquet": (b"PAR1" + ROW + b"PAR1", ["score FILE --verifier math"]),
    "rows.jsonl": (
        ROW,
        [
            "score FILE --task gsm8k --quiet",
            "score FILE --verifier math --reference-field answer --quiet -o scored --overwrite",
            f"{EVAL} --data FILE --model FILE",
            "check --task gsm8k --data FILE",
        ],
    ),
}


def contents(name: str, good: bytes, seed: int) -> Iterator[bytes]:
    if not seed:
        yield from (GARBLED[damage] for file, damage in DAMAGED_FILES if file == name)
    for number in range(3 * seed, 3 * seed + 3):
        yield garbled(good, number)
    chance = random.Random(seed)
    if good == ROW:
        for _ in range(4):
            yield json.dumps(junked(json.loads(ROW), chance)).encode() + b"\n"


@pytest.mark.parametrize("seed", [0, MORE])
@pytest.mark.parametrize("name", USER_FILES)
def test_a_garbled_file_of_a_user(
    name: str,
    seed: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.jsonl").write_bytes(ROW)
    good, commands = FILES[name]
    for content in contents(name, good, seed):
        Path(name).write_bytes(content)
        for command in commands:
            assert_no_traceback(capsys, *command.replace("FILE", name).split())


CHECKPOINT = (
    "config.json",
    "generation_config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "tokenizer.json",
    "chat_template.jinja",
    "model.safetensors",
)


@pytest.mark.parametrize("seed", [0, MORE])
@pytest.mark.parametrize("name", CHECKPOINT)
def test_a_garbled_checkpoint(
    name: str, seed: int, tiny_checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "good.jsonl"
    data.write_bytes(ROW)
    model = tmp_path / "model"
    shutil.copytree(tiny_checkpoint, model)
    file = model / name
    good = file.read_bytes() if file.exists() else b"{}"
    chance = random.Random(1 + seed)
    changed = range(2 * seed, 2 * seed + 2)
    broken = [*list(GARBLED.values())[seed:10:4], *(garbled(good, number) for number in changed)]
    if name.endswith(".json") and name != "tokenizer.json":
        broken += [json.dumps(junked(json.loads(good), chance)).encode() for _ in range(4)]
    for content in broken:
        file.write_bytes(content)
        assert_no_traceback(
            capsys,
            *("eval", "--task", "gsm8k", "--data", data, "--model", model, "--quiet"),
            *("--backend", "transformers", "--max-tokens", "2", "-o", tmp_path / "run"),
            "--overwrite",
        )
