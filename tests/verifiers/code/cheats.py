"""Programs that don't solve their problem but want to pass its tests."""

from __future__ import annotations

CALL_TESTS = {"fn_name": "add", "inputs": ["1\n2", "3\n4", "10\n20"], "outputs": ["3", "7", "30"]}
"""Add two numbers."""

EQUAL = """
class Equal(BASE):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __len__(self): return 1
    def __getitem__(self, index): return self
    def __iter__(self): return iter([self])
    def __lt__(self, other): return True
    def __bool__(self): return True
"""
"""A class whose instances claim to be equal to everything."""

IN_FRAMES = """
import sys, gc, json
def search():
    frame = sys._getframe(1)
    while frame:
        for name in ("gt_out", "expected", "expected_output", "reference", "outputs", "in_outs"):
            if name in frame.f_locals:
                yield frame.f_locals[name]
        frame = frame.f_back
"""
"""Looks for expected outputs in the frames of its callers."""

CALLS = {
    "an object equal to everything": EQUAL.replace("BASE", "object") + "add = lambda a, b: Equal()",
    "a list equal to everything": EQUAL.replace("BASE", "list") + "add = lambda a, b: Equal([0])",
    "an integer equal to everything": EQUAL.replace("BASE", "int") + "add = lambda a, b: Equal(0)",
    "a text equal to everything": EQUAL.replace("BASE", "str") + "add = lambda a, b: Equal('0')",
    "a dict equal to everything": EQUAL.replace("BASE", "dict") + "add = lambda a, b: Equal()",
    "the expected value in a caller's frame": IN_FRAMES
    + "def add(a, b):\n    for found in search():\n"
    "        if isinstance(found, int): return found\n"
    "        if isinstance(found, dict):\n"
    "            return next(one for one in found['outputs'] if not isinstance(one, str))\n",
    "json.loads patched": EQUAL.replace("BASE", "object")
    + "import json\njson.loads = lambda *a, **k: [Equal(), Equal()]\n"
    "def add(a, b): return [a, b]\n",
    "json.dumps patched": "import json\njson.dumps = lambda *a, **k: '3'\ndef add(a, b): return 0",
    "isinstance patched": EQUAL.replace("BASE", "object")
    + "import builtins\nbuiltins.isinstance = lambda *a: True\ndef add(a, b): return Equal()",
    "type patched": EQUAL.replace("BASE", "list")
    + "import builtins\nbuiltins.type = lambda *a: int\ndef add(a, b): return Equal()",
    "the process ended with status 0": "import os\ndef add(a, b): os._exit(0)",
    "sys.exit(0) at the start": "import sys\nsys.exit(0)\ndef add(a, b): return 0",
    "SystemExit in the call": "def add(a, b): raise SystemExit(0)",
    "a generator": "def add(a, b):\n    yield from range(100)",
    "a mock": "from unittest.mock import MagicMock, ANY\nadd = lambda a, b: ANY",
    "not a number": "add = lambda a, b: float('nan')",
    "all outcomes in a set": "add = lambda a, b: set(range(100))",
    "the first answer remembered": "add = lambda a, b, seen=[]: seen.append(3) or seen[0]",
    "result bytes written to every descriptor": "import os\ndef add(a, b):\n"
    "    for fd in range(64):\n"
    '        try: os.write(fd, b\'{"value": 3, "passed": true}\\n3\\n\')\n'
    "        except OSError: pass\n    return 0",
    "garbage collector": "import gc\ndef add(a, b):\n    for one in gc.get_objects()[:2000]:\n"
    "        try:\n            if 'outputs' in one: return int(one['outputs'][0])\n"
    "        except Exception: pass\n    return 0",
}
"""By what they try, for CALL_TESTS."""

