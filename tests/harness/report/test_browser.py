"""The page in headless Chromium: opened, filtered, clicked, attacked, on a phone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rewardkit import Failure, Span
from rewardkit.harness.report.page import PageComparisons, compare_runs, render
from rewardkit.harness.report.runs import ReportRun, find_shown, read_runs
from rewardkit.harness.results.completion_row import BriefVerdict, CompletionRow
from rewardkit.harness.results.figures import Bars, Figure, Plot, Table
from rewardkit.harness.results.metric import Metric
from rewardkit.harness.results.summary import summarise
from tests.harness.report.chromium import Browser
from tests.harness.report.hostile import HOSTILE, hostile_run
from tests.harness.results.rollouts.made import two_steps, write_training
from tests.support.runs import as_run, row, write_run

pytestmark = pytest.mark.browser

COUNT = 3_000


def many_rows() -> list[CompletionRow]:
    """Right and wrong by turns, every tenth unjudged, every seventh cut off."""
    return [
        row(
            str(place),
            correct=None if place % 10 == 9 else place % 2 == 0,
            completion=f"Thinking of {place}, 17 then 7 and 177 #### 7 or so.",
            finish_reason="length" if place % 7 == 0 else "stop",
            completion_tokens=place % 997,
        )
        for place in range(COUNT)
    ]


def two_runs() -> list[ReportRun]:
    """One problem lost, two gained, one as it was; and one that only the first was asked."""
    before = [
        row("1"),
        row("2", correct=False, answer="6"),
        row("3", correct=False),
        row("4"),
        row("5"),
    ]
    after = [row("1", correct=False, answer="8", completion="#### 8"), row("2"), row("3"), row("4")]
    return [as_run("before", before), as_run("after", after)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as one:
        yield one


@pytest.fixture
def at(browser: Browser, tmp_path: Path) -> Iterator[Any]:
    """Opens a page of runs at a fragment; afterwards nothing may have gone wrong in it."""
    page = tmp_path / "report.html"
    browser.errors.clear()
    browser.requests.clear()
    browser.dialogs.clear()
    browser.screen(1280, 800)

    def opened(
        runs: list[ReportRun], fragment: str = "", comparisons: PageComparisons | None = None
    ) -> Browser:
        page.write_text(render(runs, comparisons or PageComparisons()), encoding="utf-8")
        browser.open(page, fragment)
        browser.wait_for("performance.getEntriesByName('rewardkit:texts').length")
        return browser

    yield opened
    assert browser.errors == []
    assert browser.dialogs == []
    own = {page.as_uri(), "about:blank"}
    requests = {url.partition("#")[0] for url in browser.requests}
    assert {url for url in requests if not url.startswith("data:font/woff2")} <= own


def text(browser: Browser, selector: str) -> str:
    return str(browser.value(f"document.querySelector({json.dumps(selector)})?.textContent ?? ''"))


def card(title: str) -> str:
    """The expression of the card whose title starts like this."""
    return (
        "[...document.querySelectorAll('.card')]"
        f".find(one => one.textContent.startsWith({json.dumps(title)}))"
    )


def shown(browser: Browser) -> str:
    """The list's count, as the reader sees it."""
    return text(browser, ".status")


def chosen(browser: Browser) -> str:
    """The sample whose detail is shown."""
    return text(browser, "#detail h2")


def test_it_opens_on_the_summary_and_shows_accuracy_first(at: Any) -> None:
    browser = at([as_run("r", [row("1"), row("2", correct=False)])])
    assert text(browser, ".headline .value") == "50.0%"
    assert browser.value("document.querySelectorAll('#view-summary svg').length") >= 3
    assert browser.value("document.querySelector('#view-samples').hidden") is True


FILTERS = {
    "": "3,000 samples",
    "outcome=right": "1,500 samples",
    "outcome=unjudged": "300 samples",
    "outcome=truncated": "429 samples",
    "failure=wrong": "1,200 samples",
    "q=thinking+of+2999,": "1 sample",
    "q=WHAT+IS+12?": "1 sample",
    "q=one+number": "3,000 samples",
    "q=not+there": "0 samples",
    "outcome=right&q=%23%23%23%23+7": "1,500 samples",
    "task=unheard+of": "0 samples",
}
SORTED = {
    "tokens": "gsm8k/996/0",
    "-tokens": "gsm8k/0/0",
    "id": "gsm8k/0/0",
    "-id": "gsm8k/2999/0",
    "-characters": "gsm8k/0/0",
    "-score": "gsm8k/1/0",
    "unheard": "gsm8k/0/0",
}


def test_the_address_filters_and_sorts(at: Any) -> None:
    browser = at([as_run("r", many_rows())], "#samples")
    for query, status in FILTERS.items():
        browser.go(f"#samples?{query}")
        assert shown(browser) == status, query
    for sort, first in SORTED.items():
        browser.go(f"#samples?sort={sort}")
        assert chosen(browser) == first, sort


def test_each_kind_of_failure_is_counted_and_leads_to_its_samples(at: Any) -> None:
    failures = [failure for failure in Failure if failure is not Failure.ERROR]
    rows = [row(failure, correct=False) for failure in failures]
    verdicts = [
        replace(one.verdict, failure=failure) for one, failure in zip(rows, failures, strict=True)
    ]
    rows = [replace(one, verdict=own) for one, own in zip(rows, verdicts, strict=True)]
    browser = at([as_run("r", rows)])
    counted = f"1 · {100 / len(failures):.1f}%"
    assert text(browser, "#view-summary").count(counted) == len(failures)
    for failure in failures:
        browser.go("#summary")
        browser.click(f'a[href$="failure={failure}"]')
        here = f"document.querySelector('#detail h2')?.textContent === 'gsm8k/{failure}/0'"
        browser.wait_for(here)
        assert shown(browser) == "1 sample"


