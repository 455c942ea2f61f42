"""The `judge` verifier: a model on a server compares an answer with the reference.

The judge sees the question, the reference and the extracted answer, and no other text of the
completion: each on one line, cut to a length, without characters that could end its fence. The
replies are kept on disk. A judge can rescue or confirm the verdict of a rule.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from rewardkit.config import PositiveInt, Seconds
from rewardkit.endpoint.client import DEFAULT_URL, ServerClient, iterate_results
from rewardkit.endpoint.limits import (
    DEFAULT_CONCURRENCY,
    FIRST_CONCURRENCY,
    ConcurrencyLimit,
    allowed_connections,
)
from rewardkit.endpoint.reply import Prices, ServerReply
from rewardkit.errors import BackendError, Unavailable, UsageError, needs_extra
from rewardkit.protocols import Message, Prompt, Request, Verifier
from rewardkit.records import Failure, Sample, Sampling, Verdict
from rewardkit.text.redaction import redact, remember_url
from rewardkit.text.thinking import text_to_read
from rewardkit.text.transcripts import model_text, question_in
from rewardkit.verifiers.judge.use import audit_text, count_use
from rewardkit.verifiers.math.extraction import answers
from rewardkit.verifiers.reading import fenced_block

PromptName = Literal["chat", "json", "compass", "xverify", "general"]

LONGEST_QUESTION, LONGEST_REFERENCE, LONGEST_ANSWER = 4_000, 1_000, 500
"""Characters that a judge is shown; more are cut off."""

_FENCES = re.compile(r'"{2,}|`{2,}|#{2,}|<(?=[|/｜A-Za-z])|\[/?INST')
"""The starts of what separates the parts of a form, or the turns of a chat template."""


@dataclass(frozen=True, slots=True)
class JudgeInput:
    """What a judge is shown."""

    question: str
    reference: str
    answer: str

    @classmethod
    def of(cls, answer: str, sample: Sample) -> JudgeInput:
        """The comparison of an extracted answer with a sample's references."""
        question = sample.question or question_in(sample.columns)
        return cls(
            _as_data(question, LONGEST_QUESTION),
            _as_data(" or ".join((sample.reference, *sample.references)), LONGEST_REFERENCE),
            _as_data(answer, LONGEST_ANSWER),
        )


def _as_data(text: str, longest: int) -> str:
    """The text on one line; a blank breaks each start of a fence."""
    line = " ".join(text[: 2 * longest].split())
    line = _FENCES.sub(lambda found: " ".join(found[0]) + " " * (len(found[0]) == 1), line)
    return line if len(line) <= longest else f"{line[:longest]}…"


@dataclass(frozen=True)
class Form:
    """A prompt and the replies to it. `same` and `different` are patterns of a whole reply."""

    template: str
    same: str
    different: str
    max_tokens: int
    chat: bool = True
    """Whether the prompt is a user's message, or the start of a text."""

    def prompt(self, shown: JudgeInput) -> str:
        return self.template.format(
            question=shown.question, reference=shown.reference, answer=shown.answer
        )

    def read(self, reply: str) -> bool | None:
        """Whether a reply says that the answers are the same; None if it says neither."""
        reply = text_to_read(reply, "strip").strip()
        for pattern, same in ((self.same, True), (self.different, False)):
            if pattern and re.fullmatch(pattern, reply, re.IGNORECASE | re.DOTALL):
                return same
        return None if self.same else _read_json(reply)


def _read_json(reply: str) -> bool | None:
    try:
        said = json.loads(fenced_block(reply, "json"))
    except (ValueError, RecursionError):
        return None
    same = said.get("same") if isinstance(said, dict) else None
    return same if isinstance(same, bool) else None


