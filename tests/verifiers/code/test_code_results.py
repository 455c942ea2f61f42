"""What right programs read and return: long numbers, long results, types that JSON lacks."""

from __future__ import annotations

import json
from typing import Any

import pytest

import rewardkit
from rewardkit.confinement import Isolation
from rewardkit.verifiers.code.verifier import Code
from tests.confinement.levels import CONFINING, works

pytestmark = pytest.mark.slow  # starts processes

SEVENS = "7" * 5000
STDIN: dict[str, tuple[str, str, str]] = {
    "a long power": ("n = 2**20000\ns = str(n)\nprint(int(s) == n, len(s))", "", "True 6021"),
    "a long power, printed": ("print(10**5000)", "", "1" + "0" * 5000),
    "a long number, read": ("print(int(input()) % 1000)", SEVENS, "777"),
    "long numbers, added": (
        "print(sum(map(int, input().split())))", f"{SEVENS} 1", SEVENS[1:] + "8"
    ),
    "a long number's digits": ("print(sum(map(int, str(7 * (10**5000 - 1) // 9))))", "", "35000"),
    "a long number in text": (f"print({SEVENS} % 10)", "", "7"),
    "a long number, formatted": ("print(f'{10**6000:d}'.count('0'))", "", "6000"),
    "a long number in JSON": (
        "import json; print(json.loads(input())[0] % 10)", f"[{SEVENS}]", "7"
    ),
    "60,000 digits": ("print(len(str(3**125000)))", "", "59641"),
    "the size of stdin": (
        "import os\nprint(os.read(0, os.fstat(0).st_size).decode())", "1 2", "1 2"
    ),
    "stdin in memory": (
        "import mmap\nprint(mmap.mmap(0, 0, access=mmap.ACCESS_READ)[:].decode())", "1 2", "1 2"
    ),
    "stdin, once more": (
        "import sys\nsys.stdin.read(); sys.stdin.seek(0); print(input())", "1 2", "1 2"
    ),
    "stdin, from the start": (
        "import os\nos.read(0, 9); os.lseek(0, 0, 0); print(input())", "1 2", "1 2"
    ),
    "stdin, by its length": (
        "import os\nn = os.lseek(0, 0, 2); os.lseek(0, 0, 0); print(n, os.read(0, n).decode())",
        "1 2", "3 1 2",
    ),
    "stdin, by the path's size": (
        "import os, sys\nprint(open(0, 'rb').read(os.stat(sys.stdin.fileno()).st_size).decode())",
        "1 2", "1 2",
    ),
    "stdin, long": (
        "import os\nprint(len(os.read(0, os.fstat(0).st_size)))", "x" * 2**20, str(2**20)
    ),
    "stdin, asynchronous": (
        "import asyncio\nasync def main(): print(input())\nasyncio.run(main())", "1 2", "1 2"
    ),
}  # fmt: skip

