"""Run a program on one test at a time, and compare what it gives with what the test expects."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rewardkit.confinement import Jail, Outcome
from rewardkit.records import Failure
from rewardkit.verifiers.code.comparison import (
    OutputComparison,
    equal_outputs,
    equal_values,
    load_checker,
)
from rewardkit.verifiers.code.formats import ALIASES, Case, Suite, before_function
from rewardkit.verifiers.reading import fenced_block, fenced_blocks


def program_in(text: str, language: str = "python") -> str:
    """Return the last fenced block in `language`, else the last without a language, else the text.

    A text that is one `<answer>` block stands for what is in it.

    >>> program_in("Like this:\\n```python\\nprint(1)\\n```\\nwhich prints\\n```\\n1\\n```")
    'print(1)\\n'
    """
    labels = [language, *(label for label, of in ALIASES.items() if of == language)]
    text = text.lstrip("\ufeff")
    bare, fenced = "", text
    if _BEGINNING.match(text):  # fences further in are in its strings
        bare = _FENCE_AT_MARGIN.split(text, maxsplit=1)[0]
        fenced = text[len(bare) :]
    if bare and not any(label in labels for label, _ in fenced_blocks(fenced)):
        return bare
    program = fenced_block(fenced, *labels)
    answer = _ANSWER.fullmatch(program)
    return answer[1] if answer else program


_BEGINNING = re.compile(
    r"(?:[ \t]*(?:#.*)?\n)*+[ \t]*+"
    r"(?:(?:import|def|class|async|return|using|template|typedef|const|int|long|void|struct|static"
    r"|unsigned)\s\S|from\s+[\w.]+\s+import\b"
    r"|(?:for|while|if|with)\b.*[:{]\s*$|print\(|@\w|try:|\"{3}|'{3}"
    r"|(?:[\w.()\[\]]|, *)+ *(?:[-+*/%&|^]|//|\*\*)?= ?[^\s=])",
    re.MULTILINE,
)
"""How a program begins, and prose doesn't."""
_FENCE_AT_MARGIN = re.compile(r"^(?= {0,3}(?:```|~~~))", re.MULTILINE)
_ANSWER = re.compile(r"\s*<answer>(.*)</answer>\s*", re.DOTALL | re.IGNORECASE)


def last_block(text: str) -> str:
    """Return what is between the last two lines with fences, as LiveCodeBench reads programs.

    >>> last_block("```cpp\\nint x;\\n```")
    'int x;'
    """
    lines = text.split("\n")
    fences = [index for index, line in enumerate(lines) if "```" in line]
    return "\n".join(lines[fences[-2] + 1 : fences[-1]]) if len(fences) > 1 else ""


def imports(program: str, packages: Sequence[str]) -> bool:
    """Whether a line of a program imports one of these packages.

    >>> imports("import sys, numpy as np", ["numpy"])
    True
    """
    names = "|".join(map(re.escape, packages)) or "$."
    line = rf"^[ \t]*(?:from\s+(?:{names})\b|import\s.*\b(?:{names})\b)"
    return re.search(line, program, re.MULTILINE) is not None


_FUTURE = re.compile(r"^from __future__ import .*$", re.MULTILINE)


def assemble_program(program: str, name: str, stub: str, before: str) -> str:
    """Return the program to run: `before` and `program`, or `stub` and its continuation.

    `before` precedes a program that defines `name` itself.

    >>> assemble_program("    return n + 1", "f", "import math\\ndef f(n):\\n", "import math")
    'import math\\ndef f(n):\\n    return n + 1'
    """
    header = rf"^(?:async +def|def|class) +{re.escape(name)}\b|^{re.escape(name)} *="
    dedented = textwrap.dedent(program)
    if stub and not re.search(header, dedented, re.MULTILINE):
        return stub + program
    program = dedented
    futures = _FUTURE.findall(program)
    rest = _FUTURE.sub("", program) if futures else program
    return "\n".join(filter(None, [*futures, before, rest]))


LONGEST_SHOWN = 300
"""Characters of an input or an output that a verdict's message shows."""