def test_a_failure_that_this_version_does_not_know_is_shown_by_its_name(at: Any) -> None:
    run = as_run("r", [row("1", correct=False)])
    tasks = {"gsm8k": {**run.tasks["gsm8k"], "failures": {"newly_named": 1}, "examples": {}}}
    assert "newly named" in text(at([replace(run, tasks=tasks)]), "#view-summary")


def test_a_trainings_completions_are_filtered_by_step_group_and_sign(
    at: Any, tmp_path: Path
) -> None:
    training = read_runs(find_shown([write_training(tmp_path / "learnt", two_steps())]))
    browser = at([as_run("r", [row("1")]), *training], "#samples")
    for query, status in {
        "": "9 samples",
        ".step=2": "4 samples",
        ".step=2&.group=1": "2 samples",
        ".advantage=positive": "3 samples",
        ".advantage=zero": "2 samples",
        ".step=1&.advantage=negative": "1 sample",
    }.items():
        browser.go(f"#samples?{query}")
        assert shown(browser) == status, query
    assert "advantage -0.7" in text(browser, "#detail .facts")
    assert text(browser, "#detail .parts") == "accuracy reward0"


def test_clicks_and_typing_filter(at: Any) -> None:
    browser = at([as_run("r", many_rows())])
    browser.click('nav a[href="#samples"]')
    browser.wait_for("!document.querySelector('#view-samples').hidden")
    browser.click(".segments .wrong")
    assert shown(browser) == "1,200 samples"
    browser.press("/")
    browser.send("Input.insertText", text="what is 11?")
    assert shown(browser) == "1 sample"
    browser.wait_for("document.querySelector('#detail h2')?.textContent === 'gsm8k/11/0'")
    assert "q=what+is+11" in browser.value("location.hash")


def test_only_the_rows_in_sight_are_elements_and_the_last_can_be_reached(at: Any) -> None:
    browser = at([as_run("r", many_rows())], "#samples")
    assert browser.value("document.querySelectorAll('.list .row').length") < 40
    browser.value("document.querySelector('.list').scrollTop = 1e9")
    browser.wait_for(f"!!document.querySelector('.list #row-{COUNT - 1}')")
    assert browser.value("document.querySelectorAll('.list .row').length") < 40


def graded() -> list[CompletionRow]:
    """Five problems with two rewards and a level; the last has neither score nor reward."""
    rows = [
        row(str(place), columns={"level": place, "kind": "even" if place % 2 == 0 else "odd"})
        for place in range(5)
    ]
    verdicts = [
        replace(one.verdict, score=(place * 2 % 5) / 5, parts={"form": place / 10, "style": 1.0})
        for place, one in enumerate(rows[:-1])
    ]
    return [
        *(replace(one, verdict=own) for one, own in zip(rows, verdicts, strict=False)),
        row("4", correct=None, columns={"level": 4}),
    ]


def keys(browser: Browser) -> list[str]:
    """The ids of the problems in the list, in its order."""
    labels = (
        "[...document.querySelectorAll('.list .row')].sort((a, b) =>"
        " a.getAttribute('aria-posinset') - b.getAttribute('aria-posinset'))"
        ".map(row => row.getAttribute('aria-label'))"
    )
    return [label.split("/")[1] for label in browser.value(labels)]


def test_samples_are_sorted_by_rewards_and_filtered_by_columns(at: Any) -> None:
    browser = at([as_run("r", graded())], "#samples")
    for query, ids in {
        "sort=form": "32104",
        "sort=-form": "01234",
        "sort=score": "21304",
        "sort=-score": "03124",
        ".kind=odd": "13",
        ".level=3": "3",
        ".level=>+2": "34",
        ".level=<1": "0",
        ".kind=d": "13",
        ".kind=other": "",
        ".kind=even&.level=2&sort=form": "2",
    }.items():
        browser.go(f"#samples?{query}")
        assert keys(browser) == list(ids), query


def test_the_list_is_sorted_by_the_difference_between_two_runs(at: Any) -> None:
    browser = at(two_runs(), "#samples?run=before&against=after&sort=difference")
    assert keys(browser) == ["2", "3", "4", "1"]
    browser.click(".sort button")
    assert keys(browser) == ["1", "4", "2", "3"]


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_a_tapped_sample_opens_next_to_its_row(browser: Browser, at: Any, width: int) -> None:
    at([as_run("r", many_rows())]).screen(width, 740)
    browser.value("location.hash = '#samples'")
    browser.wait_for("document.querySelectorAll('.list .row').length > 3")
    for place in (5, 2):
        browser.value(f"document.querySelector('#row-{place}').scrollIntoView({{block: 'center'}})")
        before = browser.value(
            f"document.querySelector('#row-{place}').getBoundingClientRect().top"
        )
        browser.click(f"#row-{place}")
        browser.wait_for(f"document.querySelector('#detail h2')?.textContent === 'gsm8k/{place}/0'")
        row_box, detail = browser.value(
            f"['#row-{place}', '#detail'].map(one => document.querySelector(one)"
            ".getBoundingClientRect().toJSON())"
        )
        assert abs(row_box["top"] - before) < 2  # what was tapped stays where it is
        if width == 360:
            assert abs(detail["top"] - row_box["bottom"]) < 2
        else:
            assert detail["left"] >= row_box["right"] - 1
            assert detail["top"] < row_box["bottom"] < detail["bottom"]
    if width == 360:
        below = "document.querySelector('#row-3').getBoundingClientRect().top"
        assert abs(browser.value(below) - detail["bottom"]) < 2
        browser.value("document.querySelector('#detail header button + button').click()")
        browser.wait_for("document.querySelector('#detail h2')?.textContent === 'gsm8k/3/0'")
        assert 0 <= browser.value(below) < 740  # the next one is in sight
        browser.click("#row-3")
        browser.wait_for("document.querySelector('#detail').hidden")