IMPORTS = """
from array import array
from decimal import Decimal
from fractions import Fraction
"""  # the rest, such as `deque`, is in the prelude
CALLS: dict[str, tuple[str, list[Any], Any]] = {
    "4 MiB of text": ("def f(n): return 'x' * n", [2**22], "x" * 2**22),
    "4 MiB of lines": ("def f(n): return '\\n' * n", [2**22], "\n" * 2**22),
    "4 MiB beyond ASCII": ("def f(n): return 'é' * n", [2**22], "é" * 2**22),
    "4 MiB of commas": ("def f(n): return 'a,[' * n", [2**20], "a,[" * 2**20),
    "4 MiB of numbers": ("def f(n): return list(range(n))", [600_000], [*range(600_000)]),
    "100,000 pairs": (
        "def f(n): return [(i, i) for i in range(n)]", [10**5], [[i, i] for i in range(10**5)]
    ),
    "a long number": ("def f(n): return 10**n - 1", [5000], "LONG"),
    "range": ("def f(n): return range(n)", [3], [0, 1, 2]),
    "a range of a step": ("def f(n): return range(n, 0, -2)", [5], [5, 3, 1]),
    "a generator": ("def f(n):\n    for i in range(n): yield i", [3], [0, 1, 2]),
    "a generator of generators": (
        "def f(n): return ((j for j in range(i)) for i in range(n))", [3], [[], [0], [0, 1]]
    ),
    "map": ("def f(n): return map(str, range(n))", [3], ["0", "1", "2"]),
    "filter": ("def f(n): return filter(None, range(n))", [3], [1, 2]),
    "zip": ("def f(n): return zip(range(n), 'abc')", [2], [[0, "a"], [1, "b"]]),
    "reversed": ("def f(n): return reversed([1, 2, n])", [3], [3, 2, 1]),
    "itertools": ("def f(n): return itertools.permutations(range(n))", [2], [[0, 1], [1, 0]]),
    "maps in a list": ("def f(n): return [map(abs, [-i]) for i in range(n)]", [2], [[0], [1]]),
    "keys of a dict": ("def f(n): return {1: n, 2: n}.keys()", [3], [1, 2]),
    "values of a dict": ("def f(n): return {1: n, 2: n}.values()", [3], [3, 3]),
    "items of a dict": ("def f(n): return {1: n}.items()", [3], [[1, 3]]),
    "deque": ("def f(n): return deque([1, n])", [3], [1, 3]),
    "deques in a list": ("def f(n): return [deque([1]), deque()]", [3], [[1], []]),
    "array": ("def f(n): return array('i', [1, n])", [3], [1, 3]),
    "Decimal": ("def f(n): return Decimal(n) / 2", [3], 1.5),
    "a Decimal no float is": ("def f(n): return [Decimal('0.1')]", [3], [0.1]),
    "a whole Decimal": ("def f(n): return Decimal('4.0')", [3], 4),
    "a Decimal, as text": ("def f(n): return Decimal('0.10')", [3], "0.10"),
    "Fraction": ("def f(n): return Fraction(n, 2)", [3], 1.5),
    "a third": ("def f(n): return Fraction(1, n)", [3], 1 / 3),
    "a Fraction, as text": ("def f(n): return Fraction(n, 2)", [3], "3/2"),
    "date": ("def f(n): return date(2024, 1, n)", [3], "2024-01-03"),
    "datetime": ("def f(n): return datetime.datetime(2024, 1, n)", [3], "2024-01-03 00:00:00"),
    "datetime, by ISO": (
        "def f(n): return datetime.datetime(2024, 1, n)", [3], "2024-01-03T00:00:00"
    ),
    "timedelta": ("def f(n): return timedelta(hours=n)", [3], "3:00:00"),
    "ndarray": ("import numpy as np\ndef f(n): return np.arange(n)", [3], [0, 1, 2]),
    "long double": ("import numpy as np\ndef f(n): return np.longdouble(n) / 2", [3], 1.5),
    "array of long doubles": (
        "import numpy as np\ndef f(n): return np.ones(n, 'g')", [2], [1.0, 1.0]
    ),
    "an ndarray of rows": (
        "import numpy as np\ndef f(n): return np.eye(n)", [2], [[1.0, 0.0], [0.0, 1.0]]
    ),
    "an ndarray in a dict": (
        "import numpy as np\ndef f(n): return {'a': np.ones(n)}", [2], {"a": [1.0, 1.0]}
    ),
    "async def": ("async def f(n): return n + 1", [3], 4),
    "async def that waits": (
        "import asyncio\nasync def f(n):\n    await asyncio.sleep(0)\n    return n", [3], 3
    ),
    "async def that gathers": (
        "import asyncio\nasync def g(i): return i\n"
        "async def f(n): return await asyncio.gather(*map(g, range(n)))", [3], [0, 1, 2],
    ),
    "an asynchronous method": ("class Solution:\n    async def f(self, n): return [n]", [3], [3]),
    "an asynchronous generator": (
        "async def f(n):\n    for i in range(n): yield i", [3], [0, 1, 2]
    ),
}  # fmt: skip