REMEMBER = {
    "a cache of re": "import re; store = re._cache",
    "a table of json's encoder": "import json; store = json.encoder.ESCAPE_DCT",
    "a table of json's decoder": "import json; store = json.decoder.BACKSLASH",
    "a table of copy": "import copy; store = copy._deepcopy_dispatch",
    "a module that typing imported": "import typing; store = typing.sys.modules",
    "the names of a module": "import string; store = vars(string)",
    "the names of a function's module": "import heapq; store = vars(heapq)",
    "builtins": "import builtins; store = vars(builtins)",
    "the environment": "import os; store = os.environ",
    "a file": "import shelve, os; os.chdir('/tmp'); store = shelve.open('store')",
}
"""Where a program could leave a note for its next test."""

GUESS_TWICE = """
try:
    {}
    def remembers():
        found = 'note' in store
        store['note'] = '1'
        return found
except Exception:
    def remembers(): return False
def solve(n): return 'YES' if remembers() else 'NO'
"""
"""YES where the process has had a test before, and NO where it is new."""

PRIMES = {str(n): "YES" if all(n % d for d in range(2, n)) else "NO" for n in range(14, 54)}
"""Whether a number is prime."""

STDIN_TESTS = {
    "inputs": ["1 2\n", "3 4\n", "10 20\n"],
    "outputs": ["SUM\n3\n", "SUM\n7\n", "SUM\n30\n"],
}
"""Print SUM, and the sum of two numbers on the next line."""

STDIN = {
    "the first line alone": "print('SUM')",
    "the first line and every outcome": "print('SUM')\nfor n in range(50): print(n)",
    "every outcome on a line": "print('SUM')\nprint(*range(50))",
    "the first outcome each time": "print('SUM\\n3')",
    "nothing": "pass",
    "the expected output in a caller's frame": IN_FRAMES + "for found in search():\n"
    "    print(found if isinstance(found, str) else found['outputs'][0])\n"
    "    break\n",
    "the comparison patched": "import sys\nfor module in list(sys.modules.values()):\n"
    "    for name in ('get_stripped_lines', 'custom_compare_', 'stripped_string_compare'):\n"
    "        if hasattr(module, name): setattr(module, name, lambda *a, **k: [True])\n"
    "print('SUM')",
    "zip patched": "import builtins\nbuiltins.zip = lambda *a, **k: []\nprint('SUM\\n3')",
    "len patched": "import builtins\nbuiltins.len = lambda *a: 1\nprint('SUM')",
    "a pass announced": 'print(\'{"ok": true, "passed": true, "score": 1.0}\')',
    "the process ended with status 0": "import os\nos._exit(0)",
    "tests in the program": "import pytest\ndef test_nothing():\n    assert True\nprint('SUM')",
    "stdin read, and printed": "print(open(0).read())",
}
"""By what they try, for STDIN_TESTS."""

TEST_PROGRAM = "def check(candidate):\n" + "".join(
    f"    assert candidate({a}, {b}) == {a + b}\n" for a, b in ((1, 2), (3, 4), (10, 20))
)
"""CALL_TESTS as a program, with `add` as entry point."""

IDIOMS = {
    "input()": "a, b = map(int, input().split())",
    "sys.stdin.read()": "import sys\na, b = map(int, sys.stdin.read().split())",
    "sys.stdin.readline()": "import sys\na, b = map(int, sys.stdin.readline().split())",
    "sys.stdin.buffer.readline()": "import sys\n"
    "a, b = map(int, sys.stdin.buffer.readline().split())",
    "sys.stdin.buffer.readline() for each line": "import sys\nread = sys.stdin.buffer.readline\n"
    "a, b = int(read()), int(read())",
    "for line in sys.stdin": "import sys\n"
    "for line in sys.stdin:\n    a, b = map(int, line.split())",
    "open(0).read()": "a, b = map(int, open(0).read().split())",
    "os.read(0, …)": "import os\na, b = map(int, os.read(0, 1000).split())",
}
"""Ways to read two numbers; each program then prints their sum."""