def test_filters_are_folded_in_a_narrow_window(at: Any, browser: Browser) -> None:
    browser.screen(360, 740)
    at([as_run("r", graded())], "#samples?.kind=odd")
    folded = "document.querySelector('.filters').open"
    assert browser.value(folded) is False
    assert text(browser, ".filters summary") == "Filters (1)"
    browser.screen(1280, 800)
    at([as_run("r", graded())], "#samples")
    assert browser.value(folded) is True


CONVERSATION = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "How <b>much</b>?"}]},
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "look"}}]},
        {"role": "tool", "content": "7"},
    ],
    "tools": [{"type": "function", "function": {"name": "look", "description": "Looks."}}],
}


@pytest.mark.parametrize(
    ("prompt", "roles", "parts"),
    [
        (
            json.dumps(CONVERSATION),
            ["tools", "system", "user", "assistant", "tool"],
            ["Looks.", "Be brief.", "How <b>much</b>?", '"name": "look"'],
        ),
        (
            json.dumps(CONVERSATION["messages"]),
            ["system", "user", "assistant", "tool"],
            ["Be brief."],
        ),
    ],
)
def test_a_conversation_is_shown_turn_by_turn(
    at: Any, prompt: str, roles: list[str], parts: list[str]
) -> None:
    others = ["[1, 2] are numbers", "[]", '[{"role": 5}]', "null"]
    rows = [row(str(place), prompt=one) for place, one in enumerate([prompt, *others])]
    browser = at([as_run("r", rows)], "#samples")
    titles = "[...document.querySelectorAll('.prompt h5')].map(one => one.textContent)"
    for place, (own_roles, own_parts) in enumerate([(roles, parts), *(([], [o]) for o in others)]):
        browser.go(f"#samples?sample=gsm8k%2F{place}%2F0")
        assert browser.value(titles) == own_roles
        for part in own_parts:
            assert part in text(browser, "#detail .prompt")


def test_j_and_k_go_through_the_list_and_the_address_keeps_the_place(at: Any) -> None:
    runs = [as_run("r", many_rows())]
    browser = at(runs, "#samples?outcome=right")
    for key in "jjjk":
        browser.press(key)
    browser.wait_for("document.querySelector('#detail h2').textContent === 'gsm8k/4/0'")
    address = browser.value("location.hash")
    assert "sample=gsm8k%2F4%2F0" in address
    assert chosen(at(runs, address)) == "gsm8k/4/0"
    assert browser.value("document.querySelector('[aria-selected=true]').id") == "row-4"


def tab_to(browser: Browser, selector: str) -> None:
    """Press Tab until the element that matches has the focus."""
    for _ in range(40):
        browser.press("Tab")
        if browser.value(f"document.activeElement.matches({json.dumps(selector)})"):
            return
    pytest.fail(f"Tab never reaches {selector}")


def test_the_keyboard_alone_reaches_each_part_of_the_page(at: Any) -> None:
    browser = at([as_run("r", [row("1"), row("2", correct=False)])])
    tab_to(browser, '.bar nav a[href="#samples"]')
    browser.press("Enter")
    browser.wait_for("!document.querySelector('#view-samples').hidden")
    tab_to(browser, "#theme")
    tab_to(browser, ".segments .wrong")
    browser.press("Enter")
    assert shown(browser) == "1 sample"
    browser.press("Enter")
    tab_to(browser, 'select[data-name="sort"]')
    tab_to(browser, ".controls > button")
    browser.press("Enter")
    browser.wait_for("document.querySelectorAll('.typeset').length > 0")
    tab_to(browser, "#list")
    browser.value("location.hash = '#samples'")
    browser.wait_for("document.querySelector('#detail h2')?.textContent === 'gsm8k/1/0'")
    browser.press("ArrowDown")
    browser.wait_for("document.querySelector('#detail h2')?.textContent === 'gsm8k/2/0'")
    tab_to(browser, "#detail .prompt")
    browser.value("location.hash = '#summary'")
    tab_to(browser, "#view-summary a[href]")
    assert browser.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_a_sample_alone_names_no_others_and_one_that_is_not_there_is_named(at: Any) -> None:
    browser = at([as_run("r", [row("1", prompt=None)])], "#samples")
    assert text(browser, "#detail > .block") == "Promptnot recorded"
    assert text(browser, "#detail > :last-child .block:last-child").startswith("Completion")
    assert browser.value("document.querySelector('#detail').lastChild.nodeType") == 1
    browser.go("#samples?sample=gsm8k%2F99%2F0")
    assert "has no sample gsm8k/99/0" in text(browser, "#detail")


def test_a_run_without_rows_says_so_and_one_unjudged_shows_no_figure(at: Any) -> None:
    assert "No completion has been judged" in text(at([as_run("r", [])]), "#view-summary")
    unjudged = at([as_run("r", [row("1", correct=None)])])
    assert text(unjudged, ".headline .value") == "not known"


def test_a_run_that_has_not_ended_says_how_far_it_is(at: Any) -> None:
    planned: dict[str, Any] = {"tasks": {"gsm8k": {"samples": 3, "num_samples": 2}}}
    browser = at([as_run("r", [row("1")], **planned)])
    assert "1 of 6 completions: the run is unfinished" in text(browser, ".warning")
    shard = as_run("r", [row("1")], **planned, shard={"number": 1, "count": 2})
    assert text(at([shard]), ".warning") == "1 of 6 completions: a shard of the run."
    rows = [row(str(place), index=index) for place in range(3) for index in range(2)]
    assert text(at([as_run("r", rows, **planned)]), ".warning") == ""


