"""Texts that a model may write to break a page, and a run that has them everywhere."""

from __future__ import annotations

from typing import Any

from rewardkit.harness.report.runs import ReportRun
from rewardkit.harness.results.completion_row import CompletionRow
from rewardkit.harness.results.figures import Bars, Figure, Plot, Table
from rewardkit.harness.results.metric import Metric
from rewardkit.harness.results.summary import summarise

PWN = "window.pwned=1"

HOSTILE = [
    f"<script>{PWN}</script>",
    f"</script><script>{PWN}</script>",
    f"</pre></details></main><script>{PWN}</script>",
    f"<!--<script>{PWN}//-->",
    f"--><script>{PWN}</script><!--",
    f"]]><script>{PWN}</script><![CDATA[",
    f"<img src=x onerror={PWN}>",
    f'"><img src=x onerror="{PWN}">',
    f"' onmouseover='{PWN}' x='",
    f'" autofocus onfocus="{PWN}" tabindex="1',
    f"<svg/onload={PWN}>",
    f"<svg><animate onbegin={PWN} attributeName=x dur=1s></svg>",
    f"<svg><use href=\"data:image/svg+xml,<svg id='x' onload='{PWN}'/>#x\"/></svg>",
    f"<math><mtext><table><mglyph><style><img src=x onerror={PWN}></style></table></mtext></math>",
    f'<math href="javascript:{PWN}">CLICK</math>',
    f'<a href="javascript:{PWN}">here</a> [here](javascript:{PWN})',
    f"javascript:{PWN}//",
    f'<iframe srcdoc="<script>parent.{PWN}</script>"></iframe><iframe src=//evil.example></iframe>',
    "<object data=//evil.example></object><embed src=//evil.example><base href=//evil.example/>",
    f"<meta http-equiv=refresh content='0;url=javascript:{PWN}'>"
    "<link rel=stylesheet href=//evil.example>",
    f"<form action=javascript:{PWN}><button>ok</button><input name=getElementById></form>",
    "<style>*{display:none!important;background:url(//evil.example)}</style>"
    "@import '//evil.example';",
    "}</style><style>body{visibility:hidden}</style>{",
    f"{{{{ 7 * 7 }}}}{{% raw %}}${{{PWN}}}#{{{PWN}}}<%= {PWN} %>"
    f"{{{{constructor.constructor('{PWN}')()}}}}",
    f"&lt;script&gt;{PWN}&lt;/script&gt;&#60;script&#62;&amp;lt;&nbsp;&colon;",
    f"data:text/html;base64,PHNjcmlwdD53aW5kb3cucHduZWQ9MTwvc2NyaXB0Pg== \\u003cscript\\u003e{PWN}",
    "\u202e\u2066evil\u202c\u2069\u200f right to left \u200b\ufeff",
    "a\x00b\x00<scr\x00ipt>window.pwned=1</scr\x00ipt>\x1b[31mred\x1b]8;;http://evil.example\x07\x9b2J",
    "\ud800 half \udfff surrogates \u2028 and lines \u2029 of their own kind \x85",
    "__proto__ constructor prototype toString hasOwnProperty",
    "x" * 1_000_000 + f"<img src=x onerror={PWN}>",
    "<div>" * 20_000,
    "a\u0300" * 5_000 + "\r\n\t\x0b\x0c" * 50,
    f'`;{PWN};`\\\';{PWN};//";{PWN};//\\"</title></textarea></noscript></template>',
    f'" style="position:fixed;inset:0" onclick="{PWN}" class=\'badge',
]

KEYS = ["__proto__", "constructor", "toString", *HOSTILE[:8], HOSTILE[28]]


def hostile_run(name: str = HOSTILE[1]) -> ReportRun:
    """Return a run whose tasks, columns, groups, parts, metrics, models and ids are hostile."""
    tasks: dict[str, Any] = {}
    rows: list[CompletionRow] = []
    for place, task in enumerate((HOSTILE[0], "__proto__")):
        own = [_row(task, f"{place}-{text[:200]}", text) for text in HOSTILE]
        rows += own
        tasks[task] = summarise(own, (HOSTILE[3], "__proto__")).as_json()
        tasks[task]["figures"] = [figure.as_json() for figure in _figures()]
    record = {
        "command": ["rewardkit", *HOSTILE[:30]],
        "settings": {"model": HOSTILE[0], HOSTILE[6]: HOSTILE[2]},
        "tasks": {task: {"prompt": HOSTILE[9], "prompt_source": HOSTILE[23]} for task in tasks},
        "versions": {key: key for key in KEYS},
        "fingerprint": {HOSTILE[1]: HOSTILE[4]},
        "started": HOSTILE[0],
    }
    return ReportRun(name, tasks, rows, record)


def _row(task: str, identifier: str, text: str) -> CompletionRow:
    fields = {
        "key": f"{task}/{identifier}/0",
        "task": task,
        "id": identifier,
        "index": 0,
        "prompt": text,
        "completion": text,
        "finish_reason": text[:300],
        "prompt_tokens": 1,
        "completion_tokens": 5,
        "reference": text,
        "columns": {HOSTILE[3]: text[:300]},
        "verdict": {
            "correct": False,
            "score": 0.0,
            "answer": text,
            "failure": "wrong",
            "parts": dict.fromkeys(KEYS, 0.5),
            "message": text,
        },
        "flexible": {"correct": False, "answer": text[1:]},
    }
    return CompletionRow.from_json(fields, "a row")


def _figures() -> list[Figure]:
    points = [(0.0, 1.0), (1.0, float("nan")), (2.0, float("inf")), (3.0, 2.0)]
    return [
        Table(HOSTILE[0], HOSTILE[:5], [HOSTILE[:5], [None, 1.5, float("nan"), "", HOSTILE[28]]]),
        Plot(HOSTILE[1], HOSTILE[7], HOSTILE[9], dict.fromkeys(KEYS, points), HOSTILE[6]),
        Plot("nothing", "x", "y", {}),
        Bars(
            HOSTILE[2], dict.fromkeys(KEYS, Metric(float("inf"), 0.0, float("nan"), 1)), HOSTILE[4]
        ),
        Bars("no bars", {}),
    ]
