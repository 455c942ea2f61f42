"""NeMo-Gym's own server runs the adapter."""

from __future__ import annotations

import importlib
import runpy
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from shared_cases import adapter_file, cases, scores


def body(completion: str, reference: str) -> dict[str, Any]:
    """A verify request as NeMo-Gym's agents send it."""
    content = [{"type": "output_text", "text": completion, "annotations": []}]
    message = {"type": "message", "id": "m", "role": "assistant", "status": "completed"}
    response = {
        "id": "r",
        "created_at": 0.0,
        "model": "model",
        "object": "response",
        "output": [message | {"content": content}],
        "parallel_tool_calls": False,
        "tool_choice": "none",
        "tools": [],
    }
    return {
        "responses_create_params": {"input": [{"role": "user", "content": "?"}]},
        "response": response,
        "expected_answer": reference,
    }


@pytest.mark.parametrize("verifier", ["math", "regex"])
def test_the_file_of_the_documentation_is_a_resources_server(verifier: str, tmp_path: Path) -> None:
    app = runpy.run_path(adapter_file("nemo-gym", verifier, tmp_path))
    models = importlib.import_module("nemo_gym.base_resources_server")
    client = importlib.import_module("nemo_gym.server_utils").ServerClient.model_construct()
    configuration = models.BaseResourcesServerConfig(
        host="127.0.0.1", port=1, entrypoint="app.py", name=f"rewardkit_{verifier}"
    )
    server = app["ResourcesServer"](config=configuration, server_client=client)
    with TestClient(server.setup_webserver()) as gym:
        assert gym.post("/seed_session", json={}).status_code == 200
        answers = [gym.post("/verify", json=body(*case)).json() for case in cases(verifier)]
    assert [answer["reward"] for answer in answers] == scores(verifier)
    assert sum(answer["unjudged"] for answer in answers) >= 1
    assert [answer["expected_answer"] for answer in answers] == [
        reference for _, reference in cases(verifier)
    ]