def test_on_paper_the_page_is_light_and_shows_what_was_chosen(at: Any) -> None:
    browser = at([as_run("r", [row("1")])], "#samples")
    browser.screen(1280, 800, "dark")
    shown = "(one => getComputedStyle(document.querySelector(one)).display !== 'none')"
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = browser.value(paper)
    browser.send(
        "Emulation.setEmulatedMedia",
        media="print",
        features=[{"name": "prefers-color-scheme", "value": "dark"}],
    )
    found = browser.value(f"['.listing', '.controls', '.detail'].map({shown})")
    light = browser.value(paper)
    browser.send("Emulation.setEmulatedMedia", media="")
    assert found == [False, False, True]
    assert light != dark


def test_of_many_groups_the_largest_are_drawn(at: Any) -> None:
    rows = [row(str(place), columns={"kind": f"k{max(place, 9)}"}) for place in range(200)]
    tasks = {"gsm8k": summarise(rows, ("kind",)).as_json()}
    browser = at([ReportRun("r", tasks, rows, {})])
    found = card("Accuracy by kind")
    assert browser.value(f"{found}.querySelectorAll('.track').length") == 60
    assert "k9" in browser.value(f"{found}.textContent")
    assert "60 largest groups" in browser.value(f"{found}.textContent")


def test_the_part_that_was_read_is_marked_or_said_not_to_be_found(at: Any) -> None:
    kinds: list[tuple[str, str | None, list[int], str]] = [
        ("7 or 17 #### 7, not 77", "7", [8 + 5], "is highlighted"),
        ("only 77", "7", [6], "is highlighted"),
        ("1,800 altogether", "1800", [], "letter for letter"),
        ("no number", None, [], "no answer was read"),
        ("7", "", [], "an empty answer"),
    ]
    rows = [
        row(str(place), correct=False, completion=completion, answer=answer)
        for place, (completion, answer, _, _) in enumerate(kinds)
    ]
    browser = at([as_run("r", rows)], "#samples")
    for place, (_, _, marked, said) in enumerate(kinds):
        browser.go(f"#samples?sample=gsm8k%2F{place}%2F0")
        found = browser.value(
            "[...document.querySelectorAll('.block mark')].map(mark => {"
            " const before = document.createRange(); before.selectNodeContents(mark.parentNode);"
            " before.setEndBefore(mark); return before.toString().length; })"
        )
        assert found == marked
        assert said in text(browser, ".block:last-child h4")


def test_the_scored_parts_of_a_text_are_coloured(at: Any) -> None:
    kinds: list[tuple[str, list[tuple[int, int, float]], list[list[str]]]] = [
        ("", [(0, 9, 1.0), (11, 21, 0.0)], [["holds", "3 + 4 = 7"], ["fails", "7 * 2 = 15"]]),
        ("<think>𝔸</think>", [(16, 25, 0.5)], [["partly", "3 + 4 = 7"]]),
        ("<think>1 = 1</think>", [(7, 12, 1.0)], []),  # in the thinking, which is folded
        ("", [(0, 9, 1.0), (5, 12, 0.0)], [["holds", "3 + 4 = 7"]]),  # they overlap
    ]
    rows = []
    for place, (thinking, spans, _) in enumerate(kinds):
        one = row(str(place), completion=f"{thinking}3 + 4 = 7, 7 * 2 = 15 #### 14", answer=None)
        scored = replace(one.verdict, spans=tuple(Span(*span) for span in spans))
        rows.append(replace(one, verdict=scored))
    browser = at([as_run("r", rows)], "#samples")
    marked = "[...document.querySelectorAll('.block mark')].map(e => [e.className, e.textContent])"
    for place, (_, spans, marks) in enumerate(kinds):
        browser.go(f"#samples?sample=gsm8k%2F{place}%2F0")
        assert browser.value(marked) == marks
        assert f"{len(spans)} part" in text(browser, ".block:last-child h4")


def test_a_sample_shows_all_that_is_known_of_it(at: Any) -> None:
    one = row("1", correct=False, answer="6", completion="#### 6", finish_reason="length")
    verdict = replace(one.verdict, parts={"form": 0.5}, message="off by one")
    one = replace(one, verdict=verdict, flexible=BriefVerdict(True, "7"))
    detail = text(at([as_run("r", [one, row("1", index=1)])], "#samples"), "#detail")
    for part in (
        "wrong",
        "answer6",
        "reference7",
        "flexible reading: right7",
        "off by one",
        "form",
        "6 tokens",
        "12 in the prompt",
        "token limit",
        "What is 1?",
        "truncated",
        "Samples of this problem",
    ):
        assert part in detail


def test_two_runs_stand_side_by_side_and_their_flips_are_found(at: Any) -> None:
    browser = at(two_runs(), "#samples")
    for flip, ids in {"": "1234", "any": "123", "lost": "1", "gained": "23", "same": "4"}.items():
        browser.go(f"#samples?run=before&against=after&flip={flip}")
        assert keys(browser) == list(ids)
        assert browser.value("document.querySelectorAll('.side-run').length") == 2
        assert "before" in text(browser, ".side-run:first-child h3")
        assert "after" in text(browser, ".side-run:last-child h3")


def test_the_summary_of_two_runs_counts_flips_and_leads_to_them(at: Any) -> None:
    browser = at(two_runs())
    found = cards(browser)["Figures with 95% intervals"]
    assert "right → wrong–1" in found
    assert "wrong → right–2" in found
    browser.click('a[href*="flip=gained"]')
    browser.wait_for("document.querySelector('.status')?.textContent === '2 pairs'")


