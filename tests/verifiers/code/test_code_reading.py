"""Where the program is, and what it is put together with."""

from __future__ import annotations

import pytest

from rewardkit.verifiers.code.runner import assemble_program, last_block, program_in
from rewardkit.verifiers.reading import fenced_block

STUB = "import math\n\ndef helper(n):\n    return n\n\ndef area(r):\n    '''Return the area.'''\n"

DOCUMENTED = """def f():
    '''Three.

    ```python
    f()
    ```
    '''
    return 3"""


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("```python\nfirst\n```\nNo:\n```python\nsecond\n```", "second\n"),
        ("```py\nit\n```\nwhich prints\n```\n3\n```\n", "it\n"),
        ("```\nplain\n```", "plain\n"),
        ("```python\r\nlines of Windows\r\n```\r\n", "lines of Windows\r\n"),
        ("```python\nnever closed", "never closed"),
        ("~~~Python3\ntildes\n~~~", "tildes\n"),
        ("```bash\npip install\n```", "```bash\npip install\n```"),
        ("> ```python\n> def f():\n>     return 3\n> ```\n> So.", "def f():\n    return 3\n"),
        ("```python\nx = 1  # >\n> ```\n```", "x = 1  # >\n> ```\n"),
        ("```{.python .numberLines}\nPandoc\n```", "Pandoc\n"),
        ("```{python}\nQuarto\n```", "Quarto\n"),
        ("```python:main.py\nnamed\n```", "named\n"),
        ("<answer>\n```python\nfenced\n```\n</answer>", "fenced\n"),
        ("<answer>x = 1</answer>\n", "x = 1"),
        ("\ufeffx = 1", "x = 1"),
        ("no fence at all", "no fence at all"),
        ("```python\ns = '''\n````\n'''\n```", "s = '''\n"),
        ("", ""),
        ("print(3)\n```", "print(3)\n"),
        ("print(3)\n```\n\n", "print(3)\n"),
        ("def f():\n    return 3\n~~~~", "def f():\n    return 3\n"),
        ("    return 3\n```\nIt returns three.", "    return 3\n"),
        ("import sys\nprint(3)\n```\n\nThis prints 3.\n", "import sys\nprint(3)\n"),
        ("# A sum\nn = int(input())\n```\nFor 3:\n```\n6\n```", "# A sum\nn = int(input())\n"),
        ("print(1)\n```\nBetter:\n```python\nprint(2)\n```", "print(2)\n"),
        ("```python\nx\n```\n```", "x\n"),
        ("```\n```python\nx\n```\n```", "x\n"),
        ("Cut off:\n```\nx = 1", "x = 1"),
        ("# Approach\nWe add.\n```\nx = 1", "x = 1"),
        ("The answer is n = 5.\n```\nx = 1\n```", "x = 1\n"),
        ("Time complexity = O(n)\n\n```\nx = 1\n```", "x = 1\n"),
        ("from the statement we see n.\n```\nx = 1\n```", "x = 1\n"),
        ("# Step 1\nHere f(n) = n + 1 holds.\n~~~\nx = 1\n~~~", "x = 1\n"),
        ("from sys import stdin\nx = 1\n```\nIt reads.", "from sys import stdin\nx = 1\n"),
        ("a, b = 1, 2\n```\nIt reads.", "a, b = 1, 2\n"),
        ("rows[0][i] += 2\n```\nIt adds.", "rows[0][i] += 2\n"),
        (f"```python\n{DOCUMENTED}\n```", f"{DOCUMENTED}\n"),
        (f"Here:\n```\n{DOCUMENTED}\n```\nSo.", f"{DOCUMENTED}\n"),
        (DOCUMENTED, DOCUMENTED),
        (f"{DOCUMENTED}\n```", f"{DOCUMENTED}\n"),
        (f"@cache\n{DOCUMENTED}", f"@cache\n{DOCUMENTED}"),
        (DOCUMENTED.replace("    ", "\t"), DOCUMENTED.replace("    ", "\t")),
        ("1. Add:\n\n    ```python\n    x = 1\n    ```\n", "    x = 1\n"),
        ("1. Add:\n\n\t```python\n\tx = 1\n\t```\nDone.", "\tx = 1\n"),
        ("- ```python\n  x\n  ```\n   ```python\n   y\n   ```", "   y\n"),
    ],
)
def test_the_last_block_of_the_language_counts(text: str, program: str) -> None:
    assert program_in(text) == program


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("SELECT 1\n```", "SELECT 1\n"),
        ("WITH a AS (SELECT 1)\nSELECT * FROM a\n```\n", "WITH a AS (SELECT 1)\nSELECT * FROM a\n"),
        ('{"a": 1}\n```  \n', '{"a": 1}\n'),
        ("[1]\r\n~~~\r\n", "[1]\r\n"),
        ("```sql\nSELECT 1\n```\n```", "SELECT 1\n"),
        ("```sql\n-- as in\n    ```\nSELECT 1\n```", "-- as in\n    ```\nSELECT 1\n"),
        ("So:\n```\n", "So:\n"),
    ],
)
def test_a_fence_alone_at_the_end_closes_what_has_none_that_opens_it(text: str, block: str) -> None:
    assert fenced_block(text, "sql", "json") == block


def test_other_languages_have_other_names() -> None:
    text = "```python\nno\n```\n```c++\nyes\n```\n```python\nno\n```"
    assert program_in(text, "cpp") == "yes\n"


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("```python\na\n```\n```text\nb\n```", "b"),
        ("```python\na", ""),
        ("a", ""),
    ],
)
def test_livecodebench_reads_between_the_last_two_fences(text: str, program: str) -> None:
    assert last_block(text) == program


def test_a_program_that_defines_its_function_follows_what_the_prompt_has_before_it() -> None:
    program = assemble_program("def area(r):\n    return 3", "area", STUB, "import math")
    assert program == "import math\ndef area(r):\n    return 3"


def test_a_body_continues_the_stub() -> None:
    assert assemble_program("    return 3", "area", STUB, "import math") == STUB + "    return 3"


def test_a_program_in_a_list_defines_its_function() -> None:
    program = "  def area(r):\n      return 3"
    assert assemble_program(program, "area", STUB, "") == "def area(r):\n    return 3"


def test_a_future_import_stays_first_and_a_block_inside_a_list_is_moved_to_the_margin() -> None:
    program = assemble_program(
        "  from __future__ import annotations\n  x = 1", "", "", "import math"
    )
    assert program.startswith("from __future__ import annotations\nimport math")
    compile(program, "program", "exec")