_ENDS = {
    "timeout": "it ran out of time",
    "memory": "it used more memory than allowed",
    "output": "it printed more than allowed",
    "threads": "it started more threads than allowed",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a test doesn't pass. `failure` is None if no program is to blame."""

    failure: Failure | None
    reason: str
    sides: tuple[tuple[str, str], ...] = ()

    def shown(self) -> str:
        """Return the input and both outputs, each on a line of its own."""
        return "".join(f"\n{name:<8}  {_short(text)}" for name, text in self.sides)


def _short(text: str) -> str:
    line = text.strip().encode(errors="backslashreplace").decode().replace("\n", "⏎")
    half = LONGEST_SHOWN // 2
    return line if len(line) <= LONGEST_SHOWN else f"{line[:half]} … {line[-half:]}"


Runner = Callable[[Case], Fault | None]
"""Gives what is wrong with a program in a test; None if it passes."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How outputs are compared."""

    comparison: OutputComparison
    tolerance: float
    checker: str

    def printed(self, outcome: Outcome, case: Case) -> Fault | None:
        """Compare what a program printed; one that raises or exits with a status is wrong."""
        expected, output = case.expected[0], outcome.stdout.decode(errors="replace")
        lenient = self.comparison == "livecodebench"
        if outcome.ended == "exit" and (lenient or outcome.status == 0):
            pass
        elif outcome.ended != "completed":
            return fault_of(outcome, ("input", case.given), ("expected", expected))
        if self.checker:
            same = bool(load_checker(self.checker)(case.given, output, expected))
        else:
            same = equal_outputs(output, expected, self.comparison, self.tolerance)
        sides = (("input", case.given), ("expected", expected), ("output", output))
        return None if same else Fault(Failure.WRONG, "the output differs", sides)

    def returned(self, outcome: Outcome, case: Case) -> Fault | None:
        """Compare what a function returned."""
        if outcome.ended == "returned" and any(
            equal_values(outcome.value, expected, self.comparison, self.tolerance)
            for expected in case.expected
        ):
            return None
        given, expected = ("input", _repr(case.given)), ("expected", _repr(case.expected[0]))
        if outcome.ended != "returned":
            return fault_of(outcome, given, expected)
        sides = (given, expected, ("output", _repr(outcome.value)))
        return Fault(Failure.WRONG, "the result differs", sides)


def _repr(value: Any) -> str:
    try:
        return repr(value)
    except ValueError:  # an integer with more digits than Python prints
        return "a very long number"


def fault_of(outcome: Outcome, *sides: tuple[str, str]) -> Fault:
    """Return why a program that gave no result is wrong."""
    failure = Failure.TIMEOUT if outcome.ended == "timeout" else Failure.WRONG
    stderr = outcome.stderr.decode(errors="replace")
    lines = stderr.strip().splitlines()
    error = lines[-1] if lines else f"it ended by {outcome.ended} {outcome.status}"
    statement = _STATEMENT.findall(stderr)
    reason = f"{statement[-1]}: {error}" if statement else error
    if outcome.ended == "opaque":
        reason = f"it returned what can't be compared: {outcome.value}"
    return Fault(failure, _short(_ENDS.get(outcome.ended, reason)), sides)


_STATEMENT = re.compile(r'^  File "tests\.py".*\n    (\S.*)$', re.MULTILINE)
"""The statement of a test program in a traceback."""


def defines_class(program: str, tests: Suite) -> bool:
    """Whether a program is LeetCode's class, and not a function."""
    return "class Solution" in program or tests.entry_point.startswith("Solution.")


def python_runner(jail: Jail, program: str, tests: Suite, rules: Rules, in_process: bool) -> Runner:
    """Return what runs a Python program on a test."""
    has_class = defines_class(program, tests)
    before = before_function(tests.stub, tests.function)
    header = "Solution" if has_class else tests.function
    source = assemble_program(program, header, tests.stub, before)
    if tests.kind == "stdin":
        return lambda case: rules.printed(jail.run(source, case.given.encode()), case)
    if tests.kind == "call":
        function = f"Solution.{tests.function}" if has_class else tests.function
        return lambda case: rules.returned(jail.call(source, function, case.given), case)
    if has_class and tests.function:
        source += METHOD.format(tests.function)

    def check(case: Case) -> Fault | None:
        if in_process:
            return script_fault(jail.check_in_process(case.given, source), in_process)
        return script_fault(jail.check(case.given, source, case.expected), in_process)

    return check


METHOD = "\n\ndef {0}(*values, **named):\n    return Solution().{0}(*values, **named)\n"
"""Calls a method of LeetCode's class as a function."""


def script_fault(outcome: Outcome, in_process: bool) -> Fault | None:
    """Return why a test program fails; None if all of it ran.

    No program is to blame where the tests can't import a module: the program, in another process,
    can't make that so.
    """
    if outcome.ended == "completed":
        return None
    if in_process:  # the program may have reported anything
        return fault_of(outcome)
    if outcome.ended == "opaque":
        return Fault(None, "the tests pass an object that can't cross; set in_process")
    if outcome.ended == "missing":
        return Fault(None, f"the tests themselves fail: {outcome.value}")
    return fault_of(outcome)


def build_program(
    jail: Jail, program: str, build: Sequence[str], execute: Sequence[str], rules: Rules
) -> Runner | Fault:
    """Return what runs a program in another language; a fault if the program doesn't compile."""
    places = {"{src}": "program.cpp", "{out}": "./program"}
    build, execute = ([places.get(word, word) for word in command] for command in (build, execute))
    outcome = jail.build(build, {places["{src}"]: program.encode(errors="surrogatepass")})
    if outcome.ended == "timeout":
        return fault_of(outcome)
    if (outcome.ended, outcome.status) not in (("exit", 0), ("completed", 0)):
        lines = outcome.stderr.decode(errors="replace").splitlines()
        error = next((line for line in lines if "error" in line), outcome.ended)
        return Fault(Failure.WRONG, f"it doesn't compile: {_short(error)}")
    return lambda case: rules.printed(jail.execute(execute, case.given.encode()), case)