def test_three_runs_are_compared_with_the_first_in_one_colour_each(at: Any, tmp_path: Path) -> None:
    rows = [
        [row(str(n), correct=n < right, prompt=f"question {n}") for n in range(8)]
        for right in (1, 8, 4)
    ]
    folders = [write_run(tmp_path / f"r{n}", own) for n, own in enumerate(rows)]
    comparisons = compare_runs(folders)
    browser = at(read_runs(folders), "", comparisons)
    rows_of_table = browser.value(
        f"{card('Figures')}.querySelector('tbody').innerText.split('\\n').slice(0, 3)"
    )
    assert "100.0%" in rows_of_table[0]
    assert rows_of_table[1].startswith("difference\tbaseline\t+87.5 pts")
    assert rows_of_table[2].startswith("p (Holm)\tbaseline\t0.0")
    assert text(browser, "tbody strong") == "100.0%"
    assert text(browser, ".verdict").startswith("r1 is better than r0 by 88 points")
    colours = (
        "[...document.querySelectorAll('SELECTOR')].map(e => e.className.baseVal ?? e.className)"
    )
    keys = browser.value(colours.replace("SELECTOR", ".lead .key"))
    bars = browser.value(colours.replace("SELECTOR", ".card:first-child rect.fill"))
    assert [one.split()[-1] for one in keys] == [one.split()[-1] for one in bars]
    browser.go("#samples")
    browser.wait_for("document.querySelectorAll('#detail h4').length > 1")
    parts = browser.value("[...document.querySelectorAll('#detail h4')].map(e => e.textContent)")
    assert parts[0] == "Prompt"
    assert parts[1].startswith("Completion")


@pytest.mark.parametrize(
    ("right", "bold"), [((37, 38), []), ((4, 36), ["90.0%"]), ((36, 4), ["90.0%"])]
)
def test_figures_are_bold_only_where_a_difference_is_shown_and_equal_rows_are_one(
    at: Any, tmp_path: Path, right: tuple[int, int], bold: list[str]
) -> None:
    folders = [
        write_run(tmp_path / name, [row(str(n), correct=n < count) for n in range(40)])
        for name, count in zip("ab", right, strict=True)
    ]
    browser = at(read_runs(folders), "", compare_runs(folders))
    first = f"{card('Figures')}.querySelector('tbody tr')"
    assert (
        browser.value(f"[...{first}.querySelectorAll('strong')].map(one => one.innerText)") == bold
    )
    assert (
        browser.value(f"{first}.firstChild.textContent") == "accuracy = accuracy, flexible, score"
    )


def test_the_second_run_stays_on_a_narrow_screen(at: Any, browser: Browser, tmp_path: Path) -> None:
    folders = [
        write_run(tmp_path / name, [row(str(n), correct=n < 30) for n in range(40)])
        for name in ("gsm8k-qwen3-0.6b", "gsm8k-qwen3-0.6b-trained")
    ]
    browser.screen(360, 740)
    at(read_runs(folders), "", compare_runs(folders))
    rights = browser.value(
        f"[...{card('Figures')}.querySelectorAll('td:last-child')].slice(0, 4)"
        ".map(cell => cell.getBoundingClientRect().right)"
    )
    assert len(rights) == 4
    assert max(rights) <= 360


def test_a_task_that_one_run_alone_was_asked_is_shown_as_that_runs(at: Any) -> None:
    runs = [as_run("a", [row("1")]), as_run("b", [row("1", task="math500", correct=False)])]
    browser = at(runs)
    assert text(browser, ".task:last-child h2") == "math500 · b"
    assert text(browser, ".task:last-child .headline .value") == "0.0%"
    browser.click(".task:last-child .plot a")
    browser.wait_for("document.querySelector('.status')?.textContent === '1 sample'")


def test_runs_over_other_data_are_said_to_differ(at: Any) -> None:
    runs = [as_run("a", [row("1")]), as_run("b", [row("1", reference="8")])]
    assert "references differ" in text(at(runs, "#samples?run=a&against=b"), "#detail")


def test_checkpoints_of_one_training_are_a_curve(at: Any) -> None:
    runs = [
        as_run(f"c{step}", [row("1")], settings={"model": f"out/checkpoint-{step}"})
        for step in (10, 20)
    ]
    assert "Rates over the training" in text(at(runs), "#view-summary")
    assert "Rates over the training" not in text(at(two_runs()), "#view-summary")


def trained(folder: Path, entries: list[dict[str, Any]]) -> list[ReportRun]:
    """The evaluations of a training at steps 0 and 5, whose completions get longer."""
    log = folder / "train_log.json"
    folder.mkdir()
    log.write_text(json.dumps(entries))
    lengths = {0: (3, 4), 5: (30, 40)}
    runs = [
        as_run(
            f"{folder.name}/step-{step:06d}",
            [row("1", completion_tokens=first), row("2", completion_tokens=second)],
            settings={"model": f"in training, at step {step}"},
        )
        for step, (first, second) in lengths.items()
    ]
    return [replace(run, train_log=log) for run in runs]


