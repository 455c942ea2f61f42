"""The live pages of a folder: the table, the reports, what is read again and what is refused."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from rewardkit.errors import RunMismatch, UsageError
from rewardkit.harness.report.page import LivePage, PageComparisons, render
from rewardkit.harness.report.runs import ReportRun, find_shown, read_runs
from rewardkit.harness.report.samples import pack
from rewardkit.harness.results.completion_row import CompletionRow
from rewardkit.harness.results.run_folder import RunFolder
from rewardkit.server import live_pages
from rewardkit.server.live_pages import create_view
from tests.harness.results.rollouts.made import two_steps, write_training
from tests.support.runs import row, write_run

ENDED = [{"started": "2026-01-02T03:04:05+00:00", "ended": "2026-01-02T03:05:05+00:00"}]
RUNNING = [{**ENDED[0], "ended": None}]


@pytest.fixture(autouse=True)
def looks_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_pages, "LOOK_SECONDS", -1.0)


def view(folder: Path) -> TestClient:
    return TestClient(create_view(folder), base_url="http://127.0.0.1:8001")


def running_run(folder: Path, *, model: str = "<b>m</b>", wrong: int = 1) -> Path:
    """A run of 8 completions with one right, and `wrong` wrong ones."""
    folder.mkdir(parents=True)
    run = RunFolder(folder)
    run.append([row(str(n), task="sums", correct=n == 1) for n in range(1, 2 + wrong)])
    tasks = {"sums": {"samples": 8, "num_samples": 1}}
    settings = {"model": model}
    start = {"sessions": RUNNING, "started": RUNNING[0]["started"]}
    run.write_record({"tasks": tasks, "settings": settings, **start})
    return folder


def address_of(pages: TestClient) -> str:
    """The address of the first run in the table."""
    return pages.get("/").text.partition('href="')[2].partition('"')[0]


def test_the_table_shows_a_finished_and_a_running_run(tmp_path: Path) -> None:
    write_run(tmp_path / "a" / "whole", [row("1"), row("2")], model="ckpt")
    running_run(tmp_path / "b" / "part")
    page = view(tmp_path).get("/")
    assert page.status_code == 200
    for shown in ("a/whole", "b/part", "2 of 8", "50.0%", "running", "2026-01-02 03:04"):
        assert shown in page.text
    assert "&lt;b&gt;m&lt;/b&gt;" in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert page.text.count("<script") == 1
    assert "script-src 'sha256-" in page.headers["content-security-policy"]
    asked = view(tmp_path).head("/")
    assert asked.headers["etag"] == page.headers["etag"]
    assert asked.content == b""


def test_rows_that_come_are_counted_and_each_line_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = running_run(tmp_path / "run")
    pages = view(tmp_path)
    assert "2 of 8" in pages.get("/").text
    RunFolder(folder).append([row("3", task="sums")])
    decoded = []
    from_json = CompletionRow.from_json

    def counted(value: object, place: str) -> CompletionRow:
        decoded.append(value)
        return from_json(value, place)

    monkeypatch.setattr(CompletionRow, "from_json", counted)
    with (folder / "samples.jsonl").open("ab") as file:
        file.write(b'{"key": "sums/4')  # the writer is in the middle of a line
    text = pages.get("/").text
    assert "3 of 8" in text
    assert "66.7%" in text
    assert len(decoded) == 1


def test_rows_with_lone_surrogates_and_nan_are_counted(tmp_path: Path) -> None:
    folder = running_run(tmp_path / "run")
    odd = row("3", task="sums", completion="\ud800", columns={"x": float("nan")})
    RunFolder(folder).append([odd])
    assert "3 of 8" in view(tmp_path).get("/").text


def test_a_run_that_starts_again_is_counted_from_its_start(tmp_path: Path) -> None:
    folder = running_run(tmp_path / "run")
    pages = view(tmp_path)
    assert "2 of 8" in pages.get("/").text
    (folder / "samples.jsonl").unlink()
    RunFolder(folder).append([row("1", task="sums")])
    record = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**record, "started": "2026-01-03T00:00:00"}))
    assert "1 of 8" in pages.get("/").text


def test_an_idle_run_that_no_process_writes_is_unfinished(tmp_path: Path) -> None:
    folder = running_run(tmp_path / "run")
    for file in folder.iterdir():
        os.utime(file, (1, 1))
    assert "unfinished" in view(tmp_path).get("/").text
    with RunFolder(folder).locked():
        assert "running" in view(tmp_path).get("/").text


def test_a_report_is_rendered_again_only_when_its_folder_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = running_run(tmp_path / "run")
    rendered = []

    def counted(runs: Sequence[ReportRun], compared: PageComparisons, live: LivePage) -> str:
        rendered.append(runs)
        return render(runs, compared, live)

    monkeypatch.setattr(live_pages, "render", counted)
    pages = view(tmp_path)
    address = address_of(pages)
    first, second = pages.get(address), pages.get(address)
    assert first.status_code == second.status_code == 200, first.text
    assert "connect-src 'self'" in first.headers["content-security-policy"]
    assert "script-src 'sha256-" in first.headers["content-security-policy"]
    assert len(rendered) == 1
    tag = first.headers["etag"]
    assert pages.get(address, headers={"If-None-Match": tag}).status_code == 304
    RunFolder(folder).append([row("3", task="sums")])
    assert pages.get(address, headers={"If-None-Match": tag}).status_code == 200
    assert len(rendered) == 2
    asked = pages.head(address)
    assert asked.headers["etag"] == pages.get(address).headers["etag"] != tag
    assert asked.content == b""
    assert len(rendered) == 2


SETTINGS = {"task": "gsm8k", "trainer": {"max_steps": 9}}
SESSION = {**RUNNING[0], "model": "m"}
METRIC = {"value": 0.25, "low": 0.1, "high": 0.5, "count": 4}


def write_record(folder: Path, settings: object, session: object, entry: dict[str, Any]) -> None:
    """Write the record and the log of a training at step 3."""
    record = {"format": 1, "fingerprint": {"settings": settings}, "sessions": [session]}
    (folder / "training.json").write_text(json.dumps(record))
    log = [{"step": 3, "logs": {}, "evaluation": {}, "warnings": [], **entry}]
    (folder / "train_log.json").write_text(json.dumps(log))


def test_a_training_is_one_row_with_its_steps_and_last_accuracy(tmp_path: Path) -> None:
    folder = tmp_path / "learnt"
    write_run(folder / "evaluation" / "step-000001", [row("1")])
    write_record(folder, SETTINGS, SESSION, {"evaluation": {"gsm8k": {"accuracy": METRIC}}})
    pages = view(tmp_path)
    text = pages.get("/").text
    assert text.count("<tr>") == 2
    for shown in ("gsm8k, training", "3 of 9", "25.0%"):
        assert shown in text
    assert pages.get(address_of(pages)).status_code == 200


def test_the_training_of_a_script_is_one_row_by_its_log_alone(tmp_path: Path) -> None:
    folder = write_training(tmp_path / "learnt", two_steps())
    write_run(folder / "evaluation" / "step-000000", [row("1")])
    link = "http://127.0.0.1:8001/runs/0#samples?sort=accuracy"
    log: list[dict[str, Any]] = [
        {
            "step": 0,
            "logs": {},
            "evaluation": {"gsm8k": {"accuracy": METRIC}},
            "warnings": [],
            "training": {"model": "tiny", "max_steps": 4, "started": "2026-01-02T03:04:05+00:00"},
        },
        {
            "step": 2,
            "logs": {"rewards/accuracy/mean": 0.5},
            "evaluation": {},
            "warnings": [f"it rose. Completions: rewardkit view learnt, then {link}"],
        },
    ]
    pages = view(tmp_path)
    for logs, state in ({}, "running"), ({"train_runtime": 1.0}, "done"):
        log[1]["logs"] |= logs
        (folder / "train_log.json").write_text(json.dumps(log))
        text = pages.get("/").text
        assert text.count("<tr>") == 2
        for shown in ("gsm8k, training", "tiny", "2 of 4", "25.0%", f">{state}<", "03:04"):
            assert shown in text
    about = {"model": "tiny", "max_steps": 8, "started": "2026-01-02T05:04:05+00:00"}
    resumed = {"step": 3, "logs": {}, "evaluation": {}, "warnings": [], "training": about}
    (folder / "train_log.json").write_text(json.dumps([*log, resumed]))
    text = pages.get("/").text
    assert "3 of 8" in text
    assert "03:04" in text
    assert ">running<" in text
    address = text.partition('href="')[2].partition('"')[0]
    page = pages.get(address).text
    assert '[2,"it rose","sort=accuracy"]' in page
    assert "accuracy reward" in page


def test_a_damaged_run_is_a_row_that_says_so_and_hides_no_other(tmp_path: Path) -> None:
    write_run(tmp_path / "good", [row("1")])
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "run.json").write_text("{")
    (tmp_path / "worse").mkdir()
    (tmp_path / "worse" / "training.json").write_text('{"format": 1}')
    pages = view(tmp_path)
    text = pages.get("/").text
    assert (text.count("unreadable"), "good" in text) == (2, True)
    for part in text.split('href="')[1:]:
        assert pages.get(part.partition('"')[0]).status_code in (200, 503)


@pytest.mark.parametrize(
    ("settings", "session", "entry"),
    [
        ([], SESSION, {}),
        ("gsm8k", SESSION, {}),
        ({"task": "gsm8k", "trainer": {"max_steps": "nine"}}, SESSION, {}),
        ({"task": "gsm8k", "trainer": {"max_steps": 1e999}}, SESSION, {}),
        (SETTINGS, [], {}),
        (SETTINGS, {**SESSION, "started": 7}, {}),
        (SETTINGS, {**SESSION, "steps": [3]}, {}),
        (SETTINGS, SESSION, {"evaluation": []}),
        (SETTINGS, SESSION, {"step": "three"}),
        (SETTINGS, SESSION, {"evaluation": {"gsm8k": {"accuracy": {**METRIC, "value": "a"}}}}),
        (SETTINGS, SESSION, {"evaluation": {"gsm8k": {"accuracy": 0.5}}}),
        (SETTINGS, SESSION, {"evaluation": {"gsm8k": 0.5}}),
    ],
)
def test_a_damaged_training_hides_no_other_run(
    tmp_path: Path, settings: object, session: object, entry: dict[str, Any]
) -> None:
    write_run(tmp_path / "good", [row("1")])
    (tmp_path / "learnt").mkdir()
    write_record(tmp_path / "learnt", settings, session, entry)
    page = view(tmp_path).get("/")
    assert page.status_code == 200
    assert "unreadable" in page.text
    assert "good" in page.text


@pytest.mark.parametrize(
    ("session", "summary", "state"),
    [
        ({"ended": "2026-01-02T03:05:05+00:00"}, True, "done"),
        ({"ended": "2026-01-02T03:05:05+00:00"}, False, "unfinished"),  # interrupted
        ({"ended": "2026-01-02T03:05:05+00:00", "error": "<no> answer"}, False, "failed"),
        ({"ended": "2026-01-02T03:05:05+00:00", "error": "<no> answer"}, True, "failed"),
        ({"ended": None}, False, "unfinished"),
    ],
)
def test_a_run_is_done_only_if_it_ended_without_an_error(
    tmp_path: Path, session: dict[str, Any], summary: bool, state: str
) -> None:
    folder = running_run(tmp_path / "run")
    record = json.loads((folder / "run.json").read_text())
    record["sessions"] = [{**RUNNING[0], **session}]
    (folder / "run.json").write_text(json.dumps(record))
    if summary:
        RunFolder(folder).write_summary({"tasks": {}, "failed": False})
    for file in folder.iterdir():
        os.utime(file, (1, 1))
    text = view(tmp_path).get("/").text
    assert f'data-label="state">{state}' in text
    assert ("&lt;no&gt; answer" in text) == ("error" in session)


def test_a_file_without_a_status_hides_no_run(tmp_path: Path) -> None:
    running_run(tmp_path / "run")
    (tmp_path / "run" / "circle").symlink_to("circle")
    page = view(tmp_path).get("/")
    assert page.status_code == 200
    assert "2 of 8" in page.text


def test_only_this_machine_s_names_and_the_table_s_addresses_are_answered(tmp_path: Path) -> None:
    write_run(tmp_path / "run", [row("1")])
    pages = view(tmp_path)
    assert pages.get("/", headers={"Host": "evil.example"}).status_code == 403
    assert pages.get("/runs/..%2f..%2fetc%2fpasswd").status_code == 404
    assert pages.get("/runs/unknown").status_code == 404
    assert pages.post("/", json={}).status_code == 405


def test_links_lead_nowhere_outside_and_an_empty_folder_has_a_page(tmp_path: Path) -> None:
    outside = write_run(tmp_path / "outside" / "secret", [row("1")])
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "link").symlink_to(outside)
    assert "No run yet" in view(tmp_path / "runs").get("/").text


def test_a_folder_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="isn't a folder"):
        create_view(tmp_path / "none")


def note_on(key: str, note: str = "", *tags: str, run: str = "run") -> dict[str, object]:
    return {"run": run, "key": key, "note": note, "tags": list(tags)}


def test_a_note_is_stored_in_the_run_and_shown_by_its_report(tmp_path: Path) -> None:
    folder = running_run(tmp_path / "run")
    pages = view(tmp_path)
    address = address_of(pages)
    before = pages.get(address).headers["etag"]
    reply = pages.post(f"{address}/notes", json=note_on("sums/1/0", "Grüße", "odd", "look"))
    assert reply.status_code == 204, reply.text
    pages.post(f"{address}/notes", json=note_on("sums/2/0", "gone soon"))
    pages.post(f"{address}/notes", json=note_on("sums/2/0"))
    (run,) = read_runs([folder])
    assert {key: (one.note, one.tags) for key, one in run.notes.items()} == {
        "sums/1/0": ("Grüße", ["odd", "look"])
    }
    assert pack([run]).table["notes"] == [(0, "Grüße", ["odd", "look"], False)]
    after = pages.get(address).headers["etag"]
    assert after != before
    assert after.partition("-")[0] == before.partition("-")[0]  # the run itself has nothing new


def test_a_note_outlives_a_run_that_starts_again_and_says_that_it_is_older(tmp_path: Path) -> None:
    folder = running_run(tmp_path / "run")
    pages = view(tmp_path)
    pages.post(f"{address_of(pages)}/notes", json=note_on("sums/1/0", "a note"))
    record = json.loads((folder / "run.json").read_text())
    with RunFolder(folder).opened({}, overwrite=True):
        RunFolder(folder).append([row("1", task="sums")])
        RunFolder(folder).write_record({**record, "started": "2027-01-01T00:00:00+00:00"})
    assert pack(read_runs([folder])).table["notes"] == [(0, "a note", [], True)]


def test_a_note_on_a_training_is_stored_in_the_run_that_has_the_sample(tmp_path: Path) -> None:
    folder = write_training(tmp_path / "learnt", two_steps())
    evaluation = write_run(folder / "evaluation" / "step-000001", [row("1")])
    (folder / "training.json").write_text("{}")
    pages = view(tmp_path)
    names = [run.name for run in read_runs(find_shown([folder]))]
    for name in names:
        reply = pages.post(f"{address_of(pages)}/notes", json=note_on("k", name, run=name))
        assert reply.status_code == 204, reply.text
    stored = [path.parent for path in folder.rglob("notes.json")]
    assert sorted(stored) == sorted([evaluation, folder / "completions"])


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"run": "another"}, 404),
        ({"run": "../run"}, 404),
        ({"note": "x" * 10_001}, 422),
        ({"tags": ["x" * 61]}, 422),
        ({"tags": ["x"] * 21}, 422),
        ({"path": "/etc"}, 422),
        ({"note": "x" * 300_000}, 413),
    ],
)
def test_a_note_that_does_not_fit_is_refused(
    tmp_path: Path, change: dict[str, object], status: int
) -> None:
    folder = running_run(tmp_path / "run")
    pages = view(tmp_path)
    reply = pages.post(f"{address_of(pages)}/notes", json={**note_on("k", "n"), **change})
    assert reply.status_code == status, reply.text
    assert not (folder / "notes.json").exists()


def test_a_web_page_of_others_can_store_no_note(tmp_path: Path) -> None:
    folder = running_run(tmp_path / "run")
    pages = view(tmp_path)
    address = f"{address_of(pages)}/notes"
    body = json.dumps(note_on("k", "n"))
    plain = pages.post(address, content=body, headers={"Content-Type": "text/plain"})
    assert plain.status_code == 415  # what a form may send without asking
    rebound = pages.post(address, json=note_on("k", "n"), headers={"Host": "evil.example"})
    assert rebound.status_code == 403
    asked = pages.options(address, headers={"Origin": "http://evil.example"})
    assert "access-control-allow-origin" not in asked.headers
    assert pages.post("/runs/unknown/notes", json=note_on("k", "n")).status_code == 404
    assert not (folder / "notes.json").exists()


def two_runs(folder: Path) -> tuple[TestClient, list[str]]:
    """The pages of two runs, and their addresses."""
    for name, right in (("a", 1), ("b", 9)):
        write_run(folder / name, [row(str(n), correct=n < right) for n in range(9)])
    pages = view(folder)
    parts = pages.get("/").text.split('href="/runs/')[1:]
    return pages, [part.partition('"')[0] for part in parts]


@pytest.mark.parametrize(
    ("order", "verdict"),
    [([0, 1], "b is better by 89 points"), ([1, 0], "a is worse by 89 points"), ([0], None)],
)
def test_runs_in_one_address_are_compared_with_the_first(
    tmp_path: Path, order: list[int], verdict: str | None
) -> None:
    pages, names = two_runs(tmp_path)
    page = pages.get(f"/runs/{','.join(names[place] for place in order)}").text
    assert (verdict or '"comparisons":[]') in page


def test_a_note_on_compared_runs_is_stored_in_its_run(tmp_path: Path) -> None:
    pages, names = two_runs(tmp_path)
    address = f"/runs/{','.join(names)}"
    before = pages.get(address).headers["etag"]
    reply = pages.post(f"{address}/notes", json=note_on("gsm8k/1/0", "odd", run="b"))
    assert reply.status_code == 204, reply.text
    assert (tmp_path / "b" / "notes.json").is_file()
    assert not (tmp_path / "a" / "notes.json").exists()
    assert pages.get(address).headers["etag"] != before
    assert pages.get(f"{address},unknown").status_code == 404


def test_damaged_notes_are_named_with_a_remedy(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", [row("1")])
    (folder / "notes.json").write_text("[]")
    with pytest.raises(RunMismatch, match=r"notes\.json isn't a file of notes: .* Move it away"):
        read_runs([folder])
