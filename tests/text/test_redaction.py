"""Secrets are replaced by *** in text, values, command lines and URLs."""

from __future__ import annotations

import pytest

from rewardkit.text.redaction import (
    redact,
    redact_value,
    remember_arguments,
    remember_url,
)

MARK = "sk-marked/+é 7f3a"


@pytest.mark.parametrize(
    ("name", "hidden"),
    [
        ("OPENAI_API_KEY", True),
        ("HF_TOKEN", True),
        ("PGPASSWORD", True),
        ("AWS_SECRET_ACCESS_KEY", True),
        ("MY_SECRET", True),
        ("GITHUB_PAT", True),
        ("DB_PASS", True),
        ("TOKENIZERS_PARALLELISM", False),
        ("MAX_TOKENS", False),
        ("KEYBOARD_LAYOUT", False),
        ("SECRET_FILE", False),
        ("COMPASS", False),
    ],
)
def test_variables_whose_names_say_so_are_secrets(
    monkeypatch: pytest.MonkeyPatch, name: str, hidden: bool
) -> None:
    monkeypatch.setenv(name, MARK)
    assert (MARK not in redact(f"refused: {MARK}!")) is hidden


@pytest.mark.parametrize(
    "form", ["sk-marked/+é 7f3a", "sk-marked%2F%2B%C3%A9%207f3a", "sk-marked/+\\u00e9 7f3a"]
)
def test_a_secret_is_recognised_in_a_url_and_in_json(
    monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setenv("SOME_API_KEY", MARK)
    assert redact(f"x {form} y") == "x *** y"


def test_a_short_value_is_left_alone_but_next_to_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "true")
    assert redact("this is true") == "this is true"
    assert redact_value({"api_key": "true"}) == {"api_key": "***"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://user:pa@ss@host:8/v1", "http://***@host:8/v1"),
        ("see https://token@host/v1, or mail a@b", "see https://***@host/v1, or mail a@b"),
        ("http://host/v1?a=1&api_key=zz&b=2", "http://host/v1?a=1&api_key=***&b=2"),
        ("http://host/v1?key=zz", "http://host/v1?key=***"),
        ("http://host/v1?api-key=zz", "http://host/v1?api-key=***"),
        ("http://host/x?X-Amz-Signature=zz&n=1", "http://host/x?X-Amz-Signature=***&n=1"),
        ("http://host/x?X-Amz-Security-Token=zz", "http://host/x?X-Amz-Security-Token=***"),
        ("http://host/v1?x=1&pass=z%2Fz&sig=y", "http://host/v1?x=1&pass=***&sig=***"),
        ("htp:/bob:PW@host/v1 isn't", "htp:/***@host/v1 isn't"),
        ("http://bob:P/W?#@W@host:8/v1", "http://***@host:8/v1"),
        ("http://host:8000/v1", "http://host:8000/v1"),
        ("https://github.com/owner/name@main", "https://github.com/owner/name@main"),
        ("http://host/v1?sort_key=zz&max_tokens=3", "http://host/v1?sort_key=zz&max_tokens=3"),
    ],
)
def test_credentials_in_a_url_are_replaced(text: str, shown: str) -> None:
    assert redact(text) == shown


def test_what_a_url_held_is_recognised_elsewhere() -> None:
    remember_url("http://user:pass%2Fword-91@host/v1?token=query-token-91")
    assert redact("no user pass/word-91 with query-token-91") == "no user *** with ***"
    remember_url("http://[")


@pytest.mark.parametrize(
    "url", ["bob:P W@host", "http:bob:P/W@host", "http://bob:P\"W'@host", "//bob:@PW@host"]
)
def test_a_short_password_in_an_address_without_form_is_replaced(url: str) -> None:
    remember_url(url)
    assert redact(f"--base-url {url}/v1 isn't an address").endswith("***@host/v1 isn't an address")
    assert redact_value(["--base-url", url])[1].endswith("***@host")


def test_what_an_argument_held_is_recognised_elsewhere() -> None:
    remember_arguments({"api_key": "argument-key-42", "min_p": "harmless-42", "token": 5})
    assert redact("argument-key-42 harmless-42") == "*** harmless-42"


def test_values_are_redacted_inside_lists_and_mappings() -> None:
    record = {
        "backend_args": {"api_key": "k", "eos_token": "</s>", "n": 3, "hf_token": "t"},
        "urls": ("http://a:b@h", None, 0.5),
        "key": "gsm8k/1/0",
    }
    assert redact_value(record) == {
        "backend_args": {"api_key": "***", "eos_token": "</s>", "n": 3, "hf_token": "***"},
        "urls": ["http://***@h", None, 0.5],
        "key": "gsm8k/1/0",
    }


def test_a_command_line_keeps_everything_else() -> None:
    words = ["eval", "--backend-arg", "api_key=a==", "--backend-arg=token=b", "--max-tokens=5"]
    words += ["--base-url=http://u:p@h/v1?key=c", "min_p=0.1"]
    assert redact_value(words) == [
        "eval",
        "--backend-arg",
        "api_key=***",
        "--backend-arg=token=***",
        "--max-tokens=5",
        "--base-url=http://***@h/v1?key=***",
        "min_p=0.1",
    ]