def test_a_training_has_its_rewards_its_loss_and_its_lengths(at: Any, tmp_path: Path) -> None:
    logs = {"reward": 0.5, "rewards/length/mean": 0.25, "loss": 3.0, "kl": 0.1, "grad_norm": 2.0}
    entries: list[dict[str, Any]] = [{"step": step, "logs": logs} for step in (1, 2)]
    entries[1]["warnings"] = ["the rewards measure something else"]
    first = trained(tmp_path / "grpo", entries)
    browser = at(first)
    page = text(browser, "#view-summary")
    for words in (
        "Rewards in training",
        "Loss in training",
        "KL divergence in training",
        "Gradient norm in training",
        "Lengths over the training",
        "Sign at step 2: the rewards measure something else",
    ):
        assert words in page
    assert text(browser, ".lead h1") == "grpo · 2 runs"
    link = "rewardkit view grpo, then http://127.0.0.1:8001/runs/0#samples?run=step-000005"
    entries[1]["warnings"] = [f"accuracy fell. Completions: {link}"]
    (tmp_path / "grpo" / "train_log.json").write_text(json.dumps(entries))
    browser = at(first)
    assert "Sign at step 2: accuracy fell. Show completions" in text(browser, "#view-summary")
    browser.click(".training .warning a")
    browser.wait_for("!document.querySelector('#view-samples').hidden")
    assert shown(browser) == "2 samples"
    contents = "[...document.querySelectorAll('.contents button')].map(one => one.textContent)"
    assert browser.value(contents) == ["Training", "gsm8k"]
    legends = "[...document.querySelectorAll('.training .legend li')].map(item => item.textContent)"
    assert browser.value(legends) == ["reward", "length reward"]
    second = trained(tmp_path / "sft", [{"step": 1, "logs": {"loss": 2.0}}])
    browser = at([*first, *second])
    page = text(browser, "#view-summary")
    assert page.count("Rewards in training") == page.count("Loss in training") == 1
    for title, series in (
        ("Accuracy over the training", ["grpo", "sft"]),
        ("Loss in training", ["loss · grpo", "loss · sft"]),
    ):
        assert series == browser.value(
            f"[...{card(title)}.querySelectorAll('.legend li')].map(one => one.textContent)"
        )
    assert "Lengths over the training, grpo/step-000000 to grpo/step-000005" in page
    assert "Lengths over the training, sft/step-000000 to sft/step-000005" in page
    alone = text(at(first[:1]), "#view-summary")
    assert "in training" not in alone.replace("in training, at step 0", "")


def test_the_completions_of_a_training_alone_show_what_its_trainer_logged(
    at: Any, tmp_path: Path
) -> None:
    folder = write_training(tmp_path / "learnt", two_steps())
    logs = {"loss": 0.5, "kl": 0.1, "entropy": 1.5}
    entry = {"step": 1, "logs": logs, "warnings": ["the rewards measure something else"]}
    (folder / "train_log.json").write_text(json.dumps([entry]))
    browser = at(read_runs(find_shown([folder])))
    page = text(browser, "#view-summary")
    for words in ("Loss", "KL divergence", "Entropy"):
        assert f"{words} in training" in page
    assert "Sign at step 1" in page
    assert text(browser, ".lead h1") == "learnt"


def test_one_evaluation_of_a_training_has_the_trainings_name_in_its_title(
    at: Any, tmp_path: Path
) -> None:
    browser = at(trained(tmp_path / "grpo", [])[1:])
    assert text(browser, ".lead h1") == "grpo · in training, at step 5"
    assert browser.value("document.title") == "gsm8k · grpo · in training, at step 5"


def test_a_run_has_its_colour_in_the_plots_of_lengths_too(at: Any, tmp_path: Path) -> None:
    other = as_run("other", [row("1"), row("2", correct=False)])
    browser = at([other, *trained(tmp_path / "grpo", [])])
    keys = dict(
        browser.value(
            "[...document.querySelectorAll('.lead li')].map(one => [one.textContent,"
            " one.querySelector('.key').className.match(/series-\\d/)[0]])"
        )
    )
    legend = dict(
        browser.value(
            "[...document.querySelectorAll('.card .legend li')].map(one => [one.textContent,"
            " one.querySelector('svg').getAttribute('class').match(/series-\\d/)[0]])"
        )
    )
    assert legend["step 0"] == keys["grpo/step-000000"] == "series-1"
    assert legend["step 5"] == keys["grpo/step-000005"] == "series-2"


def test_a_sample_shows_the_columns_of_its_data_its_tools_and_its_calls(at: Any) -> None:
    columns = {"latency_ms": 120, "response": {"body": {"model": "<b>m</b>"}}, "question": "Hm?"}
    tool = {"type": "function", "function": {"name": "look_up"}}
    call = {"type": "function", "function": {"name": "look_up", "arguments": '{"n": "<b>"}'}}
    rows = [
        row("0", columns=columns),
        row("1", columns={"tools": [tool]}, tool_calls=[call], completion=""),
    ]
    browser = at([as_run("r", rows)], "#samples")
    assert text(browser, "#detail > details tbody") == "latency_ms120response.body.model<b>m</b>"
    browser.go("#samples?sample=gsm8k%2F1%2F0")
    assert '"name": "look_up"' in text(browser, "#detail .prompt")
    assert 'look_up({"n": "<b>"})' in text(browser, "#detail")


def test_an_axis_has_its_zero_and_that_of_a_share_is_from_0_to_1(at: Any, tmp_path: Path) -> None:
    entries = [
        {"step": step, "logs": {"loss": loss, "completions/clipped_ratio": 0.0}}
        for step, loss in ((1, -0.3), (2, 0.1))
    ]
    browser = at(trained(tmp_path / "sft", entries))

    def ticks(title: str) -> list[str]:
        texts = f"[...{card(title)}.querySelectorAll('.plot text')].map(one => one.textContent)"
        return list(browser.value(texts))

    found = ticks("Loss in training")
    assert "0" in found
    assert not [one for one in found if "e-" in one]
    shares = [one for one in ticks("Truncated share") if "%" in one]
    assert (shares[0], shares[-1]) == ("0%", "100%")


def test_the_toggle_turns_the_colours(at: Any) -> None:
    browser = at([as_run("r", [row("1")])])
    paper = "getComputedStyle(document.body).backgroundColor"
    browser.value("localStorage.clear()")
    found = []
    for _ in range(3):
        browser.click("#theme")
        found.append(
            (browser.value("document.documentElement.dataset.theme"), browser.value(paper))
        )
    light, dark, system = found
    assert [name for name, _ in found] == ["light", "dark", "system"]
    assert light[1] == system[1] != dark[1]
    browser.screen(1280, 800, "dark")
    assert browser.value(paper) == dark[1]


