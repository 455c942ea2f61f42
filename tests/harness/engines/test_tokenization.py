from __future__ import annotations

import json
import re
import resource
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rewardkit.errors import UsageError
from rewardkit.harness.engines import tokenization
from rewardkit.harness.engines.local_model import CompletionReader
from rewardkit.protocols import Message, Prompt
from tests.support.tiny import CHAT_TEMPLATE, build

pytestmark = [pytest.mark.engines, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

TEXT = "How many clips, 48 + 24 = 72\nThe end."
USER = [Message("user", TEXT)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return build(tmp_path / "model")


def change(folder: Path, settings: Mapping[str, Any]) -> tokenization.Tokenizer:
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings), encoding="utf-8")
    return tokenization.load(folder)


def test_the_file_is_read_not_the_model_type_s_tokenizer(tiny_checkpoint: Path) -> None:
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    prompt = tokenization.load(tiny_checkpoint).prompt(USER, chat=False)
    assert (
        list(prompt.token_ids)
        == PreTrainedTokenizerFast.from_pretrained(tiny_checkpoint)(TEXT).input_ids
    )
    # the trap itself: if this fails, transformers has fixed it
    assert list(prompt.token_ids) != AutoTokenizer.from_pretrained(tiny_checkpoint)(TEXT).input_ids


