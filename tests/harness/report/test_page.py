"""The page without a browser: what it contains, what may run in it, what it leaves out."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html.parser
import json
import re
from dataclasses import replace
from typing import Any

import pytest

from rewardkit.harness.report import samples
from rewardkit.harness.report.page import (
    LIBRARIES,
    as_json,
    command_line,
    compressed,
    for_html,
    latex_library,
    markdown_library,
    page_script,
    page_style,
    render,
)
from rewardkit.harness.report.samples import pack
from rewardkit.harness.results.completion_row import CompletionRow
from tests.harness.report.hostile import HOSTILE, hostile_run
from tests.support.runs import as_run, row


class Elements(html.parser.HTMLParser):
    """The elements of a page, with their attributes and the text of scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[str] = []
        self._open = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self.raw.append("")
        self._open = True

    def handle_endtag(self, tag: str) -> None:
        self._open = False

    def handle_data(self, data: str) -> None:
        if self._open:
            self.raw[-1] += data


OURS = {
    *("html", "head", "meta", "title", "style", "body", "a", "header", "p", "nav", "button"),
    *("main", "section", "noscript", "h1", "h2", "table", "tr", "td", "script"),
}


def test_what_a_model_wrote_becomes_no_element_and_no_attribute() -> None:
    calm = Elements(render([as_run("calm", [row("1")])]))
    hostile = Elements(render([hostile_run()]))
    assert {tag for tag, _ in hostile.found} <= OURS
    scripts = [attributes for tag, attributes in hostile.found if tag == "script"]
    markdown, latex, own = [one for one in scripts if "type" not in one]
    assert markdown == latex == own == {}
    names = {name for _, attributes in hostile.found for name in attributes}
    assert names <= {name for _, attributes in calm.found for name in attributes}


def test_the_policy_allows_the_pages_own_script_and_style_and_nothing_else() -> None:
    page = Elements(render([hostile_run()]))
    policy = next(at["content"] for tag, at in page.found if at.get("http-equiv"))
    assert policy is not None
    allowed = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    own: dict[str, list[str]] = {"script": [], "style": []}
    for (tag, attributes), raw in zip(page.found, page.raw, strict=True):
        if tag in own and "type" not in attributes:
            digest = hashlib.sha256(raw.encode()).digest()
            own[tag].append(f"'sha256-{base64.b64encode(digest).decode()}'")
    assert allowed == {
        "default-src": "'none'",
        "script-src": " ".join(own["script"]),
        "style-src": " ".join(own["style"]),
        "font-src": "data:",
        "style-src-attr": "'unsafe-inline'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }


@pytest.mark.parametrize(
    ("completion", "carried"),
    [
        ("It is 7.", []),
        ("It is **7**.", ["markdownit"]),
        ("It is \\boxed{7}.", ["markdownit", "katex"]),
    ],
)
def test_a_page_carries_the_libraries_that_its_texts_need(
    completion: str, carried: list[str]
) -> None:
    page = render([as_run("r", [row("1", prompt="1 + 6?", completion=completion)])])
    signs = {"markdownit": "Vitaly Puzrin", "katex": "KaTeX_Main"}
    assert [name for name, sign in signs.items() if sign in page] == carried


def test_the_libraries_bring_their_licences_and_nothing_that_ends_their_element() -> None:
    libraries = [markdown_library(), latex_library()]
    assert "Khan Academy" in libraries[0].script
    assert "SIL OPEN FONT LICENSE" in libraries[0].script
    for library in libraries:
        assert not re.search(r"<!--|<script|</script|</style", library.script + library.style)
    assert "url(fonts" not in libraries[1].style
    assert libraries[1].style.count("data:font/woff2") == len(list(LIBRARIES.glob("fonts/*")))


def test_the_page_names_no_address_on_any_network() -> None:
    page = render([as_run("r", [row("1", prompt="1 + 1?", completion="2")])])
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg\")", page)
    assert not re.search(r"""\b(src|url)\s*[=(]""", page_style() + page_script())


def test_the_pages_script_and_style_have_no_comments() -> None:
    assert "performance.mark" in page_script()
    assert not re.search(r"(?m)^ *(//|/\*)", page_script() + page_style())


def test_the_pages_script_never_parses_markup_or_code() -> None:
    markup = ("innerHTML", "outerHTML", "insertAdjacentHTML", "setHTML", "DOMParser")
    for sink in (*markup, "document.write", "eval(", "new Function"):
        assert sink not in page_script()


@pytest.mark.parametrize(
    "text", HOSTILE, ids=lambda text: text[:24].encode("ascii", "replace").decode()
)
def test_json_in_the_page_closes_no_element_and_comes_back_as_it_was(text: str) -> None:
    written = for_html({text: [text]})
    assert not set("<>&") & set(written)
    assert json.loads(written) == {text: [text]}
    assert json.loads(gzip.decompress(base64.b64decode(compressed([text])))) == [text]


def test_what_json_has_no_number_for_is_nothing() -> None:
    value = {"a": [float("nan"), (1.0, float("inf"))], "b": 2.5}
    assert json.loads(as_json(value)) == {"a": [None, [1.0, None]], "b": 2.5}


def read(run_rows: list[CompletionRow]) -> tuple[dict[str, Any], list[list[Any]]]:
    packed = pack([as_run("r", run_rows)])
    return packed.table, [one for block in packed.blocks for one in block]