def test_wide_formulas_tables_and_code_scroll_inside_their_box(at: Any) -> None:
    texts = (
        "\\[" + "+".join("x^{2}_{3}" for _ in range(200)) + "\\]",
        "\\(" + "\\quad ".join("abc" for _ in range(200)) + "\\)",
        "|" + "word|" * 40 + "\n|" + "-|" * 40 + "\n|" + "word|" * 40,
        "```\n" + "x" * 3_000 + "\n```",
        "# " + "y" * 500 + "\n\n" + "> " * 60 + "z",
    )
    rows = [row(str(place), completion=one) for place, one in enumerate(texts)]
    browser = at([as_run("r", rows)], "#samples?typeset=1")
    for width in (360, 1280):
        browser.screen(width, 844)
        for place in range(len(texts)):
            browser.value(f"location.hash = '#samples?typeset=1&sample=gsm8k%2F{place}%2F0'")
            here = f"document.querySelector('#detail h2').textContent === 'gsm8k/{place}/0'"
            browser.wait_for(f"{here} && document.querySelector('#detail .typeset') !== null")
            assert browser.value("document.documentElement.scrollWidth") <= width, texts[place][:40]


def test_a_hostile_run_executes_nothing_and_never_scrolls_sideways(
    browser: Browser, at: Any
) -> None:
    names = [HOSTILE[1], "x" * 300, "__proto__"]
    browser.screen(360, 844)
    at([hostile_run(name) for name in names])
    widest = "Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)"
    settled = "new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
    unfold = "document.querySelectorAll('details').forEach(part => { part.open = true; })"
    for width in (360, 1280):
        browser.screen(width, 844)
        for view in ("summary", "record", "samples?outcome=wrong&sort=id", "samples"):
            browser.go(f"#{view}")
            for change in (settled, unfold):
                browser.value(change)
                browser.value(settled)
                assert browser.value(widest) <= width, (view, change)
    assert shown(browser) == f"{2 * len(names) * len(HOSTILE)} samples"
    for name in ("run", "against", "flip", "task", "failure", "sort"):
        browser.value(
            f"[...document.querySelector('select[data-name={name}]').options].forEach(one => {{"
            f" const all = document.querySelector('select[data-name={name}]');"
            " all.value = one.value; all.dispatchEvent(new Event('change')); })"
        )
    assert browser.value("window.pwned") is None
    assert browser.value("Object.keys(Object.prototype).length + ({}).polluted") is None


def test_hostile_completions_are_shown_as_text_and_execute_nothing(at: Any) -> None:
    rows = [
        row(str(place), correct=False, completion=hostile, answer=hostile[-40:], prompt=hostile)
        for place, hostile in enumerate(HOSTILE)
    ]
    browser = at([as_run("r", rows)], "#samples")
    completion = "document.querySelector('#detail .block:last-child pre')"
    for place, hostile in enumerate(HOSTILE):
        browser.wait_for(f"document.querySelector('#detail h2')?.textContent === 'gsm8k/{place}/0'")
        browser.value("document.querySelectorAll('.block pre button').forEach(one => one.click())")
        elements = f"[...{completion}.querySelectorAll('*')].map(one => one.localName)"
        assert set(browser.value(elements)) <= {"mark"}, hostile[:80]
        letters = len(hostile.encode("utf-16-le", "surrogatepass")) // 2
        assert browser.value(f"{completion}.textContent.length") >= letters, hostile[:80]
        assert browser.value("window.pwned") is None, hostile[:80]
        browser.press("j")


def test_controls_that_act_unseen_are_shown_by_name(at: Any) -> None:
    one = row("1", completion="a\u202eb\x00c\x1b[31m")
    browser = at([as_run("r", [one])], "#samples")
    assert text(browser, ".block:last-child pre") == "a⟦U+202E⟧b␀c␛[31m"


@pytest.mark.parametrize("completion", ["7", "\\boxed{7}"])
def test_a_script_that_came_in_all_the_same_would_be_stopped(
    browser: Browser, at: Any, completion: str
) -> None:
    at([as_run("r", [row("1", completion=completion)])])
    for attempt in (
        "document.body.innerHTML = '<img src=x onerror=window.pwned=1>'",
        "document.body.append(Object.assign(document.createElement('script'),"
        " {text: 'window.pwned=1'}))",
        "document.querySelector('main').setAttribute('onclick', 'window.pwned=1');"
        " document.querySelector('main').click()",
        "new Image().src = 'http://127.0.0.1:9/x'",
        "fetch('http://127.0.0.1:9/x').catch(() => {})",
    ):
        browser.value(f"(() => {{ try {{ {attempt}; }} catch {{ }} }})()")
    browser.value("new Promise(done => setTimeout(done, 100))")
    assert browser.value("window.pwned") is None
    assert any("Content Security Policy" in error for error in browser.errors)
    browser.errors.clear()
    browser.requests[:] = [url for url in browser.requests if not url.startswith("http:")]


def figures_of(name: str, value: float, label: str = "only here") -> ReportRun:
    """A run with a table, a plot and bars, and a table that only this run has."""
    figures: list[Figure] = [
        Table("errors", ["", "in"], [["MSE", value], ["completions", 4], [label, "–"]], "the note"),
        Plot("by position", "position", "error", {"in": [(6.0, value, value / 2, 2 * value)]}),
        Bars("MSE", {"in": Metric(value, value / 2, 2 * value, 4)}),
        Table("steps", ["steps", "share"], [[steps, 0.5] for steps in (3 - len(name) % 2, 4)]),
        Table(f"of {name}", ["a"], [[1]]),
    ]
    run = as_run(name, [row("1")])
    plain = [figure.as_json() for figure in figures]
    return replace(run, tasks={"gsm8k": {**run.tasks["gsm8k"], "figures": plain}})