SCRIPTS: dict[str, tuple[str, str]] = {
    "a long number": ("def f(n): return n + 1", f"assert f({SEVENS}) == {SEVENS[1:]}8"),
    "a long text": ("def f(n): return 'x' * n", "assert f(2**22) == 'x' * 2**22"),
    "range": ("def f(n): return range(n)", "assert f(3) == range(3) and list(f(2)) == [0, 1]"),
    "a generator": ("def f(n): yield from range(n)", "assert list(f(3)) == [0, 1, 2]"),
    "the next of a generator": (
        "def f(n): yield from range(n)",
        "g = f(2)\nassert next(g) == 0 and next(g) == 1 and next(g, None) is None",
    ),
    "an endless generator": (
        "def f(n):\n    while True:\n        yield n\n        n += 1",
        "from itertools import islice\nassert list(islice(f(3), 4)) == [3, 4, 5, 6]",
    ),
    "two generators": (
        "def f(n):\n    while True: yield (n := n + 1)",
        "a, b = f(0), f(10)\nassert [next(a), next(b), next(a)] == [1, 11, 2]",
    ),
    "an error in a generator": (
        "def f(n):\n    yield 1 // n\n    raise KeyError(n)",
        "g = f(1)\nnext(g)\ntry: next(g)\nexcept KeyError: pass\nelse: raise AssertionError",
    ),
    "a generator's type": (
        "def f(n): yield n", "import types\nassert isinstance(f(1), types.GeneratorType)"
    ),
    "map": ("def f(n): return map(str, range(n))", "assert list(f(2)) == ['0', '1']"),
    "deque": (
        "from collections import deque\ndef f(a):\n    a.append(1)\n    return deque([2])",
        "from collections import deque\nd = deque([0], 3)\n"
        "assert f(d) == deque([2]) and d == deque([0, 1]) and d.maxlen == 3",
    ),
    "Decimal": (
        "def f(x): return x / 3 * 3",
        "from decimal import Decimal\n"
        "assert f(Decimal(6)) == 6 and f(Decimal('.3')) == Decimal('.3')",
    ),
    "Fraction": (
        "def f(x): return x / 3",
        "from fractions import Fraction\nassert f(Fraction(1)) == Fraction(1, 3)",
    ),
    "date": (
        "from datetime import timedelta\ndef f(d): return d + timedelta(1)",
        "from datetime import date, datetime\nassert f(date(2024, 2, 28)) == date(2024, 2, 29)\n"
        "assert f(datetime(2024, 1, 1, 2)) == datetime(2024, 1, 2, 2)",
    ),
    "time": (
        "from datetime import *\ndef f(t): return [t.replace(hour=1), timedelta(3)]",
        "from datetime import time, timedelta\n"
        "assert f(time(2, 3))[:2] == [time(1, 3), timedelta(3)]",
    ),
    "ndarray": (
        "def f(x): return x * 2 + x.mean()",
        "import numpy as np\nx = f(np.array([[1.0, 3.0]]))\n"
        "assert x.shape == (1, 2) and np.array_equal(x, [[4, 8]]) and x.dtype == float",
    ),
    "an ndarray that is changed": (
        "def f(x): x[0] = 5",
        "import numpy as np\nx = np.zeros(2)\nf(x)\nassert x.tolist() == [5, 0]",
    ),
    "bytearray": ("def f(b): return b + b'!'", "assert f(bytearray(b'a')) == bytearray(b'a!')"),
    "async def": ("async def f(n): return n + 1", "import asyncio\nassert asyncio.run(f(1)) == 2"),
    "async def, awaited": (
        "import asyncio\nasync def f(n):\n    await asyncio.sleep(0)\n    return [n]",
        "import asyncio\nasync def main(): return await asyncio.gather(f(1), f(2))\n"
        "assert asyncio.run(main()) == [[1], [2]]",
    ),
    "async def that raises": (
        "async def f(n): raise ValueError(n)",
        "import asyncio\ntry: asyncio.run(f(1))\nexcept ValueError: pass\nelse: assert 0",
    ),
    "an asynchronous generator": (
        "async def f(n):\n    for i in range(n): yield i",
        "import asyncio\nasync def main(): return [i async for i in f(3)]\n"
        "assert asyncio.run(main()) == [0, 1, 2]",
    ),
}  # fmt: skip


