"""One self-contained HTML page for one run or several: figures, plots, samples, records.

Text that a model wrote never becomes markup: the page carries it as JSON, and the page's script
inserts it as text. The content security policy lets only that script run and blocks the network.
"""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path, PurePath
from typing import Any

import jinja2

from rewardkit import __version__
from rewardkit.harness.report.curve import run_curves, training_plots
from rewardkit.harness.report.runs import (
    ReportRun,
    find_shown,
    read_runs,
    read_training_series,
    run_start,
)
from rewardkit.harness.report.samples import pack
from rewardkit.harness.results.comparison import TaskComparison, compare_comparable
from rewardkit.harness.results.comparison_tables import (
    SIGNIFICANCE,
    p_value_equation,
    p_value_text,
)
from rewardkit.harness.results.files import finite, replace_text
from rewardkit.harness.results.names import COMPLETIONS_LINK, TRUNCATED, UNJUDGED, counted, words
from rewardkit.harness.results.rates import LOWER_IS_BETTER
from rewardkit.harness.results.rollouts import find_rollouts
from rewardkit.harness.results.run_folder import short_names
from rewardkit.records import Failure

LIBRARIES = Path(__file__).parent / "assets" / "libraries"

MARKDOWN = ("*", "`", "#", "|", "_", "$", "\n- ", "\n1. ")
"""A text with Markdown has one of these. Searching for each is faster than a pattern."""

COMMENT = re.compile(r"^ *(?://.*|/\*[^*]*\*/)\n", re.MULTILINE)
"""A line of a script that is a comment, or a comment of a style."""

FONT = re.compile(r'url\(fonts/([\w-]+\.woff2)\) format\("woff2"\),[^;}]+')
"""A font in KaTeX's style, with its copies for older browsers."""


@dataclass(frozen=True)
class Library:
    """A library that the page includes: its script and its style."""

    script: str
    style: str = ""


def libraries_for(texts: Iterable[str]) -> Sequence[Library]:
    """The libraries that these texts need: 0.1 MB for Markdown, another 0.7 MB for LaTeX."""
    has_markdown = False
    for text in texts:
        if "\\" in text:
            return [markdown_library(), latex_library()]
        has_markdown = has_markdown or any(sign in text for sign in MARKDOWN)
    return [markdown_library()] if has_markdown else []


@functools.cache
def markdown_library() -> Library:
    """The script of markdown-it, below the licences of all libraries."""
    return Library(f"/*\n{_text('LICENSES.txt')}*/\n{_script('markdown-it.min.js')}")


@functools.cache
def latex_library() -> Library:
    """KaTeX, its fonts inside its style."""
    return Library(_script("katex.min.js"), FONT.sub(_inside, _text("katex.min.css")))


def _script(name: str) -> str:
    """A script for the inside of an element, where `<!--` would begin a comment."""
    return _text(name).replace("<!--", "\\x3C!--")


def _inside(font: re.Match[str]) -> str:
    content = base64.b64encode((LIBRARIES / "fonts" / font[1]).read_bytes()).decode()
    return f'url(data:font/woff2;base64,{content}) format("woff2")'


def _text(name: str) -> str:
    return (LIBRARIES / name).read_text(encoding="utf-8")


COMPRESSION = 2
"""Level of gzip: a tenth of the time of level 6, and a quarter more bytes."""

ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def as_json(value: Any) -> str:
    """Return ASCII JSON; NaN and infinities, which JSON lacks, become null."""
    try:
        return json.dumps(value, separators=(",", ":"), default=str, allow_nan=False)
    except ValueError:
        return json.dumps(finite(value), separators=(",", ":"), default=str)


def for_html(value: Any) -> str:
    """Return JSON for the inside of a script element, which it can't close."""
    return as_json(value).translate(ESCAPES)


def compressed(value: Any) -> str:
    """Return gzipped JSON in base64."""
    return base64.b64encode(gzip.compress(as_json(value).encode(), COMPRESSION, mtime=0)).decode()


ASSETS = Path(__file__).parent / "assets"

