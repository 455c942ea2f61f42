"""The verdicts of `tool_calls` on changed calls of BFCL's rows, beside bfcl-eval's checker.

pip install --no-deps --target PEER bfcl-eval
PYTHONPATH=PEER python benchmarks/tool_calls.py FOLDER   (with bfcl_*.jsonl.gz: question, function,
possible_answer)
"""

from __future__ import annotations

import gzip
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from types import ModuleType, SimpleNamespace
from typing import Any

from rewardkit.audit.generators.tools import CHANGES, FORMATS, Calls, ToolRow
from rewardkit.records import Sample
from rewardkit.verifiers.tool_calls import ToolCalls

SEED = 0
Peer = Callable[[Calls], bool]


def main() -> None:
    """Print how many verdicts are the label's and the peer's, and both speeds."""
    ours, bfcl = ToolCalls(), ToolCalls(rules="bfcl")
    labels: Counter[str] = Counter()
    agreement: Counter[tuple[str, str]] = Counter()
    between: Counter[tuple[str, bool, bool]] = Counter()
    speeds: Counter[str] = Counter()
    for row, peer, family, calls, right in variants(Path(sys.argv[1])):
        reference = json.dumps(row.possible)
        expected = peer(calls)
        between[family, right, expected] += 1
        for form, text, columns in written(row, calls):
            if form == "XML" and not has_own_types(row, calls):
                continue
            sample = Sample(reference, columns=columns)
            verdict = ours(text, sample)
            labels["right" if verdict.correct is right else "missed"] += 1
            if verdict.correct is not right:
                print("missed:", family, form, text, reference, verdict.message)
            same = bfcl(text, sample).correct is expected
            agreement[form, "same" if same else "different"] += 1
            if not same:
                print("different:", family, form, text, reference, expected)
        time_both(speeds, bfcl, peer, row, calls)
    print("labels, rules='ours':", dict(labels))
    print("bfcl-eval's verdicts, rules='bfcl':", dict(agreement))
    print(
        "verdicts a CPU-second:",
        {name: round(speeds["verdicts"] / speeds[name]) for name in ("tool_calls", "bfcl-eval")},
    )
    for (family, right, taken), count in sorted(between.items()):
        if right is not taken:
            print(f"{family}: {'right' if right else 'wrong'}, bfcl-eval says otherwise: {count}")


def variants(folder: Path) -> Iterator[tuple[ToolRow, Peer, str, Calls, bool]]:
    """Each row's calls in each family, with the peer's judgement and the label."""
    for path in sorted(folder.glob("bfcl_*.jsonl.gz")):
        category = path.name.removeprefix("bfcl_").removesuffix(".jsonl.gz")
        for line in gzip.decompress(path.read_bytes()).splitlines():
            fields = json.loads(line)
            row = ToolRow(fields["function"], fields["possible_answer"])
            for family, (change, right) in CHANGES.items():
                rng = Random(f"{SEED} {fields['id']} {family}")
                calls = row.calls(rng)
                if change(row, calls, rng):
                    yield row, peer_checker(row, category), family, calls, right


def written(row: ToolRow, calls: Calls) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """The calls in each format: its name, the text and the row's columns."""
    columns = {"function": row.functions}
    yield "OpenAI", "", {**columns, "tool_calls": message_calls(calls)}
    for form, write in FORMATS.items():
        yield form, write(calls), columns


def message_calls(calls: Calls) -> list[dict[str, Any]]:
    """Calls in OpenAI's field of a message."""
    return [
        {
            "type": "function",
            "id": f"call_{number}",
            "function": {"name": one["name"], "arguments": json.dumps(one["arguments"])},
        }
        for number, one in enumerate(calls)
    ]


def has_own_types(row: ToolRow, calls: Calls) -> bool:
    """Whether XML can state the calls: it takes from the schema what is a text."""
    types = {
        (function["name"], name): schema["type"]
        for function in row.functions
        for name, schema in function["parameters"]["properties"].items()
    }
    return all(
        isinstance(value, str) == (types.get((call["name"], name), "string") in ("string", "any"))
        for call in calls
        for name, value in call["arguments"].items()
    )


def peer_checker(row: ToolRow, category: str) -> Peer:
    """bfcl-eval's checker of a row."""
    # model_config imports the clients of all vendors; only whether dots become underscores is read
    config: Any = ModuleType("bfcl_eval.constants.model_config")
    config.MODEL_CONFIG_MAPPING = {"any": SimpleNamespace(underscore_to_dot=False)}
    sys.modules.setdefault(config.__name__, config)
    from bfcl_eval.constants.enums import Language
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker

    def check(calls: Calls) -> bool:
        given = [{call["name"]: call["arguments"]} for call in calls]
        try:
            verdict = ast_checker(
                row.functions, given, row.possible, Language.PYTHON, category, "any"
            )
        except Exception:  # it stops at values that it doesn't expect
            return False
        return bool(verdict["valid"])

    return check


def time_both(
    speeds: Counter[str], verifier: ToolCalls, peer: Peer, row: ToolRow, calls: Calls
) -> None:
    """Add the CPU seconds of both on the same text, with the reading of the calls in it."""
    text = FORMATS["Hermes"](calls)
    sample = Sample(json.dumps(row.possible), columns={"function": row.functions})
    started = time.process_time()
    verifier(text, sample)
    middle = time.process_time()
    peer([json.loads(one) for one in re.findall(r"<tool_call>\n(.*?)\n</tool_call>", text, re.S)])
    speeds.update({"tool_calls": middle - started, "bfcl-eval": time.process_time() - middle})
    speeds["verdicts"] += 1


if __name__ == "__main__":
    main()
