"""Workers don't get the caller's secrets, unless they are passed."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

import rewardkit
from rewardkit import Sample
from rewardkit.errors import UsageError
from rewardkit.judging import close_pools
from rewardkit.judging.worker_environment import (
    PASSED_VARIABLE,
    looks_secret,
    passed_variables,
    worker_environment,
)
from rewardkit.trainers import reward_func

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("JUDGE_API_KEY", "sk-123")
    monkeypatch.setenv("HF_TOKEN", "hf-456")
    yield
    close_pools()


SECRETS = """
    HF_TOKEN OPENAI_API_KEY WANDB_API_KEY OPENAIAPIKEY AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN
    AZURE_CLIENT_SECRET GOOGLE_APPLICATION_CREDENTIALS PGPASSWORD DB_PASS MYSQL_PWD_PASSWD
    GITHUB_PAT SSH_AUTH_SOCK my_token KEY DATABASE_URL SENTRY_DSN SLACK_WEBHOOK_URL
    DISCORD_WEBHOOK AZURE_STORAGE_CONNECTION_STRING AzureWebJobsConnectionString REDIS_TLS_URL
    MONGODB_URI SQLALCHEMY_DATABASE_URI CLOUDAMQP_URL CELERY_BROKER_URL MYSQL_PWD
    SESSION_COOKIE VAULT_JWT AZURE_BLOB_SAS
"""
OTHERS = """
    HOME PATH PWD OLDPWD PYTHONPATH TOKENIZERS_PARALLELISM KEYBOARD_LAYOUT HF_HOME COMPASS
    MONKEY AUTHOR LD_LIBRARY_PATH CUDA_VISIBLE_DEVICES OPENAI_BASE_URL HF_ENDPOINT
    DBUS_SESSION_BUS_ADDRESS XDG_SESSION_ID MLFLOW_TRACKING_URI PGHOST DATABASE_NAME PWDEBUG
"""


@pytest.mark.parametrize("name", SECRETS.split())
def test_secrets_are_known_by_their_names(name: str) -> None:
    assert looks_secret(name)


@pytest.mark.parametrize("name", OTHERS.split())
def test_other_variables_stay(name: str) -> None:
    assert not looks_secret(name)


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ("https://user:pa55@proxy:3128", True),
        ("http://:pa55@proxy:3128", True),
        ("amqp://u:p@h/v a", True),
        ("postgres+psycopg://me:p%40@db.local/x?y=1", True),
        ("https://index.local/simple https://me:tok@index.local/simple", True),
        ("http://proxy:3128", False),
        ("http://user@proxy:3128", False),
        ("ssh://git@host:22/path", False),
        ("http://host:80/a@b", False),
        ("host:80", False),
    ],
)
def test_an_address_with_a_password_is_a_secret(value: str, secret: bool) -> None:
    environment = {"SERVICE": value}
    assert worker_environment([], environment) == ({} if secret else environment)
    assert worker_environment(["SERVICE"], environment) == environment


def reads(text: str, sample: Sample) -> bool:
    return os.environ.get(text) is not None


def test_a_worker_has_no_secrets() -> None:
    verdicts = rewardkit.verify_batch(reads, ["JUDGE_API_KEY", "HF_TOKEN", "PATH"], [""] * 3)
    assert [verdict.correct for verdict in verdicts] == [False, False, True]


def test_named_variables_are_passed() -> None:
    names = ["JUDGE_API_KEY", "HF_TOKEN"]
    verdicts = rewardkit.verify_batch(reads, names, ["", ""], env=["JUDGE_API_KEY"])
    assert [verdict.correct for verdict in verdicts] == [True, False]
    assert rewardkit.verify(reads, "HF_TOKEN", "", env=["HF_TOKEN"]).correct
    assert reward_func(reads, reference=None, env=["HF_TOKEN"])(names) == [0.0, 1.0]


def test_a_variable_passes_them_for_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PASSED_VARIABLE, "HF_TOKEN, OTHER")
    assert rewardkit.verify(reads, "HF_TOKEN", "").correct
    assert passed_variables(["A"]) == ("A", "HF_TOKEN", "OTHER")


def test_a_name_where_a_list_is_meant_is_refused() -> None:
    with pytest.raises(UsageError, match="sequence of variables"):
        rewardkit.verify(reads, "HF_TOKEN", "", env="HF_TOKEN")