TEMPLATES = {
    "tiny": CHAT_TEMPLATE,
    "tags": "{%- for m in messages %}\n    {%- if m.role == 'user' %}\n{{ m.content | trim }}\n"
    "    {%- endif %}\n{% endfor %}{% generation %}{{ eos_token }}{% endgeneration %}",
    "loop": "{% for m in messages %}{% if loop.index0 > 0 %}{% break %}{% endif %}"
    "{{ m['content'] | tojson }}{% endfor %}{% if tools is none %}no tools{% endif %}",
    "namespace": "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}"
    "{% endfor %}{{ ns.n }} {{ messages[-1].content.split('\n')[-1] }} {{ strftime_now('%Y') }}",
}


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_templates_render_as_transformers_renders_them(folder: Path, template: str) -> None:
    from transformers import PreTrainedTokenizerFast

    (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    theirs = PreTrainedTokenizerFast.from_pretrained(folder)
    messages = [Message("system", "Né <be> brief."), *USER, Message("user", "é")]
    turns = [{"role": message.role, "content": message.content} for message in messages]
    ours = tokenization.load(folder).prompt(messages, chat=True)
    assert ours.text == theirs.apply_chat_template(
        turns, tokenize=False, add_generation_prompt=True
    )
    assert list(ours.token_ids) == theirs.apply_chat_template(
        turns, add_generation_prompt=True, return_dict=False
    )


def test_the_template_s_bos_is_not_doubled(tiny_checkpoint: Path) -> None:
    tokenizer = tokenization.load(tiny_checkpoint)
    chat = tokenizer.prompt(USER, chat=True)
    bos = tokenizer.loaded.bos_token_id
    assert chat.text.startswith("<|bos|>")
    assert chat.token_ids.count(bos) == 1
    plain = tokenizer.prompt([Message("user", "<|bos|>" + TEXT)], chat=False)
    assert plain.token_ids.count(bos) == 1


def test_a_plain_prompt_has_bos_as_tokenizer_json_says(folder: Path) -> None:
    tokenizer = tokenization.load(folder)
    prompt = tokenizer.prompt(USER, chat=False)
    assert prompt.token_ids.count(tokenizer.loaded.bos_token_id) == 1
    assert prompt.text == TEXT
    content = json.loads((folder / "tokenizer.json").read_text()) | {"post_processor": None}
    (folder / "tokenizer.json").write_text(json.dumps(content))
    prompt = tokenization.load(folder).prompt(USER, chat=False)
    assert prompt.token_ids.count(tokenizer.loaded.bos_token_id) == 0


def test_without_a_template_the_contents_are_joined(folder: Path) -> None:
    tokenizer = change(folder, {"chat_template": None})
    messages = [Message("system", "Be brief."), *USER]
    assert tokenizer.prompt(messages, chat=True).text == f"Be brief.\n\n{TEXT}"


def test_the_default_one_of_named_templates_is_taken(folder: Path) -> None:
    named = [{"name": "tool_use", "template": "t"}, {"name": "default", "template": "d"}]
    assert change(folder, {"chat_template": named}).prompt(USER, chat=True).text == "d"


CALL = {"type": "function", "function": {"name": "f", "arguments": {"x": 1}}}
TOOL = {"type": "function", "function": {"name": "f_x", "parameters": {"type": "object"}}}


def test_tools_and_calls_render_as_transformers_renders_them(folder: Path) -> None:
    from transformers import PreTrainedTokenizerFast

    template = (
        "{% for tool in tools %}{{ tool | tojson(indent=1) }}{% endfor %}{% for m in messages %}"
        "{{ m.role }}: {{ m.content }}{{ m.tool_calls | tojson if m.tool_calls }}{% endfor %}"
    )
    (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    messages = [*USER, Message("assistant", "", {"tool_calls": [CALL]}), Message("tool", "é")]
    ours = tokenization.load(folder).prompt(messages, chat=True, tools=[TOOL])
    theirs = PreTrainedTokenizerFast.from_pretrained(folder).apply_chat_template(
        [message.as_json() for message in messages], tools=[TOOL], add_generation_prompt=True
    )
    assert list(ours.token_ids) == theirs["input_ids"]
    assert ours.tools == (TOOL,)


def test_a_template_of_its_own_renders_tools(folder: Path) -> None:
    named = [
        {"name": "tool_use", "template": "{{ tools[0].function.name }}"},
        {"name": "default", "template": "d"},
    ]
    tokenizer = change(folder, {"chat_template": named})
    assert tokenizer.prompt(USER, chat=True, tools=[TOOL]).text == "f_x"
    assert tokenizer.prompt(USER, chat=True).text == "d"
    file = folder / "additional_chat_templates" / "tool_use.jinja"
    file.parent.mkdir()
    file.write_text("f_x from a file")
    (folder / "chat_template.jinja").write_text("d")
    assert tokenization.load(folder).prompt(USER, chat=True, tools=[TOOL]).text == "f_x from a file"


@pytest.mark.parametrize("chat", [True, False])
def test_tools_that_the_prompt_would_not_show_are_an_error(folder: Path, chat: bool) -> None:
    tokenizer = change(folder, {"chat_template": "{{ messages[0].content }}"})
    with pytest.raises(UsageError, match="doesn't show 'f_x': .* renders no tools, or it isn't"):
        tokenizer.prompt(USER, chat=chat, tools=[TOOL])


@pytest.mark.parametrize(
    ("template", "cause"),
    [
        ("{{ raise_exception('no system role') }}", "TemplateError: no system role"),
        ("{{ ''.__class__.__mro__[1].__subclasses__() }}", "SecurityError: access to attribute"),
        ("{{ messages.append(1) }}", "SecurityError"),
        ("{{ 1 // (messages | length // 9) }}", "ZeroDivisionError"),
        ("{{ messages[0].content + 1 }}", "TypeError"),
        ("{{ '{x}'.format(y=1) }}", "KeyError: 'x'"),
        ("{% macro f(n) %}{{ f(n) }}{% endmacro %}{{ f(1) }}", "RecursionError"),
        ("{{ range(10 ** 9) }}", "OverflowError"),
        ("{% include 'other' %}", "TypeError: no loader"),
        ("{{ messages", "line 1: unexpected end of template"),
        ("a\n{% for m in messages %}{{ m.content }}", "line 2: "),
        ("{{ messages | reverse_text }}", "line 1: No filter named 'reverse_text'"),
        ("{{ " + "(" * 5000 + ")" * 5000 + " }}", "RecursionError"),
    ],
)
def test_any_error_of_a_chat_template_is_named(folder: Path, template: str, cause: str) -> None:
    tokenizer = change(folder, {"chat_template": template})
    said = rf"the chat template of {re.escape(str(folder))} .*{re.escape(cause)}.*--no-chat"
    with pytest.raises(UsageError, match=said):
        tokenizer.prompt(USER, chat=True)


class Allocates:
    """A template's variable that takes memory while it is rendered, as another thread may."""

    def __str__(self) -> str:
        self.limit = resource.getrlimit(resource.RLIMIT_AS)
        bytearray(2**30)  # never touched, so no memory is used
        return "text"


def test_rendering_limits_nothing_of_the_process(folder: Path) -> None:
    before, probe = resource.getrlimit(resource.RLIMIT_AS), Allocates()
    tokenizer = change(folder, {"chat_template": "{{ probe }}"})
    assert tokenizer.prompt(USER, chat=True, arguments={"probe": probe}).text == "text"
    assert probe.limit == before


def test_a_completion_is_decoded_as_it_follows_the_prompt(tiny_checkpoint: Path) -> None:
    tokenizer = tokenization.load(tiny_checkpoint)
    prompt = tokenizer.prompt(USER, chat=True).token_ids
    said = tokenizer.engine.encode(" so 72", add_special_tokens=False).ids
    assert tokenizer.decode(prompt, said) == " so 72"
    end = tokenizer.loaded.eos_token_id
    assert tokenizer.decode(prompt, [*said, end]) == " so 72"
    assert tokenizer.decode(prompt, []) == ""


def test_truncation_saved_in_the_file_cuts_no_prompt(folder: Path) -> None:
    tokenizer = tokenization.load(folder)
    tokenizer.engine.enable_truncation(3)
    tokenizer.engine.enable_padding(length=50)
    tokenizer.engine.save(str(folder / "tokenizer.json"))
    again = tokenization.load(folder)
    assert again.prompt(USER, chat=False) == tokenization.load(folder).prompt(USER, chat=False)
    assert 3 < len(again.prompt(USER, chat=False).token_ids) < 50


def test_a_damaged_tokenizer_is_named(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UsageError, match=r"tokenizer\.json"):
        tokenization.load(folder)


def test_no_tokenizer_at_all_is_said(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "qwen2"}', encoding="utf-8")
    with pytest.raises(UsageError, match="no tokenizer in"):
        tokenization.load(tmp_path)


def test_arguments_reach_the_chat_template(folder: Path) -> None:
    template = "{{ messages[0].content }}{% if enable_thinking %}<think>{% endif %}"
    tokenizer = change(folder, {"chat_template": template})
    arguments = {"enable_thinking": True}
    assert tokenizer.prompt(USER, chat=True, arguments=arguments).text.endswith("<think>")
    assert not tokenizer.prompt(USER, chat=True).text.endswith("<think>")
    for name in ("messages", "tools", "chat_template", "continue_final_message"):
        with pytest.raises(UsageError, match=f"rewardkit sets {name}"):
            tokenizer.prompt(USER, chat=True, arguments={name: []})


@pytest.mark.parametrize(
    ("prompt", "text", "expected"),
    [
        ("p", "so 72", None),
        ("p", "<think>so</think> 72", "<think>so</think>"),
        ("p<think>", "so</think> 72", "so</think>"),
        ("p<think>", "so 72", "so 72"),
    ],
)
def test_a_readers_completion_counts_its_tokens_of_thinking(
    folder: Path, prompt: str, text: str, expected: str | None
) -> None:
    tokenizer = tokenization.load(folder)
    ids = tokenizer.engine.encode(text, add_special_tokens=False).ids
    reader = CompletionReader(tokenizer, Prompt(prompt, (1,)), (), ())
    reader.add(ids)
    thinking = reader.completion().thinking_tokens
    if expected is None:
        assert thinking is None
    else:
        assert thinking == len(tokenizer.engine.encode(expected, add_special_tokens=False).ids)
