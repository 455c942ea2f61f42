"""A program on several inputs: in one process where nothing can pass from run to run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from rewardkit.confinement import Budget, Jail, Opaque, Outcome
from rewardkit.confinement.program import keeps_to_itself
from tests.confinement.levels import CONFINING, works
from tests.verifiers.code.cheats import CALLS, IDIOMS, STDIN

pytestmark = pytest.mark.slow  # starts processes

INPUTS = [b"1 2\n", b"30 4\n", b"", b"5 6\n7\n"]
PAIRS = [[1, 2], [30, 4], [-5, 6], [7, 7]]

KEEP = {
    "arithmetic": "def f(a, b):\n    return a + b",
    "a global counter": "n = 0\ndef f(a, b):\n    global n\n    n += 1\n    return n",
    "a default that is changed": "def f(a, b, seen=[]):\n    seen.append(a)\n    return seen",
    "answers in order": "answers = iter(range(9))\ndef f(a, b):\n    return next(answers)",
    "an attribute of a function": "def f(a, b):\n    f.n = getattr(f, 'n', 0) + 1\n    return f.n",
    "an attribute of a class": "class Solution:\n    memo = {}\n    def f(self, a, b):\n"
    "        self.memo[a] = b\n        return len(self.memo)\n"
    "def f(a, b): return Solution().f(a, b)",
    "a cache": "from functools import cache\ncalls = []\n@cache\ndef g(n):\n    calls.append(n)\n"
    "    return len(calls)\ndef f(a, b):\n    return g(1)",
    "linked nodes": "class Node:\n    def __init__(self, value): self.value = value\n"
    "def f(a, b):\n    node = Node(a)\n    node.next = Node(b)\n    return node.next.value",
    "the recursion limit": "import sys\ndef f(a, b):\n    sys.setrecursionlimit(99 + a)\n"
    "    return a\ndef g(n): return n and g(n - 1)",
    "modules of the standard library": "import heapq, math\nfrom collections import deque\n"
    "def f(a, b):\n    heap = [a, b]\n    heapq.heapify(heap)\n    return [math.gcd(a, b), heap]",
    "a name of a module as a parameter": "def f(sample, choice):\n    return sample + choice",
}
"""Programs that may run again in their process, each with the function f."""

REACH = {
    "an attribute of a module": "import math\ndef f(a, b):\n    math.pi += 1\n    return math.pi",
    "an attribute of an imported class": "from collections import Counter\ndef f(a, b):\n"
    "    Counter.n = getattr(Counter, 'n', 0) + 1\n    return Counter.n",
    "random numbers": "import random\ndef f(a, b):\n    return random.random()",
    "random numbers without an import": "def f(a, b):\n    return randint(0, 10**9)",
    "builtins": "import builtins\ndef f(a, b):\n    builtins.n = a\n    return a",
    "loaded modules": "import sys\ndef f(a, b):\n    sys.modules.setdefault('x', a)\n"
    "    return sys.modules['x']",
    "names in sys": "from sys import modules\ndef f(a, b):\n    return modules.setdefault('x', a)",
    "sys under another name": "import sys as s\ndef f(a, b):\n"
    "    return s.modules.setdefault('x', a)",
    "the module of a builtin": "def f(a, b):\n    m = print.__self__\n"
    "    m.n = getattr(m, 'n', 0) + 1\n    return m.n",
    "an item of what a module has": "import string\ndef f(a, b):\n"
    "    vars(string)['n'] = vars(string).get('n', 0) + 1\n    return string.n",
    "text that is run": "def f(a, b):\n    exec('import math; math.n = 1')\n    return a",
    "setattr": "import math\ndef f(a, b):\n    setattr(math, 'n', getattr(math, 'n', 0) + 1)\n"
    "    return math.n",
    "another process's input": "def f(a, b):\n    open(0).read()\n    return a",
    "threads": "import threading\ndef f(a, b):\n    return threading.active_count()",
    "a stream": "import sys\ndef f(a, b):\n    sys.stdout = None\n    return a",
    "a relative import": "def f(a, b):\n    from . import x\n    return a",
}
"""Programs that may not."""


@pytest.fixture(params=CONFINING, scope="module")
def jail(request: pytest.FixtureRequest) -> Iterator[Jail]:
    with Jail(isolation=works(request.param), budget=Budget(memory=2**29), prelude=True) as jail:
        yield jail


def decisive(outcomes: Sequence[Outcome]) -> list[tuple[object, ...]]:
    """What decides a verdict; addresses of objects differ between processes."""
    return [
        (one.ended, one.status, one.value if one.ended == "returned" else None, one.stdout)
        for one in outcomes
    ]


@pytest.mark.parametrize("source", KEEP.values(), ids=KEEP)
def test_a_program_that_keeps_to_itself_shares_a_process_and_finds_it_new(
    jail: Jail, source: str
) -> None:
    outcomes = [*jail.calls(source, "f", PAIRS)]
    assert [one.shared for one in outcomes] == [False, True, True, True]
    assert decisive(outcomes) == decisive([jail.call(source, "f", pair) for pair in PAIRS])


@pytest.mark.parametrize("source", REACH.values(), ids=REACH)
def test_a_program_that_reaches_beyond_itself_has_a_process_for_each_input(
    jail: Jail, source: str
) -> None:
    outcomes = [*jail.calls(source, "f", PAIRS)]
    assert not any(one.shared for one in outcomes)
    assert decisive(outcomes) == decisive([jail.call(source, "f", pair) for pair in PAIRS])


def test_a_recursion_limit_ends_with_its_run(jail: Jail) -> None:
    source = KEEP["the recursion limit"] + "\ndef h(n):\n    return f(1, 1) if n == 0 else g(n)"
    outcomes = [*jail.calls(source, "h", [[0], [500]])]
    assert [one.value for one in outcomes] == [1, 0]
    assert outcomes[1].shared


SCRIPTS = {
    **{name: f"{source}\nprint(a + b)" for name, source in IDIOMS.items()},
    **STDIN,
    "a line that is left": "print(input())",
    "its own end": "print(input())\nraise SystemExit",
    "an end in the middle": "n = input()\nprint(n)\nif n.startswith('3'): exit()\nprint(n)",
    "an error at one input": "print(10 // (int(input().split()[0]) - 30))",
    "a status at one input": "import sys\nn = input()\nprint(n)\nif n > '3': sys.exit(1)",
    "output without an end of line": "import sys\nsys.stdout.write(sys.stdin.read())",
    "bytes": "import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())",
    "a closed output": "import sys\nprint(sys.stdin.read())\nsys.stdout.close()",
    "what it defined before": "try: print(n)\nexcept NameError: n = 1",
}


@pytest.mark.parametrize("source", SCRIPTS.values(), ids=SCRIPTS)
def test_scripts_end_on_each_input_as_they_do_alone(jail: Jail, source: str) -> None:
    assert decisive([*jail.runs(source, INPUTS)]) == decisive(
        [jail.run(source, one) for one in INPUTS]
    )


@pytest.mark.parametrize("source", CALLS.values(), ids=CALLS)
def test_calls_end_on_each_input_as_they_do_alone(jail: Jail, source: str) -> None:
    together = decisive([*jail.calls(source, "add", PAIRS)])
    assert together == decisive([jail.call(source, "add", pair) for pair in PAIRS])


@pytest.mark.parametrize(
    ("body", "ended"),
    [
        ("\n        while True: pass", "timeout"),
        ("return [0] * 10**10", "memory"),
        ("print('x' * 2**25)", "output"),
        ("1 / 0", "exit"),
    ],
)
def test_what_ends_a_shared_process_is_run_again_alone(jail: Jail, body: str, ended: str) -> None:
    source = f"def f(n):\n    if n == 2: {body}\n    return n"
    with Jail(isolation=jail.isolation, budget=Budget(cpu_seconds=1, memory=2**29)) as short:
        outcomes = [*short.calls(source, "f", [[n] for n in range(5)])]
    assert [one.ended for one in outcomes] == [
        "returned", "returned", ended, "returned", "returned"
    ]  # fmt: skip
    assert [one.value for one in outcomes if one.ended == "returned"] == [0, 1, 3, 4]
    assert outcomes[1].shared
    assert not outcomes[2].shared


@pytest.mark.parametrize("size", [2**16, 2**16 + 1, 3 * 2**20])
def test_long_inputs_reach_a_program_whole(jail: Jail, size: int) -> None:
    inputs = [b"x" * size, b"y" * size, b"z"]
    source = "import sys\ntext = sys.stdin.read()\nprint(len(text), text[0])"
    assert [one.stdout.decode() for one in jail.runs(source, inputs)] == [
        f"{size} x\n", f"{size} y\n", "1 z\n"
    ]  # fmt: skip


def test_long_results_come_back_whole(jail: Jail) -> None:
    outcomes = jail.calls("def f(n): return 'x' * n", "f", [[3 * 2**20], [2**20], [2**21], [1]])
    assert [len(one.value) for one in outcomes] == [3 * 2**20, 2**20, 2**21, 1]


def test_arguments_that_can_not_cross_stop_only_their_own_test(jail: Jail) -> None:
    outcomes = jail.calls("def f(x): return 1", "f", [[1], [object()], [2]])
    assert next(outcomes).value == 1
    with pytest.raises(Opaque):
        next(outcomes)


def test_a_long_run_leaves_the_next_its_own_time(jail: Jail) -> None:
    source = "def f(n):\n    for _ in range(n): pass\n    return n"
    assert jail.call(source, "f", [10**7]).cpu_seconds > 0.1
    outcomes = [*jail.calls(source, "f", [[4 * 10**7]] * 3)]
    assert [one.ended for one in outcomes] == ["returned"] * 3
    assert not any(one.shared for one in outcomes)


@pytest.mark.parametrize("source", ["(" * 90 + "0" + ")" * 90, "x = " + "-" * 5000 + "1"])
def test_a_text_that_is_hard_to_read_has_an_answer(source: str) -> None:
    assert isinstance(keeps_to_itself(source), bool)