def _text(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


FORMS: Mapping[PromptName, Form] = {
    "chat": Form(_text("chat.txt"), "S", "D", 1),
    "json": Form(_text("json.txt"), "", "", 2048),
    # the input that these models were trained on, to the letter: src/prompts.py of
    # open-compass/CompassVerifier, the prompt of IAAR-Shanghai/xVerify as OpenCompass has it, and
    # the model card of TIGER-Lab/general-verifier
    "compass": Form(_text("compass.txt"), "A", "[BC]", 1),
    "xverify": Form(_text("xverify.txt"), r"\[?correct\]?\.?", r"\[?incorrect\]?\.?", 6),
    "general": Form(
        _text("general.txt"),
        *(r".*Final Decision:\W*yes\W*", r".*Final Decision:\W*no\W*", 1024),
        chat=False,
    ),
}

UNRELATED = "the name of the ninth heron that crossed the river before dawn"
"""A reference that no answer is the same as; a judge that says so follows the answer's orders."""

SHARE_OF_VOTES = 0.6
"""The share of a batch's budget after which no vote is waited for: the rest is for controls."""

_FLAG = re.compile(r"--(?:backend-arg )?([a-z]+(?:-[a-z]+)*)")
"""How messages about a server name the options of `eval`."""


class Undecided(str):
    """Why a reply says neither same nor different, which the answer itself may have caused."""


@dataclass(frozen=True)
class Judge(Verifier):
    """Right when a model says that the extracted answer is the same as the reference.

    The model sees the question, the reference and the extracted answer, never the reasoning.
    `prompt` is the form of the model's input: "chat" for a chat model that replies at once, "json"
    for a model that thinks first, "compass", "xverify" and "general" for CompassVerifier, xVerify
    and general-verifier. The majority of `votes` counts. An answer that the model also calls the
    same as an unrelated text is wrong. An answer to which the reply says neither same nor different
    is wrong, if the model decides other answers. An answer without a reply is unjudged.

    `timeout` is in seconds for a reply, `budget` in seconds for a batch; later answers are
    unjudged. Prices are for a million tokens. `audit` is the file of `rewardkit audit --json` with
    this judge's errors. The key is in REWARDKIT_JUDGE_KEY, else in OPENAI_API_KEY.
    """

    reads = ("boxed", "answer")
    thinking = "strip"
    set_by_caller = ("base_url",)

    base_url: str = ""
    model: str = ""
    prompt: PromptName = "chat"
    votes: Annotated[int, Meta(ge=1, le=99)] = 1
    timeout: Seconds = 60.0
    budget: Seconds | None = None
    concurrency: PositiveInt | None = None
    input_price: float | None = None
    output_price: float | None = None
    audit: str = ""

    def __post_init__(self) -> None:
        remember_url(self.url)

    @property
    def url(self) -> str:
        """The server's address."""
        return self.base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        verdict = self.judge_batch([(text, sample)])[0]
        if verdict.score is None:
            raise Unavailable(verdict.message)
        return verdict

    def judge_batch(self, items: Sequence[tuple[str, Sample]], /) -> list[Verdict]:
        """Return the verdicts on texts with their samples; the model reads their answers alone."""
        found = [_single_answer(text) for text, _ in items]
        pairs = zip(found, items, strict=True)
        asked = [(answer, sample) for answer, (_, sample) in pairs if isinstance(answer, str)]
        verdicts = iter(self.judge_answers(asked))
        return [next(verdicts) if isinstance(answer, str) else answer for answer in found]

    def judge_answers(self, items: Sequence[tuple[str, Sample]], /) -> list[Verdict]:
        """Return the verdicts on extracted answers with their samples, in order.

        UsageError where the server refuses every request, such as for its key.
        """
        shown = [JudgeInput.of(answer, sample) for answer, sample in items]
        judgeable = list(dict.fromkeys(case for case in shown if case.reference))
        outcomes = _Asking(self).outcomes(judgeable) if judgeable else {}
        return [
            _verdict(outcomes.get(case, "there is no reference"), answer)
            for case, (answer, _) in zip(shown, items, strict=True)
        ]


def _single_answer(text: str) -> str | Verdict:
    """The answer of a text, or the verdict on a text without a single answer."""
    found = [answer for answer in dict.fromkeys(answers(text, "flexible")) if answer.strip()]
    if not found:
        return Verdict.wrong(Failure.NO_ANSWER, message="no answer is found")
    several = "it gives several different answers"
    last = found[-1]
    return last if len(found) == 1 else Verdict.wrong(Failure.WRONG, answer=last, message=several)


SAME = "the judge says: the same"
"""The message of a verdict on an answer that is the same."""


def _verdict(outcome: bool | str | None, answer: str) -> Verdict:
    if isinstance(outcome, Undecided):
        return Verdict.wrong(Failure.WRONG, answer=answer, message=outcome)
    if isinstance(outcome, str):
        return Verdict.unjudged(outcome, answer=answer)
    said = {
        True: SAME,
        False: "the judge says: different",
        None: f"{SAME} as an unrelated text, too",
    }
    message = said[outcome]
    return Verdict.judged(outcome is True, answer=answer, message=message)


@lru_cache(maxsize=16)
def _client(judge: Judge) -> ServerClient:
    with needs_extra("openai", "the verifier judge"):
        importlib.import_module("aiohttp")  # takes a second, before any budget starts
    if not judge.model:
        raise UsageError(
            "the verifier judge needs a model and the address of its server: --verifier-arg "
            "model=NAME --verifier-arg base_url=URL, or judge.model and judge.base_url beside "
            "another verifier"
        )
    audit_text(judge)
    most = allowed_connections(judge.concurrency or DEFAULT_CONCURRENCY)
    key = os.environ.get("REWARDKIT_JUDGE_KEY") or os.environ.get("OPENAI_API_KEY") or "EMPTY"
    return ServerClient(
        url=judge.url,
        api_key=key,
        model=judge.model,
        chat=FORMS[judge.prompt].chat,
        retries=3,
        seconds=judge.timeout,
        extra_fields={},
        limit=ConcurrencyLimit(judge.concurrency or FIRST_CONCURRENCY, most),
        prices=Prices(judge.input_price, judge.output_price),
    )


Ballot = tuple[JudgeInput, int]
"""A comparison, and the seed of one vote on it."""


class _Asking:
    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._form = FORMS[judge.prompt]
        self._client = _client(judge)
        self._start = time.monotonic()
        self._sums: Counter[str] = Counter()
        self._share = SHARE_OF_VOTES
        self._has_decided = False

    def outcomes(self, comparisons: Sequence[JudgeInput]) -> dict[JudgeInput, bool | str | None]:
        """Whether each answer is the same, or why that is unknown; None: the same as any text."""
        refusals = self._client.refusals
        with reply_cache() as cache:
            decided: dict[JudgeInput, bool | str | None] = {
                **self._majorities(comparisons, self._judge.votes, cache)
            }
            same = [case for case, outcome in decided.items() if outcome is True]
            self._share = 1.0
            controls = {case: replace(case, reference=UNRELATED) for case in same}
            checked = self._majorities(list(dict.fromkeys(controls.values())), 1, cache)
            for case in same:
                found = checked[controls[case]]
                decided[case] = found if isinstance(found, str) else None if found else True
            unclear = [case for case in comparisons if isinstance(decided[case], Undecided)]
            if unclear and not (self._has_decided or self._decides_at_all(cache)):
                # a wrong form or model: no answer is to blame
                decided |= {case: str(decided[case]) for case in unclear}
                unclear = []
        unjudged = sum(isinstance(outcome, str) for outcome in decided.values()) - len(unclear)
        count_use(
            self._judge,
            answers=len(comparisons),
            unjudged=unjudged,
            undecided=len(unclear),
            refusals=self._client.refusals - refusals,
            seconds=time.monotonic() - self._start,
            **self._sums,
        )
        return decided

    def _decides_at_all(self, cache: ReplyCache) -> bool:
        plain = (JudgeInput("What is 2 + 2?", "4", "4"), 0)
        return isinstance(self._votes([plain], Sampling(), cache)[plain], bool)

    def _majorities(
        self, comparisons: Sequence[JudgeInput], votes: int, cache: ReplyCache
    ) -> dict[JudgeInput, bool | str]:
        ballots = [(case, seed) for case in comparisons for seed in range(votes)]
        found = self._votes(ballots, Sampling(temperature=float(votes > 1)), cache)
        unclear = [ballot for ballot in ballots if found[ballot] is None]
        again = {(case, votes + seed): (case, seed) for case, seed in unclear}
        second = self._votes(list(again), Sampling(temperature=1.0), cache)
        found |= {again[ballot]: vote for ballot, vote in second.items()}
        return {
            case: _majority([found[case, seed] for seed in range(votes)]) for case in comparisons
        }

    def _votes(
        self, ballots: Sequence[Ballot], sampling: Sampling, cache: ReplyCache
    ) -> dict[Ballot, bool | str | None]:
        """For each ballot whether the answers are the same, why there is no reply, or None for a
        reply that says neither."""
        sampling = replace(sampling, max_tokens=self._form.max_tokens)
        found: dict[Ballot, bool | str | None] = {}
        waiting: dict[str, Ballot] = {}
        for ballot in ballots:
            stored = cache.get(self._content(ballot, sampling))
            if stored is None:
                waiting[str(len(waiting))] = ballot
            else:
                found[ballot] = stored
        self._sums["cached"] += len(found)
        self._has_decided |= bool(found)
        fault = "the budget of the judge for a batch is spent" if self._judge.budget else ""
        try:
            for key, reply in self._replies(waiting, sampling):
                ballot = waiting.pop(key)
                found[ballot] = self._read(reply)
                if isinstance(found[ballot], bool):
                    self._has_decided = True
                    cache.put(self._content(ballot, sampling), bool(found[ballot]))
        except BackendError as error:  # the server is gone: what it said counts
            fault = _for_judge(str(error))
        except UsageError as error:
            raise UsageError(_for_judge(str(error))) from error
        return found | dict.fromkeys(waiting.values(), fault)

    def _replies(
        self, waiting: Mapping[str, Ballot], sampling: Sampling
    ) -> Iterator[tuple[str, ServerReply]]:
        requests = []
        for key, (shown, seed) in waiting.items():
            text = self._form.prompt(shown)
            requests.append(Request(key, Prompt(text, messages=(Message("user", text),)), seed))
        budget = self._judge.budget
        spent = time.monotonic() - self._start
        left = None if budget is None else budget * self._share - spent
        if not requests or (left is not None and left <= 0):
            return
        work = partial(self._client.complete_all, requests, sampling)
        for request, reply in iterate_results(work, left):
            completion = reply.completion
            self._sums["calls"] += 1
            for name in ("prompt_tokens", "completion_tokens", "cost"):
                self._sums[name] += getattr(completion, name) or 0
            yield request.key, reply

    def _content(self, ballot: Ballot, sampling: Sampling) -> list[object]:
        judge = self._judge
        prompt = self._form.prompt(ballot[0])
        limits = [sampling.temperature, sampling.max_tokens]
        return [redact(judge.url), judge.model, self._form.chat, prompt, ballot[1], *limits]

    def _read(self, reply: ServerReply) -> bool | str | None:
        completion = reply.completion
        if completion.finish_reason == "error":
            fault = f"the judge gave no verdict: {_for_judge(completion.message)}"
            return Undecided(fault) if reply.is_nonsense else fault
        if completion.message:  # a refusal
            return Undecided(f"the judge gave no verdict: {completion.message}")
        return self._form.read(completion.text)


def _for_judge(message: str) -> str:
    """The message with the settings of a judge in place of the options of `eval`."""
    message = message.replace("OPENAI_API_KEY", "REWARDKIT_JUDGE_KEY")
    message = message.replace("--max-tokens or ", "")  # its form decides
    return _FLAG.sub(lambda found: f"judge.{found[1].replace('-', '_')}", message)


def _majority(votes: Sequence[bool | str | None]) -> bool | str:
    """The outcome of most votes, else a fault of the server, an unclear reply or a tie."""
    for outcome in (True, False):
        if 2 * sum(vote is outcome for vote in votes) > len(votes):
            return outcome
    neither = Undecided("the judge's reply says neither same nor different")
    faults = [vote or neither for vote in votes if not isinstance(vote, bool)]
    faults.sort(key=lambda fault: isinstance(fault, Undecided))
    return next(iter(faults), f"the judge's {len(votes)} votes are tied")


WAIT_SECONDS = 60.0
"""How long to wait for another process that writes."""


@contextmanager
def reply_cache() -> Iterator[ReplyCache]:
    """Open `rewardkit/judge.sqlite` in XDG_CACHE_HOME, else in ~/.cache.

    UsageError where it can't be opened, read or written.
    """
    folder = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    path = Path(folder) / "rewardkit" / "judge.sqlite"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None)) as opened:
            # a killed process loses nothing; only a machine that loses power may
            opened.execute("PRAGMA synchronous = OFF")
            opened.execute("CREATE TABLE IF NOT EXISTS replies (request PRIMARY KEY, same)")
            yield ReplyCache(opened)
    except (OSError, sqlite3.Error) as error:
        raise UsageError(
            f"the judge's replies can't be kept in {path}: {error}; name another folder in "
            "XDG_CACHE_HOME, or remove the file"
        ) from error


