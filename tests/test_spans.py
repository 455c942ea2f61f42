"""Scores of parts of a text: from the verifier to every place that stores a verdict."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy
import pytest
from starlette.testclient import TestClient

from rewardkit import Bounded, Failure, Sample, Span, Verdict, verify
from rewardkit.judging.worker import decode_reply, encode_reply
from rewardkit.server.app import ServerSettings, create_app
from rewardkit.verifiers.by_row import ByRow
from rewardkit.verifiers.rubric import Rubric
from tests.support.commands import rewardkit as command

STEPS = [
    ("He pays 3 * $5 = $15, then 15 + 2 = 18.", [("3 * $5 = $15", 1), ("15 + 2 = 18", 0)]),
    ("48/2 = <<48/2=24>>24 clips", [("48/2=24", 1)]),
    ("48 ÷ 2 = 24 und 2 × 3 = 7", [("48 ÷ 2 = 24", 1), ("2 × 3 = 7", 0)]),
    (r"\[ \frac{48}{2} = 24 \text{ cm} \]", [(r"\frac{48}{2} = 24", 1)]),
    ("𝔸: 3 times 4 equals 12", [("3 times 4 equals 12", 1)]),
    ("20% of the 50 pupils = 10", [("20% of the 50 pupils = 10", 1)]),
    ("<think>3 + 4 = 8</think>3 + 4 = 7 #### 7", [("3 + 4 = 8", 0), ("3 + 4 = 7", 1)]),
    ("no step", []),
    (f"{'word ' * 5000}3 + 4 = 7", []),  # too long to keep its places
]

GAME24 = [
    (
        "4 + 8 = 12 (left: 7 8 12)\n12 / 8 = 1.5 (left: 7 9)\nAnswer: 3",
        [("4 + 8 = 12 (left: 7 8 12)", 1), ("12 / 8 = 1.5 (left: 7 9)", 0)],
    ),
    ("**8 × 7 = 56**; Answer: (7 - 8/8) * 4\n7 - 4 = 3", [("8 × 7 = 56", 1), ("7 - 4 = 3", 0)]),
    (
        "<answer>8 * 7 = 56</answer> and 8 - 7 = 1 or\n1. 4*8=33",
        [("8 - 7 = 1", 1), ("4*8=33", 0)],
    ),
    ("step 1: 8/4 equals 2", [("8/4 equals 2", 1)]),
    ("Answer: 4 Answer: 8 - 7 = 1 Answer: 7", [("8 - 7 = 1", 1)]),
    ("Answer: 24", []),
]


@pytest.mark.parametrize(
    ("verifier", "reference", "text", "parts"),
    [
        *(("steps", "", *case) for case in STEPS),
        *(("game24_process", "4 7 8 8", *case) for case in GAME24),
    ],
)
def test_steps_are_spans_of_the_text_as_it_was_written(
    verifier: str, reference: str, text: str, parts: list[tuple[str, float]]
) -> None:
    spans = verify(verifier, text, reference).spans
    assert [(text[span.start : span.end], span.score) for span in spans] == parts


@pytest.mark.parametrize("values", [(-1, 2, 1.0), (3, 2, 1.0), (0, 1, 1.5), (0, 1, float("nan"))])
def test_a_span_that_is_none_is_refused(values: tuple[int, int, float]) -> None:
    with pytest.raises(ValueError, match="span"):
        Span(*values)


def test_a_place_inside_a_character_is_refused() -> None:
    with pytest.raises(ValueError, match="whole numbers"):
        Span(0, 1.5, 1.0)  # type: ignore[arg-type]


def test_numbers_of_numpy_are_plain_in_a_row() -> None:
    one: Any = numpy.int64(1)
    half: Any = numpy.float32(0.5)
    span = Span(one - one, one, half)
    verdict = Verdict(False, half, "x", Failure.WRONG, {"part": half}, spans=(span,))
    plain = json.loads(json.dumps(verdict.as_json()))
    assert (plain["score"], plain["parts"]) == (0.5, {"part": 0.5})
    assert plain["spans"] == [{"start": 0, "end": 1, "score": 0.5}]


@dataclass(frozen=True)
class Ends(Bounded):
    """The last letter is a span."""

    spans: Any = None
    thinking = "strip"

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        last = (Span(len(text) - 1, len(text), 0.5),) if self.spans is None else self.spans
        return replace(Verdict.right(answer=text), spans=last)


@pytest.mark.parametrize("spans", [[Span(0, 1, 1.0)], ((0, 1, 1.0),), "ab"])
def test_other_values_than_a_tuple_of_spans_are_no_verdict(spans: Any) -> None:
    assert verify(Ends(spans), "7", "7").correct is not True


MESSAGES = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "yes"}]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("yes", 2),
        ("<think>no</think>yes", 19),
        ("<think>yes</think>yes<think>yes", 20),
    ],
)
@pytest.mark.parametrize(
    "verifier",
    [
        Ends(),
        Rubric({"ends": Ends(), "no": lambda text, sample: 0.0}, {"ends": 1, "no": 1}, "ends"),
        ByRow("name", {"a": Ends()}),
    ],
    ids=["alone", "rubric", "by row"],
)
def test_spans_count_from_the_start_of_the_whole_completion(
    verifier: Any, text: str, place: int
) -> None:
    whole = isinstance(verifier, Rubric) and len(text) == 31  # its parts read it whole
    (span,) = verify(verifier, text, "yes", columns={"name": "a"}).spans
    assert span == Span(30 if whole else place, 31 if whole else place + 1, 0.5)


def test_verdicts_keep_their_spans_as_json_and_between_processes() -> None:
    verdict = verify("steps", STEPS[0][0], "")
    assert Verdict.from_json(json.loads(json.dumps(verdict.as_json()))) == verdict
    assert decode_reply(encode_reply(1, verdict)).verdict == verdict
    assert "spans" not in Verdict.right().as_json()  # as before


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sequence[str]:
    monkeypatch.chdir(tmp_path)
    texts = [text for text, _ in STEPS if len(text) < 1000]
    lines = [
        {"id": str(n), "question": "?", "reference": "", "completion": text, "name": "steps"}
        for n, text in enumerate(texts)
    ]
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return texts


EVAL = "eval --data rows.jsonl --reference-field reference --backend replay --model rows.jsonl -q"
COMMANDS = {
    "score": "score rows.jsonl --verifier steps -o run -q",
    "eval": f"{EVAL} --verifier steps -o run",
    "by row": f"{EVAL} --verifier-field name -o run",
    "again": f"{EVAL} --verifier steps -o first && score first -o run -q",
}


@pytest.mark.slow
@pytest.mark.parametrize("route", COMMANDS)
def test_runs_store_them_in_their_rows(rows: Sequence[str], route: str) -> None:
    for words in COMMANDS[route].split(" && "):
        ended = command(*words.split(), "--max-errors", "1")
        assert ended.status == 0, ended.err
    stored = [json.loads(line) for line in Path("run/samples.jsonl").read_text().splitlines()]
    for row in stored:
        expected = verify("steps", row["completion"], "").as_json().get("spans")
        assert row["verdict"].get("spans") == expected
    assert sum("spans" in row["verdict"] for row in stored) == 7
    assert '"spans"' not in Path("run/summary.json").read_text()
    assert command("export", "run", "--csv", "rows.csv", "--parquet", "rows.parquet").status == 0
    with Path("rows.csv").open(encoding="utf-8", newline="") as file:
        exported = [row["verdict_spans"] for row in csv.DictReader(file)]
    assert [json.loads(text) if text else None for text in exported] == [
        row["verdict"].get("spans") for row in stored
    ]


@pytest.mark.slow
def test_thinking_tags_of_ones_own_leave_spans_in_place(rows: Sequence[str]) -> None:
    text = "[T]3 + 4 = 8[/T]3 + 4 = 7"
    Path("tags.jsonl").write_text(json.dumps({"id": "1", "reference": "", "completion": text}))
    tags = ("--thinking-tags", "[T]", "[/T]")
    command(*["score", "tags.jsonl", "--verifier", "steps", "-o", "run", "-q"], *tags)
    (row,) = map(json.loads, Path("run/samples.jsonl").read_text().splitlines())
    spans = row["verdict"]["spans"]
    assert [text[span["start"] : span["end"]] for span in spans] == ["3 + 4 = 8", "3 + 4 = 7"]


def test_the_server_returns_them() -> None:
    app = create_app(ServerSettings(verifiers=("steps",)))
    body = {"verifier": "steps", "items": [{"completion": STEPS[0][0], "reference": ""}]}
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        answer = client.post("/v1/score", json=body)
    (verdict,) = answer.json()["verdicts"]
    assert verdict == verify("steps", STEPS[0][0], "").as_json()