def cards(browser: Browser) -> dict[str, str]:
    """The text of each card of the summary by its title."""
    return dict(
        browser.value(
            "[...document.querySelectorAll('#view-summary .card')].map((card) =>"
            " [card.querySelector('h3').textContent, card.textContent])"
        )
    )


def test_figures_of_several_runs_are_joined_with_their_relative_change(at: Any) -> None:
    browser = at([figures_of("before", 0.5), figures_of("after", 0.2, "another")])
    browser.wait_for("document.querySelectorAll('.card svg.plot').length >= 4")
    found = cards(browser)
    assert "in · beforein · after" in found["errors"]
    assert "MSE0.50.2 (−60%)" in found["errors"]
    assert "completions44only here–another–the note" in found["errors"]
    assert "in · after" in found["by position"]
    assert "in · before60.5 (0.25 – 1)" in found["by position"]
    assert "0.2 (−60%)" in found["MSE"]
    assert "20.530.540.50.5" in found["steps"]
    assert "of after · after" in found
    for width in (1280, 390):
        browser.screen(width, 800)
        assert browser.value("document.documentElement.scrollWidth") <= width


def test_a_run_alone_shows_its_figures_without_its_name(at: Any) -> None:
    found = cards(at([figures_of("r", 0.5)]))
    assert {"errors", "by position", "MSE", "of r"} <= found.keys()
    assert "MSE0.5" in found["errors"]


TYPESET = """## Solution
1. First, **rewrite**:
   \\[ x^2 - 4x = \\vec{v} \\]

$$
a
- b
$$

| step | value |
|------|------:|
| one | $16-4c$ |

It costs $5 and not $7, so \\boxed{\\frac{3}{4}}.
"""


def test_m_draws_markdown_and_latex_and_shows_the_text_as_it_is_again(at: Any) -> None:
    one = row("1", completion=TYPESET, prompt="What is \\(x\\)?")
    browser = at([as_run("r", [one])], "#samples")
    assert browser.value("document.querySelectorAll('.typeset').length") == 0
    browser.press("m")
    browser.wait_for("document.querySelectorAll('.typeset').length === 2")
    assert "typeset=1" in browser.value("location.hash")
    found = "(one => document.querySelectorAll('#detail .typeset ' + one).length)"
    counts = {".katex": 5, "li strong": 1, "td": 2, "td.number": 1, "h5": 1}
    for selector, number in counts.items():
        assert browser.value(f"{found}({json.dumps(selector)})") == number, selector
    assert "It costs $5 and not $7" in text(browser, ".block:last-child .typeset")
    browser.value("document.fonts.ready")
    assert browser.value("document.fonts.check('16px KaTeX_Main')") is True
    widths = "getComputedStyle(document.querySelector('.accent-body svg, .overlay svg')).width"
    assert browser.value(f"parseFloat({widths})") < 20
    browser.press("m")
    browser.wait_for("document.querySelectorAll('.typeset').length === 0")
    assert text(browser, ".block:last-child pre") == TYPESET


LATEX_ATTACKS = [
    "\\(\\href{javascript:window.pwned=1}{here}\\) \\(\\url{javascript:window.pwned=1}\\)",
    "\\(\\includegraphics{http://evil.example/x.png}\\)",
    "\\(\\htmlId{theme}{x}\\htmlClass{badge}{x}\\htmlData{a=b}{x}\\htmlStyle{position:fixed}{x}\\)",
    "\\(\\def\\a{\\a\\a}\\a\\) \\(\\raisebox{100em}{right}\\kern-100em\\rule{9999em}{9999em}\\)",
    '\\(\\char"202E evil\\) &#x202e;evil [x](http://a/%E2%80%AE)',
    "[x](javascript:window.pwned=1) ![x](http://evil.example/x.png) <http://evil.example>",
    "[x]\n\n[x]: http://evil.example 'title'",
    "$<img src=x onerror=window.pwned=1>$ `<img src=x onerror=window.pwned=1>`",
    "```html\n<script>window.pwned=1</script>\n```",
    "**a_" * 9_000,
    ">" * 30_000,
    "$x$ " * 9_000,
    "\\(" * 19_000,
    "{" * 5_000 + "\\boxed{" * 5_000,
    "\\(" + "{" * 4_000 + "}" * 4_000 + "\\)",
    "\\begin{matrix}" * 2_000,
]


def test_typeset_hostile_completions_bring_no_element_address_or_script(at: Any) -> None:
    attacks = [*(one for one in HOSTILE if len(one) < 40_000), *LATEX_ATTACKS]
    rows = [
        row(str(place), correct=False, completion=hostile) for place, hostile in enumerate(attacks)
    ]
    browser = at([as_run("r", rows)], "#samples?typeset=1")
    odd = (
        "[...document.querySelectorAll('.typeset *')].filter(one => one.id || one.href"
        " || ['script', 'img', 'a', 'iframe', 'style', 'form', 'object', 'embed', 'link', 'base']"
        ".includes(one.localName) || /\\bbadge\\b/.test(one.getAttribute('class') ?? '')"
        " || [...one.attributes].some(({name}) => name.startsWith('on'))).map(one => one.outerHTML)"
    )
    for place, hostile in enumerate(attacks):
        browser.wait_for(f"document.querySelector('#detail h2')?.textContent === 'gsm8k/{place}/0'")
        assert browser.value(odd) == [], hostile[:80]
        assert browser.value("window.pwned") is None, hostile[:80]
        assert browser.value("/[\\u202e]/.test(document.body.innerText)") is False, hostile[:80]
        browser.press("j")
    assert browser.value("getComputedStyle(document.querySelector('.typeset')).contain") == "paint"