class ReplyCache:
    """Whether a request's reply said "same", by the request."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def get(self, request: object) -> bool | None:
        """What the reply to a request said; None for a request without a reply."""
        select = "SELECT same FROM replies WHERE request = ?"
        found = self._database.execute(select, (_key(request),)).fetchone()
        return None if found is None else bool(found[0])

    def put(self, request: object, same: bool) -> None:
        """Keep what the reply to a request said."""
        insert = "INSERT OR REPLACE INTO replies VALUES (?, ?)"
        self._database.execute(insert, (_key(request), same))


def _key(request: object) -> str:
    return hashlib.sha256(json.dumps(request).encode()).hexdigest()


def as_judge(verifier: Verifier, option: str) -> Judge:
    """The verifier as a judge. UsageError for any other verifier."""
    if not isinstance(verifier, Judge):
        raise UsageError(f"{option} takes the verifier judge, which compares extracted answers")
    return verifier


def with_judges(
    verdicts: Sequence[Verdict],
    completions: Sequence[tuple[str, Sample | Verdict]],
    *,
    rescue: Judge | None = None,
    confirm: Judge | None = None,
) -> list[Verdict]:
    """The rule's verdicts on completions after the judges spoke.

    `rescue` judges the single answer of a completion that the rule read and called wrong, `confirm`
    one that the rule called right. An answer that the judge's reply doesn't decide is wrong, as a
    different one is; where its server doesn't answer, the verdict is unjudged. Verdicts of several
    parts stay.
    """
    settled = list(verdicts)
    spared = {judge: len(verdicts) for judge in (rescue, confirm) if judge}
    for judge, correct in ((rescue, False), (confirm, True)):
        if judge is None:
            continue
        asked = [
            (place, verdict.answer, sample)
            for place, (verdict, (text, sample)) in enumerate(
                zip(verdicts, completions, strict=True)
            )
            if verdict.correct is correct
            and verdict.failure in (Failure.WRONG, None)
            and not verdict.parts
            and verdict.answer
            and isinstance(sample, Sample)
            and (correct or len(set(answers(model_text(text), "flexible"))) <= 1)
        ]
        spoken = judge.judge_answers([(answer, sample) for _, answer, sample in asked])
        for (place, *_), verdict in zip(asked, spoken, strict=True):
            stays = not correct and verdict.correct is False  # as before the judge was asked
            settled[place] = replace(verdicts[place], message=verdict.message) if stays else verdict
        spared[judge] -= len(asked)
    for judge, count in spared.items():
        count_use(judge, spared=count)
    return settled
