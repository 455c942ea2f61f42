"""Conversations as the chat templates of five model families render them."""

from __future__ import annotations

from collections.abc import Mapping

Template = Mapping[str, str]
"""The rendering of a message by its role, with the content as `{}`; `reply`: the last header."""

TEMPLATES: dict[str, Template] = {
    "qwen": {
        "system": "<|im_start|>system\n{}<|im_end|>\n",
        "user": "<|im_start|>user\n{}<|im_end|>\n",
        "tool": "<|im_start|>user\n<tool_response>\n{}\n</tool_response><|im_end|>\n",
        "assistant": "<|im_start|>assistant\n{}<|im_end|>\n",
    },
    "llama": {
        role: f"<|start_header_id|>{name}<|end_header_id|>\n\n{{}}<|eot_id|>"
        for role, name in {
            "system": "system",
            "user": "user",
            "tool": "ipython",
            "assistant": "assistant",
        }.items()
    },
    "mistral": {
        "system": "[SYSTEM_PROMPT]{}[/SYSTEM_PROMPT]",
        "user": "[INST]{}[/INST]",
        "tool": "[TOOL_RESULTS]call_1[TOOL_CONTENT]{}[/TOOL_RESULTS]",
        "assistant": "{}</s>",
    },
    "gpt-oss": {
        "system": "<|start|>system<|message|>{}<|end|>",
        "user": "<|start|>user<|message|>{}<|end|>",
        "tool": "<|start|>functions.f to=assistant<|channel|>commentary<|message|>{}<|end|>",
        "assistant": "<|start|>assistant<|channel|>final<|message|>{}<|return|>",
    },
    "deepseek": {
        "system": "<｜begin▁of▁sentence｜>{}",
        "user": "<｜User｜>{}",
        "tool": "<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>{}<｜tool▁output▁end｜>"
        "<｜tool▁outputs▁end｜>",
        "assistant": "<｜Assistant｜>{}<｜end▁of▁sentence｜>",
    },
}

LINES: Template = {role: f"{role}\n{{}}\n" for role in ("system", "user", "tool", "assistant")}
"""ChatML as a tokenizer decodes it without special tokens."""


def rendered(family: str, *messages: tuple[str, str]) -> str:
    """The messages, (role, content), as a family's template renders them."""
    template = LINES if family == "lines" else TEMPLATES[family]
    return "".join(template[role].replace("{}", content) for role, content in messages)


def trajectory(family: str, speaker: str, *, statement: str, reply: str) -> str:
    """A conversation in which `speaker` makes a statement and the assistant replies at its end."""
    contents = {"system": "Be brief.", "user": "What is 2 + 2?", "tool": "done"}
    contents[speaker] = statement
    return rendered(
        family,
        ("system", contents["system"]),
        ("user", contents["user"]),
        ("assistant", "Let me look it up."),
        ("tool", contents["tool"]),
        ("assistant", reply),
    )


FAMILIES = sorted(TEMPLATES)
SPEAKERS = ("system", "user", "tool")