STYLES = ("palette", "page", "plots", "samples")
"""The styles in the order in which they are joined: later ones override earlier ones."""


@functools.cache
def page_style() -> str:
    """All styles in one text."""
    return _joined([ASSETS / f"{name}.css" for name in STYLES])


@functools.cache
def page_script() -> str:
    """All scripts in one text, in a scope of their own; main.js, which starts the page, is last."""
    scripts = sorted(ASSETS.glob("*.js"), key=lambda path: (path.stem == "main", path.stem))
    return f'(() => {{\n"use strict";\n{_joined(scripts)}\n}})();\n'


def content_policy(libraries: Sequence[Library] = (), live: LivePage | None = None) -> str:
    """The content security policy: these styles and scripts; no network but a live page's server.

    KaTeX sets sizes as attributes and has its fonts in its style.
    """
    scripts = [*(library.script for library in libraries), page_script()]
    styles = [*(library.style for library in libraries if library.style), page_style()]
    for_style = "font-src data:; style-src-attr 'unsafe-inline'; " if len(styles) > 1 else ""
    connection = "connect-src 'self'; " if live else ""
    return (
        f"default-src 'none'; script-src {allowed(scripts)}; style-src {allowed(styles)}; "
        f"{connection}{for_style}base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


@functools.cache
def html_template(path: Path) -> jinja2.Template:
    """The HTML of a page, with gaps for its data; text in a gap is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(path.parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(path.name)


def _joined(files: Sequence[Path]) -> str:
    """The texts of scripts or styles, without the lines that are comments."""
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    return COMMENT.sub("", text)


def allowed(texts: Sequence[str]) -> str:
    """Scripts or styles by their hashes, as a content security policy lists them."""
    digests = [hashlib.sha256(text.encode()).digest() for text in texts]
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


def command_line(record: Mapping[str, Any]) -> str:
    """The recorded command, quoted for a shell, without the path of rewardkit; empty if none."""
    words = [str(word) for word in record.get("command", ())]
    if words and PurePath(words[0]).name in ("rewardkit", "__main__.py"):
        words[0] = "rewardkit"
    return shlex.join(words)


def outline(record: Mapping[str, Any]) -> list[str]:
    """The engine, prompts and sampling, each in a few words."""
    tasks = record.get("tasks", {}).values()
    words = [
        record.get("backend", {}).get("name"),
        *(f"prompt {task['prompt']}" for task in tasks if "prompt" in task),
        *(
            f"temperature {task['sampling']['temperature']}"
            for task in tasks
            if "temperature" in task.get("sampling", {})
        ),
        *(
            f"{task['num_samples']} completions per problem"
            for task in tasks
            if (task.get("num_samples") or 1) > 1
        ),
    ]
    return list(dict.fromkeys(str(word) for word in words if word))


COUNTS = ("problems", "completions", "judged", "unjudged", "truncated")
LENGTHS = ("count", "mean", "median", "p95", "maximum")


def _pairs(mapping: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return list(mapping.items())


def _figure(figure: Mapping[str, Any], colours: Mapping[str, int] | None = None) -> dict[str, Any]:
    """A figure for the page's script; `colours` are the numbers of the runs of its series."""
    mappings: dict[str, Sequence[Any]] = {
        name: _pairs(figure[name]) for name in ("series", "bars") if name in figure
    }
    if colours and set(colours) >= set(figure.get("series", {})):
        mappings["series"] = [(*pair, colours[pair[0]]) for pair in mappings["series"]]
    return {**figure, **mappings}


MOST_COMPARED = 12
"""Maximum number of runs that a page compares with its first; `rewardkit compare` takes any."""


@dataclass(frozen=True)
class PageComparisons:
    """The runs of a page beside its first: by the number of the run, and what was not compared."""

    by_run: Sequence[tuple[int, TaskComparison]] = ()
    left_out: Sequence[str] = ()


def compare_runs(folders: Sequence[Path]) -> PageComparisons:
    """Compare the runs in these folders with the first, without the completions of trainings."""
    numbers = {str(path): n for n, path in enumerate(folders) if find_rollouts(path) != path}
    if len(numbers) < 2:
        return PageComparisons()
    baseline, *others = map(Path, numbers)
    comparisons, left_out = compare_comparable(baseline, others[:MOST_COMPARED])
    if len(others) > MOST_COMPARED:
        more = counted(len(others) - MOST_COMPARED, "more run")
        left_out.append(f"{more}; rewardkit compare takes any number")
    return PageComparisons([(numbers[each.run], each) for each in comparisons], left_out)


@dataclass(frozen=True)
class LivePage:
    """What a page needs that a server shows: where it writes notes, and when it changes."""

    notes: str
    """The address that takes a note."""
    version: str
    """The part of the page's tag that changes with the run."""
    seconds: float
    """Seconds after which the page asks for its tag again."""


def render(
    runs: Sequence[ReportRun],
    comparisons: PageComparisons = PageComparisons(),
    live: LivePage | None = None,
) -> str:
    """The page's HTML."""
    packed = pack(runs)
    libraries = libraries_for(packed.texts())
    page = html_template(ASSETS / "page.html.jinja").render(
        title=_title(runs),
        runs=runs,
        words=words,
        policy=content_policy(libraries, live),
        live=live,
        libraries=libraries,
        style=page_style(),
        script=page_script(),
        page=for_html(
            _page_data(runs, packed.left_out)
            | _compared(comparisons, runs)
            | {"live": live and asdict(live)}
        ),
        table=compressed(packed.table),
        blocks=[compressed(block) for block in packed.blocks],
    )
    # names may have lone surrogates, which no file can store; samples escape theirs as JSON
    return page.encode(errors="backslashreplace").decode()


def render_runs(folders: Sequence[Path], path: Path) -> list[ReportRun]:
    """Write one page for these run folders and the runs inside them, and return its runs.

    The whole file is replaced. UsageError if a folder holds no run.
    """
    shown = find_shown(folders)
    runs = read_runs(shown)
    replace_text(path, render(runs, compare_runs(shown)))
    return runs


def _title(runs: Sequence[ReportRun]) -> str:
    tasks = dict.fromkeys(task for run in runs for task in run.tasks)
    return f"{', '.join(tasks)} · {_heading(runs)}"


def _heading(runs: Sequence[ReportRun]) -> str:
    """The name of the training that all runs belong to, then their number, or the run's model."""
    model = runs[0].model
    what = f"{len(runs)} runs" if len(runs) > 1 else PurePath(model).name or model
    folders = {run.folder for run in runs}
    training = next(iter(folders)) if len(folders) == 1 else None
    return f"{training.name} · {what}" if training and training.name != what else what


def verdict(comparison: TaskComparison, run: str = "", baseline: str = "") -> str:
    """What a comparison shows, in a sentence, which names the baseline of several runs."""
    change, power, problems = comparison.difference, comparison.power, comparison.problems

    def points(share: float) -> str:
        return f"{100 * abs(share):.{0 if change.high - change.low >= 0.1 else 1}f}"

    if is_shown(comparison):
        low, high = sorted((change.low, change.high), key=abs)
        direction = "better" if change.value > 0 else "worse"
        return (
            f"{run} is {direction}{baseline and ' than '}{baseline} "
            f"by {points(change.value)} points ({points(low)} to {points(high)}), "
            f"{p_value_equation(comparison.p_adjusted)}, {counted(problems, 'problem')}"
        )
    both = baseline and f"{run} and {baseline}: "
    if not power.detectable_difference:
        return f"{both}no difference: both have the same result on each problem"
    needed, sought = power.needed_problems or 0, power.difference
    if needed <= problems:
        needed, sought = problems, power.detectable_difference
    needs = f"{counted(needed, 'problem')} would show {points(sought)} points"
    return f"{both}no difference shown; {needs}"


def is_shown(comparison: TaskComparison) -> bool:
    """Whether the test and the interval of a comparison both show a difference."""
    change = comparison.difference
    return comparison.p_adjusted < SIGNIFICANCE and change.low * change.high > 0


def _compared(comparisons: PageComparisons, runs: Sequence[ReportRun]) -> dict[str, Any]:
    baseline = runs[0].name if len(runs) > 2 else ""
    tasks = {each.task for _, each in comparisons.by_run}
    return {
        "comparisons": [
            {
                "run": number,
                "task": each.task,
                "difference": finite(asdict(each.difference)),
                "p": p_value_text(each.p_adjusted),
                "isShown": is_shown(each),
                "verdict": (f"{each.task}: " if len(tasks) > 1 else "")
                + verdict(each, runs[number].name, baseline),
            }
            for number, each in comparisons.by_run
        ],
        "notCompared": list(comparisons.left_out),
    }


def _page_data(runs: Sequence[ReportRun], left_out: int) -> dict[str, Any]:
    """The data that the page's script reads first; see assets/overview.js and run_record.js."""
    tasks = [task for run in runs for task in run.tasks.values()]
    keys = {*COUNTS, *LENGTHS, *Failure, *chain(*(task["metrics"] for task in tasks))}
    keys |= {*chain(*(task["failures"] for task in tasks))}
    return {
        "version": __version__,
        "heading": _heading(runs),
        "lowerIsBetter": sorted(LOWER_IS_BETTER),
        "leftOut": left_out,
        "words": {key: words(key) for key in sorted(keys)},
        "remarks": {"truncated": TRUNCATED, "unjudged": UNJUDGED},
        "runs": [_run_data(run) for run in runs],
        "curves": list(_curves(runs)),
        "trainings": list(_trainings(runs)) if len(runs) > 1 or runs[0].rollouts else [],
    }


def _curves(runs: Sequence[ReportRun]) -> Iterator[dict[str, Any]]:
    """The plots of each task over the steps of each training with several checkpoints."""
    numbers = {id(run): number for number, run in enumerate(runs)}
    names = _training_names(runs)
    for curve in run_curves(runs):
        colours = {f"step {run.step}": numbers[id(run)] for run in curve.runs}
        plots = [_figure(plot.as_json(), colours) for plot in curve.plots()]
        training = names.get(curve.runs[0].folder, curve.where)
        yield {"task": curve.task, "training": training, "plots": plots}


def _training_names(runs: Sequence[ReportRun]) -> dict[Path | None, str]:
    """The shortest names of the trainings, by their folders."""
    folders = list(dict.fromkeys(run.folder for run in runs if run.folder))
    return dict(zip(folders, short_names(folders), strict=True))


def _trainings(runs: Sequence[ReportRun]) -> Iterator[dict[str, Any]]:
    """What the trainers of the runs' models logged."""
    names = _training_names(runs)
    for log in dict.fromkeys(run.train_log for run in runs if run.train_log):
        series = read_training_series(log)
        plots = [_figure(plot.as_json()) for plot in training_plots(series)]
        yield {
            "name": names[log.resolve().parent],
            "plots": plots,
            # a sign's step, its text, and the filters that show its completions
            "signs": [
                (step, text, link.partition("#samples?")[2])
                for step, sign in series.signs
                for text, _, link in [sign.partition(COMPLETIONS_LINK)]
            ],
        }


def _run_data(run: ReportRun) -> dict[str, Any]:
    """A run, with the tasks' summaries as summary.json holds them, for the page's script."""
    return {
        "name": run.name,
        "model": run.model,
        "outline": outline(run.record),
        "started": run_start(run.record),
        "tasks": [
            {
                "name": name,
                **{count: task[count] for count in COUNTS},
                **{field: _pairs(task[field]) for field in ("metrics", "failures", "lengths")},
                "groups": [(column, _pairs(groups)) for column, groups in task["groups"].items()],
                "figures": [_figure(figure) for figure in task["figures"]],
                "broken": task.get("broken", ""),
                "cluster": task.get("cluster", ""),
                "clusters": task.get("clusters", 0),
                "planned": run.planned(name),
                "isShard": "shard" in run.record,
            }
            for name, task in run.tasks.items()
        ],
        "command": command_line(run.record),
        "record": run.record and json.dumps(run.record, indent=1, ensure_ascii=False, default=str),
    }
