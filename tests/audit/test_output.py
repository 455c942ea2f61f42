"""What an audit shows: foreign text is only text, all figures are there."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from html.parser import HTMLParser

from rewardkit.audit.cases import Case
from rewardkit.audit.measure import AuditFinding, CaseResult, ErrorRate
from rewardkit.audit.output import markdown, page, terminal
from rewardkit.audit.run import Audit
from rewardkit.text.console import PrintableConsole

HOSTILE = "```\n</details><script>alert(1)</script>\x1b]0;x\x07\ud800 | `a` [b](c)"
FINDING = AuditFinding(
    "false_accept",
    "error",
    "near miss: sign",
    HOSTILE,
    "42",
    "wrong",
    "right",
    "rewardkit verify x",
)


def judged_cases(errors: int) -> list[tuple[Case, CaseResult]]:
    """97 wrong answers, of which some are accepted, and 50 right ones."""
    wrong = Case("near miss: sign", "-42", "42", right=False)
    right = Case("ending: alone", "42", "42", right=True)
    return [(wrong, CaseResult(place < errors)) for place in range(97)] + [
        (right, CaseResult(True))
    ] * 50


AUDIT = Audit(
    target="rewards.py:pay",
    kind="number",
    form="#### {}",
    seed=3,
    judged=judged_cases(errors=2),
    findings=[FINDING],
    notes=["drawn from 5: <b>"],
)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attributes: object) -> None:
        self.seen.append(tag)


def test_foreign_text_is_only_text_on_the_page() -> None:
    tags = Tags()
    html = page(AUDIT)
    tags.feed(html)
    assert "script" not in tags.seen
    assert "\x1b" not in html
    assert "&lt;script&gt;alert(1)" in html
    assert "2 of 97: 2.06% [0.251%, 7.25%]" in html


def test_foreign_text_is_only_text_in_markdown() -> None:
    text = markdown(AUDIT)
    fence = re.search(r"^(`{3,})text\n(.*?)\n\1$", text, re.MULTILINE | re.DOTALL)
    assert fence is not None
    assert len(fence[1]) == 4, "longer than the fence in the completion"
    assert "</details><script>" in fence[2]
    assert "<script>" not in text.replace(fence[0], "")
    assert r"drawn from 5: \<b\>" in text
    assert text.count("<details>") == text.replace(fence[0], "").count("</details>")


def test_a_terminal_shows_errors_first_and_how_many_families_have_none() -> None:
    out = PrintableConsole(width=120, file=io.StringIO())
    out.show(terminal(AUDIT))
    assert isinstance(out.file, io.StringIO)
    text = out.file.getvalue()
    assert "\x1b]0" not in text
    assert "no error in the other 1 of 2 rows" in text
    assert text.index("near miss: sign") < text.index("rewardkit verify x")


def test_json_has_the_fields_that_users_rely_on() -> None:
    plain = AUDIT.as_json()
    assert plain["families"][0] == {
        "name": "near miss: sign",
        "kind": "false_accept",
        "n": 97,
        "errors": 2,
        **{key: getattr(ErrorRate.of(2, 97), key) for key in ("rate", "low", "high")},
    }
    fields = "name severity family completion reference expected got command"
    assert list(plain["findings"][0]) == fields.split()
    assert plain["totals"]["hang"]["n"] == 147


def test_two_verifiers_stand_side_by_side() -> None:
    other = replace(AUDIT, target="other", judged=judged_cases(errors=50))
    text = markdown(replace(AUDIT, against=other))
    assert "| near miss: sign | wrong answers accepted | 2 of 97" in text
    assert "| 50 of 97: 51.5%" in text


def test_the_findings_of_the_second_verifier_are_in_every_output() -> None:
    found = replace(FINDING, family="near miss: digit", command="rewardkit verify other")
    both = replace(AUDIT, against=replace(AUDIT, target="other.py:pay", findings=[found]))
    out = PrintableConsole(width=120, file=io.StringIO())
    out.show(terminal(both))
    assert isinstance(out.file, io.StringIO)
    for text in (out.file.getvalue(), markdown(both), page(both)):
        assert "near miss: digit" in text
        assert "rewardkit verify other" in text
        assert re.search(r"verifier\W+(dt|dd)?\W*(dt|dd)?\W*other.py:pay", text)