def wrong(level: Isolation, programs: dict[str, str], references: dict[str, str]) -> list[str]:
    """Return the names of the programs that aren't right, and what was said of them."""
    verdicts = rewardkit.verify_batch(
        Code(isolation=works(level)), list(programs.values()), list(references.values())
    )
    return [
        f"{name}: {verdict.message:.300}"
        for name, verdict in zip(programs, verdicts, strict=True)
        if not verdict.correct
    ]


def called(arguments: list[Any], expected: Any) -> str:
    text = "9" * 5000 if expected == "LONG" else json.dumps(expected)
    return json.dumps({"fn_name": "f", "inputs": [json.dumps(arguments[0])], "outputs": [text]})


@pytest.mark.parametrize("level", CONFINING)
def test_right_programs_read_and_print_as_they_do_elsewhere(level: Isolation) -> None:
    programs = {name: row[0] for name, row in STDIN.items()}
    references = {
        name: json.dumps({"inputs": [row[1]], "outputs": [row[2]]}) for name, row in STDIN.items()
    }
    assert wrong(level, programs, references) == []


@pytest.mark.parametrize("level", CONFINING)
def test_right_results_of_calls_are_right(level: Isolation) -> None:
    programs = {name: IMPORTS + row[0] for name, row in CALLS.items()}
    assert wrong(level, programs, {name: called(*row[1:]) for name, row in CALLS.items()}) == []


WRONG: dict[str, tuple[str, Any]] = {
    "a shorter range": ("range(n - 1)", [0, 1, 2]),
    "a longer generator": ("(i for i in range(n + 1))", [0, 1, 2]),
    "an endless iterator": ("iter(int, 1)", [0, 0]),
    "another order": ("map(int, '210')", [0, 1, 2]),
    "an iterator for its value": ("iter([5])", 5),
    "a set for a list": ("{0, 1, 2}", [0, 1, 2]),
    "a deque for a dict": ("deque([(1, 2)])", {"1": 2}),
    "a Decimal beside it": ("Decimal('0.11')", 0.1),
    "a Decimal that is no number": ("Decimal('nan')", 0),
    "a large Decimal": ("Decimal('1e999999999')", 5),
    "a Fraction beside it": ("Fraction(1, 3)", 0.33),
    "a Fraction for another text": ("Fraction(2, 4)", "2/4"),
    "another date": ("date(2024, 1, 4)", "2024-01-03"),
    "a date for its year": ("date(2024, 1, 3)", 2024),
    "a number for its text": ("15", "15"),
    "a text for its number": ("'1.5'", 1.5),
    "a long number that differs": ("10**5000", "LONG"),
    "an array that differs": ("array('i', [1, 2])", [1, 3]),
    "an object": ("object()", [1]),
    "many lists": ("[[]] * 10**6", [[]] * 1000),
}


@pytest.mark.parametrize("level", CONFINING)
def test_wrong_results_of_calls_are_wrong(level: Isolation) -> None:
    programs = [f"{IMPORTS}\ndef f(n): return {result}" for result, _ in WRONG.values()]
    references = [called([3], expected) for _, expected in WRONG.values()]
    verdicts = rewardkit.verify_batch(
        Code(isolation=works(level), timeout=2.0), programs, references
    )
    assert [(name, verdict.correct) for name, verdict in zip(WRONG, verdicts, strict=True)] == [
        (name, False) for name in WRONG
    ]


@pytest.mark.parametrize("level", CONFINING)
def test_right_results_pass_test_programs(level: Isolation) -> None:
    programs = {name: row[0] for name, row in SCRIPTS.items()}
    references = {
        name: "from solution import f\ndef test_f():\n    " + row[1].replace("\n", "\n    ")
        for name, row in SCRIPTS.items()
    }
    assert wrong(level, programs, references) == []