def test_a_prompt_and_the_start_of_all_prompts_are_kept_once() -> None:
    table, texts = read([row("1", index=0), row("1", index=1), row("2", index=0)])
    assert [text[0] for text in texts] == ["What is 1?", 0, "What is 2?"]
    assert table["prefixes"] == [(0, 0, "Answer in one number.\n")]


@pytest.mark.parametrize(
    ("prompts", "start"),
    [
        (["a\nb", "a\nc", "a\nbc"], ["a\n"]),
        (["ab", "ac"], []),
        (["one\n", "one\n"], []),
        (["", "a\n"], []),
    ],
)
def test_the_common_start_of_prompts_is_stored_once(prompts: list[str], start: list[str]) -> None:
    table, texts = read([row(str(place), prompt=text) for place, text in enumerate(prompts)])
    assert [text for *_, text in table["prefixes"]] == start
    if start:
        assert [start[0] + own for own, *_ in texts] == prompts


def test_texts_lie_in_blocks_of_rows_or_of_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "BLOCK_TEXT", 1_000)
    rows = [row(str(place), completion="x" * size) for place, size in enumerate([10, 2_000, 10])]
    assert pack([as_run("r", rows)]).table["starts"] == [0, 2]
    rows = [row(str(place), completion="") for place in range(samples.BLOCK_ROWS + 1)]
    monkeypatch.setattr(samples, "BLOCK_TEXT", 10**9)
    assert pack([as_run("r", rows)]).table["starts"] == [0, samples.BLOCK_ROWS]


def test_rows_too_many_or_too_long_for_a_page_are_counted_as_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = [as_run(name, [row(str(place)) for place in range(10)]) for name in "ab"]
    monkeypatch.setattr(samples, "MOST_SAMPLES", 8)
    assert (pack(runs).left_out, pack(runs).table["run"]) == (12, [0] * 4 + [1] * 4)
    monkeypatch.setattr(samples, "MOST_TEXT", 0)
    assert (pack(runs).left_out, pack(runs).blocks) == (20, [])


def test_without_scripts_the_figures_are_there() -> None:
    page = render([as_run("r", [row("1"), row("2", correct=False)])])
    noscript = page[page.index("<noscript>") : page.index("</noscript>")]
    assert "50.0%" in noscript


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        (["/opt/venv/bin/rewardkit", "eval", "--stop", "a b"], "rewardkit eval --stop 'a b'"),
        (["/src/rewardkit/__main__.py", "score", "f.jsonl"], "rewardkit score f.jsonl"),
        (["/src/train.py", "--x"], "/src/train.py --x"),
        ([], ""),
    ],
)
def test_the_command_is_told_as_it_is_typed_anywhere(typed: list[str], shown: str) -> None:
    assert command_line({"command": typed}) == shown


@pytest.mark.parametrize(
    ("columns", "question"),
    [
        ({"question": "What is 4?", "reference": "4"}, "What is 4?"),
        ({"messages": [{"role": "user", "content": "Hm?"}, {"role": "assistant"}]}, "Hm?"),
        ({"prompt": [{"role": "user", "content": [{"type": "text", "text": "Hm?"}]}]}, "Hm?"),
        ({"problem": None, "input": 5}, ""),
    ],
)
def test_a_scored_files_question_is_shown_as_its_prompt(
    columns: dict[str, Any], question: str
) -> None:
    scored = replace(row("a"), prompt=None, columns=columns)
    _, (texts,) = read([scored])
    assert texts[0] == question


TOOL = {"type": "function", "function": {"name": "look_up"}}
SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "How much?"}
REPLY = {"role": "assistant", "content": "7"}


@pytest.mark.parametrize(
    ("columns", "roles"),
    [
        ({"messages": [SYSTEM, USER, REPLY]}, ["system", "user"]),
        ({"prompt": [SYSTEM, USER]}, ["system", "user"]),
        ({"messages": [USER, REPLY, USER, REPLY]}, ["user", "assistant", "user"]),
        ({"messages": [USER, REPLY], "tools": [TOOL]}, ["user"]),
        ({"messages": [USER, REPLY]}, None),
        ({"messages": [USER, "no turn"]}, None),
        ({"messages": [], "question": "How much?"}, None),
        ({"tools": [TOOL, {}], "question": "How much?"}, None),
    ],
)
def test_a_scored_files_conversation_is_whole(
    columns: dict[str, Any], roles: list[str] | None
) -> None:
    _, (texts,) = read([replace(row("a"), prompt=None, columns=columns)])
    if roles is None:
        assert texts[0] in ("How much?", "")
    else:
        sent = json.loads(texts[0])
        assert [turn["role"] for turn in sent["messages"]] == roles
        assert len(sent["tools"]) == len(columns.get("tools", []))


def test_every_column_of_the_data_is_kept_but_those_of_the_prompt() -> None:
    rows = [
        row(
            "1",
            columns={"level": 3, "question": "What is 1?", "tags": ["a", "b"], "long": "x" * 99},
        ),
        row("2", columns={"level": 4, "none": None, "of": {"a": {"b": 1}, "c": {}}}),
    ]
    table, _ = read(rows)
    assert {name: (values, places) for name, values, places in table["columns"]} == {
        "level": (["3", "4"], [0, 1]),
        "tags": (['["a", "b"]'], [0, -1]),
        "long": (["x" * 80], [0, -1]),
        "none": ([], [-1, -1]),
        "of.a.b": (["1"], [-1, 0]),
    }
